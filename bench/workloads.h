#pragma once
// Three workloads that any packet simulator can reproduce, on one fabric: a fat-tree of 8-port
// switches, 128 hosts, 80 switches, 384 cables of 100 Gb/s and 1 us. Payload 4096 bytes in 4160 on
// the wire, one 64-byte acknowledgement per packet, no latency in switches, store and forward.
// docs/performance.md holds the results against htsim's and ns-3's.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "catalog/fabric_profile.h"
#include "fabric/fabric.h"
#include "network/network.h"

namespace fabricast::bench {

/// `hosts` on the same three-tier fabric, as many ports per switch as that takes (128 hosts: 8).
std::shared_ptr<const fabric::Fabric> fat_tree(int ports_per_switch);

struct Congestion {
  bool dcqcn = false;  ///< with the settings of the ns-3 comparison; else PFC alone
};
catalog::FabricProfile profile(Congestion congestion);

struct Outcome {
  double wall_s = 0;
  network::Counters counters;
  std::vector<double> completion_us;  ///< per flow (w3: per step of a chunk), at the sender
  double last_us = 0;
};

/// W1: host h sends `bytes` to host h + n/2: a permutation across pods.
Outcome permutation(const catalog::FabricProfile& profile, int ports_per_switch, base::Bytes bytes);
/// W2: hosts 64 to 127 send `bytes` each to host 0.
Outcome incast(const catalog::FabricProfile& profile, base::Bytes bytes);
/// W3: ring all-reduce of 128 chunks; step s of chunk c goes from host c + s to c + s + 1 and
/// starts when step s - 1 has been acknowledged at its sender.
Outcome ring(const catalog::FabricProfile& profile, base::Bytes chunk);

}  // namespace fabricast::bench
