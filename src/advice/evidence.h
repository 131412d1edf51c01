#pragma once
// Inside the advice room: what the numbers say, before it is put into words.

#include <optional>
#include <string>
#include <vector>

#include "advice/advice.h"

namespace fabricast::advice {

/// Costs closer than this are no difference: the phases' sampling error and the width of the price
/// bands are both larger (assumed).
inline constexpr double kTie = 0.01;

struct Evidence {
  EvidenceVerdict verdict;
  std::size_t best = 0;
  std::size_t cheapest_work =
      0;  ///< lowest score within the budget; `best` unless a tie was broken
  std::optional<std::size_t> runner_up;  ///< next best within the budget
  std::vector<std::size_t> over_budget;
  bool nothing_fits = false;  ///< every outcome is over the budget
};

/// PRECONDITION: at least one outcome.
Evidence weigh(const scenario::ValidScenario& scenario, const std::vector<Outcome>& outcomes);

/// Values of inputs at which `weigh` would choose another outcome, in closed form: scores are
/// linear in prices and proportional to the length of the run.
std::vector<Flip> find_flips(const scenario::ValidScenario& scenario,
                             const std::vector<Outcome>& outcomes, const Evidence& evidence,
                             const catalog::Catalog* catalog);

/// The reasons in both languages, the weightiest first.
std::vector<Reason> explain(const scenario::ValidScenario& scenario,
                            const std::vector<Outcome>& outcomes, const Evidence& evidence,
                            const HouseVerdict& house);

/// One thing worth trying, as an edit of the scenario or a command.
Text suggest(const scenario::ValidScenario& scenario, const std::vector<Outcome>& outcomes,
             const Evidence& evidence);

}  // namespace fabricast::advice
