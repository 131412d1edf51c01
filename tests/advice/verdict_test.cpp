#include <algorithm>

#include <gtest/gtest.h>

#include "advice/advice.h"
#include "outcomes.h"

namespace fabricast::advice {
namespace {

using namespace testing;

const Reason* find(const Verdict& v, const std::string& metric) {
  const auto found = std::find_if(v.reasons.begin(), v.reasons.end(),
                                  [&](const Reason& r) { return r.metric == metric; });
  return found == v.reasons.end() ? nullptr : &*found;
}

bool mentions(const Verdict& v, const std::string& words) {
  return std::any_of(v.reasons.begin(), v.reasons.end(),
                     [&](const Reason& r) { return r.text.find(words) != std::string::npos; });
}

TEST(Verdict, follows_the_evidence_and_states_the_house_beside_it) {
  const Verdict v = verdict(scenario_of(), {infiniband(1, 110), roce(1, 100)}, house("infiniband"));
  EXPECT_EQ(v.choice, "roce-v2");
  EXPECT_EQ(v.evidence.choice, "roce-v2");
  EXPECT_EQ(v.house.choice, "infiniband");
  EXPECT_TRUE(mentions(v, "House rule 3.3(2) chooses infiniband: The rule."));
}

TEST(Verdict, ties_its_reasons_to_the_metrics_of_every_fabric) {
  const Verdict v =
      verdict(scenario_of(), {infiniband(0.5, 110), roce(1, 100)}, house("infiniband"));
  const Reason* days = find(v, "training.days");
  ASSERT_NE(days, nullptr);
  EXPECT_EQ(days->values, (std::map<std::string, double>{{"infiniband", 0.5}, {"roce-v2", 1}}));
  EXPECT_EQ(days->text, "Length of the run: infiniband 12.0 h; roce-v2 24.0 h (+100.0 %).");
  EXPECT_EQ(days->text_zh, "训练用时：infiniband 12.0 小时；roce-v2 24.0 小时 (+100.0 %)。");
  const Reason* network = find(v, "cost.network_capex");
  ASSERT_NE(network, nullptr);
  EXPECT_EQ(network->text,
            "Price of the network: roce-v2 500,000 CNY; infiniband 900,000 CNY (+80.0 %).");
}

TEST(Verdict, calls_what_is_the_same_the_same) {
  std::vector<Outcome> outcomes = {infiniband(1, 110), roce(1, 100), tcp(1.02, 100)};
  outcomes[2].training.extrapolation_error = 0.03;
  const Verdict v = verdict(scenario_of(), outcomes, house("infiniband"));
  const Reason* days = find(v, "training.days");
  ASSERT_NE(days, nullptr);
  EXPECT_EQ(days->text,
            "Length of the run: infiniband 24.0 h; roce-v2 24.0 h (the same); tcp 24.5 h (+2.0 %, "
            "level).");
}

TEST(Verdict, leaves_out_metrics_that_do_not_exist_here) {
  const Verdict v = verdict(scenario_of(), {infiniband(1, 110), roce(1, 100)}, house("roce-v2"));
  EXPECT_EQ(find(v, "network.latency_us"), nullptr);  // one node: no latency between nodes
  Outcome two_nodes = roce(1, 100);
  two_nodes.network.latency_us = 3;
  EXPECT_NE(find(verdict(scenario_of(), {two_nodes}, house("roce-v2")), "network.latency_us"),
            nullptr);
}

TEST(Verdict, explains_where_the_voices_part_by_hours_and_by_cost_of_an_hour) {
  const Verdict v =
      verdict(scenario_of(), {infiniband(0.95, 110), roce(1, 100)}, house("infiniband"));
  ASSERT_EQ(v.choice, "roce-v2");
  EXPECT_TRUE(mentions(v, "the run is 5.0 % shorter and an hour 10.0 % dearer, against roce-v2"));
}

TEST(Verdict, explains_nothing_where_the_voices_agree) {
  const Verdict v = verdict(scenario_of(), {infiniband(1, 110), roce(1, 100)}, house("roce-v2"));
  EXPECT_FALSE(mentions(v, "The voices part"));
}

TEST(Verdict, counts_any_fabric_of_the_kind_as_the_houses_choice) {
  std::vector<Outcome> outcomes = {infiniband(1, 110), roce(1, 100)};
  outcomes[1].name = "mine";
  const Verdict v = verdict(scenario_of(), outcomes, house("roce-v2"));
  EXPECT_EQ(v.choice, "mine");
  EXPECT_FALSE(mentions(v, "The voices part"));
}

TEST(Verdict, says_when_the_houses_choice_is_not_compared) {
  const Verdict v = verdict(scenario_of(), {tcp(1, 100), roce(1, 100)}, house("infiniband"));
  EXPECT_TRUE(mentions(v, "infiniband, is not among the compared fabrics"));
}

TEST(Verdict, puts_public_evidence_beside_a_rule_that_it_contradicts) {
  HouseVerdict contested = house("infiniband");
  contested.rules.front().challenge = {"It was done.", "已有先例。"};
  contested.rules.front().challenge_source = "A paper, 2024";
  const Verdict v = verdict(scenario_of(), {infiniband(1, 110), roce(1, 100)}, contested);
  EXPECT_TRUE(mentions(v, "Public evidence against that rule: It was done. [A paper, 2024]"));
}

scenario::FabricChoice fabric(const std::string& profile, const std::string& name) {
  scenario::FabricChoice choice;
  choice.profile.id = profile;
  choice.profile.name = name;
  return choice;
}

/// A scenario that was read from text, so that what is suggested can be read again.
class Tuning : public ::testing::Test {
 protected:
  const catalog::Catalog catalog_ =
      catalog::Catalog::load(std::string(FABRICAST_SOURCE_DIR) + "/catalog");

