#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "base/table.h"
#include "report/hardware.h"
#include "report/heading.h"
#include "report/notes.h"
#include "report/report.h"
#include "report/text.h"
#include "report/verdict_text.h"

namespace fabricast::report {

namespace {

using advice::Outcome;
using advice::Text;

constexpr int kLabelWidth = 24;
constexpr int kUnitWidth = 6;
constexpr int kGap = 2;
constexpr int kLeastColumn = 10;
constexpr int kMostColumn = 22;  ///< longer names are cut

/// One line of the table: a quantity of every fabric.
struct Row {
  Text label;
  Text unit;
  std::function<double(const Outcome&)> value;
  bool always = true;    ///< false: left out where it is zero for every fabric
  bool whole = false;    ///< the value is a count
  bool packets = false;  ///< only packets can tell: "-" where there were none
  /// What is shown instead of the value, in at most so many cells; empty: the value.
  std::function<std::string(const Outcome&, int)> text = {};
};

struct Group {
  Text title;
  std::vector<Row> rows;
};

Text same(const std::string& text) {
  return {text, text};
}

std::vector<Row> hardware_rows() {
  const auto count = [](cost::Part part) {
    return [part](const Outcome& o) { return static_cast<double>(count_of(o.bill, part)); };
  };
  const auto model = [](cost::Part part) {
    return [part](const Outcome& o, int width) { return model_of(o.bill, part, width); };
  };
  using cost::Part;
  const Text label{"  model", "  型号"};
  return {{{"switches", "交换机"}, {}, count(Part::kSwitch), false, true},
          {label, {}, count(Part::kSwitch), false, true, false, model(Part::kSwitch)},
          {{"adapters", "网卡"}, {}, count(Part::kAdapter), false, true},
          {label, {}, count(Part::kAdapter), false, true, false, model(Part::kAdapter)},
          {{"cables", "线缆"}, {}, count(Part::kCable), false, true}};
}

std::vector<Row> network_rows() {
  const auto of = [](double network::NetworkMetrics::* member) {
    return [member](const Outcome& o) { return o.network.*member; };
  };
  using Metrics = network::NetworkMetrics;
  return {
      {{"latency, idle", "延迟（空闲）"}, same("us"), of(&Metrics::latency_us)},
      {{"latency, loaded p50", "延迟（负载）p50"},
       same("us"),
       of(&Metrics::latency_loaded_p50_us),
       true,
       false,
       true},
      {{"latency, loaded p99", "延迟（负载）p99"},
       same("us"),
       of(&Metrics::latency_loaded_p99_us),
       true,
       false,
       true},
      {{"bandwidth", "带宽"}, same("Gb/s"), of(&Metrics::bandwidth_gbps)},
      {{"paused by PFC", "PFC 暂停"}, same("%"), of(&Metrics::pfc_pause_pct), true, false, true},
      {{"ECN-marked", "ECN 标记"}, same("%"), of(&Metrics::ecn_marked_pct), true, false, true},
      {{"dropped packets", "丢包数"}, {}, of(&Metrics::dropped_packets), true, true, true},
      {{"retransmitted", "重传"}, same("%"), of(&Metrics::retransmitted_pct), true, false, true},
      {{"host CPU", "主机 CPU"}, same("%"), of(&Metrics::host_cpu_pct), true, false, true}};
}

std::vector<Row> breakdown_rows() {
  const auto of = [](double training::Breakdown::* member) {
    return [member](const Outcome& o) { return o.training.breakdown_s.*member; };
  };
  using Parts = training::Breakdown;
  return {{{"  computing", "  计算"}, same("s"), of(&Parts::compute)},
          {{"  waiting for tp", "  等待 tp"}, same("s"), of(&Parts::exposed_tp), false},
          {{"  waiting for pp", "  等待 pp"}, same("s"), of(&Parts::exposed_pp), false},
          {{"  waiting for dp", "  等待 dp"}, same("s"), of(&Parts::exposed_dp), false},
          {{"  waiting for ep", "  等待 ep"}, same("s"), of(&Parts::exposed_ep), false},
          {{"  waiting for cp", "  等待 cp"}, same("s"), of(&Parts::exposed_cp), false},
          {{"  bubble, imbalance", "  气泡与阶段不均"}, same("s"), of(&Parts::bubble), false}};
}

Group training_rows(const std::vector<Outcome>& outcomes) {
  const auto of = [](double training::Result::* member) {
    return [member](const Outcome& o) { return o.training.*member; };
  };
  using Result = training::Result;
  Group group{{"Training", "训练"}, {{{"step", "单步"}, same("s"), of(&Result::step_time_s)}}};
  for (Row& row : breakdown_rows()) group.rows.push_back(std::move(row));
  const advice::RunUnit unit = advice::run_unit(outcomes);
  const std::vector<Row> rest = {
      {{"GPU utilisation", "GPU 利用率"}, same("%"), of(&Result::gpu_utilisation_pct)},
      {{"  as nvidia-smi reads", "  nvidia-smi 读数"},
       same("%"),
       of(&Result::gpu_utilisation_smi_pct)},
      {same("MFU"), same("%"), of(&Result::mfu_pct)},
      {{"jitter of the step", "单步抖动"}, same("%"), of(&Result::jitter_pct)},
      {{"tokens per second", "每秒 token"}, {}, of(&Result::tokens_per_s)},
      {{"whole run", "全程"},
       unit.name,
       [days = unit.days](const Outcome& o) { return o.training.days / days; }},
      {{"memory per GPU", "单卡显存"}, same("GB"), [](const Outcome& o) {
         return o.training.memory.total_gb;
       }}};
  group.rows.insert(group.rows.end(), rest.begin(), rest.end());
  return group;
}

Group serving_rows(const std::vector<Outcome>& outcomes) {
  using serving::Percentiles;
  using serving::Result;
  const auto of = [](double Result::* member) {
    return [member](const Outcome& o) { return (*o.serving).*member; };
  };
  const auto rate = [](serving::Estimate Result::* member) {
    return [member](const Outcome& o) { return ((*o.serving).*member).value; };
  };
  const auto ms = [](Percentiles Result::* member, double Percentiles::* percent) {
    return [=](const Outcome& o) { return (*o.serving).*member.*percent; };
  };
  const Text per_s{"1/s", "1/s"};
  const bool tpot = outcomes.front().serving->has_tpot;
  std::vector<Row> rows = {
      {{"requests offered", "到达请求"}, per_s, of(&Result::offered_qps)},
      {{"sustained", "可持续"}, per_s, rate(&Result::capacity_qps)},
      {{"within the SLO", "满足 SLO"}, per_s, rate(&Result::slo_qps)},
      {{"first token, p50", "首 token，p50"}, same("ms"), ms(&Result::ttft_ms, &Percentiles::p50)},
      {{"first token, p99", "首 token，p99"}, same("ms"), ms(&Result::ttft_ms, &Percentiles::p99)},
      {{"per token, p50", "每 token，p50"},
       same("ms"),
       ms(&Result::tpot_ms, &Percentiles::p50),
       tpot},
      {{"whole answer, mean", "完整回答，均值"},
       same("ms"),
       ms(&Result::latency_ms, &Percentiles::mean)},
      {{"whole answer, p99", "完整回答，p99"},
       same("ms"),
       ms(&Result::latency_ms, &Percentiles::p99)},
      {{"jitter of TPOT", "TPOT 抖动"}, same("%"), of(&Result::jitter_pct), tpot},
      {{"GPU utilisation", "GPU 利用率"}, same("%"), of(&Result::gpu_utilisation_pct)},
      {{"  communicating", "  通信"}, same("%"), of(&Result::communicating_pct)},
      {{"  waiting for hosts", "  等待主机"}, same("%"), of(&Result::host_pct)},
      {{"goodput", "有效速率"}, per_s, of(&Result::goodput_qps)},
      {{"tokens out per second", "每秒输出 token"}, {}, of(&Result::output_tokens_per_s)}};
  return {{"Serving", "推理服务"}, std::move(rows)};
}

Group cost_rows(const std::string& currency) {
  const auto of = [](double cost::Result::* member) {
    return [member](const Outcome& o) { return o.cost.*member; };
  };
  using Result = cost::Result;
  return {
      {"Cost", "成本"},
      {{{"network", "网络设备"}, same(currency), of(&Result::network_capex)},
       {{"whole cluster", "整个集群"}, same(currency), of(&Result::capex)},
       {{"power", "功率"}, same("kW"), of(&Result::power_kw)},
       {{"per hour", "每小时"}, same(currency), of(&Result::per_hour)},
       {{"per run", "每次训练"}, same(currency), of(&Result::per_run), false},
       {{"per million tokens", "每百万 token"}, same(currency), of(&Result::per_million_tokens)}}};
}

Group stats_rows(double peak_rss_mb) {
  const auto per_second = [](std::uint64_t count, const Outcome& o) {
    return o.wall_s > 0 ? static_cast<double>(count) / o.wall_s : 0;
  };
  return {
      {"Simulation", "仿真"},
      {{{"wall time", "用时"}, same("s"), [](const Outcome& o) { return o.wall_s; }},
       {{"events", "事件"},
        {},
        [](const Outcome& o) { return static_cast<double>(advice::counters_of(o).events); },
        true,
        true},
       {{"events per second", "每秒事件"},
        {},
        [=](const Outcome& o) { return per_second(advice::counters_of(o).events, o); }},
       {{"packet-hops", "包跳数"},
        {},
        [](const Outcome& o) { return static_cast<double>(advice::counters_of(o).packet_hops); },
        true,
        true},
       {{"packet-hops per second", "每秒包跳数"},
        {},
        [=](const Outcome& o) { return per_second(advice::counters_of(o).packet_hops, o); }},
       {{"peak memory", "内存峰值"}, same("MB"), [peak_rss_mb](const Outcome&) {
          return peak_rss_mb;
        }}}};
}

std::vector<Group> groups(const Comparison& comparison, const TerminalOptions& options) {
  std::vector<Group> all;
  all.push_back({{"Network", "网络"}, hardware_rows()});
  // Inside one node there is no fabric to measure.
  if (comparison.scenario->cluster.topology.nodes > 1) {
    for (Row& row : network_rows()) all.back().rows.push_back(std::move(row));
  }
  const bool serving = comparison.outcomes.front().serving.has_value();
  all.push_back(serving ? serving_rows(comparison.outcomes) : training_rows(comparison.outcomes));
  all.push_back(cost_rows(comparison.outcomes.front().cost.currency));
  if (options.stats) all.push_back(stats_rows(comparison.peak_rss_mb));
  return all;
}

std::string in(const Text& text, bool chinese) {
  return chinese ? text.zh : text.en;
}

bool worth_showing(const Row& row, const std::vector<Outcome>& outcomes) {
  return row.always ||
         std::ranges::any_of(outcomes, [&](const Outcome& o) { return row.value(o) != 0; });
}

/// Cells that are left for each of `count` columns of fabrics side by side.
int column_width(std::size_t count) {
  const int room = kTerminalWidth - kLabelWidth - kGap - kUnitWidth;
  return std::min(kMostColumn, room / static_cast<int>(count) - kGap);
}

std::string cell(const Row& row, const Outcome& outcome, int width) {
  if (row.text) return row.text(outcome, width);
  if (row.packets && !advice::packets_of(outcome)) return "-";
  const double value = row.value(outcome);
  const bool small = std::abs(value) < 999.5;  // `number` writes no decimals above
  return row.whole && small ? fmt::format("{:.0f}", value) : number(value);
}

/// The table of some of the fabrics. Which rows appear is decided over `all` of them; `width` is
/// that of a column where the most are side by side, so that a name is cut alike in all tables.
std::string table(const std::vector<Group>& groups, const std::vector<Outcome>& all,
                  std::size_t first, std::size_t count, int width, bool chinese) {
  std::vector<std::string> header = {"", ""};
  for (std::size_t i = first; i < first + count; ++i) {
    header.push_back(shortened(all[i].name, kMostColumn));
  }
  using Align = base::Table::Align;
  base::Table table(header, {Align::kLeft, Align::kLeft, Align::kRight});
  for (const Group& group : groups) {
    table.section(in(group.title, chinese));
    for (const Row& row : group.rows) {
      if (!worth_showing(row, all)) continue;
      std::vector<std::string> cells = {"  " + in(row.label, chinese), in(row.unit, chinese)};
      for (std::size_t i = first; i < first + count; ++i) {
        cells.push_back(cell(row, all[i], width));
      }
      table.row(std::move(cells));
    }
  }
  return table.text();
}

/// Fabrics that fit side by side.
std::size_t columns(const std::vector<Outcome>& outcomes) {
  int widest = kLeastColumn;
  for (const Outcome& o : outcomes) widest = std::max(widest, base::display_width(o.name));
  widest = std::min(widest, kMostColumn);
  const int room = kTerminalWidth - kLabelWidth - kGap - kUnitWidth;
  return static_cast<std::size_t>(std::max(1, room / (widest + kGap)));
}

}  // namespace

std::string terminal(const Comparison& comparison, const TerminalOptions& options) {
  const auto& outcomes = comparison.outcomes;
  std::string text = heading(*comparison.scenario, options.chinese) + "\n";
  const std::vector<Group> all = groups(comparison, options);
  const std::size_t side_by_side = std::min(columns(outcomes), outcomes.size());
  const int width = column_width(side_by_side);
  for (std::size_t first = 0; first < outcomes.size(); first += side_by_side) {
    const std::size_t count = std::min(side_by_side, outcomes.size() - first);
    text += table(all, outcomes, first, count, width, options.chinese) + "\n";
  }
  const std::string below = notes(comparison, options.chinese);
  if (!below.empty()) text += below + "\n";
  return text + verdict_text(comparison.verdict, options.chinese);
}

}  // namespace fabricast::report
