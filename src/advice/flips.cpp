#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "advice/evidence.h"
#include "advice/words.h"

namespace fabricast::advice {

namespace {

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

/// The score of the runner-up at which it is chosen, as a multiple of the winner's: while the two
/// are level it wins with a cheaper network; with a dearer one it must be ahead by more than that.
double threshold(const Outcome& winner, const Outcome& runner_up) {
  const double error = cost_error(winner, runner_up);
  if (runner_up.cost.network_capex < winner.cost.network_capex) return 1 + error;
  if (runner_up.cost.network_capex > winner.cost.network_capex) return 1 / (1 + error);
  return 1;
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
  // While the winner's network is the cheaper one it may be behind by the error; once it is the
  // dearer one it must be ahead by more than that.
  const double error = cost_error(winner, runner_up);
  const double equal_prices = runner_up.cost.network_capex / winner.cost.network_capex;
  const double as_cheaper = factor_at(1 / (1 + error));
  const double as_dearer = std::max(factor_at(1 + error), equal_prices);
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

/// An input as it is now and as it would have to be.
struct Change {
  std::string now;
  std::string then;
  bool more = false;
};

/// Both in `unit` as printed, with the digits that tell them apart.
Change change(double now, double then, const std::string& unit) {
  const base::NumberPair numbers = base::distinct_numbers(now, then);
  return {numbers.first + " " + unit, numbers.second + " " + unit, then > now};
}

Flip shorter_run(const Outcome& runner_up, double days, const RunUnit& unit) {
  const double now = runner_up.training.days / unit.days;
  const Change en = change(now, days / unit.days, unit.name.en);
  const Change zh = change(now, days / unit.days, unit.name.zh);
  return {
      .input = fmt::format("training.days of {}", runner_up.name),
      .at = days,
      .to = runner_up.name,
      .unit = "days",
      .text = {fmt::format("{}, if its run took less than {} (now {}).", runner_up.name, en.then,
                           en.now),
               fmt::format("{}：若其用时少于 {}（现为 {}）。", runner_up.name, zh.then, zh.now)}};
}

/// A service that answers more requests within its SLO; none where it would have to answer more
/// than are offered.
std::optional<Flip> faster_service(const Outcome& runner_up, double share) {
  const double now = served_qps(*runner_up.serving);
  if (now <= 0 || share <= 0 || now / share > runner_up.serving->offered_qps) return std::nullopt;
  const Change c = change(now, now / share, "requests/s");
  return Flip{.input = fmt::format("serving.slo_qps of {}", runner_up.name),
              .at = now / share,
              .to = runner_up.name,
              .unit = "requests/s",
              .text = {fmt::format("{}, if it answered more than {} within the SLO (now {}).",
                                   runner_up.name, c.then, c.now),
                       fmt::format("{}：若其满足 SLO 的速率高于 {}（现为 {}）。", runner_up.name,
                                   c.then, c.now)}};
}

/// `what` costs another amount of money.
Flip other_price(std::string input, const Text& what, double now, double at,
                 const std::string& currency, const std::string& to) {
  const Change c = change(now, at, currency);
  return {.input = std::move(input),
          .at = at,
          .to = to,
          .unit = currency,
          .text = {fmt::format("{}, if {} cost {} than {} (now {}).", to, what.en,
                               c.more ? "more" : "less", c.then, c.now),
                   fmt::format("{}：若{}{} {}（现为 {}）。", to, what.zh, c.more ? "高于" : "低于",
                               c.then, c.now)}};
}

Flip other_budget(double now, const Outcome& outcome) {
  const Change c = change(now, outcome.cost.capex, outcome.cost.currency);
  return {.input = "budget.total",
          .at = outcome.cost.capex,
          .to = outcome.name,
          .unit = outcome.cost.currency,
          .text = {fmt::format("{}, with a budget of {} (now {}).", outcome.name, c.then, c.now),
                   fmt::format("{}：若预算为 {}（现为 {}）。", outcome.name, c.then, c.now)}};
}

void push_price_flips(const scenario::ValidScenario& scenario, const Outcome& winner,
                      const Outcome& runner_up, const catalog::Catalog& catalog,
                      std::vector<Flip>& flips) {
  const std::string& currency = winner.cost.currency;
  if (const auto factor = network_factor(winner, runner_up, catalog)) {
    const double now = winner.cost.network_capex;
    flips.push_back(
        other_price("cost.network_capex of " + winner.name,
                    {"the network of " + winner.name, " " + winner.name + " 的网络造价"}, now,
                    now * *factor, currency, runner_up.name));
  }
  if (const auto factor = gpu_factor(winner, runner_up, catalog)) {
    const double now = winner.bill.gpu_capex / scenario.cluster.gpus;
    flips.push_back(other_price("price of one GPU with its share of the server",
                                {"a GPU with its share of the server", "单张 GPU（含服务器分摊）"},
                                now, now * *factor, currency, runner_up.name));
  }
}

/// The same price and no difference in speed that the run can tell: what would change the choice is
/// below what it can tell, too.
bool alike(const Outcome& a, const Outcome& b) {
  return a.cost.network_capex == b.cost.network_capex &&
         level(score_of(a), score_of(b), cost_error(a, b));
}

}  // namespace

std::vector<Flip> find_flips(const scenario::ValidScenario& scenario,
                             const std::vector<Outcome>& outcomes, const Evidence& evidence,
                             const catalog::Catalog* catalog) {
  std::vector<Flip> flips;
  if (evidence.one_node) return flips;  // neither speed nor price of a network matters
  const Outcome& winner = outcomes[evidence.best];
  // Scores are costs of the work; other objectives go by something else.
  const bool by_score = scenario.objective == scenario::Objective::kValue &&
                        (!evidence.unmet || winner.serving.has_value());
  const Outcome* next = evidence.runner_up ? &outcomes[*evidence.runner_up] : nullptr;
  if (next != nullptr && alike(winner, *next)) next = rival_of(outcomes, evidence);
  if (by_score && next != nullptr && !alike(winner, *next)) {
    const Outcome& runner_up = *next;
    if (score_of(runner_up) > 0) {
      // The score is proportional to the length of the run.
      const double share = threshold(winner, runner_up) * score_of(winner) / score_of(runner_up);
      if (!runner_up.serving) {
        flips.push_back(
            shorter_run(runner_up, runner_up.training.days * share, run_unit(outcomes)));
      } else if (auto flip = faster_service(runner_up, share)) {
        flips.push_back(std::move(*flip));
      }
    }
    if (catalog) push_price_flips(scenario, winner, runner_up, *catalog, flips);
  }
  for (const std::size_t i : evidence.over_budget) {
    // More money changes the choice only in favour of what would win it.
    if (i == evidence.best || !qualifies(scenario, outcomes[i])) continue;
    const double now = criterion(scenario.objective, winner);
    const double share = by_score ? threshold(winner, outcomes[i]) : 1;
    if (!evidence.unmet && criterion(scenario.objective, outcomes[i]) > share * now) continue;
    flips.push_back(other_budget(scenario.budget->total, outcomes[i]));
  }
  return flips;
}

}  // namespace fabricast::advice
