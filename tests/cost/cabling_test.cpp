// Which cable joins what: counts are those of the sizing (docs/models/sizing.md, sections 2 to 4),
// names are those on the boxes, kinds follow from the lengths.

#include "cost/cabling.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "clusters.h"

namespace fabricast::cost {
namespace {

using fabric::TopologyKind;
using testing::inputs_of;
using testing::shipped;
using testing::spec_of;

/// 32 leaves of 8 uplinks need 16 spines, more than divide 8: every uplink is split in two.
fabric::TopologySpec split_uplinks() {
  fabric::TopologySpec spec = spec_of(TopologyKind::kLeafSpine, 256, 1, 16);
  spec.max_uplink_split = 2;
  return spec;
}

/// Leaves of 64 x 800 Gb/s: 64 adapters on 32 ports, and 32 uplinks.
fabric::TopologySpec rails_on_split_ports(int nodes) {
  fabric::TopologySpec spec = spec_of(TopologyKind::kRailOptimised, nodes, 8, 64, 800);
  spec.scalable_unit_nodes = 64;
  return spec;
}

struct Case {
  std::string name;
  fabric::TopologySpec spec;
  const char* network_switch;
};

std::vector<Case> cases() {
  fabric::TopologySpec managed = spec_of(TopologyKind::kRailOptimised, 31, 8, 64);
  managed.scalable_unit_nodes = 32;
  managed.management_ports = 4;
  fabric::TopologySpec racks = spec_of(TopologyKind::kLeafSpine, 8, 4, 36);
  racks.nodes_per_leaf = 2;
  return {{"direct", spec_of(TopologyKind::kDirect, 2, 8, 0), "sn5600"},
          {"single switch", spec_of(TopologyKind::kSingleSwitch, 4, 8, 36), "qm9700"},
          {"leaf-spine", spec_of(TopologyKind::kLeafSpine, 40, 2, 16), "qm9700"},
          {"nodes to a leaf", racks, "qm9700"},
          {"rail-optimised with management", managed, "qm9700"},
          {"rail-optimised on split ports", rails_on_split_ports(64), "sn5600"},
          {"rail-only", spec_of(TopologyKind::kRailOnly, 16, 4, 16), "qm9700"},
          {"split uplinks", split_uplinks(), "qm9700"},
          {"fat-tree", spec_of(TopologyKind::kFatTree, 128, 1, 8), "qm9700"}};
}

/// Cables of the map by the tiers that they join, by the first letters of the devices' names.
std::map<std::string, std::int64_t> joined(const std::vector<CableRun>& runs) {
  std::map<std::string, std::int64_t> counts;
  for (const CableRun& run : runs) ++counts[run.device.substr(0, 4) + "-" + run.peer.substr(0, 4)];
  return counts;
}

/// By value: what `Cabling` returns lives no longer than it does.
std::vector<CableCount> counts_of(const catalog::Catalog& known, const BuildInputs& inputs) {
  const Cabling cabling(known, inputs);
  return cabling.counts();
}

std::map<std::string, std::int64_t> billed(const catalog::Catalog& known,
                                           const BuildInputs& inputs) {
  std::map<std::string, std::int64_t> counts;
  for (const CableCount& count : counts_of(known, inputs)) counts[count.what] += count.count;
  return counts;
}

const CableRun& run_to(const std::vector<CableRun>& runs, const std::string& peer) {
  static const CableRun kNone;
  const auto found = std::ranges::find(runs, peer, &CableRun::peer);
  if (found != runs.end()) return *found;
  ADD_FAILURE() << "no cable to " << peer;
  return kNone;
}

TEST(CableMap, HasEveryPortOnce) {
  const catalog::Catalog known = shipped();
  for (const auto& [name, spec, network_switch] : cases()) {
    SCOPED_TRACE(name);
    const fabric::Fabric fabric = fabric::build(spec);
    const auto runs = cable_map(known, inputs_of(known, fabric, network_switch));
    std::set<std::pair<std::string, std::string>> seen;
    for (const CableRun& run : runs) {
      EXPECT_TRUE(seen.insert({run.device, run.port}).second) << run.device << " " << run.port;
      EXPECT_TRUE(seen.insert({run.peer, run.peer_port}).second)
          << run.peer << " " << run.peer_port;
    }
    EXPECT_EQ(seen.size(), fabric.ports().size());
  }
}

// 31 nodes leave the second lane of port 16 free: uplinks begin at the next port, not on that one.
TEST(CableMap, BeginsUplinksAtAPortOfTheirOwnWhereALaneIsLeftFree) {
  const catalog::Catalog known = shipped();
  const fabric::Fabric fabric = fabric::build(rails_on_split_ports(31));
  const auto runs = cable_map(known, inputs_of(known, fabric, "sn5600"));
  EXPECT_EQ(run_to(runs, "node30/nic0").port, "16/1");
  EXPECT_EQ(run_to(runs, "spine0").port, "17");
}

TEST(CableMap, NamesNoMorePortsThanASwitchHas) {
  const catalog::Catalog known = shipped();
  for (const auto& [name, spec, network_switch] : cases()) {
    const fabric::Fabric fabric = fabric::build(spec);
    for (const CableRun& run : cable_map(known, inputs_of(known, fabric, network_switch))) {
      if (run.device.starts_with("node")) continue;
      EXPECT_LE(std::stoi(run.port), spec.switch_ports) << name << ": " << run.device;
    }
  }
}

// 40 nodes of 2 adapters, 8 to a leaf of 16 ports: 10 leaves with 8 uplinks each.
TEST(CableMap, OfLeafSpineHasTheCablesOfTheSizing) {
  const catalog::Catalog known = shipped();
  const fabric::Fabric fabric = fabric::build(spec_of(TopologyKind::kLeafSpine, 40, 2, 16));
  EXPECT_EQ(joined(cable_map(known, inputs_of(known, fabric))),
            (std::map<std::string, std::int64_t>{{"leaf-node", 80}, {"leaf-spin", 80}}));
}

// 64 nodes of 8 rails: 512 adapters, two to a port; 8 leaves with 32 whole uplinks each.
TEST(CableMap, OfRailsOnSplitPortsHasTheCablesOfTheSizing) {
  const catalog::Catalog known = shipped();
  const fabric::Fabric fabric = fabric::build(rails_on_split_ports(64));
  EXPECT_EQ(joined(cable_map(known, inputs_of(known, fabric, "sn5600"))),
            (std::map<std::string, std::int64_t>{{"leaf-node", 512}, {"leaf-spin", 256}}));
}

// The k-ary fat-tree of k = 8 has k^3/4 hosts, and as many cables at every level.
TEST(CableMap, OfThreeTiersHasTheCablesOfTheSizing) {
  const catalog::Catalog known = shipped();
  const fabric::Fabric fabric = fabric::build(spec_of(TopologyKind::kFatTree, 128, 1, 8));
  EXPECT_EQ(joined(cable_map(known, inputs_of(known, fabric))),
            (std::map<std::string, std::int64_t>{
                {"leaf-node", 128}, {"leaf-spin", 128}, {"spin-core", 128}}));
}

TEST(CableMap, OfTwoNodesJoinsAdaptersOfTheSameNumber) {
  const catalog::Catalog known = shipped();
  const fabric::Fabric fabric = fabric::build(spec_of(TopologyKind::kDirect, 2, 3, 0));
  const auto runs = cable_map(known, inputs_of(known, fabric, "sn5600"));
  ASSERT_EQ(runs.size(), 3U);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(runs[i].device, "node0/nic" + std::to_string(i));
    EXPECT_EQ(runs[i].peer, "node1/nic" + std::to_string(i));
    EXPECT_EQ(runs[i].port, "1");
    EXPECT_EQ(runs[i].peer_port, "1");
  }
}

TEST(CableMap, GoesThroughTheSwitchesInTheOrderOfTheirPorts) {
  const catalog::Catalog known = shipped();
  const fabric::Fabric fabric = fabric::build(spec_of(TopologyKind::kLeafSpine, 40, 2, 16));
  const auto runs = cable_map(known, inputs_of(known, fabric));
  for (int port = 1; port <= 16; ++port) {
    const CableRun& run = runs[static_cast<std::size_t>(port - 1)];
    EXPECT_EQ(run.device, "leaf0");
    EXPECT_EQ(run.port, std::to_string(port));
    EXPECT_EQ(run.peer.starts_with("spine"), port > 8);
  }
  EXPECT_EQ(runs[16].device, "leaf1");
}

// Two adapters to a port: the 24th node of a rail hangs on the second lane of the twelfth port.
TEST(CableMap, NamesTheLaneOfAPortThatIsSplit) {
  const catalog::Catalog known = shipped();
  const fabric::Fabric fabric = fabric::build(rails_on_split_ports(64));
  const auto runs = cable_map(known, inputs_of(known, fabric, "sn5600"));
  EXPECT_EQ(run_to(runs, "node0/nic0").port, "1/1");
  EXPECT_EQ(run_to(runs, "node1/nic0").port, "1/2");
  EXPECT_EQ(run_to(runs, "node23/nic0").port, "12/2");
  EXPECT_EQ(run_to(runs, "node23/nic0").peer_port, "1");
  EXPECT_EQ(run_to(runs, "node63/nic7").port, "32/2");
  EXPECT_EQ(run_to(runs, "spine0").port, "33");
}

// Adapters fill ports 1 to 8; each of the other eight has a lane to one spine and one to the next.
TEST(CableMap, NamesTheLanesOfAnUplinkThatIsSplitAtBothEnds) {
  const catalog::Catalog known = shipped();
  const fabric::Fabric fabric = fabric::build(split_uplinks());
  ASSERT_EQ(fabric.sizing().uplink_split, 2);
  const auto runs = cable_map(known, inputs_of(known, fabric));
  EXPECT_EQ(run_to(runs, "node0/nic0").port, "1");
  EXPECT_EQ(run_to(runs, "spine0").port, "9/1");
  EXPECT_EQ(run_to(runs, "spine0").peer_port, "1/1");
  EXPECT_EQ(run_to(runs, "spine1").port, "9/2");
  EXPECT_EQ(run_to(runs, "spine15").port, "16/2");
}

// docs/models/sizing.md, section 3: a split port has one cable in all counts.
TEST(Cabling, BillsASplitUplinkAsOneCableOfTheWholePort) {
  const catalog::Catalog known = shipped();
  const fabric::Fabric fabric = fabric::build(split_uplinks());
  const BuildInputs inputs = inputs_of(known, fabric);
  EXPECT_EQ(billed(known, inputs)["cables from leaves to spines"], 32 * 8);
  EXPECT_EQ(cable_map(known, inputs).size(), 256U + 32 * 16);
  for (const CableCount& count : counts_of(known, inputs)) {
    EXPECT_EQ(count.cable->gbps, 400);
  }
}

TEST(Cabling, BillsTheCablesOfTheSizingTierByTier) {
  const catalog::Catalog known = shipped();
  for (const auto& [name, spec, network_switch] : cases()) {
    SCOPED_TRACE(name);
    const fabric::Fabric fabric = fabric::build(spec);
    auto counts = billed(known, inputs_of(known, fabric, network_switch));
    const fabric::Sizing& sizing = fabric.sizing();
    const bool direct = sizing.tiers == 0;
    EXPECT_EQ(counts[direct ? "cables between adapters" : "cables from adapters to leaves"],
              sizing.endpoint_cables);
    EXPECT_EQ(counts["cables from leaves to spines"], sizing.leaf_spine_cables);
    EXPECT_EQ(counts["cables from spines to cores"], sizing.spine_core_cables);
  }
}

// 31 x 8 adapters and 4 ports of management: 252 cables, of which the map has 248.
TEST(Cabling, BillsManagementPortsThatTheMapLeavesOut) {
  const catalog::Catalog known = shipped();
  fabric::TopologySpec spec = spec_of(TopologyKind::kRailOptimised, 31, 8, 64);
  spec.scalable_unit_nodes = 32;
  spec.management_ports = 4;
  const fabric::Fabric fabric = fabric::build(spec);
  const BuildInputs inputs = inputs_of(known, fabric);
  EXPECT_EQ(billed(known, inputs)["cables from adapters to leaves"], 252);
  EXPECT_EQ(joined(cable_map(known, inputs))["leaf-node"], 248);
}

/// Cables of a single switch, all of one length.
class Reach : public ::testing::Test {
 protected:
  std::string cable(double metres, const char* network_switch = "qm9700") {
    fabric::TopologySpec spec = spec_of(TopologyKind::kSingleSwitch, 2, 8, 64);
    spec.cable_m = metres;
    const fabric::Fabric fabric = fabric::build(spec);
    const auto counts = counts_of(known_, inputs_of(known_, fabric, network_switch));
    EXPECT_EQ(counts.size(), 1U);
    EXPECT_EQ(counts[0].longest_m, metres);
    return counts[0].cable->id;
  }

