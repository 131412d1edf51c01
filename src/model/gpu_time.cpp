#include <algorithm>
#include <map>
#include <utility>

#include "model/kernels.h"
#include "model/layer.h"
#include "model/model.h"

namespace fabricast::model {

namespace {

using catalog::Gpu;
using catalog::LanguageModel;
using catalog::Precision;

// Assumed: share of the memory bandwidth that elementwise kernels reach; STREAM-like kernels on
// recent HBM parts are published at 0.90 to 0.94 of the data sheet.
constexpr double kMemoryEfficiency = 0.9;
// Elementwise kernels of a layer beside its norms: two residual additions, the activation function.
constexpr double kOtherKernels = 3;
// Backward computes the scores again: five products instead of two (Dao 2023, section 3.1).
constexpr double kAttentionBackward = 2.5;
// A weight's gradient is added to an fp32 buffer in the same kernel: read and write 4 bytes.
constexpr double kAccumulatedBytes = 8;
// Adam per parameter of the shard: read the gradient twice (norm, update), read and write master,
// momentum and variance, write the bf16 weight.
constexpr double kAdamBytes = 4 + 4 + 6 * 4 + 2;

/// The machine and the share of the work that one GPU has.
struct Context {
  const Gpu& gpu;
  const LanguageModel& m;
  const TrainingShape& shape;
  double tokens;  ///< of one micro-batch on one GPU of a cp group

