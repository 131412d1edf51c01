#include <algorithm>

#include <fmt/format.h>

#include "model/layer.h"
#include "model/model.h"

namespace fabricast::model {

namespace {

double sum_weights(const std::vector<Matrix>& matrices) {
  double sum = 0;
  for (const Matrix& x : matrices) sum += weights_of(x);
  return sum;
}

/// One norm of the hidden size.
double norm_parameters(const catalog::LanguageModel& m) {
  return (m.norm_bias ? 2.0 : 1.0) * m.hidden;
}

/// Half of a layer's norms count with the MLP, the others with attention.
double mlp_norm_parameters(const catalog::LanguageModel& m) {
  const int norms = m.norms_per_layer / 2;
  return norms * norm_parameters(m);
}

/// Width of all shared experts of a layer together.
double shared_width(const catalog::LanguageModel& m) {
  return m.shared_feed_forward > 0 ? m.shared_feed_forward
                                   : static_cast<double>(m.shared_experts) * m.expert_feed_forward;
}

/// Multiply-adds of one token through the matrices, times 2.
double flops_per_token(const std::vector<Matrix>& matrices) {
  double sum = 0;
  for (const Matrix& x : matrices) sum += 2 * x.in * x.out * x.copies * x.token_share;
  return sum;
}

std::vector<Matrix> latent_attention_matrices(const catalog::LanguageModel& m) {
  // DeepSeek-V2 report (2024), section 2.1: queries and key-values pass through low-rank latents,
  // each with a norm of its own; the rotary part of the key is shared by all heads.
  const double hidden = m.hidden;
  const double heads = m.heads;
  const double query_out = heads * query_key_dim(m);
  std::vector<Matrix> matrices;
  const auto push = [&](std::string_view name, Matrix x) {
    x.parts = {{name, x.out}};
    matrices.push_back(std::move(x));
  };
  if (m.q_lora_rank > 0) {
    const double rank = m.q_lora_rank;
    push("q_a_proj", {.in = hidden, .out = rank, .split = Split::kReplicated, .vectors = rank});
    push("q_b_proj", {.in = rank, .out = query_out});
  } else {
    push("q_proj", {.in = hidden, .out = query_out});
  }
  const double rank = m.kv_lora_rank;
  push("kv_a_proj_with_mqa", {.in = hidden,
                              .out = rank + m.qk_rope_head_dim,
                              .split = Split::kReplicated,
                              .vectors = rank});
  push("kv_b_proj", {.in = rank, .out = heads * (m.qk_nope_head_dim + value_dim(m))});
  push("o_proj", {.in = heads * value_dim(m), .out = hidden, .split = Split::kRows});
  return matrices;
}

/// Gate and up projections in one matrix, then the way down.
void push_mlp(std::vector<Matrix>& matrices, const catalog::LanguageModel& m, double width,
              const Matrix& like) {
  Matrix up = like;
  up.in = m.hidden;
  up.out = (m.gated_mlp ? 2 : 1) * width;
  up.split = Split::kColumns;
  if (m.gated_mlp) up.parts.push_back({"gate_proj", width});
  up.parts.push_back({"up_proj", width});
  Matrix down = like;
  down.in = width;
  down.out = m.hidden;
  down.split = Split::kRows;
  down.parts = {{"down_proj", down.out}};
  for (Matrix* x : {&up, &down}) {
    x->vectors = m.linear_bias ? x->out * x->copies : 0;
    matrices.push_back(std::move(*x));
  }
}

}  // namespace

bool has_latent_attention(const catalog::LanguageModel& m) {
  return m.kv_lora_rank > 0;
}

int window_of(const catalog::LanguageModel& m, int layer) {
  const bool full = m.full_attention_every > 0 && (layer + 1) % m.full_attention_every == 0;
  return full ? 0 : m.sliding_window;
}

double layer_vectors(const catalog::LanguageModel& m) {
  const double norms = m.norms_per_layer * norm_parameters(m);
  return norms + (m.qk_norm ? 2.0 * m.head_dim : 0) + (m.attention_sinks ? m.heads : 0);
}

bool is_mixture_layer(const catalog::LanguageModel& m, int layer) {
  return m.experts > 0 && layer >= m.dense_layers;
}

double query_key_dim(const catalog::LanguageModel& m) {
  return has_latent_attention(m) ? m.qk_nope_head_dim + m.qk_rope_head_dim : m.head_dim;
}

double value_dim(const catalog::LanguageModel& m) {
  return has_latent_attention(m) ? m.v_head_dim : m.head_dim;
}

double mlp_width(const catalog::LanguageModel& m, int layer) {
  if (!is_mixture_layer(m, layer)) return m.feed_forward;
  return static_cast<double>(m.experts_per_token) * m.expert_feed_forward + shared_width(m);
}

std::vector<Matrix> attention_matrices(const catalog::LanguageModel& m) {
  if (has_latent_attention(m)) return latent_attention_matrices(m);
  const double hidden = m.hidden;
  const double dim = m.head_dim;
  const double qkv = (m.heads + 2.0 * m.kv_heads) * dim;
  return {{.in = hidden,
           .out = qkv,
           .vectors = m.attention_bias || m.linear_bias ? qkv : 0,
           .parts = {{"q_proj", m.heads * dim},
                     {"k_proj", m.kv_heads * dim},
                     {"v_proj", m.kv_heads * dim}}},
          {.in = m.heads * dim,
           .out = hidden,
           .split = Split::kRows,
           .vectors = m.output_bias || m.linear_bias ? hidden : 0,
           .parts = {{"o_proj", hidden}}}};
}

std::vector<Matrix> mlp_matrices(const catalog::LanguageModel& m, int layer) {
  std::vector<Matrix> matrices;
  if (!is_mixture_layer(m, layer)) {
    push_mlp(matrices, m, m.feed_forward, {});
    return matrices;
  }
  const double experts = m.experts;
  matrices.push_back({.in = static_cast<double>(m.hidden),
                      .out = experts,
                      .split = Split::kReplicated,
                      .vectors = m.linear_bias || m.routing_bias ? experts : 0});
  push_mlp(matrices, m, m.expert_feed_forward,
           {.copies = experts, .token_share = m.experts_per_token / experts, .expert = true});
  if (shared_width(m) > 0) push_mlp(matrices, m, shared_width(m), {});
  if (m.shared_gate) {
    matrices.push_back(
        {.in = static_cast<double>(m.hidden), .out = 1, .split = Split::kReplicated});
  }
  return matrices;
}

std::vector<Matrix> layer_matrices(const catalog::LanguageModel& m, int layer) {
  std::vector<Matrix> matrices = attention_matrices(m);
  const std::vector<Matrix> mlp = mlp_matrices(m, layer);
  matrices.insert(matrices.end(), mlp.begin(), mlp.end());
  return matrices;
}

double attention_parameters(const catalog::LanguageModel& m) {
  return sum_weights(attention_matrices(m)) + layer_vectors(m) - mlp_norm_parameters(m);
}

double mlp_parameters(const catalog::LanguageModel& m, int layer) {
  return sum_weights(mlp_matrices(m, layer)) + mlp_norm_parameters(m);
}

double active_mlp_parameters(const catalog::LanguageModel& m, int layer) {
  double sum = mlp_norm_parameters(m);
  for (const Matrix& x : mlp_matrices(m, layer)) sum += weights_of(x) * x.token_share;
  return sum;
}

double embedding_parameters(const catalog::LanguageModel& m) {
  const double rows = (m.tied_embeddings ? 1.0 : 2.0) * m.vocabulary + m.learned_positions;
  return rows * m.hidden;
}

double parameters(const catalog::LanguageModel& m) {
  double sum = embedding_parameters(m) + norm_parameters(m) + m.layers * attention_parameters(m);
  for (int layer = 0; layer < m.layers; ++layer) sum += mlp_parameters(m, layer);
  return sum;
}

double active_parameters(const catalog::LanguageModel& m) {
  double sum = embedding_parameters(m) + norm_parameters(m) + m.layers * attention_parameters(m);
  for (int layer = 0; layer < m.layers; ++layer) sum += active_mlp_parameters(m, layer);
  return sum;
}

LayerFlops forward_flops(const catalog::LanguageModel& m, int layer, int sequence) {
  const double s = sequence;
  const double window = window_of(m, layer);
  // Pairs of a query and a key: half the square, or the band of the window below the diagonal.
  const double pairs = window > 0 && window < s ? s * window - window * window / 2 : s * s / 2;
  return {.gemm = s * flops_per_token(layer_matrices(m, layer)),
          .attention = 2 * pairs * m.heads * (query_key_dim(m) + value_dim(m))};
}

double output_head_flops(const catalog::LanguageModel& m, int sequence) {
  return 2.0 * sequence * m.hidden * m.vocabulary;
}

StageLayers stage_layers(const catalog::LanguageModel& m, int pp, int stage) {
  if (pp > 2 && m.layers % pp != 0 && (m.layers + 2) % pp == 0) {
    const int full = (m.layers + 2) / pp;
    return {.first = stage == 0 ? 0 : stage * full - 1,
            .count = full - (stage == 0 || stage == pp - 1 ? 1 : 0)};
  }
  const int base = m.layers / pp;
  const int longer = m.layers % pp;
  return {.first = stage * base + std::min(stage, longer),
          .count = base + (stage < longer ? 1 : 0)};
}

bool holds_embedding(int stage) {
  return stage == 0;
}
bool holds_output_head(const Parallelism& p, int stage) {
  return stage == p.pp - 1;
}

StageParameters count_stage(const catalog::LanguageModel& m, const Parallelism& p, int stage) {
  StageParameters sum;
  const StageLayers layers = stage_layers(m, p.pp, stage);
  for (int layer = layers.first; layer < layers.first + layers.count; ++layer) {
    for (const Matrix& x : layer_matrices(m, layer)) {
      const double held = weights_of(x) / (x.split == Split::kReplicated ? 1 : p.tp);
      const double here = x.expert ? held / p.ep : held;
      (x.expert ? sum.expert : sum.shared) += here;
      sum.low_precision += here;
    }
    sum.shared += layer_vectors(m);
  }
  const double embedding = static_cast<double>(m.vocabulary) * m.hidden / p.tp;
  if (holds_embedding(stage)) {
    sum.shared += embedding + static_cast<double>(m.learned_positions) * m.hidden;
  }
  if (holds_output_head(p, stage)) {
    sum.shared += norm_parameters(m);
    // A tied embedding on another stage is a second copy whose gradients are summed.
    if (!m.tied_embeddings || p.pp > 1) sum.shared += embedding;
  }
  return sum;
}

std::string_view name_of(Recompute recompute) {
  switch (recompute) {
    case Recompute::kNone:
      return "none";
    case Recompute::kSelective:
      return "selective";
    case Recompute::kFull:
      return "full";
  }
  return "";
}

std::string to_string(const Parallelism& p) {
  std::string text = fmt::format("tp {} x pp {} x dp {}", p.tp, p.pp, p.dp);
  if (p.cp > 1) text += fmt::format(" x cp {}", p.cp);
  if (p.ep > 1) text += fmt::format(", ep {}", p.ep);
  if (p.vpp > 1) text += fmt::format(", vpp {}", p.vpp);
  if (p.zero > 0) text += fmt::format(", ZeRO-{}", p.zero);
  return text;
}

}  // namespace fabricast::model
