// Where nodes and switches stand: racks of nodes are filled one after the other, switches are in
// the middle, and a cable that leaves its rack goes along the rows (fabric/racks.h).

#include "fabric/racks.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/error.h"
#include "specs.h"

namespace fabricast::fabric {
namespace {

DeviceId device_named(const Fabric& fabric, const std::string& name) {
  for (std::size_t i = 0; i < fabric.devices().size(); ++i) {
    if (fabric.devices()[i].name == name) return DeviceId(static_cast<std::uint32_t>(i));
  }
  ADD_FAILURE() << "no " << name;
  return DeviceId(0);
}

/// 16 nodes of 2 adapters on leaves of 8 endpoints: 4 leaves and, with 8 uplinks each, 2 spines.
Fabric sixteen_nodes() {
  return build(spec_of(TopologyKind::kLeafSpine, 16, 2, 16));
}

RackSpec racks_of(int nodes, int switches, int per_row = 16) {
  RackSpec spec;
  spec.nodes_per_rack = nodes;
  spec.switches_per_rack = switches;
  spec.racks_per_row = per_row;
  return spec;
}

struct Plan {
  Fabric fabric;
  RackPlan racks;
  Plan(Fabric built, const RackSpec& spec) : fabric(std::move(built)), racks(fabric, spec) {}
  int rack(const std::string& name) const { return racks.rack_of(device_named(fabric, name)); }
  double metres(const std::string& a, const std::string& b) const {
    return racks.length_m(device_named(fabric, a), device_named(fabric, b));
  }
};

// Eight racks of two nodes; six switches fill one rack and a half.
TEST(Racks, AreCountedForNodesAndForSwitchesApart) {
  const Plan plan(sixteen_nodes(), racks_of(2, 4));
  EXPECT_EQ(plan.racks.node_racks(), 8);
  EXPECT_EQ(plan.racks.racks(), 10);
}

TEST(Racks, OfNodesAreFilledOneAfterTheOtherAroundTheSwitches) {
  const Plan plan(sixteen_nodes(), racks_of(2, 4));
  EXPECT_EQ(plan.rack("node0/nic0"), 0);
  EXPECT_EQ(plan.rack("node1/nic1"), 0);
  EXPECT_EQ(plan.rack("node2/nic0"), 1);
  EXPECT_EQ(plan.rack("node7/nic1"), 3);
  EXPECT_EQ(plan.rack("leaf0"), 4);
  EXPECT_EQ(plan.rack("leaf3"), 4);
  EXPECT_EQ(plan.rack("spine0"), 5);
  EXPECT_EQ(plan.rack("spine1"), 5);
  EXPECT_EQ(plan.rack("node8/nic0"), 6);
  EXPECT_EQ(plan.rack("node15/nic1"), 9);
}

// Three to a rack: five racks hold 15, the last node has a sixth of its own.
TEST(Racks, TheLastOneOfNodesMayBePartlyEmpty) {
  const Plan plan(sixteen_nodes(), racks_of(3, 16));
  EXPECT_EQ(plan.racks.node_racks(), 6);
  EXPECT_EQ(plan.racks.racks(), 7);
  EXPECT_EQ(plan.rack("node14/nic0"), 5);
  EXPECT_EQ(plan.rack("node15/nic0"), 6);
}

TEST(Racks, ACableThatStaysInItsRackHasTheLengthOfOne) {
  const Plan plan(sixteen_nodes(), racks_of(2, 4));
  EXPECT_DOUBLE_EQ(plan.metres("leaf0", "leaf3"), 2);
}

// 3 m up to the tray and down again, 0.6 m for every rack passed.
TEST(Racks, ACableThatLeavesItsRackGoesOverTheTrayAndAlongTheRow) {
  const Plan plan(sixteen_nodes(), racks_of(2, 4));
  EXPECT_DOUBLE_EQ(plan.metres("leaf0", "spine0"), 3 + 0.6);
  EXPECT_DOUBLE_EQ(plan.metres("node0/nic0", "leaf0"), 3 + 4 * 0.6);
  EXPECT_DOUBLE_EQ(plan.metres("node15/nic0", "leaf0"), 3 + 5 * 0.6);
}

TEST(Racks, ACableIsAsLongFromEitherEnd) {
  const Plan plan(sixteen_nodes(), racks_of(2, 4, 3));
  EXPECT_DOUBLE_EQ(plan.metres("node0/nic0", "spine1"), plan.metres("spine1", "node0/nic0"));
}

// Four racks to a row: rack 5 is row 1, column 1; rack 9 is row 2, column 1.
TEST(Racks, OfSeveralRowsAreAColumnAndARowApart) {
  const Plan plan(sixteen_nodes(), racks_of(2, 4, 4));
  EXPECT_DOUBLE_EQ(plan.metres("node0/nic0", "spine0"), 3 + 1 * 0.6 + 1 * 3);
  EXPECT_DOUBLE_EQ(plan.metres("node0/nic0", "leaf0"), 3 + 0 * 0.6 + 1 * 3);
  EXPECT_DOUBLE_EQ(plan.metres("node15/nic0", "spine0"), 3 + 0 * 0.6 + 1 * 3);
  EXPECT_DOUBLE_EQ(plan.metres("node7/nic0", "leaf0"), 3 + 3 * 0.6 + 1 * 3);
}

TEST(Racks, TakeTheirMeasuresFromThePlan) {
  RackSpec spec = racks_of(2, 4, 4);
  spec.pitch_m = 1;
  spec.row_m = 10;
  spec.in_rack_m = 0.5;
  spec.overhead_m = 100;
  const Plan plan(sixteen_nodes(), spec);
  EXPECT_DOUBLE_EQ(plan.metres("leaf0", "leaf1"), 0.5);
  EXPECT_DOUBLE_EQ(plan.metres("node0/nic0", "spine0"), 100 + 1 + 10);
}

TEST(Racks, ASingleOneIsSharedWithUpToTwoSwitches) {
  const Plan plan(build(spec_of(TopologyKind::kSingleSwitch, 4, 2, 16)), racks_of(4, 16));
  EXPECT_EQ(plan.racks.racks(), 1);
  EXPECT_EQ(plan.rack("leaf0"), 0);
  EXPECT_DOUBLE_EQ(plan.metres("node3/nic1", "leaf0"), 2);
  // Two rails without a spine are two switches.
  EXPECT_EQ(Plan(build(spec_of(TopologyKind::kRailOnly, 4, 2, 16)), racks_of(4, 16)).racks.racks(),
            1);
}

TEST(Racks, ThreeSwitchesHaveARackOfTheirOwn) {
  const Plan plan(build(spec_of(TopologyKind::kRailOnly, 4, 3, 16)), racks_of(4, 16));
  EXPECT_EQ(plan.racks.node_racks(), 1);
  EXPECT_EQ(plan.racks.racks(), 2);
  EXPECT_DOUBLE_EQ(plan.metres("node0/nic0", "leaf0"), 3.6);
}

TEST(Racks, SeveralOfNodesShareNoneWithASwitch) {
  const Plan plan(build(spec_of(TopologyKind::kSingleSwitch, 4, 2, 16)), racks_of(2, 16));
  EXPECT_EQ(plan.racks.racks(), 3);
  EXPECT_EQ(plan.rack("leaf0"), 1);
}

TEST(Racks, OfTwoNodesJoinedDirectlyHoldNoSwitch) {
  EXPECT_EQ(Plan(build(spec_of(TopologyKind::kDirect, 2, 8, 0)), racks_of(2, 16)).racks.racks(), 1);
  const Plan apart(build(spec_of(TopologyKind::kDirect, 2, 8, 0)), racks_of(1, 16));
  EXPECT_EQ(apart.racks.racks(), 2);
  EXPECT_DOUBLE_EQ(apart.metres("node0/nic0", "node1/nic0"), 3.6);
}

TEST(Racks, WithoutRoomAreRefused) {
  const Fabric fabric = sixteen_nodes();
  EXPECT_THROW(RackPlan(fabric, racks_of(0, 16)), base::Error);
  EXPECT_THROW(RackPlan(fabric, racks_of(4, 0)), base::Error);
  EXPECT_THROW(RackPlan(fabric, racks_of(4, 16, 0)), base::Error);
}

}  // namespace
}  // namespace fabricast::fabric
