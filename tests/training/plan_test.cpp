// Which ranks talk, how much and how often, against Megatron's own description and the volumes of
// the papers.

#include "training/plan.h"

#include <gtest/gtest.h>

#include "../model/models.h"
#include "jobs.h"

namespace fabricast::training {
namespace {

using collective::Op;

std::vector<std::vector<std::uint32_t>> numbers(
    const std::vector<std::vector<base::Rank>>& groups) {
  std::vector<std::vector<std::uint32_t>> result;
  for (const auto& group : groups) {
    auto& row = result.emplace_back();
    for (const base::Rank rank : group) row.push_back(rank.index());
  }
  return result;
}

const Phase* find(const Plan& plan, const std::string& name) {
  for (const Phase& phase : plan.phases) {
    if (phase.name == name) return &phase;
  }
  return nullptr;
}

TEST(Groups, are_those_of_megatrons_own_example) {
  // megatron/core/parallel_state.py, initialize_model_parallel: 16 GPUs, tensor 2, pipeline 4.
  const model::Parallelism p{.tp = 2, .pp = 4, .dp = 2};
  using Rows = std::vector<std::vector<std::uint32_t>>;
  EXPECT_EQ(numbers(tensor_groups(p)),
            (Rows{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {10, 11}, {12, 13}, {14, 15}}));
  EXPECT_EQ(numbers(gradient_groups(p)),
            (Rows{{0, 2}, {1, 3}, {4, 6}, {5, 7}, {8, 10}, {9, 11}, {12, 14}, {13, 15}}));
  // Pipeline groups {0, 4, 8, 12}, {1, 5, 9, 13}, ...: neighbours are 4 apart.
  for (const auto& pair : numbers(pipeline_pairs(p, false))) EXPECT_EQ(pair[1], pair[0] + 4);
  for (const auto& pair : numbers(pipeline_pairs(p, true))) EXPECT_EQ(pair[0], pair[1] + 4);
  EXPECT_EQ(pipeline_pairs(p, false).size(), 3U * 4);
}

TEST(Plan, tensor_parallel_volume_is_four_all_reduces_per_layer_and_micro_batch) {
  // Shoeybi et al. 2019: two all-reduces of b s h forward and two backward per layer; with sequence
  // parallelism each is a reduce-scatter and an all-gather of the same size.
  const auto spec = test::job(model::testing::llama2_7b(), {.tp = 8, .dp = 1});
  const Plan plan = training::plan(spec, test::h100(), test::machine(8));
  for (const char* name : {"tp all-gather", "tp reduce-scatter"}) {
    const Phase* phase = find(plan, name);
    ASSERT_NE(phase, nullptr);
    EXPECT_EQ(phase->size.count(), 2LL * 4096 * 4096);
    EXPECT_DOUBLE_EQ(phase->times_per_step, 4.0 * 32 * spec.shape.micro_batches());
    EXPECT_TRUE(phase->inside_nodes);
  }
}

TEST(Plan, tensor_groups_larger_than_a_node_use_the_fabric) {
  const auto spec = test::job(model::testing::llama2_7b(), {.tp = 8, .dp = 1});
  EXPECT_FALSE(
      find(training::plan(spec, test::h100(), test::machine(4)), "tp all-gather")->inside_nodes);
}

TEST(Plan, gradients_of_a_step_are_four_bytes_per_parameter) {
  const auto m = model::testing::llama2_7b();
  const auto spec = test::job(m, {.tp = 1, .dp = 16});
  const Plan plan = training::plan(spec, test::h100(), test::machine(8));
  const Phase* phase = find(plan, "dp gradients");
  ASSERT_NE(phase, nullptr);
  EXPECT_EQ(phase->op, Op::kReduceScatter);
  const double bytes = static_cast<double>(phase->size.count()) * phase->times_per_step;
  EXPECT_NEAR(bytes, 4 * model::parameters(m), 1e-6 * bytes);
  // Buckets of at most 40 M parameters (Megatron-Core's default at dp 16).
  EXPECT_LE(static_cast<double>(phase->size.count()), 160e6 + 4);
}

TEST(Plan, without_zero_gradients_are_all_reduced_and_no_parameters_gathered) {
  const auto spec = test::job(model::testing::llama2_7b(), {.tp = 8, .dp = 2, .zero = 0});
  const Plan plan = training::plan(spec, test::h100(), test::machine(8));
  EXPECT_EQ(find(plan, "dp gradients")->op, Op::kAllReduce);
  EXPECT_EQ(find(plan, "dp parameters"), nullptr);
}

TEST(Plan, activations_between_stages_are_split_over_tensor_ranks) {
  const auto spec = test::job(model::testing::llama2_70b(), {.tp = 4, .pp = 4, .dp = 2});
  const Plan plan = training::plan(spec, test::h100(), test::machine(4));
  EXPECT_EQ(find(plan, "pp activations")->size.count(), 2LL * 4096 * 8192 / 4);
  EXPECT_EQ(find(plan, "pp activations")->groups.size(), 3U * 8);
}

TEST(Plan, fp8_does_not_shrink_messages) {
  auto spec = test::job(model::testing::llama2_70b(), {.tp = 4, .pp = 4, .dp = 2});
  const Plan bf16 = training::plan(spec, test::h100(), test::machine(4));
  spec.shape.precision = catalog::Precision::kFp8;
  const Plan fp8 = training::plan(spec, test::h100(), test::machine(4));
  ASSERT_EQ(bf16.phases.size(), fp8.phases.size());
  for (std::size_t i = 0; i < bf16.phases.size(); ++i) {
    EXPECT_EQ(bf16.phases[i].size, fp8.phases[i].size) << bf16.phases[i].name;
  }
}

TEST(Plan, experts_exchange_every_token_k_times) {
  const auto m = model::testing::mixtral_8x7b();
  const auto spec = test::job(m, {.tp = 1, .dp = 8, .ep = 8});
  const Plan plan = training::plan(spec, test::h100(), test::machine(8));
  const Phase* phase = find(plan, "ep exchange");
  ASSERT_NE(phase, nullptr);
  EXPECT_EQ(phase->op, Op::kAllToAll);
  EXPECT_EQ(phase->size.count(), 2LL * 4096 * 4096 * 2);
  EXPECT_DOUBLE_EQ(phase->times_per_step, 4.0 * 32 * spec.shape.micro_batches());
}

}  // namespace
}  // namespace fabricast::training
