#include "advice/evidence.h"

#include <algorithm>
#include <utility>

namespace fabricast::advice {

const std::vector<collective::PhaseReport>& phases_of(const Outcome& outcome) {
  return outcome.serving ? outcome.serving->phases : outcome.training.phases;
}
const network::Counters& counters_of(const Outcome& outcome) {
  return outcome.serving ? outcome.serving->counters : outcome.training.counters;
}
bool packets_of(const Outcome& outcome) {
  return outcome.serving ? outcome.serving->packets : outcome.training.packets;
}

double served_qps(const serving::Result& serving) {
  return std::min(serving.offered_qps, serving.slo_qps.value);
}

namespace {

bool within_budget(const scenario::ValidScenario& scenario, const Outcome& outcome) {
  return !scenario.budget || scenario.budget->currency != outcome.cost.currency ||
         outcome.cost.capex <= scenario.budget->total;
}

/// What the error of a run may change its pace by, relative.
double own_error(const Outcome& outcome) {
  if (!outcome.serving) return outcome.training.extrapolation_error;
  const serving::Result& s = *outcome.serving;
  // A rate that is not needed to its last request does not matter to its last digit.
  const serving::Estimate& rate = s.slo_qps.value > 0 ? s.slo_qps : s.capacity_qps;
  if (rate.lo >= s.offered_qps || rate.value <= 0) return 0;
  return (std::min(rate.hi, s.offered_qps) - rate.lo) / 2 / rate.value;
}

/// Values of the criterion closer than this, relative, are no difference.
double criterion_error(scenario::Objective objective, const Outcome& a, const Outcome& b) {
  switch (objective) {
    case scenario::Objective::kValue:
      return cost_error(a, b);
    case scenario::Objective::kCheapest:
      return 0;
    case scenario::Objective::kFastest:
      return std::max(kTie, time_error(a, b));
  }
  return 0;
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

double pace_of(const Outcome& outcome) {
  if (!outcome.serving) return outcome.training.days;
  const double served = served_qps(*outcome.serving);
  return 1 / std::max(1e-9, served > 0 ? served : outcome.serving->capacity_qps.value);
}

double time_error(const Outcome& a, const Outcome& b) {
  return std::max(own_error(a), own_error(b));
}

double cost_error(const Outcome& a, const Outcome& b) {
  return std::max(kTie, time_error(a, b));
}

double criterion(scenario::Objective objective, const Outcome& outcome) {
  switch (objective) {
    case scenario::Objective::kValue:
      return score_of(outcome);
    case scenario::Objective::kCheapest:
      return outcome.cost.capex;
    case scenario::Objective::kFastest:
      return pace_of(outcome);
  }
  return 0;
}

bool qualifies(const scenario::ValidScenario& scenario, const Outcome& outcome) {
  if (!outcome.serving) {
    const double most = scenario.constraints.max_days;
    return most <= 0 || outcome.training.days <= most;
  }
  if (scenario.objective == scenario::Objective::kCheapest) {
    return outcome.serving->slo_qps.value >= outcome.serving->offered_qps;
  }
  return outcome.serving->slo_qps.value > 0;
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
    evidence.verdict.score[outcomes[i].name] = criterion(scenario.objective, outcomes[i]);
    (within_budget(scenario, outcomes[i]) ? affordable : evidence.over_budget).push_back(i);
    all.push_back(i);
  }
  evidence.nothing_fits = affordable.empty();
  if (evidence.nothing_fits) {
    evidence.best = least(all, [&](std::size_t i) { return outcomes[i].cost.capex; });
    evidence.first = evidence.best;
    evidence.verdict.choice = outcomes[evidence.best].name;
    return evidence;
  }
  // What does not do is out while something does; where nothing does, the nearest is the fastest.
  const auto fails = [&](std::size_t i) { return !qualifies(scenario, outcomes[i]); };
  evidence.unmet = std::ranges::all_of(affordable, fails);
  if (!evidence.unmet) std::erase_if(affordable, fails);
  const scenario::Objective objective = evidence.unmet && !outcomes.front().serving
                                            ? scenario::Objective::kFastest
                                            : scenario.objective;
  const auto value = [&](std::size_t i) { return criterion(objective, outcomes[i]); };
  evidence.first = least(affordable, value);
  for (const std::size_t i : affordable) {
    const Outcome& first = outcomes[evidence.first];
    const double error = criterion_error(objective, outcomes[i], first);
    if (level(value(i), criterion(objective, first), error)) evidence.level.push_back(i);
  }
  evidence.best = least(evidence.level, [&](std::size_t i) {
    return std::pair(outcomes[i].cost.network_capex, value(i));
  });
  for (const std::size_t i : evidence.level) evidence.verdict.level.push_back(outcomes[i].name);
  evidence.verdict.choice = outcomes[evidence.best].name;
  std::erase(affordable, evidence.best);
  if (!affordable.empty()) evidence.runner_up = least(affordable, value);
  return evidence;
}

const Outcome* rival_of(const std::vector<Outcome>& outcomes, const Evidence& evidence) {
  const Outcome& best = outcomes[evidence.best];
  const Outcome* rival = nullptr;
  for (const Outcome& o : outcomes) {
    const bool over = std::ranges::any_of(evidence.over_budget,
                                          [&](std::size_t i) { return &outcomes[i] == &o; });
    if (&o == &best || over || o.cost.network_capex == best.cost.network_capex) continue;
    if (rival == nullptr || score_of(o) < score_of(*rival)) rival = &o;
  }
  if (rival == nullptr && evidence.runner_up) rival = &outcomes[*evidence.runner_up];
  return rival;
}

}  // namespace fabricast::advice
