#pragma once
// Traffic of others on the same fabric. Messages of a stated size start at random instants (Poisson)
// between random adapters of different nodes, so that each adapter offers `load` of its rate on
// average; they share queues with the job. The phase of this traffic is what differs between two
// samples of one communication phase.

#include <memory>

#include "network/network.h"

namespace fabricast::network {

struct BackgroundSpec {
  double load = 0;              ///< share of each adapter's rate, 0..0.9
  base::Bytes message;          ///< size of one transfer
};

/// Starts the traffic at time 0; it ends when the network stops. The object must outlive the run.
class BackgroundTraffic {
 public:
  BackgroundTraffic(Network& network, const fabric::Fabric& fabric, BackgroundSpec spec,
                    std::uint64_t seed);
  ~BackgroundTraffic();
  BackgroundTraffic(const BackgroundTraffic&) = delete;
  BackgroundTraffic& operator=(const BackgroundTraffic&) = delete;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace fabricast::network
