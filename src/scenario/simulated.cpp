// What parses but is not simulated. Each refusal names the key, says what was found and what works;
// a mechanism that arrives takes its refusal away.

#include <fmt/format.h>

#include "scenario/scenario.h"

namespace fabricast::scenario {

namespace {

class Refusals {
 public:
  explicit Refusals(const ValidScenario& scenario) : scenario_(scenario) {}

  void unless(bool simulated, std::string_view key, std::string_view what,
              std::string_view works) const {
    if (simulated) return;
    throw base::input_error(scenario_.where(key),
                            fmt::format("{}, which is not simulated yet", what), works);
  }

 private:
  const ValidScenario& scenario_;
};

void require_topology(const Refusals& refuse, const ClusterSpec& cluster) {
  const fabric::TopologySpec& topology = cluster.topology;
  const int per_node = topology.gpus_per_node;
  refuse.unless(
      topology.kind != fabric::TopologyKind::kDragonflyPlus, "cluster.topology.kind",
      "`dragonfly-plus`",
      "`leaf-spine`, `single-switch`, `rail-optimised`, `rail-only`, `fat-tree` or `direct`");
  refuse.unless(cluster.gpus % per_node == 0, "cluster.gpus",
                fmt::format("{} GPUs in nodes of {}: a partial node", cluster.gpus, per_node),
                fmt::format("a multiple of `gpus_per_node` ({})", per_node));
}

/// Rails of a rail-only fabric do not meet: what crosses nodes must stay on its rail, which it does
/// when tensor parallelism fills a node. Forwarding over NVLink (PXN) is what is missing.
void require_rails(const Refusals& refuse, const ValidScenario& scenario,
                   const TrainingSpec& training) {
  const fabric::TopologySpec& topology = scenario.cluster.topology;
  if (topology.kind != fabric::TopologyKind::kRailOnly || topology.nodes == 1) return;
  const int tp = training.shape.parallelism.tp;
  refuse.unless(
      tp == topology.gpus_per_node, "workload.parallelism",
      fmt::format("tp {} on a rail-only fabric: rings that change rails", tp),
      fmt::format("tp {}, the GPUs of a node, or another topology", topology.gpus_per_node));
  refuse.unless(scenario.background.empty(), "background",
                "traffic of others on a rail-only fabric", "no background, or another topology");
}

/// The same of a service: a replica that spans nodes, or what replicas send one another, changes
/// rails.
void require_rails(const Refusals& refuse, const ValidScenario& scenario,
                   const ServingSpec& service) {
  const fabric::TopologySpec& topology = scenario.cluster.topology;
  const bool apart = topology.kind == fabric::TopologyKind::kRailOnly ||
                     topology.kind == fabric::TopologyKind::kDirect;
  if (!apart || topology.nodes == 1 || topology.nics_per_node == 1) return;
  const bool sends = service.disaggregation ||
                     (service.scaling && service.scaling->from == ScalingSpec::LoadFrom::kPeer);
  refuse.unless(topology.gpus_per_node % service.shape.gpus() == 0 && !sends,
                "cluster.topology.kind",
                fmt::format("a service that crosses nodes on a {} fabric, whose rails do not meet",
                            fabric::name_of(topology.kind)),
                "replicas inside nodes, or another topology");
}

}  // namespace

void require_simulated_cluster(const ValidScenario& scenario) {
  const Refusals refuse(scenario);
  require_topology(refuse, scenario.cluster);
}

void require_no_reduction(const ValidScenario& scenario) {
  const Refusals refuse(scenario);
  for (std::size_t i = 0; i < scenario.fabrics.size(); ++i) {
    const std::string fabric =
        scenario.places.contains("fabric") ? "fabric" : fmt::format("fabrics[{}]", i);
    refuse.unless(!scenario.fabrics[i].profile.sharp.enabled, fabric + ".sharp.enabled",
                  "a collective that switches reduce", "`false`");
  }
}

void require_simulated(const ValidScenario& scenario) {
  const Refusals refuse(scenario);
  const auto* training = std::get_if<TrainingSpec>(&scenario.workload);
  for (std::size_t i = 0; i < scenario.faults.size(); ++i) {
    const Fault& fault = scenario.faults[i];
    const bool begins = fault.at_ms > 0;
    refuse.unless(!begins && fault.for_ms == 0,
                  fmt::format("faults[{}].{}", i, begins ? "at_ms" : "for_ms"),
                  fmt::format("a fault that {} during the job", begins ? "begins" : "ends"),
                  "a fault that lasts for all of it: neither `at_ms` nor `for_ms`");
  }
  require_simulated_cluster(scenario);
  require_no_reduction(scenario);
  if (training != nullptr) require_rails(refuse, scenario, *training);
  if (const auto* service = std::get_if<ServingSpec>(&scenario.workload)) {
    require_rails(refuse, scenario, *service);
  }
}

}  // namespace fabricast::scenario
