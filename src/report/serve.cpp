#include "report/serve.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/table.h"
#include "report/heading.h"
#include "report/notes.h"
#include "report/text.h"

namespace fabricast::report {

namespace {

using Align = base::Table::Align;
using serving::Percentiles;
using serving::Result;

constexpr int kPhaseWidth = 28;

/// The words of a report in one of its languages.
struct Words {
  bool chinese;
  const char* operator()(const char* en, const char* zh) const { return chinese ? zh : en; }
};

std::string latency_table(const Result& r, const Words& words) {
  base::Table table(
      {words("Milliseconds", "毫秒"), words("mean", "均值"), "p50", "p90", "p95", "p99"});
  const auto row = [&](const char* label, const Percentiles& p) {
    table.row({fmt::format("  {}", label), number(p.mean), number(p.p50), number(p.p90),
               number(p.p95), number(p.p99)});
  };
  row(words("waiting to be scheduled", "等待调度"), r.queue_ms);
  row(words("first token (TTFT)", "首 token（TTFT）"), r.ttft_ms);
  if (r.has_tpot) row(words("per token after it (TPOT)", "其后每 token（TPOT）"), r.tpot_ms);
  row(words("whole answer", "完整回答"), r.latency_ms);
  return table.text() + "\n";
}

std::string between(const serving::Estimate& e) {
  return fmt::format("{} - {}", number(e.lo), number(e.hi));
}

std::string rate_table(const Result& r, const scenario::ServingSpec& spec, const Words& words) {
  base::Table table({words("Requests per second", "每秒请求"), "", words("within", "区间")});
  table.row({words("  offered", "  到达"), number(r.offered_qps), ""});
  table.row({words("  sustained (capacity)", "  可持续（容量）"), number(r.capacity_qps.value),
             between(r.capacity_qps)});
  table.row({words("  within the SLO", "  满足 SLO"), number(r.slo_qps.value), between(r.slo_qps)});
  table.row({words("  simulated here", "  本次仿真"), number(r.simulated_qps), ""});
  table.row({words("  of these within the SLO", "  其中满足 SLO"), number(r.goodput_qps),
             fmt::format("{} %", number(r.slo_met_pct))});
  const std::string slo = fmt::format("{} p{:g} <= {:g} ms", scenario::name_of(spec.slo_metric),
                                      spec.slo_percentile, spec.slo_ms);
  return table.text() + paragraph(fmt::format("SLO: {}", slo), 0) + "\n";
}

std::string work_table(const Result& r, const scenario::ServingSpec& spec, const Words& words) {
  base::Table table({words("What the GPUs do", "GPU 的工作"), "", ""},
                    {Align::kLeft, Align::kRight, Align::kLeft});
  const auto row = [&](const char* label, double value, const char* unit) {
    table.row({fmt::format("  {}", label), number(value), unit});
  };
  row(words("computing", "计算"), r.gpu_utilisation_pct, "%");
  row(words("communicating, waiting", "通信与等待"), r.communicating_pct, "%");
  row(words("waiting for the host", "等待主机"), r.host_pct, "%");
  if (r.has_tpot) row(words("jitter of TPOT", "TPOT 抖动"), r.jitter_pct, "%");
  row(words("replicas", "副本数"), r.replicas, "");
  row(words("requests in the system", "系统中的请求"), r.concurrency, "");
  row(words("sequences of a batch", "每批序列数"), r.batch, "");
  row(words("tokens in per second", "每秒输入 token"), r.input_tokens_per_s, "");
  row(words("tokens out per second", "每秒输出 token"), r.output_tokens_per_s, "");
  if (r.cached_pct > 0) row(words("prompt found in the cache", "提示命中缓存"), r.cached_pct, "%");
  row(words("cache in use, at most", "缓存占用（最多）"), r.cache_in_use_pct, "%");
  if (r.preemptions > 0) {
    row(words("preemptions", "抢占"), static_cast<double>(r.preemptions), "");
  }
  if (r.timeouts > 0) row(words("timeouts of connections", "连接超时"), r.timeouts, "");
  if (spec.disaggregation) row(words("keys and values sent", "KV 传输"), r.transfer_ms, "ms");
  if (spec.scaling) {
    row(words("replicas, mean", "平均副本数"), r.mean_replicas, "");
    row(words("scaled out, times", "扩容次数"), r.scaled_out, "");
    row(words("scaled in, times", "缩容次数"), r.scaled_in, "");
    if (r.cold_start_s > 0) row(words("cold start, mean", "冷启动均值"), r.cold_start_s, "s");
    row(words("GPU-hours of a fixed service", "占固定部署 GPU 时"),
        100 * r.mean_replicas / r.replicas, "%");
  }
  return table.text() + "\n";
}

std::string curve_table(const Result& r, const Words& words) {
  base::Table table({words("Rate and latency, ms", "速率与延迟，ms"), "TTFT p50", "p99", "TPOT p50",
                     words("answer p50", "回答 p50"), "p99", words("missed %", "未达 %")});
  for (const serving::RatePoint& p : r.curve) {
    table.row({fmt::format("  {}", number(p.qps)), number(p.ttft_ms.p50), number(p.ttft_ms.p99),
               r.has_tpot ? number(p.tpot_ms.p50) : "-", number(p.latency_ms.p50),
               number(p.latency_ms.p99), number(p.violation_pct)});
  }
  return table.text() + "\n";
}

std::string collective_table(const Result& r, const Words& words) {
  if (r.phases.empty()) return {};
  base::Table table(
      {words("Collectives of a batch", "每批的通信"), words("ranks", "卡数"), "MB",
       words("mean us", "均值 us"), words("sigma %", "标准差 %"), "p99 us", words("level", "层级")},
      {Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
       Align::kLeft});
  for (const collective::PhaseReport& phase : r.phases) {
    const char* level = phase.inside_nodes ? words("node", "节点内")
                        : phase.flow       ? "flow"
                                           : "packet";
    table.row({shortened(phase.name, kPhaseWidth), std::to_string(phase.ranks),
               number(phase.size.gb() * 1e3), number(phase.mean_s * 1e6),
               fmt::format("{:.2f}", 100 * phase.sigma_s / phase.mean_s), number(phase.p99_s * 1e6),
               level});
  }
  return table.text() + "\n";
}

std::string memory_text(const Result& r, const Words& words) {
  std::string text;
  for (const serving::GpuMemory& pool : r.memory) {
    text += paragraph(
        fmt::format(fmt::runtime(words(
                        "A GPU holds {} GB of weights, {} GB of activations and {} GB of overhead; "
                        "its replica caches {} tokens.",
                        "单卡：权重 {} GB，激活 {} GB，其他 {} GB；每副本可缓存 {} 个 token。")),
                    number(pool.held.weights_gb), number(pool.held.activations_gb),
                    number(pool.held.overhead_gb), number(static_cast<double>(pool.cache_tokens))),
        0);
  }
  return text;
}

std::string cost_text(const ServeReport& report, const Words& words) {
  const cost::Result& cost = report.outcome.cost;
  const double served = advice::served_qps(*report.outcome.serving);
  return paragraph(
      fmt::format(
          fmt::runtime(
              served > 0
                  ? words("The cluster costs {0} {1} an hour, {2} {1} per million tokens generated "
                          "at {3} requests/s, what it answers within the SLO.",
                          "集群每小时 {0} {1}；按满足 SLO 的 {3} 请求/秒计，每百万输出 token {2} "
                          "{1}。")
                  : words("The cluster costs {0} {1} an hour, {2} {1} per million tokens generated "
                          "at {3} requests/s, what it sustains; it meets the SLO at no rate.",
                          "集群每小时 {0} {1}；任何速率下都不满足 SLO，按可持续的 {3} 请求/秒计，"
                          "每百万输出 token {2} {1}。")),
          number(cost.per_hour), cost.currency, number(cost.per_million_tokens),
          number(served > 0 ? served : report.outcome.serving->capacity_qps.value)),
      0);
}

}  // namespace

std::string serve_table(const ServeReport& report, const TerminalOptions& options) {
  const Words words{options.chinese};
  const Result& r = *report.outcome.serving;
  const auto& spec = std::get<scenario::ServingSpec>(report.scenario->workload);
  std::string text = heading(*report.scenario, options.chinese);
  text += paragraph(fmt::format("{}{}", words("Fabric: ", "网络："), report.outcome.name), 0);
  text += "\n";
  text += latency_table(r, words);
  text += rate_table(r, spec, words);
  text += work_table(r, spec, words);
  text += curve_table(r, words);
  text += collective_table(r, words);
  text += memory_text(r, words);
  text += cost_text(report, words);
  Comparison one;
  one.scenario = report.scenario;
  one.outcomes.push_back(report.outcome);
  text += notes(one, options.chinese);
  if (options.stats) {
    text += paragraph(
        fmt::format(fmt::runtime(words("{} s, {} events, {} MB at most.",
                                       "{} s，{} 个事件，内存峰值 {} MB。")),
                    number(report.outcome.wall_s), number(static_cast<double>(r.counters.events)),
                    number(report.peak_rss_mb)),
        0);
  }
  return text;
}

std::string request_csv_header() {
  return "request_id,input_tokens,output_tokens,cached_tokens,replica,preemptions,arrival_s,"
         "scheduled_s,first_token_s,last_token_s\n";
}

std::string request_csv(const serving::RequestRecord& r) {
  return fmt::format("{},{},{},{},{},{},{:.6f},{:.6f},{:.6f},{:.6f}\n", r.index, r.input, r.output,
                     r.cached, r.replica, r.preemptions, r.arrival_s, r.scheduled_s,
                     r.first_token_s, r.last_token_s);
}

}  // namespace fabricast::report
