// Reduction in the network (SHARP): times by formula, what links carry, and the limits of streams,
// buffers and sizes.

#include <string>

#include <gtest/gtest.h>

#include "base/error.h"
#include "fixtures.h"
#include "packet/engine.h"

namespace fabricast::packet::testing {
namespace {

constexpr Time kLatency = Time::picoseconds(200'000);

FabricProfile sharp() {
  FabricProfile p = infiniband();
  p.sharp.enabled = true;
  p.sharp.latency = kLatency;
  return p;
}

std::vector<Rank> ranks(std::uint32_t count, std::uint32_t step = 1, std::uint32_t first = 0) {
  std::vector<Rank> all;
  for (std::uint32_t i = 0; i < count; ++i) all.emplace_back(first + i * step);
  return all;
}

/// When each rank has the result of one all-reduce; rank i of the group starts at starts[i].
std::vector<Time> reduce(PacketNetwork& network, const std::vector<Rank>& group, Bytes size,
                         const std::vector<Time>& starts = {}) {
  const auto tree = network.claim_reduction(group);
  EXPECT_TRUE(tree.has_value());
  std::vector<Time> done(group.size());
  for (std::size_t i = 0; i < group.size(); ++i) {
    network.at(starts.empty() ? Time() : starts[i], [&, i](Time) {
      network.reduce(*tree, group[i], size, [&done, i](Time now) { done[i] = now; });
    });
  }
  network.run();
  return done;
}

std::unique_ptr<PacketNetwork> on(const std::shared_ptr<const fabric::Fabric>& fabric,
                                  const FabricProfile& p, const Faults& faults = {}) {
  return make_network(fabric, p, {3600_gbps, 1_us}, 1, faults);
}

Time on_wire(Bytes bytes) {
  return base::transmission_time(bytes, 200_gbps);
}

// Leaf, root, leaf: a reduction needs the whole packet, the way down is cut through.
const Time kPacket = on_wire(4126_B);
const Time kHop = 150_ns + 300_ns;  // cable, PHY, switch
const Time kUpAndDown = 2 * (kPacket + kHop + kLatency) + on_wire(64_B) + kHop + kPacket + 150_ns;
const Time kOverheads = 400_ns + 200_ns;

/// As computed, and for each of `packets` one flow-control packet of the way back (8 bytes) that
/// may stand before it.
void expect_time(Time done, Time computed, std::int64_t packets) {
  EXPECT_GE(done.ps(), computed.ps());
  EXPECT_LE(done.ps(), (computed + 2 * packets * on_wire(8_B)).ps());
}

TEST(Reduction, takes_one_pass_up_the_tree_and_one_down) {
  const auto network = on(leaf_spine(8, 2), sharp());
  for (const Time done : reduce(*network, ranks(8), 4096_B)) {
    expect_time(done, kOverheads + kUpAndDown, 1);
  }
}

TEST(Reduction, runs_at_the_rate_of_the_link_whatever_the_number_of_members) {
  for (const int nodes : {8, 16, 32}) {
    const auto network = on(leaf_spine(nodes, nodes / 4), sharp());
    for (const Time done : reduce(*network, ranks(static_cast<std::uint32_t>(nodes)), 1_MiB)) {
      expect_time(done, kOverheads + kUpAndDown + 255 * kPacket, 256);
    }
  }
}

TEST(Reduction, under_one_switch_has_its_root_there) {
  const auto network = on(one_switch(5), sharp());
  for (const Time done : reduce(*network, ranks(5), 4096_B)) {
    expect_time(done, kOverheads + kPacket + kHop + kLatency + kPacket + 150_ns, 1);
  }
}

// A ring sends 2 (n - 1) / n of the data over every adapter; here it is all of it, once, and the
// same on a leaf's uplink.
TEST(Reduction, sends_the_data_once_over_every_link_of_the_tree) {
  const auto fabric = leaf_spine(8, 2);
  const auto network = on(fabric, sharp());
  reduce(*network, ranks(8), 256_KiB);
  int uplinks = 0;
  for (const LinkUse& link : network->links()) {
    if (link.sent.count() == 0) continue;
    EXPECT_EQ(link.sent, 64 * 4126_B) << fabric->port_name(link.port);
    const fabric::Port& port = fabric->port(link.port);
    const fabric::Port& other = fabric->port(port.peer);
    uplinks += fabric->device(port.device).tier == 1 && fabric->device(other.device).tier == 2;
  }
  EXPECT_EQ(uplinks, 4);
}

TEST(Reduction, waits_for_the_last_member) {
  const auto network = on(leaf_spine(8, 2), sharp());
  std::vector<Time> starts(8);
  starts[5] = 100_us;
  for (const Time done : reduce(*network, ranks(8), 64_KiB, starts)) {
    // The others' first packets wait in the switches: the last member's are all that is missing.
    expect_time(done, 100_us + kOverheads + kUpAndDown + 15 * kPacket, 16);
  }
}

// Buffers of one packet: the next leaves when the sum of the one before has come.
TEST(Reduction, has_no_more_under_way_than_the_switches_can_hold) {
  FabricProfile p = sharp();
  p.sharp.buffer = 4126_B;
  const auto network = on(leaf_spine(8, 2), p);
  for (const Time done : reduce(*network, ranks(8), 8 * 4096_B)) {
    expect_time(done, kOverheads + 8 * kUpAndDown, 8);
  }
}

TEST(Reduction, of_more_than_the_largest_message_goes_in_pieces) {
  FabricProfile p = sharp();
  p.sharp.largest_message = 16_KiB;
  const auto network = on(leaf_spine(8, 2), p);
  for (const Time done : reduce(*network, ranks(8), 40 * 1024_B)) {
    expect_time(done, 3 * (kOverheads + kUpAndDown) + (3 + 3 + 1) * kPacket, 10);
  }
}

TEST(Reduction, of_one_stream_per_switch_leaves_no_tree_for_a_second_group_there) {
  FabricProfile p = sharp();
  p.sharp.streams = catalog::SharpStreams::kOnePerSwitch;
  const auto network = on(leaf_spine(8, 2), p);
  const auto first = network->claim_reduction(ranks(4, 2));  // one adapter of every leaf
  ASSERT_TRUE(first.has_value());
  EXPECT_FALSE(network->claim_reduction(ranks(4, 2, 1)).has_value());
  network->release_reduction(*first);
  EXPECT_TRUE(network->claim_reduction(ranks(4, 2, 1)).has_value());
}

TEST(Reduction, of_one_stream_per_port_leaves_other_ports_to_other_groups) {
  const auto network = on(leaf_spine(8, 2), sharp());
  ASSERT_TRUE(network->claim_reduction(ranks(4, 2)).has_value());
  EXPECT_TRUE(network->claim_reduction(ranks(4, 2, 1)).has_value());  // by the other spine
  EXPECT_FALSE(network->claim_reduction(ranks(2)).has_value());
}

// Groups on trees of their own do not slow each other.
TEST(Reduction, of_two_groups_at_once_takes_no_longer_than_of_one) {
  const auto network = on(leaf_spine(8, 2), sharp());
  const std::vector<std::vector<Rank>> groups = {ranks(4, 2), ranks(4, 2, 1)};
  std::vector<Time> done;
  for (const std::vector<Rank>& group : groups) {
    const auto tree = network->claim_reduction(group);
    ASSERT_TRUE(tree.has_value());
    for (const Rank rank : group) {
      network->reduce(*tree, rank, 256_KiB, [&done](Time now) { done.push_back(now); });
    }
  }
  network->run();
  ASSERT_EQ(done.size(), 8U);
  for (const Time t : done) expect_time(t, kOverheads + kUpAndDown + 63 * kPacket, 64);
}

// A slot at a quarter of the wire's rate, for what goes up and for what comes down.
TEST(Reduction, goes_at_the_pace_of_hosts_that_hold_it_back) {
  for (const bool up : {true, false}) {
    fabric::TopologySpec spec = topology(fabric::TopologyKind::kSingleSwitch, 4);
    spec.host.links = {{fabric::HostLinkKind::kSlot, 50_gbps}};
    spec.host.ways.resize(1);
    (up ? spec.host.ways[0].send : spec.host.ways[0].receive) = {{0, 1}};
    const auto network = on(std::make_shared<const fabric::Fabric>(fabric::build(spec)), sharp());
    const Time crossing = 256 * base::transmission_time(4096_B, 50_gbps);
    for (const Time done : reduce(*network, ranks(4), 1_MiB)) {
      EXPECT_GT(done, crossing);
      EXPECT_LT(done, crossing + 3_us);
    }
  }
}

TEST(Reduction, is_offered_by_infiniband_with_sharp_alone) {
  EXPECT_FALSE(on(leaf_spine(8, 2), infiniband())->claim_reduction(ranks(8)).has_value());
  EXPECT_FALSE(on(leaf_spine(8, 2), roce())->claim_reduction(ranks(8)).has_value());
}

TEST(Reduction, ends_with_an_error_when_a_link_of_the_tree_goes_down) {
  const auto fabric = leaf_spine(8, 2);
  Faults faults;
  Fault fault;
  fault.port = fabric->endpoint_port(fabric::EndpointId(3));
  fault.at = 5_us;
  faults.schedule = {fault};
  const auto network = on(fabric, sharp(), faults);
  try {
    reduce(*network, ranks(8), 1_MiB);
    FAIL() << "no error";
  } catch (const base::Error& error) {
    EXPECT_NE(error.message().find("reduction"), std::string::npos) << error.message();
  }
}

struct Busy {
  std::vector<Time> reduced;
  std::vector<Time> sent;
  std::uint64_t events = 0;
  std::string audit;
};

/// Reductions one after the other over a fat-tree, amid other traffic.
Busy busy(int threads) {
  fabric::TopologySpec spec = topology(fabric::TopologyKind::kFatTree, 54);
  spec.switch_ports = 6;
  const auto fabric = std::make_shared<const fabric::Fabric>(fabric::build(spec));
  const auto network = make_network(fabric, sharp(), {3600_gbps, 1_us}, 1, {}, threads);
  Busy result;
  const auto look = [&](Time) {
    const auto* engine = dynamic_cast<const Engine<FabricKind::kInfiniBand>*>(network.get());
    if (engine != nullptr && result.audit.empty()) result.audit = engine->audit();
  };
  const auto tree = network->claim_reduction(ranks(27, 2));
  EXPECT_TRUE(tree.has_value());
  for (const Rank rank : ranks(27, 2)) {
    for (int turn = 0; turn < 3; ++turn) {
      network->reduce(*tree, rank, 100'000_B, [&](Time now) {
        result.reduced.push_back(now);
        look(now);
      });
    }
  }
  for (std::uint32_t h = 0; h < 54; ++h) {
    network->send(Rank(h), Rank((h * 5 + 7) % 54), 200'000_B, {}, [&](Time now) {
      result.sent.push_back(now);
      look(now);
    });
  }
  network->run();
  result.events = network->counters().events;
  return result;
}

TEST(Reduction, amid_other_traffic_keeps_the_books_and_is_the_same_on_several_threads) {
  const Busy one = busy(1);
  EXPECT_EQ(one.audit, "");
  EXPECT_EQ(one.reduced.size(), 81U);
  for (const int threads : {2, 3}) {
    const Busy several = busy(threads);
    EXPECT_EQ(one.reduced, several.reduced);
    EXPECT_EQ(one.sent, several.sent);
    EXPECT_EQ(one.events, several.events);
  }
}

}  // namespace
}  // namespace fabricast::packet::testing
