#include <gtest/gtest.h>

#include "examples.h"

namespace fabricast::scenario {
namespace {

using testing::accepted;
using testing::changed;
using testing::refusal;

std::string with(const std::string& finetune) {
  return changed("parallelism: auto", "parallelism: auto\n  finetune: " + finetune);
}

const model::Finetuning& finetuning(const ValidScenario& scenario) {
  return std::get<TrainingSpec>(scenario.workload).shape.finetuning;
}

TEST(Finetune, is_full_where_nothing_is_said) {
  EXPECT_TRUE(finetuning(accepted(testing::full_example())).full());
  EXPECT_TRUE(finetuning(accepted(with("{kind: full}"))).full());
}

TEST(Finetune, lora_adapts_attention_by_default) {
  const auto lora = finetuning(accepted(with("{kind: lora, rank: 16}")));
  EXPECT_EQ(lora.rank, 16);
  EXPECT_EQ(lora.targets, (std::vector<std::string>{"q_proj", "k_proj", "v_proj", "o_proj"}));
}

TEST(Finetune, longlora_groups_a_quarter_of_the_sequence_by_default) {
  const ValidScenario s = accepted(with("{kind: longlora}"));
  EXPECT_EQ(finetuning(s).group, std::get<TrainingSpec>(s.workload).shape.sequence / 4);
}

TEST(Finetune, refuses_a_matrix_that_the_model_does_not_have) {
  const std::string text = refusal(with("{kind: lora, targets: [q_porj]}"));
  EXPECT_NE(text.find("q_porj"), std::string::npos) << text;
  EXPECT_NE(text.find("did you mean `q_proj`?"), std::string::npos) << text;
}

TEST(Finetune, refuses_an_empty_list_of_targets) {
  EXPECT_NE(refusal(with("{kind: lora, targets: []}")).find("targets"), std::string::npos);
}

TEST(Finetune, refuses_groups_that_do_not_divide_the_sequence) {
  const std::string text = refusal(with("{kind: longlora, group: 1000}"));
  EXPECT_NE(text.find("an even divisor of the sequence"), std::string::npos) << text;
}

TEST(Finetune, refuses_a_rank_beside_full_training) {
  EXPECT_NE(refusal(with("{kind: full, rank: 8}")).find("rank"), std::string::npos);
}

// The example runs as it is; here it is read.
TEST(Finetune, the_example_fits_as_it_stands) {
  const ValidScenario s =
      load(FABRICAST_SOURCE_DIR "/examples/finetune/longlora-70b-32k.yaml", testing::known());
  EXPECT_EQ(finetuning(s).group, 8192);
  EXPECT_EQ(s.cluster.gpus, 32);
}

}  // namespace
}  // namespace fabricast::scenario
