// What could be built, and how a design scores.

#include "advice/designs.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "advice/assessment.h"
#include "outcomes.h"

namespace fabricast::advice {
namespace {

using namespace base::literals;

const catalog::Catalog& shipped() {
  static const catalog::Catalog catalog = catalog::Catalog::load(FABRICAST_SOURCE_DIR "/catalog");
  return catalog;
}

std::vector<Candidate> searched(const std::string& more, bool given = false,
                                const std::string& fabrics = "[infiniband, roce-v2, tcp]",
                                int gpus = 16) {
  SearchSpace space;
  space.file = "test.yaml";
  space.profiles_given = given;
  space.document = base::yaml::parse(
      "name: test\ncluster: { gpus: " + std::to_string(gpus) +
          ", gpu: h100-sxm, nic_gbps: 400, topology: { kind: leaf-spine } }\nfabrics: " + fabrics +
          "\nworkload: { kind: training, model: llama2-7b, precision: bf16, sequence: 4096,\n"
          "            global_batch: 64, micro_batch: 1, parallelism: auto, tokens: 1e9 }\n" +
          more,
      "test.yaml");
  return candidates(shipped(), space);
}

bool built(const Candidate& c) {
  return c.scenario.has_value();
}

TEST(Designs, have_names_of_their_own) {
  std::set<std::string> names;
  for (const Candidate& c : searched("")) EXPECT_TRUE(names.insert(c.name).second) << c.name;
}

TEST(Designs, are_scenarios_that_read_back_to_the_same_network) {
  for (const Candidate& c : searched("")) {
    if (!built(c)) continue;
    const auto again = scenario::from_document(c.document, "test.yaml", shipped());
    EXPECT_EQ(again.fabrics.front().profile.name, c.name);
    EXPECT_EQ(fabric::size(again.fabrics.front().topology).leaves, c.sizing.leaves) << c.name;
  }
}

TEST(Designs, keep_the_cheapest_of_switches_that_make_the_same_network) {
  for (const Candidate& c : searched("")) {
    if (!built(c) || c.network_switch.empty()) continue;
    for (const catalog::Switch& s : shipped().switches()) {
      if (s.link_layer != shipped().network_switch(c.network_switch).link_layer) continue;
      if (s.id.starts_with("article-") || s.port_gbps != c.nic_gbps || s.ports < 16) continue;
      if (c.profile.find("adaptive") != std::string::npos && !s.adaptive_routing) continue;
      if (c.topology != "leaf-spine" || c.kind == catalog::FabricKind::kTcp) continue;
      // One switch of that model would do, at the catalogue's price.
      const double other = shipped().price(s.id).likely;
      EXPECT_LE(shipped().price(c.network_switch).likely, other) << c.name << " on " << s.id;
    }
  }
}

TEST(Designs, ask_for_switches_that_can_where_routing_is_adaptive) {
  int adaptive = 0;
  for (const Candidate& c : searched("")) {
    if (c.profile.find("adaptive") == std::string::npos || c.network_switch.empty()) continue;
    ++adaptive;
    EXPECT_TRUE(shipped().network_switch(c.network_switch).adaptive_routing) << c.name;
  }
  EXPECT_GT(adaptive, 0);
}

TEST(Designs, of_a_scenario_keep_to_its_fabrics_and_hold_them_as_they_are) {
  const auto all = searched("", true, "[{profile: roce-v2, name: mine}]");
  EXPECT_TRUE(all.front().asked);
  EXPECT_EQ(all.front().name, "mine");
  for (const Candidate& c : all) EXPECT_EQ(c.kind, catalog::FabricKind::kRoceV2) << c.name;
}

TEST(Designs, must_be_able_to_grow) {
  for (const Candidate& c : searched("constraints: { growth_gpus: 1024 }\n")) {
    if (!built(c)) continue;
    fabric::TopologySpec grown = c.scenario->fabrics.front().topology;
    grown.nodes = 128;
    EXPECT_NO_THROW(fabric::size(grown)) << c.name;
  }
}

TEST(Designs, on_the_ethernet_that_is_there_pay_for_adapters_alone) {
  int owned = 0;
  for (const Candidate& c : searched("constraints: { existing_ethernet: true }\n")) {
    if (!c.owned || !built(c)) continue;
    ++owned;
    for (const cost::BomLine& line : c.bill.lines) {
      if (line.part == cost::Part::kSwitch || line.part == cost::Part::kCable) {
        EXPECT_EQ(line.unit_price, 0) << c.name << ": " << line.item;
      }
    }
  }
  EXPECT_GT(owned, 0);
}

// 36 ports of a single switch; leaves and spines of them reach 36 x 18 endpoints in two tiers and
// more in three.
TEST(Assessment, reaches_as_far_as_the_sizing_does) {
  fabric::TopologySpec spec;
  spec.kind = fabric::TopologyKind::kSingleSwitch;
  spec.nodes = 2;
  spec.gpus_per_node = spec.nics_per_node = 4;
  spec.nic_rate = spec.switch_rate = 200_gbps;
  spec.switch_ports = 36;
  EXPECT_EQ(reach(spec, 1000), 36);
  spec.kind = fabric::TopologyKind::kRailOnly;
  EXPECT_EQ(reach(spec, 1000), 144);
  spec.kind = fabric::TopologyKind::kLeafSpine;
  EXPECT_EQ(reach(spec, 64), 64);
}

TEST(Assessment, scores_as_its_formulas_say) {
  Outcome o = testing::roce(2, 100);
  o.sizing.tiers = 2;
  o.sizing.leaves = 4;
  o.training.reliability.goodput_pct = 90;
  fabric::TopologySpec spec;
  spec.kind = fabric::TopologyKind::kSingleSwitch;
  spec.nodes = 2;
  spec.gpus_per_node = spec.nics_per_node = 4;
  spec.nic_rate = 200_gbps;
  spec.switch_rate = 400_gbps;
  spec.switch_ports = 8;  // 16 halves: twice the eight GPUs
  const Assessment a = assess(o, spec, {.cost = o.cost.per_million_tokens / 2, .pace = 1});
  EXPECT_DOUBLE_EQ(a.efficiency, 80);
  EXPECT_DOUBLE_EQ(a.economy, 50);
  EXPECT_NEAR(a.adaptability, 60.0 / 3 + 20 + 20, 1e-9);
  EXPECT_NEAR(a.availability, 90 * (1 - 0.25 / 2), 1e-9);
  EXPECT_DOUBLE_EQ(a.performance, 50);
}

}  // namespace
}  // namespace fabricast::advice
