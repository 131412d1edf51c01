// The flow level against what can be worked out by hand.

#include "flow/flow_network.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"

namespace fabricast::flow {
namespace {

using base::Bytes;
using base::Rank;
using base::Time;
using catalog::FabricProfile;
using namespace base::literals;

/// 1000 bytes of payload in 1000 on the wire, no acknowledgements, no latency.
FabricProfile plain() {
  FabricProfile p;
  p.kind = catalog::FabricKind::kRoceV2;
  p.link.mtu = 1000_B;
  p.paths.routing = catalog::Routing::kEcmp;
  return p;
}

std::shared_ptr<Behaviour> no_behaviour() {
  auto behaviour = std::make_shared<Behaviour>();
  behaviour->paths.push_back({});
  return behaviour;
}

std::shared_ptr<const fabric::Fabric> hosts(int nodes, int per_leaf = 0) {
  fabric::TopologySpec spec;
  spec.kind = per_leaf > 0 ? fabric::TopologyKind::kLeafSpine : fabric::TopologyKind::kSingleSwitch;
  spec.nodes = nodes;
  spec.gpus_per_node = 1;
  spec.nics_per_node = 1;
  spec.nic_rate = 80_gbps;
  spec.switch_rate = 80_gbps;
  spec.switch_ports = 64;
  spec.nodes_per_leaf = per_leaf;
  return std::make_shared<const fabric::Fabric>(fabric::build(spec));
}

/// 80 Gb/s are 10 bytes per nanosecond.
Time at_full_rate(std::int64_t bytes) {
  return Time::picoseconds(bytes * 100);
}

struct Send {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::int64_t bytes = 0;
  Time start;
};

std::vector<Time> completions(FlowNetwork& network, const std::vector<Send>& sends) {
  std::vector<Time> done(sends.size());
  for (std::size_t i = 0; i < sends.size(); ++i) {
    network.at(sends[i].start, [&, i](Time) {
      network.send(Rank(sends[i].from), Rank(sends[i].to), Bytes(sends[i].bytes),
                   {static_cast<std::uint32_t>(i)}, [&, i](Time now) { done[i] = now; });
    });
  }
  network.run();
  return done;
}

TEST(FlowNetwork, carries_a_message_alone_at_the_rate_of_its_links) {
  FlowNetwork network(hosts(2), plain(), {3600_gbps, 1_us}, no_behaviour(), 1);
  EXPECT_EQ(completions(network, {{0, 1, 1'000'000, 0_us}}).front(), at_full_rate(1'000'000));
  EXPECT_EQ(network.counters().bytes_delivered, 1'000'000);
}

// Two flows into one host share it; the short one ends after twice its time, and the long one then
// has the link to itself.
TEST(FlowNetwork, shares_a_link_while_both_need_it) {
  FlowNetwork network(hosts(3), plain(), {3600_gbps, 1_us}, no_behaviour(), 1);
  const auto done = completions(network, {{0, 2, 1'000'000, 0_us}, {1, 2, 3'000'000, 0_us}});
  EXPECT_EQ(done[0], at_full_rate(2'000'000));
  EXPECT_EQ(done[1], at_full_rate(4'000'000));
}

// Each way carries x of data and 0.05 x of acknowledgements; what the second round of sharing
// leaves of the difference is 0.05^3.
TEST(FlowNetwork, takes_acknowledgements_from_the_way_back) {
  FabricProfile p = plain();
  p.link.ack = 100_B;
  p.transport.ack_every = 2;  // 50 bytes back for each 1000 forth
  FlowNetwork network(hosts(2), p, {3600_gbps, 1_us}, no_behaviour(), 1);
  const auto done = completions(network, {{0, 1, 1'000'000, 0_us}, {1, 0, 1'000'000, 0_us}});
  EXPECT_NEAR(done[0].us(), at_full_rate(1'050'000).us(), 0.003 * 105);
  EXPECT_EQ(done[0], done[1]);
}

TEST(FlowNetwork, keeps_the_messages_of_a_connection_in_order) {
  FlowNetwork network(hosts(2), plain(), {3600_gbps, 1_us}, no_behaviour(), 1);
  std::vector<Time> done(3);
  for (std::size_t i = 0; i < 3; ++i) {
    network.send(Rank(0), Rank(1), Bytes(10'000), {7}, [&, i](Time now) { done[i] = now; });
  }
  network.run();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(done[i], at_full_rate(static_cast<std::int64_t>(10'000 * (i + 1))));
  }
}

TEST(FlowNetwork, gives_a_core_of_tcp_what_it_can_copy) {
  FabricProfile p = plain();
  p.kind = catalog::FabricKind::kTcp;
  p.tcp.cpu_ns_per_byte = 0.2;  // 5 bytes per nanosecond, half of the link
  p.tcp.cores_per_nic = 2;
  FlowNetwork network(hosts(4), p, {3600_gbps, 1_us}, no_behaviour(), 1);
  const auto done = completions(network, {{0, 1, 1'000'000, 0_us}});
  EXPECT_EQ(done[0], at_full_rate(2'000'000));
  EXPECT_NEAR(network.counters().cpu_busy.s(), 2 * 1e6 * 0.2e-9, 1e-12);
  // A second connection of the host has the other core.
  FlowNetwork both(hosts(4), p, {3600_gbps, 1_us}, no_behaviour(), 1);
  for (const Time t : completions(both, {{0, 1, 1'000'000, 0_us}, {0, 2, 1'000'000, 0_us}})) {
    EXPECT_EQ(t, at_full_rate(2'000'000));
  }
}

TEST(FlowNetwork, waits_for_the_first_bytes_of_a_connection_as_long_as_they_take) {
  const auto behaviour = no_behaviour();
  behaviour->paths.front().latency.points = {{1, 2e-6}};
  behaviour->paths.front().ramp.points = {{0, 0}, {1e6, 50e-6}};
  FlowNetwork network(hosts(2), plain(), {3600_gbps, 1_us}, behaviour, 1);
  std::vector<Time> done;
  for (int i = 0; i < 4; ++i) {
    network.send(Rank(0), Rank(1), Bytes(500'000), {0}, [&](Time now) { done.push_back(now); });
  }
  network.run();
  EXPECT_EQ(done.front(), 25_us + at_full_rate(500'000) + 2_us);
  EXPECT_EQ(done.back(), 50_us + at_full_rate(2'000'000) + 2_us);
}

TEST(FlowNetwork, stops_at_a_cable_that_is_down_and_goes_round_it_when_routing_knows) {
  FabricProfile p = plain();
  p.paths.failover = 1_ms;
  const auto f = hosts(8, 2);
  // The uplink that this flow has by its hash.
  Sharing sharing;
  Paths paths(*f, p, 1, sharing);
  const network::SendOptions options{0};
  const auto hash = network::flow_hash(1, network::connection_key(Rank(0), Rank(7), options), 0, 0);
  const auto uplink = paths.path(fabric::EndpointId(0), fabric::EndpointId(7), hash).crossings[1];
  LinkFault fault;
  fault.port = fabric::PortId(uplink.link);
  fault.at = 50_us;
  FlowNetwork network(f, p, {3600_gbps, 1_us}, no_behaviour(), 1, {fault});
  EXPECT_EQ(completions(network, {{0, 7, 1'000'000, 0_us}}).front(),
            at_full_rate(1'000'000) + 1_ms);
  fault.settled = true;
  FlowNetwork knows(f, p, {3600_gbps, 1_us}, no_behaviour(), 1, {fault});
  EXPECT_EQ(completions(knows, {{0, 7, 1'000'000, 0_us}}).front(), at_full_rate(1'000'000));
}

TEST(FlowNetwork, runs_at_the_rate_of_a_degraded_cable_while_it_lasts) {
  const auto f = hosts(2);
  LinkFault fault;
  fault.port = f->endpoint_port(fabric::EndpointId(1));
  fault.at = 10_us;
  fault.duration = 20_us;
  fault.rate_share = 0.25;
  FlowNetwork network(f, plain(), {3600_gbps, 1_us}, no_behaviour(), 1, {fault});
  EXPECT_EQ(completions(network, {{0, 1, 1'000'000, 0_us}}).front(),
            at_full_rate(1'000'000) + 15_us);
}

TEST(FlowNetwork, says_that_nothing_can_move_instead_of_waiting) {
  const auto f = hosts(2);
  LinkFault fault;
  fault.port = f->endpoint_port(fabric::EndpointId(1));
  fault.at = 10_us;
  FlowNetwork network(f, plain(), {3600_gbps, 1_us}, no_behaviour(), 1, {fault});
  EXPECT_THROW(completions(network, {{0, 1, 1'000'000, 0_us}}), base::Error);
}

// Packets that switches spread over all uplinks fill them evenly: eight hosts of a leaf with eight
// uplinks hold nobody up, whatever their hashes.
TEST(FlowNetwork, spreads_packets_over_uplinks_under_adaptive_routing) {
  FabricProfile p = plain();
  p.paths.routing = catalog::Routing::kAdaptive;
  FlowNetwork network(hosts(16, 8), p, {3600_gbps, 1_us}, no_behaviour(), 1);
  std::vector<Send> sends;
  for (std::uint32_t h = 0; h < 8; ++h) sends.push_back({h, h + 8, 1'000'000, 0_us});
  for (const Time t : completions(network, sends)) EXPECT_EQ(t, at_full_rate(1'000'000));
}

/// A ring of all hosts, each of which sends its successor `bytes` in `steps`.
network::Bulk ring_of(std::uint32_t hosts, double bytes, double steps) {
  network::Bulk bulk;
  bulk.steps = steps;
  for (std::uint32_t h = 0; h < hosts; ++h) {
    bulk.edges.push_back({Rank(h), Rank((h + 1) % hosts), bytes});
  }
  return bulk;
}

Time carried(FlowNetwork& network, const std::vector<network::Bulk>& bulks) {
  Time end;
  for (const network::Bulk& bulk : bulks) network.carry(bulk, [&](Time now) { end = now; });
  network.run();
  return end;
}

// One link at a quarter of its rate is the pace of the whole ring.
TEST(Bulk, goes_at_the_pace_of_its_slowest_edge) {
  const auto f = hosts(8);
  FlowNetwork sound(f, plain(), {3600_gbps, 1_us}, no_behaviour(), 1);
  EXPECT_EQ(carried(sound, {ring_of(8, 1e6, 1)}), at_full_rate(1'000'000));
  LinkFault fault;
  fault.port = f->endpoint_port(fabric::EndpointId(3));
  fault.rate_share = 0.25;
  fault.settled = true;
  FlowNetwork slow(f, plain(), {3600_gbps, 1_us}, no_behaviour(), 1, {fault});
  EXPECT_EQ(carried(slow, {ring_of(8, 1e6, 1)}), at_full_rate(4'000'000));
}

TEST(Bulk, shares_the_links_that_two_rings_need) {
  FlowNetwork network(hosts(8), plain(), {3600_gbps, 1_us}, no_behaviour(), 1);
  EXPECT_EQ(carried(network, {ring_of(8, 1e6, 1), ring_of(8, 1e6, 1)}), at_full_rate(2'000'000));
}

// 100 steps of 1000 bytes, which take 100 ns on the wire and 2 us + 1 us besides.
TEST(Bulk, takes_latency_and_overhead_with_every_step) {
  const auto behaviour = no_behaviour();
  behaviour->paths.front().latency.points = {{1, 2e-6}};
  FlowNetwork network(hosts(8), plain(), {3600_gbps, 1_us}, behaviour, 1);
  network::Bulk ring = ring_of(8, 1e5, 100);
  ring.overhead = 1_us;
  EXPECT_NEAR(carried(network, {ring}).us(), 100 * (0.1 + 2 + 1), 0.01);
}

}  // namespace
}  // namespace fabricast::flow
