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
  EXPECT_EQ(spec.context, 4096);
  EXPECT_EQ(spec.output, 256);
  EXPECT_EQ(spec.prefix_cached, 1024);
  EXPECT_EQ(spec.arrival, ArrivalKind::kPoisson);
  EXPECT_EQ(spec.qps, 1000);
  EXPECT_EQ(spec.tp, 2);
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
  // 69 GB of FP8 weights fit one GPU of 80 GB; 138 GB of BF16 do not. The cache of one request is
  // 2 x 8 heads x 128 x 2 B x 80 layers x 1088 tokens = 0.36 GB.
  const std::string tail = ", context: 1024, output: 64, arrival: {kind: poisson, qps: 1}}";
  EXPECT_EQ(refusal(serving("{kind: serving, model: llama2-70b, precision: fp8" + tail)),
            "accepted");
  EXPECT_EQ(refusal(serving("{kind: serving, model: llama2-70b, precision: bf16" + tail)),
            "job.yaml:3:34: workload.model: found 138.3 GB per GPU for the weights of llama2-70b "
            "and one request with tp 1 x pp 1; allowed at most 80.0 GB of h100-sxm-80gb");
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
