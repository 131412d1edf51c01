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

std::map<std::string, std::vector<double>> errors_by_kind(const ValidationResult& result) {
  std::map<std::string, std::vector<double>> errors;
  for (const ValidationRow& row : result.rows) errors[row.kind].push_back(row.error_pct());
  return errors;
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

}  // namespace

double ValidationRow::error_pct() const {
  return 100 * std::abs(predicted - measured) / measured;
}

std::string validation_table(const ValidationResult& result, const TerminalOptions& options) {
  const bool zh = options.chinese;
  std::string text = worst_rows(result, zh) + "\n";
  base::Table table({zh ? "类别" : "kind", zh ? "行数" : "rows", zh ? "平均误差 %" : "mean error %",
                     zh ? "中位数 %" : "median %", "p90 %", zh ? "最大 %" : "max %"});
  for (const auto& [kind, errors] : errors_by_kind(result)) {
    table.row({kind, std::to_string(errors.size()), fmt::format("{:.2f}", base::mean(errors)),
               fmt::format("{:.2f}", base::percentile(errors, 50)),
               fmt::format("{:.2f}", base::percentile(errors, 90)),
               fmt::format("{:.2f}", *std::ranges::max_element(errors))});
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
    entry["rows"] = errors.size();
    entry["skipped"] = 0;
    entry["mean_error_pct"] = base::mean(errors);
    entry["median_error_pct"] = base::percentile(errors, 50);
    entry["p90_error_pct"] = base::percentile(errors, 90);
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
  json["skipped"] = Json::array();
  json["stats"] = {{"packet_wall_s", result.measured_wall_s},
                   {"flow_wall_s", result.predicted_wall_s}};
  return json.dump(2) + "\n";
}

}  // namespace fabricast::report
