#include "training/losses.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "collective/losses.h"
#include "jobs.h"

namespace fabricast::training {
namespace {

// Llama 2 7B's layer is gathered in bf16 round a ring of 8 ranks on 4 nodes of 2: each of the 8
// edges carries 7/8 of it, 4 of them between nodes, over 2 links under a leaf and 4 between leaves.
TEST(Losses, are_the_packets_times_the_links_of_a_ring) {
  fabric::TopologySpec topology;
  topology.kind = fabric::TopologyKind::kLeafSpine;
  topology.nodes = 4;
  topology.gpus_per_node = 2;
  topology.nics_per_node = 2;
  topology.nodes_per_leaf = 2;
  topology.nic_rate = topology.switch_rate = base::Rate::gigabits_per_second(200);
  topology.switch_ports = 36;
  const fabric::Fabric fabric = fabric::build(topology);

  Plan plan;
  plan.step.stages.resize(1);
  plan.step.replicas = 8;
  plan.step.parameters = 0;
  Phase& phase = plan.phases.emplace_back();
  phase.op = collective::Op::kAllGather;
  phase.size = base::Bytes(400'000'000);
  phase.inside_nodes = false;
  for (std::uint32_t r = 0; r < 8; ++r) {
    if (r == 0) phase.groups.emplace_back();
    phase.groups[0].emplace_back(r);
  }
  phase.choice.algorithm = collective::Algorithm::kRing;
  phase.choice.cutting = {.channels = 2, .gpus_per_node = 2};

  catalog::FabricProfile profile;
  profile.link.mtu = base::Bytes(4096);
  EXPECT_TRUE(timeouts(plan, fabric, profile).empty());
  profile.transport.timeouts_per_gpacket = 1000;
  const double packets = 400e6 * 7 / 8 / 4096;
  const double expected = 1e-6 * packets * (2 + 4 + 2 + 4);
  EXPECT_NEAR(timeouts(plan, fabric, profile).at(0), expected, 1e-3 * expected);

  phase.inside_nodes = true;
  EXPECT_EQ(timeouts(plan, fabric, profile).at(0), 0);
}

// On rails alone, GPU 0 of a node reaches GPU 1 of another over the adapter of rail 1 beside it.
TEST(Losses, take_the_way_by_the_rail_of_the_receiver) {
  fabric::TopologySpec topology;
  topology.kind = fabric::TopologyKind::kRailOnly;
  topology.nodes = 2;
  topology.gpus_per_node = 2;
  topology.nics_per_node = 2;
  topology.nic_rate = topology.switch_rate = base::Rate::gigabits_per_second(200);
  topology.switch_ports = 36;
  const fabric::Fabric fabric = fabric::build(topology);

  Plan plan;
  plan.step.stages.resize(1);
  Phase& phase = plan.phases.emplace_back();
  phase.op = collective::Op::kSendRecv;
  phase.one_way = true;
  phase.size = base::Bytes(4'096'000);
  phase.inside_nodes = false;
  phase.groups = {{base::Rank(0), base::Rank(3)}};
  phase.choice.cutting = {.channels = 2};
  catalog::FabricProfile profile;
  profile.link.mtu = base::Bytes(4096);
  profile.transport.timeouts_per_gpacket = 1000;
  EXPECT_THROW(timeouts(plan, fabric, profile), base::Error);
  phase.run.pxn = true;
  EXPECT_NEAR(timeouts(plan, fabric, profile).at(0), 1e-6 * 1000 * 2, 1e-9);
}

// IBTA: 4.096 us x 2^t; NCCL's t = 20 is 4.3 s.
TEST(Losses, wait_for_the_timeout_of_the_connection) {
  catalog::FabricProfile profile;
  profile.transport.timeout_exponent = 20;
  EXPECT_NEAR(collective::timeout_s(profile), 4.295, 0.001);
}

}  // namespace
}  // namespace fabricast::training
