#include "model/inference.h"

#include <algorithm>
#include <cmath>

#include "model/layer.h"

namespace fabricast::model {
namespace {

using catalog::Precision;

// Share of the memory's bandwidth that elementwise kernels reach; as in training (gpu_time.cpp).
constexpr double kMemoryEfficiency = 0.9;
constexpr double kActivationBytes = 2;
// NVFP4 and the like: one 8-bit scale per 16 values.
constexpr double kFp4Bytes = 0.5 + 1.0 / 16;
// As in training (memory.cpp), without a training's buffers: context and modules 0.5 GB, NCCL 1 GB,
// workspaces 0.5 GB (assumed).
constexpr double kOverheadGb = 2;
// Sampling: softmax, top-k and top-p, a draw, in fp32: passes over the logits (assumed), and
// kernels.
constexpr double kSamplingBytes = 16;
constexpr double kSamplingKernels = 6;

double weight_bytes_of(Precision precision) {
  return precision == Precision::kFp4 ? kFp4Bytes : element_bytes(precision);
}

/// What the tensor cores compute in: a GPU without units of the weights' precision widens them.
Precision computing(const catalog::Gpu& gpu, Precision precision) {
  return gpu.peak_tflops(precision) > 0 ? precision : Precision::kBf16;
}

Parallelism layout(const InferenceShape& shape) {
  Parallelism p;
  p.tp = shape.tp;
  p.pp = shape.pp;
  p.ep = shape.expert_parallel ? shape.dp : 1;  // cut by tp or spread over tp: the same bytes
  return p;
}

}  // namespace

double weight_bytes(const catalog::LanguageModel& m, const InferenceShape& shape, int stage) {
  const StageParameters held = count_stage(m, layout(shape), stage);
  return held.low_precision * weight_bytes_of(shape.precision) +
         (held.shared + held.expert - held.low_precision) *
             (shape.precision == Precision::kFp32 ? 4 : kActivationBytes);
}

double cache_bytes_per_token(const catalog::LanguageModel& m, const InferenceShape& shape,
                             int stage) {
  const double values = has_latent_attention(m)
                            ? m.kv_lora_rank + m.qk_rope_head_dim
                            : 2.0 * m.head_dim * std::max(1.0, 1.0 * m.kv_heads / shape.tp);
  return values * shape.cache_bytes * stage_layers(m, shape.pp, stage).count;
}

InferenceMemory inference_memory(const catalog::LanguageModel& m, const InferenceShape& shape,
                                 int tokens, int sequences) {
  InferenceMemory fullest;
  const auto held = [](const InferenceMemory& x) { return x.weights_gb + x.activations_gb; };
  for (int stage = 0; stage < shape.pp; ++stage) {
    InferenceMemory memory;
    memory.weights_gb = weight_bytes(m, shape, stage) * 1e-9;
    // A layer at a time: its input, its residual, what its widest matrix makes of them.
    double widest = 0;
    for (int layer = 0; layer < m.layers; ++layer) widest = std::max(widest, mlp_width(m, layer));
    const double per_token = (4.0 * m.hidden + (m.gated_mlp ? 3 : 2) * widest / shape.tp) * 2;
    memory.activations_gb = tokens * per_token * 1e-9;
    if (stage == shape.pp - 1) memory.activations_gb += 8.0 * sequences * m.vocabulary * 1e-9;
    memory.overhead_gb = kOverheadGb;
    memory.cache_gb_per_token = cache_bytes_per_token(m, shape, stage) * 1e-9;
    const double per = std::max(fullest.cache_gb_per_token, memory.cache_gb_per_token);
    if (stage == 0 || held(memory) > held(fullest)) fullest = memory;
    fullest.cache_gb_per_token = per;
  }
  return fullest;
}

InferenceTimes::InferenceTimes(const catalog::Gpu& gpu, const catalog::LanguageModel& m,
                               const InferenceShape& shape, int stage)
    : gpu_(sustained(gpu)), m_(m), shape_(shape), last_(stage == shape.pp - 1) {
  const StageLayers layers = stage_layers(m, shape.pp, stage);
  for (int layer = layers.first; layer < layers.first + layers.count; ++layer) {
    layers_ += 1;
    mixture_layers_ += is_mixture_layer(m, layer) ? 1 : 0;
    const int window = window_of(m, layer);
    const auto same = std::ranges::find_if(kinds_, [&](const Kind& kind) {
      return kind.window == window && is_mixture_layer(m, kind.layer) == is_mixture_layer(m, layer);
    });
    if (same == kinds_.end()) {
      kinds_.push_back({layer, window, 1});
    } else {
      same->count += 1;
    }
    const auto found = std::ranges::find(windows_, window, &std::pair<int, double>::first);
    if (found == windows_.end()) {
      windows_.emplace_back(window, 1);
    } else {
      found->second += 1;
    }
  }
}

// Matrices that hold the whole layer or a cut of it, and what is bound by memory. Norms are on
// every GPU of a tensor-parallel group, since serving engines do without sequence parallelism.
double InferenceTimes::rank_s(double tokens) const {
  const double bandwidth = gpu_.memory_gb_per_s * 1e9 * kMemoryEfficiency;
  const double launch = gpu_.kernel_launch_us * 1e-6;
  const Precision precision = computing(gpu_, shape_.precision);
  const bool narrow = element_bytes(precision) < 2;
  double sum = 0;
  for (const Kind& kind : kinds_) {
    double layer = 0;
    for (const Matrix& x : layer_matrices(m_, kind.layer)) {
      if (x.expert) continue;
      const bool router = x.split == Split::kReplicated && x.out == m_.experts;
      const double in = x.split == Split::kRows ? x.in / shape_.tp : x.in;
      layer += gemm_s(gpu_, router ? Precision::kBf16 : precision,
                      {.m = tokens,
                       .n = x.split == Split::kColumns ? x.out / shape_.tp : x.out,
                       .k = in,
                       .weight_bytes = router ? 0 : weight_bytes_of(shape_.precision)});
      // The input is quantised: read, and written in a byte or less.
      if (narrow && !router) layer += tokens * in * 3 / bandwidth + launch;
    }
    const bool mixture = is_mixture_layer(m_, kind.layer);
    // Norms with the residual's sum in them: two in, two out; the activation: two in (gated), one
    // out; experts: a copy to each and the weighted sum back.
    double elements = 4.0 * m_.norms_per_layer * m_.hidden;
    if (!mixture) elements += (m_.gated_mlp ? 3.0 : 2.0) * m_.feed_forward / shape_.tp;
    double kernels = m_.norms_per_layer + 1.0;
    if (m_.qk_norm) {
      elements += 2.0 * (m_.heads + m_.kv_heads) * m_.head_dim / shape_.tp;
      kernels += 1;
    }
    if (mixture) {
      elements += 4.0 * m_.hidden * m_.experts_per_token;
      kernels += 3;  // softmax and top-k, sorting by expert, sum
    }
    layer += elements * kActivationBytes * tokens / bandwidth + kernels * launch;
    sum += kind.count * layer;
  }
  return sum;
}

// Experts that no token of the batch has chosen are not read: of E, E (1 - (1 - k/E)^tokens) are.
double InferenceTimes::experts_s(double tokens) const {
  const double bandwidth = gpu_.memory_gb_per_s * 1e9 * kMemoryEfficiency;
  const double launch = gpu_.kernel_launch_us * 1e-6;
  const Precision precision = computing(gpu_, shape_.precision);
  const double spread = shape_.expert_parallel ? 1.0 * shape_.tp * shape_.dp : 1;
  const double cut = shape_.expert_parallel ? 1 : shape_.tp;
  double sum = 0;
  for (const Kind& kind : kinds_) {
    if (!is_mixture_layer(m_, kind.layer)) continue;
    double layer = 0;
    for (const Matrix& x : layer_matrices(m_, kind.layer)) {
      if (!x.expert) continue;
      const double chosen = -std::expm1(tokens * std::log1p(-x.token_share));
      const double groups = std::max(1.0, x.copies * chosen / spread);
      const double rows = tokens * x.token_share * x.copies / spread / groups;
      const double in = x.split == Split::kRows ? x.in / cut : x.in;
      layer += gemm_s(gpu_, precision,
                      {.m = rows,
                       .n = x.split == Split::kColumns ? x.out / cut : x.out,
                       .k = in,
                       .groups = groups,
                       .weight_bytes = weight_bytes_of(shape_.precision)});
      if (element_bytes(precision) < 2) layer += rows * groups * in * 3 / bandwidth + launch;
    }
    const double activated =
        (m_.gated_mlp ? 3.0 : 2.0) * m_.experts_per_token * m_.expert_feed_forward / cut / spread;
    layer += activated * kActivationBytes * tokens / bandwidth + launch;
    sum += kind.count * layer;
  }
  return sum;
}

namespace {

template <class Compute>
double remembered(std::vector<double>& known, int count, Compute compute) {
  const auto index = static_cast<std::size_t>(count);
  if (index >= known.size()) known.resize(index + 1, -1);
  if (known[index] < 0) known[index] = compute();
  return known[index];
}

}  // namespace

double InferenceTimes::layers_s(int tokens, int together) const {
  double sum = tokens > 0 ? remembered(rank_times_, tokens, [&] { return rank_s(tokens); }) : 0;
  if (m_.experts > 0 && together > 0) {
    sum += remembered(expert_times_, together, [&] { return experts_s(together); });
  }
  return sum;
}

double InferenceTimes::head_s(int sequences) const {
  if (!last_ || sequences <= 0) return 0;
  return remembered(head_times_, sequences, [&] {
    const double columns = 1.0 * m_.vocabulary / shape_.tp;
    const double logits = 1.0 * sequences * m_.vocabulary;
    return gemm_s(gpu_, Precision::kBf16, sequences, columns, m_.hidden) +
           logits * kSamplingBytes / (gpu_.memory_gb_per_s * 1e9 * kMemoryEfficiency) +
           kSamplingKernels * gpu_.kernel_launch_us * 1e-6;
  });
}

// All chunks of a batch are one kernel.
double InferenceTimes::prompts_s(const std::vector<PromptChunk>& chunks) const {
  if (chunks.empty()) return 0;
  const double kv_heads = has_latent_attention(m_) ? m_.heads : m_.kv_heads;
  double sum = 0;
  for (const auto& [window, layers] : windows_) {
    shapes_.clear();
    for (const PromptChunk& chunk : chunks) {
      shapes_.push_back({.queries = chunk.queries,
                         .keys = chunk.keys,
                         .heads = 1.0 * m_.heads / shape_.tp,
                         .kv_heads = std::max(1.0, kv_heads / shape_.tp),
                         .head_dim = query_key_dim(m_),
                         .value_dim = value_dim(m_),
                         .window = 1.0 * window});
    }
    sum += layers * attention_s(gpu_, Precision::kBf16, shapes_);
  }
  return sum;
}

double InferenceTimes::decodes_s(const Decodes& decodes) const {
  if (decodes.sequences <= 0) return 0;
  const bool latent = has_latent_attention(m_);
  const double heads = latent ? 1 : std::max(1.0, 1.0 * m_.kv_heads / shape_.tp);
  const double values = latent ? m_.kv_lora_rank + m_.qk_rope_head_dim : 2.0 * m_.head_dim;
  double sum = 0;
  for (const auto& [window, layers] : windows_) {
    const double keys = window > 0 ? decodes.windowed_keys : decodes.keys;
    sum += layers * decode_attention_s(gpu_, {.batch = decodes.sequences,
                                              .context = keys / decodes.sequences,
                                              .kv_heads = heads,
                                              .bytes_per_token = values * shape_.cache_bytes});
  }
  return sum;
}

}  // namespace fabricast::model
