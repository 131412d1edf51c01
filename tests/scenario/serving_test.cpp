#include <gtest/gtest.h>

#include "examples.h"

namespace fabricast::scenario {
namespace {

using testing::accepted;
using testing::refusal;

std::string serving(const std::string& workload) {
  return "cluster: {gpus: 8, gpu: h100-sxm-80gb, nic_gbps: 200}\n"
         "fabrics: [infiniband]\n"
         "workload: " +
         workload + "\n";
}

constexpr const char* kFull =
    "{kind: serving, model: llama2-13b, precision: fp8, context: 4096, output: 256, "
    "prefix_cached: 1024, arrival: {kind: poisson, qps: 1000}, tp: 2, "
    "slo: {metric: tpot, percentile: 95, ms: 50}}";

TEST(Serving, the_example_of_the_reference_parses_whole) {
  const ValidScenario s = accepted(serving(kFull));
  const auto& spec = std::get<ServingSpec>(s.workload);
  EXPECT_EQ(spec.model.id, "llama2-13b");
  EXPECT_EQ(spec.context.mean, 4096);
  EXPECT_EQ(spec.context.most, 4096);
  EXPECT_EQ(spec.output.mean, 256);
  EXPECT_EQ(spec.prefix_cached, 1024);
  EXPECT_EQ(spec.arrival, ArrivalKind::kPoisson);
  EXPECT_EQ(spec.qps, 1000);
  EXPECT_EQ(spec.shape.tp, 2);
  EXPECT_EQ(spec.engine.id, "vllm");
  EXPECT_EQ(spec.slo_metric, SloMetric::kTpot);
  EXPECT_EQ(spec.slo_percentile, 95);
  EXPECT_EQ(spec.slo_ms, 50);
}

TEST(Serving, the_slo_defaults_to_100_ms_to_the_first_token) {
  const ValidScenario s =
      accepted(serving("{kind: serving, model: llama2-7b, context: 1024, output: 64, arrival: "
                       "{kind: gamma, qps: 5, variation: 2}}"));
  const auto& spec = std::get<ServingSpec>(s.workload);
  EXPECT_EQ(spec.slo_metric, SloMetric::kTtft);
  EXPECT_EQ(spec.slo_percentile, 99);
  EXPECT_EQ(spec.slo_ms, 100);
  EXPECT_EQ(spec.arrival, ArrivalKind::kGamma);
  EXPECT_EQ(spec.arrival_variation, 2);
}

TEST(Serving, weights_that_do_not_fit_are_refused_with_the_numbers) {
  // 69 GB of FP8 weights leave two GPUs of 80 GB room, 138 GB of BF16 do not. The cache of one
  // request is 2 x 4 heads x 128 x 2 B x 80 layers x 1088 tokens = 0.18 GB.
  const std::string tail = ", context: 1024, output: 64, tp: 2, arrival: {kind: poisson, qps: 1}}";
  EXPECT_EQ(refusal(serving("{kind: serving, model: llama2-70b, precision: fp8" + tail)),
            "accepted");
  EXPECT_EQ(refusal(serving("{kind: serving, model: llama2-70b, precision: bf16" + tail)),
            "job.yaml:3:34: workload.model: found 72.7 GB per GPU for llama2-70b with tp 2 x pp 1: "
            "weights 69.0, activations 1.5, overhead 2.0, one request 0.2; allowed at most 72.0 "
            "GB, 90 % of h100-sxm-80gb");
}

TEST(Serving, lengths_can_be_drawn) {
  const ValidScenario s = accepted(serving(
      "{kind: serving, model: llama2-7b, context: {kind: lognormal, mean: 800, variation: 1.1, "
      "max: "
      "4000}, output: {kind: uniform, min: 10, max: 30}, arrival: {kind: poisson, qps: 1}}"));
  const auto& spec = std::get<ServingSpec>(s.workload);
  EXPECT_EQ(spec.context.kind, LengthSpec::Kind::kLognormal);
  EXPECT_EQ(spec.context.mean, 800);
  EXPECT_EQ(spec.context.variation, 1.1);
  EXPECT_EQ(spec.context.most, 4000);
  EXPECT_EQ(spec.output.mean, 20);
}

TEST(Serving, an_engine_is_the_catalogues_and_what_is_set_otherwise) {
  const ValidScenario s =
      accepted(serving("{kind: serving, model: llama2-7b, context: 10, output: 5, engine: {name: "
                       "tensorrt-llm, max_num_seqs: 16}, arrival: {kind: poisson, qps: 1}}"));
  const auto& spec = std::get<ServingSpec>(s.workload);
  EXPECT_EQ(spec.engine.id, "tensorrt-llm");
  EXPECT_EQ(spec.engine.max_num_seqs, 16);
  EXPECT_FALSE(spec.engine.chunked_prefill);
}

TEST(Serving, attention_of_several_ranks_needs_experts_to_share) {
  EXPECT_EQ(refusal(serving("{kind: serving, model: llama2-7b, context: 10, output: 5, "
                            "attention_dp: 4, arrival: {kind: poisson, qps: 1}}")),
            "job.yaml:3:83: workload.attention_dp: found 4 for llama2-7b, which has no experts to "
            "share; allowed 1: replicas of their own do the same");
}

TEST(Serving, prompts_and_answers_share_the_cluster) {
  const std::string tail =
      "context: 10, output: 5, tp: 2, arrival: {kind: poisson, qps: 1}, disaggregation: ";
  EXPECT_EQ(refusal(serving("{kind: serving, model: llama2-7b, " + tail +
                            "{prefill_replicas: 2, prefill_tp: 1}}")),
            "accepted");
  EXPECT_NE(refusal(serving("{kind: serving, model: llama2-7b, " + tail +
                            "{prefill_replicas: 3, prefill_tp: 1}}"))
                .find("a product that divides 5, the cluster's GPUs that generate"),
            std::string::npos);
  EXPECT_NE(refusal(serving("{kind: serving, model: llama2-7b, " + tail +
                            "{prefill_replicas: 8, prefill_tp: 1}}"))
                .find("fewer than the cluster's 8, so that some generate"),
            std::string::npos);
}

TEST(Serving, an_slo_per_token_needs_a_second_token) {
  EXPECT_NE(
      refusal(serving("{kind: serving, model: llama2-7b, context: 10, output: 1, slo: {metric: "
                      "tpot, ms: 5}, arrival: {kind: poisson, qps: 1}}"))
          .find("workload.slo.metric: found tpot where every answer is one token"),
      std::string::npos);
}

TEST(Serving, a_profile_has_requests_at_some_time) {
  EXPECT_NE(refusal(serving("{kind: serving, model: llama2-7b, context: 10, output: 5, arrival: "
                            "{kind: poisson, qps: 1, profile: [{at_s: 0, share: 0}]}}"))
                .find("profile: found no time at which requests come"),
            std::string::npos);
}

TEST(Serving, steps_of_the_rate_come_in_their_order) {
  EXPECT_NE(refusal(serving("{kind: serving, model: llama2-7b, context: 10, output: 5, arrival: "
                            "{kind: poisson, qps: 1, profile: [{at_s: 9, share: 2}, {at_s: 3, "
                            "share: 1}]}}"))
                .find("found 3 s; allowed steps in their order, here 9 s or later"),
            std::string::npos);
}

TEST(Serving, replicas_fill_the_cluster) {
  EXPECT_EQ(refusal(serving("{kind: serving, model: llama2-70b, precision: fp8, context: 1024, "
                            "output: 64, tp: 4, pp: 3, arrival: {kind: poisson, qps: 1}}")),
            "job.yaml:3:93: workload.tp: found tp 4 x pp 3 = 12 GPUs for a replica; allowed a "
            "product that divides 8, the cluster's GPUs");
}

TEST(Serving, a_cached_prefix_is_part_of_the_context) {
  EXPECT_EQ(refusal(serving("{kind: serving, model: llama2-7b, context: 100, output: 64, "
                            "prefix_cached: 101, arrival: {kind: poisson, qps: 1}}")),
            "job.yaml:3:86: workload.prefix_cached: found 101 tokens; allowed at most the 100 of "
            "`context`");
}

TEST(Serving, an_arrival_needs_its_rate) {
  EXPECT_EQ(refusal(serving("{kind: serving, model: llama2-7b, context: 100, output: 64, arrival: "
                            "{kind: poisson}}")),
            "job.yaml:3:80: workload.arrival.qps: found nothing (the key is missing); allowed a "
            "number from 1e-06 to 1000000000");
}

}  // namespace
}  // namespace fabricast::scenario
