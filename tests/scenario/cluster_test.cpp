#include <gtest/gtest.h>

#include "examples.h"

namespace fabricast::scenario {
namespace {

using testing::accepted;
using testing::changed;
using testing::refusal;

TEST(Cluster, reads_the_rack_plan_of_the_topology) {
  const ValidScenario s = accepted(
      changed("{ kind: leaf-spine, oversubscription: 1.0, cable_m: 10 }",
              "{kind: rail-optimised, cable_m: 30, nodes_per_leaf: 2, scalable_unit_nodes: 4, "
              "management_ports: 1}"));
  EXPECT_EQ(s.cluster.topology.kind, fabric::TopologyKind::kRailOptimised);
  EXPECT_EQ(s.cluster.topology.cable_m, 30);
  EXPECT_EQ(s.cluster.topology.nodes_per_leaf, 2);
  EXPECT_EQ(s.cluster.topology.scalable_unit_nodes, 4);
  EXPECT_EQ(s.cluster.topology.management_ports, 1);
}

TEST(Cluster, knows_every_topology_of_the_reference) {
  for (const char* kind : {"single-switch", "leaf-spine", "rail-optimised", "rail-only", "fat-tree",
                           "dragonfly-plus"}) {
    const ValidScenario s = accepted(changed("leaf-spine", kind));
    EXPECT_EQ(fabric::name_of(s.cluster.topology.kind), kind);
  }
}

TEST(Cluster, a_last_node_may_be_partial) {
  const std::string text = changed(changed("gpus: 32", "gpus: 12"), "llama2-70b", "llama2-7b");
  EXPECT_EQ(accepted(text).cluster.topology.nodes, 2);
}

TEST(Cluster, adapters_are_shared_evenly) {
  EXPECT_EQ(refusal(changed("nics_per_node: 8", "nics_per_node: 3")),
            "job.yaml:6:18: cluster.nics_per_node: found 3 adapters for 8 GPUs; allowed a divisor "
            "or a multiple of `gpus_per_node` (8), so that they share evenly");
  EXPECT_EQ(refusal(changed("nics_per_node: 8", "nics_per_node: 4")), "accepted");
  EXPECT_EQ(refusal(changed("nics_per_node: 8", "nics_per_node: 16")), "accepted");
}

TEST(Cluster, a_fabric_that_cannot_be_sized_is_told_at_the_topology) {
  // 4096 adapters on one switch of any maker.
  const std::string message =
      refusal(changed(changed("gpus: 32", "gpus: 4096"), "leaf-spine", "single-switch"));
  EXPECT_TRUE(
      message.starts_with("job.yaml:9:13: cluster.topology: found a topology that "
                          "`infiniband` cannot be built with: "))
      << message;
  EXPECT_TRUE(message.ends_with("; allowed another `kind`, fewer GPUs or a switch with more ports"))
      << message;
}

}  // namespace
}  // namespace fabricast::scenario
