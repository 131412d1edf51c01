// What is best, under each objective and what is asked beside it.

#include <gtest/gtest.h>

#include "advice/evidence.h"
#include "outcomes.h"

namespace fabricast::advice {
namespace {

using namespace testing;
using scenario::Objective;

scenario::ValidScenario wanting(Objective objective, double max_days = 0) {
  scenario::ValidScenario s = scenario_of();
  s.objective = objective;
  s.constraints.max_days = max_days;
  return s;
}

/// Quick and dear to buy, in between, slow and cheap; the middle does the work for least.
std::vector<Outcome> three() {
  return {infiniband(1, 150, 9e5), roce(1.2, 100, 5e5), tcp(3, 90, 1e5)};
}

std::string choice(const scenario::ValidScenario& s) {
  return weigh(s, three()).verdict.choice;
}

TEST(Objective, decides_what_is_best) {
  EXPECT_EQ(choice(wanting(Objective::kValue)), "roce-v2");
  EXPECT_EQ(choice(wanting(Objective::kCheapest)), "tcp");
  EXPECT_EQ(choice(wanting(Objective::kFastest)), "infiniband");
}

TEST(Objective, counts_only_what_is_done_in_time) {
  EXPECT_EQ(choice(wanting(Objective::kCheapest, 2)), "roce-v2");
  EXPECT_EQ(choice(wanting(Objective::kValue, 1.1)), "infiniband");
}

TEST(Objective, names_the_quickest_when_nothing_is_in_time) {
  const scenario::ValidScenario s = wanting(Objective::kCheapest, 0.5);
  const std::vector<Outcome> outcomes = three();
  const Evidence evidence = weigh(s, outcomes);
  EXPECT_TRUE(evidence.unmet);
  EXPECT_EQ(evidence.verdict.choice, "infiniband");
  EXPECT_NE(headline(s, outcomes, evidence).en.find("no fabric is done within 0.500 days"),
            std::string::npos);
}

TEST(Objective, keeps_to_the_budget) {
  scenario::ValidScenario s = wanting(Objective::kFastest);
  s.budget = scenario::Budget{.total = 8.6e6, .currency = "CNY"};
  EXPECT_EQ(weigh(s, three()).verdict.choice, "roce-v2");
}

// Within one percent of the time the cheaper network is named.
TEST(Objective, does_not_pay_for_a_speed_that_is_no_difference) {
  EXPECT_EQ(weigh(wanting(Objective::kFastest), {infiniband(1, 150, 9e5), roce(1.005, 100, 5e5)})
                .verdict.choice,
            "roce-v2");
}

TEST(Rival, is_the_next_in_cost_whose_network_has_another_price) {
  const std::vector<Outcome> outcomes = {roce(1, 100, 5e5), tcp(1.01, 100, 5e5),
                                         infiniband(1, 110, 9e5)};
  const Evidence evidence = weigh(scenario_of(), outcomes);
  ASSERT_NE(rival_of(outcomes, evidence), nullptr);
  EXPECT_EQ(rival_of(outcomes, evidence)->name, "infiniband");
}

}  // namespace
}  // namespace fabricast::advice
