// Single kernels against formulas; the measured ones are in tests/calibrate.

#include "model/kernels.h"

#include <cmath>

#include <gtest/gtest.h>

#include "models.h"

namespace fabricast::model {
namespace {

using catalog::Precision;
using namespace testing;

catalog::Gpu shipped(const char* id) {
  static const auto known = catalog::Catalog::load(std::string(FABRICAST_SOURCE_DIR) + "/catalog");
  return known.gpu(id);
}

// Roofline (Williams et al. 2009): 2 m n k over the peak where operands are reused, bytes over
// bandwidth where they are not.
TEST(Gemm, is_on_the_roof_that_is_higher) {
  catalog::Gpu gpu = h100();
  gpu.memory_gb_per_s = 1e12;
  EXPECT_NEAR(gemm_s(gpu, Precision::kBf16, 8192, 8192, 8192),
              2 * std::pow(8192., 3) / (989.4e12 * 0.7), 1e-9);
  gpu.memory_gb_per_s = 3350;
  const double bytes = 2. * (8192. * 8192 + 8192 + 8192);
  const double one_token = gemm_s(gpu, Precision::kBf16, 1, 8192, 8192);
  EXPECT_NEAR(one_token, bytes / (3350e9 * 0.9), 0.02 * one_token);
}

// 108 SMs run 108 tiles of 128 x 256 in the time of one, and the 109th takes a wave of its own.
TEST(Gemm, takes_whole_waves_where_the_last_one_is_not_shared) {
  catalog::Gpu gpu = a100();
  gpu.sms = 108;
  gpu.memory_gb_per_s = 1e12;
  gpu.gemm_bf16 = {.efficiency = 1, .edge = 1e4, .waves = 1, .memory_share = 1, .split_us = 1e6};
  const double full = gemm_s(gpu, Precision::kBf16, 128. * 108, 256, 4096);
  EXPECT_NEAR(gemm_s(gpu, Precision::kBf16, 128. * 109, 256, 4096), 2 * full, 0.01 * full);
  gpu.gemm_bf16.waves = 0;
  EXPECT_NEAR(gemm_s(gpu, Precision::kBf16, 128. * 109, 256, 4096), full * 109 / 108, 0.001 * full);
}

TEST(Gemm, pads_its_edges_to_whole_tiles) {
  catalog::Gpu gpu = h100();
  gpu.memory_gb_per_s = 1e12;
  EXPECT_DOUBLE_EQ(gemm_s(gpu, Precision::kBf16, 8191, 8190, 8192),
                   gemm_s(gpu, Precision::kBf16, 8192, 8192, 8192));
}

TEST(Gemm, of_many_groups_fills_the_gpu_like_one_that_is_as_tall) {
  const auto gpu = shipped("h100-sxm");
  const double grouped =
      gemm_s(gpu, Precision::kBf16, {.m = 1024, .n = 4096, .k = 4096, .groups = 8});
  const double tall = gemm_s(gpu, Precision::kBf16, 8192, 4096, 4096);
  EXPECT_GE(grouped, tall);  // it reads eight matrices of weights
  EXPECT_LT(grouped, 1.2 * tall);
}

TEST(Gemm, never_gets_faster_with_more_rows_than_a_tile) {
  const auto gpu = shipped("h100-sxm");
  double before = 0;
  for (int m = 256; m <= 32768; m *= 2) {
    const double t = gemm_s(gpu, Precision::kBf16, m, 4096, 4096);
    EXPECT_GT(t, before) << m;
    before = t;
  }
}

AttentionShape causal(double sequence, double window = 0) {
  return {.queries = sequence,
          .keys = sequence,
          .heads = 32,
          .kv_heads = 8,
          .head_dim = 128,
          .value_dim = 128,
          .window = window};
}

// The band below the diagonal: a window of 1,024 in 65,536 is 1/32 of the half square, and a tile
// of 128 rows beside it.
TEST(Attention, of_a_window_grows_with_the_sequence_and_not_with_its_square) {
  catalog::Gpu gpu = h100();
  const double full = attention_s(gpu, Precision::kBf16, causal(65536));
  const double band = attention_s(gpu, Precision::kBf16, causal(65536, 1024));
  EXPECT_NEAR(band / full, (1024. + 128) / (65536. / 2), 0.02 * band / full);
  EXPECT_NEAR(attention_s(gpu, Precision::kBf16, causal(131072, 1024)), 2 * band, 0.02 * band);
}

TEST(Attention, within_its_window_is_that_without_one) {
  const auto gpu = shipped("h100-sxm");
  EXPECT_DOUBLE_EQ(attention_s(gpu, Precision::kBf16, causal(2048, 4096)),
                   attention_s(gpu, Precision::kBf16, causal(2048)));
}

// Queries behind a cached prefix see all of it: 1,024 after 3,072 do 7/16 of the square's pairs,
// and 4,096 alone 8/16.
TEST(Attention, of_a_continued_prompt_sees_the_whole_prefix) {
  catalog::Gpu gpu = h100();
  AttentionShape shape = causal(4096);
  const double whole = attention_s(gpu, Precision::kBf16, shape);
  shape.queries = 1024;
  EXPECT_NEAR(attention_s(gpu, Precision::kBf16, shape) / whole, 7. / 16, 0.02);
}

TEST(Decoding, reads_keys_and_values_once) {
  const auto gpu = shipped("h100-sxm");
  const DecodeShape shape = {
      .batch = 64, .context = 8192, .kv_heads = 8, .bytes_per_token = 2 * 128 * 2};
  const double bytes = 64. * 8192 * 8 * 512;
  const double read = bytes / (3350e9 * gpu.decode.memory_share);
  EXPECT_GT(decode_attention_s(gpu, shape), read);
  EXPECT_LT(decode_attention_s(gpu, shape), 1.05 * read);
}

TEST(Sustained, load_slows_arithmetic_down_and_not_memory) {
  const auto gpu = shipped("h100-sxm");
  const auto loaded = sustained(gpu);
  EXPECT_DOUBLE_EQ(loaded.bf16_tflops, gpu.bf16_tflops * gpu.sustained_share);
  EXPECT_EQ(loaded.memory_gb_per_s, gpu.memory_gb_per_s);
  const double one = gemm_s(gpu, Precision::kBf16, 1, 8192, 8192);
  EXPECT_NEAR(gemm_s(loaded, Precision::kBf16, 1, 8192, 8192), one, 0.01 * one);
}

}  // namespace
}  // namespace fabricast::model
