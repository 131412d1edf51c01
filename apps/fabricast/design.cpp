#include "design.h"

#include "advice/designs.h"
#include "collective/choice.h"
#include "commands.h"
#include "fabric/fabric.h"
#include "faults.h"
#include "packet/packet_network.h"

namespace fabricast::apps {
Design design_of(const catalog::Catalog& known, const scenario::ValidScenario& scenario,
                 std::size_t number, bool quiet, Lessons* lessons) {
  const scenario::FabricChoice& choice = scenario.fabrics[number];
  Design design;
  design.choice = &choice;
  design.fabric = std::make_shared<const fabric::Fabric>(fabric::build(choice.topology));
  const network::NodeLinkSpec inside = collective::node_links(scenario.cluster.gpu);
  const packet::Faults faults = standing_faults_of(scenario, number, *design.fabric, quiet);
  design.networks.packet = packet::factory(design.fabric, choice.profile, inside, faults);
  design.networks.packet(scenario.seed);  // whatever cannot be built is refused here
  design.networks.node = packet::factory(
      std::make_shared<const fabric::Fabric>(fabric::build(fabric::one_node(choice.topology))),
      choice.profile, inside);
  design.networks.flow = flow_level(scenario, choice, design.fabric, faults, lessons);
  design.bill =
      cost::bill_of_materials(known, advice::build_inputs(scenario, choice, *design.fabric));
  return design;
}

std::size_t fabric_named(const std::string& name, const scenario::ValidScenario& scenario) {
  std::vector<std::string> names;
  for (const scenario::FabricChoice& choice : scenario.fabrics) {
    if (choice.profile.name == name) return names.size();
    names.push_back(choice.profile.name);
  }
  if (name.empty() && names.size() == 1) return 0;
  throw base::input_error({scenario.file, 0, 0, "--fabric"},
                          name.empty() ? "no fabric, and several in the scenario"
                                       : "unknown fabric " + base::quote(name),
                          base::one_of(names), base::near_miss(name, names));
}

// The stages know keys; the file is the scenario, or that of the prices.
base::Error located(const base::Error& error, const scenario::ValidScenario& scenario,
                    std::size_t fabric, const std::string& catalog_directory) {
  if (!error.where().key.starts_with("prices.")) return scenario::located(error, scenario, fabric);
  base::Location where = error.where();
  if (where.file.empty()) where.file = catalog_directory + "/prices.yaml";
  return {error.kind(), where, error.message()};
}

}  // namespace fabricast::apps
