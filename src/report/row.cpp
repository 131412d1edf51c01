#include "report/row.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "base/yaml_text.h"

namespace fabricast::report {

namespace {

using base::yaml::Node;

/// A field of CSV: quoted where it must be.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string text_of(const Node& node) {
  return node.kind == Node::Kind::kScalar
             ? node.scalar
             : base::yaml::flow_text(node, base::yaml::KeyOrder::kFile);
}

/// Names in the order in which they appear first.
template <class Item>
std::vector<std::string> names_in(const std::vector<Row>& rows, std::vector<Item> Row::* list,
                                  const std::function<std::string(const Item&)>& name) {
  std::vector<std::string> names;
  for (const Row& row : rows) {
    for (const Item& item : row.*list) {
      if (std::ranges::count(names, name(item)) == 0) names.push_back(name(item));
    }
  }
  return names;
}

void add_figures(const Row& row, const std::string& fabric, std::vector<std::string>& fields) {
  const auto found = std::ranges::find(row.fabrics, fabric, &FabricFigures::name);
  for (std::size_t i = 0; i < figures().size(); ++i) {
    const bool known = found != row.fabrics.end() && found->values[i];
    fields.push_back(known ? fmt::format("{}", *found->values[i]) : "");
  }
}

std::string line(std::vector<std::string> fields) {
  std::ranges::transform(fields, fields.begin(), field);
  return fmt::format("{}\n", fmt::join(fields, ","));
}

}  // namespace

const std::vector<Figure>& figures() {
  static const std::vector<Figure> all = {
      {"training", "step_time_s", "step, s", "单步，s"},
      {"training", "gpu_utilisation_pct", "GPU utilisation, %", "GPU 利用率，%"},
      {"training", "jitter_pct", "jitter of the step, %", "单步抖动，%"},
      {"training", "days", "whole run, days", "全程，天"},
      {"training", "tokens_per_s", "tokens per second", "每秒 token"},
      {"serving", "capacity_qps", "sustained, requests/s", "可持续，请求/秒"},
      {"serving", "slo_qps", "within the SLO, requests/s", "满足 SLO，请求/秒"},
      {"serving", "goodput_qps", "goodput, requests/s", "有效速率，请求/秒"},
      {"serving", "gpu_utilisation_pct", "GPU utilisation of the service, %", "服务 GPU 利用率，%"},
      {"serving", "jitter_pct", "jitter of TPOT, %", "TPOT 抖动，%"},
      {"network", "latency_us", "latency, idle, us", "延迟（空闲），us"},
      {"network", "latency_loaded_p99_us", "latency, loaded p99, us", "延迟（负载）p99，us"},
      {"network", "bandwidth_gbps", "bandwidth, Gb/s", "带宽，Gb/s"},
      {"cost", "network_capex", "cost of the network", "网络设备造价"},
      {"cost", "per_run", "cost per run", "每次训练的成本"},
      {"cost", "per_million_tokens", "cost per million tokens", "每百万 token 成本"}};
  return all;
}

std::string title_of(const Figure& figure, const std::string& currency, bool chinese) {
  const std::string title = chinese ? figure.zh : figure.en;
  const bool money = figure.section == std::string_view("cost") && !currency.empty();
  return money ? title + (chinese ? "，" : ", ") + currency : title;
}

std::string label_text(const Row& row, const std::string& key) {
  const auto found =
      std::ranges::find(row.labels, key, [](const auto& label) { return label.first; });
  return found == row.labels.end() ? "" : text_of(found->second);
}

std::string rows_csv(const std::vector<Row>& rows, const std::string& what) {
  using Label = std::pair<std::string, Node>;
  const auto keys = names_in<Label>(rows, &Row::labels, [](const Label& l) { return l.first; });
  const auto fabrics =
      names_in<FabricFigures>(rows, &Row::fabrics, [](const FabricFigures& f) { return f.name; });
  std::vector<std::string> header = {what};
  header.insert(header.end(), keys.begin(), keys.end());
  for (const std::string& fabric : fabrics) {
    for (const Figure& figure : figures()) header.push_back(fabric + "." + figure.key);
  }
  for (const char* last : {"currency", "choice", "house", "evidence", "error"}) {
    header.emplace_back(last);
  }
  std::string text = line(header);
  for (const Row& row : rows) {
    std::vector<std::string> fields = {std::to_string(row.number)};
    for (const std::string& key : keys) fields.push_back(label_text(row, key));
    for (const std::string& fabric : fabrics) add_figures(row, fabric, fields);
    for (const std::string& last : {row.currency, row.choice, row.house, row.evidence, row.error}) {
      fields.push_back(last);
    }
    text += line(fields);
  }
  return text;
}

}  // namespace fabricast::report
