#include "base/histogram.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/statistics.h"

namespace fabricast::base {
namespace {

TEST(Histogram, percentiles_are_within_a_thousandth_of_the_sorted_sample) {
  RandomStream random(1, "test");
  Histogram histogram;
  std::vector<double> sample;
  for (int i = 0; i < 10'000; ++i) {
    sample.push_back(std::exp(3 * random.normal()));
    histogram.add(sample.back());
  }
  for (const double percent : {1.0, 50.0, 90.0, 99.0, 99.9, 100.0}) {
    const double exact = percentile(sample, percent);
    EXPECT_NEAR(histogram.percentile(percent) / exact, 1, 1e-3) << percent;
  }
  EXPECT_NEAR(histogram.mean() / mean(sample), 1, 1e-12);
}

TEST(Histogram, variation_is_sigma_over_mean) {
  Histogram histogram;
  for (const double value : {1.0, 3.0}) histogram.add(value);
  EXPECT_DOUBLE_EQ(histogram.variation(), 0.5);
}

TEST(Histogram, of_zeros_is_zero) {
  Histogram histogram;
  histogram.add(0);
  histogram.add(0);
  EXPECT_EQ(histogram.percentile(50), 0);
  EXPECT_EQ(histogram.percentile(100), 0);
}

TEST(Histogram, of_nothing_is_zero) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.mean(), 0);
  EXPECT_EQ(histogram.variation(), 0);
}

}  // namespace
}  // namespace fabricast::base
