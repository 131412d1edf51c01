#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "fabric/fabric.h"

namespace fabricast::fabric {
namespace {

using namespace base::literals;

/// 64 ports of 400G, 8 NICs of 400G per node: DGX H100 and B200 on QM9700.
TopologySpec ndr(int nodes) {
  TopologySpec spec;
  spec.kind = TopologyKind::kRailOptimised;
  spec.nodes = nodes;
  spec.gpus_per_node = 8;
  spec.nics_per_node = 8;
  spec.nic_rate = 400_gbps;
  spec.switch_ports = 64;
  spec.switch_rate = 400_gbps;
  spec.scalable_unit_nodes = 32;
  return spec;
}

TopologySpec dgx_h100(int nodes) {
  TopologySpec spec = ndr(nodes);
  spec.management_ports = 4;
  return spec;
}

/// DGX B300 on 64-port 800G Ethernet, whose ports split in 2 or 4.
TopologySpec b300_ethernet(int nodes) {
  TopologySpec spec = ndr(nodes);
  spec.nic_rate = 800_gbps;
  spec.switch_rate = 800_gbps;
  spec.scalable_unit_nodes = 64;
  spec.max_uplink_split = 4;
  return spec;
}

/// DGX B300 on 144-port XDR.
TopologySpec b300_xdr(int nodes) {
  TopologySpec spec = ndr(nodes);
  spec.nic_rate = 800_gbps;
  spec.switch_rate = 800_gbps;
  spec.switch_ports = 144;
  spec.scalable_unit_nodes = 72;
  return spec;
}

TopologySpec plain(TopologyKind kind, int nodes, int nics, int ports) {
  TopologySpec spec;
  spec.kind = kind;
  spec.nodes = nodes;
  spec.gpus_per_node = nics;
  spec.nics_per_node = nics;
  spec.nic_rate = 200_gbps;
  spec.switch_ports = ports;
  spec.switch_rate = 200_gbps;
  return spec;
}

std::string refusal(const TopologySpec& spec) {
  try {
    size(spec);
  } catch (const base::Error& error) {
    return error.kind() == base::ErrorKind::kInput ? error.what() : "not an input error";
  }
  return "accepted";
}

struct Row {
  TopologySpec spec;
  int leaves, spines, cores, split;
  std::int64_t node_leaf, leaf_spine, spine_core;
};

void expect_rows(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.spec.nodes);
    const Sizing sizing = size(row.spec);
    EXPECT_EQ(sizing.leaves, row.leaves);
    EXPECT_EQ(sizing.spines, row.spines);
    EXPECT_EQ(sizing.cores, row.cores);
    EXPECT_EQ(sizing.uplink_split, row.split);
    EXPECT_EQ(sizing.endpoint_cables, row.node_leaf);
    EXPECT_EQ(sizing.leaf_spine_cables, row.leaf_spine);
    EXPECT_EQ(sizing.spine_core_cables, row.spine_core);
  }
}

// NVIDIA DGX SuperPOD H100 reference architecture, network fabrics: switch and cable counts; the
// node-leaf column includes the four ports of UFM. At 95 nodes capacity asks for 12 spines, which
// do not divide 32 uplinks.
TEST(Sizing, ReproducesTheDgxH100ReferenceDesigns) {
  expect_rows({{dgx_h100(31), 8, 4, 0, 1, 252, 256, 0},
               {dgx_h100(63), 16, 8, 0, 1, 508, 512, 0},
               {dgx_h100(95), 24, 16, 0, 1, 764, 768, 0},
               {dgx_h100(127), 32, 16, 0, 1, 1020, 1024, 0}});
}

// NVIDIA DGX SuperPOD B200 reference architecture.
TEST(Sizing, ReproducesTheDgxB200ReferenceDesignsInTwoTiers) {
  expect_rows({{ndr(64), 16, 8, 0, 1, 512, 512, 0},
               {ndr(128), 32, 16, 0, 1, 1024, 1024, 0},
               {ndr(256), 64, 32, 0, 1, 2048, 2048, 0}});
}

TEST(Sizing, ReproducesTheDgxB200ReferenceDesignsInThreeTiers) {
  expect_rows({{ndr(512), 128, 128, 64, 1, 4096, 4096, 4096},
               {ndr(1024), 256, 256, 128, 1, 8192, 8192, 8192},
               {ndr(2048), 512, 512, 256, 1, 16384, 16384, 16384}});
}

// NVIDIA DGX SuperPOD B300 reference architecture, Ethernet: 800G ports, split to 400G at 512 nodes
// and to 200G at 1,024.
TEST(Sizing, ReproducesTheDgxB300EthernetReferenceDesigns) {
  expect_rows({{b300_ethernet(64), 16, 8, 0, 1, 512, 512, 0},
               {b300_ethernet(128), 32, 16, 0, 1, 1024, 1024, 0},
               {b300_ethernet(256), 64, 32, 0, 1, 2048, 2048, 0},
               {b300_ethernet(512), 128, 64, 0, 2, 4096, 4096, 0},
               {b300_ethernet(1024), 256, 128, 0, 4, 8192, 8192, 0}});
}

