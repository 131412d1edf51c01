#include "advice/evidence.h"

#include <algorithm>
#include <utility>

namespace fabricast::advice {

namespace {

bool within_budget(const scenario::ValidScenario& scenario, const Outcome& outcome) {
  return !scenario.budget || scenario.budget->currency != outcome.cost.currency ||
         outcome.cost.capex <= scenario.budget->total;
}

/// Of `candidates` the one with the least `value`, the first of equals.
template <class Value>
std::size_t least(const std::vector<std::size_t>& candidates, Value value) {
  return *std::min_element(candidates.begin(), candidates.end(),
                           [&](std::size_t a, std::size_t b) { return value(a) < value(b); });
}

}  // namespace

double score_of(const Outcome& outcome) {
  return outcome.cost.per_million_tokens;
}

double time_error(const Outcome& a, const Outcome& b) {
  return std::max(a.training.extrapolation_error, b.training.extrapolation_error);
}

double cost_error(const Outcome& a, const Outcome& b) {
  return std::max(kTie, time_error(a, b));
}

bool level(double a, double b, double error) {
  return std::max(a, b) <= (1 + error) * std::min(a, b);
}

Evidence weigh(const scenario::ValidScenario& scenario, const std::vector<Outcome>& outcomes) {
  Evidence evidence;
  evidence.one_node = scenario.cluster.topology.nodes == 1;
  std::vector<std::size_t> affordable;
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    evidence.verdict.score[outcomes[i].name] = score_of(outcomes[i]);
    (within_budget(scenario, outcomes[i]) ? affordable : evidence.over_budget).push_back(i);
    all.push_back(i);
  }
  evidence.nothing_fits = affordable.empty();
  if (evidence.nothing_fits) {
    evidence.best = least(all, [&](std::size_t i) { return outcomes[i].cost.capex; });
    evidence.cheapest_work = evidence.best;
    evidence.verdict.choice = outcomes[evidence.best].name;
    return evidence;
  }
  const auto score = [&](std::size_t i) { return score_of(outcomes[i]); };
  evidence.cheapest_work = least(affordable, score);
  for (const std::size_t i : affordable) {
    const Outcome& cheapest = outcomes[evidence.cheapest_work];
    if (level(score(i), score_of(cheapest), cost_error(outcomes[i], cheapest))) {
      evidence.level.push_back(i);
    }
  }
  evidence.best = least(evidence.level, [&](std::size_t i) {
    return std::pair(outcomes[i].cost.network_capex, score(i));
  });
  for (const std::size_t i : evidence.level) evidence.verdict.level.push_back(outcomes[i].name);
  evidence.verdict.choice = outcomes[evidence.best].name;
  std::erase(affordable, evidence.best);
  if (!affordable.empty()) evidence.runner_up = least(affordable, score);
  return evidence;
}

}  // namespace fabricast::advice
