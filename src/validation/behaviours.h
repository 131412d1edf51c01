#pragma once
// The networks that a published run is simulated on, and what the flow level has learnt of the
// packet level for all of them. Private to this room.

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "collective/sampler.h"
#include "flow/calibrate.h"
#include "network/phase_cache.h"
#include "scenario/scenario.h"

namespace fabricast::validation {

/// What the flow level learnt, by what decides it. Safe to use from several threads.
class Behaviours {
 public:
  std::shared_ptr<const flow::Behaviour> of(const fabric::Fabric& fabric,
                                            const catalog::FabricProfile& profile,
                                            const flow::PacketNetworks& packets);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const flow::Behaviour>> known_;
};

/// Of the first fabric of a scenario. `job` and `behaviours` must outlive the result.
collective::Networks networks_of(const scenario::ValidScenario& job,
                                 const std::shared_ptr<const fabric::Fabric>& fabric,
                                 Behaviours& behaviours);

/// What runs of one validation share.
struct Shared {
  network::PhaseCache phases;
  Behaviours behaviours;
};

}  // namespace fabricast::validation
