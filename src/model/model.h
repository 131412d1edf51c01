#pragma once
// What a transformer costs: parameters, FLOPs, bytes, memory, and the time a GPU needs for it.
// Equations and sources: docs/models/gpu.md.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "catalog/catalog.h"

namespace fabricast::model {

/// Degrees of parallelism. gpus = tp * pp * dp * cp (expert parallelism lives inside dp).
struct Parallelism {
  int tp = 1;
  int pp = 1;
  int dp = 1;
  int cp = 1;
  int ep = 1;
  int zero = 1;  ///< ZeRO stage over dp: 0, 1, 2 or 3
  /// Model chunks of a pipeline stage (Narayanan et al. 2021, section 2.2, v): chunk c of stage s
  /// is part c * pp + s of pp * vpp parts of the model. 1: one contiguous part, 1F1B.
  int vpp = 1;
  int gpus() const { return tp * pp * dp * cp; }
};
/// "tp 4 x pp 4 x dp 2, vpp 2, ZeRO-1".
std::string to_string(const Parallelism& p);

/// Parameters of one layer and of the whole model, counted matrix by matrix (norms included).
double attention_parameters(const catalog::LanguageModel& m);
double mlp_parameters(const catalog::LanguageModel& m, int layer);
double active_mlp_parameters(const catalog::LanguageModel& m, int layer);
double embedding_parameters(const catalog::LanguageModel& m);  ///< input and output
double parameters(const catalog::LanguageModel& m);
double active_parameters(const catalog::LanguageModel& m);

/// Which weights a training run changes.
enum class FinetuningKind {
  kFull,      ///< all
  kLora,      ///< low-rank adapters of some matrices (Hu et al. 2021)
  kLongLora,  ///< adapters, input embedding and norms; attention in shifted groups (Chen et al.
              ///< 2023)
};
struct Finetuning {
  FinetuningKind kind = FinetuningKind::kFull;
  int rank = 0;
  std::vector<std::string> targets;  ///< "q_proj", ... as Hugging Face and PEFT name the matrices
  int group = 0;                     ///< kLongLora: tokens of a group of attention
  bool full() const { return kind == FinetuningKind::kFull; }
};
/// "full fine-tuning", "LoRA of rank 8", "LongLoRA of rank 8 in groups of 8192".
std::string to_string(const Finetuning& finetuning);
/// Names of the matrices of a model that can have adapters, in the order of the layer.
std::vector<std::string> adapter_targets(const catalog::LanguageModel& m);
/// Parameters that are trained.
double trained_parameters(const catalog::LanguageModel& m, const Finetuning& finetuning);

/// FLOPs of the forward pass of one sequence of `sequence` tokens through one layer, split into
/// GEMMs and attention's score/value products (causal: half the square). A multiply-add counts 2.
struct LayerFlops {
  double gemm = 0;
  double attention = 0;
};
LayerFlops forward_flops(const catalog::LanguageModel& m, int layer, int sequence);
double output_head_flops(const catalog::LanguageModel& m, int sequence);
/// Model FLOPs of training one token: forward plus twice that backward, no recomputation; the
/// numerator of MFU (Chowdhery et al. 2022, appendix B), with causal attention counted as the half
/// square that it is: 6 x (parameters of matrices) + 6 x layers x heads x head_dim x sequence, in
/// windowed layers with the window's band in place of the half square. Frozen matrices have no
/// gradients of weights: 4 x their parameters, and 6 x those of the adapters.
double training_flops_per_token(const catalog::LanguageModel& m, int sequence,
                                const Finetuning& finetuning = {});

/// What the backward pass computes again instead of keeping it.
enum class Recompute {
  kNone,
  kSelective,  ///< the core of attention (Korthikanti et al. 2022, section 5)
  kFull,       ///< every layer from its input
};
/// "none", "selective", "full".
std::string_view name_of(Recompute recompute);

/// A training workload as far as time and memory depend on it.
struct TrainingShape {
  int sequence = 4096;
  int global_batch = 512;  ///< sequences per step
  int micro_batch = 1;
  catalog::Precision precision = catalog::Precision::kBf16;  ///< of the GEMMs
  Parallelism parallelism;
  Recompute recompute = Recompute::kNone;
  Finetuning finetuning;
  int micro_batches() const { return global_batch / (micro_batch * parallelism.dp); }
};

/// Bytes per GPU of the fullest pipeline stage, decimal GB. Adam in mixed precision as
/// Megatron-Core counts it (bf16 weights, fp32 gradients and states, 18 B per parameter before
/// sharding); FP8 adds quantised copies of the weights. Activations: Korthikanti et al. 2022 with
/// fused attention, sequence parallelism over tp and no dropout; 1F1B keeps up to pp micro-batches,
/// interleaved 1F1B 1 + (pp - 1)/(pp vpp) times as much (the same paper, section 4.2.3).
struct Memory {
  double weights_gb = 0;
  double gradients_gb = 0;
  double optimizer_gb = 0;
  double activations_gb = 0;
  double overhead_gb = 0;  ///< CUDA context, NCCL buffers, fragmentation
  double total_gb = 0;
};
Memory memory(const catalog::LanguageModel& m, const TrainingShape& shape);
/// Bytes of a checkpoint of the whole model: weights and the optimizer's states, each once.
double checkpoint_bytes(const catalog::LanguageModel& m, catalog::Precision precision);

/// Times of one GPU of a stage for one micro-batch, seconds: the kernels of model/kernels.h on the
/// GPU as a long load leaves it, elementwise kernels by their bytes, and launches.
struct StageTime {
  double forward_s = 0;
  double backward_s = 0;   ///< includes recomputation when the shape asks for it
  double optimizer_s = 0;  ///< once per step
};
StageTime stage_time(const catalog::Gpu& gpu, const catalog::LanguageModel& m,
                     const TrainingShape& shape, int stage);
/// Forward attention of one layer on one GPU, the same.
double attention_time(const catalog::Gpu& gpu, const catalog::LanguageModel& m,
                      const TrainingShape& shape, int layer);
/// First layer and number of layers of a pipeline stage, or of a part of an interleaved one. Where
/// they do not divide, the embedding and the output head count as a layer each if that makes it
/// even (Megatron-Core's account_for_embedding_in_pipeline_split and account_for_loss_in_pipeline_
/// split: Llama 3.1's 126 layers); else the remainder goes to the early stages.
struct StageLayers {
  int first = 0;
  int count = 0;
};
StageLayers stage_layers(const catalog::LanguageModel& m, int pp, int stage);
/// Parameters held by one GPU of a stage (before ZeRO), embeddings and adapters included.
double stage_parameters(const catalog::LanguageModel& m, const Parallelism& p, int stage,
                        const Finetuning& finetuning = {});
/// Of these, the ones that have gradients.
double stage_trained_parameters(const catalog::LanguageModel& m, const TrainingShape& shape,
                                int stage);

/// What stands in the way of a layout, as the scenario's key, what was found, what is allowed.
struct LayoutProblem {
  std::string key;  ///< "workload.parallelism.tp", "cluster.gpus", "workload.model", ...
  std::string found;
  std::string allowed;
};
/// Empty when the layout can run. Memory is judged only when everything divides.
std::vector<LayoutProblem> check_layout(const catalog::Gpu& gpu, const catalog::LanguageModel& m,
                                        const TrainingShape& shape, int gpus, int gpus_per_node);

/// The layout that `parallelism: auto` means: among those that fit, the fastest by compute time,
/// bubble and a first estimate of communication at the NIC and NVLink rates given. Also decides
/// `recompute` (the least that memory allows). Returns an empty vector when nothing fits, else the
/// best first, at most five.
struct LayoutChoice {
  TrainingShape shape;
  double estimated_step_s = 0;
  Memory memory;
};
std::vector<LayoutChoice> choose_layouts(const catalog::Gpu& gpu, const catalog::LanguageModel& m,
                                         const TrainingShape& wanted, int gpus, int gpus_per_node,
                                         double nic_gbps_per_gpu);

}  // namespace fabricast::model
