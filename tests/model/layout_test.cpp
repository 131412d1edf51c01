#include <algorithm>

#include <gtest/gtest.h>

#include "model/model.h"
#include "models.h"

namespace fabricast::model {
namespace {

using namespace testing;

TrainingShape article_shape(catalog::Precision precision = catalog::Precision::kFp8) {
  TrainingShape shape;
  shape.sequence = 4096;
  shape.global_batch = 512;
  shape.micro_batch = 1;
  shape.precision = precision;
  return shape;
}

/// The keys of what check_layout objects to.
std::vector<std::string> objections(const catalog::Gpu& gpu, const catalog::LanguageModel& m,
                                    const TrainingShape& shape, int gpus, int gpus_per_node) {
  std::vector<std::string> keys;
  for (const LayoutProblem& p : check_layout(gpu, m, shape, gpus, gpus_per_node)) {
    keys.push_back(p.key);
    EXPECT_FALSE(p.found.empty()) << p.key;
    EXPECT_FALSE(p.allowed.empty()) << p.key;
  }
  return keys;
}

using Keys = std::vector<std::string>;

TEST(CheckLayout, accepts_7b_on_a_node_of_eight) {
  TrainingShape shape = article_shape();
  shape.parallelism = {.tp = 2, .dp = 4};
  EXPECT_EQ(objections(h100(), llama2_7b(), shape, 8, 8), Keys{});
}

// NVIDIA A100 data sheet: no FP8 tensor cores. H100: no FP4.
TEST(CheckLayout, refuses_a_precision_that_the_gpu_cannot_compute_in) {
  TrainingShape shape = article_shape();
  shape.parallelism = {.tp = 2, .dp = 4};
  EXPECT_EQ(objections(a100(), llama2_7b(), shape, 8, 8), Keys{"workload.precision"});
  shape.precision = catalog::Precision::kFp4;
  EXPECT_EQ(objections(h100(), llama2_7b(), shape, 8, 8), Keys{"workload.precision"});
}

TEST(CheckLayout, refuses_degrees_whose_product_is_not_the_cluster) {
  TrainingShape shape = article_shape();
  shape.parallelism = {.tp = 2, .dp = 8};
  EXPECT_EQ(objections(h100(), llama2_7b(), shape, 8, 8), Keys{"workload.parallelism"});
}

TEST(CheckLayout, refuses_tensor_parallelism_that_leaves_the_node) {
  TrainingShape shape = article_shape();
  shape.parallelism = {.tp = 8, .pp = 4};
  EXPECT_EQ(objections(h100(), llama2_70b(), shape, 32, 4), Keys{"workload.parallelism.tp"});
}

TEST(CheckLayout, refuses_tensor_parallelism_that_does_not_divide_the_kv_heads) {
  TrainingShape shape = article_shape();
  shape.parallelism = {.tp = 16, .pp = 2};
  EXPECT_EQ(objections(h100(), llama2_70b(), shape, 32, 16), Keys{"workload.parallelism.tp"});
}

TEST(CheckLayout, refuses_a_batch_that_does_not_divide) {
  TrainingShape shape = article_shape();
  shape.parallelism = {.tp = 2, .dp = 4};
  shape.global_batch = 510;
  EXPECT_EQ(objections(h100(), llama2_7b(), shape, 8, 8), Keys{"workload.global_batch"});
}

TEST(CheckLayout, refuses_more_stages_than_layers) {
  TrainingShape shape = article_shape();
  shape.parallelism = {.pp = 64};
  EXPECT_EQ(objections(h100(), llama2_7b(), shape, 64, 8), Keys{"workload.parallelism.pp"});
}

// deepspeed/runtime/pipe/engine.py asserts the same.
TEST(CheckLayout, refuses_zero_2_with_a_pipeline) {
  TrainingShape shape = article_shape();
  shape.parallelism = {.tp = 2, .pp = 2, .dp = 2, .zero = 2};
  EXPECT_EQ(objections(h100(), llama2_7b(), shape, 8, 8), Keys{"workload.parallelism.zero"});
}

TEST(CheckLayout, refuses_expert_parallelism_of_a_dense_model) {
  TrainingShape shape = article_shape();
  shape.parallelism = {.tp = 2, .dp = 4, .ep = 2};
  EXPECT_EQ(objections(h100(), llama2_7b(), shape, 8, 8), Keys{"workload.parallelism.ep"});
}

// 18 bytes x 69e9 parameters = 1242 GB of states against 4 x 80 GB.
TEST(CheckLayout, refuses_70b_on_four_gpus_for_memory) {
  TrainingShape shape = article_shape();
  shape.parallelism = {.tp = 4};
  shape.recompute = Recompute::kFull;
  const auto problems = check_layout(h100(), llama2_70b(), shape, 4, 4);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].key, "workload.model");
  EXPECT_NE(problems[0].found.find("GB per GPU"), std::string::npos);
  EXPECT_EQ(problems[0].allowed, "at most 80.0 GB of h100-sxm-80gb");
  EXPECT_TRUE(choose_layouts(h100(), llama2_70b(), article_shape(), 4, 4, 200).empty());
}

