#pragma once
// A permutation across pods at 400 Gb/s, packets of 4 KB, cables of 1 us, as htsim ran it with
// 1,024 hosts (docs/models/peers.md), under one pair of routing and loss recovery.

#include <gtest/gtest.h>

#include "base/statistics.h"
#include "fixtures.h"
#include "workloads.h"

namespace fabricast::packet::testing {

using catalog::LossRecovery;
using catalog::Routing;

struct Paired {
  double last_us = 0;
  double mean_us = 0;
  double resent = 0;  ///< packets sent again over those that were to be sent
};

inline FabricProfile paired(Routing routing, LossRecovery recovery) {
  FabricProfile p = bench::htsim_profile();
  p.pfc.headroom_computed = true;  // of 400 Gb/s
  p.paths.routing = routing;
  p.transport.recovery = recovery;
  p.transport.timeout_exponent = 10;  // 4.2 ms
  return p;
}

/// `flows` of the hosts send `size` each to the host half the fabric away, until it has been
/// acknowledged.
inline Paired permute(const FabricProfile& profile, int ports_per_switch, std::uint32_t flows,
                      Bytes size, std::uint64_t seed = 1) {
  const auto fabric = bench::fat_tree(
      ports_per_switch, ports_per_switch * ports_per_switch * ports_per_switch / 4, 400_gbps);
  const auto network = network_on(fabric, profile, seed);
  const auto hosts = static_cast<std::uint32_t>(fabric->endpoints());
  std::vector<double> us;
  for (std::uint32_t h = 0; h < flows; ++h) {
    network->send(Rank(h), Rank((h + hosts / 2) % hosts), size,
                  {.completion = network::Completion::kAcknowledged},
                  [&us](Time now) { us.push_back(now.us()); });
  }
  network->run();
  const auto again = static_cast<double>(network->counters().retransmitted_packets);
  const auto sent = static_cast<double>(network->counters().data_packets);
  EXPECT_EQ(network->counters().dropped_packets, 0U);
  return {us.back(), base::mean(us), again / (sent - again)};
}

}  // namespace fabricast::packet::testing
