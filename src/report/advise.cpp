#include "report/advise.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/table.h"
#include "report/heading.h"
#include "report/text.h"
#include "report/verdict_text.h"

namespace fabricast::report {
namespace {

using advice::Outcome;

constexpr std::size_t kMostDesigns = 8;
constexpr std::size_t kMostFlips = 2;
constexpr int kNameCells = 38;

std::string in(const advice::Text& text, bool chinese) {
  return chinese ? text.zh : text.en;
}

advice::Text spoken(scenario::Objective objective) {
  switch (objective) {
    case scenario::Objective::kValue:
      return {"the work at the lowest cost", "同样工作成本最低"};
    case scenario::Objective::kCheapest:
      return {"the lowest purchase price", "购置价最低"};
    case scenario::Objective::kFastest:
      return {"the shortest time", "用时最短"};
  }
  return {};
}

/// Designs of two levels stand in one table.
bool mixed(const AdviseReport& report) {
  const auto built = [](const DesignReport& d) { return d.outcome.has_value(); };
  return std::ranges::any_of(report.designs,
                             [&](const DesignReport& d) { return built(d) && d.flow; }) &&
         std::ranges::any_of(report.designs,
                             [&](const DesignReport& d) { return built(d) && !d.flow; });
}

std::string counts(const AdviseReport& report, bool chinese) {
  const auto built = std::ranges::count_if(
      report.designs, [](const DesignReport& d) { return d.outcome.has_value(); });
  const auto others = static_cast<std::int64_t>(report.designs.size()) - built;
  return paragraph(
      fmt::format(fmt::runtime(chinese ? "共 {} 种设计可建（{} 种不可）；目标：{}"
                                       : "{} designs can be built ({} cannot); objective: {}"),
                  built, others, in(spoken(report.comparison.scenario->objective), chinese)),
      0);
}

/// The choice, the best of each kind, and then the best of all.
std::vector<const DesignReport*> shown(const AdviseReport& report) {
  std::vector<const DesignReport*> some;
  const auto take = [&](const DesignReport& design) {
    if (design.outcome && std::ranges::find(some, &design) == some.end()) some.push_back(&design);
  };
  for (const DesignReport& design : report.designs) {
    if (design.chosen) take(design);
  }
  for (const Outcome& finalist : report.comparison.outcomes) {
    const auto best = std::ranges::find_if(report.designs, [&](const DesignReport& d) {
      return d.outcome && d.candidate.kind == finalist.kind;
    });
    if (best != report.designs.end()) take(*best);
  }
  for (const DesignReport& design : report.designs) {
    if (some.size() < kMostDesigns && design.pareto) take(design);
  }
  for (const DesignReport& design : report.designs) {
    if (some.size() < kMostDesigns) take(design);
  }
  std::ranges::sort(some, {}, [&](const DesignReport* d) { return d - report.designs.data(); });
  return some;
}

std::string designs_table(const AdviseReport& report, bool chinese) {
  const auto& outcomes = report.comparison.outcomes;
  const std::string& currency = outcomes.front().cost.currency;
  const bool serving = outcomes.front().serving.has_value();
  const auto runs = advice::run_unit(outcomes);
  using Align = base::Table::Align;
  base::Table table(
      {chinese ? "设计" : "design", fmt::format("{} {}", chinese ? "网络" : "network", currency),
       serving ? (chinese ? "SLO 内/秒" : "in SLO/s") : in(runs.name, chinese),
       fmt::format("{} {}", chinese ? "每百万" : "per M", currency), "GPU %"},
      {Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  for (const DesignReport* design : shown(report)) {
    const Outcome& o = *design->outcome;
    const double speed = serving ? o.serving->slo_qps.value : o.training.days / runs.days;
    const double busy = serving ? o.serving->gpu_utilisation_pct : o.training.gpu_utilisation_pct;
    table.row({fmt::format("{} {}", design->chosen ? "*" : " ",
                           shortened(design->candidate.name, kNameCells)),
               number(o.cost.network_capex), number(speed), number(o.cost.per_million_tokens),
               number(busy)});
  }
  return table.text();
}

}  // namespace

std::string advise_table(const AdviseReport& report, bool chinese) {
  if (report.comparison.outcomes.empty()) {
    std::string text = paragraph(report.subject, 0);
    if (report.nothing) text += paragraph(in(*report.nothing, chinese), 0);
    return text + verdict_text(report.comparison.verdict, chinese);
  }
  advice::Verdict brief = report.comparison.verdict;
  brief.next_yaml.clear();
  if (brief.flips.size() > kMostFlips) brief.flips.resize(kMostFlips);
  std::string text = heading(*report.comparison.scenario, chinese);
  text += counts(report, chinese) + "\n";
  text += designs_table(report, chinese);
  if (mixed(report)) {
    text += paragraph(chinese ? "每类网络最优者按包仿真，其余按流仿真。"
                              : "The best of each kind in packets, the others in flows.",
                      0);
  }
  text += "\n";
  return text + verdict_text(brief, chinese);
}

}  // namespace fabricast::report
