#include "report/heading.h"

#include <fmt/format.h>

#include "report/text.h"

namespace fabricast::report {

std::string heading(const scenario::ValidScenario& scenario, bool chinese) {
  const auto& job = std::get<scenario::TrainingSpec>(scenario.workload);
  const auto& topology = scenario.cluster.topology;
  const auto& shape = job.shape;
  std::string model = job.model.name;
  if (!shape.finetuning.full()) {
    model += (chinese ? "，" : ", ") + model::to_string(shape.finetuning);
  }
  const std::string first = fmt::format(
      fmt::runtime(chinese ? "{}：{}，{}，{}{}；种子 {}" : "{}: {}, {}, {}{}; seed {}"),
      scenario.name, model, catalog::name_of(shape.precision), model::to_string(shape.parallelism),
      recompute_text(shape.recompute, chinese), scenario.seed);
  const std::string nodes =
      chinese ? fmt::format("{} 个节点", topology.nodes)
              : fmt::format("{} {}", topology.nodes, topology.nodes == 1 ? "node" : "nodes");
  const std::string network =
      topology.nodes == 1 ? std::string()
                          : fmt::format(fmt::runtime(chinese ? "，{} {:g}:1" : ", {} {:g}:1"),
                                        fabric::name_of(topology.kind), topology.oversubscription);
  const std::string second =
      fmt::format(fmt::runtime(chinese ? "{} 张 {}，{}，每节点 {} × {} Gb/s{}"
                                       : "{} x {}, {} with {} x {} Gb/s{}"),
                  scenario.cluster.gpus, scenario.cluster.gpu.name, nodes, topology.nics_per_node,
                  number(topology.nic_rate.gbps()), network);
  return paragraph(first, 0) + paragraph(second, 0);
}

}  // namespace fabricast::report
