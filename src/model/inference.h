#pragma once
// What generation costs the GPUs of a replica: weights, cached keys and values, and the kernels of
// a batch that mixes chunks of prompts with sequences of which each gets one more token. Equations:
// docs/models/serving.md, section 1.

#include <utility>
#include <vector>

#include "catalog/catalog.h"
#include "model/kernels.h"

namespace fabricast::model {

/// How a replica's GPUs share the model.
struct InferenceShape {
  catalog::Precision precision = catalog::Precision::kBf16;  ///< of the layers' weights
  double cache_bytes = 2;  ///< of one value of a cached key or value
  int tp = 1;
  int pp = 1;
  /// Ranks of tp GPUs each that hold attention whole and have sequences of their own, while the
  /// experts are everybody's (data-parallel attention).
  int dp = 1;
  /// Experts are spread over tp x dp GPUs; else each is cut by tp.
  bool expert_parallel = false;
  int gpus() const { return tp * pp * dp; }
};

/// Bytes of weights on one GPU of a pipeline stage. FP4: 4 bits and an 8-bit scale per 16 values
/// (NVFP4). Embedding, output head and norms stay in bf16.
double weight_bytes(const catalog::LanguageModel& m, const InferenceShape& shape, int stage);
/// Bytes of one token's keys and values on one GPU of a stage: 2 x kv_heads x head_dim / tp per
/// layer, at least one head; latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1.2) keeps
/// rank + rotary part on every GPU.
double cache_bytes_per_token(const catalog::LanguageModel& m, const InferenceShape& shape,
                             int stage);
/// What the GPU with the most of it holds beside cached tokens, when at most `tokens` pass through
/// a batch and `sequences` are sampled.
struct InferenceMemory {
  double weights_gb = 0;
  double activations_gb = 0;
  double overhead_gb = 0;  ///< context of CUDA, buffers of NCCL
  double cache_gb_per_token = 0;
};
InferenceMemory inference_memory(const catalog::LanguageModel& m, const InferenceShape& shape,
                                 int tokens, int sequences);

/// Consecutive tokens of one prompt, the last `queries` of `keys`.
struct PromptChunk {
  double queries = 0;
  double keys = 0;
};

/// Sequences of which each gets one more token, and what they attend to.
struct Decodes {
  double sequences = 0;
  double keys = 0;           ///< of all of them together
  double windowed_keys = 0;  ///< the same, of each no more than the window
};

/// Kernel times of one stage on one of its GPUs, seconds; communication is not in them. Not safe to
/// share between threads: it remembers what it has computed.
class InferenceTimes {
 public:
  InferenceTimes(const catalog::Gpu& gpu, const catalog::LanguageModel& m,
                 const InferenceShape& shape, int stage);

  double layers() const { return layers_; }
  double mixture_layers() const { return mixture_layers_; }  ///< of these, with experts

  /// Matrices, norms and activations of all layers for `tokens` of an attention rank; where there
  /// are several ranks, `together` is what meets in the experts.
  double layers_s(int tokens, int together) const;
  /// Logits and one more token of each of `sequences`; 0 but on the last stage.
  double head_s(int sequences) const;
  double prompts_s(const std::vector<PromptChunk>& chunks) const;
  double decodes_s(const Decodes& decodes) const;

 private:
  double rank_s(double tokens) const;     ///< what a rank does with its own tokens
  double experts_s(double tokens) const;  ///< what is everybody's

  catalog::Gpu gpu_;
  catalog::LanguageModel m_;
  InferenceShape shape_;
  bool last_ = true;
  double layers_ = 0;
  double mixture_layers_ = 0;
  /// Layers of one kind: with experts or without, of one window.
  struct Kind {
    int layer = 0;  ///< one of them
    int window = 0;
    double count = 0;
  };
  std::vector<Kind> kinds_;
  std::vector<std::pair<int, double>> windows_;  ///< window, layers
  mutable std::vector<AttentionShape> shapes_;   ///< room for those of a batch
  mutable std::vector<double> rank_times_;       ///< by tokens; negative: not known yet
  mutable std::vector<double> expert_times_;
  mutable std::vector<double> head_times_;
};

}  // namespace fabricast::model
