#include "report/heading.h"

#include <fmt/format.h>

#include "report/text.h"

namespace fabricast::report {

namespace {

std::string training_line(const scenario::ValidScenario& scenario,
                          const scenario::TrainingSpec& job, bool chinese) {
  const auto& shape = job.shape;
  std::string model = job.model.name;
  if (!shape.finetuning.full()) {
    model += (chinese ? "，" : ", ") + model::to_string(shape.finetuning);
  }
  return fmt::format(
      fmt::runtime(chinese ? "{}：{}，{}，{}{}；种子 {}" : "{}: {}, {}, {}{}; seed {}"),
      scenario.name, model, catalog::name_of(shape.precision), model::to_string(shape.parallelism),
      recompute_text(shape.recompute, chinese), scenario.seed);
}

std::string serving_line(const scenario::ValidScenario& scenario, const scenario::ServingSpec& job,
                         bool chinese) {
  const auto& shape = job.shape;
  std::string layout = fmt::format("tp {} x pp {}", shape.tp, shape.pp);
  if (shape.dp > 1) layout += fmt::format(" x attention dp {}", shape.dp);
  const std::string tokens = fmt::format(
      fmt::runtime(chinese ? "输入 {:.0f} / 输出 {:.0f} token" : "{:.0f} tokens in, {:.0f} out"),
      job.context.mean, job.output.mean);
  return fmt::format(
      fmt::runtime(chinese ? "{}：{}，{}，{}，{}，{}；种子 {}" : "{}: {}, {}, {}, {}, {}; seed {}"),
      scenario.name, job.model.name, catalog::name_of(shape.precision), layout, job.engine.id,
      tokens, scenario.seed);
}

}  // namespace

std::string work_heading(const scenario::ValidScenario& scenario, bool chinese) {
  const auto* job = std::get_if<scenario::TrainingSpec>(&scenario.workload);
  return job != nullptr
             ? training_line(scenario, *job, chinese)
             : serving_line(scenario, std::get<scenario::ServingSpec>(scenario.workload), chinese);
}

std::string cluster_heading(const scenario::ValidScenario& scenario, bool chinese) {
  const auto& topology = scenario.cluster.topology;
  const std::string nodes =
      chinese ? fmt::format("{} 个节点", topology.nodes)
              : fmt::format("{} {}", topology.nodes, topology.nodes == 1 ? "node" : "nodes");
  const std::string network =
      topology.nodes == 1 ? std::string()
                          : fmt::format(fmt::runtime(chinese ? "，{} {:g}:1" : ", {} {:g}:1"),
                                        fabric::name_of(topology.kind), topology.oversubscription);
  return fmt::format(fmt::runtime(chinese ? "{} 张 {}，{}，每节点 {} × {} Gb/s{}"
                                          : "{} x {}, {} with {} x {} Gb/s{}"),
                     scenario.cluster.gpus, scenario.cluster.gpu.name, nodes,
                     topology.nics_per_node, number(topology.nic_rate.gbps()), network);
}

std::string heading(const scenario::ValidScenario& scenario, bool chinese) {
  return paragraph(work_heading(scenario, chinese), 0) +
         paragraph(cluster_heading(scenario, chinese), 0);
}

}  // namespace fabricast::report
