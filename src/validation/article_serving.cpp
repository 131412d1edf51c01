#include "validation/article_serving.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "calibrate/tables.h"

namespace fabricast::validation {
namespace {

// Of one RDMA fabric against plain TCP, as the article has it for 13B (other-figures.csv there).
constexpr const char* kTcpJob = "serve-8-13b";
constexpr double kTcpLatencyLeft = 0.4;
constexpr double kTcpConcurrency = 2.3;
// A contrast that is met within this factor holds, one of the right sign is met in part.
constexpr double kFactor = 1.5;

const ServingFigures& run_of(const ArticleServingRuns& runs, const std::string& job,
                             const std::string& fabric) {
  const auto found = runs.runs.find({job, fabric});
  if (found != runs.runs.end()) return found->second;
  throw base::input_error({}, "no run of `" + job + "` on `" + fabric + "`",
                          "a scenario of that name with that fabric");
}

struct Figure {
  const char* name;
  double ServingFigures::* value;
};
constexpr Figure kFigures[] = {{"latency", &ServingFigures::latency_ms},
                               {"capacity", &ServingFigures::max_qps},
                               {"utilisation", &ServingFigures::utilisation_pct},
                               {"jitter", &ServingFigures::jitter_pct}};

void add_pair(const ArticleServingRow& infiniband, const ArticleServingRow& roce,
              const ArticleServingRuns& runs, ArticleServingCheck& check) {
  const ServingFigures& first = run_of(runs, infiniband.job, "infiniband");
  const ServingFigures& second = run_of(runs, infiniband.job, "roce-v2");
  for (const Figure& figure : kFigures) {
    ServingRatio ratio;
    ratio.job = infiniband.job;
    ratio.figure = figure.name;
    ratio.article = roce.figures.*figure.value / infiniband.figures.*figure.value;
    ratio.here = second.*figure.value / first.*figure.value;
    ratio.right_order = (ratio.article - 1) * (ratio.here - 1) > 0;
    check.ratios.push_back(ratio);
  }
}

/// 2 FLOP per parameter and token (Kaplan et al. 2020), attention left out, against the peak.
void add_arithmetic(const ArticleServingRow& row, const ArticleService& job,
                    ArticleServingCheck& check) {
  const double flops = row.figures.max_qps * row.context_tokens * 2 * job.parameters;
  const double times = flops / job.peak_flops;
  check.claims.push_back(
      {fmt::format("{}-fresh-context", row.job), times > 1 ? "contradicted" : "holds",
       fmt::format("{:.0f} requests/s x {:.0f} tokens x 2 x {:.3g} parameters = {:.3g} FLOP/s, "
                   "{:.1f} times the peak of {} GPUs: most of the context must be cached",
                   row.figures.max_qps, row.context_tokens, job.parameters, flops, times,
                   row.gpus)});
  if (row.offered_qps > row.figures.max_qps) {
    check.claims.push_back(
        {fmt::format("{}-offered", row.job), "contradicted",
         fmt::format("{:.0f} requests/s cannot be measured on a service that sustains {:.0f}",
                     row.offered_qps, row.figures.max_qps)});
  }
}

void add_tcp(const std::string& job, const ArticleServingRuns& runs, ArticleServingCheck& check) {
  const auto tcp = runs.runs.find({job, "tcp"});
  if (tcp == runs.runs.end()) return;
  const ServingFigures& roce = run_of(runs, job, "roce-v2");
  const auto judged = [&](const char* what, double stated, double here) {
    const double apart = std::exp(std::abs(std::log(here / stated)));
    const bool same_side = (stated - 1) * (here - 1) > 0;
    check.claims.push_back(
        {fmt::format("{}-tcp-to-roce-{}", job, what),
         apart <= kFactor ? "holds" : (same_side ? "partly" : "contradicted"),
         fmt::format("{:.2f} times that of TCP here, {:.2f} stated", here, stated)});
  };
  judged("latency", kTcpLatencyLeft, roce.latency_ms / tcp->second.latency_ms);
  judged("concurrency", kTcpConcurrency, roce.max_qps / tcp->second.max_qps);
}

}  // namespace

std::vector<ArticleServingRow> read_article_serving(const std::string& directory) {
  const calibrate::Table table(directory + "/inference.csv");
  std::vector<ArticleServingRow> rows;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    ArticleServingRow row;
    row.job = table.text(i, "case");
    row.fabric = table.text(i, "fabric");
    row.gpus = static_cast<int>(table.number(i, "gpus"));
    row.context_tokens = table.number(i, "context_tokens");
    row.offered_qps = table.number(i, "offered_qps");
    row.figures = {table.number(i, "latency_ms"), table.number(i, "max_qps"),
                   table.number(i, "gpu_utilisation_pct"), table.number(i, "jitter_pct")};
    rows.push_back(std::move(row));
  }
  return rows;
}

ArticleServingCheck article_serving_check(const std::vector<ArticleServingRow>& rows,
                                          const ArticleServingRuns& runs) {
  ArticleServingCheck check;
  check.rows = rows;
  double largest = 0;
  for (const ArticleServingRow& row : rows) {
    check.here.push_back(run_of(runs, row.job, row.fabric));
    if (row.fabric != "infiniband") continue;
    const auto roce = std::ranges::find_if(rows, [&](const ArticleServingRow& other) {
      return other.job == row.job && other.fabric == "roce-v2";
    });
    if (roce != rows.end()) add_pair(row, *roce, runs, check);
    const ArticleService& job = runs.jobs.at(row.job);
    add_arithmetic(row, job, check);
    if (row.job == kTcpJob) add_tcp(row.job, runs, check);
    if (job.parameters < largest) continue;
    largest = job.parameters;
    check.limit_separates = run_of(runs, row.job, "infiniband").latency_ms <= check.limit_ms &&
                            run_of(runs, row.job, "roce-v2").latency_ms > check.limit_ms;
  }
  return check;
}

}  // namespace fabricast::validation
