#include "validation/training_check.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "base/parallel.h"
#include "scenario/scenario.h"
#include "training/training.h"
#include "validation/behaviours.h"
#include "validation/training_rows.h"
#include "validation/training_scenario.h"

namespace fabricast::validation {
namespace {

namespace fs = std::filesystem;

fs::path tables_in(const std::string& data) {
  const fs::path folder(data);
  const fs::path within = folder / "training";
  const fs::path found = fs::is_directory(within) ? within : folder;
  if (!fs::is_directory(found)) {
    throw base::input_error({data, 0, 0, ""}, "no folder", "a folder of measured data");
  }
  return found;
}

std::vector<TrainingRow> rows_in(const fs::path& folder) {
  std::vector<fs::path> tables;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".csv") tables.push_back(entry.path());
  }
  std::ranges::sort(tables);
  std::vector<TrainingRow> rows;
  for (const fs::path& table : tables) {
    const auto more = read_training_rows(table.string());
    if (more) rows.insert(rows.end(), more->begin(), more->end());
  }
  if (rows.empty()) {
    throw base::input_error({folder.string(), 0, 0, ""}, "a folder without tables of training",
                            "tables such as mlperf_llm.csv");
  }
  return rows;
}

/// One job as it comes out, or why it does not.
struct Forecast {
  double step_s = 0;
  double tokens_per_s_per_gpu = 0;
  double tflops_per_gpu = 0;
  double whole_square_tflops_per_gpu = 0;  ///< attention counted without its causal mask
  bool beyond_memory = false;
  std::string skipped;
};

/// Of a training step, forward and backward.
double attention_flops_per_token(const scenario::TrainingSpec& spec) {
  double attention = 0;
  for (int layer = 0; layer < spec.model.layers; ++layer) {
    attention += 3 * model::forward_flops(spec.model, layer, spec.shape.sequence).attention;
  }
  return attention / spec.shape.sequence;
}

Forecast forecast_of(const std::string& yaml, const std::string& name,
                     const catalog::Catalog& catalog, std::uint64_t seed, Shared& shared) {
  Forecast forecast;
  try {
    const scenario::ValidScenario job =
        scenario::parse(yaml, name, catalog, {.seed = seed, .ran = true});
    scenario::require_simulated(job);
    const auto& spec = std::get<scenario::TrainingSpec>(job.workload);
    const scenario::FabricChoice& choice = job.fabrics.front();
    const auto fabric = std::make_shared<const fabric::Fabric>(fabric::build(choice.topology));
    training::Options options;
    options.states = 1;
    options.resolution = collective::Resolution::kFlow;
    const training::Result result = training::simulate(
        job, choice, *fabric, networks_of(job, fabric, shared.behaviours), shared.phases, options);
    forecast.step_s = result.step_time_s;
    forecast.tokens_per_s_per_gpu = result.tokens_per_s / job.cluster.gpus;
    const double flops =
        model::training_flops_per_token(spec.model, spec.shape.sequence, spec.shape.finetuning);
    forecast.tflops_per_gpu = forecast.tokens_per_s_per_gpu / 1e12 * flops;
    forecast.whole_square_tflops_per_gpu =
        forecast.tokens_per_s_per_gpu / 1e12 * (flops + attention_flops_per_token(spec));
    forecast.beyond_memory = result.memory.total_gb > job.cluster.gpu.memory_gb;
  } catch (const base::Error& error) {
    const std::string& key = error.where().key;
    forecast.skipped = key.empty() ? error.message() : key + ": " + error.message();
  }
  return forecast;
}

double predicted(const TrainingRow& row, const Forecast& forecast) {
  if (row.quantity == "step_time_s") return forecast.step_s;
  if (row.quantity == "tflops_per_gpu") {
    return row.whole_square ? forecast.whole_square_tflops_per_gpu : forecast.tflops_per_gpu;
  }
  return forecast.tokens_per_s_per_gpu;
}

}  // namespace

TrainingCheck training_check(const catalog::Catalog& catalog, const TrainingCheckOptions& options) {
  const std::vector<TrainingRow> rows = rows_in(tables_in(options.data));
  // Releases of the same recipe are one job.
  std::map<std::string, std::size_t> numbers;
  std::vector<std::string> jobs;
  std::vector<TrainingScenario> scenarios;
  for (const TrainingRow& row : rows) {
    scenarios.push_back(scenario_of(row, catalog));
    const std::string& yaml = scenarios.back().yaml;
    if (!yaml.empty() && numbers.emplace(yaml, jobs.size()).second) jobs.push_back(yaml);
  }
  if (options.progress != nullptr) {
    options.progress->next("jobs", static_cast<std::int64_t>(jobs.size()));
  }
  std::vector<Forecast> forecasts(jobs.size());
  Shared shared;
  base::parallel_for(jobs.size(), options.threads, [&](std::size_t i) {
    forecasts[i] = forecast_of(jobs[i], "job", catalog, options.seed, shared);
    if (options.progress != nullptr) options.progress->advance();
  });
  TrainingCheck check;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const TrainingRow& row = rows[i];
    const std::string name = fmt::format("{}:{}: {}", row.file, row.line, row.name);
    const bool none = scenarios[i].yaml.empty();
    const Forecast forecast = none ? Forecast{} : forecasts[numbers.at(scenarios[i].yaml)];
    const std::string& reason = none ? scenarios[i].skipped : forecast.skipped;
    if (!reason.empty()) {
      check.skipped.push_back({name, reason, row.measures});
      continue;
    }
    check.rows.push_back({row.file, name, row.quantity, row.measured, predicted(row, forecast),
                          row.source, forecast.beyond_memory});
  }
  return check;
}

}  // namespace fabricast::validation
