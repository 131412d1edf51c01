// All published training runs against the forecast. The tables are not part of the project:
// FABRICAST_DATA names their folder, and without it this test is skipped by name, unless
// FABRICAST_REQUIRE_DATA says that it must not be.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include <gtest/gtest.h>

#include "base/statistics.h"
#include "validation/training_check.h"

namespace fabricast::validation {
namespace {

TEST(TrainingCheck, public_rows_are_met_within_a_fifth_at_the_median) {
  const char* data = std::getenv("FABRICAST_DATA");
  if (data == nullptr || *data == '\0') {
    if (std::getenv("FABRICAST_REQUIRE_DATA") != nullptr) FAIL() << "FABRICAST_DATA is not set";
    GTEST_SKIP() << "FABRICAST_DATA is not set";
  }
  const auto known = catalog::Catalog::load(FABRICAST_SOURCE_DIR "/catalog");
  TrainingCheckOptions options;
  options.data = data;
  options.threads = 2;
  const TrainingCheck check = training_check(known, options);
  std::map<std::string, std::vector<double>> tables;
  for (const TrainingCheckRow& row : check.rows) {
    tables[row.file].push_back(100 * std::abs(row.predicted - row.measured) / row.measured);
  }
  std::vector<double> medians;
  for (const auto& [table, errors] : tables) medians.push_back(base::percentile(errors, 50));
  EXPECT_LT(base::percentile(medians, 50), 20);
  const auto missed =
      std::ranges::count_if(check.skipped, [](const auto& s) { return s.measures; });
  EXPECT_LE(static_cast<double>(missed), 0.1 * static_cast<double>(check.rows.size() + missed));
}

}  // namespace
}  // namespace fabricast::validation
