#include "fabric/forwarding.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fabric/routes.h"
#include "specs.h"

namespace fabricast::fabric {
namespace {

using namespace base::literals;

constexpr RoutingEngine kEngines[] = {RoutingEngine::kFatTree, RoutingEngine::kFatTreeRoots,
                                      RoutingEngine::kUpDown, RoutingEngine::kMinHop,
                                      RoutingEngine::kSpanningTree};
/// The engines whose tables are free of credit loops whatever is down.
constexpr RoutingEngine kLoopFree[] = {RoutingEngine::kFatTreeRoots, RoutingEngine::kUpDown,
                                       RoutingEngine::kSpanningTree};

/// Full trees: every leaf port is used and the tiers are not oversubscribed.
std::vector<std::pair<std::string, TopologySpec>> full_trees() {
  return {{"leaf-spine, two cables to each spine", spec_of(TopologyKind::kLeafSpine, 16, 1, 8)},
          {"leaf-spine", spec_of(TopologyKind::kLeafSpine, 128, 1, 16)},
          {"4-ary fat-tree", spec_of(TopologyKind::kFatTree, 16, 1, 4)},
          {"8-ary fat-tree", spec_of(TopologyKind::kFatTree, 128, 1, 8)}};
}

std::vector<std::pair<std::string, TopologySpec>> many_specs() {
  auto specs = full_trees();
  TopologySpec racks = spec_of(TopologyKind::kLeafSpine, 4, 8, 36);
  racks.nodes_per_leaf = 2;
  TopologySpec rails = spec_of(TopologyKind::kRailOptimised, 31, 8, 64);
  rails.scalable_unit_nodes = 32;
  TopologySpec narrow = spec_of(TopologyKind::kLeafSpine, 96, 1, 16);
  narrow.oversubscription = 3;
  specs.emplace_back("single switch", spec_of(TopologyKind::kSingleSwitch, 4, 8, 36));
  specs.emplace_back("racks", racks);
  specs.emplace_back("rails", rails);
  specs.emplace_back("oversubscribed", narrow);
  specs.emplace_back("rails, three tiers", spec_of(TopologyKind::kRailOptimised, 28, 4, 8));
  specs.emplace_back("uneven leaf-spine", spec_of(TopologyKind::kLeafSpine, 40, 2, 16));
  specs.emplace_back("uneven three tiers", spec_of(TopologyKind::kLeafSpine, 50, 1, 8));
  return specs;
}

/// Links of the shortest path, by the routing groups of the fabric.
int shortest(const Fabric& fabric, EndpointId from, EndpointId to) {
  PortId link = fabric.endpoint_port(from);
  int links = 1;
  while (fabric.port(link).peer != fabric.endpoint_port(to)) {
    link = fabric.next_hops(fabric.port(fabric.port(link).peer).device, to).front();
    ++links;
  }
  return links;
}

void expect_all_shortest(const Fabric& fabric, const ForwardingTables& tables) {
  for (int a = 0; a < fabric.endpoints(); ++a) {
    for (int b = 0; b < fabric.endpoints(); ++b) {
      if (a == b) continue;
      ASSERT_EQ(path_length(fabric, tables, endpoint(a), endpoint(b)),
                shortest(fabric, endpoint(a), endpoint(b)))
          << a << " to " << b;
    }
  }
}

/// First port of a switch of `tier` that leads one tier up.
PortId cable_above(const Fabric& fabric, int tier) {
  for (std::uint32_t p = 0; p < fabric.ports().size(); ++p) {
    const int here = fabric.device(fabric.port(PortId(p)).device).tier;
    const int there = fabric.device(fabric.port(fabric.port(PortId(p)).peer).device).tier;
    if (here == tier && there == tier + 1) return PortId(p);
  }
  return PortId::none();
}

PortId cable_between(const Fabric& fabric, const std::string& a, const std::string& b) {
  for (std::uint32_t p = 0; p < fabric.ports().size(); ++p) {
    const PortId peer = fabric.port(PortId(p)).peer;
    if (fabric.device(fabric.port(PortId(p)).device).name == a &&
        fabric.device(fabric.port(peer).device).name == b) {
      return PortId(p);
    }
  }
  return PortId::none();
}

bool between_switches(const Fabric& fabric, std::uint32_t port) {
  return fabric.device(fabric.port(PortId(port)).device).tier > 0 &&
         fabric.device(fabric.port(fabric.port(PortId(port)).peer).device).tier > 0;
}

TEST(Forwarding, EveryEngineJoinsEveryPairByAShortestPathOnAWholeFabric) {
  for (const auto& [name, spec] : many_specs()) {
    const Fabric fabric = build(spec);
    for (const RoutingEngine engine : kEngines) {
      SCOPED_TRACE(name + ", " + std::string(name_of(engine)));
      const ForwardingTables tables = forwarding(fabric, engine);
      EXPECT_TRUE(all_pairs_reachable(fabric, tables));
      expect_all_shortest(fabric, tables);
    }
  }
}

TEST(Forwarding, NoEngineClosesACreditLoopOnAWholeFabric) {
  for (const auto& [name, spec] : many_specs()) {
    const Fabric fabric = build(spec);
    for (const RoutingEngine engine : kEngines) {
      SCOPED_TRACE(name + ", " + std::string(name_of(engine)));
      EXPECT_TRUE(credit_loop(fabric, forwarding(fabric, engine)).empty());
    }
  }
}

// Zahavi 2010: on a full tree whose ranks are numbered leaf by leaf, every permutation
// dst = src + k mod n crosses each link at most once.
TEST(Forwarding, FatTreeRoutesEveryShiftWithoutContention) {
  for (const auto& [name, spec] : full_trees()) {
    SCOPED_TRACE(name);
    const Fabric fabric = build(spec);
    const ForwardingTables tables = forwarding(fabric, RoutingEngine::kFatTree);
    ASSERT_EQ(tables.engine(), RoutingEngine::kFatTree) << tables.fallback();
    const int n = fabric.endpoints();
    for (int k = 1; k < n; ++k) {
      std::set<PortId> used;
      for (int source = 0; source < n; ++source) {
        for (const PortId port :
             route(fabric, tables, endpoint(source), endpoint((source + k) % n)))
          ASSERT_TRUE(used.insert(port).second) << "shift " << k << ", " << fabric.port_name(port);
      }
    }
  }
}

// n(n - d) routes leave the leaves upwards, d adapters on each; a full tree has n upward cables.
TEST(Forwarding, FatTreeSharesAllPairsEvenlyOverTheUplinksOfAFullTree) {
  for (const auto& [name, spec] : full_trees()) {
    SCOPED_TRACE(name);
    const Fabric fabric = build(spec);
    const auto loads = link_loads(fabric, forwarding(fabric, RoutingEngine::kFatTree));
    const auto n = static_cast<std::uint64_t>(fabric.endpoints());
    const auto leaf = n / static_cast<std::uint64_t>(fabric.sizing().leaves);
    for (std::uint32_t p = 0; p < fabric.ports().size(); ++p) {
      const int here = fabric.device(fabric.port(PortId(p)).device).tier;
      const int there = fabric.device(fabric.port(fabric.port(PortId(p)).peer).device).tier;
      if (here + there > 3) continue;
      ASSERT_EQ(loads[p], here + there == 3 ? n - leaf : n - 1) << fabric.port_name(PortId(p));
    }
  }
}

// Each route of l links adds one to the load of l links.
TEST(Forwarding, LoadsAddUpToTheLengthsOfAllRoutes) {
  const Fabric fabric = build(spec_of(TopologyKind::kRailOptimised, 28, 4, 8));
  for (const RoutingEngine engine : kEngines) {
    const ForwardingTables tables = forwarding(fabric, engine);
    std::vector<std::uint64_t> expected(fabric.ports().size());
    for (int a = 0; a < fabric.endpoints(); ++a) {
      for (int b = 0; b < fabric.endpoints(); ++b) {
        for (const PortId p : route(fabric, tables, endpoint(a), endpoint(b)))
          ++expected[p.index()];
      }
    }
    EXPECT_EQ(link_loads(fabric, tables), expected) << name_of(engine);
  }
}

void expect_sound(const Fabric& fabric, PortId failed) {
  for (const RoutingEngine engine : kLoopFree) {
    SCOPED_TRACE(name_of(engine));
    const ForwardingTables tables = forwarding(fabric, engine, {&failed, 1});
    EXPECT_EQ(tables.engine(), engine) << tables.fallback();
    EXPECT_TRUE(all_pairs_reachable(fabric, tables));
    EXPECT_TRUE(credit_loop(fabric, tables).empty());
    const auto loads = link_loads(fabric, tables);
    EXPECT_EQ(loads[failed.index()], 0U);
    EXPECT_EQ(loads[fabric.port(failed).peer.index()], 0U);
  }
}

TEST(Forwarding, UpDownEnginesJoinEveryPairWithoutACreditLoopAfterALeafSpineCableFails) {
  for (const auto& [name, spec] : full_trees()) {
    SCOPED_TRACE(name);
    const Fabric fabric = build(spec);
    expect_sound(fabric, cable_above(fabric, 1));
  }
}

TEST(Forwarding, UpDownEnginesJoinEveryPairWithoutACreditLoopAfterASpineCoreCableFails) {
  const Fabric fabric = build(spec_of(TopologyKind::kFatTree, 128, 1, 8));
  expect_sound(fabric, fabric.port(cable_above(fabric, 2)).peer);  // named from above
}

TEST(Forwarding, UpDownEnginesCloseNoCreditLoopWhateverIsDown) {
  const Fabric fabric = build(spec_of(TopologyKind::kFatTree, 128, 1, 8));
  for (std::uint32_t step = 3; step < 20; ++step) {
    std::vector<PortId> failed;
    for (std::uint32_t p = step; p < fabric.ports().size(); p += step) {
      if (between_switches(fabric, p)) failed.emplace_back(p);
    }
    for (const RoutingEngine engine : kLoopFree) {
      const ForwardingTables tables = forwarding(fabric, engine, failed);
      if (tables.engine() != engine) continue;  // no longer a tree of ranks
      EXPECT_TRUE(credit_loop(fabric, tables).empty()) << name_of(engine) << ", step " << step;
    }
  }
}

TEST(Forwarding, FatTreeSaysWhyItHandsOverToMinHop) {
  const Fabric fabric = build(spec_of(TopologyKind::kLeafSpine, 128, 1, 16));
  const PortId failed = cable_between(fabric, "leaf3", "spine5");
  const ForwardingTables tables = forwarding(fabric, RoutingEngine::kFatTree, {&failed, 1});
  EXPECT_EQ(tables.engine(), RoutingEngine::kMinHop);
  EXPECT_EQ(tables.fallback(), "leaf3 has 7 neighbours above, leaf0 has 8");
  EXPECT_EQ(link_loads(fabric, tables),
            link_loads(fabric, forwarding(fabric, RoutingEngine::kMinHop, {&failed, 1})));
}

TEST(Forwarding, FatTreeNeedsTwoTiers) {
  const Fabric fabric = build(spec_of(TopologyKind::kSingleSwitch, 4, 8, 36));
  const ForwardingTables tables = forwarding(fabric, RoutingEngine::kFatTree);
  EXPECT_EQ(tables.engine(), RoutingEngine::kMinHop);
  EXPECT_EQ(tables.fallback(), "no switch stands above another");
}

/// Four leaves, two spines, one cable between each two; leaf0 keeps only spine0, leaf1 only spine1.
/// What leaf0 and leaf1 send each other must turn up again at leaf2 or leaf3.
struct Torn {
  Torn() {
    TopologySpec spec = spec_of(TopologyKind::kLeafSpine, 8, 1, 4);
    fabric = build(spec);
    failed = {cable_between(fabric, "leaf0", "spine1"), cable_between(fabric, "leaf1", "spine0")};
  }
  Fabric fabric;
  std::vector<PortId> failed;
};

TEST(Forwarding, MinHopReturnsTheCreditLoopThatItCloses) {
  const Torn torn;
  ASSERT_EQ(torn.fabric.sizing().spines, 2);
  const ForwardingTables tables = forwarding(torn.fabric, RoutingEngine::kMinHop, torn.failed);
  EXPECT_TRUE(all_pairs_reachable(torn.fabric, tables));
  // spine0, one of leaf2 and leaf3, spine1, the other, and spine0 again.
  const std::vector<PortId> loop = credit_loop(torn.fabric, tables);
  ASSERT_EQ(loop.size(), 4U);
  for (std::size_t i = 0; i < loop.size(); ++i) {
    const PortId arrived = torn.fabric.port(loop[i]).peer;
    EXPECT_TRUE(between_switches(torn.fabric, loop[i].index()));
    EXPECT_EQ(torn.fabric.port(arrived).device,
              torn.fabric.port(loop[(i + 1) % loop.size()]).device);
  }
}

TEST(Forwarding, UpDownLeavesAPairUnroutedRatherThanTurnUpAgain) {
  const Torn torn;
  const ForwardingTables tables = forwarding(torn.fabric, RoutingEngine::kUpDown, torn.failed);
  EXPECT_TRUE(credit_loop(torn.fabric, tables).empty());
  // Endpoints 0 and 1 hang on leaf0, 2 and 3 on leaf1: four pairs, both ways.
  EXPECT_EQ(unreachable_pairs(torn.fabric, tables), 8U);
  EXPECT_FALSE(tables.egress(DeviceId(0), endpoint(2)).valid());
  EXPECT_EQ(path_length(torn.fabric, tables, endpoint(0), endpoint(2)), 0);
  EXPECT_EQ(path_length(torn.fabric, tables, endpoint(0), endpoint(4)), 4);
}

TEST(Forwarding, AnAdapterWithoutACableNeitherSendsNorReceives) {
  const Fabric fabric = build(spec_of(TopologyKind::kLeafSpine, 16, 1, 8));
  const PortId failed = fabric.endpoint_port(endpoint(5));
  for (const RoutingEngine engine : kEngines) {
    const ForwardingTables tables = forwarding(fabric, engine, {&failed, 1});
    EXPECT_EQ(tables.engine(), engine) << tables.fallback();  // a tree may lack adapters
    EXPECT_FALSE(tables.attached(endpoint(5)));
    EXPECT_EQ(unreachable_pairs(fabric, tables), 30U);  // 15 others, both ways
    EXPECT_TRUE(route(fabric, tables, endpoint(5), endpoint(0)).empty());
    EXPECT_TRUE(route(fabric, tables, endpoint(0), endpoint(5)).empty());
    EXPECT_EQ(link_loads(fabric, tables)[fabric.endpoint_port(endpoint(0)).index()], 14U);
  }
}

TEST(Forwarding, RailsThatDoNotMeetHaveNoRoutesBetweenThem) {
  const Fabric fabric = build(spec_of(TopologyKind::kRailOnly, 4, 8, 36));
  for (const RoutingEngine engine : kEngines) {
    const ForwardingTables tables = forwarding(fabric, engine);
    EXPECT_EQ(path_length(fabric, tables, endpoint(0), endpoint(8)), 2);
    EXPECT_EQ(path_length(fabric, tables, endpoint(0), endpoint(9)), 0);
    EXPECT_EQ(unreachable_pairs(fabric, tables), 32U * (31 - 3));
  }
}

TEST(Forwarding, DirectCablesNeedNoTables) {
  const Fabric fabric = build(spec_of(TopologyKind::kDirect, 2, 8, 0));
  const ForwardingTables tables = forwarding(fabric, RoutingEngine::kMinHop);
  EXPECT_EQ(path_length(fabric, tables, endpoint(3), endpoint(11)), 1);
  EXPECT_EQ(path_length(fabric, tables, endpoint(3), endpoint(12)), 0);
  EXPECT_EQ(unreachable_pairs(fabric, tables), 16U * 14);
  EXPECT_TRUE(credit_loop(fabric, tables).empty());
}

TEST(Forwarding, SixteenThousandEndpointsAreRoutedInSeconds) {
  TopologySpec spec = spec_of(TopologyKind::kRailOptimised, 2048, 8, 64);
  spec.scalable_unit_nodes = 32;
  const Fabric fabric = build(spec);
  for (const RoutingEngine engine : kEngines) {
    const auto start = std::chrono::steady_clock::now();
    const ForwardingTables tables = forwarding(fabric, engine);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    EXPECT_EQ(tables.engine(), engine) << tables.fallback();
    // A second on an idle core; sanitizers and a busy machine take their share.
    EXPECT_LT(wall.count(), 60.0) << name_of(engine);
    EXPECT_TRUE(all_pairs_reachable(fabric, tables));
  }
}

TEST(FindCycle, ReturnsTheCycleWithoutTheWayToIt) {
  EXPECT_EQ(find_cycle({{1}, {2}, {3}, {1, 4}, {}}), (std::vector<std::uint32_t>{1, 2, 3}));
}

TEST(FindCycle, FindsNoneInADiamond) {
  EXPECT_TRUE(find_cycle({{1, 2}, {3}, {3}, {}}).empty());
}

// Four switches in a ring, every message going on clockwise by two links: Dally and Seitz's
// example.
TEST(FindCycle, ARingOfChannelsIsACycle) {
  EXPECT_EQ(find_cycle({{1}, {2}, {3}, {0}}).size(), 4U);
}

/// Links between switches that some route uses, each direction counted.
std::vector<std::uint32_t> links_used(const Fabric& fabric, const ForwardingTables& tables) {
  const auto loads = link_loads(fabric, tables);
  std::vector<std::uint32_t> used;
  for (std::uint32_t p = 0; p < loads.size(); ++p) {
    if (loads[p] > 0 && between_switches(fabric, p)) used.push_back(p);
  }
  return used;
}

// A tree of n switches has n - 1 links. Of a leaf-spine the other spines are its leaves and see no
// traffic: one link each way remains per leaf, and all of them meet in one spine.
TEST(SpanningTree, LeavesOneLinkPerLeafOfALeafSpine) {
  const Fabric fabric = build(spec_of(TopologyKind::kLeafSpine, 128, 1, 16));
  const ForwardingTables tables = forwarding(fabric, RoutingEngine::kSpanningTree);
  EXPECT_EQ(links_used(fabric, tables).size(), 2U * static_cast<unsigned>(fabric.sizing().leaves));
  // Every adapter of a leaf sends to every one beyond it over that link.
  const int per_leaf = fabric.sizing().down_ports;
  for (const std::uint32_t p : links_used(fabric, tables)) {
    EXPECT_EQ(link_loads(fabric, tables)[p],
              static_cast<std::uint64_t>(per_leaf) * static_cast<unsigned>(128 - per_leaf));
    const Device& from = fabric.device(fabric.port(PortId(p)).device);
    const Device& to = fabric.device(fabric.port(fabric.port(PortId(p)).peer).device);
    EXPECT_EQ(from.tier == 2 ? from.name : to.name, "spine0");
  }
}

TEST(SpanningTree, JoinsPodsOverOneCore) {
  const Fabric fabric = build(spec_of(TopologyKind::kFatTree, 128, 1, 8));
  const ForwardingTables tables = forwarding(fabric, RoutingEngine::kSpanningTree);
  EXPECT_TRUE(all_pairs_reachable(fabric, tables));
  // A link per leaf and one per pod, both ways.
  EXPECT_EQ(links_used(fabric, tables).size(),
            2U * static_cast<unsigned>(fabric.sizing().leaves + fabric.sizing().pods));
}

TEST(SpanningTree, FindsAnotherTreeWhereALinkOfItIsDown) {
  const Fabric fabric = build(spec_of(TopologyKind::kLeafSpine, 32, 1, 16));
  const PortId failed = cable_between(fabric, "leaf0", "spine0");
  const ForwardingTables tables = forwarding(fabric, RoutingEngine::kSpanningTree, {&failed, 1});
  EXPECT_TRUE(all_pairs_reachable(fabric, tables));
  EXPECT_TRUE(credit_loop(fabric, tables).empty());
}

TEST(SpanningTree, OfRailsThatDoNotMeetIsOnePerRail) {
  const Fabric fabric = build(spec_of(TopologyKind::kRailOnly, 4, 8, 36));
  const ForwardingTables tables = forwarding(fabric, RoutingEngine::kSpanningTree);
  EXPECT_EQ(path_length(fabric, tables, endpoint(0), endpoint(8)), 2);
  EXPECT_EQ(path_length(fabric, tables, endpoint(0), endpoint(9)), 0);
}

}  // namespace
}  // namespace fabricast::fabric
