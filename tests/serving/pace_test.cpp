#include "serving/pace.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/random.h"

namespace fabricast::serving {
namespace {

TEST(CommCurve, is_straight_between_two_sizes) {
  const CommCurve curve({{100, 1, {1}}, {300, 5, {5}}});
  EXPECT_DOUBLE_EQ(curve.seconds(50, 1, 0), 1);
  EXPECT_DOUBLE_EQ(curve.seconds(200, 1, 0), 3);
  EXPECT_DOUBLE_EQ(curve.seconds(300, 1, 0), 5);
  EXPECT_DOUBLE_EQ(curve.seconds(500, 1, 0), 9);
}

TEST(CommCurve, of_n_runs_deviates_by_the_root_of_n) {
  const CommCurve curve({{100, 2, {1, 3}}});
  EXPECT_DOUBLE_EQ(curve.seconds(100, 1, 0), 1);
  EXPECT_DOUBLE_EQ(curve.seconds(100, 1, 0.9), 3);
  EXPECT_DOUBLE_EQ(curve.seconds(100, 16, 0), 16 * 2 - 4);
  EXPECT_DOUBLE_EQ(curve.seconds(100, 16, 0.9), 16 * 2 + 4);
}

TEST(LargestNormal, has_the_mean_of_the_largest_of_n) {
  // Order statistics of the standard normal: 0.5642 of 2, 1.4236 of 8 (Harter 1961).
  base::RandomStream random(1, "test");
  for (const auto& [n, expected] : {std::pair{1, 0.0}, {2, 0.5642}, {8, 1.4236}}) {
    double sum = 0;
    constexpr int kDraws = 200'000;
    for (int i = 0; i < kDraws; ++i) sum += largest_normal(random.uniform(), n) / kDraws;
    EXPECT_NEAR(sum, expected, 0.01) << n;
  }
}

catalog::LanguageModel mixture() {
  catalog::LanguageModel m;
  m.layers = 8;
  m.hidden = 1'000;
  m.heads = m.kv_heads = 8;
  m.head_dim = 128;
  m.vocabulary = 30'000;
  m.experts = 64;
  m.experts_per_token = 8;
  return m;
}

const CommKind* find(const std::vector<CommKind>& kinds, const std::string& name) {
  for (const CommKind& kind : kinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

TEST(CommKinds, tensor_parallelism_sums_the_hidden_state_twice_per_layer) {
  Deployment d;
  d.shape.tp = 4;
  d.replicas = 2;
  const auto kinds = comm_kinds(mixture(), d);
  const CommKind* sum = find(kinds, "tp all-reduce");
  ASSERT_NE(sum, nullptr);
  EXPECT_EQ(sum->count, 2);
  EXPECT_EQ(sum->bytes_per_token, 2'000);
  ASSERT_EQ(sum->groups.size(), 2U);
  EXPECT_EQ(sum->groups[1].front().index(), 4U);
  EXPECT_EQ(find(kinds, "ep dispatch"), nullptr);
}

TEST(CommKinds, ranks_of_attention_exchange_tokens_with_the_experts) {
  Deployment d;
  d.shape.dp = 16;
  d.shape.expert_parallel = true;
  const auto kinds = comm_kinds(mixture(), d);
  EXPECT_EQ(find(kinds, "tp all-reduce"), nullptr);
  ASSERT_NE(find(kinds, "ep dispatch"), nullptr);
  // Eight copies of a token go out in FP8 and come back in BF16.
  EXPECT_EQ(find(kinds, "ep dispatch")->bytes_per_token, 8'000);
  EXPECT_EQ(find(kinds, "ep combine")->bytes_per_token, 16'000);
  EXPECT_EQ(find(kinds, "ep combine")->groups[0].size(), 16U);
}

TEST(CommKinds, stages_hand_the_hidden_state_on) {
  Deployment d;
  d.shape.tp = 2;
  d.shape.pp = 3;
  const auto kinds = comm_kinds(mixture(), d);
  const CommKind* on = find(kinds, "pp activations");
  ASSERT_NE(on, nullptr);
  ASSERT_EQ(on->groups.size(), 4U);
  EXPECT_EQ(on->groups[0][0].index(), 0U);
  EXPECT_EQ(on->groups[0][1].index(), 2U);
}

}  // namespace
}  // namespace fabricast::serving
