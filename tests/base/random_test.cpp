#include "base/random.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "base/statistics.h"

namespace fabricast::base {
namespace {

TEST(Random, split_mix_reproduces_its_published_sequence) {
  // First outputs for seed 1234567 as listed for java.util.SplittableRandom's mixer (Steele, Lea,
  // Flood 2014) by its independent implementations. mix64 adds the golden gamma itself.
  constexpr std::uint64_t kGamma = 0x9e3779b97f4a7c15ULL;
  constexpr std::uint64_t kExpected[] = {6457827717110365317ULL, 3203168211198807973ULL,
                                         9817491932198370423ULL, 4593380528125082431ULL,
                                         16408922859458223821ULL};
  std::uint64_t state = 1234567;
  for (const std::uint64_t expected : kExpected) {
    EXPECT_EQ(mix64(state), expected);
    state += kGamma;
  }
}

TEST(Random, xoshiro_reproduces_its_published_sequence) {
  // xoshiro256++ 1.0 of Blackman and Vigna from state {1, 2, 3, 4}; the same vector is the
  // reference test of the Rust crate rand_xoshiro.
  constexpr std::uint64_t kExpected[] = {
      41943041ULL,
      58720359ULL,
      3588806011781223ULL,
      3591011842654386ULL,
      9228616714210784205ULL,
      9973669472204895162ULL,
      14011001112246962877ULL,
      12406186145184390807ULL,
      15849039046786891736ULL,
      10450023813501588000ULL,
  };
  RandomStream stream = RandomStream::from_state({1, 2, 3, 4});
  for (const std::uint64_t expected : kExpected) EXPECT_EQ(stream.next(), expected);
}

TEST(Random, names_hash_as_fnv_1a_publishes) {
  // Test vectors of Noll's FNV page, 64-bit FNV-1a.
  EXPECT_EQ(hash_name(""), 0xcbf29ce484222325ULL);
  EXPECT_EQ(hash_name("a"), 0xaf63dc4c8601ec8cULL);
  EXPECT_EQ(hash_name("foobar"), 0x85944171f73967e8ULL);
}

TEST(Random, a_stream_depends_on_seed_name_and_index_alone) {
  RandomStream first(7, "ecmp", 3);
  RandomStream again(7, "ecmp", 3);
  RandomStream other_seed(8, "ecmp", 3);
  RandomStream other_name(7, "skew", 3);
  RandomStream other_index(7, "ecmp", 4);
  const std::uint64_t value = first.next();
  EXPECT_EQ(again.next(), value);
  EXPECT_NE(other_seed.next(), value);
  EXPECT_NE(other_name.next(), value);
  EXPECT_NE(other_index.next(), value);
}

/// Correlation of two streams' uniforms over `n` draws.
double correlation(RandomStream a, RandomStream b, int n) {
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 0; i < n; ++i) {
    x.push_back(a.uniform());
    y.push_back(b.uniform());
  }
  const double mean_x = mean(x);
  const double mean_y = mean(y);
  double covariance = 0;
  for (std::size_t i = 0; i < x.size(); ++i) covariance += (x[i] - mean_x) * (y[i] - mean_y);
  return covariance / (n - 1) / standard_deviation(x) / standard_deviation(y);
}

TEST(Random, neighbouring_streams_are_uncorrelated) {
  // The sample correlation of independent pairs has sigma 1/sqrt(n); five of them leave one false
  // alarm in 1.7 million, and the streams are fixed.
  constexpr int kDraws = 20'000;
  const double bound = 5 / std::sqrt(static_cast<double>(kDraws));
  for (std::uint64_t i = 0; i < 50; ++i) {
    const RandomStream a(1, "background", i);
    EXPECT_LT(std::abs(correlation(a, RandomStream(1, "background", i + 1), kDraws)), bound);
    EXPECT_LT(std::abs(correlation(a, RandomStream(i + 2, "background", i), kDraws)), bound);
  }
}

TEST(Random, first_draws_of_consecutive_streams_are_uniform) {
  // Pearson's chi-squared over 64 cells: mean 63, sigma sqrt(126) = 11.2; five sigma: 119.
  constexpr std::size_t kCells = 64;
  constexpr std::uint64_t kStreams = 64'000;
  std::vector<double> cells(kCells);
  for (std::uint64_t i = 0; i < kStreams; ++i) ++cells[RandomStream(1, "x", i).below(kCells)];
  double chi_squared = 0;
  for (const double count : cells) chi_squared += (count - 1000) * (count - 1000) / 1000;
  EXPECT_LT(chi_squared, 119);
  EXPECT_GT(chi_squared, 7);  // too even is not random either
}

TEST(Random, uniform_has_the_moments_of_its_law) {
  RandomStream stream(1, "uniform");
  std::vector<double> sample;
  sample.reserve(100'000);
  for (int i = 0; i < 100'000; ++i) sample.push_back(stream.uniform());
  // Sigma of the mean: sqrt(1/12/1e5) = 0.00091.
  EXPECT_NEAR(mean(sample), 0.5, 0.005);
  EXPECT_NEAR(standard_deviation(sample), std::sqrt(1.0 / 12), 0.003);
  for (const double x : sample) ASSERT_TRUE(x >= 0 && x < 1);
}

TEST(Random, exponential_has_the_moments_of_its_law) {
  RandomStream stream(1, "exponential");
  std::vector<double> sample;
  sample.reserve(100'000);
  for (int i = 0; i < 100'000; ++i) sample.push_back(stream.exponential(4));
  // Mean and sigma are both 4; sigma of the mean 4/sqrt(1e5) = 0.0126, of sigma about twice that.
  EXPECT_NEAR(mean(sample), 4, 0.063);
  EXPECT_NEAR(standard_deviation(sample), 4, 0.13);
  for (const double x : sample) ASSERT_GE(x, 0);
}

TEST(Random, normal_has_the_moments_and_tails_of_its_law) {
  RandomStream stream(1, "normal");
  std::vector<double> sample;
  int beyond_two = 0;
  for (int i = 0; i < 100'000; ++i) {
    sample.push_back(stream.normal());
    if (std::abs(sample.back()) > 2) ++beyond_two;
  }
  EXPECT_NEAR(mean(sample), 0, 0.016);
  EXPECT_NEAR(standard_deviation(sample), 1, 0.012);
  // P(|x| > 2) = 0.0455; sigma of the count sqrt(1e5 * 0.0455 * 0.9545) = 66.
  EXPECT_NEAR(beyond_two, 4550, 330);
}

TEST(Random, below_is_unbiased_where_a_modulo_would_not_be) {
  // For n = 3 * 2^62 the plain modulo 2^64 mod n gives the lower third twice the weight.
  constexpr std::uint64_t kRange = 3ULL << 62;
  RandomStream stream(1, "below");
  int lower_third = 0;
  constexpr int kDraws = 30'000;
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t x = stream.below(kRange);
    ASSERT_LT(x, kRange);
    if (x < (1ULL << 62)) ++lower_third;
  }
  // Sigma sqrt(30000 * 1/3 * 2/3) = 82; the biased count would be 15,000.
  EXPECT_NEAR(lower_third, 10'000, 410);
}

TEST(Random, below_one_is_always_zero) {
  RandomStream stream(1, "one");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(stream.below(1), 0U);
}

}  // namespace
}  // namespace fabricast::base
