// The score of a validation: of medians, so that a long log does not dominate.

#include "report/validation.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace fabricast::report {
namespace {

ValidationRow row(const std::string& group, double measured, double predicted) {
  return {"training", group + " row", "step_time_s", group, measured, predicted, "a table"};
}

/// Two tables, of errors 10, 20, 30 % and 1, 3 %.
ValidationResult two_tables() {
  ValidationResult result;
  result.rows = {row("a", 100, 110), row("a", 100, 80), row("a", 100, 130), row("b", 100, 101),
                 row("b", 100, 97)};
  result.skipped = {{"training", "c:1", "no model `x`"},
                    {"training", "c:2", "no model `x`"},
                    {"", "c:3", "nothing measured"}};
  return result;
}

// Nearest rank: the median of {20, 1} is the first of two, the 90th percentile of five the last.
TEST(Validation, scores_the_median_of_the_tables_medians) {
  const auto json = nlohmann::json::parse(validation_json(two_tables()));
  const auto& kind = json["kinds"]["training"];
  EXPECT_EQ(kind["rows"], 5);
  EXPECT_NEAR(kind["median_error_pct"].get<double>(), 1, 1e-9);
  EXPECT_NEAR(kind["p90_error_pct"].get<double>(), 30, 1e-9);
  EXPECT_NEAR(json["rows"][1]["error_pct"].get<double>(), 20, 1e-9);
}

TEST(Validation, counts_as_skipped_what_could_have_been_predicted) {
  const auto json = nlohmann::json::parse(validation_json(two_tables()));
  EXPECT_EQ(json["kinds"]["training"]["skipped"], 2);
  EXPECT_EQ(json["skipped"].size(), 3U);
}

TEST(Validation, names_each_reason_once) {
  const std::string text = validation_table(two_tables(), {}, true);
  EXPECT_NE(text.find("Skipped c:1 and 1 more: no model `x`"), std::string::npos) << text;
  EXPECT_EQ(text.find("c:2"), std::string::npos);
  EXPECT_NE(text.find("Skipped c:3: nothing measured"), std::string::npos);
}

TEST(Validation, shows_every_row_of_each_table_or_the_worst_first) {
  const std::string all = validation_table(two_tables(), {}, true);
  EXPECT_LT(all.find("+10.0"), all.find("+30.0"));
  EXPECT_LT(all.find("+30.0"), all.find("+1.0"));
  EXPECT_NE(all.find("\n  a "), std::string::npos) << all;  // its own line below the kind
  const std::string worst = validation_table(two_tables(), {});
  EXPECT_GT(worst.find("+10.00"), worst.find("+30.00"));
}

}  // namespace
}  // namespace fabricast::report
