#pragma once
// The networks that could be built for a cluster: fabric x tuning x speed x topology x
// oversubscription x switch, as scenarios of their own, each sized and billed, or refused with the
// reason (docs/models/advice.md, section 1).

#include <optional>
#include <string>
#include <vector>

#include "advice/advice.h"
#include "base/yaml.h"

namespace fabricast::advice {

/// One of them.
struct Candidate {
  std::string name;  ///< "roce-v2-adaptive 400G rail-optimised"
  catalog::FabricKind kind = catalog::FabricKind::kInfiniBand;
  std::string profile;   ///< of the catalogue, or as the scenario named it
  std::string topology;  ///< "leaf-spine"
  double oversubscription = 1;
  double nic_gbps = 0;
  std::string network_switch;  ///< empty of direct cables
  std::string adapter;
  bool owned = false;         ///< the Ethernet that is there already
  bool asked = false;         ///< a fabric of the scenario, as it has it
  base::yaml::Node document;  ///< the scenario with this network alone
  /// The same, checked; none of what cannot be built or does not do.
  std::optional<scenario::ValidScenario> scenario;
  Text reason;  ///< why not; of what is built, what to know of it; may be empty
  fabric::Sizing sizing;
  cost::Bill bill;  ///< of what can be built
};

/// What is searched.
struct SearchSpace {
  base::yaml::Node document;  ///< a scenario
  std::string file;           ///< for messages and relative paths
  scenario::Overrides overrides;
  bool profiles_given = false;  ///< search its `fabrics` alone, not what the catalogue has beside
};

/// What the bill of a fabric as built is written from, in the currency of the budget. `fabric` is
/// referred to.
cost::BuildInputs build_inputs(const scenario::ValidScenario& scenario,
                               const scenario::FabricChoice& choice, const fabric::Fabric& fabric);

/// In the order of the search: fabrics as the scenario has them, then fastest links first. Of
/// switches that make the same network the cheapest is kept. What is there is checked against
/// `constraints`: growth, existing Ethernet. Throws base::Error (input) where the scenario is wrong
/// whatever the network.
std::vector<Candidate> candidates(const catalog::Catalog& catalog, const SearchSpace& space);

}  // namespace fabricast::advice
