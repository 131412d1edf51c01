#pragma once
// Random scenarios: a fabric, a mix of message sizes, instants and pairs, all from one number.

#include "base/random.h"
#include "fixtures.h"

namespace fabricast::packet::testing {

struct RandomScenario {
  std::shared_ptr<const fabric::Fabric> fabric;
  FabricProfile profile;
  std::vector<Flow> flows;
  std::vector<Time> starts;
};

inline RandomScenario random_scenario(FabricKind kind, std::uint64_t number) {
  base::RandomStream random(number, "scenario");
  RandomScenario s;
  const auto per_leaf = static_cast<int>(2 + random.below(4));
  const auto nodes = static_cast<int>(2 + random.below(3 * static_cast<std::uint64_t>(per_leaf)));
  s.fabric = nodes <= per_leaf ? one_switch(nodes) : leaf_spine(nodes, per_leaf);
  s.profile = kind == FabricKind::kInfiniBand ? infiniband()
              : kind == FabricKind::kRoceV2   ? roce()
                                              : tcp();
  s.profile.transport.ack_every = static_cast<int>(1 + random.below(8));
  s.profile.paths.qps_per_connection = static_cast<int>(1 + random.below(4));
  s.profile.credits.vl_buffer = Bytes(64 * static_cast<std::int64_t>(130 + random.below(1900)));
  s.profile.switching.buffer =
      Bytes(static_cast<std::int64_t>(1'000'000 + random.below(8'000'000)));
  s.profile.pfc.alpha = 1.0 / static_cast<double>(1 << random.below(5));
  s.profile.ecn.enabled = random.below(2) == 0;
  if (!s.profile.ecn.enabled) {
    s.profile.congestion.control = catalog::RdmaCongestionControl::kNone;
  }
  s.profile.tcp.minimum_rto = 2_ms;
  if (random.below(2) == 0) s.profile.switching.forwarding = catalog::Forwarding::kStoreAndForward;
  const std::uint64_t count = 1 + random.below(40);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto n = static_cast<std::uint64_t>(nodes);
    const auto from = static_cast<std::uint32_t>(random.below(n));
    const auto to = static_cast<std::uint32_t>((from + 1 + random.below(n - 1)) % n);
    const auto size = static_cast<std::int64_t>(1 + random.below(1ULL << (3 + random.below(18))));
    s.flows.push_back({from, to, Bytes(size)});
    s.starts.push_back(Time::picoseconds(static_cast<std::int64_t>(random.below(50'000'000))));
  }
  s.profile.tcp.congestion_control = static_cast<catalog::TcpCongestionControl>(random.below(3));
  s.profile.tcp.sack = random.below(2) == 0;
  if (random.below(3) == 0 && kind == FabricKind::kRoceV2) {
    s.profile.congestion.control = catalog::RdmaCongestionControl::kHpcc;
  }
  if (random.below(2) == 0 && kind == FabricKind::kInfiniBand) {
    s.profile.congestion.control = catalog::RdmaCongestionControl::kInfiniBand;
  }
  return s;
}

struct Outcome {
  std::vector<Time> done;
  network::Counters counters;
};

inline Outcome play(const RandomScenario& s, std::uint64_t seed) {
  Outcome out;
  out.done.resize(s.flows.size());
  auto network = network_on(s.fabric, s.profile, seed);
  for (std::size_t i = 0; i < s.flows.size(); ++i) {
    network->at(s.starts[i], [&, i](Time) {
      network->send(Rank(s.flows[i].from), Rank(s.flows[i].to), s.flows[i].size, {},
                    [&out, i](Time now) { out.done[i] = now; });
    });
  }
  network->run();
  out.counters = network->counters();
  return out;
}

/// What must hold in every scenario without faults.
inline void expect_invariants(FabricKind kind, std::uint64_t number) {
  SCOPED_TRACE("scenario " + std::to_string(number));
  const RandomScenario s = random_scenario(kind, number);
  const Outcome a = play(s, number);
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < s.flows.size(); ++i) {
    bytes += s.flows[i].size.count();
    // Nothing arrives before light and the hosts allow.
    EXPECT_GE(a.done[i], s.starts[i] + s.profile.host.send_overhead +
                             base::transmission_time(s.flows[i].size, 200_gbps));
  }
  EXPECT_EQ(a.counters.bytes_sent, bytes);
  EXPECT_EQ(a.counters.bytes_delivered, bytes);
  if (kind != FabricKind::kTcp) {
    EXPECT_EQ(a.counters.dropped_packets, 0U);
    EXPECT_EQ(a.counters.retransmitted_packets, 0U);
    EXPECT_EQ(a.counters.timeouts, 0U);
  }
  const Outcome b = play(s, number);
  EXPECT_EQ(a.done, b.done);
  EXPECT_EQ(a.counters.events, b.counters.events);
}

}  // namespace fabricast::packet::testing
