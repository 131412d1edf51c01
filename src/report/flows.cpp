#include "report/flows.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/statistics.h"
#include "base/table.h"
#include "report/notes.h"
#include "report/text.h"

namespace fabricast::report {

namespace {

constexpr std::size_t kMostFlows = 40;  ///< of a table; the CSV and the JSON have all
constexpr std::size_t kMostLinks = 8;

std::string spelt(const char* en, const char* zh, bool chinese) {
  return chinese ? zh : en;
}

void distribution_row(base::Table& table, const std::string& label, const std::string& unit,
                      const std::vector<double>& sample) {
  table.row({label, unit, number(base::mean(sample)), number(base::percentile(sample, 50)),
             number(base::percentile(sample, 99)),
             number(*std::max_element(sample.begin(), sample.end()))});
}

std::string distributions(const FlowsResult& result, bool chinese) {
  std::vector<double> fct;
  std::vector<double> slowdown;
  for (const FlowRow& flow : result.flows) {
    fct.push_back(flow.fct.us());
    slowdown.push_back(flow.slowdown());
  }
  base::Table table(
      {"", "", spelt("mean", "平均", chinese), "p50", "p99", spelt("max", "最大", chinese)},
      {base::Table::Align::kLeft, base::Table::Align::kLeft});
  distribution_row(table, spelt("completion time", "完成时间", chinese), "us", fct);
  distribution_row(table, spelt("slowdown", "减速比", chinese), "", slowdown);
  return table.text();
}

std::string flow_rows(const FlowsResult& result, bool chinese) {
  base::Table table({spelt("flow", "流", chinese), "src", "dst", "bytes",
                     spelt("start us", "开始 us", chinese), "fct us",
                     spelt("ideal us", "理想 us", chinese), spelt("slowdown", "减速比", chinese)});
  for (const FlowRow& flow : result.flows) {
    table.row({shortened(flow.id, 16), std::to_string(flow.src), std::to_string(flow.dst),
               std::to_string(flow.size.count()), number(flow.started.us()), number(flow.fct.us()),
               number(flow.ideal.us()), number(flow.slowdown())});
  }
  return table.text();
}

std::string link_rows(const FlowsResult& result, bool chinese) {
  std::vector<LinkRow> busiest = result.links;
  std::stable_sort(busiest.begin(), busiest.end(), [](const LinkRow& a, const LinkRow& b) {
    return a.utilisation_pct > b.utilisation_pct;
  });
  busiest.resize(std::min(busiest.size(), kMostLinks));
  base::Table table(
      {spelt("busiest links", "最忙的链路", chinese), spelt("used %", "利用率 %", chinese),
       spelt("max queue kB", "最长队列 kB", chinese), spelt("held %", "被阻 %", chinese)});
  for (const LinkRow& link : busiest) {
    table.row({link.link, number(link.utilisation_pct), number(link.max_queue_kb),
               number(link.pause_pct)});
  }
  return table.text();
}

/// Counters of what went wrong; those that are zero are left out.
std::string counter_rows(const FlowsResult& result, bool chinese) {
  const network::Counters& c = result.counters;
  const std::vector<std::pair<std::string, std::uint64_t>> counts = {
      {spelt("data packets", "数据包", chinese), c.data_packets},
      {spelt("retransmitted", "重传", chinese), c.retransmitted_packets},
      {spelt("dropped", "丢弃", chinese), c.dropped_packets},
      {spelt("ECN-marked", "ECN 标记", chinese), c.ecn_marked_packets},
      {"CNP", c.cnps},
      {spelt("pause frames", "PFC 暂停帧", chinese), c.pause_frames},
      {spelt("timeouts", "超时", chinese), c.timeouts},
      {spelt("link-level retries", "链路层重传", chinese), c.link_retries},
      {spelt("watchdog trips", "看门狗触发", chinese), c.watchdog_trips},
      {spelt("lifetime discards", "超时丢弃", chinese), c.lifetime_discards}};
  base::Table table({spelt("counter", "计数", chinese), ""});
  for (const auto& [name, count] : counts) {
    if (count == 0) continue;
    table.row({name, count < 1000 ? std::to_string(count) : number(static_cast<double>(count))});
  }
  return table.text();
}

double per_second(std::uint64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

std::string stats_line(const FlowsResult& result) {
  std::string text =
      fmt::format("\n{:.3g} s, {} events ({:.3g}/s)", result.wall_s, result.counters.events,
                  per_second(result.counters.events, result.wall_s));
  if (result.level == FlowsLevel::kPacket) {
    text += fmt::format(", {} packet-hops ({:.3g}/s)", result.counters.packet_hops,
                        per_second(result.counters.packet_hops, result.wall_s));
  }
  return text + fmt::format(", {:.3g} MB\n", result.peak_rss_mb);
}

using Json = nlohmann::ordered_json;

/// What packets alone know.
void add_packets(const FlowsResult& result, Json& json) {
  Json& links = json["links"] = Json::array();
  for (const LinkRow& link : result.links) {
    links.push_back({{"link", link.link},
                     {"utilisation_pct", link.utilisation_pct},
                     {"max_queue_kb", link.max_queue_kb},
                     {"pause_pct", link.pause_pct}});
  }
  const network::Counters& c = result.counters;
  json["counters"] = {{"data_packets", c.data_packets},
                      {"retransmitted_packets", c.retransmitted_packets},
                      {"dropped_packets", c.dropped_packets},
                      {"ecn_marked_packets", c.ecn_marked_packets},
                      {"cnps", c.cnps},
                      {"pause_frames", c.pause_frames},
                      {"timeouts", c.timeouts},
                      {"link_retries", c.link_retries},
                      {"watchdog_trips", c.watchdog_trips},
                      {"lifetime_discards", c.lifetime_discards},
                      {"max_queue_bytes", c.max_queue_bytes}};
}

}  // namespace

std::string flows_table(const FlowsResult& result, const FlowsOptions& options) {
  const bool zh = options.chinese;
  std::string text =
      paragraph(fmt::format(fmt::runtime(zh ? "{}，{}：{} {}，{} us 后全部完成；种子 {}"
                                            : "{} on {}: {} {} complete after {} us; seed {}"),
                            result.system, result.fabric, result.flows.size(),
                            zh                         ? "条流"
                            : result.flows.size() == 1 ? "flow"
                                                       : "flows",
                            number(result.end.us()), result.seed),
                0);
  text += '\n';
  text += distributions(result, zh) + "\n";
  if (result.flows.size() <= kMostFlows) text += flow_rows(result, zh) + "\n";
  if (result.level == FlowsLevel::kPacket) {
    text += counter_rows(result, zh) + "\n" + link_rows(result, zh);
  } else {
    text += paragraph(spelt("Played as flows that share links (--resolution flow): without queues, "
                            "losses and counters, which packets alone show.",
                            "以共享链路的流仿真（--resolution flow）：没有只有逐包仿真才有的队列、"
                            "丢包和计数。",
                            zh),
                      0);
  }
  if (result.host) {
    text += '\n';
    text += host_note(*result.host, result.nic_rate, result.slot, "", zh);
  }
  if (options.stats) text += stats_line(result);
  return text;
}

std::string flows_json(const FlowsResult& result) {
  const bool packets = result.level == FlowsLevel::kPacket;
  Json json = {{"fabricast", FABRICAST_VERSION},
               {"system", result.system},
               {"fabric", result.fabric},
               {"seed", result.seed},
               {"level", packets ? "packet" : "flow"}};
  Json& flows = json["flows"] = Json::array();
  for (const FlowRow& flow : result.flows) {
    flows.push_back({{"id", flow.id},
                     {"start_us", flow.started.us()},
                     {"fct_us", flow.fct.us()},
                     {"ideal_us", flow.ideal.us()},
                     {"slowdown", flow.slowdown()}});
  }
  if (packets) add_packets(result, json);
  if (result.host) {
    json["host"] = {{"limit_gbps", result.host->rate.gbps()},
                    {"link", fabric::name_of(result.host->link)}};
  }
  const network::Counters& c = result.counters;
  Json& stats = json["stats"] = {{"wall_s", result.wall_s},
                                 {"events", c.events},
                                 {"events_per_s", per_second(c.events, result.wall_s)},
                                 {"peak_rss_mb", result.peak_rss_mb}};
  if (packets) {
    stats["packet_hops"] = c.packet_hops;
    stats["packet_hops_per_s"] = per_second(c.packet_hops, result.wall_s);
  }
  return json.dump(2) + "\n";
}

std::string flows_csv(const FlowsResult& result) {
  std::string text = "id,src,dst,bytes,start_us,fct_us,ideal_us,slowdown\n";
  for (const FlowRow& flow : result.flows) {
    text += fmt::format("{},{},{},{},{:.6f},{:.6f},{:.6f},{:.6f}\n", flow.id, flow.src, flow.dst,
                        flow.size.count(), flow.started.us(), flow.fct.us(), flow.ideal.us(),
                        flow.slowdown());
  }
  return text;
}

}  // namespace fabricast::report
