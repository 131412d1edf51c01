#include "validation/inference_check.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/parallel.h"
#include "base/statistics.h"
#include "serving/serving.h"
#include "validation/behaviours.h"
#include "validation/inference_rows.h"
#include "validation/inference_scenario.h"

namespace fabricast::validation {
namespace {

namespace fs = std::filesystem;

// MLPerf Inference's server scenario for llama2-70b, and the search for its rate.
constexpr double kMostTtftMs = 2000;
constexpr double kMostTpotMs = 200;
constexpr int kBisections = 7;
constexpr int kServerRequests = 4000;

std::vector<InferenceRow> rows_in(const std::string& data) {
  const fs::path folder(data);
  const fs::path within = folder / "inference";
  const fs::path found = fs::is_directory(within) ? within : folder;
  if (!fs::is_directory(found)) {
    throw base::input_error({data, 0, 0, ""}, "no folder", "a folder of measured data");
  }
  std::vector<fs::path> tables;
  for (const fs::directory_entry& entry : fs::directory_iterator(found)) {
    if (entry.path().extension() == ".csv") tables.push_back(entry.path());
  }
  std::ranges::sort(tables);
  std::vector<InferenceRow> rows;
  for (const fs::path& table : tables) {
    const auto more = read_inference_rows(table.string());
    if (more) rows.insert(rows.end(), more->begin(), more->end());
  }
  if (rows.empty()) {
    throw base::input_error({found.string(), 0, 0, ""}, "a folder without tables of serving",
                            "tables such as serving_ttft_tpot.csv");
  }
  return rows;
}

/// One service as it comes out, or why it does not. Of a replica.
struct Forecast {
  std::vector<serving::RequestRecord> requests;
  double ttft_p99_ms = 0;
  double tpot_p99_ms = 0;
  double ttft_ms = 0;
  double tpot_ms = 0;
  double output_tokens_per_s = 0;
  std::string skipped;
};

/// What answers a group of rows: one scenario, run the way its benchmark did.
struct Job {
  std::string yaml;
  Load load = Load::kClosed;
  auto operator<=>(const Job&) const = default;
};

class Bench {
 public:
  Bench(const catalog::Catalog& catalog, std::uint64_t seed) : catalog_(catalog), seed_(seed) {}

  Forecast forecast(const Job& job) {
    try {
      return job.load == Load::kServer ? fastest_server(job) : run(job.yaml, job.load);
    } catch (const base::Error& error) {
      Forecast forecast;
      const std::string& key = error.where().key;
      forecast.skipped = key.empty() ? error.message() : key + ": " + error.message();
      return forecast;
    }
  }

 private:
  Forecast run(const std::string& yaml, Load load);
  Forecast fastest_server(const Job& job);