// NVIDIA DGX SuperPOD B300 XDR reference architecture. At 288 nodes capacity asks for 16 spines and
// at 576 for 32; neither divides 72 uplinks. (For 1,296 nodes the page prints 9,216 GPUs; 1,296
// nodes of 8 are 10,368.)
TEST(Sizing, ReproducesTheDgxB300XdrReferenceDesigns) {
  expect_rows({{b300_xdr(72), 8, 4, 0, 1, 576, 576, 0},
               {b300_xdr(144), 16, 8, 0, 1, 1152, 1152, 0},
               {b300_xdr(288), 32, 18, 0, 1, 2304, 2304, 0},
               {b300_xdr(576), 64, 36, 0, 1, 4608, 4608, 0},
               {b300_xdr(1296), 144, 72, 0, 1, 10368, 10368, 0}});
}

// 127 nodes leave four of 1,024 ports for UFM; the 128th node takes them, so a fifth rail group of
// 8 leaves is added.
TEST(Sizing, ManagementPortsThatFindNoPlaceAddAWholeRailGroup) {
  EXPECT_EQ(size(dgx_h100(128)).leaves, 40);
}

TEST(Sizing, OneMoreNodeThanAScalableUnitAddsAWholeRailGroup) {
  EXPECT_EQ(size(ndr(65)).leaves, 24);
}

// R^2/2 endpoints are the most that two non-blocking tiers of R-port switches carry.
TEST(Sizing, TwoTiersEndAtHalfTheSquareOfTheRadix) {
  EXPECT_EQ(size(plain(TopologyKind::kLeafSpine, 512, 1, 32)).tiers, 2);
  EXPECT_EQ(size(plain(TopologyKind::kLeafSpine, 513, 1, 32)).tiers, 3);
}

// R^3/4 endpoints are the most that three non-blocking tiers carry (Al-Fares et al., 2008).
TEST(Sizing, ThreeTiersEndAtAQuarterOfTheCubeOfTheRadix) {
  EXPECT_EQ(size(plain(TopologyKind::kLeafSpine, 128, 1, 8)).tiers, 3);
  EXPECT_NE(refusal(plain(TopologyKind::kLeafSpine, 129, 1, 8)).find("33 leaves"),
            std::string::npos);
}

// The k-ary fat-tree of Al-Fares et al. (2008), k = 8: k^3/4 hosts, k^2/2 edge and as many
// aggregation switches, k^2/4 cores: 80 switches, 384 links.
TEST(Sizing, FatTreeIsTheKaryTree) {
  const Sizing sizing = size(plain(TopologyKind::kFatTree, 128, 1, 8));
  EXPECT_EQ(sizing.leaves, 32);
  EXPECT_EQ(sizing.spines, 32);
  EXPECT_EQ(sizing.cores, 16);
  EXPECT_EQ(sizing.pods, 8);
  EXPECT_EQ(sizing.endpoint_cables + sizing.leaf_spine_cables + sizing.spine_core_cables, 384);
}

TEST(Sizing, FatTreeHasThreeTiersHoweverSmall) {
  const Sizing sizing = size(plain(TopologyKind::kFatTree, 16, 1, 8));
  EXPECT_EQ(sizing.tiers, 3);
  EXPECT_EQ(sizing.leaves, 4);
  EXPECT_EQ(sizing.pods, 2);
}

// Down over up ports: 3:1 of 64 ports is 48 down and 16 up.
TEST(Sizing, OversubscriptionDividesTheLeafPorts) {
  TopologySpec spec = plain(TopologyKind::kLeafSpine, 96, 1, 64);
  spec.oversubscription = 3;
  const Sizing sizing = size(spec);
  EXPECT_EQ(sizing.down_ports, 48);
  EXPECT_EQ(sizing.up_ports, 16);
  EXPECT_EQ(sizing.leaves, 2);
  EXPECT_EQ(sizing.spines, 1);
}

TEST(Sizing, LeafSpineThatFitsOneSwitchHasNoSpine) {
  const Sizing sizing = size(plain(TopologyKind::kLeafSpine, 4, 8, 36));
  EXPECT_EQ(sizing.tiers, 1);
  EXPECT_EQ(sizing.leaves, 1);
  EXPECT_EQ(sizing.spines, 0);
  EXPECT_EQ(sizing.leaf_spine_cables, 0);
}