struct Case {
  catalog::LanguageModel model;
  int gpus;
  int gpus_per_node;
};

// The article's three training runs.
TEST(ChooseLayouts, finds_layouts_that_pass_the_check_for_the_articles_runs) {
  const Case cases[] = {{llama2_7b(), 8, 4},   {llama2_7b(), 8, 8},   {llama2_13b(), 16, 4},
                        {llama2_13b(), 16, 8}, {llama2_70b(), 32, 4}, {llama2_70b(), 32, 8}};
  for (const Case& c : cases) {
    const auto choices =
        choose_layouts(h100(), c.model, article_shape(), c.gpus, c.gpus_per_node, 200);
    ASSERT_FALSE(choices.empty()) << c.model.id;
    EXPECT_LE(choices.size(), 5U);
    for (const LayoutChoice& choice : choices) {
      EXPECT_EQ(objections(h100(), c.model, choice.shape, c.gpus, c.gpus_per_node), Keys{});
      EXPECT_LE(choice.memory.total_gb, 80);
      EXPECT_GT(choice.estimated_step_s, 0);
    }
  }
}

TEST(ChooseLayouts, puts_the_fastest_first) {
  const auto choices = choose_layouts(h100(), llama2_70b(), article_shape(), 32, 4, 200);
  EXPECT_TRUE(std::is_sorted(choices.begin(), choices.end(), [](const auto& a, const auto& b) {
    return a.estimated_step_s < b.estimated_step_s;
  }));
}

// No estimate may be better than all GPUs computing without a pause at the peak.
TEST(ChooseLayouts, never_estimates_faster_than_the_peak_allows) {
  const auto m = llama2_70b();
  const double flops = training_flops_per_token(m, 4096) * 4096 * 512;
  for (const LayoutChoice& c : choose_layouts(h100(), m, article_shape(), 32, 4, 200)) {
    EXPECT_GT(c.estimated_step_s, flops / (32 * 1978.9e12 * 0.6));
  }
}

TEST(ChooseLayouts, recomputes_only_where_memory_asks_for_it) {
  for (const LayoutChoice& c : choose_layouts(h100(), llama2_70b(), article_shape(), 32, 4, 200)) {
    if (c.shape.recompute == Recompute::kNone) continue;
    TrainingShape kept = c.shape;
    kept.recompute = Recompute::kNone;
    EXPECT_GT(memory(llama2_70b(), kept).total_gb, 80) << to_string(kept.parallelism);
  }
}

TEST(ChooseLayouts, prefers_less_communication_on_a_slow_network) {
  const auto fast = choose_layouts(h100(), llama2_7b(), article_shape(), 32, 8, 400);
  const auto slow = choose_layouts(h100(), llama2_7b(), article_shape(), 32, 8, 1);
  ASSERT_FALSE(fast.empty());
  ASSERT_FALSE(slow.empty());
  EXPECT_LT(slow[0].shape.parallelism.dp, fast[0].shape.parallelism.dp);
}

TEST(ChooseLayouts, works_on_a_single_gpu) {
  TrainingShape shape = article_shape();
  const auto choices = choose_layouts(h100(), llama32_1b(), shape, 1, 8, 200);
  ASSERT_EQ(choices.size(), 1U);
  EXPECT_EQ(choices[0].shape.parallelism.gpus(), 1);
}

}  // namespace
}  // namespace fabricast::model