  catalog::Catalog known_ = shipped();
};

// catalog/cables.yaml at 400 Gb/s: copper 2 m, active optical 50 m, transceivers and fibre 500 m.
TEST_F(Reach, TurnsFromCopperToActiveOpticalToFibreAsCablesGrow) {
  EXPECT_EQ(cable(0.5), "ib-dac-400g");
  EXPECT_EQ(cable(2), "ib-dac-400g");
  EXPECT_EQ(cable(2.1), "ib-aoc-400g");
  EXPECT_EQ(cable(50), "ib-aoc-400g");
  EXPECT_EQ(cable(50.1), "ib-fibre-400g");
  EXPECT_EQ(cable(500), "ib-fibre-400g");
  EXPECT_THROW(cable(500.1), base::Error);
}

TEST_F(Reach, TurnsAtTheSameLengthsOnEthernet) {
  EXPECT_EQ(cable(2, "sn5600"), "eth-dac-400g");
  EXPECT_EQ(cable(50, "sn5600"), "eth-aoc-400g");
  EXPECT_EQ(cable(51, "sn5600"), "eth-fibre-400g");
}

TEST_F(Reach, LeavesTheChoiceToThePriceAmongThoseThatReach) {
  known_.set_likely("ib-fibre-400g", 900);
  EXPECT_EQ(cable(10), "ib-fibre-400g");
  EXPECT_EQ(cable(1), "ib-dac-400g");
  known_.set_likely("ib-dac-400g", 901);
  EXPECT_EQ(cable(1), "ib-fibre-400g");
}

// 8 leaves and 4 spines in rack 2 of racks 0 to 4; nodes are one rack or two away.
TEST(Cabling, OfARackPlanHasItsLengths) {
  const catalog::Catalog known = shipped();
  const fabric::Fabric fabric = fabric::build(spec_of(TopologyKind::kLeafSpine, 8, 8, 16));
  BuildInputs inputs = inputs_of(known, fabric);
  inputs.racks = fabric::RackSpec{.nodes_per_rack = 2};
  std::map<long, int> decimetres;
  for (const CableRun& run : cable_map(known, inputs)) ++decimetres[std::lround(run.length_m * 10)];
  EXPECT_EQ(decimetres, (std::map<long, int>{{20, 64}, {36, 32}, {42, 32}}));
}

// The same, with a tray far above: copper within the rack of the switches, light to the nodes.
TEST(Cabling, OfOneTierMayBeOfSeveralKinds) {
  const catalog::Catalog known = shipped();
  const fabric::Fabric fabric = fabric::build(spec_of(TopologyKind::kLeafSpine, 8, 8, 16));
  BuildInputs inputs = inputs_of(known, fabric);
  inputs.racks = fabric::RackSpec{.nodes_per_rack = 2, .overhead_m = 48.9};
  const auto counts = counts_of(known, inputs);
  ASSERT_EQ(counts.size(), 3U);
  EXPECT_EQ(counts[0].cable->id, "ib-fibre-400g");  // 48.9 + 2 x 0.6 m
  EXPECT_EQ(counts[0].count, 32);
  EXPECT_EQ(counts[1].cable->id, "ib-aoc-400g");  // 48.9 + 0.6 m
  EXPECT_EQ(counts[1].count, 32);
  EXPECT_EQ(counts[2].cable->id, "ib-dac-400g");
  EXPECT_EQ(counts[2].count, 64);
}

// Three switches to a rack: the two lanes of a split uplink end in racks of different distance.
TEST(CableMap, OfSplitUplinksNamesACableForLanesOfDifferentLengths) {
  const catalog::Catalog known = shipped();
  const fabric::Fabric fabric = fabric::build(split_uplinks());
  BuildInputs inputs = inputs_of(known, fabric);
  inputs.racks = fabric::RackSpec{.nodes_per_rack = 4, .switches_per_rack = 3};
  for (const CableRun& run : cable_map(known, inputs)) EXPECT_FALSE(run.cable.empty());
}

// A node of 8 H100 draws 8 x 700 W x 1.77 = 9.912 kW: 40 kW feed four of them, 9 kW not even one.
TEST(Cabling, FillsARackUpToItsPower) {
  const catalog::Catalog known = shipped();
  const fabric::Fabric fabric = fabric::build(spec_of(TopologyKind::kRailOptimised, 9, 8, 64));
  BuildInputs inputs = inputs_of(known, fabric);
  const auto racks = [&](double kw) {
    inputs.racks = fabric::RackSpec{.kw = kw};
    return Cabling(known, inputs).racks();
  };
  EXPECT_EQ(racks(40), 3 + 1);
  EXPECT_EQ(racks(39), 3 + 1);
  EXPECT_EQ(racks(29), 5 + 1);
  EXPECT_EQ(racks(9), 9 + 1);
  inputs.racks.reset();
  EXPECT_EQ(Cabling(known, inputs).racks(), 0);
}

}  // namespace
}  // namespace fabricast::cost
