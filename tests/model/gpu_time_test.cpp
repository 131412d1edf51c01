#include <gtest/gtest.h>

#include "model/model.h"
#include "models.h"

namespace fabricast::model {
namespace {

using namespace testing;

TrainingShape shape_of(Parallelism p, catalog::Precision precision = catalog::Precision::kBf16) {
  TrainingShape shape;
  shape.global_batch = 64;
  shape.parallelism = p;
  shape.precision = precision;
  return shape;
}

/// A GPU whose memory and launches cost nothing: only arithmetic is left.
catalog::Gpu arithmetic_only() {
  catalog::Gpu gpu = h100();
  gpu.memory_gb_per_s = 1e12;
  gpu.kernel_launch_us = 0;
  return gpu;
}

struct Work {
  double gemm = 0;
  double attention = 0;
};

Work forward_work(const catalog::LanguageModel& m, int sequence) {
  Work work;
  for (int layer = 0; layer < m.layers; ++layer) {
    work.gemm += forward_flops(m, layer, sequence).gemm;
    work.attention += forward_flops(m, layer, sequence).attention;
  }
  return work;
}

/// The diagonal goes through whole tiles of 128 queries and 128 keys.
double tiled(double attention, int sequence) {
  return attention * (1 + 128. / sequence);
}

TEST(StageTime, is_flops_over_peak_times_efficiency_when_memory_is_free) {
  const auto gpu = arithmetic_only();
  const auto m = llama2_7b();
  const Work work = forward_work(m, 4096);
  const double gemm_rate = 989.4e12 * 0.7;
  const double attention_rate = 989.4e12 * 0.5;
  const double head = output_head_flops(m, 4096) / gemm_rate;
  const StageTime t = stage_time(gpu, m, shape_of({}), 0);
  const double attention = tiled(work.attention, 4096) / attention_rate;
  const double forward = work.gemm / gemm_rate + attention + head;
  EXPECT_NEAR(t.forward_s, forward, 1e-6 * forward);
  // Each product has two gradients; fused attention repeats the scores: 5 products against 2.
  const double backward = 2 * work.gemm / gemm_rate + 2.5 * attention + 2 * head;
  EXPECT_NEAR(t.backward_s, backward, 1e-6 * backward);
}

TEST(StageTime, of_fp8_speeds_up_only_the_matrices_of_the_layers) {
  const auto gpu = arithmetic_only();
  const auto m = llama2_7b();
  const double bf16 = stage_time(gpu, m, shape_of({}), 0).forward_s;
  const double fp8 = stage_time(gpu, m, shape_of({}, catalog::Precision::kFp8), 0).forward_s;
  const double saved = forward_work(m, 4096).gemm * (1 / (0.7 * 989.4e12) - 1 / (0.6 * 1978.9e12));
  EXPECT_NEAR(bf16 - fp8, saved, 1e-6 * bf16);
}

TEST(StageTime, of_recomputation_is_one_more_forward_of_the_layers) {
  const auto gpu = arithmetic_only();
  const auto m = llama2_7b();
  TrainingShape shape = shape_of({});
  const StageTime kept = stage_time(gpu, m, shape, 0);
  shape.recompute = Recompute::kFull;
  const StageTime again = stage_time(gpu, m, shape, 0);
  const double head = output_head_flops(m, 4096) / (989.4e12 * 0.7);
  EXPECT_EQ(again.forward_s, kept.forward_s);
  EXPECT_NEAR(again.backward_s - kept.backward_s, kept.forward_s - head, 1e-6 * kept.forward_s);
}

TEST(StageTime, is_divided_by_tensor_and_context_parallelism) {
  const auto gpu = arithmetic_only();
  const auto m = llama3_8b();
  const double whole = stage_time(gpu, m, shape_of({}), 0).forward_s;
  EXPECT_NEAR(stage_time(gpu, m, shape_of({.tp = 4}), 0).forward_s, whole / 4, 1e-6 * whole);
  EXPECT_NEAR(stage_time(gpu, m, shape_of({.cp = 2}), 0).forward_s, whole / 2, 1e-6 * whole);
}

TEST(StageTime, of_all_stages_together_is_that_of_the_whole_model) {
  const auto gpu = h100();
  const auto m = llama2_7b();
  double sum = 0;
  for (int stage = 0; stage < 4; ++stage)
    sum += stage_time(gpu, m, shape_of({.pp = 4}), stage).forward_s;
  const double whole = stage_time(gpu, m, shape_of({}), 0).forward_s;
  EXPECT_NEAR(sum, whole, 1e-9 * whole);
}

// Roofline (Williams et al. 2009): a micro-batch of one token reads every bf16 weight once, so that
// the forward pass takes bytes over bandwidth (90 % of it is reached); attention's one tile and the
// elementwise kernels add 2 % at most.
TEST(StageTime, of_a_single_token_is_the_time_to_read_the_weights) {
  catalog::Gpu gpu = h100();
  gpu.kernel_launch_us = 0;
  const auto m = llama2_7b();
  TrainingShape shape = shape_of({});
  shape.sequence = 1;
  const double read = 2 * (parameters(m) - 32000. * 4096) / (3350e9 * 0.9);
  EXPECT_NEAR(stage_time(gpu, m, shape, 0).forward_s, read, 0.02 * read);
}

TEST(StageTime, grows_with_the_launch_gap_by_kernels) {
  catalog::Gpu gpu = h100();
  const auto m = llama2_7b();
  gpu.kernel_launch_us = 0;
  const double without = stage_time(gpu, m, shape_of({}), 0).forward_s;
  gpu.kernel_launch_us = 2;
  const double with = stage_time(gpu, m, shape_of({}), 0).forward_s;
  // Per layer two norms, two residuals and the activation function; embedding 1, cross-entropy 3.
  // GEMMs and attention have their launch in their curves.
  EXPECT_NEAR(with - without, (32 * 5 + 4) * 2e-6, 1e-9);
}

// Adam moves 34 bytes per parameter of the shard: gradient twice, three fp32 states read and
// written, one bf16 weight written.
TEST(StageTime, of_the_optimizer_is_its_bytes_over_bandwidth) {
  const auto m = llama2_7b();
  const StageTime t = stage_time(h100(), m, shape_of({.dp = 8}), 0);
  EXPECT_NEAR(t.optimizer_s, 34 * parameters(m) / 8 / (3350e9 * 0.9), 1e-9);
}

// The router's eight columns are padded to a tile of sixteen.
TEST(StageTime, of_a_mixture_follows_the_active_experts) {
  const auto gpu = arithmetic_only();
  const auto m = mixtral_8x7b();
  const Work work = forward_work(m, 4096);
  const double expected = (work.gemm + output_head_flops(m, 4096)) / (989.4e12 * 0.7) +
                          tiled(work.attention, 4096) / (989.4e12 * 0.5);
  EXPECT_NEAR(stage_time(gpu, m, shape_of({}), 0).forward_s, expected, 3e-4 * expected);
}

TEST(StageTime, of_experts_is_the_same_when_they_are_spread) {
  const auto gpu = arithmetic_only();
  const auto m = mixtral_8x7b();
  const double alone = stage_time(gpu, m, shape_of({.dp = 8}), 0).forward_s;
  EXPECT_NEAR(stage_time(gpu, m, shape_of({.dp = 8, .ep = 8}), 0).forward_s, alone, 1e-6 * alone);
}

}  // namespace
}  // namespace fabricast::model
