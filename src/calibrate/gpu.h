#pragma once
// A GPU's kernel coefficients from tables of measured kernels (docs/models/gpu.md, section 4).

#include <string>
#include <vector>

#include "calibrate/fit.h"
#include "calibrate/tables.h"
#include "catalog/catalog.h"

namespace fabricast::calibrate {

/// Every third row is held out of the fit.
struct Errors {
  FitError in_sample;
  FitError held_out;
};

struct GemmFit {
  catalog::GemmCurve curve;
  Errors all;
  Errors long_rows;   ///< m >= 512
  Errors short_rows;  ///< m <= 64: generation
};
/// `quantised`: the rows hold the kernel that quantises the first operand, too, as those of FP8 do
/// where activations come in bf16; its time is fitted beside the curve and left out of it.
GemmFit fit_gemms(const catalog::Gpu& gpu, catalog::Precision precision,
                  const std::vector<MeasuredGemm>& rows, bool quantised);

struct AttentionFit {
  catalog::AttentionCurve curve;
  Errors all;
};
AttentionFit fit_attention(const catalog::Gpu& gpu, const std::vector<MeasuredAttention>& rows);

struct DecodeFit {
  catalog::DecodeCurve curve;
  Errors all;
};
DecodeFit fit_decode(const catalog::Gpu& gpu, const std::vector<MeasuredDecode>& rows);

/// The tables of `directory` (or of its folder `compute`) for a GPU: gemm_NAME.csv,
/// attention_context_NAME.csv, attention_generation_NAME.csv, where NAME is the id's first word;
/// and the tables of training runs. Empty where a table is not there.
struct TablePaths {
  std::string gemm;
  std::string context;
  std::string generation;
  std::string foundry;   ///< llm_foundry_fsdp.csv, of the folder `training`
  std::string megatron;  ///< megatron_bridge.csv, the same
};
/// Throws base::Error (input) when none is there.
TablePaths tables_for(const catalog::Gpu& gpu, const std::string& directory);

/// Fits what there are tables for; the coefficients as they stand in catalog/gpus.yaml, with the
/// errors in comments.
std::string calibration_yaml(const catalog::Catalog& known, const catalog::Gpu& gpu,
                             const TablePaths& paths);

}  // namespace fabricast::calibrate
