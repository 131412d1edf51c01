#pragma once
// A fabric of any shape: switches and cables named one by one, adapters hung on switches, and
// packets sent by shortest paths or by next hops that are given. For topologies that no
// `TopologyKind` builds, and for those that are wrong on purpose (a ring that deadlocks).

#include <string>
#include <vector>

#include "fabric/fabric.h"

namespace fabricast::fabric {

struct CustomSpec {
  struct Switch {
    std::string name;
    int tier = 1;  ///< of the highest are the roots of `updn` and of `ftree` on a damaged tree
  };
  struct Cable {
    int a = 0;  ///< switches, by their place in `switches`
    int b = 0;
    base::Rate rate;
    double length_m = 10;
  };
  /// At switch `at`, packets for the adapters of switch `to` go to switch `via`, by any of its
  /// cables.
  struct NextHop {
    int at = 0;
    int to = 0;
    int via = 0;
  };

  std::vector<Switch> switches;
  std::vector<Cable> cables;
  /// The switch of every adapter port: NIC n of node k is number k * nics_per_node + n.
  std::vector<int> adapters;
  int gpus_per_node = 1;
  int nics_per_node = 1;
  base::Rate nic_rate;
  double adapter_cable_m = 10;
  double cable_ns_per_m = 5;
  /// Where stated they replace the shortest paths from `at` to `to`.
  std::vector<NextHop> next_hops;
};

/// Ports of a switch are numbered in the order of `adapters`, then of `cables`. Throws base::Error
/// (input), its key that of the member, on a number out of range, a cable from a switch to itself,
/// a next hop that no cable leads to, or given hops that lead in a circle or to where none leads
/// on.
Fabric custom(const CustomSpec& spec);

}  // namespace fabricast::fabric
