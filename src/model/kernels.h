#pragma once
// How long single kernels take on a GPU: one functional form for every GPU and precision, with a
// handful of coefficients each from the catalogue (docs/models/gpu.md, section 4). Times are those
// of a kernel in a tight loop, launch included.

#include <vector>

#include "catalog/catalog.h"

namespace fabricast::model {

/// Bytes of one operand element; of FP4 without its scales.
double element_bytes(catalog::Precision precision);

/// `groups` products of m x k with k x n in one kernel. Row-major, operands at the GEMM's
/// precision.
struct GemmShape {
  double m = 0;
  double n = 0;
  double k = 0;
  double groups = 1;
  double result_bytes = 2;  ///< moved per element of the result; 8 where it is added to fp32
  double weight_bytes =
      0;  ///< per element of the k x n operand, where it is widened on its way; 0: none is
};
double gemm_s(const catalog::Gpu& gpu, catalog::Precision precision, const GemmShape& shape);
inline double gemm_s(const catalog::Gpu& gpu, catalog::Precision precision, double m, double n,
                     double k) {
  return gemm_s(gpu, precision, GemmShape{.m = m, .n = n, .k = k});
}

/// Causal attention of the last `queries` of `keys` tokens, of `batch` sequences.
struct AttentionShape {
  double batch = 1;
  double queries = 0;
  double keys = 0;
  double heads = 0;
  double kv_heads = 0;
  double head_dim = 0;   ///< of queries and keys
  double value_dim = 0;  ///< of values and of the result
  double window = 0;     ///< keys that a query sees at most; 0: all before it
  double shards = 1;     ///< GPUs that share the work evenly (context parallelism)
};
/// Forward. The rotation of queries and keys is in it, as in the kernels that were measured.
double attention_s(const catalog::Gpu& gpu, catalog::Precision precision,
                   const AttentionShape& shape);

/// Several prompts, or parts of them, in one kernel. PRECONDITION: not empty.
double attention_s(const catalog::Gpu& gpu, catalog::Precision precision,
                   const std::vector<AttentionShape>& shapes);

/// Generation: one new query per sequence reads the keys and values cached for it.
struct DecodeShape {
  double batch = 1;
  double context = 0;          ///< cached tokens of a sequence
  double kv_heads = 0;         ///< 1 for latent attention, whose latent all heads share
  double bytes_per_token = 0;  ///< of one head's key and value: 2 x head_dim x bytes per element
};
double decode_attention_s(const catalog::Gpu& gpu, const DecodeShape& shape);

/// The GPU as a load of minutes leaves it: held to its power limit, it clocks lower than in the
/// tight loops of the curves. Arithmetic slows down, memory and launches do not.
catalog::Gpu sustained(const catalog::Gpu& gpu);

}  // namespace fabricast::model
