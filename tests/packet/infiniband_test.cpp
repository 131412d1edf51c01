#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "fabric/custom.h"
#include "fabric/forwarding.h"
#include "fabric/routes.h"
#include "fixtures.h"

namespace fabricast::packet {
namespace {

using namespace testing;

double goodput_gbps(Bytes size, Time time) {
  return base::rate_of(size, time).gbps();
}

TEST(InfiniBand, SharesAReceiverEvenlyAndLosslessly) {
  auto network = network_on(one_switch(5), infiniband());
  const auto done = completion_times(*network, incast(4, 4_MiB));
  const auto [first, last] = std::minmax_element(done.begin(), done.end());
  // Max-min share: a quarter of 200 Gb/s each, so all end with the last byte of 16 MiB.
  const Time all = base::transmission_time(16_MiB, 200_gbps) * 4126 / 4096;
  EXPECT_NEAR(*last / all, 1.0, 0.01);
  EXPECT_NEAR(*first / *last, 1.0, 0.01);
  EXPECT_EQ(network->counters().dropped_packets, 0U);
  EXPECT_EQ(network->counters().retransmitted_packets, 0U);
  EXPECT_GT(network->counters().credit_stalled, 1_us);
}

// IBTA 7.9: a receiver lets at most its buffer be on the way, so throughput over a long cable is
// the buffer over the round trip: both directions of the cable and PHY, the packet's and the credit
// packet's serialisation (8 bytes).
TEST(InfiniBand, OverALongCableIsLimitedToBufferOverRoundTrip) {
  fabric::TopologySpec spec = topology(fabric::TopologyKind::kDirect, 2);
  spec.cable_m = 10'000;  // 50 us one way
  FabricProfile profile = infiniband();
  profile.credits.vl_buffer = 66_KiB;
  const auto fabric = std::make_shared<const fabric::Fabric>(fabric::build(spec));
  auto network = network_on(fabric, profile);
  const Bytes size = 64_MiB;
  const Time time = completion_times(*network, {{0, 1, size}}).front();
  // 66 KiB are 1056 blocks: 16 packets of 65 blocks (4126 bytes on the wire).
  const double round_trip_s = 2 * (50e-6 + 100e-9) + 4126 * 40e-12;
  const double expected = 16 * 4096 * 8 / round_trip_s * 1e-9;
  EXPECT_NEAR(goodput_gbps(size, time) / expected, 1.0, 0.02);
}

TEST(InfiniBand, OverAShortCableRunsAtLineRate) {
  auto network = network_on(one_switch(2), infiniband());
  const Time time = completion_times(*network, {{0, 1, 64_MiB}}).front();
  EXPECT_NEAR(goodput_gbps(64_MiB, time), 200.0 * 4096 / 4126, 0.5);
}

// ftree gives every destination of a shift permutation an uplink of its own (Zahavi 2010).
TEST(InfiniBand, StaticRoutesCarryAShiftPermutationWithoutCollision) {
  const std::uint32_t n = 16;
  std::vector<Flow> flows;
  for (std::uint32_t i = 0; i < n; ++i) flows.push_back({i, (i + n / 2) % n, 4_MiB});
  auto alone = network_on(leaf_spine(n, 8), infiniband());
  auto together = network_on(leaf_spine(n, 8), infiniband());
  const Time one = completion_times(*alone, {flows.front()}).front();
  const auto all = completion_times(*together, flows);
  EXPECT_LT(*std::max_element(all.begin(), all.end()) / one, 1.01);
}

// Congestion spreads: while an incast fills the switch towards node 0, a flow that shares the
// senders' leaf uplink is slowed although its own receiver is idle (no congestion control by
// default).
TEST(InfiniBand, WithoutCongestionControlAVictimSuffersFromAnIncastBesideIt) {
  auto alone = network_on(leaf_spine(8, 4), infiniband());
  const Time one = completion_times(*alone, {{0, 4, 4_MiB}}).front();
  auto crowded = network_on(leaf_spine(8, 4), infiniband());
  // Node 1 sends to the incast's receiver and to an idle one.
  const auto done =
      completion_times(*crowded, {{1, 4, 4_MiB}, {2, 4, 4_MiB}, {3, 4, 4_MiB}, {1, 5, 4_MiB}});
  EXPECT_GT(done[3] / one, 1.5);
}

/// Most messages of the shift by `k` that share a link.
int most_on_a_link(const fabric::Fabric& f, fabric::RoutingEngine engine, std::uint32_t k) {
  const auto tables = fabric::forwarding(f, engine);
  const auto n = static_cast<std::uint32_t>(f.endpoints());
  std::vector<int> load(f.ports().size());
  for (std::uint32_t i = 0; i < n; ++i) {
    for (const fabric::PortId port :
         fabric::route(f, tables, fabric::EndpointId(i), fabric::EndpointId((i + k) % n))) {
      ++load[port.index()];
    }
  }
  return *std::max_element(load.begin(), load.end());
}

// On three tiers minhop lets messages of a shift share a link and ftree does not
// (docs/models/forwarding.md): the slowest takes as long as its link has messages.
TEST(InfiniBand, FollowsTheTablesOfTheSubnetManagersRoutingEngine) {
  fabric::TopologySpec spec = topology(fabric::TopologyKind::kFatTree, 128);
  spec.switch_ports = 8;
  const auto f = std::make_shared<const fabric::Fabric>(fabric::build(spec));
  const std::uint32_t k = 16;
  std::vector<Flow> flows;
  for (std::uint32_t i = 0; i < 128; ++i) flows.push_back({i, (i + k) % 128, 1_MiB});
  const auto slowest = [&](catalog::SubnetRouting engine) {
    FabricProfile p = infiniband();
    p.paths.engine = engine;
    auto network = network_on(f, p);
    const auto done = completion_times(*network, flows);
    return *std::max_element(done.begin(), done.end());
  };
  const int shared = most_on_a_link(*f, fabric::RoutingEngine::kMinHop, k);
  ASSERT_GT(shared, 1);
  ASSERT_EQ(most_on_a_link(*f, fabric::RoutingEngine::kFatTree, k), 1);
  const Time one = base::transmission_time(1_MiB, 200_gbps) * 4126 / 4096;
  EXPECT_NEAR(slowest(catalog::SubnetRouting::kFatTree) / one, 1.0, 0.1);
  EXPECT_NEAR(slowest(catalog::SubnetRouting::kMinHop) / one, shared, 0.1 * shared);
}

TEST(InfiniBand, SaysWhyTheSubnetManagerFallsBackToMinHop) {
  FabricProfile p = infiniband();
  EXPECT_EQ(routing_fallback(*leaf_spine(8, 4), p), "");
  EXPECT_EQ(routing_fallback(*one_switch(2), p), "");
  fabric::CustomSpec spec;
  spec.nic_rate = 200_gbps;
  spec.switches = {{"a", 1}, {"b", 1}, {"c", 2}, {"d", 2}};
  spec.adapters = {0, 1};
  spec.cables = {{0, 2, 200_gbps}, {0, 3, 200_gbps}, {1, 2, 200_gbps}};  // none from b to d
  const fabric::Fabric broken = fabric::custom(spec);
  EXPECT_NE(routing_fallback(broken, p), "");
  p.paths.engine = catalog::SubnetRouting::kUpDown;
  EXPECT_EQ(routing_fallback(broken, p), "");
}

TEST(InfiniBand, NamesTheAdaptersThatNoRouteJoins) {
  fabric::TopologySpec spec = topology(fabric::TopologyKind::kRailOnly, 4);
  spec.gpus_per_node = spec.nics_per_node = 2;
  const auto f = std::make_shared<const fabric::Fabric>(fabric::build(spec));
  auto network = network_on(f, infiniband());
  try {
    network->send(Rank(0), Rank(3), 1_KiB, {}, {});
    ADD_FAILURE();
  } catch (const base::Error& error) {
    EXPECT_NE(error.message().find("node0/nic0 to node1/nic1"), std::string::npos)
        << error.message();
  }
}

TEST(InfiniBand, RefusesABufferThatTheCreditCountersCannotExpress) {
  FabricProfile profile = infiniband();
  profile.credits.vl_buffer = 129_KiB;
  EXPECT_THROW(network_on(one_switch(2), profile), base::Error);
  profile.credits.vl_buffer = 8_KiB;  // below two packets
  EXPECT_THROW(network_on(one_switch(2), profile), base::Error);
}

}  // namespace
}  // namespace fabricast::packet
