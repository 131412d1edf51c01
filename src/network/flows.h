#pragma once
// Plain flows over a network: who sends how much to whom, when, and after what. A flow is complete
// when its sender knows that its last byte has arrived (the last acknowledgement), as other packet
// simulators count it.

#include <functional>
#include <vector>

#include "network/network.h"

namespace fabricast::network {

struct Flow {
  static constexpr std::size_t kNoFlow = static_cast<std::size_t>(-1);

  base::Rank src;
  base::Rank dst;
  base::Bytes size;
  base::Time start;  ///< from now; with a dependency: after that one is complete
  unsigned traffic_class = 0;
  std::size_t depends_on = kNoFlow;
};

struct FlowTimes {
  base::Time started;
  base::Time completed;
};

/// Carries all flows and returns their times. `on_complete` (may be empty) is called for each.
/// PRECONDITION: no flow waits for itself, directly or in a circle.
std::vector<FlowTimes> run_flows(Network& network, const std::vector<Flow>& flows,
                                 const std::function<void(std::size_t)>& on_complete = {});

/// The time of each flow alone on an idle network from `make`. Flows of one size and class over
/// paths of one length take the same time and are played once.
std::vector<base::Time> ideal_times(const Factory& make, const fabric::Fabric& fabric,
                                    const std::vector<Flow>& flows, std::uint64_t seed);

}  // namespace fabricast::network
