#include "report/train.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/table.h"
#include "report/heading.h"
#include "report/text.h"

namespace fabricast::report {

namespace {

using Align = base::Table::Align;
using training::JitterSource;
using training::PhaseReport;
using training::Result;

constexpr int kPhaseWidth = 23;
constexpr int kLinkWidth = 14;

/// The words of a report in one of its languages.
struct Words {
  bool chinese;
  const char* operator()(const char* en, const char* zh) const { return chinese ? zh : en; }
};

std::string indented(const std::string& text) {
  return fmt::format("  {}", text);
}

struct Kind {
  const char* prefix;
  double training::OnTheWire::* wire;
  double training::Breakdown::* exposed;
};
constexpr Kind kKinds[] = {{"tp", &training::OnTheWire::tp, &training::Breakdown::exposed_tp},
                           {"cp", &training::OnTheWire::cp, &training::Breakdown::exposed_cp},
                           {"ep", &training::OnTheWire::ep, &training::Breakdown::exposed_ep},
                           {"pp", &training::OnTheWire::pp, &training::Breakdown::exposed_pp},
                           {"dp", &training::OnTheWire::dp, &training::Breakdown::exposed_dp}};

const Kind& kind_of(const PhaseReport& phase) {
  return *std::ranges::find_if(
      kKinds, [&](const Kind& kind) { return phase.name.starts_with(kind.prefix); });
}

double busbw_gb_per_s(const PhaseReport& phase) {
  if (phase.mean_s <= 0) return 0;
  return phase.size.gb() / phase.mean_s * collective::busbw_factor(phase.op, phase.ranks);
}

std::string step_table(const TrainReport& report, const Words& words) {
  const Result& r = report.detail.result;
  const training::Breakdown& b = r.breakdown_s;
  base::Table table({words("The step of a GPU", "单卡的一步"), "s", words("share %", "占比 %")});
  const auto row = [&](const std::string& label, double seconds) {
    if (seconds == 0) return;
    table.row({indented(label), number(seconds), number(100 * seconds / r.step_time_s)});
  };
  row(words("computing", "计算"), b.compute);
  for (const Kind& kind : kKinds) {
    row(fmt::format("{}{}", words("waiting for ", "等待 "), kind.prefix), b.*kind.exposed);
  }
  row(words("bubble: filling, draining", "气泡：填充与排空"), report.detail.fill_drain_s);
  row(words("bubble: imbalance of stages", "气泡：阶段不均"),
      std::max(0.0, b.bubble - report.detail.fill_drain_s - r.late_hosts_s));
  row(words("bubble: late hosts", "气泡：主机迟到"), r.late_hosts_s);
  row(words("step", "单步"), r.step_time_s);
  return table.text() + "\n";
}

std::string communication_table(const Result& r, const Words& words) {
  base::Table table({words("Communication of a GPU", "单卡的通信"),
                     words("on the wire s", "线上 s"), words("hidden s", "隐藏 s"),
                     words("waited for s", "等待 s")});
  bool any = false;
  for (const Kind& kind : kKinds) {
    const double wire = r.wire_s.*kind.wire;
    const double exposed = r.breakdown_s.*kind.exposed;
    if (wire == 0 && exposed == 0) continue;
    any = true;
    table.row({indented(kind.prefix), number(wire), number(std::max(0.0, wire - exposed)),
               number(exposed)});
  }
  if (!any) return {};
  const std::string note = words(
      "Waited for is also the slower GPU of a group (tp) and the slower replica (dp), and what "
      "traffic adds to the kernels above it (dp).",
      "等待也包括等同组较慢的卡（tp）、较慢的副本（dp），以及通信使其上内核变慢的部分（dp）。");
  return table.text() + paragraph(note, 0) + "\n";
}

std::string phase_tables(const Result& r, const Words& words) {
  if (r.phases.empty()) return {};
  base::Table what(
      {words("Phases", "通信阶段"), words("op", "操作"), words("ranks", "卡数"), "MB",
       words("per step", "每步次数"), words("level", "层级")},
      {Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  base::Table times({words("busbw in GB/s", "总线带宽 GB/s"), words("mean ms", "均值 ms"),
                     words("sigma %", "标准差 %"), "p99 ms", "busbw",
                     words("busiest link", "最忙的链路"), words("used %", "占用 %")},
                    {Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                     Align::kLeft, Align::kRight});
  for (const PhaseReport& phase : r.phases) {
    const std::string name = shortened(phase.name, kPhaseWidth);
    const char* level = phase.inside_nodes ? words("node", "节点内")
                        : phase.flow       ? "flow"
                                           : "packet";
    what.row({name, std::string(collective::name_of(phase.op)), std::to_string(phase.ranks),
              number(phase.size.gb() * 1e3), number(phase.times_per_step), level});
    const bool known = !phase.busiest_link.empty();
    times.row({name, number(phase.mean_s * 1e3),
               fmt::format("{:.2f}", 100 * phase.sigma_s / phase.mean_s), number(phase.p99_s * 1e3),
               number(busbw_gb_per_s(phase)),
               known ? shortened(phase.busiest_link, kLinkWidth) : "-",
               known ? number(phase.busiest_pct) : "-"});
  }
  return what.text() + "\n" + times.text() + "\n";
}

std::string bottleneck_text(const Result& r, const Words& words) {
  const PhaseReport* phase = binding_phase(r);
  if (phase == nullptr) {
    return paragraph(
        words("The GPUs wait for nothing that crosses nodes.", "GPU 不等待任何跨节点的通信。"), 0);
  }
  std::string text = fmt::format(
      fmt::runtime(words("What binds between nodes: {}, {} us each, {} GB/s of bus bandwidth.",
                         "节点间的瓶颈：{}，每次 {} us，总线带宽 {} GB/s。")),
      phase->name, number(phase->mean_s * 1e6), number(busbw_gb_per_s(*phase)));
  if (!phase->busiest_link.empty()) {
    text += fmt::format(fmt::runtime(words(" Its busiest link is {}, {} % used while it lasts.",
                                           "其间最忙的链路是 {}，利用率 {}%。")),
                        phase->busiest_link, number(phase->busiest_pct));
  }
  return paragraph(text, 0);
}

std::string name_of(JitterSource::Kind kind, const Words& words) {
  switch (kind) {
    case JitterSource::Kind::kNone:
      return words("nothing varies", "无波动");
    case JitterSource::Kind::kKernels:
      return words("kernels alone", "仅内核时间");
    case JitterSource::Kind::kQueueing:
      return words("queueing alone", "仅排队");
    case JitterSource::Kind::kBackground:
      return words("background, beside queueing", "背景流量（排队之外）");
    case JitterSource::Kind::kHosts:
      return words("late hosts alone", "仅主机迟到");
    case JitterSource::Kind::kTimeouts:
      return words("timeouts alone", "仅超时重传");
    case JitterSource::Kind::kStragglers:
      return words("slower GPUs alone", "仅慢卡");
    case JitterSource::Kind::kAll:
      return words("all together", "全部");
  }
  return {};
}

std::string jitter_table(const TrainReport& report, const Words& words) {
  const auto& sources = report.detail.sources;
  base::Table table({words("Jitter of the step", "单步抖动"), words("step s", "单步 s"),
                     words("longer by ms", "增加 ms"), words("sigma ms", "标准差 ms"),
                     words("sigma/mean %", "标准差/均值 %")});
  double squares = 0;
  for (const JitterSource& source : sources) {
    if (source.kind != JitterSource::Kind::kAll) squares += source.sigma_s * source.sigma_s;
    table.row({indented(name_of(source.kind, words)), number(source.mean_s),
               fmt::format("{:.2f}", (source.mean_s - sources.front().mean_s) * 1e3),
               fmt::format("{:.2f}", source.sigma_s * 1e3),
               fmt::format("{:.3f}", 100 * source.sigma_s / source.mean_s)});
  }
  const std::string note = fmt::format(
      fmt::runtime(words(
          "Independent variances add: the sources one by one make {} ms, together {} "
          "ms; the rest is how they act on one another, as passes wait for the latest of several.",
          "独立来源的方差相加：各来源合计 {} ms，一起重放 {} "
          "ms；差别来自相互作用：要等多方中最迟者。")),
      number(std::sqrt(squares) * 1e3), number(sources.back().sigma_s * 1e3));
  return table.text() + paragraph(note, 0) + "\n";
}

std::string memory_table(const TrainReport& report, const Words& words) {
  const model::Memory& m = report.detail.result.memory;
  base::Table table(
      {words("Memory of the fullest GPU", "最满一卡的显存"), "GB", words("share %", "占比 %")});
  const std::pair<std::string, double> parts[] = {{words("weights", "权重"), m.weights_gb},
                                                  {words("gradients", "梯度"), m.gradients_gb},
                                                  {words("optimizer", "优化器"), m.optimizer_gb},
                                                  {words("activations", "激活"), m.activations_gb},
                                                  {words("overhead", "其他"), m.overhead_gb},
                                                  {words("in all", "合计"), m.total_gb}};
  const double all = report.scenario->cluster.gpu.memory_gb;
  for (const auto& [name, gb] : parts) {
    table.row({indented(name), number(gb), number(100 * gb / all)});
  }
  return table.text() + "\n";
}

std::string layouts_table(const TrainReport& report, const Words& words) {
  const auto& layouts = report.detail.layouts;
  if (layouts.empty()) return {};
  base::Table table({words("Layouts that `auto` weighed", "auto 比较的布局"),
                     words("estimated s", "估算 s"), words("simulated s", "仿真 s"), "GB"});
  const training::LayoutReport* fastest = nullptr;
  for (const auto& layout : layouts) {
    const bool simulated = layout.refusal.empty();
    if (simulated && (fastest == nullptr || layout.step_time_s < fastest->step_time_s)) {
      fastest = &layout;
    }
    const auto& shape = layout.choice.shape;
    table.row({indented(model::to_string(shape.parallelism) +
                        recompute_text(shape.recompute, words.chinese)),
               number(layout.choice.estimated_step_s), simulated ? number(layout.step_time_s) : "-",
               number(layout.choice.memory.total_gb)});
  }
  std::string text = words(
      "The first has the shortest estimated step of all layouts that fit in memory, counted "
      "from compute, bubble and communication at nominal rates, and is the one above.",
      "第一个布局在放得下的布局中估算单步最短（按计算、气泡和标称速率的通信），即以上所用。");
  if (fastest != nullptr && fastest != &layouts.front() && layouts.front().refusal.empty() &&
      fastest->step_time_s < layouts.front().step_time_s) {
    text += fmt::format(
        fmt::runtime(words(" Simulated, {} takes {:.1f} % less: write it as `parallelism`.",
                           "但仿真中 {} 少用 {:.1f}%：可写入 `parallelism`。")),
        model::to_string(fastest->choice.shape.parallelism),
        100 * (1 - fastest->step_time_s / layouts.front().step_time_s));
  }
  return table.text() + paragraph(text, 0) + "\n";
}

std::string reliability_table(const TrainReport& report, const Words& words) {
  const Result& result = report.detail.result;
  const training::ReliabilityReport& r = result.reliability;
  base::Table causes({words("What stops the job", "中断原因"), words("count", "数量"),
                      words("hours between", "单件间隔 h"), words("in the whole run", "全程次数")});
  double per_day = 0;
  for (const auto& cause : r.causes) per_day += cause.per_day;
  for (const auto& cause : r.causes) {
    causes.row({indented(cause.component), number(cause.count), number(cause.mtbf_h),
                number(r.interruptions * cause.per_day / per_day)});
  }
  base::Table parts(
      {words("The whole run", "全程"), words("hours", "小时"), words("share %", "占比 %")});
  const double hours = result.days * 24;
  const std::pair<std::string, double> shares[] = {
      {words("steps that count (goodput)", "有效训练"), r.goodput_pct},
      {words("writing checkpoints", "写检查点"), r.checkpoint_pct},
      {words("work done again", "重做"), r.lost_pct},
      {words("detecting, restarting", "发现与重启"), r.recovery_pct}};
  for (const auto& [name, share] : shares) {
    parts.row({indented(name), number(hours * share / 100), number(share)});
  }
  std::string text = fmt::format(
      fmt::runtime(words("A checkpoint is {} GB, written in {} s.", "检查点 {} GB，写入需 {} s。")),
      number(r.checkpoint_gb), number(r.write_s));
  if (r.interval_s > 0) {
    text += fmt::format(fmt::runtime(words(" One every {} min.", "每 {} 分钟一次。")),
                        number(r.interval_s / 60));
  } else {
    text += words(" The run is over before the first is due.", "全程结束前无需写入。");
  }
  if (r.mtbf_h > 0) {
    text += fmt::format(
        fmt::runtime(words(" One interruption in {} h on average; {} min until work goes on.",
                           "平均 {} 小时中断一次，{} 分钟后恢复。")),
        number(r.mtbf_h), number(r.recovery_s / 60));
  }
  const std::string stops = r.causes.empty() ? std::string() : causes.text() + '\n';
  return stops + parts.text() + paragraph(text, 0);
}

/// A length of run in the unit that a reader expects.
std::string length(double days, const Words& words) {
  if (days >= 1) return number(days) + words(" days", " 天");
  if (days * 24 >= 1) return number(days * 24) + words(" h", " 小时");
  return number(days * 24 * 60) + words(" min", " 分钟");
}

std::string summary(const Result& r, const Words& words) {
  return paragraph(
      fmt::format(fmt::runtime(words(
                      "{} tokens per second; GPU utilisation {} % ({} % as nvidia-smi reads), "
                      "MFU {} %; the whole run takes {}.",
                      "每秒 {} token；GPU 利用率 {}%（nvidia-smi 读数 {}%），MFU {}%；全程 {}。")),
                  number(r.tokens_per_s), number(r.gpu_utilisation_pct),
                  number(r.gpu_utilisation_smi_pct), number(r.mfu_pct), length(r.days, words)),
      0);
}

std::string stats(const TrainReport& report, const Words& words) {
  const network::Counters& c = report.detail.result.counters;
  return paragraph(
      fmt::format(fmt::runtime(words("{} s, {} events, {} packet-hops, {} MB",
                                     "{} s，{} 事件，{} 包跳，{} MB")),
                  number(report.wall_s), number(static_cast<double>(c.events)),
                  number(static_cast<double>(c.packet_hops)), number(report.peak_rss_mb)),
      0);
}

}  // namespace

const PhaseReport* binding_phase(const Result& result) {
  const PhaseReport* binding = nullptr;
  double most = 0;
  for (const PhaseReport& phase : result.phases) {
    const Kind& kind = kind_of(phase);
    const double wire = result.wire_s.*kind.wire;
    if (phase.inside_nodes || wire <= 0) continue;
    const double own = std::min(1.0, phase.mean_s * phase.times_per_step / wire);
    const double cost = result.breakdown_s.*kind.exposed * own;
    if (cost > most) {
      most = cost;
      binding = &phase;
    }
  }
  return binding;
}

std::string train_table(const TrainReport& report, const TerminalOptions& options) {
  const Words words{options.chinese};
  const Result& r = report.detail.result;
  std::string text = heading(*report.scenario, options.chinese);
  text += paragraph(report.choice->profile.name, 0) + "\n";
  text += step_table(report, words) + summary(r, words) + "\n";
  text += communication_table(r, words) + phase_tables(r, words);
  text += bottleneck_text(r, words) + "\n";
  text += jitter_table(report, words) + memory_table(report, words);
  text += layouts_table(report, words) + reliability_table(report, words);
  if (options.stats) text += '\n' + stats(report, words);
  return text;
}

}  // namespace fabricast::report
