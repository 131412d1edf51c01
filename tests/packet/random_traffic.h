#pragma once
// Random scenarios: a fabric of one to three tiers, a mix of message sizes, instants, pairs and
// classes, and in some of them faults, all from one number.

#include <string>

#include "base/error.h"
#include "base/random.h"
#include "fixtures.h"
#include "packet/engine.h"

namespace fabricast::packet::testing {

struct RandomScenario {
  std::shared_ptr<const fabric::Fabric> fabric;
  FabricProfile profile;
  std::vector<Flow> flows;
  std::vector<Time> starts;
  Faults faults;
};

/// Leaves, spines and cores of as many ports as a leaf of `per_leaf` nodes needs.
inline std::shared_ptr<const fabric::Fabric> fat_tree(int nodes, int per_leaf) {
  fabric::TopologySpec spec = topology(fabric::TopologyKind::kFatTree, nodes);
  spec.switch_ports = 2 * per_leaf;
  return std::make_shared<const fabric::Fabric>(fabric::build(spec));
}

inline std::shared_ptr<const fabric::Fabric> random_fabric(base::RandomStream& random) {
  if (random.below(4) == 0) {
    const auto per_leaf = static_cast<int>(2 + random.below(2));
    const auto pod = static_cast<std::uint64_t>(per_leaf) * static_cast<std::uint64_t>(per_leaf);
    return fat_tree(static_cast<int>(pod + 1 + random.below(pod)), per_leaf);
  }
  const auto per_leaf = static_cast<int>(2 + random.below(4));
  const auto nodes = static_cast<int>(2 + random.below(3 * static_cast<std::uint64_t>(per_leaf)));
  return nodes <= per_leaf ? one_switch(nodes) : leaf_spine(nodes, per_leaf);
}

inline void draw_profile(base::RandomStream& random, FabricProfile& p) {
  p.transport.ack_every = static_cast<int>(1 + random.below(8));
  p.paths.qps_per_connection = static_cast<int>(1 + random.below(4));
  p.paths.split_messages = random.below(2) == 0;
  p.credits.vl_buffer = Bytes(64 * static_cast<std::int64_t>(130 + random.below(1900)));
  p.switching.buffer = Bytes(static_cast<std::int64_t>(1'000'000 + random.below(8'000'000)));
  p.pfc.alpha = 1.0 / static_cast<double>(1 << random.below(5));
  p.ecn.enabled = random.below(2) == 0;
  if (!p.ecn.enabled) p.congestion.control = catalog::RdmaCongestionControl::kNone;
  p.tcp.minimum_rto = 2_ms;
  if (random.below(2) == 0) p.switching.forwarding = catalog::Forwarding::kStoreAndForward;
  p.tcp.congestion_control = static_cast<catalog::TcpCongestionControl>(random.below(3));
  p.tcp.sack = random.below(2) == 0;
  if (random.below(3) == 0) {  // routing and reordering tolerance are one choice
    p.paths.routing = catalog::Routing::kAdaptive;
    p.transport.recovery = catalog::LossRecovery::kOutOfOrder;
  } else {
    p.paths.engine = static_cast<catalog::SubnetRouting>(random.below(3));
    p.transport.recovery = static_cast<catalog::LossRecovery>(random.below(2));
  }
}

/// The headroom of every class must leave a pool in the smallest buffer.
inline void draw_classes(base::RandomStream& random, FabricProfile& p) {
  p.classes.count = static_cast<int>(1 + random.below(4));
  p.pfc.lossless_classes = p.classes.count;
  p.switching.buffer = p.switching.buffer * p.classes.count;
  p.classes.scheduling =
      random.below(4) == 0 ? catalog::Scheduling::kStrict : catalog::Scheduling::kWeighted;
  for (auto& weight : p.classes.weight) weight = static_cast<int>(random.below(256));
  if (p.kind == FabricKind::kInfiniBand) {
    for (auto& weight : p.classes.high_weight) weight = static_cast<int>(random.below(100));
  }
  p.classes.high_limit = static_cast<int>(random.below(256));
}

/// Faults that end, so that everything can arrive in the end, and what bounds their harm.
inline void draw_faults(base::RandomStream& random, RandomScenario& s) {
  FabricProfile& p = s.profile;
  p.transport.timeout_exponent = 8;  // 1 ms
  p.paths.failover = Time::picoseconds(static_cast<std::int64_t>(random.below(400'000'000)));
  p.link.retry = p.kind == FabricKind::kInfiniBand && random.below(2) == 0;
  p.pfc.watchdog = random.below(2) == 0;
  p.pfc.watchdog_detect = 50_us;
  p.pfc.watchdog_restore = 50_us;
  p.pfc.lossless_classes =
      static_cast<int>(1 + random.below(static_cast<std::uint64_t>(p.classes.count)));
  if (random.below(2) == 0) p.credits.hoq_lifetime_exponent = static_cast<int>(random.below(8));
  const std::uint64_t count = 1 + random.below(4);
  for (std::uint64_t i = 0; i < count; ++i) {
    using Kind = Fault::Kind;
    Fault fault;
    fault.kind = static_cast<Kind>(random.below(7));
    fault.port = fabric::PortId(static_cast<std::uint32_t>(random.below(s.fabric->ports().size())));
    const bool host = fault.kind == Kind::kSlowAdapter || fault.kind == Kind::kPauseStorm;
    const bool of_switch = fault.kind == Kind::kNoPfc || fault.kind == Kind::kNoEcn;
    if (host) {
      fault.port = s.fabric->endpoint_port(fabric::EndpointId(static_cast<std::uint32_t>(
          random.below(static_cast<std::uint64_t>(s.fabric->endpoints())))));
    }
    if (of_switch) fault.port = fabric::PortId(0);
    fault.at = Time::picoseconds(static_cast<std::int64_t>(random.below(60'000'000)));
    fault.duration = Time::picoseconds(static_cast<std::int64_t>(1 + random.below(300'000'000)));
    fault.value = fault.kind == Kind::kBitErrors ? 1e-6 : 0.05 + 0.9 * random.uniform();
    s.faults.schedule.push_back(fault);
  }
}

inline RandomScenario random_scenario(FabricKind kind, std::uint64_t number, bool faulty) {
  base::RandomStream random(number, faulty ? "faulty scenario" : "scenario");
  RandomScenario s;
  s.fabric = random_fabric(random);
  s.profile = kind == FabricKind::kInfiniBand ? infiniband()
              : kind == FabricKind::kRoceV2   ? roce()
                                              : tcp();
  draw_profile(random, s.profile);
  if (random.below(2) == 0) draw_classes(random, s.profile);
  const auto n = static_cast<std::uint64_t>(s.fabric->endpoints());
  const auto classes = static_cast<std::uint64_t>(s.profile.classes.count);
  const std::uint64_t count = 1 + random.below(40);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto from = static_cast<std::uint32_t>(random.below(n));
    const auto to = static_cast<std::uint32_t>((from + 1 + random.below(n - 1)) % n);
    const auto size = static_cast<std::int64_t>(1 + random.below(1ULL << (3 + random.below(18))));
    const auto traffic_class = static_cast<unsigned>(random.below(classes));
    s.flows.push_back({from, to, Bytes(size), traffic_class});
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
  if (faulty) draw_faults(random, s);
  return s;
}

struct Outcome {
  std::vector<Time> done;
  network::Counters counters;
  std::string error;  ///< what the run ended with, if not with the last byte
  std::string audit;  ///< what was wrong with the books, first found
};

inline std::string audit(const network::Network& network, FabricKind kind) {
  switch (kind) {
    case FabricKind::kInfiniBand:
      return dynamic_cast<const Engine<FabricKind::kInfiniBand>&>(network).audit();
    case FabricKind::kRoceV1:
    case FabricKind::kRoceV2:
      return dynamic_cast<const Engine<FabricKind::kRoceV2>&>(network).audit();
    case FabricKind::kTcp:
      return dynamic_cast<const Engine<FabricKind::kTcp>&>(network).audit();
  }
  return "";
}

inline Outcome play(const RandomScenario& s, std::uint64_t seed) {
  Outcome out;
  out.done.resize(s.flows.size());
  auto network = network_on(s.fabric, s.profile, seed, s.faults);
  const auto look = [&](Time) {
    if (out.audit.empty()) out.audit = audit(*network, s.profile.kind);
  };
  for (std::size_t i = 0; i < s.flows.size(); ++i) {
    network->at(s.starts[i], [&, i](Time now) {
      look(now);
      network::SendOptions options;
      options.traffic_class = s.flows[i].traffic_class;
      network->send(Rank(s.flows[i].from), Rank(s.flows[i].to), s.flows[i].size, options,
                    [&, i](Time arrived) {
                      out.done[i] = arrived;
                      look(arrived);
                    });
    });
  }
  for (const Fault& fault : s.faults.schedule) network->at(fault.at + fault.duration, look);
  try {
    network->run();
  } catch (const base::Error& error) {
    out.error = error.message();
  }
  look(Time());
  out.counters = network->counters();
  return out;
}

inline void expect_repeats(const RandomScenario& s, std::uint64_t seed, const Outcome& a) {
  const Outcome b = play(s, seed);
  EXPECT_EQ(a.done, b.done);
  EXPECT_EQ(a.error, b.error);
  EXPECT_EQ(a.counters.events, b.counters.events);
  EXPECT_EQ(a.counters.dropped_packets, b.counters.dropped_packets);
}

/// Nothing arrives before light and the hosts allow.
inline void expect_causality(const RandomScenario& s, const Outcome& a) {
  for (std::size_t i = 0; i < s.flows.size(); ++i) {
    EXPECT_GE(a.done[i], s.starts[i] + s.profile.host.send_overhead +
                             base::transmission_time(s.flows[i].size, 200_gbps));
  }
}

/// What must hold in every scenario without faults.
inline void expect_invariants(const RandomScenario& s, std::uint64_t number) {
  SCOPED_TRACE("scenario " + std::to_string(number));
  const Outcome a = play(s, number);
  std::int64_t bytes = 0;
  for (const Flow& flow : s.flows) bytes += flow.size.count();
  EXPECT_EQ(a.error, "");
  EXPECT_EQ(a.audit, "");
  expect_causality(s, a);
  EXPECT_EQ(a.counters.bytes_sent, bytes);
  EXPECT_EQ(a.counters.bytes_delivered, bytes);
  if (s.profile.kind != FabricKind::kTcp) {
    EXPECT_EQ(a.counters.dropped_packets, 0U);
    EXPECT_EQ(a.counters.retransmitted_packets, 0U);
    EXPECT_EQ(a.counters.timeouts, 0U);
  }
  expect_repeats(s, number, a);
}

inline void expect_invariants(FabricKind kind, std::uint64_t number) {
  expect_invariants(random_scenario(kind, number, false), number);
}

/// What must hold under faults: all arrives, or the run says why not; the books are right.
inline void expect_invariants_under_faults(const RandomScenario& s, std::uint64_t number) {
  SCOPED_TRACE("faulty scenario " + std::to_string(number));
  const Outcome a = play(s, number);
  EXPECT_EQ(a.audit, "");
  if (a.error.empty()) {
    expect_causality(s, a);
    EXPECT_EQ(a.counters.bytes_delivered, a.counters.bytes_sent);
  } else {
    EXPECT_NE(a.error.find("gave up"), std::string::npos) << a.error;
  }
  expect_repeats(s, number, a);
}

inline void expect_invariants_under_faults(FabricKind kind, std::uint64_t number) {
  expect_invariants_under_faults(random_scenario(kind, number, true), number);
}

}  // namespace fabricast::packet::testing
