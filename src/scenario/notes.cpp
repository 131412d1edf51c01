// What is done as asked and may still surprise.

#include <algorithm>

#include <fmt/format.h>

#include "scenario/scenario.h"

namespace fabricast::scenario {

namespace {

int switches_of(const fabric::TopologySpec& spec) {
  const fabric::Sizing sizing = fabric::size(spec);
  return sizing.leaves + sizing.spines + sizing.cores;
}

/// Switches that a unit as large as the cluster would take; those of `spec` where it cannot be
/// built.
int switches_without_spare_places(fabric::TopologySpec spec, int built) {
  spec.scalable_unit_nodes = spec.nodes;
  try {
    return switches_of(spec);
  } catch (const base::Error&) {
    return built;
  }
}

/// Reference designs cable a scalable unit whole; a small cluster then pays for a large one.
void note_whole_units(const ValidScenario& scenario, std::vector<std::string>& notes) {
  const fabric::TopologySpec& topology = scenario.cluster.topology;
  if (topology.kind != fabric::TopologyKind::kRailOptimised || topology.scalable_unit_nodes > 0) {
    return;
  }
  std::string counts;
  for (const FabricChoice& choice : scenario.fabrics) {
    const int built = switches_of(choice.topology);
    const int enough = switches_without_spare_places(choice.topology, built);
    if (enough >= built) continue;
    counts += fmt::format("{}{} switches instead of {} for `{}`", counts.empty() ? "" : ", ", built,
                          enough, choice.profile.name);
  }
  if (counts.empty()) return;
  notes.push_back(fmt::format(
      "{}: note: without `scalable_unit_nodes` a rail-optimised fabric is built of whole scalable "
      "units: {}; `scalable_unit_nodes: {}` sizes the unit to the cluster",
      scenario.where("cluster.topology").text(), counts, topology.nodes));
}

/// NCCL_NET_GDR_LEVEL is PXB unless it is set.
void note_staging(const ValidScenario& scenario, std::vector<std::string>& notes) {
  const HostSpec& host = scenario.cluster.host;
  const auto rdma = [](const FabricChoice& choice) {
    return choice.profile.kind != catalog::FabricKind::kTcp;
  };
  if (!host.gpudirect || host.nic_affinity <= NicAffinity::kPxb ||
      std::ranges::none_of(scenario.fabrics, rdma)) {
    return;
  }
  notes.push_back(
      fmt::format("{}: note: with adapters beyond `pxb` NCCL stages through host memory unless "
                  "NCCL_NET_GDR_LEVEL is raised; `gpudirect: false` shows that",
                  scenario.where("cluster.host.nic_affinity").text()));
}

/// One tree is what a layer-2 domain has; the rest of what is paid for stands idle.
void note_spanning_tree(const ValidScenario& scenario, std::vector<std::string>& notes) {
  for (std::size_t i = 0; i < scenario.fabrics.size(); ++i) {
    const FabricChoice& choice = scenario.fabrics[i];
    if (choice.profile.paths.routing != catalog::Routing::kSpanningTree ||
        choice.topology.kind == fabric::TopologyKind::kDragonflyPlus) {
      continue;
    }
    const fabric::Sizing sizing = fabric::size(choice.topology);
    const int links = sizing.leaves * sizing.up_ports + sizing.spines * sizing.spine_up_ports;
    const int open = sizing.leaves + sizing.spines + sizing.cores - 1;
    if (links <= open) continue;
    notes.push_back(fmt::format(
        "{}: note: `{}` is one layer-2 domain: its spanning tree keeps {} of {} links between "
        "switches open, and parallel links are not aggregated",
        scenario
            .where(scenario.places.contains("fabric") ? "fabric" : fmt::format("fabrics[{}]", i))
            .text(),
        choice.profile.name, open, links));
  }
}

/// What made selective recomputation worth it are the scores that fused attention does not keep.
void note_selective(const ValidScenario& scenario, std::vector<std::string>& notes) {
  const auto* training = std::get_if<TrainingSpec>(&scenario.workload);
  if (training == nullptr || !scenario.places.contains("workload.recompute") ||
      training->shape.recompute != model::Recompute::kSelective) {
    return;
  }
  model::TrainingShape kept = training->shape;
  kept.recompute = model::Recompute::kNone;
  const double saved_gb = model::memory(training->model, kept).activations_gb -
                          model::memory(training->model, training->shape).activations_gb;
  notes.push_back(fmt::format(
      "{}: note: attention is fused and keeps no scores: `selective` computes its core again and "
      "saves {:.2f} GB per GPU; `none` is faster, `full` saves most",
      scenario.where("workload.recompute").text(), saved_gb));
}

}  // namespace

std::vector<std::string> notes(const ValidScenario& scenario) {
  std::vector<std::string> result;
  note_whole_units(scenario, result);
  note_staging(scenario, result);
  note_spanning_tree(scenario, result);
  note_selective(scenario, result);
  return result;
}

}  // namespace fabricast::scenario
