#include "report/notes.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/hardware.h"
#include "report/text.h"

namespace fabricast::report {

namespace {

using advice::Outcome;

/// From here on what the memory model leaves out may not fit (assumed).
constexpr double kFullMemory = 0.95;

void append_name(std::string& names, const std::string& name) {
  names += (names.empty() ? "" : ", ") + name;
}

/// What the sampled phases admit of themselves: the worst extrapolation, where it is, and what all
/// of them may change a run by.
std::string extrapolation_note(const std::vector<Outcome>& outcomes, bool chinese) {
  double error = 0;
  double of_run = 0;
  const bool serving = outcomes.front().serving.has_value();
  std::string where;
  for (const Outcome& o : outcomes) {
    of_run = std::max(of_run, o.training.extrapolation_error);
    for (const auto& phase : advice::phases_of(o)) {
      if (phase.extrapolation_error <= error) continue;
      error = phase.extrapolation_error;
      where = fmt::format("{}, {}", o.name, phase.name);
    }
  }
  if (error <= 0) return {};
  const std::string percent = number(100 * error);
  const std::string run = number(100 * of_run);
  if (serving) {
    return paragraph(
        chinese ? fmt::format("长传输在速率稳定后外推，误差不超过 {}%（{}）；--resolution packet "
                              "不外推。",
                              percent, where)
                : fmt::format("Long transfers are extrapolated once their rate is steady, within "
                              "{} % ({}); --resolution packet does without.",
                              percent, where),
        0);
  }
  return paragraph(
      chinese
          ? fmt::format("长传输在速率稳定后外推，误差不超过 {}%（{}），对全程的影响不超过 {}%；"
                        "--resolution packet 不外推。",
                        percent, where, run)
          : fmt::format("Long transfers are extrapolated once their rate is steady, within {} % "
                        "({}), which is {} % of a run at most; --resolution packet does without.",
                        percent, where, run),
      0);
}

/// A leaf-spine of which one switch is left, or that had to grow a third tier.
std::string topology_note(const scenario::ValidScenario& scenario,
                          const std::vector<Outcome>& outcomes, bool chinese) {
  if (scenario.cluster.topology.nodes < 2 ||
      scenario.cluster.topology.kind != fabric::TopologyKind::kLeafSpine) {
    return {};
  }
  std::map<std::string, std::string> names_by_text;
  const std::string rate = number(scenario.cluster.topology.nic_rate.gbps());
  for (const Outcome& o : outcomes) {
    if (o.sizing.tiers == 1 && o.sizing.leaves == 1) {
      const std::string text =
          chinese ? fmt::format(
                        "所要的 leaf-spine 只需一台交换机，用去 {1} 个 {2} Gb/s 端口中的 {0} 个",
                        o.sizing.endpoint_cables, o.sizing.down_ports, rate)
                  : fmt::format(
                        "The leaf-spine asked for comes out as one switch, {} of {} ports of "
                        "{} Gb/s used",
                        o.sizing.endpoint_cables, o.sizing.down_ports, rate);
      append_name(names_by_text[text], o.name);
    } else if (o.sizing.tiers == 3) {
      append_name(names_by_text[chinese ? "所要的 leaf-spine 端口不够，加了第三层"
                                        : "The leaf-spine asked for has not the ports and got a "
                                          "third tier"],
                  o.name);
    }
  }
  std::string text;
  for (const auto& [what, names] : names_by_text) {
    text +=
        paragraph(fmt::format(fmt::runtime(chinese ? "{}（{}）。" : "{} ({})."), what, names), 0);
  }
  return text;
}

std::string held_by(fabric::HostLinkKind link, const std::string& slot, bool chinese) {
  switch (link) {
    case fabric::HostLinkKind::kUplink:
      return chinese ? "PCIe 交换机的上行链路已满" : "the uplink of its PCIe switch being full";
    case fabric::HostLinkKind::kMemory:
      return chinese ? "主机内存带宽已用尽" : "host memory having no more bandwidth";
    case fabric::HostLinkKind::kSockets:
      return chinese ? "CPU 插槽之间的链路已满" : "the link between the sockets being full";
    case fabric::HostLinkKind::kSlot:
      break;
  }
  return fmt::format(fmt::runtime(chinese ? "`{}` 插槽已满" : "its `{}` slot being full"), slot);
}

/// One sentence for all fabrics that are held alike.
std::string host_notes(const scenario::ValidScenario& scenario,
                       const std::vector<Outcome>& outcomes, bool chinese) {
  std::vector<std::pair<fabric::HostLimit, std::string>> limits;
  for (const Outcome& o : outcomes) {
    if (!o.host || scenario.cluster.topology.nodes < 2) continue;
    const auto same = [&](const auto& known) {
      return known.first.rate == o.host->rate && known.first.link == o.host->link;
    };
    const auto known = std::ranges::find_if(limits, same);
    if (known != limits.end()) {
      append_name(known->second, o.name);
    } else {
      limits.emplace_back(*o.host, o.name);
    }
  }
  std::string text;
  for (const auto& [limit, names] : limits) {
    text += host_note(limit, scenario.cluster.topology.nic_rate, scenario.cluster.host.pcie, names,
                      chinese);
  }
  return text;
}

/// Fabrics of different kinds that are built of the same pieces are billed the same.
std::string same_hardware_note(const std::vector<Outcome>& outcomes, bool chinese) {
  std::map<std::pair<std::string, std::string>, std::vector<const Outcome*>> by_hardware;
  for (const Outcome& o : outcomes) {
    by_hardware[{item_of(o.bill, cost::Part::kSwitch), item_of(o.bill, cost::Part::kAdapter)}]
        .push_back(&o);
  }
  std::string text;
  for (const auto& [hardware, built] : by_hardware) {
    const auto tcp = [](const Outcome* o) { return o->kind == catalog::FabricKind::kTcp; };
    if (std::ranges::none_of(built, tcp) || std::ranges::all_of(built, tcp)) continue;
    std::string names;
    std::string plain;
    for (const Outcome* o : built) append_name(tcp(o) ? plain : names, o->name);
    text += paragraph(
        chinese
            ? fmt::format("{} 与 {} 用的是同样的交换机和网卡，造价因此相同；只跑 TCP 可以买更简单"
                          "的。",
                          plain, names)
            : fmt::format("{} is billed with the same switches and adapters as {}; bought for "
                          "TCP alone, simpler ones would do.",
                          plain, names),
        0);
  }
  return text;
}

/// A layout that leaves next to nothing of a GPU's memory.
std::string memory_note(const scenario::ValidScenario& scenario,
                        const std::vector<Outcome>& outcomes, bool chinese) {
  if (outcomes.front().serving) return {};  // the engine takes its share, whatever it needs
  const double memory = scenario.cluster.gpu.memory_gb;
  const double used = outcomes.front().training.memory.total_gb;
  if (memory <= 0 || used < kFullMemory * memory) return {};
  const auto& job = std::get<scenario::TrainingSpec>(scenario.workload);
  const std::string layout =
      job.alternatives.empty() ? model::to_string(job.shape.parallelism)
                               : "`parallelism: auto`, " + model::to_string(job.shape.parallelism);
  std::string text =
      chinese ? fmt::format(
                    "注意：{} 占去单卡显存的 {:.0f}%（{} / {} GB）；碎片与未计入的部分可能"
                    "放不下。",
                    layout, 100 * used / memory, number(used), number(memory))
              : fmt::format(
                    "Warning: {} fills {:.0f} % of a GPU's memory ({} of {} GB); with "
                    "fragmentation and what the model leaves out it may not fit.",
                    layout, 100 * used / memory, number(used), number(memory));
  const auto roomier = std::ranges::find_if(job.alternatives, [&](const model::LayoutChoice& c) {
    return c.memory.total_gb < kFullMemory * memory;
  });
  if (roomier != job.alternatives.end()) {
    text += fmt::format(fmt::runtime(chinese ? "更宽裕的是 {}{}，{} GB。"
                                             : " The best with more room: {}{}, {} GB."),
                        model::to_string(roomier->shape.parallelism),
                        recompute_text(roomier->shape.recompute, chinese),
                        number(roomier->memory.total_gb));
  }
  return paragraph(text, 0);
}

/// Which phases were not simulated packet by packet.
std::string level_note(const scenario::ValidScenario& scenario,
                       const std::vector<Outcome>& outcomes, bool chinese) {
  std::map<std::string, std::string> fabrics_by_phases;
  for (const Outcome& o : outcomes) {
    std::string phases;
    for (const auto& phase : advice::phases_of(o)) {
      if (phase.flow && phases.find(phase.name) == std::string::npos) {
        append_name(phases, phase.name);
      }
    }
    if (!phases.empty()) append_name(fabrics_by_phases[phases], o.name);
  }
  std::string text;
  for (const auto& [phases, fabrics] : fabrics_by_phases) {
    text += paragraph(
        chinese
            ? fmt::format("以下阶段按流级（max-min 公平共享）仿真：{}（{}）；--resolution packet "
                          "逐包仿真。",
                          phases, fabrics)
            : fmt::format("Simulated at flow level, by max-min sharing: {} ({}); --resolution "
                          "packet simulates every packet.",
                          phases, fabrics),
        0);
  }
  if (!text.empty() && !scenario.background.empty()) {
    text += paragraph(chinese ? "流级仿真中，网卡超过 1024 块时，背景流量只取其平均值。"
                              : "Beyond 1,024 adapters flows meet the mean of others' traffic.",
                      0);
  }
  return text;
}

/// What stands between the numbers above and those of a network in order.
std::string fault_note(const scenario::ValidScenario& scenario, bool chinese) {
  std::string faults;
  for (const scenario::Fault& fault : scenario.faults) {
    const std::string value = fault.value > 0 ? fmt::format(" {:.4g}", fault.value) : "";
    append_name(faults, fmt::format("`{}` {}{}", fault.link, fault.kind, value));
  }
  if (faults.empty()) return {};
  return paragraph(chinese ? fmt::format("全程带有故障：{}。", faults)
                           : fmt::format("All of it with these faults: {}.", faults),
                   0);
}

/// What checkpoints and failures take of a run, where somebody would notice.
std::string reliability_note(const std::vector<Outcome>& outcomes, bool chinese) {
  constexpr double kNoticed = 99;  ///< percent of goodput
  if (outcomes.front().serving) return {};
  const auto worst = std::ranges::min_element(
      outcomes, {}, [](const Outcome& o) { return o.training.reliability.goodput_pct; });
  const training::ReliabilityReport& r = worst->training.reliability;
  if (r.goodput_pct >= kNoticed) return {};
  std::string text = chinese
                         ? fmt::format("全程含检查点与故障：它们至多占 {:.0f}%（{}）",
                                       100 - r.goodput_pct, worst->name)
                         : fmt::format(
                               "The whole run includes checkpoints and failures, which take up to "
                               "{:.0f} % of it ({})",
                               100 - r.goodput_pct, worst->name);
  if (r.mtbf_h > 0) {
    text += chinese ? fmt::format("；平均 {} 小时中断一次，{} 分钟后恢复（`workload.failures`）。",
                                  number(r.mtbf_h), number(r.recovery_s / 60))
                    : fmt::format(
                          ": one interruption in {} h on average, {} min until work goes "
                          "on (`workload.failures`).",
                          number(r.mtbf_h), number(r.recovery_s / 60));
  } else {
    text += chinese ? "。" : ".";
  }
  return paragraph(text, 0);
}

/// Which rate a service's latencies are taken at, and what it is too much for.
std::string rate_note(const scenario::ValidScenario& scenario, const std::vector<Outcome>& outcomes,
                      bool chinese) {
  const auto* spec = std::get_if<scenario::ServingSpec>(&scenario.workload);
  if (spec == nullptr) return {};
  std::string overloaded;
  std::string reduced;
  for (const Outcome& o : outcomes) {
    if (o.serving->overloaded) append_name(overloaded, o.name);
    if (o.serving->simulated_qps < o.serving->offered_qps) append_name(reduced, o.name);
  }
  std::string text;
  if (!overloaded.empty()) {
    text += paragraph(chinese ? fmt::format("{} 请求/秒超出以下网络可持续的速率：{}。",
                                            number(spec->qps), overloaded)
                              : fmt::format("{} requests/s are more than these sustain: {}.",
                                            number(spec->qps), overloaded),
                      0);
  }
  if (!reduced.empty()) {
    text += paragraph(
        chinese ? fmt::format("延迟、利用率与抖动取自可持续速率的 80%：{}。", reduced)
                : fmt::format("Latency, utilisation and jitter are those at 0.8 of what it "
                              "sustains: {}.",
                              reduced),
        0);
  }
  if (spec->trace && spec->trace->without_answer > 0) {
    text += paragraph(
        chinese ? fmt::format("轨迹中有 {} 条没有答案的请求未计入。", spec->trace->without_answer)
                : fmt::format("{} requests of the trace have no answer and are left out.",
                              spec->trace->without_answer),
        0);
  }
  return text;
}

}  // namespace

std::string host_note(const fabric::HostLimit& limit, base::Rate port, const std::string& slot,
                      const std::string& names, bool chinese) {
  const std::string where = names.empty()
                                ? std::string()
                                : fmt::format(fmt::runtime(chinese ? "（{}）" : " ({})"), names);
  return paragraph(
      fmt::format(
          fmt::runtime(chinese ? "主机是瓶颈{}：一个节点的网卡全部同时收发时，每张网卡每个方向"
                                 "最多只有 {} / {} Gb/s：{}。"
                               : "Hosts are the bottleneck{}: when all adapters of a node "
                                 "send and receive, each gets at most {} of its port's {} "
                                 "Gb/s each way, {}."),
          where, number(limit.rate.gbps()), number(port.gbps()),
          held_by(limit.link, slot, chinese)),
      0);
}

std::string notes(const Comparison& comparison, bool chinese) {
  const scenario::ValidScenario& scenario = *comparison.scenario;
  const std::vector<Outcome>& outcomes = comparison.outcomes;
  return fault_note(scenario, chinese) + rate_note(scenario, outcomes, chinese) +
         memory_note(scenario, outcomes, chinese) + topology_note(scenario, outcomes, chinese) +
         host_notes(scenario, outcomes, chinese) + same_hardware_note(outcomes, chinese) +
         level_note(scenario, outcomes, chinese) + reliability_note(outcomes, chinese) +
         extrapolation_note(outcomes, chinese);
}

}  // namespace fabricast::report
