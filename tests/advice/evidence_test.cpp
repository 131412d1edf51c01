#include <algorithm>

#include <gtest/gtest.h>

#include "advice/advice.h"
#include "outcomes.h"

namespace fabricast::advice {
namespace {

using namespace testing;

std::string choice(const scenario::ValidScenario& s, const std::vector<Outcome>& outcomes) {
  return verdict(s, outcomes, house("infiniband")).choice;
}

TEST(Evidence, chooses_the_lowest_cost_per_million_tokens) {
  // 10 % faster against 5 % dearer, then 10 % faster against 20 % dearer.
  EXPECT_EQ(choice(scenario_of(), {infiniband(0.9, 105), roce(1, 100)}), "infiniband");
  EXPECT_EQ(choice(scenario_of(), {infiniband(0.9, 120), roce(1, 100)}), "roce-v2");
}

TEST(Evidence, scores_every_outcome_by_its_cost_per_million_tokens) {
  const Verdict v = verdict(scenario_of(), {infiniband(0.9, 105), roce(1, 100)}, house("roce-v2"));
  EXPECT_DOUBLE_EQ(v.evidence.score.at("infiniband"), 0.9 * 24 * 105);
  EXPECT_DOUBLE_EQ(v.evidence.score.at("roce-v2"), 24 * 100);
}

TEST(Evidence, prefers_the_cheaper_network_when_costs_differ_by_less_than_one_percent) {
  const Verdict v =
      verdict(scenario_of(), {infiniband(0.9, 110.4), roce(1, 100)}, house("roce-v2"));
  EXPECT_LT(v.evidence.score.at("infiniband"), v.evidence.score.at("roce-v2"));
  EXPECT_EQ(v.choice, "roce-v2");
  EXPECT_NE(v.reasons.front().text.find("less than 1.0 %"), std::string::npos);
  EXPECT_NE(v.reasons.front().text.find("its network is the cheaper one"), std::string::npos);
}

/// 2.9 % between the costs of the two.
std::vector<Outcome> near(double error) {
  std::vector<Outcome> outcomes = {infiniband(0.98, 105), roce(1, 100)};
  outcomes[1].training.extrapolation_error = error;
  return outcomes;
}

TEST(Evidence, does_not_decide_within_what_the_extrapolation_may_change_a_run_by) {
  const Verdict v = verdict(scenario_of(), near(0.04), house("infiniband"));
  EXPECT_EQ(v.evidence.headline.en,
            "The evidence: level within the error of the run: infiniband, roce-v2");
  EXPECT_NE(v.evidence.headline.zh.find("误差之内"), std::string::npos);
  EXPECT_EQ(v.evidence.level, (std::vector<std::string>{"infiniband", "roce-v2"}));
  EXPECT_NE(v.reasons.front().text.find("less than 4.0 %"), std::string::npos);
  EXPECT_TRUE(std::none_of(v.reasons.begin(), v.reasons.end(), [](const Reason& r) {
    return r.text.find("The voices part") != std::string::npos;
  }));
}

TEST(Evidence, decides_beyond_what_the_extrapolation_may_change_a_run_by) {
  const Verdict v = verdict(scenario_of(), near(0.02), house("infiniband"));
  EXPECT_EQ(v.evidence.headline.en, "The evidence chooses: roce-v2");
  EXPECT_EQ(v.evidence.level, (std::vector<std::string>{"roce-v2"}));
}

TEST(Evidence, among_level_ones_with_networks_of_one_price_names_the_cheaper_work) {
  EXPECT_EQ(choice(scenario_of(), {tcp(1.005, 100, 5e5), roce(1, 100)}), "roce-v2");
}

TEST(Evidence, says_that_one_node_needs_no_network) {
  scenario::ValidScenario s = scenario_of(8);
  s.cluster.topology.nodes = 1;
  const Verdict v = verdict(s, {infiniband(1, 105), roce(1, 100)}, house("infiniband"));
  EXPECT_EQ(v.evidence.headline.en,
            "The evidence: no network between nodes is needed, all fabrics do equally");
  EXPECT_NE(v.reasons.front().text.find("never uses the network"), std::string::npos);
  EXPECT_EQ(v.house.choice, "infiniband");  // the house always has one choice
  EXPECT_TRUE(v.flips.empty());
  EXPECT_TRUE(std::none_of(v.reasons.begin(), v.reasons.end(), [](const Reason& r) {
    return r.text.find("The voices part") != std::string::npos;
  }));
}

TEST(Evidence, breaks_no_tie_above_one_percent) {
  EXPECT_EQ(choice(scenario_of(), {infiniband(0.9, 109.9), roce(1, 100)}), "infiniband");
}

TEST(Evidence, leaves_out_what_is_over_the_budget) {
  scenario::ValidScenario s = scenario_of();
  s.budget = scenario::Budget{8.6e6, "CNY"};
  const std::vector<Outcome> outcomes = {infiniband(0.5, 100), roce(1, 100), tcp(2, 100)};
  EXPECT_EQ(choice(s, outcomes), "roce-v2");
  const Verdict v = verdict(s, outcomes, house("roce-v2"));
  EXPECT_EQ(v.evidence.headline.en,
            "The evidence chooses: roce-v2; over the budget of 8,600,000 CNY: infiniband");
  EXPECT_EQ(v.reasons.front().text,
            "Over the budget of 8,600,000 CNY and left out: infiniband 8,900,000 CNY.");
  s.budget->total = 8.9e6;
  EXPECT_EQ(choice(s, outcomes), "infiniband");
}

TEST(Evidence, names_the_cheapest_cluster_when_nothing_is_within_the_budget) {
  scenario::ValidScenario s = scenario_of();
  s.budget = scenario::Budget{1e6, "CNY"};
  const Verdict v = verdict(s, {infiniband(0.5, 100), roce(1, 100), tcp(2, 100)}, house("roce-v2"));
  EXPECT_EQ(v.choice, "tcp");
  EXPECT_EQ(v.evidence.headline.en,
            "The evidence: every fabric is over the budget of 1,000,000 CNY; nearest: tcp");
  EXPECT_NE(v.reasons.front().text.find("No fabric is within the budget"), std::string::npos);
}

TEST(Evidence, says_that_a_budget_in_another_currency_was_not_applied) {
  scenario::ValidScenario s = scenario_of();
  s.budget = scenario::Budget{1, "USD"};
  const Verdict v = verdict(s, {infiniband(0.5, 100), roce(1, 100)}, house("roce-v2"));
  EXPECT_EQ(v.choice, "infiniband");
  EXPECT_TRUE(std::any_of(v.reasons.begin(), v.reasons.end(), [](const Reason& r) {
    return r.text.find("not applied") != std::string::npos;
  }));
}

TEST(Evidence, is_not_moved_by_existing_ethernet_alone) {
  scenario::ValidScenario s = scenario_of();
  s.constraints.existing_ethernet = true;
  EXPECT_EQ(choice(s, {infiniband(0.5, 100), roce(1, 100)}), "infiniband");
}

TEST(Evidence, of_a_single_fabric_is_that_fabric) {
  const Verdict v = verdict(scenario_of(), {roce(1, 100)}, house("infiniband"));
  EXPECT_EQ(v.choice, "roce-v2");
  EXPECT_TRUE(v.flips.empty());
  EXPECT_FALSE(v.next.empty());
}

const Flip* find(const Verdict& v, const std::string& input) {
  const auto found =
      std::find_if(v.flips.begin(), v.flips.end(), [&](const Flip& f) { return f.input == input; });
  return found == v.flips.end() ? nullptr : &*found;
}

/// The choice when the runner-up's run is `share` of the length at which the flip is said to be.
std::string choice_near_days_flip(const Outcome& winner, const Outcome& loser, double share) {
  const Verdict v = verdict(scenario_of(), {winner, loser}, house("roce-v2"));
  EXPECT_EQ(v.choice, winner.name);
  const Flip* flip = find(v, "training.days of " + loser.name);
  if (!flip) return "no flip";
  EXPECT_EQ(flip->to, loser.name);
  Outcome moved = loser;
  moved.training.days = flip->at * share;
  moved.cost.per_million_tokens = moved.cost.per_hour * moved.training.days * 24;
  return verdict(scenario_of(), {winner, moved}, house("roce-v2")).choice;
}

TEST(Flips, in_the_length_of_the_run_change_the_choice_where_they_say) {
  const Outcome ib = infiniband(0.8, 105);
  const Outcome eth = roce(1, 100);
  EXPECT_EQ(choice_near_days_flip(ib, eth, 1.0001), "infiniband");
  EXPECT_EQ(choice_near_days_flip(ib, eth, 0.9999), "roce-v2");
  // The dearer network has to be more than 1 % ahead.
  const Outcome slow_ib = infiniband(1, 105);
  EXPECT_EQ(choice_near_days_flip(eth, slow_ib, 1.0001), "roce-v2");
  EXPECT_EQ(choice_near_days_flip(eth, slow_ib, 0.9999), "infiniband");
}

// One profile beside a variant of it: the same devices, the same run within its error.
TEST(Flips, are_none_between_fabrics_that_price_and_run_alike) {
  Outcome variant = roce(1.001, 100);
  variant.name = "variant";
  EXPECT_TRUE(verdict(scenario_of(), {roce(1, 100), variant}, house("roce-v2")).flips.empty());
}

TEST(Flips, are_sentences_with_the_value_now_in_the_unit_of_the_table) {
  // Costs 5 % apart: infiniband would have to be 1 % cheaper than roce-v2.
  const double day = 1440;
  const Verdict v = verdict(scenario_of(), {infiniband(44.7 / day, 105), roce(44.7 / day, 100)},
                            house("roce-v2"));
  const Flip* flip = find(v, "training.days of infiniband");
  ASSERT_NE(flip, nullptr);
  EXPECT_NEAR(flip->at * day, 44.7 / 1.05 / 1.01, 1e-9);
  EXPECT_EQ(flip->unit, "days");
  EXPECT_EQ(flip->text.en, "infiniband, if its run took less than 42.1 min (now 44.7 min).");
  EXPECT_EQ(flip->text.zh, "infiniband：若其用时少于 42.1 分钟（现为 44.7 分钟）。");
}

TEST(Flips, in_the_budget_name_what_more_money_would_buy) {
  scenario::ValidScenario s = scenario_of();
  s.budget = scenario::Budget{8.6e6, "CNY"};
  const Verdict v = verdict(s, {infiniband(0.5, 100), roce(1, 100)}, house("roce-v2"));
  const Flip* flip = find(v, "budget.total");
  ASSERT_NE(flip, nullptr);
  EXPECT_EQ(flip->to, "infiniband");
  EXPECT_DOUBLE_EQ(flip->at, 8.9e6);
  EXPECT_EQ(flip->unit, "CNY");
  EXPECT_EQ(flip->text.en, "infiniband, with a budget of 8,900,000 CNY (now 8,600,000 CNY).");
}

TEST(Flips, in_the_budget_are_silent_when_more_money_buys_nothing_better) {
  scenario::ValidScenario s = scenario_of();
  s.budget = scenario::Budget{8.6e6, "CNY"};
  EXPECT_EQ(find(verdict(s, {infiniband(2, 100), roce(1, 100)}, house("roce-v2")), "budget.total"),
            nullptr);
}

/// Flips in prices need the real cost model.
class PriceFlips : public ::testing::Test {
 protected:
  static constexpr double kTokens = 1e8;
  const catalog::Catalog catalog_ =
      catalog::Catalog::load(std::string(FABRICAST_SOURCE_DIR) + "/catalog");

