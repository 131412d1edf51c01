// All published serving runs against the forecast. The tables are not part of the project:
// FABRICAST_DATA names their folder, and without it this test is skipped by name, unless
// FABRICAST_REQUIRE_DATA says that it must not be.

#include <cmath>
#include <cstdlib>
#include <map>

#include <gtest/gtest.h>

#include "base/statistics.h"
#include "validation/inference_check.h"

namespace fabricast::validation {
namespace {

TEST(InferenceCheck, tokens_of_public_runs_come_within_a_fifth_at_the_median) {
  const char* data = std::getenv("FABRICAST_DATA");
  if (data == nullptr || *data == '\0') {
    if (std::getenv("FABRICAST_REQUIRE_DATA") != nullptr) FAIL() << "FABRICAST_DATA is not set";
    GTEST_SKIP() << "FABRICAST_DATA is not set";
  }
  const auto known = catalog::Catalog::load(FABRICAST_SOURCE_DIR "/catalog");
  InferenceCheckOptions options;
  options.data = data;
  options.threads = 2;
  const InferenceCheck check = inference_check(known, options);
  std::map<std::string, std::vector<double>> errors;
  for (const InferenceCheckRow& row : check.rows) {
    errors[row.kind].push_back(100 * std::abs(row.predicted - row.measured) / row.measured);
  }
  EXPECT_LT(base::percentile(errors["inference_tpot"], 50), 20);
  EXPECT_LT(base::percentile(errors["inference_ttft"], 50), 50);
}

}  // namespace
}  // namespace fabricast::validation
