// Parameters of released checkpoints to the last weight, from the shape keys of their config.json.
// Expected totals are the parameter counts under which the checkpoints are published; where a
// report states a rounded one it is named at the test.

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "model/model.h"

namespace fabricast::model {
namespace {

class Checkpoint : public ::testing::Test {
 protected:
  static catalog::LanguageModel read(const std::string& json) {
    const std::string path = ::testing::TempDir() + "config-" + std::to_string(getpid()) + ".json";
    std::ofstream(path) << json;
    catalog::LanguageModel m = catalog::read_hugging_face_config(path);
    std::filesystem::remove(path);
    return m;
  }
};

TEST_F(Checkpoint, of_mistral_7b_has_windows_in_every_layer) {
  const auto m = read(R"({"architectures": ["MistralForCausalLM"], "hidden_size": 4096,
    "intermediate_size": 14336, "max_position_embeddings": 32768, "num_attention_heads": 32,
    "num_hidden_layers": 32, "num_key_value_heads": 8, "sliding_window": 4096,
    "vocab_size": 32000})");
  EXPECT_EQ(parameters(m), 7'241'732'096);
  EXPECT_EQ(m.sliding_window, 4096);
  EXPECT_EQ(m.full_attention_every, 0);
}

// Qwen1.5-MoE-A2.7B: "14.3 B parameters in total and 2.7 B activated" (model card).
TEST_F(Checkpoint, of_a_qwen2_moe_has_a_gated_shared_expert) {
  const auto m = read(R"({"architectures": ["Qwen2MoeForCausalLM"], "hidden_size": 2048,
    "intermediate_size": 5632, "max_position_embeddings": 8192, "num_attention_heads": 16,
    "num_hidden_layers": 24, "num_key_value_heads": 16, "vocab_size": 151936,
    "decoder_sparse_step": 1, "moe_intermediate_size": 1408, "num_experts": 60,
    "num_experts_per_tok": 4, "shared_expert_intermediate_size": 5632,
    "use_sliding_window": false, "sliding_window": 32768})");
  EXPECT_EQ(parameters(m), 14'315'784'192);
  EXPECT_EQ(m.sliding_window, 0);
  EXPECT_NEAR(active_parameters(m), 2.7e9, 0.05e9);
}

TEST_F(Checkpoint, of_qwen3_8b_has_norms_of_queries_and_keys) {
  const auto m = read(R"({"architectures": ["Qwen3ForCausalLM"], "hidden_size": 4096,
    "intermediate_size": 12288, "max_position_embeddings": 40960, "num_attention_heads": 32,
    "num_hidden_layers": 36, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936,
    "attention_bias": false, "tie_word_embeddings": false, "use_sliding_window": false})");
  EXPECT_EQ(parameters(m), 8'190'735'360);
}

// Qwen3 report (arXiv 2505.09388), table 2: 30.5 B, of which 3.3 B are activated.
TEST_F(Checkpoint, of_qwen3_30b_a3b_has_128_experts) {
  const auto m = read(R"({"architectures": ["Qwen3MoeForCausalLM"], "hidden_size": 2048,
    "intermediate_size": 6144, "max_position_embeddings": 40960, "num_attention_heads": 32,
    "num_hidden_layers": 48, "num_key_value_heads": 4, "head_dim": 128, "vocab_size": 151936,
    "mlp_only_layers": [], "moe_intermediate_size": 768, "num_experts": 128,
    "num_experts_per_tok": 8})");
  EXPECT_EQ(parameters(m), 30'532'122'624);
  EXPECT_NEAR(active_parameters(m), 3.3e9, 0.06e9);
}

TEST_F(Checkpoint, of_gemma_2_9b_has_four_norms_and_every_other_layer_windowed) {
  const auto m = read(R"({"architectures": ["Gemma2ForCausalLM"], "hidden_size": 3584,
    "intermediate_size": 14336, "max_position_embeddings": 8192, "num_attention_heads": 16,
    "num_hidden_layers": 42, "num_key_value_heads": 8, "head_dim": 256, "sliding_window": 4096,
    "vocab_size": 256000})");
  EXPECT_EQ(parameters(m), 9'241'705'984);
  EXPECT_EQ(m.full_attention_every, 2);
}

TEST_F(Checkpoint, of_gemma_3_1b_has_five_windowed_layers_to_one_full) {
  const auto m = read(R"({"architectures": ["Gemma3ForCausalLM"], "hidden_size": 1152,
    "intermediate_size": 6912, "max_position_embeddings": 32768, "num_attention_heads": 4,
    "num_hidden_layers": 26, "num_key_value_heads": 1, "head_dim": 256, "sliding_window": 512,
    "sliding_window_pattern": 6, "vocab_size": 262144})");
  EXPECT_EQ(parameters(m), 999'885'952);
  EXPECT_EQ(m.full_attention_every, 6);
}

TEST_F(Checkpoint, of_phi_3_mini_is_a_llama_with_fused_matrices) {
  const auto m = read(R"({"architectures": ["Phi3ForCausalLM"], "hidden_size": 3072,
    "intermediate_size": 8192, "max_position_embeddings": 4096, "num_attention_heads": 32,
    "num_hidden_layers": 32, "num_key_value_heads": 32, "sliding_window": 2047,
    "vocab_size": 32064})");
  EXPECT_EQ(parameters(m), 3'821'079'552);
}

// gpt-oss model card (arXiv 2508.10925), table 1: 116.83 B and 20.91 B in total, 5.13 B and 3.61 B
// active, which leaves the input embedding out.
TEST_F(Checkpoint, of_gpt_oss_has_sinks_and_biases) {
  const auto m = read(R"({"architectures": ["GptOssForCausalLM"], "hidden_size": 2880,
    "intermediate_size": 2880, "max_position_embeddings": 131072, "num_attention_heads": 64,
    "num_hidden_layers": 4, "num_key_value_heads": 8, "head_dim": 64, "sliding_window": 128,
    "attention_bias": true, "num_local_experts": 32, "num_experts_per_tok": 4,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention",
    "full_attention"], "vocab_size": 201088})");
  EXPECT_EQ(m.full_attention_every, 2);
  catalog::LanguageModel whole = m;
  whole.layers = 24;
  EXPECT_NEAR(parameters(whole), 20.91e9, 0.005e9);
  EXPECT_NEAR(active_parameters(whole) - 201088. * 2880, 3.61e9, 0.005e9);
  whole.layers = 36;
  whole.experts = 128;
  EXPECT_NEAR(parameters(whole), 116.83e9, 0.005e9);
  EXPECT_NEAR(active_parameters(whole) - 201088. * 2880, 5.13e9, 0.005e9);
}

