#include "report/validation.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/statistics.h"
#include "base/table.h"
#include "report/text.h"

namespace fabricast::report {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostRows = 20;  ///< of a table, the worst first; the JSON has all

struct Errors {
  std::vector<double> all;
  std::map<std::string, std::vector<double>> groups;
  std::size_t skipped = 0;

  double median() const {
    if (groups.empty()) return base::percentile(all, 50);
    std::vector<double> medians;
    for (const auto& [group, errors] : groups) medians.push_back(base::percentile(errors, 50));
    return base::percentile(medians, 50);
  }
};

std::map<std::string, Errors> errors_by_kind(const ValidationResult& result) {
  std::map<std::string, Errors> kinds;
  for (const ValidationRow& row : result.rows) {
    Errors& errors = kinds[row.kind];
    errors.all.push_back(row.error_pct());
    if (!row.group.empty()) errors.groups[row.group].push_back(row.error_pct());
  }
  for (const ValidationSkip& skip : result.skipped) {
    if (kinds.contains(skip.kind)) ++kinds[skip.kind].skipped;
  }
  return kinds;
}

std::string some_rows(const ValidationResult& result, bool chinese, bool all) {
  std::vector<const ValidationRow*> rows;
  for (const ValidationRow& row : result.rows) rows.push_back(&row);
  if (!all) {
    std::ranges::stable_sort(
        rows, [](const auto* a, const auto* b) { return a->error_pct() > b->error_pct(); });
    if (rows.size() > kMostRows) rows.resize(kMostRows);
  }
  base::Table table({all ? (chinese ? "情形" : "case") : (chinese ? "最差的情形" : "worst cases"),
                     chinese ? "实测" : "measured", chinese ? "预测" : "predicted",
                     chinese ? "误差 %" : "error %"});
  for (const ValidationRow* row : rows) {
    table.row({shortened(row->name, 48), number(row->measured), number(row->predicted),
               fmt::format("{:+.2f}", 100 * (row->predicted / row->measured - 1))});
  }
  return table.text();
}

/// A line for each reason, in the order met.
std::string skipped_rows(const ValidationResult& result, bool chinese) {
  std::vector<std::pair<const ValidationSkip*, int>> reasons;
  for (const ValidationSkip& skip : result.skipped) {
    const auto known = std::ranges::find_if(
        reasons, [&](const auto& reason) { return reason.first->reason == skip.reason; });
    if (known == reasons.end()) {
      reasons.emplace_back(&skip, 1);
    } else {
      ++known->second;
    }
  }
  std::string text;
  for (const auto& [skip, count] : reasons) {
    const std::string name =
        count == 1 ? skip->name
                   : fmt::format(fmt::runtime(chinese ? "{} 等 {} 项" : "{} and {} more"),
                                 skip->name, chinese ? count : count - 1);
    text += paragraph(
        fmt::format(fmt::runtime(chinese ? "跳过 {}：{}" : "Skipped {}: {}"), name, skip->reason),
        0);
  }
  return reasons.empty() ? text : text + "\n";
}

}  // namespace

double ValidationRow::error_pct() const {
  return 100 * std::abs(predicted - measured) / measured;
}

std::string validation_table(const ValidationResult& result, const TerminalOptions& options,
                             bool all_rows) {
  const bool zh = options.chinese;
  std::string text = some_rows(result, zh, all_rows) + "\n" + skipped_rows(result, zh);
  for (const std::string& note : result.notes) text += paragraph(note, 0) + "\n";
  base::Table table({zh ? "类别" : "kind", zh ? "行数" : "rows", zh ? "跳过" : "skipped",
                     zh ? "平均误差 %" : "mean error %", zh ? "中位数 %" : "median %", "p90 %",
                     zh ? "最大 %" : "max %"});
  for (const auto& [kind, errors] : errors_by_kind(result)) {
    table.row({kind, std::to_string(errors.all.size()), std::to_string(errors.skipped),
               fmt::format("{:.2f}", base::mean(errors.all)),
               fmt::format("{:.2f}", errors.median()),
               fmt::format("{:.2f}", base::percentile(errors.all, 90)),
               fmt::format("{:.2f}", *std::ranges::max_element(errors.all))});
  }
  text += table.text();
  if (options.stats) {
    text += paragraph(fmt::format(fmt::runtime(zh ? "用时：逐包 {} s，流级 {} s。"
                                                  : "Wall time: packets {} s, flows {} s."),
                                  number(result.measured_wall_s), number(result.predicted_wall_s)),
                      0);
  }
  return text;
}

std::string validation_json(const ValidationResult& result) {
  Json json = Json::object();
  json["fabricast"] = FABRICAST_VERSION;
  Json& kinds = json["kinds"] = Json::object();
  for (const auto& [kind, errors] : errors_by_kind(result)) {
    Json& entry = kinds[kind] = Json::object();
    entry["rows"] = errors.all.size();
    entry["skipped"] = errors.skipped;
    entry["mean_error_pct"] = base::mean(errors.all);
    entry["median_error_pct"] = errors.median();
    entry["p90_error_pct"] = base::percentile(errors.all, 90);
  }
  Json& rows = json["rows"] = Json::array();
  for (const ValidationRow& row : result.rows) {
    rows.push_back({{"kind", row.kind},
                    {"case", row.name},
                    {"quantity", row.quantity},
                    {"measured", row.measured},
                    {"predicted", row.predicted},
                    {"error_pct", row.error_pct()},
                    {"source", row.source}});
  }
  Json& skipped = json["skipped"] = Json::array();
  for (const ValidationSkip& skip : result.skipped) {
    skipped.push_back({{"case", skip.name}, {"reason", skip.reason}});
  }
  if (!result.notes.empty()) json["notes"] = result.notes;
  json["stats"] = {{"packet_wall_s", result.measured_wall_s},
                   {"flow_wall_s", result.predicted_wall_s}};
  return json.dump(2) + "\n";
}

}  // namespace fabricast::report
