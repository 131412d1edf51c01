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

std::string worst_rows(const ValidationResult& result, bool chinese) {
  std::vector<const ValidationRow*> worst;
  for (const ValidationRow& row : result.rows) worst.push_back(&row);
  std::ranges::stable_sort(
      worst, [](const auto* a, const auto* b) { return a->error_pct() > b->error_pct(); });
  if (worst.size() > kMostRows) worst.resize(kMostRows);
  base::Table table({chinese ? "最差的情形" : "worst cases", chinese ? "实测" : "measured",
                     chinese ? "预测" : "predicted", chinese ? "误差 %" : "error %"});
  for (const ValidationRow* row : worst) {
    table.row({shortened(row->name, 48), number(row->measured), number(row->predicted),
               fmt::format("{:+.2f}", 100 * (row->predicted / row->measured - 1))});
  }
  return table.text();
}

/// "tokens/s/GPU" of "tokens_per_s_per_gpu", as a column has room for.
std::string unit_of(const std::string& quantity) {
  if (quantity == "tokens_per_s_per_gpu") return "tokens/s/GPU";
  if (quantity == "tflops_per_gpu") return "TFLOP/s/GPU";
  return quantity.substr(quantity.rfind('_') + 1);
}

/// A table for each group, in the order met; its name stands once, above the cases.
std::string all_rows(const ValidationResult& result, bool chinese) {
  std::vector<std::string> groups;
  for (const ValidationRow& row : result.rows) {
    if (std::ranges::find(groups, row.group) == groups.end()) groups.push_back(row.group);
  }
  std::string text;
  for (const std::string& group : groups) {
    base::Table table({group, chinese ? "单位" : "unit", chinese ? "实测" : "measured",
                       chinese ? "预测" : "predicted", chinese ? "误差 %" : "error %"});
    for (const ValidationRow& row : result.rows) {
      if (row.group != group) continue;
      const std::string name =
          row.name.starts_with(group + ":") ? row.name.substr(group.size() + 1) : row.name;
      table.row({shortened(name, 36), unit_of(row.quantity), number(row.measured),
                 number(row.predicted),
                 fmt::format("{:+.1f}", 100 * (row.predicted / row.measured - 1))});
    }
    if (!text.empty()) text += '\n';
    text += table.text();
  }
  return text;
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
  if (!reasons.empty()) text += '\n';
  return text;
}

}  // namespace

double ValidationRow::error_pct() const {
  return 100 * std::abs(predicted - measured) / measured;
}

std::string validation_table(const ValidationResult& result, const TerminalOptions& options,
                             bool every_row) {
  const bool zh = options.chinese;
  std::string text = every_row ? all_rows(result, zh) : worst_rows(result, zh);
  text += fmt::format("\n{}", skipped_rows(result, zh));
  for (const std::string& note : result.notes) text += fmt::format("{}\n", paragraph(note, 0));
  base::Table table({zh ? "类别" : "kind", zh ? "行数" : "rows", zh ? "跳过" : "skipped",
                     zh ? "平均误差 %" : "mean error %", zh ? "中位数 %" : "median %", "p90 %",
                     zh ? "最大 %" : "max %"});
  const auto line = [&](const std::string& name, const Errors& errors, const std::string& skipped) {
    table.row({name, std::to_string(errors.all.size()), skipped,
               fmt::format("{:.2f}", base::mean(errors.all)),
               fmt::format("{:.2f}", errors.median()),
               fmt::format("{:.2f}", base::percentile(errors.all, 90)),
               fmt::format("{:.2f}", *std::ranges::max_element(errors.all))});
  };
  for (const auto& [kind, errors] : errors_by_kind(result)) {
    line(kind, errors, std::to_string(errors.skipped));
    if (!every_row) continue;
    for (const auto& [group, of_group] : errors.groups)
      line(fmt::format("  {}", group), {of_group, {}, 0}, "");
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
  for (const ValidationClaim& claim : result.claims) {
    json["claims"].push_back(
        {{"id", claim.id}, {"verdict", claim.verdict}, {"evidence", claim.evidence}});
  }
  json["stats"] = {{"packet_wall_s", result.measured_wall_s},
                   {"flow_wall_s", result.predicted_wall_s}};
  return json.dump(2) + "\n";
}

}  // namespace fabricast::report
