#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"
#include "fabric/fabric.h"
#include "specs.h"

namespace fabricast::fabric {
namespace {

using namespace base::literals;

TopologySpec split_spec() {
  // 32 leaves of 8 uplinks need 16 spines, more than divide 8: split to 16 uplinks of 50G.
  TopologySpec spec = spec_of(TopologyKind::kLeafSpine, 256, 1, 16);
  spec.max_uplink_split = 4;
  return spec;
}

std::vector<std::pair<std::string, TopologySpec>> all_specs() {
  TopologySpec rack = spec_of(TopologyKind::kLeafSpine, 4, 8, 36);
  rack.nodes_per_leaf = 2;
  TopologySpec rails = spec_of(TopologyKind::kRailOptimised, 31, 8, 64);
  rails.scalable_unit_nodes = 32;
  rails.management_ports = 4;
  TopologySpec odd_unit = spec_of(TopologyKind::kRailOptimised, 40, 4, 16);
  odd_unit.scalable_unit_nodes = 10;
  TopologySpec narrow = spec_of(TopologyKind::kLeafSpine, 96, 1, 16);
  narrow.oversubscription = 3;
  return {{"single switch", spec_of(TopologyKind::kSingleSwitch, 4, 8, 36)},
          {"leaf-spine", spec_of(TopologyKind::kLeafSpine, 40, 2, 16)},
          {"racks", rack},
          {"oversubscribed", narrow},
          {"split uplinks", split_spec()},
          {"rail-optimised", rails},
          {"odd scalable unit", odd_unit},
          {"rail-optimised, three tiers", spec_of(TopologyKind::kRailOptimised, 28, 4, 8)},
          {"leaf-spine grown to three tiers", spec_of(TopologyKind::kLeafSpine, 50, 1, 8)},
          {"fat-tree", spec_of(TopologyKind::kFatTree, 128, 1, 8)}};
}

/// Follows `choice` among the next hops of every switch; returns links crossed, -1 when lost.
int links_to(const Fabric& fabric, EndpointId from, EndpointId to, std::size_t choice) {
  PortId link = fabric.endpoint_port(from);
  for (int links = 1; links <= 8; ++links) {
    const PortId arrived = fabric.port(link).peer;
    if (arrived == fabric.endpoint_port(to)) return links;
    const auto hops = fabric.next_hops(fabric.port(arrived).device, to);
    if (hops.empty()) return -1;
    link = hops[choice % hops.size()];
  }
  return -1;
}

TEST(Build, EveryEndpointReachesEveryOtherByEveryChoiceOfNextHop) {
  for (const auto& [name, spec] : all_specs()) {
    SCOPED_TRACE(name);
    const Fabric fabric = build(spec);
    for (int a = 0; a < fabric.endpoints(); ++a) {
      for (int b = 0; b < fabric.endpoints(); ++b) {
        if (a == b) continue;
        for (std::size_t choice = 0; choice < 3; ++choice) {
          ASSERT_GT(links_to(fabric, endpoint(a), endpoint(b), choice), 0) << a << " to " << b;
        }
      }
    }
  }
}

TEST(Build, PathsCrossTwoFourOrSixLinksByHowFarApartTheEndpointsAre) {
  const Fabric fabric = build(spec_of(TopologyKind::kFatTree, 128, 1, 8));
  for (int host = 1; host < 128; ++host) {
    const int expected = host < 4 ? 2 : host < 16 ? 4 : 6;  // same edge switch, same pod, other pod
    EXPECT_EQ(links_to(fabric, endpoint(0), endpoint(host), 1), expected) << host;
  }
}

// W1's fabric: host h hangs on edge switch h/4; aggregation switch a of every pod meets cores
// 4a to 4a+3, once each.
TEST(Build, KaryFatTreeIsCabledAsAlFaresDescribes) {
  const Fabric fabric = build(spec_of(TopologyKind::kFatTree, 128, 1, 8));
  EXPECT_EQ(std::ranges::count(fabric.devices(), DeviceKind::kSwitch, &Device::kind), 80);
  EXPECT_EQ(fabric.ports().size(), 2U * 384);
  for (int host = 0; host < 128; ++host) {
    const PortId above = fabric.port(fabric.endpoint_port(endpoint(host))).peer;
    EXPECT_EQ(fabric.device(fabric.port(above).device).name, "leaf" + std::to_string(host / 4));
  }
  for (const Device& device : fabric.devices()) {
    if (device.tier != 2) continue;
    const int a = std::stoi(device.name.substr(5)) % 4;
    std::multiset<std::string> cores;
    for (std::uint32_t p = device.first_port; p < device.first_port + device.port_count; ++p) {
      const Device& peer = fabric.device(fabric.port(fabric.port(PortId(p)).peer).device);
      if (peer.tier == 3) cores.insert(peer.name);
    }
    std::multiset<std::string> expected;
    for (int i = 0; i < 4; ++i) expected.insert("core" + std::to_string(4 * a + i));
    EXPECT_EQ(cores, expected) << device.name;
  }
}

TEST(Build, RailOnlyDoesNotJoinTheRails) {
  const Fabric fabric = build(spec_of(TopologyKind::kRailOnly, 4, 8, 36));
  EXPECT_EQ(links_to(fabric, endpoint(0), endpoint(8), 0), 2);   // node 1, same rail
  EXPECT_EQ(links_to(fabric, endpoint(0), endpoint(9), 0), -1);  // node 1, next rail
  EXPECT_TRUE(fabric.connected(endpoint(0), endpoint(8)));
  EXPECT_FALSE(fabric.connected(endpoint(0), endpoint(9)));
}

TEST(Build, DirectCablesJoinEqualNicsOfTheTwoNodes) {
  const Fabric fabric = build(spec_of(TopologyKind::kDirect, 2, 8, 0));
  EXPECT_EQ(fabric.devices().size(), 16U);
  for (int nic = 0; nic < 8; ++nic) {
    EXPECT_EQ(fabric.port(fabric.endpoint_port(endpoint(nic))).peer,
              fabric.endpoint_port(endpoint(8 + nic)));
  }
  EXPECT_TRUE(fabric.connected(endpoint(3), endpoint(11)));
  EXPECT_FALSE(fabric.connected(endpoint(3), endpoint(12)));
}

TEST(Build, RailOptimisedPutsNicIOfAUnitOnItsLeafI) {
  TopologySpec spec = spec_of(TopologyKind::kRailOptimised, 40, 8, 64);
  spec.scalable_unit_nodes = 32;
  const Fabric fabric = build(spec);
  for (int node = 0; node < 40; ++node) {
    for (int nic = 0; nic < 8; ++nic) {
      const PortId above = fabric.port(fabric.endpoint_port(endpoint(node * 8 + nic))).peer;
      const int leaf = (node / 32) * 8 + nic;
      EXPECT_EQ(fabric.device(fabric.port(above).device).name, "leaf" + std::to_string(leaf));
    }
  }
}

// 64 nodes a unit on leaves with 32 down ports: two leaves per rail, 32 nodes each.
TEST(Build, AUnitLargerThanALeafTakesSeveralLeavesPerRail) {
  TopologySpec spec = spec_of(TopologyKind::kRailOptimised, 64, 8, 64);
  spec.scalable_unit_nodes = 64;
  const Fabric fabric = build(spec);
  const PortId above = fabric.port(fabric.endpoint_port(endpoint(63 * 8 + 5))).peer;
  EXPECT_EQ(fabric.device(fabric.port(above).device).name, "leaf13");
}

TEST(Build, NoSwitchHasMorePortsThanItsModel) {
  for (const auto& [name, spec] : all_specs()) {
    SCOPED_TRACE(name);
    const Fabric fabric = build(spec);
    for (const Device& device : fabric.devices()) {
      if (device.kind == DeviceKind::kAdapter) {
        EXPECT_EQ(device.port_count, 1U);
        continue;
      }
      std::int64_t bandwidth = 0;
      for (std::uint32_t p = device.first_port; p < device.first_port + device.port_count; ++p) {
        bandwidth += fabric.port(PortId(p)).rate.bps();
      }
      EXPECT_LE(bandwidth, spec.switch_rate.bps() * spec.switch_ports) << device.name;
    }
  }
}

TEST(Build, CablesAreAsManyAsTheSizingSays) {
  for (const auto& [name, spec] : all_specs()) {
    SCOPED_TRACE(name);
    const Fabric fabric = build(spec);
    std::map<std::pair<int, int>, std::int64_t> links;
    for (const Port& port : fabric.ports()) {
      const int here = fabric.device(port.device).tier;
      const int there = fabric.device(fabric.port(port.peer).device).tier;
      ++links[{here, there}];
    }
    const Sizing& sizing = fabric.sizing();
    EXPECT_EQ((links[{0, 1}]), sizing.endpoint_cables - spec.management_ports);
    EXPECT_EQ((links[{1, 2}]), sizing.leaf_spine_cables * sizing.uplink_split);
    EXPECT_EQ((links[{2, 3}]), sizing.spine_core_cables);
    EXPECT_EQ((links[{1, 2}]), (links[{2, 1}]));
  }
}

TEST(Build, EveryNicIsCabledOnceAndBothEndsAgree) {
  for (const auto& [name, spec] : all_specs()) {
    SCOPED_TRACE(name);
    const Fabric fabric = build(spec);
    std::set<PortId> above;
    for (int e = 0; e < fabric.endpoints(); ++e) {
      above.insert(fabric.port(fabric.endpoint_port(endpoint(e))).peer);
    }
    EXPECT_EQ(static_cast<int>(above.size()), fabric.endpoints());
    for (std::uint32_t p = 0; p < fabric.ports().size(); ++p) {
      const Port& port = fabric.port(PortId(p));
      ASSERT_NE(port.peer, PortId(p));
      ASSERT_EQ(fabric.port(port.peer).peer, PortId(p));
      ASSERT_EQ(fabric.port(port.peer).rate, port.rate);
      const Device& owner = fabric.device(port.device);
      ASSERT_TRUE(p >= owner.first_port && p < owner.first_port + owner.port_count);
    }
  }
}

TEST(Build, UplinksOfALeafAreSpreadEvenlyOverTheSpinesOfItsPod) {
  for (const auto& [name, spec] : all_specs()) {
    SCOPED_TRACE(name);
    const Fabric fabric = build(spec);
    const Sizing& sizing = fabric.sizing();
    if (sizing.spines == 0) continue;
    const int pods = sizing.tiers == 3 ? sizing.pods : 1;
    for (const Device& device : fabric.devices()) {
      if (device.tier != 1) continue;
      std::map<std::uint32_t, int> per_spine;
      for (std::uint32_t p = device.first_port; p < device.first_port + device.port_count; ++p) {
        const DeviceId peer = fabric.port(fabric.port(PortId(p)).peer).device;
        if (fabric.device(peer).tier == 2) ++per_spine[peer.index()];
      }
      EXPECT_EQ(static_cast<int>(per_spine.size()), sizing.spines / pods) << device.name;
      for (const auto& [spine, count] : per_spine) {
        EXPECT_EQ(count, sizing.up_ports * pods / sizing.spines) << device.name;
      }
    }
  }
}

// Where leaf and spine are joined by several cables, all of them are offered, up and down.
TEST(Build, NextHopsHoldEveryShortestPath) {
  TopologySpec spec = spec_of(TopologyKind::kLeafSpine, 4, 8, 36);
  spec.nodes_per_leaf = 2;
  const Fabric fabric = build(spec);
  const EndpointId far = endpoint(31);
  EXPECT_EQ(fabric.next_hops(DeviceId(0), far).size(), 16U);  // leaf0's uplinks
  EXPECT_EQ(fabric.next_hops(DeviceId(2), far).size(), 16U);  // spine0's links to leaf1
  EXPECT_EQ(fabric.next_hops(DeviceId(1), far).size(), 1U);   // leaf1's port to the adapter
}

TEST(Build, LinksTakeTheNicRateBelowAndTheUplinkRateAbove) {
  const Fabric fabric = build(split_spec());
  ASSERT_EQ(fabric.sizing().uplink_split, 2);
  for (const Port& port : fabric.ports()) {
    const int tiers =
        fabric.device(port.device).tier + fabric.device(fabric.port(port.peer).device).tier;
    EXPECT_EQ(port.rate, tiers == 1 ? 100_gbps : 50_gbps);
  }
}

TEST(Build, DelayIsCableLengthTimesDelayPerMetre) {
  TopologySpec spec = spec_of(TopologyKind::kLeafSpine, 4, 8, 36);
  spec.cable_m = 30;
  spec.cable_ns_per_m = 4.9;
  const Fabric fabric = build(spec);
  for (const Port& port : fabric.ports()) EXPECT_EQ(port.delay, 147_ns);
}

TEST(Build, GpusShareTheAdaptersOfTheirNodeEvenly) {
  TopologySpec spec = spec_of(TopologyKind::kLeafSpine, 2, 4, 36);
  spec.gpus_per_node = 8;
  const Fabric fabric = build(spec);
  EXPECT_EQ(fabric.endpoint_of(base::Rank(0)), endpoint(0));
  EXPECT_EQ(fabric.endpoint_of(base::Rank(1)), endpoint(0));
  EXPECT_EQ(fabric.endpoint_of(base::Rank(7)), endpoint(3));
  EXPECT_EQ(fabric.endpoint_of(base::Rank(8)), endpoint(4));
  EXPECT_EQ(fabric.node_of(base::Rank(8)), 1);
}

TEST(Build, PortsAreNamedByDeviceAndNumber) {
  const Fabric fabric = build(spec_of(TopologyKind::kLeafSpine, 4, 8, 36));
  const PortId nic = fabric.endpoint_port(endpoint(17));
  EXPECT_EQ(fabric.port_name(nic), "node2/nic1:0");
  EXPECT_EQ(fabric.port_name(fabric.port(nic).peer), "leaf0:17");
}

/// Leaf ports at the switch rate that a layout takes up, uplinks and split ports included.
double ports_used(const Fabric& fabric, const Device& device) {
  double bits = 0;
  for (std::uint32_t p = device.first_port; p < device.first_port + device.port_count; ++p) {
    bits += static_cast<double>(fabric.port(PortId(p)).rate.bps());
  }
  return bits / static_cast<double>(fabric.spec().switch_rate.bps());
}

TEST(Build, RandomWishesAreEitherRefusedOrLaidOutWithinTheirSwitches) {
  base::RandomStream random(1, "random wishes");
  const auto pick = [&](std::initializer_list<int> choices) {
    return choices.begin()[random.below(choices.size())];
  };
  const TopologyKind kinds[] = {TopologyKind::kSingleSwitch, TopologyKind::kLeafSpine,
                                TopologyKind::kRailOptimised, TopologyKind::kRailOnly,
                                TopologyKind::kFatTree};
  int built = 0;
  for (int trial = 0; trial < 300; ++trial) {
    TopologySpec spec = spec_of(kinds[random.below(5)], 1 + static_cast<int>(random.below(120)),
                                pick({1, 2, 4, 8}), pick({4, 6, 8, 16, 17, 36, 64}));
    spec.switch_rate = spec.nic_rate * pick({1, 1, 2, 3, 4});
    spec.max_uplink_split = pick({1, 2, 4});
    spec.oversubscription = pick({1, 1, 2, 3});
    spec.nodes_per_leaf = pick({0, 0, 1, 2, 5});
    spec.scalable_unit_nodes = pick({0, 0, 3, 8, 20});
    spec.management_ports = pick({0, 0, 4});
    SCOPED_TRACE(trial);
    std::optional<Fabric> fabric;
    try {
      fabric = build(spec);
    } catch (const base::Error& error) {
      ASSERT_EQ(error.kind(), base::ErrorKind::kInput) << error.what();
      continue;
    }
    ++built;
    for (const Device& device : fabric->devices()) {
      if (device.kind == DeviceKind::kAdapter) continue;
      ASSERT_LE(ports_used(*fabric, device), spec.switch_ports + 1e-9) << device.name;
    }
    for (int i = 0; i < 100; ++i) {
      const auto ends = static_cast<std::uint64_t>(fabric->endpoints());
      const EndpointId a = endpoint(static_cast<int>(random.below(ends)));
      const EndpointId b = endpoint(static_cast<int>(random.below(ends)));
      if (a == b) continue;
      const int links = links_to(*fabric, a, b, random.below(64));
      ASSERT_EQ(links > 0, fabric->connected(a, b));
      ASSERT_TRUE(links > 0 || spec.kind == TopologyKind::kRailOnly);
    }
  }
  EXPECT_GT(built, 100);
}

TEST(Build, SixteenThousandEndpointsAreLaidOutInUnderTwoSeconds) {
  TopologySpec spec = spec_of(TopologyKind::kRailOptimised, 2048, 8, 64);
  spec.scalable_unit_nodes = 32;
  const auto start = std::chrono::steady_clock::now();
  const Fabric fabric = build(spec);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(fabric.endpoints(), 16384);
  EXPECT_EQ(links_to(fabric, endpoint(0), endpoint(16383), 5), 6);
  EXPECT_LT(wall.count(), 2.0);
}

}  // namespace
}  // namespace fabricast::fabric