  const catalog::Catalog& catalog_;
  std::uint64_t seed_;
  Shared shared_;
};

/// Tokens per second while the service is neither filling nor emptying: between a quarter and three
/// quarters of the answers.
double steady_output(std::vector<serving::RequestRecord> requests) {
  std::ranges::sort(requests, {}, &serving::RequestRecord::last_token_s);
  const std::size_t from = requests.size() / 4;
  const std::size_t to = requests.size() * 3 / 4;
  double tokens = 0;
  for (std::size_t i = from; i < to; ++i) tokens += requests[i].output;
  const double s = requests[to].last_token_s - requests[from].last_token_s;
  return s > 0 ? tokens / s : 0;
}

double whole_output(const std::vector<serving::RequestRecord>& requests) {
  double tokens = 0;
  double last = 0;
  for (const serving::RequestRecord& request : requests) {
    tokens += request.output;
    last = std::max(last, request.last_token_s);
  }
  return last > 0 ? tokens / last : 0;
}

Forecast Bench::run(const std::string& yaml, Load load) {
  const scenario::ValidScenario job = scenario::parse(yaml, "job", catalog_, {.seed = seed_});
  scenario::require_simulated(job);
  const scenario::FabricChoice& choice = job.fabrics.front();
  const auto fabric = std::make_shared<const fabric::Fabric>(fabric::build(choice.topology));
  Forecast forecast;
  serving::Options options;
  options.states = 1;
  options.resolution = collective::Resolution::kFlow;
  options.stated_only = true;
  options.from_cold = load != Load::kServer;
  options.trace = [&](const serving::RequestRecord& request) {
    forecast.requests.push_back(request);
  };
  const serving::Result result = serving::simulate(
      job, choice, *fabric, networks_of(job, fabric, shared_.behaviours), shared_.phases, options);
  forecast.ttft_ms = result.ttft_ms.mean;
  forecast.tpot_ms = result.tpot_ms.mean;
  forecast.ttft_p99_ms = result.ttft_ms.p99;
  forecast.tpot_p99_ms = result.tpot_ms.p99;
  if (load == Load::kOffline) forecast.output_tokens_per_s = steady_output(forecast.requests);
  if (load == Load::kAtOnce) forecast.output_tokens_per_s = whole_output(forecast.requests);
  if (load == Load::kServer) forecast.output_tokens_per_s = result.output_tokens_per_s;
  return forecast;
}

std::string at_rate(std::string yaml, double qps) {
  const std::string_view place = "QPS";
  yaml.replace(yaml.find(place), place.size(), fmt::format("{:.6g}", qps));
  return yaml + fmt::format("  requests: {}\n", kServerRequests);
}

/// Doubled until the limits are missed, then halved between the two.
Forecast Bench::fastest_server(const Job& job) {
  const auto met = [](const Forecast& f) {
    return f.ttft_p99_ms <= kMostTtftMs && f.tpot_p99_ms <= kMostTpotMs;
  };
  Forecast best;
  best.skipped = "no rate meets the limits of the server scenario";
  double meets = 0;
  double misses = 0.25;
  for (;; misses *= 2) {
    Forecast tried = run(at_rate(job.yaml, misses), job.load);
    if (!met(tried)) break;
    meets = misses;
    best = std::move(tried);
  }
  for (int i = 0; i < kBisections; ++i) {
    const double qps = (meets + misses) / 2;
    Forecast tried = run(at_rate(job.yaml, qps), job.load);
    (met(tried) ? meets : misses) = qps;
    if (meets == qps) best = std::move(tried);
  }
  return best;
}

std::optional<double> percentile_of(const Forecast& forecast, const std::string& quantity) {
  std::vector<double> ms;
  for (const serving::RequestRecord& r : forecast.requests) {
    if (quantity.starts_with("tpot")) {
      if (r.output > 1) ms.push_back((r.last_token_s - r.first_token_s) / (r.output - 1) * 1e3);
    } else {
      const double end = quantity.starts_with("ttft") ? r.first_token_s : r.last_token_s;
      ms.push_back((end - r.arrival_s) * 1e3);
    }
  }
  if (ms.empty()) return std::nullopt;
  return base::percentile(ms, quantity.find("_p99_") != std::string::npos ? 99 : 50);
}

double predicted(const std::string& quantity, const Forecast& forecast, double replicas) {
  if (quantity == "ttft_ms") return forecast.ttft_ms;
  if (quantity == "tpot_ms") return forecast.tpot_ms;
  if (quantity == "output_tokens_per_s") return forecast.output_tokens_per_s * replicas;
  return percentile_of(forecast, quantity).value_or(0);
}

}  // namespace

InferenceCheck inference_check(const catalog::Catalog& catalog,
                               const InferenceCheckOptions& options) {
  const std::vector<InferenceRow> rows = rows_in(options.data);
  // Rows that describe the same run are one job.
  std::map<Job, std::size_t> numbers;
  std::vector<Job> jobs;
  std::vector<InferenceScenario> scenarios;
  for (const InferenceRow& row : rows) {
    scenarios.push_back(scenario_of(row, catalog));
    const Job job{scenarios.back().yaml, row.load};
    if (!job.yaml.empty() && numbers.emplace(job, jobs.size()).second) jobs.push_back(job);
  }
  if (options.progress != nullptr) {
    options.progress->next("services", static_cast<std::int64_t>(jobs.size()));
  }
  std::vector<Forecast> forecasts(jobs.size());
  Bench bench(catalog, options.seed);
  base::parallel_for(jobs.size(), options.threads, [&](std::size_t i) {
    forecasts[i] = bench.forecast(jobs[i]);
    if (jobs[i].load != Load::kTrace) forecasts[i].requests = {};
    if (options.progress != nullptr) options.progress->advance();
  });
  InferenceCheck check;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const InferenceRow& row = rows[i];
    const InferenceScenario& scenario = scenarios[i];
    const std::string name = fmt::format("{}:{}: {}", row.file, row.line, row.name);
    const bool none = scenario.yaml.empty();
    const Forecast nothing;
    const Forecast& forecast = none ? nothing : forecasts[numbers.at({scenario.yaml, row.load})];
    const std::string& reason = none ? scenario.skipped : forecast.skipped;
    for (const Measure& measure : row.measures) {
      if (!reason.empty()) {
        check.skipped.push_back({row.predictable ? measure.kind : "", name, reason});
        continue;
      }
      check.rows.push_back({measure.kind, row.file, name, measure.quantity, measure.value,
                            predicted(measure.quantity, forecast, scenario.replicas), row.source});
    }
  }
  return check;
}

}  // namespace fabricast::validation