  scenario::ValidScenario parsed(const std::string& fabrics) const {
    return scenario::parse(
        "name: test\n"
        "cluster: {gpus: 16, gpu: h100-sxm, gpus_per_node: 8, nics_per_node: 8, nic_gbps: 200,\n"
        "  topology: {kind: leaf-spine}}\n" +
            fabrics +
            "workload: {kind: training, model: llama2-7b, precision: bf16, sequence: 4096,\n"
            "  global_batch: 64, micro_batch: 1, parallelism: {tp: 2, dp: 8, zero: 1},\n"
            "  tokens: 1e6}\n",
        "test.yaml", catalog_);
  }
  /// What is said when every fabric but InfiniBand takes `days`, and InfiniBand one.
  Verdict judged(const scenario::ValidScenario& s, double days) const {
    std::vector<Outcome> outcomes;
    for (const auto& choice : s.fabrics) {
      const bool ib = choice.profile.kind == catalog::FabricKind::kInfiniBand;
      outcomes.push_back(
          outcome(choice.profile.name, choice.profile.kind, ib ? 1 : days, 100, 5e5));
      outcomes.back().training.extrapolation_error = 0.01;
    }
    return verdict(s, outcomes, house("roce-v2"), &catalog_);
  }
};

constexpr const char* kUntuned =
    "fabrics:\n"
    "  - {profile: article-infiniband, name: infiniband}\n"
    "  - {profile: article-roce-v2, name: roce-v2}\n";

TEST_F(Tuning, is_suggested_on_the_same_hardware_as_yaml_that_parses_when_pasted) {
  const Verdict v = judged(parsed(kUntuned), 1.1);
  EXPECT_NE(v.next.find("test.yaml"), std::string::npos) << v.next;
  const scenario::ValidScenario followed = parsed(v.next_yaml);
  ASSERT_EQ(followed.fabrics.size(), 3U) << v.next_yaml;
  const auto& before = followed.fabrics[1].profile;
  const auto& after = followed.fabrics[2].profile;
  EXPECT_EQ(after.name, "roce-v2-tuned");
  EXPECT_EQ(after.switch_model, before.switch_model);
  EXPECT_EQ(after.adapter_model, before.adapter_model);
  for (const auto& info : catalog::fabric_parameters()) {
    const bool tuning = info.key.starts_with("paths.") || info.key.starts_with("pfc.") ||
                        info.key.starts_with("ecn.") || info.key.starts_with("dcqcn.");
    const auto& source = tuning ? catalog_.fabric("roce-v2") : before;
    EXPECT_EQ(catalog::parameter(after, info.key), catalog::parameter(source, info.key))
        << info.key;
  }
}

TEST_F(Tuning, is_not_suggested_again_once_it_was_followed) {
  const Verdict v = judged(parsed(kUntuned), 1.1);
  const Verdict again = judged(parsed(v.next_yaml), 1.1);
  EXPECT_EQ(again.next.find("tuning"), std::string::npos) << again.next;
  EXPECT_TRUE(again.next_yaml.empty());
}

TEST_F(Tuning, is_not_suggested_where_there_is_no_gap_beyond_the_error) {
  EXPECT_TRUE(judged(parsed(kUntuned), 1.009).next_yaml.empty());
}

TEST_F(Tuning, keeps_what_the_scenario_says_of_its_fabrics) {
  const scenario::ValidScenario s = parsed(
      "fabrics:\n"
      "  - infiniband\n"
      "  - {profile: roce-v2-untuned, name: \"no: \\\"1\\\"\", switch: sn5400,\n"
      "     link: {mtu_b: 2048}, pfc: {enabled: false}, dcqcn: {cnp_interval_us: 50,\n"
      "     decrease_interval_us: 50, alpha_timer_us: 55, g: 0.00390625, byte_counter_kb: "
      "10000}}\n");
  const Verdict v = judged(s, 1.1);
  const scenario::ValidScenario followed = parsed(v.next_yaml);
  ASSERT_EQ(followed.fabrics.size(), 3U) << v.next_yaml;
  EXPECT_EQ(followed.fabrics[1].profile.name, "no: \"1\"");
  EXPECT_EQ(catalog::digest(followed.fabrics[1].profile), catalog::digest(s.fabrics[1].profile));
  EXPECT_EQ(followed.fabrics[2].profile.switch_model, "sn5400");
  EXPECT_EQ(followed.fabrics[2].profile.link.mtu, s.fabrics[1].profile.link.mtu);
}

TEST(Verdict, suggests_the_size_to_grow_to_until_it_is_reached) {
  scenario::ValidScenario s = scenario_of(32);
  s.constraints.growth_gpus = 64;
  const std::vector<Outcome> outcomes = {infiniband(1, 110), roce(1, 100)};
  const Verdict v = verdict(s, outcomes, house("roce-v2"));
  EXPECT_NE(v.next.find("`gpus: 64`"), std::string::npos) << v.next;
  s.cluster.gpus = 64;
  EXPECT_EQ(verdict(s, outcomes, house("roce-v2")).next.find("`gpus: 64`"), std::string::npos);
}

TEST(Verdict, suggests_a_second_fabric_where_there_is_one) {
  const Verdict v = verdict(scenario_of(), {infiniband(1, 110)}, house("roce-v2"));
  EXPECT_NE(v.next.find("Add `roce-v2` to `fabrics`"), std::string::npos) << v.next;
}

TEST(Verdict, suggests_the_sources_of_what_won_when_nothing_else_is_missing) {
  scenario::ValidScenario s = scenario_of();
  s.fabrics = {fabric("infiniband", "infiniband"), fabric("roce-v2", "mine")};
  std::vector<Outcome> outcomes = {infiniband(1, 110), roce(1, 100)};
  outcomes[1].name = "mine";
  const Verdict v = verdict(s, outcomes, house("roce-v2"));
  EXPECT_NE(v.next.find("`fabricast catalog fabrics roce-v2`"), std::string::npos) << v.next;
}

TEST(Verdict, speaks_both_languages) {
  const Verdict v = verdict(scenario_of(), {infiniband(0.5, 110), roce(1, 100)}, house("roce-v2"));
  for (const Reason& r : v.reasons) {
    EXPECT_FALSE(r.text.empty()) << r.metric;
    EXPECT_FALSE(r.text_zh.empty()) << r.metric;
  }
  EXPECT_FALSE(v.next.empty());
  EXPECT_FALSE(v.next_zh.empty());
}

}  // namespace
}  // namespace fabricast::advice
