#include "shipped.h"

namespace fabricast::catalog {
namespace {

using testing::contains;
using testing::input_error_of;

std::string data(const std::string& file) {
  return std::string(FABRICAST_SOURCE_DIR) + "/tests/catalog/data/" + file;
}

TEST(HuggingFaceConfig, of_a_llama_gives_its_shape) {
  const LanguageModel m = read_hugging_face_config(data("tiny-llama/config.json"));
  EXPECT_EQ(m.name, "tiny-llama");
  EXPECT_EQ(m.layers, 6);
  EXPECT_EQ(m.hidden, 512);
  EXPECT_EQ(m.feed_forward, 1376);
  EXPECT_EQ(m.heads, 8);
  EXPECT_EQ(m.kv_heads, 2);
  EXPECT_EQ(m.head_dim, 64);  // hidden over heads, when the file does not say
  EXPECT_EQ(m.vocabulary, 32000);
  EXPECT_EQ(m.context, 2048);
  EXPECT_TRUE(m.tied_embeddings);
  EXPECT_TRUE(m.gated_mlp);
  EXPECT_FALSE(m.attention_bias);
  EXPECT_EQ(m.experts, 0);
  EXPECT_EQ(m.kv_lora_rank, 0);
}

TEST(HuggingFaceConfig, of_a_deepseek_gives_latent_attention_and_experts) {
  const LanguageModel m = read_hugging_face_config(data("small-deepseek.json"));
  EXPECT_EQ(m.experts, 16);
  EXPECT_EQ(m.experts_per_token, 4);
  EXPECT_EQ(m.shared_experts, 2);
  EXPECT_EQ(m.expert_feed_forward, 352);
  EXPECT_EQ(m.dense_layers, 1);
  EXPECT_EQ(m.q_lora_rank, 0);  // null: queries are not compressed
  EXPECT_EQ(m.kv_lora_rank, 128);
  EXPECT_EQ(m.qk_rope_head_dim, 32);
  EXPECT_EQ(m.qk_nope_head_dim, 64);
  EXPECT_EQ(m.v_head_dim, 64);
  EXPECT_EQ(m.head_dim, 96);
}

TEST(HuggingFaceConfig, of_a_mixtral_gives_experts_as_wide_as_its_intermediate_size) {
  const LanguageModel m = read_hugging_face_config(data("small-mixtral.json"));
  EXPECT_EQ(m.experts, 8);
  EXPECT_EQ(m.experts_per_token, 2);
  EXPECT_EQ(m.expert_feed_forward, 896);
  EXPECT_EQ(m.dense_layers, 0);
}

// Qwen2's attention has biases on Q, K and V whatever the file says (modeling_qwen2.py).
TEST(HuggingFaceConfig, of_a_qwen2_has_attention_biases) {
  EXPECT_TRUE(read_hugging_face_config(data("small-qwen2.json")).attention_bias);
}

TEST(HuggingFaceConfig, of_an_unknown_architecture_is_refused_with_the_known_ones) {
  const base::Error error = input_error_of([] { read_hugging_face_config(data("encoder.json")); });
  EXPECT_EQ(error.where().line, 2);
  EXPECT_TRUE(contains(error, "BertForMaskedLM")) << error.what();
  EXPECT_TRUE(contains(error, "LlamaForCausalLM")) << error.what();
}

TEST(HuggingFaceConfig, without_a_needed_key_is_refused_by_name) {
  const base::Error error = input_error_of([] { read_hugging_face_config(data("no-heads.json")); });
  EXPECT_EQ(error.where().key, "num_attention_heads");
  EXPECT_TRUE(error.where().file.ends_with("no-heads.json"));
}

// Layers are gone through one by one: 2^28 of them never end.
TEST(HuggingFaceConfig, beyond_any_model_is_refused_with_the_bound) {
  const std::string path = ::testing::TempDir() + "huge-" + std::to_string(getpid()) + ".json";
  std::ofstream(path) << R"({"architectures": ["LlamaForCausalLM"],
  "num_hidden_layers": 268435456, "hidden_size": 4096})";
  const base::Error error = input_error_of([&] { read_hugging_face_config(path); });
  std::filesystem::remove(path);
  EXPECT_EQ(error.where().key, "num_hidden_layers");
  EXPECT_TRUE(contains(error, "found the number 268435456; allowed a whole number from 1 to 10000"))
      << error.what();
}

}  // namespace
}  // namespace fabricast::catalog