  double bandwidth() const { return gpu.memory_gb_per_s * 1e9 * kMemoryEfficiency; }
  double launch_s() const { return gpu.kernel_launch_us * 1e-6; }
  double activation_bytes() const { return shape.precision == Precision::kFp32 ? 4 : 2; }
  /// Of what FP8 and FP4 recipes leave alone: the head, the router and attention.
  Precision wide_precision() const {
    return shape.precision == Precision::kFp32 ? Precision::kFp32 : Precision::kBf16;
  }
};

Context context_of(const Gpu& gpu, const LanguageModel& m, const TrainingShape& shape) {
  return {gpu, m, shape,
          static_cast<double>(shape.micro_batch) * shape.sequence / shape.parallelism.cp};
}

struct Pass {
  double forward = 0;
  double backward = 0;
  Pass& operator+=(Pass o) {
    forward += o.forward;
    backward += o.backward;
    return *this;
  }
};

/// The share of a matrix that one GPU works on, and its tokens.
struct Share {
  double in;
  double out;
  double copies;
  double rows;  ///< tokens that pass through each copy
};

Share share_of(const Context& c, const Matrix& x) {
  const Parallelism& p = c.shape.parallelism;
  // An expert-parallel rank meets the tokens of ep ranks, each of its experts their share.
  return {.in = x.split == Split::kRows ? x.in / p.tp : x.in,
          .out = x.split == Split::kColumns ? x.out / p.tp : x.out,
          .copies = x.expert ? x.copies / p.ep : x.copies,
          .rows = c.tokens * x.token_share * (x.expert ? p.ep : 1)};
}

/// One product of a layer and its gradients: of its input always, of its weights where they train.
Pass product_time(const Context& c, const Share& share, Precision precision, bool trained) {
  const double result = c.activation_bytes();
  Pass t;
  t.forward = gemm_s(c.gpu, precision,
                     {.m = share.rows,
                      .n = share.out,
                      .k = share.in,
                      .groups = share.copies,
                      .result_bytes = result});
  t.backward = gemm_s(c.gpu, precision,
                      {.m = share.rows,
                       .n = share.in,
                       .k = share.out,
                       .groups = share.copies,
                       .result_bytes = result});
  if (trained) {
    t.backward += gemm_s(c.gpu, precision,
                         {.m = share.in,
                          .n = share.out,
                          .k = share.rows,
                          .groups = share.copies,
                          .result_bytes = kAccumulatedBytes});
  }
  return t;
}

/// Low-rank adapters in the wide precision: x A B beside x W, and the sum of the two.
Pass adapter_time(const Context& c, const Matrix& x, const Share& share) {
  const Adapters adapters = adapters_of(x, c.shape.finetuning);
  Pass sum;
  if (adapters.count == 0) return sum;
  const double rank = c.shape.finetuning.rank;
  const double out = adapters.out * share.out / x.out / adapters.count;
  for (int i = 0; i < adapters.count; ++i) {
    Share a = share;
    a.out = rank;
    Share b = share;
    b.in = rank;
    b.out = out;
    sum += product_time(c, a, c.wide_precision(), true);
    sum += product_time(c, b, c.wide_precision(), true);
    const double added = 3 * share.rows * share.copies * out * c.activation_bytes();
    sum += {.forward = added / c.bandwidth() + c.launch_s(), .backward = 0};
  }
  return sum;
}

Pass matrix_time(const Context& c, const Matrix& x, Precision precision) {
  const Share share = share_of(c, x);
  Pass t = product_time(c, share, precision, c.shape.finetuning.full());
  t += adapter_time(c, x, share);
  if (element_bytes(precision) < 2) {
    // Quantising a GEMM's input: read it, write it and its transpose; backward the same for the
    // gradient of its output. Sequence parallelism quantises before it gathers.
    const double written = 2 * element_bytes(precision);
    const double moved =
        c.tokens * x.token_share * x.copies / c.shape.parallelism.tp / c.bandwidth();
    t.forward += moved * x.in * (2 + written) + c.launch_s();
    t.backward += moved * x.out * (2 + written) + c.launch_s();
  }
  return t;
}

/// Norms, residuals, activation function: all bound by memory. Attention rotates its own input.
Pass elementwise_time(const Context& c, int layer) {
  const LanguageModel& m = c.m;
  const double hidden = m.hidden;
  // Elements moved per token: norms x (1 in, 1 out), 2 residuals x (2 in, 1 out), activation (2 in
  // when gated, 1 out).
  double elements =
      (2.0 * m.norms_per_layer + 6) * hidden + (m.gated_mlp ? 3 : 2) * mlp_width(m, layer);
  double kernels = kOtherKernels + m.norms_per_layer;
  if (m.qk_norm) {
    elements += 2.0 * (m.heads + m.kv_heads) * m.head_dim;
    kernels += 2;
  }
  if (is_mixture_layer(m, layer)) {
    elements += 4 * hidden * m.experts_per_token;  // gather per expert, and weighted sum back
    kernels += 4;  // softmax and top-k of the gate, permute, unpermute
  }
  const double s =
      elements * c.activation_bytes() * c.tokens / c.shape.parallelism.tp / c.bandwidth();
  // Backward reads the saved input beside the incoming gradient: twice the traffic.
  return {.forward = s + kernels * c.launch_s(), .backward = 2 * s + kernels * c.launch_s()};
}

double forward_attention_s(const Context& c, int layer) {
  const Parallelism& p = c.shape.parallelism;
  const bool groups = c.shape.finetuning.kind == FinetuningKind::kLongLora;
  // Shifted groups (Chen et al. 2023, section 3.2): half of the heads attend within groups of
  // tokens, the other half within groups shifted by half of one; either is short sequences.
  const double attended = groups ? c.shape.finetuning.group : c.shape.sequence;
  const double kv_heads = has_latent_attention(c.m) ? c.m.heads : c.m.kv_heads;
  return attention_s(c.gpu, c.wide_precision(),
                     {.batch = c.shape.micro_batch * c.shape.sequence / attended,
                      .queries = attended,
                      .keys = attended,
                      .heads = static_cast<double>(c.m.heads) / p.tp,
                      .kv_heads = std::max(1.0, kv_heads / p.tp),
                      .head_dim = query_key_dim(c.m),
                      .value_dim = value_dim(c.m),
                      .window = static_cast<double>(window_of(c.m, layer)),
                      .shards = static_cast<double>(p.cp)});
}

Pass layer_time(const Context& c, int layer) {
  Pass sum;
  for (const Matrix& x : layer_matrices(c.m, layer)) {
    const bool router = x.split == Split::kReplicated && x.out == c.m.experts;
    sum += matrix_time(c, x, router ? c.wide_precision() : c.shape.precision);
  }
  const double attention = forward_attention_s(c, layer);
  sum += {.forward = attention, .backward = kAttentionBackward * attention};
  sum += elementwise_time(c, layer);
  return sum;
}

Pass embedding_time(const Context& c) {
  // Look-up: read and write a row per token; backward: read the gradient, add it to an fp32 row.
  const double elements = c.tokens * c.m.hidden / c.shape.parallelism.tp;
  const bool trained = c.shape.finetuning.kind != FinetuningKind::kLora;
  const double read = c.activation_bytes() + 8;
  return {.forward = elements * 2 * c.activation_bytes() / c.bandwidth() + c.launch_s(),
          .backward = trained ? elements * read / c.bandwidth() + c.launch_s() : 0};
}

Pass head_time(const Context& c) {
  const Matrix head{.in = static_cast<double>(c.m.hidden),
                    .out = static_cast<double>(c.m.vocabulary)};
  Pass t = matrix_time(c, head, c.wide_precision());
  // Cross-entropy on fp32 logits: maximum, exponentials in place, gradient in place.
  const double logits = c.tokens * c.m.vocabulary / c.shape.parallelism.tp;
  t.forward += logits * 12 / c.bandwidth() + 3 * c.launch_s();
  t.backward += logits * 8 / c.bandwidth() + c.launch_s();
  return t;
}

double optimizer_time(const Context& c, int stage) {
  const Parallelism& p = c.shape.parallelism;
  const StageParameters held = count_trained(c.m, p, stage, c.shape.finetuning);
  const double group = p.zero >= 1 ? static_cast<double>(p.dp) * p.cp : 1;
  const double experts = p.zero >= 1 ? std::max(1.0, group / p.ep) : 1;
  double bytes = kAdamBytes * (held.shared / group + held.expert / experts);
  // The first micro-batch quantises every weight: read bf16, write both layouts.
  const double element = element_bytes(c.shape.precision);
  if (element < 2 && c.shape.finetuning.full()) bytes += held.low_precision * (2 + 2 * element);
  return bytes / c.bandwidth();
}

}  // namespace

StageTime stage_time(const Gpu& gpu, const LanguageModel& m, const TrainingShape& shape,
                     int stage) {
  const Parallelism& p = shape.parallelism;
  const Gpu loaded = sustained(gpu);
  const Context c = context_of(loaded, m, shape);
  Pass sum;
  // Layers of one kind take the same time.
  std::map<std::pair<bool, int>, Pass> kinds;
  const StageLayers layers = stage_layers(m, p.pp, stage);
  for (int layer = layers.first; layer < layers.first + layers.count; ++layer) {
    const auto [found, is_new] =
        kinds.try_emplace({is_mixture_layer(m, layer), window_of(m, layer)});
    if (is_new) {
      found->second = layer_time(c, layer);
      Pass& pass = found->second;
      if (shape.recompute == Recompute::kFull) pass.backward += pass.forward;
      if (shape.recompute == Recompute::kSelective) pass.backward += forward_attention_s(c, layer);
    }
    sum += found->second;
  }
  if (holds_embedding(stage)) sum += embedding_time(c);
  if (holds_output_head(p, stage)) sum += head_time(c);
  return {.forward_s = sum.forward,
          .backward_s = sum.backward,
          .optimizer_s = optimizer_time(c, stage)};
}

double attention_time(const Gpu& gpu, const LanguageModel& m, const TrainingShape& shape,
                      int layer) {
  const Gpu loaded = sustained(gpu);
  return forward_attention_s(context_of(loaded, m, shape), layer);
}

}  // namespace fabricast::model
