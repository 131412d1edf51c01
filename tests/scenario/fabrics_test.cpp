#include <fmt/format.h>
#include <gtest/gtest.h>

#include "examples.h"

namespace fabricast::scenario {
namespace {

using testing::accepted;
using testing::changed;
using testing::known;
using testing::refusal;

constexpr const char* kList = "[infiniband, roce-v2, tcp]";

TEST(Fabrics, overrides_change_a_copy_and_its_name) {
  const ValidScenario s =
      accepted(changed(kList, "[roce-v2, {profile: roce-v2, name: mine, ecn: {kmin_kb: 300}}]"));
  ASSERT_EQ(s.fabrics.size(), 2U);
  EXPECT_EQ(s.fabrics[0].profile.name, "roce-v2");
  EXPECT_EQ(s.fabrics[1].profile.name, "mine");
  EXPECT_EQ(s.fabrics[1].profile.id, "roce-v2");
  EXPECT_EQ(s.fabrics[1].profile.ecn.kmin.count(), 300'000);
  EXPECT_NE(s.fabrics[0].profile.ecn.kmin.count(), 300'000);
}

TEST(Fabrics, an_unknown_parameter_is_refused_at_its_place) {
  const std::string message = refusal(changed(kList, "[{profile: roce-v2, ecn: {kmni_kb: 300}}]"));
  EXPECT_TRUE(
      message.starts_with("job.yaml:10:45: fabrics[0].ecn.kmni_kb: found an unknown key; allowed "))
      << message;
  EXPECT_TRUE(message.ends_with("; did you mean `kmin_kb`?")) << message;
}

TEST(Fabrics, names_must_differ) {
  EXPECT_EQ(refusal(changed(kList, "[infiniband, tcp, infiniband]")),
            "job.yaml:10:28: fabrics[2]: found a second fabric named `infiniband` (the first is in "
            "line 10); allowed names that differ: `{profile: ..., name: ...}`");
}

TEST(Fabrics, there_must_be_one) {
  EXPECT_EQ(refusal(changed(kList, "[]")),
            "job.yaml:10:10: fabrics: found an empty list; allowed at least one fabric");
}

TEST(Fabrics, an_entry_is_an_id_or_a_mapping) {
  EXPECT_EQ(refusal(changed(kList, "[[infiniband]]")),
            "job.yaml:10:11: fabrics[0]: found a list; allowed the id of a fabric profile, or a "
            "mapping with `profile`");
  EXPECT_EQ(refusal(changed(kList, "[{name: mine}]")),
            "job.yaml:10:11: fabrics[0].profile: found nothing (the key is missing); allowed text");
}

TEST(Fabrics, adapters_run_no_faster_than_the_switch) {
  const catalog::FabricProfile& profile = known().fabric("infiniband");
  const catalog::Switch& network_switch = known().network_switch(profile.switch_model);
  EXPECT_EQ(refusal(changed("nic_gbps: 200", "nic_gbps: 5000")),
            fmt::format("job.yaml:7:13: cluster.nic_gbps: found 5000 Gb/s; allowed at most {} "
                        "Gb/s, the port rate of the switch `{}` of `infiniband`",
                        network_switch.port_gbps, network_switch.id));
}

// A port of twice the adapters' rate serves two of them, and an uplink of the full rate stays
// whole.
TEST(Fabrics, a_port_of_twice_the_adapters_rate_serves_two) {
  const catalog::FabricProfile& profile = known().fabric("infiniband");
  const catalog::Switch& network_switch = known().network_switch(profile.switch_model);
  const double full = network_switch.port_gbps;
  const auto topology =
      accepted(changed("nic_gbps: 200", fmt::format("nic_gbps: {}", full / 2))).fabrics[0].topology;
  EXPECT_EQ(topology.switch_ports, network_switch.ports);
  EXPECT_EQ(topology.switch_rate.gbps(), full);
  fabric::TopologySpec several_leaves = topology;
  several_leaves.kind = fabric::TopologyKind::kLeafSpine;
  several_leaves.gpus_per_node = several_leaves.nics_per_node = 1;
  several_leaves.nodes_per_leaf = 0;
  several_leaves.nodes = 4 * network_switch.ports;
  const fabric::Sizing sizing = fabric::size(several_leaves);
  EXPECT_EQ(sizing.leaves, 4);
  EXPECT_EQ(sizing.down_ports, network_switch.ports);
  EXPECT_EQ(sizing.uplink_rate.gbps(), full);
}

// DGX B300 on 800 Gb/s Ethernet splits uplinks, DGX B200 on InfiniBand adds a tier (sizing.md).
TEST(Fabrics, only_fast_ethernet_splits_its_uplinks) {
  for (const FabricChoice& choice : accepted(testing::full_example()).fabrics) {
    const bool infiniband = choice.profile.kind == catalog::FabricKind::kInfiniBand;
    const int expected = infiniband                               ? 1
                         : choice.network_switch.port_gbps >= 800 ? 4
                         : choice.network_switch.port_gbps >= 400 ? 2
                                                                  : 1;
    EXPECT_EQ(choice.topology.max_uplink_split, expected) << choice.profile.name;
  }
}

TEST(Fabrics, each_choice_carries_its_devices) {
  for (const FabricChoice& choice : accepted(testing::full_example()).fabrics) {
    EXPECT_EQ(choice.network_switch.id, choice.profile.switch_model);
    EXPECT_EQ(choice.adapter.id, choice.profile.adapter_model);
    const bool infiniband = choice.profile.kind == catalog::FabricKind::kInfiniBand;
    EXPECT_EQ(choice.network_switch.link_layer,
              infiniband ? catalog::LinkLayer::kInfiniBand : catalog::LinkLayer::kEthernet);
  }
}

TEST(Fabrics, a_switch_of_the_other_link_layer_is_refused) {
  const std::string infiniband_switch = known().fabric("infiniband").switch_model;
  const std::string message =
      refusal(changed(kList, fmt::format("[{{profile: roce-v2, switch: {}}}]", infiniband_switch)));
  EXPECT_TRUE(
      message.starts_with("job.yaml:10:38: fabrics[0].switch: found `" + infiniband_switch + "`"))
      << message;
}

// A leaf of a 64-port switch serves 32 nodes: a unit of 32 nodes has 8 leaves of 32 uplinks and
// 4 spines. Four nodes need 8 leaves of 4 uplinks, and one spine of 32 ports or more.
TEST(Notes, tell_that_a_rail_optimised_fabric_is_built_whole) {
  const std::string list = changed(changed("leaf-spine", "rail-optimised"), kList, "[infiniband]");
  const std::string same_rate = changed(list, "nic_gbps: 200", "nic_gbps: 400");
  EXPECT_EQ(notes(accepted(same_rate)),
            std::vector<std::string>{
                "job.yaml:9:13: cluster.topology: note: without `scalable_unit_nodes` a "
                "rail-optimised fabric is built of whole scalable units: 12 switches instead of 9 "
                "for `infiniband`; `scalable_unit_nodes: 4` sizes the unit to the cluster"});
}

TEST(Notes, are_silent_where_nothing_surprises) {
  EXPECT_TRUE(notes(accepted(testing::full_example())).empty());
  EXPECT_TRUE(
      notes(accepted(changed("leaf-spine", "rail-optimised, scalable_unit_nodes: 4"))).empty());
}

// 32 GPUs in nodes of 8 over two tiers of 64-port switches: the tree of n switches has n - 1 links.
TEST(Fabrics, a_layer_2_domain_of_several_switches_is_told_what_its_tree_leaves) {
  const std::string text = changed(changed(kList, "[roce-v2, roce-v1]"), "kind: leaf-spine",
                                   "kind: leaf-spine, nodes_per_leaf: 1");
  const ValidScenario s = accepted(text);
  const fabric::Sizing sizing = fabric::size(s.fabrics[1].topology);
  ASSERT_EQ(sizing.tiers, 2);
  ASSERT_EQ(notes(s).size(), 1U);
  EXPECT_EQ(notes(s)[0],
            fmt::format("job.yaml:10:20: fabrics[1]: note: `roce-v1` is one layer-2 domain: its "
                        "spanning tree keeps {} of {} links between switches open, and parallel "
                        "links are not aggregated",
                        sizing.leaves + sizing.spines - 1, sizing.leaves * sizing.up_ports));
  EXPECT_TRUE(
      notes(accepted(changed(changed(kList, "[roce-v1]"), "leaf-spine", "single-switch"))).empty());
}

TEST(Fabrics, congestion_control_on_roce_v1_is_refused_at_its_place) {
  const std::string message = refusal(changed(kList, "[{profile: roce-v1, ecn: {enabled: true}}]"));
  EXPECT_TRUE(
      message.starts_with("job.yaml:10:35: fabrics[0].ecn: found parameters that `roce-v1` "
                          "fabrics do not have; allowed `link`, "))
      << message;
}

}  // namespace
}  // namespace fabricast::scenario
