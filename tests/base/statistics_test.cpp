#include "base/statistics.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace fabricast::base {
namespace {

TEST(Statistics, mean_of_nothing_is_zero) {
  EXPECT_EQ(mean({}), 0);
}

TEST(Statistics, standard_deviation_divides_by_n_minus_one) {
  // Squares of the deviations from 5: 9 1 1 1 0 0 4 16 = 32; 32 / 7.
  EXPECT_DOUBLE_EQ(standard_deviation({2, 4, 4, 4, 5, 5, 7, 9}), std::sqrt(32.0 / 7));
}

TEST(Statistics, one_value_has_no_spread) {
  EXPECT_EQ(standard_deviation({3}), 0);
}

TEST(Statistics, a_small_spread_on_a_large_mean_keeps_its_digits) {
  // The naive sum of squares loses this to cancellation (NIST StRD, NumAcc4: sigma = 0.1).
  std::vector<double> sample{10000000.2};
  for (int i = 0; i < 500; ++i) {
    sample.push_back(10000000.1);
    sample.push_back(10000000.3);
  }
  EXPECT_NEAR(standard_deviation(sample), 0.1, 1e-8);
}

TEST(Statistics, percentiles_are_nearest_rank) {
  const std::vector<double> sample{50, 15, 40, 20, 35};
  EXPECT_EQ(percentile(sample, 5), 15);   // rank ceil(0.25) = 1
  EXPECT_EQ(percentile(sample, 30), 20);  // ceil(1.5) = 2
  EXPECT_EQ(percentile(sample, 40), 20);  // exactly 2
  EXPECT_EQ(percentile(sample, 50), 35);  // ceil(2.5) = 3
  EXPECT_EQ(percentile(sample, 100), 50);
}

TEST(Statistics, a_percentage_without_exact_binary_form_does_not_slip_a_rank) {
  std::vector<double> sample;
  for (int i = 1; i <= 1000; ++i) sample.push_back(i);
  EXPECT_EQ(percentile(sample, 99.9), 999);
  EXPECT_EQ(percentile(sample, 99), 990);
}

}  // namespace
}  // namespace fabricast::base
