#include "collective/phase.h"

#include <algorithm>

namespace fabricast::collective {
namespace {

using base::Bytes;
using base::Rank;

bool inside_nodes(const std::vector<std::vector<Rank>>& groups, int gpus_per_node) {
  const auto node = [&](Rank r) { return static_cast<int>(r.index()) / gpus_per_node; };
  return std::all_of(groups.begin(), groups.end(), [&](const auto& group) {
    return std::all_of(group.begin(), group.end(),
                       [&](Rank r) { return node(r) == node(group[0]); });
  });
}

}  // namespace

Phase phase_of(std::string name, Op op, Bytes size, std::vector<std::vector<Rank>> groups,
               const Machine& machine, const Wishes& wishes) {
  Phase phase;
  phase.name = std::move(name);
  phase.op = op;
  phase.size = size;
  phase.inside_nodes = inside_nodes(groups, machine.gpus_per_node);
  phase.choice = choose(op, size, groups[0], machine, wishes);
  phase.run = run_options(groups[0], phase.choice, machine);
  phase.groups = std::move(groups);
  return phase;
}

Phase of_all_gpus(Op op, Bytes size, const fabric::Fabric& fabric, const Machine& machine,
                  const Wishes& wishes) {
  std::vector<Rank> group;
  for (int r = 0; r < fabric.gpus(); ++r) group.emplace_back(static_cast<std::uint32_t>(r));
  Phase phase = phase_of(std::string(name_of(op)), op, size, {group}, machine, wishes);
  phase.inside_nodes = fabric.spec().nodes == 1;
  return phase;
}

Phase first_node(const Phase& phase, int gpus_per_node) {
  Phase first = phase;
  std::erase_if(first.groups, [&](const auto& group) {
    return group.front().index() >= static_cast<std::uint32_t>(gpus_per_node);
  });
  return first;
}

std::unique_ptr<Schedule> schedule_of(const Phase& phase, const std::vector<Rank>& group,
                                      Bytes size) {
  return phase.one_way ? send_recv_pair(group, size, phase.choice.cutting)
                       : make(phase.op, group, size, phase.choice);
}

}  // namespace fabricast::collective
