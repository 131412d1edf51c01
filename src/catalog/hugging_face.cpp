// The shape of a published model from the `config.json` beside its weights. Key names and defaults
// are those of the configuration classes of Hugging Face transformers (configuration_llama.py,
// _mistral.py, _mixtral.py, _qwen2.py, _deepseek_v2.py, _deepseek_v3.py).

#include <filesystem>

#include <fmt/format.h>

#include "catalog/catalog.h"
#include "catalog/records.h"
#include "catalog/value_reader.h"

namespace fabricast::catalog {

namespace {

using base::yaml::Node;

enum class Architecture { kLlama, kMistral, kMixtral, kQwen2, kDeepseekV2, kDeepseekV3 };

const std::vector<std::string>& architecture_names() {
  static const std::vector<std::string> names = {"LlamaForCausalLM",      "MistralForCausalLM",
                                                 "MixtralForCausalLM",    "Qwen2ForCausalLM",
                                                 "DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM"};
  return names;
}

/// A configuration being read; keys that do not bear on the shape are left alone.
class Config {
 public:
  explicit Config(const Node& node) : fields_(node) {}

  int required(std::string_view key, int most) {
    return static_cast<int>(fields_.integer(key, 1, most));
  }
  /// JSON writes "not set" as null.
  int optional(std::string_view key, int most, int fallback) {
    const Node* node = fields_.optional(key);
    if (node == nullptr || node->kind == Node::Kind::kNull) return fallback;
    return static_cast<int>(base::yaml::integer(*node, 0, most));
  }
  bool flag(std::string_view key, bool fallback) {
    const Node* node = fields_.optional(key);
    if (node == nullptr || node->kind == Node::Kind::kNull) return fallback;
    return base::yaml::boolean(*node);
  }
  base::yaml::Fields& fields() { return fields_; }

 private:
  base::yaml::Fields fields_;
};

Architecture architecture_of(Config& config) {
  const Node& list = config.fields().required("architectures");
  if (list.kind != Node::Kind::kSequence || list.items.size() != 1) {
    throw base::input_error(list.where, list.description(), "a list of one architecture");
  }
  return static_cast<Architecture>(choose(list.items[0], architecture_names()));
}

/// What attention takes where the file does not say; a remainder would be a broken model.
int even_head_dim(Config& config, const LanguageModel& m) {
  if (m.hidden % m.heads == 0) return m.hidden / m.heads;
  throw base::input_error(config.fields().where("hidden_size"),
                          fmt::format("{} over {} heads", m.hidden, m.heads),
                          "a multiple of `num_attention_heads`, or `head_dim` stated");
}

void read_mixtral_experts(Config& config, LanguageModel& m) {
  m.experts = config.required("num_local_experts", kMostExperts);
  m.experts_per_token = config.required("num_experts_per_tok", kMostExperts);
  m.expert_feed_forward = m.feed_forward;
}

void read_deepseek(Config& config, LanguageModel& m) {
  m.experts = config.optional("n_routed_experts", kMostExperts, 0);
  if (m.experts > 0) {
    m.experts_per_token = config.required("num_experts_per_tok", kMostExperts);
    m.shared_experts = config.optional("n_shared_experts", kMostExperts, 0);
    m.expert_feed_forward = config.required("moe_intermediate_size", kMostFeedForward);
    m.dense_layers = config.optional("first_k_dense_replace", kMostLayers, 0);
    const int every = config.optional("moe_layer_freq", kMostLayers, 1);
    if (every != 1) {
      throw base::input_error(config.fields().where("moe_layer_freq"),
                              fmt::format("the number {}", every),
                              "1 (every layer after the dense ones has experts)");
    }
  }
  m.q_lora_rank = config.optional("q_lora_rank", kMostHidden, 0);
  m.kv_lora_rank = config.required("kv_lora_rank", kMostHidden);
  m.qk_rope_head_dim = config.required("qk_rope_head_dim", kMostHeadDim);
  m.qk_nope_head_dim = config.required("qk_nope_head_dim", kMostHeadDim);
  m.v_head_dim = config.required("v_head_dim", kMostHeadDim);
  m.head_dim = m.qk_nope_head_dim + m.qk_rope_head_dim;
}

/// "config.json" of a release lies in a folder that has the model's name.
std::string name_from(const std::string& path) {
  const std::filesystem::path file(path);
  const bool generic = file.filename() == "config.json" && file.has_parent_path();
  return generic ? file.parent_path().filename().string() : file.stem().string();
}

}  // namespace

LanguageModel read_hugging_face_config(const std::string& path) {
  const Node document = base::yaml::parse_file(path);
  Config config(document);
  const Architecture architecture = architecture_of(config);
  LanguageModel m;
  // Both are printed where nothing escapes them, and folders may be called anything.
  m.id = base::printable(path);
  m.name = base::printable(name_from(path));
  m.layers = config.required("num_hidden_layers", kMostLayers);
  m.hidden = config.required("hidden_size", kMostHidden);
  m.feed_forward = config.required("intermediate_size", kMostFeedForward);
  m.heads = config.required("num_attention_heads", kMostHeads);
  m.kv_heads = config.optional("num_key_value_heads", kMostHeads, m.heads);
  m.head_dim = config.optional("head_dim", kMostHeadDim, 0);
  if (m.head_dim == 0) m.head_dim = even_head_dim(config, m);
  m.vocabulary = config.required("vocab_size", kMostVocabulary);
  m.context = config.required("max_position_embeddings", kMostContext);
  m.tied_embeddings = config.flag("tie_word_embeddings", false);
  m.attention_bias = architecture == Architecture::kQwen2 || config.flag("attention_bias", false);
  if (architecture == Architecture::kMixtral) read_mixtral_experts(config, m);
  if (architecture == Architecture::kDeepseekV2 || architecture == Architecture::kDeepseekV3) {
    read_deepseek(config, m);
  }
  if (m.kv_heads == 0) {
    throw base::input_error(config.fields().where("num_key_value_heads"), "the number 0",
                            "a whole number from 1");
  }
  check(m, document.where);
  return m;
}

}  // namespace fabricast::catalog
