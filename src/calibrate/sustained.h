#pragma once
// What a GPU keeps of its single kernels' rate in a training run of minutes, from public runs in
// which computing decides (docs/models/gpu.md, section 5).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/fit.h"
#include "calibrate/tables.h"
#include "catalog/catalog.h"
#include "model/model.h"

namespace fabricast::calibrate {

/// A run without tensor, pipeline or context parallelism in one NVLink domain.
struct MeasuredRun {
  std::string label;
  catalog::Gpu gpu;
  catalog::LanguageModel model;
  model::TrainingShape shape;
  double step_s = 0;
};

/// Rows of llm-foundry's table of throughputs (columns as in its README) and of Megatron-Bridge's
/// that run a model and a GPU of the catalogue, of `architecture`, in which computing decides: one
/// NVLink domain, no parallelism but data, at least 16,384 tokens of a micro-batch on a GPU, and
/// attention below 15 % of the FLOPs.
std::vector<MeasuredRun> foundry_runs(const Table& table, const catalog::Catalog& known,
                                      std::string_view architecture);
std::vector<MeasuredRun> megatron_runs(const Table& table, const catalog::Catalog& known,
                                       std::string_view architecture);

/// Computing alone, communication taken to be hidden.
double computing_s(const MeasuredRun& run, double sustained_share);

struct SustainedFit {
  double share = 1;
  FitError error;
};
/// One share for all rows. PRECONDITION: not empty.
SustainedFit fit_sustained(const std::vector<MeasuredRun>& runs);

}  // namespace fabricast::calibrate