  Outcome priced(Outcome o) const {
    o.bill.power_kw = 40;
    o.bill.capex = o.bill.gpu_capex + o.bill.network_capex;
    o.cost = cost::cost_of(catalog_, o.bill, o.training.days * 24, kTokens);
    return o;
  }
  Verdict judge(const Outcome& a, const Outcome& b) const {
    return verdict(scenario_of(), {priced(a), priced(b)}, house("roce-v2"), &catalog_);
  }
};

TEST_F(PriceFlips, in_the_network_change_the_choice_where_they_say) {
  const Outcome ib = infiniband(0.9, 0);
  const Outcome eth = roce(1, 0);
  const Verdict v = judge(ib, eth);
  ASSERT_EQ(v.choice, "infiniband");
  const Flip* flip = find(v, "cost.network_capex of infiniband");
  ASSERT_NE(flip, nullptr);
  EXPECT_EQ(flip->to, "roce-v2");
  EXPECT_GT(flip->at, ib.bill.network_capex);
  EXPECT_EQ(flip->unit, "CNY");
  EXPECT_TRUE(flip->text.en.starts_with("roce-v2, if the network of infiniband cost more than "));
  EXPECT_TRUE(flip->text.en.ends_with(" CNY (now 900,000 CNY)."));
  Outcome dearer = ib;
  dearer.bill.network_capex = flip->at * 0.999;
  EXPECT_EQ(judge(dearer, eth).choice, "infiniband");
  dearer.bill.network_capex = flip->at * 1.001;
  EXPECT_EQ(judge(dearer, eth).choice, "roce-v2");
}

TEST_F(PriceFlips, of_a_cheaper_network_allow_for_its_one_percent) {
  const Outcome ib = infiniband(1, 0);
  const Outcome eth = roce(0.995, 0);
  const Verdict v = judge(ib, eth);
  ASSERT_EQ(v.choice, "roce-v2");
  const Flip* flip = find(v, "cost.network_capex of roce-v2");
  ASSERT_NE(flip, nullptr);
  Outcome dearer = eth;
  dearer.bill.network_capex = flip->at * 0.999;
  EXPECT_EQ(judge(ib, dearer).choice, "roce-v2");
  dearer.bill.network_capex = flip->at * 1.001;
  EXPECT_EQ(judge(ib, dearer).choice, "infiniband");
}

TEST_F(PriceFlips, in_the_gpus_change_the_choice_where_they_say) {
  // A dearer network that saves 5 % pays while GPUs are dear enough.
  const Outcome ib = infiniband(0.95, 0);
  const Outcome eth = roce(1, 0);
  const Verdict v = judge(ib, eth);
  const Flip* flip = find(v, "price of one GPU with its share of the server");
  ASSERT_NE(flip, nullptr);
  const auto choice_at = [&](double share) {
    Outcome a = ib;
    Outcome b = eth;
    a.bill.gpu_capex = b.bill.gpu_capex = flip->at * 32 * share;
    return judge(a, b).choice;
  };
  EXPECT_NE(choice_at(0.99), choice_at(1.01));
  EXPECT_EQ(choice_at(flip->at * 32 < ib.bill.gpu_capex ? 0.99 : 1.01), flip->to);
}

}  // namespace
}  // namespace fabricast::advice
