// What parses but is not simulated is refused by name, never silently ignored.

#include <gtest/gtest.h>

#include "examples.h"

namespace fabricast::scenario {
namespace {

using testing::changed;
using testing::full_example;
using testing::not_simulated;

TEST(NotSimulated, the_example_of_the_reference_is_simulated) {
  EXPECT_EQ(not_simulated(full_example()), "accepted");
}

TEST(NotSimulated, serving_is_simulated) {
  EXPECT_EQ(not_simulated("cluster: {gpus: 8, gpu: h100-sxm-80gb, nic_gbps: 200}\n"
                          "fabrics: [infiniband]\n"
                          "workload: {kind: serving, model: llama2-7b, context: 1024, output: 64, "
                          "arrival: {kind: poisson, qps: 1}}\n"),
            "accepted");
}

TEST(NotSimulated, faults_that_begin_or_end_during_the_job) {
  const auto with = [](const std::string& times) {
    return not_simulated(
        changed("faults: []", "faults: [{link: \"leaf0:3\", kind: down" + times + "}]"));
  };
  EXPECT_EQ(with(""), "accepted");
  EXPECT_EQ(with(", at_ms: 5, for_ms: 1"),
            "job.yaml:22:47: faults[0].at_ms: found a fault that begins during the job, which is "
            "not simulated yet; allowed a fault that lasts for all of it: neither `at_ms` nor "
            "`for_ms`");
  EXPECT_NE(with(", for_ms: 1").find("faults[0].for_ms: found a fault that ends during the job"),
            std::string::npos);
}

TEST(NotSimulated, collectives_that_switches_reduce) {
  const std::string message = not_simulated(
      changed("fabrics: [infiniband,", "fabrics: [{profile: infiniband, sharp: {enabled: true}},"));
  EXPECT_NE(message.find("fabrics[0].sharp.enabled: found a collective that switches reduce, which "
                         "is not simulated yet; allowed `false`"),
            std::string::npos)
      << message;
}

TEST(NotSimulated, dragonfly_plus) {
  EXPECT_EQ(not_simulated(changed("leaf-spine", "dragonfly-plus")),
            "job.yaml:9:21: cluster.topology.kind: found `dragonfly-plus`, which is not simulated "
            "yet; allowed `leaf-spine`, `single-switch`, `rail-optimised`, `rail-only`, "
            "`fat-tree` or `direct`");
}

TEST(NotSimulated, a_partial_node) {
  EXPECT_EQ(not_simulated(changed(changed("gpus: 32", "gpus: 12"), "llama2-70b", "llama2-7b")),
            "job.yaml:3:9: cluster.gpus: found 12 GPUs in nodes of 8: a partial node, which is not "
            "simulated yet; allowed a multiple of `gpus_per_node` (8)");
}

TEST(NotSimulated, rings_that_change_rails_where_rails_do_not_meet) {
  const std::string quiet =
      changed(changed("leaf-spine", "rail-only"), "[{kind: storage, load: 0.05}]", "[]");
  EXPECT_EQ(not_simulated(changed(quiet, "parallelism: auto", "parallelism: {tp: 4, pp: 4}")),
            "job.yaml:18:16: workload.parallelism: found tp 4 on a rail-only fabric: rings that "
            "change rails, which is not simulated yet; allowed tp 8, the GPUs of a node, or "
            "another topology");
  EXPECT_EQ(not_simulated(changed(quiet, "parallelism: auto", "parallelism: {tp: 8, pp: 2}")),
            "accepted");
}

}  // namespace
}  // namespace fabricast::scenario
