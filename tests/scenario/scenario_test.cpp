#include "scenario/scenario.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "examples.h"

namespace fabricast::scenario {
namespace {

using testing::accepted;
using testing::changed;
using testing::full_example;
using testing::known;

TEST(Scenario, the_example_of_the_reference_parses_whole) {
  const ValidScenario s = accepted(full_example());
  EXPECT_EQ(s.name, "train-32-70b");
  EXPECT_EQ(s.file, "job.yaml");
  EXPECT_EQ(s.cluster.gpus, 32);
  EXPECT_EQ(s.cluster.gpu.id, "h100-sxm-80gb");
  EXPECT_EQ(s.cluster.topology.nodes, 4);
  EXPECT_EQ(s.cluster.topology.nics_per_node, 8);
  EXPECT_EQ(s.cluster.topology.nic_rate.gbps(), 200);
  EXPECT_EQ(s.cluster.topology.kind, fabric::TopologyKind::kLeafSpine);
  EXPECT_EQ(s.cluster.topology.cable_m, 10);
  EXPECT_EQ(s.cluster.host.pcie, "gen5-x16");
  ASSERT_EQ(s.fabrics.size(), 3U);
  EXPECT_EQ(s.fabrics[1].profile.kind, catalog::FabricKind::kRoceV2);
  ASSERT_EQ(s.background.size(), 1U);
  EXPECT_EQ(s.background[0].load, 0.05);
  EXPECT_EQ(s.background[0].message.count(), 1 << 20);
  EXPECT_TRUE(s.faults.empty());
  const Budget budget = s.budget.value_or(Budget{.total = 0, .currency = "none"});
  EXPECT_EQ(budget.total, 20e6);
  EXPECT_EQ(budget.currency, "CNY");
  EXPECT_FALSE(s.constraints.existing_ethernet);
  EXPECT_EQ(s.constraints.growth_gpus, 64);
  EXPECT_EQ(s.seed, 1U);
  const auto& training = std::get<TrainingSpec>(s.workload);
  EXPECT_EQ(training.model.id, "llama2-70b");
  EXPECT_EQ(training.shape.precision, catalog::Precision::kFp8);
  EXPECT_EQ(training.shape.sequence, 4096);
  EXPECT_EQ(training.shape.global_batch, 512);
  EXPECT_EQ(training.tokens, 100e6);
  EXPECT_EQ(training.iterations, 200);
}

TEST(Scenario, a_minimal_file_gets_the_documented_defaults) {
  const ValidScenario s = accepted(
      "cluster: {gpus: 8, gpu: h100-sxm-80gb, nic_gbps: 400}\n"
      "fabrics: [infiniband]\n"
      "workload: {kind: training, model: llama2-7b, global_batch: 64, tokens: 1e9}\n");
  EXPECT_EQ(s.name, "job");
  EXPECT_EQ(s.cluster.topology.gpus_per_node, 8);
  EXPECT_EQ(s.cluster.topology.nics_per_node, 8);
  EXPECT_EQ(s.cluster.topology.kind, fabric::TopologyKind::kLeafSpine);
  EXPECT_TRUE(s.cluster.host.gpudirect);
  EXPECT_FALSE(s.cluster.host.acs);
  EXPECT_EQ(s.cluster.host.nic_affinity, NicAffinity::kPix);
  EXPECT_TRUE(s.background.empty());
  EXPECT_FALSE(s.budget.has_value());
  EXPECT_EQ(s.constraints.growth_gpus, 0);
  EXPECT_EQ(s.seed, 1U);
  const auto& training = std::get<TrainingSpec>(s.workload);
  EXPECT_EQ(training.shape.precision, catalog::Precision::kBf16);
  EXPECT_EQ(training.shape.sequence, 4096);
  EXPECT_EQ(training.shape.micro_batch, 1);
  EXPECT_EQ(training.iterations, 200);
}

TEST(Scenario, a_flag_stands_above_the_seed_of_the_file) {
  Overrides flags;
  flags.seed = 77;
  EXPECT_EQ(parse(full_example(), "job.yaml", known(), flags).seed, 77U);
}

TEST(Scenario, a_unique_beginning_of_an_id_is_enough) {
  EXPECT_EQ(accepted(changed("h100-sxm-80gb", "h100-sxm")).cluster.gpu.id, "h100-sxm-80gb");
}

TEST(Scenario, keeps_where_its_keys_stand) {
  const ValidScenario s = accepted(full_example());
  EXPECT_EQ(s.where("cluster.gpus").text(), "job.yaml:3:9: cluster.gpus");
  // A key that the file leaves out is told at the nearest mapping.
  EXPECT_EQ(s.where("workload.parallelism.tp").text(), "job.yaml:18:16: workload.parallelism.tp");
  EXPECT_EQ(s.where("workload.recompute").text(), "job.yaml:12:3: workload.recompute");
}

TEST(Scenario, other_files_are_found_from_the_directory_of_the_scenario) {
  const std::filesystem::path directory = std::filesystem::path(::testing::TempDir()) /
                                          ("fabricast_scenario_" + std::to_string(getpid()));
  std::filesystem::create_directories(directory / "models");
  std::ofstream(directory / "models" / "config.json") << R"({
    "architectures": ["LlamaForCausalLM"], "hidden_size": 4096, "intermediate_size": 11008,
    "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
    "vocab_size": 32000, "max_position_embeddings": 4096, "tie_word_embeddings": false})";
  const std::string path = (directory / "job.yaml").string();
  std::ofstream(path) << changed("llama2-70b", "models/config.json");
  const ValidScenario s = load(path, known());
  std::filesystem::remove_all(directory);
  EXPECT_EQ(s.file, path);
  EXPECT_EQ(std::get<TrainingSpec>(s.workload).model.layers, 32);
}

TEST(Located, an_error_of_a_later_stage_has_the_place_of_its_key) {
  const ValidScenario s = accepted(full_example());
  EXPECT_STREQ(
      located(base::input_error({{}, 0, 0, "cluster.topology.cable_m"}, "too long"), s, 1).what(),
      "job.yaml:9:65: cluster.topology.cable_m: too long");
  EXPECT_STREQ(
      located(base::input_error({{}, 0, 0, "switching.buffer_mb"}, "too small"), s, 1).what(),
      "job.yaml:10:23: fabrics[1].switching.buffer_mb: too small");
}

TEST(Located, what_has_a_place_or_is_a_failure_stays_as_it_is) {
  const ValidScenario s = accepted(full_example());
  EXPECT_STREQ(located(base::input_error({"a.yaml", 1, 2, "k"}, "wrong"), s, 0).what(),
               "a.yaml:1:2: k: wrong");
  EXPECT_STREQ(located(base::failure("broken"), s, 0).what(), "broken");
}

TEST(Scenario, every_article_example_is_valid_and_simulated) {
  for (const char* name : {"train-8-7b", "train-16-13b", "train-32-70b"}) {
    const std::string path =
        std::string(FABRICAST_SOURCE_DIR "/examples/article/") + name + ".yaml";
    const ValidScenario s = load(path, known());
    EXPECT_NO_THROW(require_simulated(s)) << name;
    EXPECT_EQ(s.name, name);
    ASSERT_EQ(s.fabrics.size(), 3U);
    EXPECT_EQ(s.fabrics[0].profile.name, "infiniband");
    EXPECT_EQ(s.fabrics[1].profile.name, "roce-v2");
    EXPECT_EQ(s.fabrics[2].profile.name, "tcp");
  }
}

}  // namespace
}  // namespace fabricast::scenario
