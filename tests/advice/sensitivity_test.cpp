// What each price would have to be for another choice, against arithmetic by hand.

#include "advice/sensitivity.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "advice/claims.h"
#include "outcomes.h"

namespace fabricast::advice {
namespace {

const catalog::Catalog& shipped() {
  static const catalog::Catalog catalog = catalog::Catalog::load(FABRICAST_SOURCE_DIR "/catalog");
  return catalog;
}

/// A cluster that is one GPU and one switch, at work for `days`.
Outcome with_switch(const std::string& id, double days) {
  Outcome o;
  o.name = id;
  o.training.days = days;
  o.bill.currency = "CNY";
  cost::BomLine network;
  network.item = id;
  network.count = 1;
  network.part = cost::Part::kSwitch;
  cost::BomLine gpu;
  gpu.item = "h100-sxm-80gb";
  gpu.count = 1;
  gpu.part = cost::Part::kGpu;
  o.bill.lines = {network, gpu};
  o.bill = cost::repriced(shipped(), o.bill);
  o.cost = cost::cost_of(shipped(), o.bill, days * 24, 1e6);
  return o;
}

const Sensitivity* of(const std::vector<Sensitivity>& all, const std::string& input) {
  const auto found = std::ranges::find(all, input, &Sensitivity::input);
  return found == all.end() ? nullptr : &*found;
}

// No watts: the cost of the work is in proportion to (switch + GPU) x days, so that the choice
// turns where (own + GPU) = (rival + GPU) x rival's days / own days.
TEST(Sensitivity, finds_the_price_at_which_the_choice_turns) {
  const Outcome choice = with_switch("qm9700", 1);
  const Outcome rival = with_switch("sn5600", 1.1);
  const auto price = [](const char* id) {
    return shipped().price(id).likely * shipped().price("usd-cny").likely;
  };
  const double at = (price("sn5600") + price("h100-sxm-80gb")) * 1.1 - price("h100-sxm-80gb");
  const std::vector<Sensitivity> all = sensitivities(shipped(), choice, rival);
  const Sensitivity* s = of(all, "qm9700");
  ASSERT_NE(s, nullptr);
  ASSERT_TRUE(s->flip_at.has_value());
  EXPECT_NEAR(*s->flip_at * shipped().price("usd-cny").likely, at, 1e-3 * at);
}

TEST(Sensitivity, is_lower_for_the_choice_the_dearer_its_own_parts) {
  const std::vector<Sensitivity> all =
      sensitivities(shipped(), with_switch("qm9700", 1), with_switch("sn5600", 1.1));
  const Sensitivity* own = of(all, "qm9700");
  const Sensitivity* others = of(all, "sn5600");
  ASSERT_TRUE(own != nullptr && others != nullptr);
  EXPECT_GT(own->margin_low_pct, own->margin_likely_pct);
  EXPECT_LT(own->margin_high_pct, own->margin_likely_pct);
  EXPECT_LT(others->margin_low_pct, others->margin_likely_pct);
  EXPECT_DOUBLE_EQ(own->margin_likely_pct, others->margin_likely_pct);
}

// Both write off over the same years: with no energy in it, years change both alike.
TEST(Sensitivity, leaves_out_what_moves_both_alike) {
  const std::vector<Sensitivity> all =
      sensitivities(shipped(), with_switch("qm9700", 1), with_switch("sn5600", 1.1));
  EXPECT_EQ(of(all, "depreciation-years"), nullptr);
}

TEST(BreakEven, crosses_where_owning_costs_what_renting_does) {
  const Outcome o = with_switch("qm9700", 1);
  const std::vector<BreakEven> all = break_evens(shipped(), "h100-sxm-80gb", 1, o, nullptr);
  ASSERT_EQ(all.size(), 1U);
  ASSERT_TRUE(all[0].crossing.has_value());
  const double rent =
      shipped().price("rental-h100-sxm-80gb").likely * shipped().price("usd-cny").likely;
  // No watts: per_hour / share = rent.
  EXPECT_NEAR(*all[0].crossing, 100 * o.cost.per_hour / rent, 1.5);
}

TEST(BreakEven, has_no_rent_of_a_gpu_that_nobody_rents_out) {
  EXPECT_TRUE(break_evens(shipped(), "a10", 1, with_switch("qm9700", 1), nullptr).empty());
}

TEST(Claims, about_money_are_judged_by_a_bill) {
  for (const Claim& claim : cost_claims(shipped())) {
    EXPECT_NE(claim.verdict, "unverifiable") << claim.id << ": " << claim.evidence.en;
    EXPECT_FALSE(claim.evidence.zh.empty()) << claim.id;
  }
}

TEST(Claims, of_the_file_have_a_source) {
  const std::vector<Claim> claims = read_claims(FABRICAST_SOURCE_DIR "/catalog/claims.yaml");
  EXPECT_GE(claims.size(), 8U);
  for (const Claim& claim : claims) EXPECT_EQ(claim.evidence.en.back(), ']') << claim.id;
}

}  // namespace
}  // namespace fabricast::advice