// Black et al. 2022 (arXiv 2204.06745), section 2.1: 20,554,567,680 parameters.
TEST_F(Checkpoint, of_gpt_neox_20b_has_biases_throughout) {
  const auto m = read(R"({"architectures": ["GPTNeoXForCausalLM"], "hidden_size": 6144,
    "intermediate_size": 24576, "max_position_embeddings": 2048, "num_attention_heads": 64,
    "num_hidden_layers": 44, "tie_word_embeddings": false, "vocab_size": 50432})");
  EXPECT_EQ(parameters(m), 20'554'567'680);
  EXPECT_FALSE(m.gated_mlp);
}

TEST_F(Checkpoint, of_gpt2_has_learned_positions) {
  const auto m = read(R"({"architectures": ["GPT2LMHeadModel"], "n_embd": 768, "n_head": 12,
    "n_layer": 12, "n_positions": 1024, "n_ctx": 1024, "vocab_size": 50257})");
  EXPECT_EQ(parameters(m), 124'439'808);
}

TEST_F(Checkpoint, of_mpt_7b_has_neither_biases_nor_positions) {
  const auto m = read(R"({"architectures": ["MPTForCausalLM"], "d_model": 4096, "n_heads": 32,
    "n_layers": 32, "expansion_ratio": 4, "max_seq_len": 2048, "no_bias": true,
    "attn_config": {"alibi": true, "attn_impl": "torch"}, "vocab_size": 50432})");
  EXPECT_EQ(parameters(m), 6'649'286'656);
}

TEST_F(Checkpoint, with_windows_in_no_fixed_turn_is_refused) {
  EXPECT_THROW(read(R"({"architectures": ["GptOssForCausalLM"], "hidden_size": 2880,
    "intermediate_size": 2880, "max_position_embeddings": 131072, "num_attention_heads": 64,
    "num_hidden_layers": 4, "num_key_value_heads": 8, "head_dim": 64, "sliding_window": 128,
    "num_local_experts": 32, "layer_types": ["full_attention", "full_attention",
    "sliding_attention", "full_attention"], "vocab_size": 201088})"),
               base::Error);
}

}  // namespace
}  // namespace fabricast::model
