#include "serving/requests.h"

#include <cmath>

#include <gtest/gtest.h>

#include "bench.h"

namespace fabricast::serving {
namespace {

using scenario::LengthSpec;

struct Sample {
  double mean = 0;
  double variation = 0;
};

template <class Draw>
Sample sample(Draw draw) {
  constexpr int kDraws = 200'000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = draw();
    sum += x / kDraws;
    squares += x * x / kDraws;
  }
  return {sum, std::sqrt(squares - sum * sum) / sum};
}

TEST(Lengths, have_the_mean_and_the_variation_that_were_asked_for) {
  base::RandomStream random(1, "test");
  const LengthSpec lognormal{.kind = LengthSpec::Kind::kLognormal,
                             .mean = 500,
                             .variation = 0.8,
                             .least = 1,
                             .most = 1 << 20};
  const Sample l = sample([&] { return draw_length(lognormal, random); });
  EXPECT_NEAR(l.mean, 500, 5);
  EXPECT_NEAR(l.variation, 0.8, 0.02);
  const LengthSpec uniform{.kind = LengthSpec::Kind::kUniform, .least = 10, .most = 30};
  const Sample u = sample([&] { return draw_length(uniform, random); });
  EXPECT_NEAR(u.mean, 20, 0.1);
  EXPECT_NEAR(u.variation * u.mean, std::sqrt((21.0 * 21 - 1) / 12), 0.05);
  const LengthSpec exponential{
      .kind = LengthSpec::Kind::kExponential, .mean = 100, .least = 1, .most = 1 << 20};
  EXPECT_NEAR(sample([&] { return draw_length(exponential, random); }).variation, 1, 0.02);
}

TEST(Arrivals, of_a_gamma_process_vary_as_asked_for) {
  base::RandomStream random(1, "test");
  for (const double variation : {0.3, 1.0, 2.5}) {
    const Sample g = sample([&] { return draw_gamma(variation, random); });
    EXPECT_NEAR(g.mean, 1, 0.02) << variation;
    EXPECT_NEAR(g.variation / variation, 1, 0.03) << variation;
  }
}

TEST(Arrivals, come_at_the_stated_rate) {
  scenario::ServingSpec spec = test::service_spec();
  spec.qps = 50;
  RequestSource source(spec, Arrivals::kAsStated, 2, 1);
  double last = 0;
  for (int i = 0; i < 100'000; ++i) last = source.next()->arrival_s;
  EXPECT_NEAR(100'000 / last, 100, 1);
}

TEST(Arrivals, follow_the_profile) {
  scenario::ServingSpec spec = test::service_spec();
  spec.qps = 1'000;
  spec.profile = {{10, 0.5}, {20, 2}, {30, 0}};
  RequestSource source(spec, Arrivals::kAsStated, 1, 1);
  double counts[3] = {};
  while (const auto request = source.next()) {
    ++counts[static_cast<int>(request->arrival_s / 10)];
  }
  EXPECT_NEAR(counts[0], 10'000, 300);
  EXPECT_NEAR(counts[1], 5'000, 220);
  EXPECT_NEAR(counts[2], 20'000, 430);
}

TEST(Arrivals, have_the_same_lengths_at_every_rate) {
  scenario::ServingSpec spec = test::service_spec();
  spec.context = {.kind = LengthSpec::Kind::kUniform, .mean = 500, .least = 1, .most = 999};
  RequestSource slow(spec, Arrivals::kPoisson, 1, 7);
  RequestSource fast(spec, Arrivals::kPoisson, 90, 7);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(slow.next()->input, fast.next()->input);
}

TEST(Arrivals, of_a_trace_are_as_it_says_and_end_with_it) {
  scenario::ServingSpec spec = test::service_spec();
  spec.arrival = scenario::ArrivalKind::kTrace;
  spec.trace = std::make_shared<const scenario::RequestTrace>(scenario::parse_request_trace(
      "arrival_s,input_tokens,output_tokens\n10,5,6\n12,7,8\n", "trace.csv"));
  RequestSource source(spec, Arrivals::kAsStated, 2, 1);
  const auto first = source.next();
  const auto second = source.next();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->arrival_s, 0);
  EXPECT_EQ(second->arrival_s, 1);  // twice as fast
  EXPECT_EQ(second->input, 7);
  EXPECT_EQ(second->output, 8);
  EXPECT_FALSE(source.next());
}

}  // namespace
}  // namespace fabricast::serving
