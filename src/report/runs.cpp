#include "report/runs.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/table.h"
#include "report/differences.h"
#include "report/text.h"

namespace fabricast::report {

namespace {

using base::Table;
using base::yaml::Node;

constexpr std::size_t kMostRuns = 40;
constexpr int kMostCells = 24;
constexpr int kValueCells = 26;

std::string spelt(const char* en, const char* zh, bool chinese) {
  return chinese ? zh : en;
}

void flatten(const std::string& key, const Node& node,
             std::vector<std::pair<std::string, Node>>& values) {
  if (node.kind == Node::Kind::kMapping && !node.entries.empty()) {
    for (const auto& [name, child] : node.entries) {
      flatten(key.empty() ? name : fmt::format("{}.{}", key, name), child, values);
    }
  } else if (node.kind == Node::Kind::kSequence && !node.items.empty()) {
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      flatten(fmt::format("{}[{}]", key, i), node.items[i], values);
    }
  } else {
    values.emplace_back(key, node);
  }
}

Node text_node(const std::string& text) {
  Node node;
  node.kind = Node::Kind::kScalar;
  node.scalar = text;
  return node;
}

std::string figure_text(const std::optional<double>& value) {
  return value ? number(*value) : "";
}

/// "run 3 of 2026-11-30T14:41:00Z: train-8-7b, seed 1, resolution auto, fabricast 0.1.0".
std::string headline(const StoredRun& run, bool chinese) {
  return paragraph(
      fmt::format(fmt::runtime(chinese ? "运行 {}，{}：{}，种子 {}，resolution {}，fabricast {}"
                                       : "Run {} of {}: {}, seed {}, resolution {}, fabricast {}"),
                  run.row.number, run.created, run.scenario, run.seed, run.resolution, run.program),
      0);
}

std::string choices(const StoredRun& run, bool chinese) {
  return paragraph(
      fmt::format(fmt::runtime(chinese ? "规则的选择：{}；证据的选择：{}"
                                       : "House rules choose {}; the evidence chooses {}"),
                  run.row.house, run.row.evidence),
      0);
}

}  // namespace

std::vector<std::pair<std::string, Node>> flattened(const Node& document) {
  std::vector<std::pair<std::string, Node>> values;
  flatten("", document, values);
  return values;
}

std::string runs_table(const std::vector<StoredRun>& runs, bool chinese) {
  if (runs.empty()) return spelt("No runs.\n", "没有运行。\n", chinese);
  std::vector<Table::Align> align(8, Table::Align::kLeft);
  align[0] = align[3] = align[4] = Table::Align::kRight;
  Table table({spelt("run", "运行", chinese), spelt("created", "时间", chinese),
               spelt("scenario", "方案", chinese), spelt("seed", "种子", chinese),
               spelt("GPUs", "GPU", chinese), spelt("model", "模型", chinese),
               spelt("house", "规则", chinese), spelt("evidence", "证据", chinese)},
              align);
  const std::size_t first = runs.size() > kMostRuns ? runs.size() - kMostRuns : 0;
  for (std::size_t i = first; i < runs.size(); ++i) {
    const StoredRun& run = runs[i];
    table.row({std::to_string(run.row.number), run.created,
               shortened(base::printable(run.scenario), kMostCells), std::to_string(run.seed),
               label_text(run.row, "cluster.gpus"),
               shortened(label_text(run.row, "workload.model"), kMostCells), run.row.house,
               run.row.evidence});
  }
  std::string text = table.text();
  if (first > 0) {
    text += fmt::format(
        fmt::runtime(chinese ? "\n更早的 {} 次运行见 --csv FILE 或 --json FILE。\n"
                             : "\n{} earlier runs; --csv FILE or --json FILE has all.\n"),
        first);
  }
  return text;
}

std::string runs_csv(const std::vector<StoredRun>& runs) {
  std::vector<Row> rows;
  for (const StoredRun& run : runs) {
    Row row = run.row;
    const std::vector<std::pair<std::string, Node>> known = {
        {"created", text_node(run.created)},
        {"program", text_node(run.program)},
        {"scenario", text_node(run.scenario)},
        {"seed", text_node(std::to_string(run.seed))},
        {"resolution", text_node(run.resolution)}};
    row.labels.insert(row.labels.begin(), known.begin(), known.end());
    rows.push_back(std::move(row));
  }
  return rows_csv(rows, "run");
}

std::string run_table(const StoredRun& run, bool chinese) {
  std::vector<std::string> header = {""};
  for (const FabricFigures& fabric : run.row.fabrics) {
    header.push_back(shortened(fabric.name, kMostCells));
  }
  Table table(header);
  for (std::size_t i = 0; i < figures().size(); ++i) {
    std::vector<std::string> cells = {title_of(figures()[i], run.row.currency, chinese)};
    for (const FabricFigures& fabric : run.row.fabrics) {
      cells.push_back(figure_text(fabric.values[i]));
    }
    table.row(cells);
  }
  std::string text = headline(run, chinese) + "\n" + table.text() + "\n" + choices(run, chinese);
  text += spelt("\nScenario:\n", "\n方案：\n", chinese);
  for (const auto& [key, value] : run.row.labels) {
    text += fmt::format("  {}: {}\n", key, label_text(run.row, key));
  }
  return text;
}

std::string runs_compared(const StoredRun& a, const StoredRun& b, bool chinese) {
  std::string text = headline(a, chinese) + headline(b, chinese) + "\n";
  const std::string first = fmt::format("{}", a.row.number);
  const std::string second = fmt::format("{}", b.row.number);
  const auto keys = differing_keys(a, b);
  if (keys.empty()) {
    text += spelt("The scenarios are the same.\n", "方案相同。\n", chinese);
  } else {
    Table table({spelt("scenario", "方案", chinese), first, second});
    for (const KeyDifference& key : keys) {
      table.row({key.key, shortened(key.a, kValueCells), shortened(key.b, kValueCells)});
    }
    text += table.text();
  }
  Table table(
      {spelt("result", "结果", chinese), first, second, spelt("difference %", "差别 %", chinese)});
  for (const FabricDifference& fabric : differences(a, b)) {
    table.section(fabric.name);
    for (std::size_t i = 0; i < figures().size(); ++i) {
      const auto& [of_a, of_b, percent] = fabric.values[i];
      table.row({"  " + title_of(figures()[i], a.row.currency, chinese), figure_text(of_a),
                 figure_text(of_b), percent ? fmt::format("{:+.2f}", *percent) : ""});
    }
  }
  return text + "\n" + table.text() + "\n" + first + ": " + choices(a, chinese) + second + ": " +
         choices(b, chinese);
}

}  // namespace fabricast::report
