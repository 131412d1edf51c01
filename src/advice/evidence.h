#pragma once
// Inside the advice room: what the numbers say, before it is put into words.

#include <optional>
#include <string>
#include <vector>

#include "advice/advice.h"

namespace fabricast::advice {

/// Costs closer than this are no difference: the width of the price bands is larger (assumed).
inline constexpr double kTie = 0.01;

/// Cost of the work done, lower is better.
double score_of(const Outcome& outcome);
/// What the evidence goes by under an objective, lower is better: `score_of`, the purchase price,
/// or `pace_of`.
double criterion(scenario::Objective objective, const Outcome& outcome);
/// True of what is asked beside the objective: a run within `constraints.max_days`; a service that
/// meets its SLO at some rate, or, where the cheapest is asked for, at the rate that is offered.
bool qualifies(const scenario::ValidScenario& scenario, const Outcome& outcome);

/// Time per work: the length of a run, or the reciprocal of the rate that a service answers within
/// its SLO (of what it sustains, where it never does); lower is better.
double pace_of(const Outcome& outcome);

/// Paces closer than this, relative, are no difference.
double time_error(const Outcome& a, const Outcome& b);
/// The same of costs of the work, which are proportional to the length of the run.
double cost_error(const Outcome& a, const Outcome& b);
/// Two values that differ by no more than `error`, relative to the smaller.
bool level(double a, double b, double error);

struct Evidence {
  EvidenceVerdict verdict;
  std::size_t best = 0;
  std::size_t first = 0;  ///< lowest criterion within the budget; `best` unless a tie was broken
  std::vector<std::size_t> level;        ///< with `first`, itself and `best` among them
  std::optional<std::size_t> runner_up;  ///< next best within the budget
  std::vector<std::size_t> over_budget;
  bool unmet = false;         ///< nothing within the budget `qualifies`
  bool nothing_fits = false;  ///< every outcome is over the budget
  bool one_node = false;      ///< no network between nodes is used

  /// There is no one winner.
  bool undecided() const { return level.size() > 1; }
};

/// PRECONDITION: at least one outcome.
Evidence weigh(const scenario::ValidScenario& scenario, const std::vector<Outcome>& outcomes);

/// What a change of prices would choose instead of the best: the next in cost of the work whose
/// network costs something else, or, where all cost the same, the runner-up; null: nothing.
const Outcome* rival_of(const std::vector<Outcome>& outcomes, const Evidence& evidence);

/// Values of inputs at which `weigh` would choose another outcome, in closed form: scores are
/// linear in prices and proportional to the length of the run.
std::vector<Flip> find_flips(const scenario::ValidScenario& scenario,
                             const std::vector<Outcome>& outcomes, const Evidence& evidence,
                             const catalog::Catalog* catalog);

/// One sentence that the choice must not be read without: what is over the budget, level, or not
/// needed.
Text headline(const scenario::ValidScenario& scenario, const std::vector<Outcome>& outcomes,
              const Evidence& evidence);

/// The reasons in both languages, the weightiest first.
std::vector<Reason> explain(const scenario::ValidScenario& scenario,
                            const std::vector<Outcome>& outcomes, const Evidence& evidence,
                            const HouseVerdict& house);

/// One thing worth trying.
struct Suggestion {
  Text text;
  std::string yaml;  ///< what the scenario is to say, ready to be pasted; may be empty
};

/// An edit of the scenario or a command; what was already followed is not suggested again.
Suggestion suggest(const scenario::ValidScenario& scenario, const std::vector<Outcome>& outcomes,
                   const Evidence& evidence, const catalog::Catalog* catalog);

}  // namespace fabricast::advice
