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

/// `hosts` below three tiers of switches with so many ports.
std::shared_ptr<const fabric::Fabric> fat_tree(
    int ports_per_switch, int hosts, base::Rate rate = base::Rate::gigabits_per_second(100));

struct Congestion {
  bool dcqcn = false;  ///< with the settings of the ns-3 comparison; else PFC alone
};
catalog::FabricProfile profile(Congestion congestion);
/// With htsim's switches: an ingress pauses its sender at 15 packets, whatever the others hold.
catalog::FabricProfile htsim_profile();
/// With ns-3's packets, 4144 and 60 bytes, and its XON, 3 KiB below XOFF.
catalog::FabricProfile ns3_profile(Congestion congestion);

struct Outcome {
  double wall_s = 0;    ///< of the run
  double set_up_s = 0;  ///< from the specification to the first message posted
  network::Counters counters;
  std::vector<double> completion_us;  ///< per flow (w3: per step of a chunk), at the sender
  double last_us = 0;
};

struct Variant {
  std::uint64_t seed = 1;  ///< of ECMP's hashes and marking
  network::Completion completion = network::Completion::kAcknowledged;
  int threads = 1;
};

/// W1, of 128 hosts: host h sends `bytes` to host h + n/2, a permutation across pods.
Outcome permutation(const catalog::FabricProfile& profile, std::shared_ptr<const fabric::Fabric> on,
                    base::Bytes bytes, Variant variant = {});
/// W2: hosts 64 to 127 send `bytes` each to host 0.
Outcome incast(const catalog::FabricProfile& profile, base::Bytes bytes, Variant variant = {});
/// W3: ring all-reduce of 128 chunks; step s of chunk c goes from host c + s to c + s + 1 and
/// starts when step s - 1 has been acknowledged at its sender.
Outcome ring(const catalog::FabricProfile& profile, base::Bytes chunk);

}  // namespace fabricast::bench
