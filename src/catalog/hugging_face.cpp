// The shape of a published model from the `config.json` beside its weights. Key names and defaults
// are those of the configuration classes of Hugging Face transformers (configuration_llama.py,
// _mistral.py, _mixtral.py, _qwen2.py, _qwen2_moe.py, _qwen3.py, _qwen3_moe.py, _gemma2.py,
// _gemma3.py, _phi3.py, _gpt_oss.py, _gpt_neox.py, _gpt2.py, _deepseek_v2.py, _deepseek_v3.py) and,
// for MPT, of llm-foundry.

#include <filesystem>

#include <fmt/format.h>

#include "catalog/catalog.h"
#include "catalog/records.h"
#include "catalog/value_reader.h"

namespace fabricast::catalog {

namespace {

using base::yaml::Node;

enum class Architecture {
  kLlama,
  kMistral,
  kMixtral,
  kQwen2,
  kQwen2Moe,
  kQwen3,
  kQwen3Moe,
  kGemma2,
  kGemma3,
  kPhi3,
  kGptOss,
  kGptNeoX,
  kGpt2,
  kMpt,
  kDeepseekV2,
  kDeepseekV3,
};

const std::vector<std::string>& architecture_names() {
  static const std::vector<std::string> names = {
      "LlamaForCausalLM",     "MistralForCausalLM",  "MixtralForCausalLM",
      "Qwen2ForCausalLM",     "Qwen2MoeForCausalLM", "Qwen3ForCausalLM",
      "Qwen3MoeForCausalLM",  "Gemma2ForCausalLM",   "Gemma3ForCausalLM",
      "Phi3ForCausalLM",      "GptOssForCausalLM",   "GPTNeoXForCausalLM",
      "GPT2LMHeadModel",      "MPTForCausalLM",      "DeepseekV2ForCausalLM",
      "DeepseekV3ForCausalLM"};
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
  throw base::input_error(
      config.fields().where(config.fields().has("hidden_size") ? "hidden_size" : "n_embd"),
      fmt::format("{} over {} heads", m.hidden, m.heads),
      "a multiple of `num_attention_heads`, or `head_dim` stated");
}

void read_mixtral_experts(Config& config, LanguageModel& m) {
  m.experts = config.required("num_local_experts", kMostExperts);
  m.experts_per_token = config.required("num_experts_per_tok", kMostExperts);
  m.expert_feed_forward = m.feed_forward;
}

/// Refuses a key that changes the shape in a way that is not counted here.
void require(Config& config, std::string_view key, int found, int fallback,
             const std::string& allowed) {
  if (found == fallback) return;
  throw base::input_error(config.fields().where(key), fmt::format("the number {}", found), allowed);
}

void require_absent(Config& config, std::string_view key) {
  const Node* node = config.fields().optional(key);
  if (node == nullptr || node->kind != Node::Kind::kSequence || node->items.empty()) return;
  throw base::input_error(node->where, node->description(), "an empty list");
}

/// Qwen2-MoE and Qwen3-MoE: experts in every layer.
void read_qwen_experts(Config& config, LanguageModel& m, bool shared) {
  m.experts = config.required("num_experts", kMostExperts);
  m.experts_per_token = config.required("num_experts_per_tok", kMostExperts);
  m.expert_feed_forward = config.required("moe_intermediate_size", kMostFeedForward);
  if (shared) {
    m.shared_experts = 1;
    m.shared_feed_forward = config.required("shared_expert_intermediate_size", kMostFeedForward);
    m.shared_gate = true;
  }
  require(config, "decoder_sparse_step", config.optional("decoder_sparse_step", kMostLayers, 1), 1,
          "1 (every layer has experts)");
  require_absent(config, "mlp_only_layers");
}

void read_gpt_oss(Config& config, LanguageModel& m) {
  m.experts = config.required("num_local_experts", kMostExperts);
  m.experts_per_token = config.optional("num_experts_per_tok", kMostExperts, 4);
  m.expert_feed_forward = m.feed_forward;
  m.attention_sinks = true;
  m.linear_bias = true;
}

/// `layer_types` as newer files list them: a window in all layers but each so many-th.
int full_every(const Node& types) {
  std::vector<int> full;
  for (std::size_t i = 0; i < types.items.size(); ++i) {
    if (base::yaml::text(types.items[i]) == "full_attention") full.push_back(static_cast<int>(i));
  }
  if (full.empty()) return 0;
  const int every = full.front() + 1;
  const std::size_t expected = types.items.size() / static_cast<std::size_t>(every);
  for (std::size_t i = 0; i < full.size(); ++i) {
    if ((full[i] + 1) % every != 0 || full.size() != expected) {
      throw base::input_error(types.where, "layers with and without a window in no fixed turn",
                              "full attention in each so many-th layer");
    }
  }
  return every;
}

/// Sliding windows, where the architecture has them switched on.
void read_window(Config& config, Architecture architecture, LanguageModel& m) {
  const bool qwen = architecture == Architecture::kQwen2 || architecture == Architecture::kQwen3 ||
                    architecture == Architecture::kQwen2Moe ||
                    architecture == Architecture::kQwen3Moe;
  if (qwen && !config.flag("use_sliding_window", false)) return;
  if (qwen) {
    throw base::input_error(config.fields().where("use_sliding_window"), "true",
                            "false (layers below `max_window_layers` differ from the rest)");
  }
  m.sliding_window = config.optional("sliding_window", kMostContext, 0);
  if (m.sliding_window == 0) return;
  // Defaults of configuration_gemma2.py, _gemma3.py and _gpt_oss.py.
  if (architecture == Architecture::kGemma2 || architecture == Architecture::kGptOss) {
    m.full_attention_every = 2;
  }
  if (architecture == Architecture::kGemma3) {
    m.full_attention_every = config.optional("sliding_window_pattern", kMostLayers, 6);
  }
  const Node* types = config.fields().optional("layer_types");
  if (types != nullptr && types->kind == Node::Kind::kSequence) {
    m.full_attention_every = full_every(*types);
  }
}

/// `attention_bias` puts one on the four matrices of attention; Qwen2's three have theirs whatever
/// the file says (modeling_qwen2.py).
void read_biases(Config& config, Architecture architecture, LanguageModel& m) {
  const bool qwen2 =
      architecture == Architecture::kQwen2 || architecture == Architecture::kQwen2Moe;
  const bool attention = config.flag("attention_bias", false);
  m.attention_bias = qwen2 || attention;
  m.output_bias = !qwen2 && attention;
  if (config.flag("mlp_bias", false)) {
    if (!attention) {
      throw base::input_error(config.fields().where("mlp_bias"), "true without `attention_bias`",
                              "both or neither");
    }
    m.linear_bias = true;
  }
}

/// GPT-NeoX: rotary, two LayerNorms, biases throughout (modeling_gpt_neox.py).
void read_neox(Config& config, LanguageModel& m) {
  m.gated_mlp = false;
  m.norm_bias = true;
  m.linear_bias = true;
  if (!config.flag("attention_bias", true)) {
    throw base::input_error(config.fields().where("attention_bias"), "false", "true");
  }
}

/// GPT-2 has names of its own (configuration_gpt2.py) and ties its embeddings unless told not to.
LanguageModel read_gpt2(Config& config) {
  LanguageModel m;
  m.layers = config.required("n_layer", kMostLayers);
  m.hidden = config.required("n_embd", kMostHidden);
  m.feed_forward = config.optional("n_inner", kMostFeedForward, 4 * m.hidden);
  m.heads = config.required("n_head", kMostHeads);
  m.kv_heads = m.heads;
  m.vocabulary = config.required("vocab_size", kMostVocabulary);
  m.context = config.required("n_positions", kMostContext);
  m.learned_positions = m.context;
  m.tied_embeddings = config.flag("tie_word_embeddings", true);
  m.gated_mlp = false;
  m.linear_bias = true;
  m.norm_bias = true;
  return m;
}

/// MPT (configuration_mpt.py of llm-foundry): `no_bias` drops all biases, `alibi` the positions.
LanguageModel read_mpt(Config& config) {
  LanguageModel m;
  m.layers = config.required("n_layers", kMostLayers);
  m.hidden = config.required("d_model", kMostHidden);
  m.feed_forward = m.hidden * config.optional("expansion_ratio", 64, 4);
  m.heads = config.required("n_heads", kMostHeads);
  m.kv_heads = m.heads;
  m.vocabulary = config.required("vocab_size", kMostVocabulary);
  m.context = config.required("max_seq_len", kMostContext);
  m.tied_embeddings = config.flag("tie_word_embeddings", true);
  m.gated_mlp = false;
  m.linear_bias = !config.flag("no_bias", false);
  m.norm_bias = m.linear_bias;
  m.learned_positions = m.context;
  if (const Node* attention = config.fields().optional("attn_config");
      attention != nullptr && attention->kind == Node::Kind::kMapping) {
    Config inner(*attention);
    if (inner.flag("alibi", false) || inner.flag("rope", false)) m.learned_positions = 0;
    m.qk_norm = false;
    if (inner.flag("qk_ln", false)) {
      throw base::input_error(inner.fields().where("qk_ln"), "true", "false");
    }
    m.kv_heads = inner.optional("kv_n_heads", kMostHeads, m.heads);
  }
  return m;
}

void read_deepseek(Config& config, Architecture architecture, LanguageModel& m) {
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
  m.routing_bias = architecture == Architecture::kDeepseekV3 && m.experts > 0;
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

/// The keys that most architectures share.
LanguageModel read_common(Config& config, Architecture architecture) {
  LanguageModel m;
  m.layers = config.required("num_hidden_layers", kMostLayers);
  m.hidden = config.required("hidden_size", kMostHidden);
  m.feed_forward = config.required("intermediate_size", kMostFeedForward);
  m.heads = config.required("num_attention_heads", kMostHeads);
  m.kv_heads = config.optional("num_key_value_heads", kMostHeads, m.heads);
  m.head_dim = config.optional("head_dim", kMostHeadDim, 0);
  m.vocabulary = config.required("vocab_size", kMostVocabulary);
  m.context = config.required("max_position_embeddings", kMostContext);
  const bool gemma = architecture == Architecture::kGemma2 || architecture == Architecture::kGemma3;
  m.tied_embeddings = config.flag("tie_word_embeddings", gemma);
  m.norms_per_layer = gemma ? 4 : 2;
  m.qk_norm = architecture == Architecture::kQwen3 || architecture == Architecture::kQwen3Moe ||
              architecture == Architecture::kGemma3;
  read_biases(config, architecture, m);
  read_window(config, architecture, m);
  switch (architecture) {
    case Architecture::kMixtral:
      read_mixtral_experts(config, m);
      break;
    case Architecture::kQwen2Moe:
    case Architecture::kQwen3Moe:
      read_qwen_experts(config, m, architecture == Architecture::kQwen2Moe);
      break;
    case Architecture::kGptOss:
      read_gpt_oss(config, m);
      break;
    case Architecture::kGptNeoX:
      read_neox(config, m);
      break;
    case Architecture::kDeepseekV2:
    case Architecture::kDeepseekV3:
      read_deepseek(config, architecture, m);
      break;
    default:
      break;
  }
  return m;
}

}  // namespace

LanguageModel read_hugging_face_config(const std::string& path) {
  const Node document = base::yaml::parse_file(path);
  Config config(document);
  const Architecture architecture = architecture_of(config);
  LanguageModel m = architecture == Architecture::kGpt2  ? read_gpt2(config)
                    : architecture == Architecture::kMpt ? read_mpt(config)
                                                         : read_common(config, architecture);
  // Both are printed where nothing escapes them, and folders may be called anything.
  m.id = base::printable(path);
  m.name = base::printable(name_from(path));
  if (m.head_dim == 0) m.head_dim = even_head_dim(config, m);
  if (m.kv_heads == 0) {
    throw base::input_error(config.fields().where("num_key_value_heads"), "the number 0",
                            "a whole number from 1");
  }
  check(m, document.where);
  return m;
}

}  // namespace fabricast::catalog
