// Low-rank adapters (Hu et al. 2021) and LongLoRA (Chen et al. 2023, arXiv 2309.12307).

#include <gtest/gtest.h>

#include "model/layer.h"
#include "models.h"

namespace fabricast::model {
namespace {

using namespace testing;

const std::vector<std::string> kAttention = {"q_proj", "k_proj", "v_proj", "o_proj"};

Finetuning lora(int rank, std::vector<std::string> targets = kAttention) {
  return {.kind = FinetuningKind::kLora, .rank = rank, .targets = std::move(targets)};
}

Finetuning longlora(int rank, int group) {
  return {.kind = FinetuningKind::kLongLora, .rank = rank, .targets = kAttention, .group = group};
}

TrainingShape shape_of(const Finetuning& finetuning, int sequence = 4096) {
  TrainingShape shape;
  shape.sequence = sequence;
  shape.global_batch = 64;
  shape.finetuning = finetuning;
  return shape;
}

// PEFT's print_trainable_parameters of Llama 2 7B: rank 8 on q_proj and v_proj trains 4,194,304
// parameters; rank 64 on all seven matrices 159,907,840.
TEST(Lora, trains_the_parameters_that_peft_counts) {
  EXPECT_EQ(trained_parameters(llama2_7b(), lora(8, {"q_proj", "v_proj"})), 4'194'304);
  EXPECT_EQ(trained_parameters(llama2_7b(), lora(64, {"q_proj", "k_proj", "v_proj", "o_proj",
                                                      "gate_proj", "up_proj", "down_proj"})),
            159'907'840);
}

// Grouped heads: k_proj and v_proj of Llama 2 70B have 1,024 columns.
TEST(Lora, of_grouped_heads_has_narrow_keys_and_values) {
  EXPECT_EQ(trained_parameters(llama2_70b(), lora(16)),
            80. * 16 * ((8192 + 8192) + 2 * (8192 + 1024) + (8192 + 8192)));
}

// Chen et al. 2023, section 3.3: embedding and norms are trained, too; the embedding is below 2 %
// of Llama 2 7B, the norms 0.004 %.
TEST(LongLora, trains_embedding_and_norms_as_well) {
  const auto m = llama2_7b();
  const double embedding = 32000. * 4096;
  const double norms = (2. * 32 + 1) * 4096;
  EXPECT_EQ(trained_parameters(m, longlora(8, 1024)),
            trained_parameters(m, lora(8)) + embedding + norms);
  EXPECT_LT(embedding / parameters(m), 0.02);
  EXPECT_NEAR(norms / parameters(m), 0.00004, 0.000005);
}

TEST(Lora, trains_the_same_however_the_model_is_cut) {
  const auto m = llama2_70b();
  TrainingShape shape = shape_of(lora(16, {"q_proj", "o_proj"}));
  shape.parallelism = {.pp = 8};
  double sum = 0;
  for (int stage = 0; stage < 8; ++stage) sum += stage_trained_parameters(m, shape, stage);
  EXPECT_DOUBLE_EQ(sum, trained_parameters(m, shape.finetuning));
  shape.parallelism = {};
  EXPECT_DOUBLE_EQ(stage_parameters(m, {}, 0, shape.finetuning),
                   parameters(m) + trained_parameters(m, shape.finetuning));
}

// Frozen matrices pass gradients on and have none: 4 N instead of 6 N; adapters have all three.
TEST(Lora, flops_are_four_per_frozen_weight_and_six_per_adapter) {
  const auto m = llama2_7b();
  const double matrices = parameters(m) - 32000. * 4096 - (2. * 32 + 1) * 4096;
  const double attention = 6. * 32 * 4096 * 2048;
  const double expected = 4 * matrices + 6 * trained_parameters(m, lora(16)) + attention;
  EXPECT_NEAR(training_flops_per_token(m, 2048, lora(16)), expected, 1e-9 * expected);
}

// Section 3.2: attention in groups of G tokens costs G instead of S per token.
TEST(LongLora, attention_is_that_of_sequences_as_long_as_a_group) {
  const auto m = llama2_7b();
  const double whole = training_flops_per_token(m, 32768, lora(8));
  const double groups = training_flops_per_token(m, 32768, longlora(8, 8192));
  EXPECT_NEAR(whole - groups, 6. * 32 * 4096 * (32768 - 8192), 1e-3 * (whole - groups));
  const auto gpu = h100();
  const double forward = stage_time(gpu, m, shape_of(lora(8), 32768), 0).forward_s -
                         stage_time(gpu, m, shape_of(longlora(8, 8192), 32768), 0).forward_s;
  const double saved = 32 * 2. * 32768 * (32768 - 8192) * 4096 / (989.4e12 * 0.5);
  EXPECT_NEAR(forward, saved, 0.01 * saved);
}

TEST(Lora, backward_of_frozen_matrices_is_one_product_not_two) {
  catalog::Gpu gpu = h100();
  gpu.memory_gb_per_s = 1e12;
  gpu.kernel_launch_us = 0;
  gpu.attention.efficiency = 1e3;
  const auto m = llama2_7b();
  const StageTime full = stage_time(gpu, m, shape_of({}), 0);
  const StageTime frozen = stage_time(gpu, m, shape_of(lora(16, {"o_proj"})), 0);
  EXPECT_NEAR(full.backward_s, 2 * full.forward_s, 0.01 * full.backward_s);
  // Adapters are narrow: their tiles are mostly padding, so they cost more than their FLOPs.
  EXPECT_GT(frozen.backward_s, full.forward_s);
  EXPECT_LT(frozen.backward_s, 1.05 * full.forward_s);
}

// Gradients take 4 bytes and the optimizer 12 of what is trained; frozen weights 2.
TEST(Lora, memory_is_that_of_frozen_weights_and_little_more) {
  const auto m = llama2_7b();
  const Memory full = memory(m, shape_of({}));
  const Memory frozen = memory(m, shape_of(lora(16)));
  const double trained = trained_parameters(m, lora(16));
  EXPECT_NEAR(frozen.weights_gb, full.weights_gb + 2 * trained * 1e-9, 1e-9);
  EXPECT_NEAR(frozen.gradients_gb, 4 * trained * 1e-9, 1e-9);
  EXPECT_NEAR(frozen.optimizer_gb, 12 * trained * 1e-9, 1e-9);
}

// A frozen matrix needs no input for a gradient of its own: with adapters on attention's output
// alone, a layer keeps the inputs of its norms, Q, K, V, attention's output, the activation
// function's inputs, and the adapter's inner values.
TEST(Lora, keeps_fewer_activations) {
  const auto m = llama2_7b();
  const double plain = 2. * 4096 + 3. * 4096 + 4096 + 2. * 11008;
  EXPECT_DOUBLE_EQ(
      activation_bytes_per_token(m, 0, catalog::Precision::kBf16, lora(16, {"o_proj"})),
      2 * (plain + 16) + 4 * 32);
  EXPECT_DOUBLE_EQ(activation_bytes_per_token(m, 0, catalog::Precision::kBf16),
                   2 * (plain + 2. * 4096 + 11008) + 4 * 32);
}

}  // namespace
}  // namespace fabricast::model
