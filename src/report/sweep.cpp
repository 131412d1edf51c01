#include "report/sweep.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/table.h"
#include "base/yaml_text.h"
#include "report/text.h"

namespace fabricast::report {

namespace {

using base::Table;

constexpr std::size_t kMostRows = 40;
constexpr std::size_t kEndRows = 12;  ///< of either end, when there are more
constexpr std::size_t kMostErrors = 5;
constexpr int kMostCells = 24;

std::string spelt(const char* en, const char* zh, bool chinese) {
  return chinese ? zh : en;
}

const Figure& figure_of(const SweepOptions& options, std::size_t* index) {
  const auto found = std::ranges::find(
      figures(), options.figure, [](const Figure& figure) { return std::string(figure.key); });
  *index = found == figures().end() ? 0 : static_cast<std::size_t>(found - figures().begin());
  return figures()[*index];
}

template <class Names>
void add_new(std::vector<std::string>& names, const Names& more) {
  for (const std::string& name : more) {
    if (std::ranges::count(names, name) == 0) names.push_back(name);
  }
}

struct Columns {
  std::vector<std::string> keys;
  std::vector<std::string> fabrics;
};

Columns columns_of(const std::vector<Row>& rows) {
  Columns columns;
  for (const Row& row : rows) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : row.labels) keys.push_back(key);
    add_new(columns.keys, keys);
    std::vector<std::string> fabrics;
    for (const FabricFigures& fabric : row.fabrics) fabrics.push_back(fabric.name);
    add_new(columns.fabrics, fabrics);
  }
  return columns;
}

std::vector<std::string> cells_of(const Row& row, const Columns& columns, std::size_t figure,
                                  bool chinese) {
  std::vector<std::string> cells = {std::to_string(row.number)};
  for (const std::string& key : columns.keys) {
    const auto found =
        std::ranges::find(row.labels, key, [](const auto& label) { return label.first; });
    cells.push_back(
        found == row.labels.end()
            ? ""
            : shortened(base::yaml::flow_text(found->second, base::yaml::KeyOrder::kFile),
                        kMostCells));
  }
  for (const std::string& name : columns.fabrics) {
    const auto found = std::ranges::find(row.fabrics, name, &FabricFigures::name);
    const bool known = found != row.fabrics.end() && found->values[figure];
    cells.push_back(known ? number(*found->values[figure]) : "");
  }
  cells.push_back(row.error.empty() ? row.house : "");
  cells.push_back(row.error.empty() ? row.evidence : spelt("error", "出错", chinese));
  return cells;
}

/// "kmin_kb" for "fabrics[1].ecn.kmin_kb" where no other key ends like that.
std::string short_key(const std::string& key, const std::vector<std::string>& keys) {
  for (std::size_t dot = key.rfind('.'); dot != std::string::npos && dot > 0;
       dot = key.rfind('.', dot - 1)) {
    const std::string end = key.substr(dot);
    const auto alike = [&](const std::string& other) {
      return other.ends_with(end) || "." + other == end;
    };
    if (std::ranges::count_if(keys, alike) == 1) return end.substr(1);
  }
  return key;
}

std::string points_table(const std::vector<Row>& rows, std::size_t figure, bool chinese) {
  const Columns columns = columns_of(rows);
  std::vector<std::string> header = {spelt("point", "点", chinese)};
  for (const std::string& key : columns.keys) {
    header.push_back(shortened(short_key(key, columns.keys), kMostCells));
  }
  for (const std::string& name : columns.fabrics) header.push_back(shortened(name, kMostCells));
  header.push_back(spelt("house", "规则", chinese));
  header.push_back(spelt("evidence", "证据", chinese));
  std::vector<Table::Align> align(header.size(), Table::Align::kRight);
  align[align.size() - 2] = align[align.size() - 1] = Table::Align::kLeft;
  Table table(header, align);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows.size() > kMostRows && i == kEndRows) {
      i = rows.size() - kEndRows;
      table.section(
          fmt::format(fmt::runtime(chinese ? "… 还有 {} 个点；全部见 --csv FILE 或 --json FILE …"
                                           : "… {} more; --csv FILE or --json FILE has all …"),
                      rows.size() - 2 * kEndRows));
    }
    table.row(cells_of(rows[i], columns, figure, chinese));
  }
  return table.text();
}

/// "roce-v2 at 9, infiniband at 3", the most frequent first.
std::string counts(const std::vector<Row>& rows, std::string Row::* choice, bool chinese) {
  std::map<std::string, int> times;
  for (const Row& row : rows) {
    if (row.error.empty()) ++times[row.*choice];
  }
  std::vector<std::pair<std::string, int>> order(times.begin(), times.end());
  std::ranges::stable_sort(order, std::greater<>(), &std::pair<std::string, int>::second);
  std::string text;
  for (const auto& [name, count] : order) {
    text += fmt::format(fmt::runtime(chinese ? "{}{} {} 个点" : "{}{} at {}"),
                        text.empty() ? "" : spelt(", ", "，", chinese), name, count);
  }
  return text;
}

/// That of every row; empty where they differ.
std::string currency_of(const std::vector<Row>& rows) {
  std::string currency;
  for (const Row& row : rows) {
    if (!row.error.empty()) continue;
    if (!currency.empty() && currency != row.currency) return {};
    currency = row.currency;
  }
  return currency;
}

std::string errors(const std::vector<Row>& rows, bool chinese) {
  std::string text;
  std::size_t count = 0;
  for (const Row& row : rows) {
    if (row.error.empty() || ++count > kMostErrors) continue;
    text += paragraph(
        fmt::format(fmt::runtime(chinese ? "点 {}：{}" : "Point {}: {}"), row.number, row.error),
        0);
  }
  if (count > kMostErrors) {
    text += fmt::format(fmt::runtime(chinese ? "另有 {} 个点出错；全部见 --csv FILE。\n"
                                             : "{} more points have errors; --csv FILE has all.\n"),
                        count - kMostErrors);
  }
  return text;
}

}  // namespace

std::string sweep_table(const std::string& grid, const std::vector<Row>& rows,
                        const SweepOptions& options) {
  const bool zh = options.chinese;
  std::size_t index = 0;
  const Figure& figure = figure_of(options, &index);
  std::string text =
      paragraph(fmt::format(fmt::runtime(zh ? "{}：{} 个点；{}" : "{}: {} points; {}"), grid,
                            rows.size(), title_of(figure, currency_of(rows), zh)),
                0);
  text += '\n';
  text += points_table(rows, index, zh) + "\n";
  const std::string house = counts(rows, &Row::house, zh);
  if (!house.empty()) {
    text += paragraph(spelt("House rules choose ", "规则的选择：", zh) + house, 0);
    text += paragraph(
        spelt("The evidence chooses ", "证据的选择：", zh) + counts(rows, &Row::evidence, zh), 0);
  }
  return text + errors(rows, zh);
}

}  // namespace fabricast::report
