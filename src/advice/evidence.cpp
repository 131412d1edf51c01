#include "advice/evidence.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace fabricast::advice {

namespace {

double score_of(const Outcome& outcome) {
  return outcome.cost.per_million_tokens;
}

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

/// A score that depends linearly on the growth of a price: s + slope * (factor - 1).
struct Line {
  double at_one = 0;
  double slope = 0;
};

/// Cost per million tokens when network or GPU prices are multiplied; exact, as the cost is linear.
enum class PriceOf { kNetwork, kGpus };

Line score_line(const Outcome& outcome, PriceOf what, const catalog::Catalog& catalog) {
  cost::Bill doubled = outcome.bill;
  double& part = what == PriceOf::kNetwork ? doubled.network_capex : doubled.gpu_capex;
  doubled.capex += part;
  part *= 2;
  // Per hour, then scaled by the hours that a million tokens take.
  const double hours = 1;
  const double base = cost::cost_of(catalog, outcome.bill, hours, 1).per_hour;
  const double more = cost::cost_of(catalog, doubled, hours, 1).per_hour;
  if (base <= 0) return {.at_one = score_of(outcome)};
  return {.at_one = score_of(outcome), .slope = score_of(outcome) * (more - base) / base};
}

/// The score of the runner-up at which it is chosen, as a multiple of the winner's: within 1 % it
/// wins with a cheaper network; with a dearer one it must be more than 1 % ahead.
double threshold(double network_of_winner, double network_of_runner_up) {
  if (network_of_runner_up < network_of_winner) return 1 + kTie;
  if (network_of_runner_up > network_of_winner) return 1 / (1 + kTie);
  return 1;
}

double threshold(const Outcome& winner, const Outcome& runner_up) {
  return threshold(winner.cost.network_capex, runner_up.cost.network_capex);
}

/// Factor on the winner's network price from which the runner-up is chosen; none when its score
/// does not depend on it.
std::optional<double> network_factor(const Outcome& winner, const Outcome& runner_up,
                                     const catalog::Catalog& catalog) {
  const Line line = score_line(winner, PriceOf::kNetwork, catalog);
  if (line.slope <= 0 || winner.cost.network_capex <= 0) return std::nullopt;
  const auto factor_at = [&](double share) {
    return 1 + (score_of(runner_up) / share - line.at_one) / line.slope;
  };
  // While the winner's network is the cheaper one it may be up to 1 % behind; once it is the dearer
  // one it must be more than 1 % ahead.
  const double equal_prices = runner_up.cost.network_capex / winner.cost.network_capex;
  const double as_cheaper = factor_at(1 / (1 + kTie));
  const double as_dearer = std::max(factor_at(1 + kTie), equal_prices);
  return std::min(as_cheaper, as_dearer);
}

/// Factor on the price of GPUs, which both pay, from which the runner-up is chosen; none when no
/// positive price does that.
std::optional<double> gpu_factor(const Outcome& winner, const Outcome& runner_up,
                                 const catalog::Catalog& catalog) {
  const Line w = score_line(winner, PriceOf::kGpus, catalog);
  const Line r = score_line(runner_up, PriceOf::kGpus, catalog);
  const double share = threshold(winner, runner_up);
  const double relative_slope = r.slope - share * w.slope;
  if (std::abs(relative_slope) < 1e-12 * (r.slope + w.slope)) return std::nullopt;
  const double factor = 1 + (share * w.at_one - r.at_one) / relative_slope;
  return factor > 0 ? std::optional(factor) : std::nullopt;
}

void push_price_flips(const scenario::ValidScenario& scenario, const Outcome& winner,
                      const Outcome& runner_up, const catalog::Catalog& catalog,
                      std::vector<Flip>& flips) {
  if (const auto factor = network_factor(winner, runner_up, catalog)) {
    flips.push_back({fmt::format("cost.network_capex of {}", winner.name),
                     winner.cost.network_capex * *factor, runner_up.name});
  }
  if (const auto factor = gpu_factor(winner, runner_up, catalog)) {
    flips.push_back({"price of one GPU with its share of the server",
                     winner.bill.gpu_capex * *factor / scenario.cluster.gpus, runner_up.name});
  }
}

}  // namespace

Evidence weigh(const scenario::ValidScenario& scenario, const std::vector<Outcome>& outcomes) {
  Evidence evidence;
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
  std::vector<std::size_t> level;
  for (const std::size_t i : affordable) {
    if (score(i) <= (1 + kTie) * score(evidence.cheapest_work)) level.push_back(i);
  }
  evidence.best = least(level, [&](std::size_t i) { return outcomes[i].cost.network_capex; });
  evidence.verdict.choice = outcomes[evidence.best].name;
  std::erase(affordable, evidence.best);
  if (!affordable.empty()) evidence.runner_up = least(affordable, score);
  return evidence;
}

std::vector<Flip> find_flips(const scenario::ValidScenario& scenario,
                             const std::vector<Outcome>& outcomes, const Evidence& evidence,
                             const catalog::Catalog* catalog) {
  std::vector<Flip> flips;
  const Outcome& winner = outcomes[evidence.best];
  if (evidence.runner_up) {
    const Outcome& runner_up = outcomes[*evidence.runner_up];
    if (score_of(runner_up) > 0) {
      // The score is proportional to the length of the run.
      flips.push_back({fmt::format("training.days of {}", runner_up.name),
                       runner_up.training.days * threshold(winner, runner_up) * score_of(winner) /
                           score_of(runner_up),
                       runner_up.name});
    }
    if (catalog) push_price_flips(scenario, winner, runner_up, *catalog, flips);
  }
  for (const std::size_t i : evidence.over_budget) {
    // More money changes the choice only in favour of what would win it.
    if (i == evidence.best) continue;
    if (score_of(outcomes[i]) > threshold(winner, outcomes[i]) * score_of(winner)) continue;
    flips.push_back({"budget.total", outcomes[i].cost.capex, outcomes[i].name});
  }
  return flips;
}

}  // namespace fabricast::advice
