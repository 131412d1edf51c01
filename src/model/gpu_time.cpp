#include <algorithm>

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
// Kernels of a layer that are not GEMMs: two norms, two residual additions, rotary embedding of Q
// and of K, fused attention, the MLP's activation function.
constexpr double kOtherKernels = 8;
// Adam per parameter of the shard: read the gradient twice (norm, update), read and write master,
// momentum and variance, write the bf16 weight.
constexpr double kAdamBytes = 4 + 4 + 6 * 4 + 2;

double bytes_of(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return 4;
    case Precision::kFp8:
      return 1;
    case Precision::kFp4:
      return 0.5;
    case Precision::kBf16:
      break;
  }
  return 2;
}

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

double gemm_rate(const Context& c, Precision precision) {
  return c.gpu.peak_tflops(precision) * 1e12 * c.gpu.gemm_efficiency_at(precision);
}

/// Roofline of one GEMM (Williams et al. 2009): m x k times k x n, `count` of them.
double gemm_s(const Context& c, Precision precision, double m, double n, double k, double count,
              double extra_bytes) {
  const double flops = 2 * m * n * k * count;
  const double element = bytes_of(precision);
  const double bytes =
      count * (element * (m * k + k * n) + c.activation_bytes() * m * n + extra_bytes);
  return std::max(flops / gemm_rate(c, precision), bytes / c.bandwidth());
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

/// Forward, then the gradients of the input and of the weights; the latter are added to fp32
/// buffers in the same kernel (read and write 4 bytes each).
Pass matrix_time(const Context& c, const Matrix& x, Precision precision) {
  const Parallelism& p = c.shape.parallelism;
  const double in = x.split == Split::kRows ? x.in / p.tp : x.in;
  const double out = x.split == Split::kColumns ? x.out / p.tp : x.out;
  const double copies = x.expert ? x.copies / p.ep : x.copies;
  // An expert-parallel rank meets the tokens of ep ranks, each of its experts their share.
  const double rows = c.tokens * x.token_share * (x.expert ? p.ep : 1);
  Pass t;
  t.forward = gemm_s(c, precision, rows, out, in, copies, 0) + c.launch_s();
  t.backward = gemm_s(c, precision, rows, in, out, copies, 0) +
               gemm_s(c, precision, in, out, rows, copies, 8 * in * out) + 2 * c.launch_s();
  if (bytes_of(precision) < 2) {
    // Quantising a GEMM's input: read it, write it and its transpose; backward the same for the
    // gradient of its output. Sequence parallelism quantises before it gathers.
    const double written = 2 * bytes_of(precision);
    const double share = c.tokens * x.token_share * x.copies / p.tp / c.bandwidth();
    t.forward += share * x.in * (2 + written) + c.launch_s();
    t.backward += share * x.out * (2 + written) + c.launch_s();
  }
  return t;
}

/// Norms, residuals, rotary embedding, activation function: all bound by memory.
Pass elementwise_time(const Context& c, int layer) {
  const LanguageModel& m = c.m;
  const double hidden = m.hidden;
  const double rotary = has_latent_attention(m) ? m.qk_rope_head_dim : m.head_dim;
  const double rotary_heads = m.heads + (has_latent_attention(m) ? 1 : m.kv_heads);
  // Elements moved per token: 2 norms x (1 in, 1 out), 2 residuals x (2 in, 1 out), rotation in
  // place, activation (2 in when gated, 1 out).
  double elements =
      10 * hidden + 2 * rotary * rotary_heads + (m.gated_mlp ? 3 : 2) * mlp_width(m, layer);
  double kernels = kOtherKernels;
  if (is_mixture_layer(m, layer)) {
    elements += 4 * hidden * m.experts_per_token;  // gather per expert, and weighted sum back
    kernels += 4;  // softmax and top-k of the gate, permute, unpermute
  }
  const double s =
      elements * c.activation_bytes() * c.tokens / c.shape.parallelism.tp / c.bandwidth();
  // Backward reads the saved input beside the incoming gradient: twice the traffic.
  return {.forward = s + kernels * c.launch_s(), .backward = 2 * s + kernels * c.launch_s()};
}

Pass attention_time(const Context& c, int layer) {
  const Parallelism& p = c.shape.parallelism;
  const double flops =
      c.shape.micro_batch * forward_flops(c.m, layer, c.shape.sequence).attention / (p.tp * p.cp);
  const double rate = c.gpu.peak_tflops(c.wide_precision()) * 1e12 * c.gpu.attention_efficiency;
  // Backward computes the scores again: five products instead of two (Dao 2023, section 3.1).
  return {.forward = flops / rate, .backward = 2.5 * flops / rate};
}

Pass layer_time(const Context& c, int layer) {
  Pass sum;
  for (const Matrix& x : layer_matrices(c.m, layer)) {
    const bool router = x.split == Split::kReplicated && x.out == c.m.experts;
    sum += matrix_time(c, x, router ? c.wide_precision() : c.shape.precision);
  }
  sum += attention_time(c, layer);
  sum += elementwise_time(c, layer);
  return sum;
}

Pass embedding_time(const Context& c) {
  // Look-up: read and write a row per token; backward: read the gradient, add it to an fp32 row.
  const double elements = c.tokens * c.m.hidden / c.shape.parallelism.tp;
  return {.forward = elements * 2 * c.activation_bytes() / c.bandwidth() + c.launch_s(),
          .backward = elements * (c.activation_bytes() + 8) / c.bandwidth() + c.launch_s()};
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
  const StageParameters held = count_stage(c.m, p, stage);
  const double group = p.zero >= 1 ? static_cast<double>(p.dp) * p.cp : 1;
  const double experts = p.zero >= 1 ? std::max(1.0, group / p.ep) : 1;
  double bytes = kAdamBytes * (held.shared / group + held.expert / experts);
  // The first micro-batch quantises every weight: read bf16, write both layouts.
  const double element = bytes_of(c.shape.precision);
  if (element < 2) bytes += held.low_precision * (2 + 2 * element);
  return bytes / c.bandwidth();
}

}  // namespace

StageTime stage_time(const Gpu& gpu, const LanguageModel& m, const TrainingShape& shape,
                     int stage) {
  const Parallelism& p = shape.parallelism;
  const Context c{gpu, m, shape, static_cast<double>(shape.micro_batch) * shape.sequence / p.cp};
  Pass sum;
  const StageLayers layers = stage_layers(m, p.pp, stage);
  for (int layer = layers.first; layer < layers.first + layers.count; ++layer) {
    Pass t = layer_time(c, layer);
    if (shape.recompute == Recompute::kFull) t.backward += t.forward;
    if (shape.recompute == Recompute::kSelective) t.backward += attention_time(c, layer).forward;
    sum += t;
  }
  if (holds_embedding(stage)) sum += embedding_time(c);
  if (holds_output_head(p, stage)) sum += head_time(c);
  return {.forward_s = sum.forward,
          .backward_s = sum.backward,
          .optimizer_s = optimizer_time(c, stage)};
}

}  // namespace fabricast::model
