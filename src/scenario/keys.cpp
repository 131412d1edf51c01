#include <fmt/format.h>

#include "scenario/scenario.h"

namespace fabricast::scenario {

std::string inside_key(const ValidScenario& scenario) {
  return fmt::format("{} {} per node", scenario.cluster.gpu.id,
                     scenario.cluster.topology.gpus_per_node);
}

std::string between_key(const ValidScenario& scenario, const FabricChoice& choice) {
  const fabric::TopologySpec& t = choice.topology;
  std::string key =
      fmt::format("{:016x} {:016x} {} {} {} {} {} {} {} {} {} {} {} {} {} {}",
                  catalog::digest(choice.profile), fabric::digest(t.host), fabric::name_of(t.kind),
                  t.nodes, t.gpus_per_node, t.nics_per_node, t.nic_rate.bps(), t.switch_ports,
                  t.switch_rate.bps(), t.oversubscription, t.cable_m, t.cable_ns_per_m,
                  t.nodes_per_leaf, t.management_ports, t.scalable_unit_nodes, t.max_uplink_split);
  for (const Fault& fault : scenario.faults) {
    key += fmt::format(" {} {} {:.17g}", fault.link, fault.kind, fault.value);
  }
  return key;
}

}  // namespace fabricast::scenario
