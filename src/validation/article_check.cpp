#include "validation/article_check.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "calibrate/tables.h"

namespace fabricast::validation {
namespace {

// What the fit was asked for, and with one more point what it was not fitted to.
constexpr double kPoints = 4;
constexpr double kBlindPoints = 5;
constexpr double kJitterFactor = 1.6;
constexpr double kDaysPct = 6;
constexpr double kTunedPct = 4;
constexpr double kOneNodePct = 0.5;
constexpr int kBlindGpus = 16;

const ArticleRun& run_of(const ArticleRuns& runs, const std::string& job,
                         const std::string& fabric) {
  const auto found = runs.runs.find({job, fabric});
  if (found != runs.runs.end()) return found->second;
  throw base::input_error({}, "no run of `" + job + "` on `" + fabric + "`",
                          "a scenario of that name with that fabric");
}

const ArticleRow* row_of(const std::vector<ArticleRow>& rows, const std::string& job,
                         const std::string& fabric) {
  const auto found = std::ranges::find_if(
      rows, [&](const ArticleRow& row) { return row.job == job && row.fabric == fabric; });
  return found == rows.end() ? nullptr : &*found;
}

double percent_more(double second, double first) {
  return 100 * (second / first - 1);
}

void add_row(const ArticleRow& row, const ArticleRun& here, ArticleCheck& check) {
  const bool blind = row.gpus == kBlindGpus;
  check.utilisation.push_back({row.job, row.fabric, row.utilisation_pct, here.utilisation_pct,
                               here.utilisation_pct - row.utilisation_pct,
                               blind ? kBlindPoints : kPoints, blind});
  check.jitter.push_back({row.job, row.fabric, row.jitter_pct, here.jitter_pct,
                          std::log(here.jitter_pct / row.jitter_pct), std::log(kJitterFactor),
                          blind});
}

void add_pair(const ArticleRow& infiniband, const ArticleRow& roce, const ArticleRuns& runs,
              ArticleCheck& check) {
  const ArticleRun& first = run_of(runs, infiniband.job, "infiniband");
  const ArticleRun& second = run_of(runs, infiniband.job, "roce-v2");
  const double utilisations = infiniband.utilisation_pct / roce.utilisation_pct;
  const double here = second.days / first.days;
  check.days.push_back({infiniband.job, "", utilisations, here, percent_more(here, utilisations),
                        kDaysPct, infiniband.gpus == kBlindGpus});
  check.contradictions.emplace_back(infiniband.job,
                                    percent_more(roce.days / infiniband.days, utilisations));
  const ArticleJob& job = runs.jobs.at(infiniband.job);
  const double flop = 6 * job.parameters * infiniband.tokens;
  check.arithmetic.push_back(
      {infiniband.job, flop, flop / job.peak_flops, first.days * 86400, infiniband.days * 86400});
  const double tuned = percent_more(run_of(runs, infiniband.job, "tuned-roce-v2").step_s,
                                    run_of(runs, infiniband.job, "tuned-infiniband").step_s);
  check.controls.push_back({infiniband.job, "roce-v2 / infiniband", 0, tuned, tuned, kTunedPct});
}

}  // namespace

std::vector<ArticleRow> read_article(const std::string& directory) {
  const calibrate::Table table(directory + "/training.csv");
  std::vector<ArticleRow> rows;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    rows.push_back({table.text(i, "case"), table.text(i, "fabric"),
                    static_cast<int>(table.number(i, "gpus")), table.number(i, "dataset_tokens"),
                    table.number(i, "gpu_utilisation_pct"), table.number(i, "training_days"),
                    table.number(i, "jitter_pct")});
  }
  return rows;
}

ArticleCheck article_check(const std::vector<ArticleRow>& rows, const ArticleRuns& runs) {
  ArticleCheck check;
  for (const ArticleRow& row : rows) add_row(row, run_of(runs, row.job, row.fabric), check);
  for (const ArticleRow& row : rows) {
    if (row.fabric != "infiniband") continue;
    const ArticleRow* roce = row_of(rows, row.job, "roce-v2");
    if (roce != nullptr) add_pair(row, *roce, runs, check);
  }
  if (!runs.one_node_step_s.empty()) {
    const auto [least, most] = std::ranges::minmax_element(
        runs.one_node_step_s, {}, [](const auto& entry) { return entry.second; });
    const double off = percent_more(most->second, least->second);
    check.controls.push_back({"8 GPUs in one node", "slowest / fastest", 0, off, off, kOneNodePct});
  }
  return check;
}

}  // namespace fabricast::validation
