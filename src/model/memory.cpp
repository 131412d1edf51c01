#include <algorithm>

#include "model/layer.h"
#include "model/model.h"

namespace fabricast::model {

namespace {

// Bytes per parameter of mixed-precision Adam as Megatron-Core counts them for bf16 parameters with
// fp32 main gradients: 18 in all, 6 + 12/d with the optimizer sharded (Megatron Core user guide,
// "Distributed Optimizer"; ZeRO-1 of Rajbhandari et al. 2020). ZeRO's own table has 2 B gradients;
// the sum over micro-batches needs fp32.
constexpr double kWeightBytes = 2;
constexpr double kGradientBytes = 4;
constexpr double kOptimizerBytes = 12;  ///< fp32 master weight, momentum, variance
// Training in fp32 keeps no second copy of the weights: 4 + 4 + 8.
constexpr double kFp32WeightBytes = 4;
constexpr double kFp32OptimizerBytes = 8;
// FP8 keeps no bf16 weights: NVIDIA's NeMo recipe sets fp8_params (nemo/collections/llm/recipes/
// precision/mixed_precision.py), so a weight is one FP8 value and, on Hopper, its transpose,
// because FP8 GEMMs there read one operand order only (Transformer Engine user guide, "Handling
// transposes"): the 2 bytes of kWeightBytes again. The optimizer holds the fp32 master.
// FP4: 4-bit values plus one 8-bit scale per 16 of them, two layouts (NVFP4 recipe of the same
// guide).
constexpr double kFp4CopyBytes = 2 * (0.5 + 1.0 / 16);

// Assumed: CUDA context and module code 0.5 GB, NCCL buffers of a dozen communicators 1 GB,
// cuBLAS and attention workspaces 0.5 GB, other buffers 0.5 GB.
constexpr double kFixedOverheadGb = 2.5;
// Assumed: what a caching allocator loses between blocks, of the activations that come and go.
constexpr double kFragmentation = 0.05;

struct BytesPerParameter {
  double weights = kWeightBytes;
  double copies = 0;  ///< of the layers' GEMM weights only, never sharded by ZeRO
  double optimizer = kOptimizerBytes;
};

BytesPerParameter bytes_per_parameter(catalog::Precision precision) {
  switch (precision) {
    case catalog::Precision::kFp32:
      return {.weights = kFp32WeightBytes, .optimizer = kFp32OptimizerBytes};
    case catalog::Precision::kFp4:
      return {.copies = kFp4CopyBytes};
    case catalog::Precision::kInt8:
    case catalog::Precision::kFp8:
    case catalog::Precision::kBf16:
      break;
  }
  return {};
}

/// What selective recomputation of fused attention sets free: the log-sum-exp of every head, and
/// attention's output where the next matrix keeps a quantised copy of its own.
double attention_core_bytes_per_token(const catalog::LanguageModel& m,
                                      catalog::Precision precision) {
  const bool quantised =
      precision == catalog::Precision::kFp8 || precision == catalog::Precision::kFp4;
  return 4.0 * m.heads + (quantised ? 2.0 * m.heads * value_dim(m) : 0);
}

/// Passes forward whose activations a stage holds at most, in model chunks. 1F1B: pp - i of stage i
/// (Narayanan et al. 2021, section 2.2). Interleaved: the warm-up of Megatron's schedule and one
/// more (schedules.py: 2 (pp - i - 1) + (vpp - 1) pp).
int chunks_in_flight(const TrainingShape& shape, int stage) {
  const Parallelism& p = shape.parallelism;
  const int warm_up = p.vpp > 1 ? 2 * (p.pp - stage - 1) + (p.vpp - 1) * p.pp : p.pp - stage - 1;
  return std::min(warm_up + 1, shape.micro_batches() * p.vpp);
}

double layers_activation_bytes(const catalog::LanguageModel& m, const TrainingShape& shape,
                               int stage, double tokens, double element) {
  const Parallelism& p = shape.parallelism;
  double kept = 0;
  double largest = 0;
  for (int chunk = 0; chunk < p.vpp; ++chunk) {
    const StageLayers layers = stage_layers(m, p.pp * p.vpp, chunk * p.pp + stage);
    for (int layer = layers.first; layer < layers.first + layers.count; ++layer) {
      const double all =
          tokens * activation_bytes_per_token(m, layer, shape.precision, shape.finetuning) / p.tp;
      const double core = tokens * attention_core_bytes_per_token(m, shape.precision) / p.tp;
      largest = std::max(largest, all);
      switch (shape.recompute) {
        case Recompute::kNone:
          kept += all;
          break;
        case Recompute::kSelective:
          kept += all - core;
          break;
        case Recompute::kFull:
          // A layer's input only, a shard of it under sequence parallelism.
          kept += tokens * m.hidden * element / p.tp;
      }
    }
  }
  // One layer is whole while its backward pass runs.
  const double whole = shape.recompute == Recompute::kFull ? largest : 0;
  return kept * chunks_in_flight(shape, stage) / p.vpp + whole;
}

/// What ZeRO leaves on a rank: experts are replicated over fewer ranks.
double sharded(const StageParameters& parameters, const Parallelism& p) {
  const double group = static_cast<double>(p.dp) * p.cp;
  return parameters.shared / group + parameters.expert * p.ep / group;
}

Memory stage_memory(const catalog::LanguageModel& m, const TrainingShape& shape, int stage) {
  const Parallelism& p = shape.parallelism;
  StageParameters held = count_stage(m, p, stage);
  const double adapters =
      shape.finetuning.full()
          ? 0
          : stage_parameters(m, p, stage, shape.finetuning) - stage_parameters(m, p, stage);
  held.shared += adapters;
  const BytesPerParameter bytes = bytes_per_parameter(shape.precision);
  const double whole = held.shared + held.expert;
  const double shard = sharded(held, p);

  Memory memory;
  memory.weights_gb = (p.zero >= 3 ? shard : whole) * bytes.weights;
  memory.weights_gb += held.low_precision * bytes.copies;
  if (p.zero >= 3) {
    // The layer at work and the one being prefetched are gathered whole.
    const StageLayers layers = stage_layers(m, p.pp, stage);
    memory.weights_gb += 2 * bytes.weights * whole / (layers.count + 1);
  }
  const StageParameters trained = count_trained(m, p, stage, shape.finetuning);
  const double states = trained.shared + trained.expert;
  const double states_shard = sharded(trained, p);
  memory.gradients_gb = (p.zero >= 2 ? states_shard : states) * kGradientBytes;
  memory.optimizer_gb = (p.zero >= 1 ? states_shard : states) * bytes.optimizer;

  const double element = shape.precision == catalog::Precision::kFp32 ? 4 : 2;
  const double tokens = static_cast<double>(shape.micro_batch) * shape.sequence / p.cp;
  memory.activations_gb = layers_activation_bytes(m, shape, stage, tokens, element);
  if (holds_output_head(p, stage)) {
    // Inputs of the last norm and of the head, and fp32 logits (Korthikanti et al. 2022,
    // section 4.3).
    memory.activations_gb += tokens * (2 * element * m.hidden + 4.0 * m.vocabulary) / p.tp;
  }
  for (double* part :
       {&memory.weights_gb, &memory.gradients_gb, &memory.optimizer_gb, &memory.activations_gb}) {
    *part *= 1e-9;
  }
  memory.overhead_gb = kFixedOverheadGb + kFragmentation * memory.activations_gb;
  memory.total_gb = memory.weights_gb + memory.gradients_gb + memory.optimizer_gb +
                    memory.activations_gb + memory.overhead_gb;
  return memory;
}

/// Elements per token that the gradients of weights need again. A frozen matrix keeps no input, its
/// adapters keep it and what is between them; matrices that share an input keep it once.
double kept_inputs(const catalog::LanguageModel& m, int layer, const Finetuning& finetuning) {
  double kept = 0;
  const auto keep_of = [&](const std::vector<Matrix>& matrices, bool output_is_kept) {
    bool hidden = false;
    for (const Matrix& x : matrices) {
      const Adapters adapters = adapters_of(x, finetuning);
      kept += adapters.count * finetuning.rank * x.copies * x.token_share;
      if (!finetuning.full() && adapters.count == 0) continue;
      if (x.split == Split::kRows) {
        if (!output_is_kept) kept += x.in * x.copies * x.token_share;
      } else if (x.expert) {
        kept += x.in * m.experts_per_token;  // one copy of a token per expert on the way in
      } else if (x.in == m.hidden) {
        hidden = true;
      } else {
        kept += x.in;  // a latent
      }
    }
    if (hidden) kept += m.hidden;
  };
  keep_of(attention_matrices(m), true);  // attention's backward reads its output anyway
  keep_of(mlp_matrices(m, layer), false);
  return kept;
}

}  // namespace

double activation_bytes_per_token(const catalog::LanguageModel& m, int layer,
                                  catalog::Precision precision, const Finetuning& finetuning) {
  const bool wide = precision == catalog::Precision::kFp32;
  const bool quantised =
      precision == catalog::Precision::kFp8 || precision == catalog::Precision::kFp4;
  const double element = wide ? 4 : 2;
  // A quantised GEMM keeps its input in 8 bits for the weight gradient (Transformer Engine saves
  // `inputmat` and `ln_out` quantised); counted the same for FP4.
  const double gemm_input = quantised ? 1 : element;
  const double hidden = m.hidden;
  const double heads = m.heads;

  double plain = m.norms_per_layer * hidden;  // inputs of the norms
  // Q, K, V, and attention's output, which its backward reads; fused attention keeps one fp32
  // log-sum-exp per head instead of the s x s scores (Dao 2023, section 3.1).
  const double output = heads * value_dim(m);
  plain += output;
  if (has_latent_attention(m)) {
    plain += heads * (2 * query_key_dim(m) + value_dim(m));
  } else {
    plain += (heads + 2.0 * m.kv_heads) * m.head_dim;
    if (m.qk_norm) plain += (heads + m.kv_heads) * m.head_dim;
  }
  plain += (m.gated_mlp ? 2 : 1) * mlp_width(m, layer);  // inputs of the activation function
  if (is_mixture_layer(m, layer)) {
    // One copy of a token per expert on the way back, for the gate's gradient.
    plain += hidden * m.experts_per_token;
  }
  double inputs = kept_inputs(m, layer, finetuning);
  // A quantised output matrix keeps an input of its own. Adapters read theirs in 16 bits.
  if (quantised && finetuning.full()) inputs += output;
  const double input_bytes = finetuning.full() ? gemm_input : element;
  return plain * element + inputs * input_bytes + 4 * heads;
}

double checkpoint_bytes(const catalog::LanguageModel& m, catalog::Precision precision) {
  const BytesPerParameter bytes = bytes_per_parameter(precision);
  return parameters(m) * (bytes.weights + bytes.optimizer);
}

Memory memory(const catalog::LanguageModel& m, const TrainingShape& shape) {
  Memory fullest;
  for (int stage = 0; stage < shape.parallelism.pp; ++stage) {
    const Memory here = stage_memory(m, shape, stage);
    if (here.total_gb > fullest.total_gb) fullest = here;
  }
  return fullest;
}

}  // namespace fabricast::model
