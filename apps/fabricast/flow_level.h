#pragma once
// The flow level of a fabric, which learns from the packet level when it is first needed.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "fabric/fabric.h"
#include "flow/behaviour.h"
#include "network/network.h"
#include "packet/faults.h"
#include "scenario/scenario.h"
#include "store/store.h"

namespace fabricast::apps {

/// What has been learnt of fabrics: in this run of the program, and by this build of it in the
/// store. Safe to use from several threads.
class Lessons {
 public:
  /// `store` may be null; else it must outlive the object.
  explicit Lessons(store::Store* store) : store_(store) {}

  std::shared_ptr<const flow::Behaviour> of(const std::string& key,
                                            const std::function<flow::Behaviour()>& learn);

 private:
  store::Store* store_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const flow::Behaviour>> known_;
};

/// Throws base::Error (input) at the first fault that flows do not know, for who asks for flows.
void require_flow_level(const scenario::ValidScenario& scenario);

/// Empty where flows do not know the faults: bit errors, a slow adapter, storms, switches without
/// PFC or ECN. `lessons` (may be null) must outlive what is returned.
std::function<network::Factory(double load)> flow_level(
    const scenario::ValidScenario& scenario, const scenario::FabricChoice& choice,
    std::shared_ptr<const fabric::Fabric> fabric, const packet::Faults& faults, Lessons* lessons);

}  // namespace fabricast::apps
