#include <gtest/gtest.h>

#include "examples.h"

namespace fabricast::scenario {
namespace {

using testing::accepted;
using testing::changed;
using testing::refusal;

std::string with_parallelism(const std::string& parallelism) {
  return changed("parallelism: auto", "parallelism: " + parallelism);
}

const TrainingSpec& training(const ValidScenario& scenario) {
  return std::get<TrainingSpec>(scenario.workload);
}

TEST(Layout, auto_takes_the_best_that_fits) {
  const ValidScenario s = accepted(testing::full_example());
  const TrainingSpec& spec = training(s);
  ASSERT_FALSE(spec.alternatives.empty());
  EXPECT_EQ(spec.shape.parallelism.gpus(), 32);
  EXPECT_EQ(spec.shape.parallelism.tp, spec.alternatives[0].shape.parallelism.tp);
  EXPECT_EQ(spec.shape.parallelism.pp, spec.alternatives[0].shape.parallelism.pp);
  EXPECT_LE(spec.alternatives[0].memory.total_gb, s.cluster.gpu.memory_gb);
}

TEST(Layout, auto_honours_a_ban_on_recomputation) {
  const ValidScenario s =
      accepted(changed("parallelism: auto", "parallelism: auto\n  recompute: false"));
  ASSERT_FALSE(training(s).alternatives.empty());
  for (const auto& choice : training(s).alternatives)
    EXPECT_EQ(choice.shape.recompute, model::Recompute::kNone);
}

TEST(Layout, a_given_one_is_taken_as_it_is) {
  const ValidScenario s =
      accepted(with_parallelism("{tp: 8, pp: 2, dp: 2, cp: 1, ep: 1, zero: 1}"));
  EXPECT_EQ(model::to_string(training(s).shape.parallelism),
            model::to_string({.tp = 8, .pp = 2, .dp = 2}));
  EXPECT_TRUE(training(s).alternatives.empty());
}

TEST(Layout, data_parallelism_follows_from_the_other_degrees) {
  EXPECT_EQ(training(accepted(with_parallelism("{tp: 8, pp: 2}"))).shape.parallelism.dp, 2);
}

TEST(Layout, recomputation_is_turned_on_only_where_memory_asks) {
  for (const char* sequence : {"sequence: 4096", "sequence: 16384"}) {
    const ValidScenario s =
        accepted(changed(with_parallelism("{tp: 4, pp: 4, dp: 2}"), "sequence: 4096", sequence));
    model::TrainingShape without = training(s).shape;
    without.recompute = model::Recompute::kNone;
    const double need_gb = model::memory(training(s).model, without).total_gb;
    EXPECT_EQ(training(s).shape.recompute != model::Recompute::kNone,
              need_gb > s.cluster.gpu.memory_gb)
        << need_gb;
  }
}

TEST(Layout, recomputation_is_left_off_where_the_scenario_says_so) {
  const std::string message = refusal(changed(
      changed(with_parallelism("{tp: 4, pp: 4, dp: 2}"), "sequence: 4096", "sequence: 16384"),
      "micro_batch: 1", "micro_batch: 1\n  recompute: false"));
  EXPECT_TRUE(message.starts_with("job.yaml:13:10: workload.model: found ")) << message;
  EXPECT_NE(message.find(" GB per GPU for llama2-70b with "), std::string::npos) << message;
}

TEST(Layout, degrees_multiply_to_the_gpus) {
  EXPECT_EQ(refusal(with_parallelism("{tp: 8, pp: 1, dp: 3}")),
            "job.yaml:18:16: workload.parallelism: found tp 8 x pp 1 x dp 3 x cp 1 = 24 GPUs; "
            "allowed a product of 32, the cluster's GPUs");
  EXPECT_EQ(refusal(with_parallelism("{tp: 5, pp: 1}")),
            "job.yaml:18:16: workload.parallelism: found tp 5 x pp 1 x cp 1 = 5; allowed a product "
            "that divides 32, the cluster's GPUs");
}

TEST(Layout, huge_degrees_do_not_wrap_around_to_the_right_product) {
  // 1024 x 10000 x 1000000 x 1024 = 1.05e16 is beyond 32 bits; as 32-bit integers it would wrap.
  EXPECT_EQ(refusal(with_parallelism("{tp: 1024, pp: 10000, dp: 1000000, cp: 1024}")),
            "job.yaml:18:16: workload.parallelism: found tp 1024 x pp 10000 x dp 1000000 x cp 1024 "
            "= 10485760000000000 GPUs; allowed a product of 32, the cluster's GPUs");
}

TEST(Layout, tensor_parallelism_divides_a_node) {
  const std::string message = refusal(with_parallelism("{tp: 16, dp: 2}"));
  EXPECT_TRUE(message.starts_with("job.yaml:18:21: workload.parallelism.tp: found 16; allowed "))
      << message;
}

TEST(Layout, tensor_parallelism_divides_the_heads) {
  // llama2-13b has 40 heads: 16 does not divide them.
  const std::string text =
      changed(changed(changed(with_parallelism("{tp: 16, dp: 2}"), "llama2-70b", "llama2-13b"),
                      "gpus_per_node: 8", "gpus_per_node: 16"),
              "nics_per_node: 8", "nics_per_node: 16");
  EXPECT_EQ(refusal(text),
            "job.yaml:18:21: workload.parallelism.tp: found 16; allowed a divisor of 40, the "
            "attention heads of llama2-13b");
}

TEST(Layout, the_batch_divides_into_micro_batches_of_all_replicas) {
  EXPECT_EQ(refusal(changed(with_parallelism("{tp: 8, dp: 4}"), "global_batch: 512",
                            "global_batch: 510")),
            "job.yaml:16:17: workload.global_batch: found 510; allowed a multiple of micro_batch x "
            "dp = 1 x 4 = 4");
}

TEST(Layout, a_pipeline_has_at_most_as_many_stages_as_layers) {
  // 128 GPUs on a model of 80 layers.
  EXPECT_EQ(refusal(changed(changed(with_parallelism("{pp: 128}"), "gpus: 32", "gpus: 128"),
                            "growth_gpus: 64", "growth_gpus: 128")),
            "job.yaml:18:21: workload.parallelism.pp: found 128; allowed at most 80, the layers of "
            "llama2-70b");
}

TEST(Layout, a_model_that_does_not_fit_is_refused_with_the_numbers) {
  const std::string message = refusal(with_parallelism("{tp: 1, pp: 1, dp: 32}"));
  EXPECT_TRUE(message.starts_with("job.yaml:13:10: workload.model: found ")) << message;
  EXPECT_NE(message.find(" GB per GPU for llama2-70b with "), std::string::npos) << message;
  EXPECT_NE(message.find(" with tp 1"), std::string::npos) << message;
  EXPECT_TRUE(message.ends_with("; allowed at most 80.0 GB of h100-sxm-80gb")) << message;
}

TEST(Layout, auto_says_what_the_leanest_layout_would_need) {
  const std::string message =
      refusal(changed(changed(changed("gpus: 32", "gpus: 8"), "llama2-70b", "llama3-405b"),
                      "growth_gpus: 64", "growth_gpus: 0"));
  EXPECT_TRUE(message.starts_with("job.yaml:13:10: workload.model: found ")) << message;
  EXPECT_NE(message.find(" GB per GPU for llama3-405b with "), std::string::npos) << message;
  EXPECT_TRUE(
      message.ends_with(", the least of all layouts; allowed at most 80.0 GB of h100-sxm-80gb"))
      << message;
}

TEST(Layout, auto_names_the_obstacle_where_memory_is_none) {
  // Hopper has no FP4 units.
  const std::string message = refusal(changed("precision: fp8", "precision: fp4"));
  EXPECT_TRUE(message.starts_with("job.yaml:14:14: workload.precision: found fp4; allowed "))
      << message;
}

TEST(Layout, recomputation_has_three_degrees_and_two_older_names) {
  using model::Recompute;
  const auto degree = [](const std::string& text) {
    return training(accepted(changed(with_parallelism("{tp: 8, pp: 4}"), "micro_batch: 1",
                                     "micro_batch: 1\n  recompute: " + text)))
        .shape.recompute;
  };
  EXPECT_EQ(degree("none"), Recompute::kNone);
  EXPECT_EQ(degree("false"), Recompute::kNone);
  EXPECT_EQ(degree("selective"), Recompute::kSelective);
  EXPECT_EQ(degree("full"), Recompute::kFull);
  EXPECT_EQ(degree("true"), Recompute::kFull);
  EXPECT_EQ(refusal(changed("micro_batch: 1", "micro_batch: 1\n  recompute: some")),
            "job.yaml:18:14: workload.recompute: found the text `some`; allowed `none`, "
            "`selective` or `full`");
}

TEST(Layout, selective_recomputation_of_fused_attention_is_commented_on) {
  const auto s = accepted(changed(with_parallelism("{tp: 8, pp: 4}"), "micro_batch: 1",
                                  "micro_batch: 1\n  recompute: selective"));
  const auto said = notes(s);
  ASSERT_FALSE(said.empty());
  EXPECT_TRUE(
      said.back().starts_with("job.yaml:18:14: workload.recompute: note: attention is "
                              "fused"))
      << said.back();
}

// megatron/core/pipeline_parallel/schedules.py asks for whole groups of micro-batches. Layers need
// not divide: pipeline_model_parallel_layout gives every part its own.
TEST(Layout, interleaving_divides_the_batch) {
  EXPECT_EQ(
      training(accepted(with_parallelism("{tp: 4, pp: 4, vpp: 5, dp: 2}"))).shape.parallelism.vpp,
      5);
  EXPECT_EQ(
      training(accepted(with_parallelism("{tp: 4, pp: 4, vpp: 3, dp: 2}"))).shape.parallelism.vpp,
      3);
  EXPECT_EQ(refusal(with_parallelism("{tp: 4, pp: 4, vpp: 21, dp: 2}")),
            "job.yaml:18:36: workload.parallelism.vpp: found 21; allowed pp 4 x vpp of at most 80, "
            "the layers of llama2-70b, or two more, for its ends");
  EXPECT_EQ(refusal(with_parallelism("{tp: 8, vpp: 2, dp: 4}")),
            "job.yaml:18:29: workload.parallelism.vpp: found 2; allowed 1 without pipeline "
            "parallelism");
  EXPECT_EQ(refusal(changed(with_parallelism("{tp: 4, pp: 4, vpp: 2, dp: 2}"), "global_batch: 512",
                            "global_batch: 12")),
            "job.yaml:16:17: workload.global_batch: found 12, 6 micro-batches; allowed "
            "micro-batches in a multiple of pp 4 with vpp 2");
}

TEST(Failures, are_the_catalogues_unless_the_scenario_differs) {
  const auto with = [](const std::string& more) {
    return training(accepted(changed("micro_batch: 1", "micro_batch: 1\n  " + more)));
  };
  const TrainingSpec plain = training(accepted(testing::full_example()));
  EXPECT_GT(plain.reliability.gpu_mtbf_h, 0);
  EXPECT_FALSE(plain.checkpoint.every_s.has_value());
  EXPECT_EQ(with("failures: none").reliability.gpu_mtbf_h, 0);
  const TrainingSpec own = with("failures: {gpu_mtbf_h: 1000, restart_min: 20}");
  EXPECT_EQ(own.reliability.gpu_mtbf_h, 1000);
  EXPECT_EQ(own.reliability.restart_min, 20);
  EXPECT_EQ(own.reliability.host_mtbf_h, plain.reliability.host_mtbf_h);
  EXPECT_EQ(with("checkpoint: {every_min: 30}").checkpoint.every_s, 1800);
  EXPECT_EQ(with("checkpoint: {every_min: auto, to: local, gb_per_s: 10}").checkpoint.to,
            CheckpointSpec::To::kLocal);
  EXPECT_EQ(with("stragglers: {slow: [{gpu: 3, speed: 0.8}]}").stragglers.slow.at(3), 0.8);
}

TEST(Failures, that_cannot_be_meant_are_refused) {
  const auto refused = [](const std::string& more) {
    return refusal(changed("micro_batch: 1", "micro_batch: 1\n  " + more));
  };
  EXPECT_EQ(refused("checkpoint: {to: local}"),
            "job.yaml:18:15: workload.checkpoint: found `to: local` without `gb_per_s`; allowed "
            "what the disks of a node take, GB/s");
  EXPECT_EQ(refused("failures: all"),
            "job.yaml:18:13: workload.failures: found the text `all`; allowed `none` or a mapping "
            "such as "
            "`{gpu_mtbf_h: 50000, restart_min: 10}`");
  EXPECT_NE(refused("stragglers: {slow: [{gpu: 32, speed: 0.8}]}").find("GPUs 0 to 31"),
            std::string::npos);
}

}  // namespace
}  // namespace fabricast::scenario
