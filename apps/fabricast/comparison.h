#pragma once
// From a checked scenario to a comparison with its verdict: what `compare` and `sweep` share. The
// stages are in compare.cpp.

#include <functional>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "commands.h"
#include "design.h"
#include "flow_level.h"
#include "network/phase_cache.h"
#include "report/report.h"

namespace fabricast::apps {

/// What is known of the world, and where it lies: the house rules are a file beside the catalogue.
struct Knowledge {
  std::string directory;
  catalog::Catalog catalog;
};

/// Throws base::Error as Catalog::load and Catalog::default_directory do.
Knowledge load_knowledge();

/// The same with the prices of the scenario. Throws base::Error (input) on a wrong price file.
Knowledge priced(const Knowledge& known, const scenario::ValidScenario& scenario);

/// What the source article claims, judged by the catalogue and its prices.
std::vector<advice::Claim> claims_of(const Knowledge& known);

struct ComparisonOptions {
  int threads = 1;
  Resolution resolution = Resolution::kAuto;
  bool quiet = false;  ///< no notes on standard error
  base::Progress* progress = nullptr;
  /// Phases that another fabric has been through need not be simulated again; null: all of them
  /// are.
  network::PhaseCache* phases = nullptr;
  double effort = 1;  ///< serving::Options::effort
  int states = 0;     ///< independent states per phase; 0: as the rooms choose
  /// Gets every request of a service's reported run; may be empty.
  std::function<void(const serving::RequestRecord&)> trace;
  /// What the flow level has learnt of fabrics; null: each learns by itself.
  Lessons* lessons = nullptr;
};

/// One fabric from its design to what it does and costs.
advice::Outcome evaluate(const catalog::Catalog& known, const scenario::ValidScenario& scenario,
                         const Design& design, network::PhaseCache& cache,
                         const ComparisonOptions& options);

/// An outcome of the same work on another network that it does not notice: what is measured of the
/// work stays, network and costs are `design`'s.
advice::Outcome transferred(const catalog::Catalog& known, const scenario::ValidScenario& scenario,
                            const Design& design, advice::Outcome outcome);

/// Builds, simulates and prices every fabric of the scenario, and judges. The scenario must outlive
/// the result. Throws base::Error (input) at the place of whatever cannot be built or priced,
/// before anything is simulated.
report::Comparison compare_fabrics(const Knowledge& known, const scenario::ValidScenario& scenario,
                                   const ComparisonOptions& options);

/// The same of outcomes that are known already.
report::Comparison judge(const Knowledge& known, const scenario::ValidScenario& scenario,
                         std::vector<advice::Outcome> outcomes);

}  // namespace fabricast::apps
