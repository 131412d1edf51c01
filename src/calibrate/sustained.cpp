#include "calibrate/sustained.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace fabricast::calibrate {

namespace {

using catalog::Catalog;
using catalog::Precision;

constexpr double kLeastTokens = 16'384;
constexpr double kMostAttention = 0.15;

struct System {
  std::string_view name;  ///< in the tables
  std::string_view gpu;   ///< in the catalogue
  int domain;             ///< GPUs that NVLink joins
};
constexpr std::array<System, 8> kSystems = {{{"a100_40gb", "a100-40gb-sxm", 8},
                                             {"a100_80gb", "a100-sxm-80gb", 8},
                                             {"h100_80gb", "h100-sxm-80gb", 8},
                                             {"DGX-H100", "h100-sxm-80gb", 8},
                                             {"DGX-B200", "b200-sxm", 8},
                                             {"DGX-B300", "b300-sxm", 8},
                                             {"DGX-GB200", "gb200", 72},
                                             {"DGX-GB300", "gb300", 72}}};

using Names = std::pair<std::string_view, std::string_view>;
constexpr std::array<Names, 7> kModels = {{{"3b", "mpt-3b"},
                                           {"7b", "mpt-7b"},
                                           {"13b", "mpt-13b"},
                                           {"30b", "mpt-30b"},
                                           {"70b", "mpt-70b"},
                                           {"LLAMA3_8B", "llama3.1-8b"},
                                           {"LLAMA3_70B", "llama3.1-70b"}}};

/// A run of a GPU and a model that the catalogue has, with `gpus` of data parallelism.
std::optional<MeasuredRun> known_run(const Catalog& known, std::string_view architecture,
                                     const std::string& system, const std::string& model,
                                     double gpus) {
  const auto* s = std::ranges::find(kSystems, system, &System::name);
  const auto* m = std::ranges::find(kModels, std::string_view(model), &Names::first);
  if (s == kSystems.end() || m == kModels.end() || gpus > s->domain) return std::nullopt;
  MeasuredRun run;
  run.gpu = known.gpu(s->gpu);
  if (run.gpu.architecture != architecture) return std::nullopt;
  run.model = known.model(m->second);
  run.shape.parallelism = {.dp = static_cast<int>(gpus), .zero = 3};
  return run;
}

/// Attention's share of the FLOPs of a token.
double attention_share(const MeasuredRun& run) {
  double attention = 0;
  for (int layer = 0; layer < run.model.layers; ++layer) {
    attention += 3 * model::forward_flops(run.model, layer, run.shape.sequence).attention;
  }
  return attention / run.shape.sequence /
         model::training_flops_per_token(run.model, run.shape.sequence);
}

bool computing_decides(const MeasuredRun& run) {
  const double tokens = static_cast<double>(run.shape.micro_batch) * run.shape.sequence;
  return tokens >= kLeastTokens && attention_share(run) < kMostAttention;
}

std::string label_of(const MeasuredRun& run) {
  return fmt::format("{} on {} x {}, sequence {}, micro-batch {}{}", run.model.id,
                     run.shape.parallelism.dp, run.gpu.id, run.shape.sequence,
                     run.shape.micro_batch,
                     run.shape.recompute == model::Recompute::kFull ? ", recomputed" : "");
}

std::optional<Precision> precision_of(const std::string& text) {
  if (text == "BF16") return Precision::kBf16;
  if (text == "NVFP4") return Precision::kFp4;
  if (text == "MXFP8" || text.starts_with("FP8")) return Precision::kFp8;
  return std::nullopt;
}

}  // namespace

std::vector<MeasuredRun> foundry_runs(const Table& table, const Catalog& known,
                                      std::string_view architecture) {
  std::vector<MeasuredRun> runs;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    if (table.text(i, "precision") != "amp_bf16") continue;
    auto run = known_run(known, architecture, table.text(i, "gpu"), table.text(i, "model"),
                         table.number(i, "num_gpus", 1));
    if (!run) continue;
    model::TrainingShape& shape = run->shape;
    shape.sequence = static_cast<int>(table.number(i, "seq_len_tokens", 1));
    shape.micro_batch = static_cast<int>(table.number(i, "micro_batch_samples", 1));
    shape.global_batch = static_cast<int>(table.number(i, "global_batch_samples", 1));
    if (table.text(i, "activation_checkpointing") == "True") {
      shape.recompute = model::Recompute::kFull;
    }
    run->model.learned_positions = shape.sequence;
    run->step_s = shape.global_batch * static_cast<double>(shape.sequence) /
                  table.number(i, "throughput_tokens_per_s", 1);
    run->label = label_of(*run);
    if (computing_decides(*run)) runs.push_back(std::move(*run));
  }
  return runs;
}

std::vector<MeasuredRun> megatron_runs(const Table& table, const Catalog& known,
                                       std::string_view architecture) {
  std::vector<MeasuredRun> runs;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const auto one = [&](std::string_view column) { return table.text(i, column) == "1"; };
    const auto precision = precision_of(table.text(i, "precision"));
    if (!one("tp") || !one("pp") || !one("cp") || !precision) continue;
    if (!table.text(i, "kind").starts_with("Pre-Training")) continue;
    auto run = known_run(known, architecture, table.text(i, "system"), table.text(i, "model"),
                         table.number(i, "num_gpus", 1));
    if (!run) continue;
    model::TrainingShape& shape = run->shape;
    shape.precision = *precision;
    shape.sequence = static_cast<int>(table.number(i, "seq_len_tokens", 1));
    shape.micro_batch = static_cast<int>(table.number(i, "micro_batch_samples", 1));
    shape.global_batch = static_cast<int>(table.number(i, "global_batch_samples", 1));
    run->step_s = shape.global_batch * static_cast<double>(shape.sequence) /
                  (table.number(i, "tokens_per_s_per_gpu", 1) * shape.parallelism.dp);
    run->label = label_of(*run);
    if (computing_decides(*run)) runs.push_back(std::move(*run));
  }
  return runs;
}

double computing_s(const MeasuredRun& run, double sustained_share) {
  catalog::Gpu gpu = run.gpu;
  gpu.sustained_share = sustained_share;
  const model::StageTime t = model::stage_time(gpu, run.model, run.shape, 0);
  return run.shape.micro_batches() * (t.forward_s + t.backward_s) + t.optimizer_s;
}

SustainedFit fit_sustained(const std::vector<MeasuredRun>& runs) {
  const auto ratios = [&](const std::vector<double>& x) {
    std::vector<double> all;
    for (const MeasuredRun& run : runs) all.push_back(computing_s(run, x[0]) / run.step_s);
    return all;
  };
  const std::vector<double> x =
      fit({{"sustained_share", 0.3, 1, 0.9}}, std::vector<double>(runs.size(), 1), ratios);
  return {x[0], error_of(ratios(x))};
}

}  // namespace fabricast::calibrate
