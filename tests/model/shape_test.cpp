#include <gtest/gtest.h>

#include "model/model.h"
#include "models.h"

namespace fabricast::model {
namespace {

using namespace testing;

struct Published {
  catalog::LanguageModel model;
  double parameters;
};

// Tensor sizes summed over each release's weights (safetensors index of the published checkpoints).
TEST(Parameters, equal_the_published_count_to_the_last_weight) {
  const Published cases[] = {
      {llama2_7b(), 6738415616.},     {llama2_13b(), 13015864320.}, {llama2_70b(), 68976648192.},
      {llama3_8b(), 8030261248.},     {llama3_70b(), 70553706496.}, {llama3_405b(), 405853388800.},
      {mixtral_8x7b(), 46702792704.}, {qwen2_72b(), 72706203648.},  {llama32_1b(), 1235814400.}};
  for (const Published& c : cases) EXPECT_EQ(parameters(c.model), c.parameters) << c.model.id;
}

// DeepSeek-V3 technical report (2024), abstract: 671B in total, 37B activated for each token.
TEST(Parameters, of_deepseek_v3_are_671b_of_which_37b_work_on_a_token) {
  EXPECT_NEAR(parameters(deepseek_v3()), 671e9, 0.5e9);
  EXPECT_NEAR(active_parameters(deepseek_v3()), 37e9, 0.7e9);
}

// Jiang et al. 2024, section 1: each token has access to 47B parameters and uses 13B.
TEST(Parameters, of_mixtral_are_47b_of_which_13b_work_on_a_token) {
  EXPECT_NEAR(parameters(mixtral_8x7b()), 47e9, 0.5e9);
  EXPECT_NEAR(active_parameters(mixtral_8x7b()), 13e9, 0.5e9);
}

// Ainslie et al. 2023: K and V shrink with the number of groups. 64 query heads, 8 groups, dim 128.
TEST(Parameters, of_grouped_query_attention_count_only_the_kv_heads) {
  const double q_and_o = 2. * 8192 * 8192;
  const double k_and_v = 2. * 8192 * 8 * 128;
  EXPECT_EQ(attention_parameters(llama2_70b()), q_and_o + k_and_v + 8192);
}

// DeepSeek-V2 (2024), section 2.1: W_DQ, W_UQ, W_DKV with W_KR, W_UK with W_UV, W_O, and two norms.
TEST(Parameters, of_latent_attention_are_its_five_projections) {
  const double expected = 7168. * 1536 + 1536. * 128 * 192 + 7168. * (512 + 64) + 512. * 128 * 256 +
                          128. * 128 * 7168 + 1536 + 512 + 7168;
  EXPECT_EQ(attention_parameters(deepseek_v3()), expected);
}

TEST(Parameters, of_leading_dense_layers_differ_from_expert_layers) {
  EXPECT_EQ(mlp_parameters(deepseek_v3(), 2), 3. * 7168 * 18432 + 7168);
  EXPECT_EQ(mlp_parameters(deepseek_v3(), 3), 257 * 3. * 7168 * 2048 + 256. * 7168 + 7168);
}

TEST(Parameters, of_a_tied_embedding_count_once) {
  EXPECT_EQ(embedding_parameters(llama32_1b()), 128256. * 2048);
  EXPECT_EQ(embedding_parameters(llama3_8b()), 2 * 128256. * 4096);
}

// Kaplan et al. 2020, section 2.1: 6 FLOPs per weight and token; the look-up of the input embedding
// multiplies nothing; causal attention adds 6 x layers x heads x head_dim x s (half of PaLM's 12).
TEST(Flops, per_token_are_six_per_weight_plus_attention) {
  for (const auto& m : {llama2_7b(), llama2_70b(), llama3_8b()}) {
    const double looked_up = static_cast<double>(m.vocabulary) * m.hidden;
    const double attention = 6. * m.layers * m.heads * m.head_dim * 4096;
    const double expected = 6 * (parameters(m) - looked_up) + attention;
    // Norm weights are counted in the parameters but multiply no matrix: below 0.02 %.
    EXPECT_NEAR(training_flops_per_token(m, 4096), expected, 2e-4 * expected) << m.id;
  }
}

TEST(Flops, of_a_mixture_follow_the_active_parameters) {
  const auto m = mixtral_8x7b();
  const double looked_up = static_cast<double>(m.vocabulary) * m.hidden;
  const double attention = 6. * m.layers * m.hidden * 1024;
  const double expected = 6 * (active_parameters(m) - looked_up) + attention;
  EXPECT_NEAR(training_flops_per_token(m, 1024), expected, 2e-4 * expected);
}

TEST(Flops, of_attention_grow_with_the_square_of_the_sequence) {
  const auto m = llama2_7b();
  EXPECT_EQ(forward_flops(m, 0, 8192).attention, 4 * forward_flops(m, 0, 4096).attention);
  EXPECT_EQ(forward_flops(m, 0, 8192).gemm, 2 * forward_flops(m, 0, 4096).gemm);
  // Causal: s^2 / 2 pairs, two products of head_dim multiply-adds, 32 heads of 128.
  EXPECT_EQ(forward_flops(m, 0, 4096).attention, 2. * 4096 * 4096 * 4096);
}

TEST(Stages, share_the_layers_out_with_the_remainder_first) {
  const auto m = llama3_405b();  // 126 layers
  int next = 0;
  for (int stage = 0; stage < 5; ++stage) {
    const StageLayers layers = stage_layers(m, 5, stage);
    EXPECT_EQ(layers.first, next);
    EXPECT_EQ(layers.count, stage < 1 ? 26 : 25);
    next += layers.count;
  }
  EXPECT_EQ(next, 126);
}

// Megatron-Core's account_for_embedding_in_pipeline_split and account_for_loss_in_pipeline_split:
// 126 layers and two ends are 128 places, as NVIDIA cuts Llama 3.1 405B into 8 x 4 parts.
TEST(Stages, count_the_ends_as_layers_where_that_makes_them_even) {
  const auto m = llama3_405b();
  for (const int parts : {4, 8, 32, 64, 128}) {
    int next = 0;
    for (int part = 0; part < parts; ++part) {
      const StageLayers layers = stage_layers(m, parts, part);
      EXPECT_EQ(layers.first, next);
      EXPECT_EQ(layers.count, 128 / parts - (part == 0 || part == parts - 1 ? 1 : 0));
      next += layers.count;
    }
    EXPECT_EQ(next, 126);
  }
}

TEST(Stages, together_hold_every_parameter_once) {
  for (const auto& m : {llama2_70b(), qwen2_72b()}) {
    double sum = 0;
    for (int stage = 0; stage < 8; ++stage) sum += stage_parameters(m, {.pp = 8}, stage);
    EXPECT_DOUBLE_EQ(sum, parameters(m)) << m.id;
  }
}

TEST(Stages, keep_a_second_copy_of_a_tied_embedding_on_the_last_stage) {
  const auto m = llama32_1b();
  const double sum = stage_parameters(m, {.pp = 2}, 0) + stage_parameters(m, {.pp = 2}, 1);
  EXPECT_DOUBLE_EQ(sum, parameters(m) + 128256. * 2048);
  EXPECT_DOUBLE_EQ(stage_parameters(m, {.pp = 1}, 0), parameters(m));
}

TEST(Stages, cut_matrices_by_tp_and_keep_norms_whole) {
  const auto m = llama2_7b();
  const double norms = 65. * 4096;
  EXPECT_DOUBLE_EQ(stage_parameters(m, {.tp = 4}, 0), (parameters(m) - norms) / 4 + norms);
}

TEST(Stages, cut_experts_by_ep_as_well) {
  const auto m = mixtral_8x7b();
  const double experts = 32. * 8 * 3 * 4096 * 14336;
  EXPECT_DOUBLE_EQ(stage_parameters(m, {.dp = 8, .ep = 8}, 0), parameters(m) - experts * 7 / 8);
}

TEST(Parallelism, prints_its_degrees) {
  EXPECT_EQ(to_string({.tp = 4, .pp = 4, .dp = 2}), "tp 4 x pp 4 x dp 2, ZeRO-1");
  EXPECT_EQ(to_string({.dp = 8, .cp = 2, .ep = 8, .zero = 0}), "tp 1 x pp 1 x dp 8 x cp 2, ep 8");
}

}  // namespace
}  // namespace fabricast::model
