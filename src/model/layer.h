#pragma once
// Inside the model room: a layer as the list of its matrices. Parameters, FLOPs, kernel times and
// activations are all sums over this one list, so that they cannot disagree.

#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "model/model.h"

namespace fabricast::model {

/// How tensor parallelism cuts a matrix (Shoeybi et al. 2019, section 3).
enum class Split {
  kColumns,     ///< each GPU holds out / tp columns
  kRows,        ///< each GPU holds in / tp rows
  kReplicated,  ///< every GPU holds all of it
};

/// Columns of a matrix that checkpoints keep as a matrix of their own, by Hugging Face's name.
struct Part {
  std::string_view name;
  double out = 0;
};

/// One weight matrix of shape in x out, or `copies` of it in a mixture of experts.
struct Matrix {
  double in = 0;
  double out = 0;
  Split split = Split::kColumns;
  double copies = 1;
  double token_share = 1;  ///< share of the tokens that pass through one copy
  bool expert = false;     ///< spread over an expert-parallel group
  double vectors = 0;      ///< biases and norm weights that come with it
  std::vector<Part> parts = {};
};

inline double weights_of(const Matrix& x) {
  return x.in * x.out * x.copies + x.vectors;
}

bool has_latent_attention(const catalog::LanguageModel& m);
bool is_mixture_layer(const catalog::LanguageModel& m, int layer);
/// Keys that a query of the layer sees at most; 0: all before it.
int window_of(const catalog::LanguageModel& m, int layer);
/// Norms and attention sinks of a layer.
double layer_vectors(const catalog::LanguageModel& m);

std::vector<Matrix> attention_matrices(const catalog::LanguageModel& m);
std::vector<Matrix> mlp_matrices(const catalog::LanguageModel& m, int layer);
/// Attention's, then the MLP's.
std::vector<Matrix> layer_matrices(const catalog::LanguageModel& m, int layer);

/// Width of one head's query-key product and of its value.
double query_key_dim(const catalog::LanguageModel& m);
double value_dim(const catalog::LanguageModel& m);
/// Columns of the intermediate activations that one token has in the MLP of a layer (its routed and
/// shared experts together).
double mlp_width(const catalog::LanguageModel& m, int layer);

/// Parameters that one GPU of a pipeline stage holds before ZeRO, by how they are sharded.
struct StageParameters {
  double shared = 0;         ///< replicated over the data-parallel group
  double expert = 0;         ///< replicated over data-parallel group / ep
  double low_precision = 0;  ///< of both: weights of the layers' GEMMs, quantised in FP8 and FP4
};
StageParameters count_stage(const catalog::LanguageModel& m, const Parallelism& p, int stage);
/// The same of what is trained: adapters, and what a full fine-tuning trains all of.
StageParameters count_trained(const catalog::LanguageModel& m, const Parallelism& p, int stage,
                              const Finetuning& finetuning);

/// Low-rank adapters of one matrix: A of in x rank and B of rank x out for each part that is a
/// target (Hu et al. 2021, section 4.1).
struct Adapters {
  int count = 0;
  double out = 0;  ///< columns of all parts that have one
};
Adapters adapters_of(const Matrix& x, const Finetuning& finetuning);
/// Weights of the adapters of one copy of the matrix; `out` under tensor parallelism is cut like
/// the matrix itself, and so is `in`.
double adapter_weights(const Matrix& x, const Finetuning& finetuning);

bool holds_embedding(int stage);
bool holds_output_head(const Parallelism& p, int stage);

/// Bytes of activations that the backward pass of one layer needs, per token and before the
/// division by tp (sequence parallelism divides all of them: Korthikanti et al. 2022, equation 4).
double activation_bytes_per_token(const catalog::LanguageModel& m, int layer,
                                  catalog::Precision precision, const Finetuning& finetuning = {});

}  // namespace fabricast::model
