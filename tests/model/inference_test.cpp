#include "model/inference.h"

#include <gtest/gtest.h>

#include "model/kernels.h"
#include "model/model.h"

namespace fabricast::model {
namespace {

using catalog::Precision;

const catalog::Catalog& shipped() {
  static const auto known = catalog::Catalog::load(std::string(FABRICAST_SOURCE_DIR) + "/catalog");
  return known;
}

const catalog::Gpu& h100() {
  return shipped().gpu("h100-sxm-80gb");
}

TEST(InferenceMemory, weights_are_the_parameters_at_their_precision) {
  const auto& m = shipped().model("llama2-70b");
  const double head_and_embedding = 2.0 * m.vocabulary * m.hidden;
  const double layers = parameters(m) - head_and_embedding;
  EXPECT_NEAR(weight_bytes(m, {.precision = Precision::kBf16}, 0) / (2 * parameters(m)), 1, 1e-3);
  EXPECT_NEAR(
      weight_bytes(m, {.precision = Precision::kFp8}, 0) / (layers + 2 * head_and_embedding), 1,
      1e-3);
  // NVFP4: 4.5 bits with the scales.
  EXPECT_NEAR(weight_bytes(m, {.precision = Precision::kFp4}, 0) /
                  (layers * 4.5 / 8 + 2 * head_and_embedding),
              1, 1e-3);
  EXPECT_NEAR(weight_bytes(m, {.precision = Precision::kBf16, .tp = 8}, 0) / (parameters(m) / 4), 1,
              1e-3);
}

TEST(InferenceMemory, experts_spread_over_ranks_take_as_much_as_cut_ones) {
  const auto& m = shipped().model("deepseek-v3");
  const InferenceShape spread{.dp = 32, .expert_parallel = true};
  double routed = 0;
  for (int layer = 0; layer < m.layers; ++layer) {
    if (layer >= m.dense_layers) routed += 3.0 * m.experts * m.hidden * m.expert_feed_forward;
  }
  EXPECT_NEAR(weight_bytes(m, spread, 0) / (2 * (parameters(m) - routed + routed / 32)), 1, 1e-3);
}

TEST(InferenceMemory, a_token_caches_the_published_bytes) {
  // 2 x 8 heads x 128 x 2 B x 80 layers of Llama 2 70B; 2 x 32 x 128 x 2 B x 32 of 7B; DeepSeek-V2
  // (arXiv 2405.04434, table 1): (4 + 1/2) head dimensions of latent per layer, 576 values.
  EXPECT_EQ(cache_bytes_per_token(shipped().model("llama2-70b"), {}, 0), 327'680);
  EXPECT_EQ(cache_bytes_per_token(shipped().model("llama2-7b"), {}, 0), 524'288);
  EXPECT_EQ(cache_bytes_per_token(shipped().model("deepseek-v3"), {.tp = 8}, 0), 576.0 * 2 * 61);
  EXPECT_EQ(cache_bytes_per_token(shipped().model("llama2-70b"), {.tp = 8}, 0), 327'680 / 8);
  // A head is not cut.
  EXPECT_EQ(cache_bytes_per_token(shipped().model("llama2-70b"), {.tp = 16}, 0), 327'680 / 8);
}

TEST(InferenceTimes, one_sequence_takes_the_time_of_reading_the_weights) {
  const auto& m = shipped().model("llama2-13b");
  const InferenceTimes times(h100(), m, {}, 0);
  const double read = 2 * parameters(m) / (h100().memory_gb_per_s * 1e9);
  const double token = times.layers_s(1, 1) + times.head_s(1) + times.decodes_s({1, 128, 128});
  EXPECT_GT(token, read);
  EXPECT_LT(token, 1.5 * read);
}

TEST(InferenceTimes, long_prompts_take_the_time_of_their_flops) {
  const auto& m = shipped().model("llama2-13b");
  const catalog::Gpu gpu = sustained(h100());
  const InferenceTimes times(h100(), m, {}, 0);
  const double tokens = 8192;
  const double flops = 2 * (parameters(m) - embedding_parameters(m)) * tokens;
  const double taken = times.layers_s(8192, 8192);
  EXPECT_GT(taken, flops / (gpu.bf16_tflops * 1e12));
  EXPECT_LT(taken, 1.6 * flops / (gpu.bf16_tflops * 1e12));
}

TEST(InferenceTimes, attention_of_a_chunk_grows_with_what_is_cached_before_it) {
  const InferenceTimes times(h100(), shipped().model("llama3-8b"), {}, 0);
  const double alone = times.prompts_s({{2048, 2048}});
  const double after = times.prompts_s({{2048, 32'768}});
  // 2048 queries see 1,024 keys on average alone, 31,744 behind 30,720 others.
  EXPECT_GT(after / alone, 10);
  EXPECT_LT(after / alone, 31);
}

TEST(InferenceTimes, chunks_of_a_batch_share_one_kernel) {
  // Four heads of a short chunk leave most of the GPU to other chunks.
  const InferenceTimes times(h100(), shipped().model("llama3-8b"), {.tp = 8}, 0);
  const double one = times.prompts_s({{16, 512}});
  const double eight = times.prompts_s(std::vector<PromptChunk>(8, {16, 512}));
  EXPECT_LT(eight, 3 * one);
}

TEST(InferenceTimes, generation_reads_what_is_cached) {
  const auto& m = shipped().model("llama2-7b");
  const InferenceTimes times(h100(), m, {}, 0);
  const double keys = 64 * 4096;
  const double bytes = keys * cache_bytes_per_token(m, {}, 0);
  EXPECT_NEAR(times.decodes_s({64, keys, keys}) / (bytes / (h100().memory_gb_per_s * 1e9)), 1,
              0.15);
}

TEST(InferenceTimes, few_tokens_read_few_experts) {
  const auto& m = shipped().model("mixtral-8x7b");
  const InferenceTimes times(h100(), m, {.tp = 8}, 0);
  // Two of eight experts for one token, all of them for a hundred.
  const double one = times.layers_s(1, 1);
  const double hundred = times.layers_s(100, 100);
  EXPECT_GT(hundred / one, 1.8);
}

TEST(InferenceTimes, four_bit_weights_are_read_in_a_quarter_where_nothing_computes_in_them) {
  const auto& m = shipped().model("llama2-70b");
  const InferenceTimes wide(h100(), m, {.tp = 8}, 0);
  const InferenceTimes narrow(h100(), m, {.precision = Precision::kFp4, .tp = 8}, 0);
  EXPECT_LT(narrow.layers_s(1, 1) / wide.layers_s(1, 1), 0.75);
  EXPECT_GT(narrow.layers_s(4096, 4096) / wide.layers_s(4096, 4096), 0.9);
}

}  // namespace
}  // namespace fabricast::model
