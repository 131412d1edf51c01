#include <gtest/gtest.h>

#include "model/model.h"
#include "models.h"

namespace fabricast::model {
namespace {

using namespace testing;

TrainingShape shape_of(Parallelism p, int global_batch = 64) {
  TrainingShape shape;
  shape.global_batch = global_batch;
  shape.parallelism = p;
  return shape;
}

double states_gb(const Memory& m) {
  return m.weights_gb + m.gradients_gb + m.optimizer_gb;
}

// Megatron Core user guide, "Distributed Optimizer": bf16 parameters with fp32 gradients take 18
// bytes per parameter, 6 + 12/d with the optimizer sharded over d.
TEST(Memory, of_the_states_is_18_bytes_per_parameter_unsharded) {
  const double n = parameters(llama2_7b()) * 1e-9;
  EXPECT_NEAR(states_gb(memory(llama2_7b(), shape_of({.dp = 8, .zero = 0}))), 18 * n, 1e-6);
}

TEST(Memory, under_zero_1_is_6_plus_12_over_d_bytes_per_parameter) {
  const double n = parameters(llama2_7b()) * 1e-9;
  EXPECT_NEAR(states_gb(memory(llama2_7b(), shape_of({.dp = 8, .zero = 1}))), (6 + 12. / 8) * n,
              1e-6);
}

// Rajbhandari et al. 2020, figure 1, with 4-byte gradients: 2 + (4 + 12) / d.
TEST(Memory, under_zero_2_shards_the_gradients_as_well) {
  const double n = parameters(llama2_7b()) * 1e-9;
  EXPECT_NEAR(states_gb(memory(llama2_7b(), shape_of({.dp = 8, .zero = 2}))), (2 + 16. / 8) * n,
              1e-6);
}

// Rajbhandari et al. 2020, figure 1: 18 / d; the layers being computed are gathered besides.
TEST(Memory, under_zero_3_shards_everything_but_the_gathered_layers) {
  const double n = parameters(llama2_7b()) * 1e-9;
  const double gathered = 2 * 2 * n / 33;
  EXPECT_NEAR(states_gb(memory(llama2_7b(), shape_of({.dp = 8, .zero = 3}))),
              18. / 8 * n + gathered, 1e-6);
}

// NeMo's FP8 recipe (fp8_params) keeps weights in FP8 with a transpose and no bf16 ones: 2 bytes.
TEST(Memory, of_the_states_in_fp8_is_that_of_bf16) {
  TrainingShape shape = shape_of({.dp = 8});
  const Memory bf16 = memory(llama2_7b(), shape);
  shape.precision = catalog::Precision::kFp8;
  EXPECT_DOUBLE_EQ(states_gb(memory(llama2_7b(), shape)), states_gb(bf16));
}

// Transformer Engine keeps GEMM inputs in 8 bits: of a GPT layer's 32 sbh the inputs of QKV and of
// the MLP (2 + 2 become 1 + 1) and of the last matrix (8 become 4) shrink, the output matrix keeps
// one of its own beside attention's output (+ 1): 27 sbh.
TEST(Memory, of_activations_in_fp8_halves_the_inputs_of_matrices) {
  const auto m = gpt3_175b();
  TrainingShape shape = shape_of({.tp = 8, .pp = 4}, 64);
  shape.precision = catalog::Precision::kFp8;
  const double layer = 4096. * (27 * 12288. + 4 * 96) / 8 * 1e-9;
  EXPECT_NEAR(memory(m, shape).activations_gb, 24 * 4 * layer, 1e-6);
}

// Megatron-Bridge's performance summary (26.04, 26.06): Llama 3.1 405B in FP8 on 1,024 H100 of 80
// GB with tp 8, pp 8, cp 2, micro-batch 1, sequence 8192. (Its interleaved stages hold more
// activations, its bf16 gradients less, than is counted here.)
TEST(Memory, lets_the_published_405b_run_fit_on_h100) {
  TrainingShape shape = shape_of({.tp = 8, .pp = 8, .dp = 8, .cp = 2}, 1536);
  shape.sequence = 8192;
  shape.precision = catalog::Precision::kFp8;
  EXPECT_LE(memory(llama3_405b(), shape).total_gb, 80);
}

// Korthikanti et al. 2022, equation 4, without the score matrices that fused attention drops and
// without the two dropout masks (2 sbh): 32 sbh / t per layer; then its section 4.3 for the head.
TEST(Memory, of_activations_is_32_sbh_per_layer_of_a_gpt) {
  const auto m = gpt3_175b();
  const Memory got = memory(m, shape_of({.tp = 8}));
  const double sbh = 4096. * 12288;
  const double log_sum_exp = 4. * 4096 * 96;
  const double head = 4 * sbh + 4. * 4096 * 51200;
  EXPECT_NEAR(got.activations_gb, (96 * (32 * sbh + log_sum_exp) + head) / 8 * 1e-9, 1e-6);
}

// Narayanan et al. 2021, section 2.2: 1F1B keeps at most pp micro-batches of the first stage.
TEST(Memory, of_activations_grows_with_micro_batches_up_to_the_depth_of_the_pipeline) {
  const auto m = gpt3_175b();
  const double layer = 4096. * (32 * 12288. + 4 * 96) / 8 * 1e-9;
  EXPECT_NEAR(memory(m, shape_of({.tp = 8, .pp = 4}, 64)).activations_gb, 24 * 4 * layer, 1e-6);
  EXPECT_NEAR(memory(m, shape_of({.tp = 8, .pp = 4}, 3)).activations_gb, 24 * 3 * layer, 1e-6);
}

// Korthikanti et al. 2022, table 2: full recomputation keeps 2 sbh per layer (a 1/t shard of it
// under sequence parallelism), and one layer is whole while its backward pass runs.
TEST(Memory, under_recomputation_keeps_layer_inputs_and_one_whole_layer) {
  const auto m = gpt3_175b();
  TrainingShape shape = shape_of({.tp = 8, .pp = 4}, 64);
  shape.recompute = Recompute::kFull;
  const double layer = 4096. * (32 * 12288. + 4 * 96) / 8 * 1e-9;
  const double inputs = 24 * 4 * 2 * 4096. * 12288 / 8 * 1e-9;
  EXPECT_NEAR(memory(m, shape).activations_gb, inputs + layer, 1e-6);
}

// Korthikanti et al. 2022, section 4.2.3: interleaving keeps 1 + (p - 1)/(p v) times as much.
TEST(Memory, of_activations_grows_with_interleaving) {
  const auto m = gpt3_175b();
  const double plain = memory(m, shape_of({.tp = 8, .pp = 4}, 64)).activations_gb;
  for (const int v : {2, 3, 6}) {
    const double interleaved = memory(m, shape_of({.tp = 8, .pp = 4, .vpp = v}, 64)).activations_gb;
    EXPECT_NEAR(interleaved, plain * (1 + 3.0 / (4 * v)), 1e-9 * plain) << v;
  }
}

// With fused attention there are no scores to drop: selective recomputation saves the log-sum-exp
// alone, 4 B per head and token.
TEST(Memory, under_selective_recomputation_saves_the_log_sum_exp_of_fused_attention) {
  const auto m = gpt3_175b();
  TrainingShape shape = shape_of({.tp = 8, .pp = 4}, 64);
  const double none = memory(m, shape).activations_gb;
  shape.recompute = Recompute::kSelective;
  EXPECT_NEAR(none - memory(m, shape).activations_gb, 24 * 4 * 4096. * 4 * 96 / 8 * 1e-9, 1e-9);
}

TEST(Memory, of_activations_is_cut_by_context_parallelism) {
  const auto m = llama3_8b();
  EXPECT_NEAR(memory(m, shape_of({.cp = 2})).activations_gb * 2,
              memory(m, shape_of({})).activations_gb, 1e-6);
}

TEST(Memory, of_experts_is_sharded_over_the_data_parallel_ranks_that_share_them) {
  const auto m = mixtral_8x7b();
  const double experts = 32. * 8 * 3 * 4096 * 14336;
  const double rest = parameters(m) - experts;
  const Memory got = memory(m, shape_of({.dp = 16, .ep = 8}));
  EXPECT_NEAR(got.optimizer_gb, 12 * (rest / 16 + experts / 8 / 2) * 1e-9, 1e-6);
  EXPECT_NEAR(got.weights_gb, 2 * (rest + experts / 8) * 1e-9, 1e-6);
}

TEST(Memory, adds_up_to_its_total) {
  const Memory m = memory(llama2_13b(), shape_of({.tp = 2, .dp = 4}));
  EXPECT_DOUBLE_EQ(m.total_gb, m.weights_gb + m.gradients_gb + m.optimizer_gb + m.activations_gb +
                                   m.overhead_gb);
}

}  // namespace
}  // namespace fabricast::model
