#pragma once
// A fabric of a scenario as it would be built, wired and billed: what every command that simulates
// a job starts from.

#include <memory>
#include <string>

#include "catalog/catalog.h"
#include "cost/cost.h"
#include "flow_level.h"
#include "scenario/scenario.h"
#include "training/training.h"

namespace fabricast::apps {

/// Before anything is simulated on it.
struct Design {
  const scenario::FabricChoice* choice = nullptr;
  std::shared_ptr<const fabric::Fabric> fabric;
  collective::Networks networks;
  cost::Bill bill;
};

/// Fabric `number` of the scenario, which must outlive the result, as must `lessons` (may be null).
/// Throws base::Error (input), with a key and without a file, at what cannot be built or priced.
Design design_of(const catalog::Catalog& known, const scenario::ValidScenario& scenario,
                 std::size_t number, bool quiet, Lessons* lessons);

/// The number of the fabric that the user named with --fabric; of one that is alone in its scenario
/// nobody has to. Throws base::Error (input) where there is no such.
std::size_t fabric_named(const std::string& name, const scenario::ValidScenario& scenario);

/// `error` of that at its place: in the scenario, or in the catalogue's file of prices.
base::Error located(const base::Error& error, const scenario::ValidScenario& scenario,
                    std::size_t fabric, const std::string& catalog_directory);

}  // namespace fabricast::apps