// Racks of two 8-NIC nodes: 16 down and 16 up ports per leaf, 32 uplinks on one 36-port spine.
TEST(Sizing, ARackPlanGivesEachLeafTheUplinksItsNodesNeed) {
  TopologySpec spec = plain(TopologyKind::kLeafSpine, 4, 8, 36);
  spec.nodes_per_leaf = 2;
  const Sizing sizing = size(spec);
  EXPECT_EQ(sizing.leaves, 2);
  EXPECT_EQ(sizing.up_ports, 16);
  EXPECT_EQ(sizing.spines, 1);
  EXPECT_EQ(sizing.leaf_spine_cables, 32);
}

TEST(Sizing, ARackPlanThatOverfillsALeafIsRefusedWithTheNumbers) {
  TopologySpec spec = plain(TopologyKind::kLeafSpine, 6, 8, 36);
  spec.nodes_per_leaf = 3;
  EXPECT_NE(refusal(spec).find("24 endpoints needs 24 down and 24 up ports; the switch has 36"),
            std::string::npos)
      << refusal(spec);
}

// QM9700 offers 64 ports of 400G or 128 of 200G.
TEST(Sizing, PortsFasterThanTheNicsAreSplitBetweenTwoNics) {
  TopologySpec spec = plain(TopologyKind::kSingleSwitch, 16, 8, 64);
  spec.switch_rate = 400_gbps;
  EXPECT_EQ(size(spec).down_ports, 128);
  spec.kind = TopologyKind::kLeafSpine;
  spec.nodes = 17;
  const Sizing sizing = size(spec);
  EXPECT_EQ(sizing.down_ports, 64);
  EXPECT_EQ(sizing.up_ports, 32);
  EXPECT_EQ(sizing.uplink_rate, 400_gbps);
}

// 800G does not divide into ports of 300G.
TEST(Sizing, PortsThatDoNotDivideEvenlyStayWhole) {
  TopologySpec spec = plain(TopologyKind::kSingleSwitch, 8, 8, 64);
  spec.nic_rate = 300_gbps;
  spec.switch_rate = 800_gbps;
  EXPECT_EQ(size(spec).down_ports, 64);
}

TEST(Sizing, SingleSwitchThatDoesNotFitIsRefusedWithTheNumbers) {
  const std::string text = refusal(plain(TopologyKind::kSingleSwitch, 5, 8, 36));
  EXPECT_NE(text.find("36 ports"), std::string::npos) << text;
  EXPECT_NE(text.find("need 40"), std::string::npos) << text;
}

TEST(Sizing, DirectCablesJoinExactlyTwoNodes) {
  const Sizing sizing = size(plain(TopologyKind::kDirect, 2, 8, 0));
  EXPECT_EQ(sizing.tiers, 0);
  EXPECT_EQ(sizing.leaves, 0);
  EXPECT_EQ(sizing.endpoint_cables, 8);
  EXPECT_NE(refusal(plain(TopologyKind::kDirect, 3, 8, 0)).find("found 3"), std::string::npos);
}

TEST(Sizing, RailOnlyHasOneSwitchPerRailAndNoSpine) {
  const Sizing sizing = size(plain(TopologyKind::kRailOnly, 36, 8, 36));
  EXPECT_EQ(sizing.leaves, 8);
  EXPECT_EQ(sizing.spines, 0);
  EXPECT_NE(refusal(plain(TopologyKind::kRailOnly, 37, 8, 36)).find("36 ports"), std::string::npos);
}

TEST(Sizing, RefusesWhatIsNotBuiltYetByName) {
  EXPECT_NE(refusal(plain(TopologyKind::kDragonflyPlus, 4, 8, 36)).find("dragonfly-plus"),
            std::string::npos);
}

TEST(Sizing, RefusesASwitchSlowerThanTheNics) {
  TopologySpec spec = plain(TopologyKind::kLeafSpine, 4, 8, 36);
  spec.nic_rate = 400_gbps;
  EXPECT_NE(refusal(spec).find("400"), std::string::npos) << refusal(spec);
}

// Equal spreading is the point of the rule: for every leaf count the spines divide the uplinks and
// have the ports, and no smaller divisor does.
TEST(Sizing, SpinesAreTheSmallestDivisorOfTheUplinksThatHasThePorts) {
  for (int leaves = 2; leaves <= 36; ++leaves) {
    SCOPED_TRACE(leaves);
    const Sizing sizing = size(plain(TopologyKind::kLeafSpine, leaves * 18, 1, 36));
    if (leaves * 18 <= 36) continue;
    ASSERT_EQ(sizing.leaves, leaves);
    ASSERT_EQ(sizing.tiers, 2);
    EXPECT_EQ(18 % sizing.spines, 0);
    EXPECT_GE(sizing.spines * 36, leaves * 18);
    for (int s = 1; s < sizing.spines; ++s) EXPECT_FALSE(18 % s == 0 && s * 36 >= leaves * 18);
  }
}

}  // namespace
}  // namespace fabricast::fabric
