#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "advice/evidence.h"
#include "advice/words.h"

namespace fabricast::advice {

namespace {

using base::number;

/// Costs of an hour are prices alone; below this they are written alike.
constexpr double kSameCost = 0.0005;

/// A metric that reasons are tied to.
struct Metric {
  std::string key;
  Text label;
  double (*value)(const Outcome&) = nullptr;
  Text unit;
  double in_unit = 1;  ///< how much of the value one unit is
  bool more_is_better = false;
  /// Relative differences up to this are none; absent: every difference counts.
  double (*error)(const Outcome&, const Outcome&) = nullptr;
};

Text print(const Metric& metric, double value) {
  const std::string count = number(value / metric.in_unit);
  return {count + " " + metric.unit.en, count + " " + metric.unit.zh};
}

Metric cost_metric(const Text& unit) {
  return {.key = "cost.per_million_tokens",
          .label = {"Cost of a million tokens", "每百万 token 成本"},
          .value = [](const Outcome& o) { return o.cost.per_million_tokens; },
          .unit = unit,
          .error = cost_error};
}

std::vector<Metric> network_metrics(const Text& money) {
  return {{.key = "cost.network_capex",
           .label = {"Price of the network", "网络造价"},
           .value = [](const Outcome& o) { return o.cost.network_capex; },
           .unit = money},
          {.key = "network.latency_us",
           .label = {"Latency between nodes", "节点间延迟"},
           .value = [](const Outcome& o) { return o.network.latency_us; },
           .unit = {"us", "us"}}};
}

std::vector<Metric> serving_metrics() {
  const Text rate{"requests/s", "请求/秒"};
  const Text ms{"ms", "毫秒"};
  const Text percent{"%", "%"};
  return {{.key = "serving.slo_qps",
           .label = {"Rate within the SLO", "满足 SLO 的速率"},
           .value = [](const Outcome& o) { return o.serving->slo_qps.value; },
           .unit = rate,
           .more_is_better = true,
           .error = time_error},
          {.key = "serving.capacity_qps",
           .label = {"Rate sustained", "可持续速率"},
           .value = [](const Outcome& o) { return o.serving->capacity_qps.value; },
           .unit = rate,
           .more_is_better = true},
          {.key = "serving.ttft_ms.p99",
           .label = {"First token, p99", "首 token，p99"},
           .value = [](const Outcome& o) { return o.serving->ttft_ms.p99; },
           .unit = ms},
          {.key = "serving.latency_ms.p50",
           .label = {"Whole answer, p50", "完整回答，p50"},
           .value = [](const Outcome& o) { return o.serving->latency_ms.p50; },
           .unit = ms},
          {.key = "serving.gpu_utilisation_pct",
           .label = {"GPUs computing", "GPU 利用率"},
           .value = [](const Outcome& o) { return o.serving->gpu_utilisation_pct; },
           .unit = percent,
           .more_is_better = true},
          {.key = "serving.jitter_pct",
           .label = {"Jitter of the time per token", "每 token 用时抖动"},
           .value = [](const Outcome& o) { return o.serving->jitter_pct; },
           .unit = percent}};
}

std::vector<Metric> metrics(const std::vector<Outcome>& outcomes) {
  const std::string& currency = outcomes.front().cost.currency;
  const Text money_unit{currency, currency};
  const Text percent{"%", "%"};
  if (outcomes.front().serving) {
    std::vector<Metric> all{cost_metric(money_unit)};
    for (Metric& metric : serving_metrics()) all.push_back(std::move(metric));
    for (Metric& metric : network_metrics(money_unit)) all.push_back(std::move(metric));
    return all;
  }
  const RunUnit run = run_unit(outcomes);
  return {cost_metric(money_unit),
          {.key = "training.days",
           .label = {"Length of the run", "训练用时"},
           .value = [](const Outcome& o) { return o.training.days; },
           .unit = run.name,
           .in_unit = run.days,
           .error = time_error},
          {.key = "training.gpu_utilisation_pct",
           .label = {"GPUs computing", "GPU 利用率"},
           .value = [](const Outcome& o) { return o.training.gpu_utilisation_pct; },
           .unit = percent,
           .more_is_better = true},
          network_metrics(money_unit)[0],
          {.key = "training.jitter_pct",
           .label = {"Jitter of the step time", "步时抖动"},
           .value = [](const Outcome& o) { return o.training.jitter_pct; },
           .unit = percent},
          network_metrics(money_unit)[1]};
}

/// " (+9.7 %)": how far an outcome is from the best of a metric, and whether that is anything.
Text distance(const Metric& metric, const Outcome& outcome, const Outcome& best) {
  const double value = metric.value(outcome);
  const double least = metric.value(best);
  if (least <= 0) return {};
  const std::string percent = fmt::format("{:+.1f}", 100 * (value - least) / least);
  if (percent == "+0.0" || percent == "-0.0") {
    const bool alike = print(metric, value).en == print(metric, least).en;
    return alike ? Text{" (the same)", " (相同)"} : Text{" (level)", " (持平)"};
  }
  const bool none = metric.error && level(value, least, metric.error(outcome, best));
  return {fmt::format(" ({} %{})", percent, none ? ", level" : ""),
          fmt::format(" ({} %{})", percent, none ? "，持平" : "")};
}

/// "infiniband 3.1 h; roce-v2 3.4 h (+9.7 %)": best first, the distance to the best in percent.
Text ranking(const Metric& metric, const std::vector<Outcome>& outcomes) {
  std::vector<const Outcome*> order;
  for (const Outcome& o : outcomes) order.push_back(&o);
  std::stable_sort(order.begin(), order.end(), [&](const Outcome* a, const Outcome* b) {
    const double difference = metric.value(*a) - metric.value(*b);
    return metric.more_is_better ? difference > 0 : difference < 0;
  });
  Text text;
  for (const Outcome* o : order) {
    const Text printed = print(metric, metric.value(*o));
    const bool first = o == order.front();
    const Text apart = first ? Text{} : distance(metric, *o, *order.front());
    text.en += fmt::format("{}{} {}{}", first ? "" : "; ", o->name, printed.en, apart.en);
    text.zh += fmt::format("{}{} {}{}", first ? "" : "；", o->name, printed.zh, apart.zh);
  }
  return text;
}

/// Nothing when the metric does not exist here (no second node, no jitter): all values are zero.
void push_metric(const Metric& metric, const std::vector<Outcome>& outcomes,
                 std::vector<Reason>& reasons) {
  Reason reason;
  reason.metric = metric.key;
  bool any = false;
  for (const Outcome& o : outcomes) {
    reason.values[o.name] = metric.value(o);
    any = any || metric.value(o) != 0;
  }
  if (!any) return;
  const Text text = ranking(metric, outcomes);
  reason.text = fmt::format("{}: {}.", metric.label.en, text.en);
  reason.text_zh = fmt::format("{}：{}。", metric.label.zh, text.zh);
  reasons.push_back(std::move(reason));
}

/// Which of several level outcomes is named, and why.
Text level_words(const scenario::ValidScenario& scenario, const std::vector<Outcome>& outcomes,
                 const Evidence& evidence) {
  const Outcome& best = outcomes[evidence.best];
  double error = 0;
  bool cheaper = false;
  for (const std::size_t i : evidence.level) {
    error = std::max(error, cost_error(best, outcomes[i]));
    cheaper = cheaper || best.cost.network_capex < outcomes[i].cost.network_capex;
  }
  const std::string names = list_of(outcomes, evidence.level);
  const std::string percent = fmt::format("{:.1f}", 100 * error);
  const Text what = scenario.objective == scenario::Objective::kFastest ? Text{"time", "用时"}
                    : scenario.objective == scenario::Objective::kCheapest
                        ? Text{"purchase price", "购置价"}
                        : Text{"cost per million tokens", "每百万 token 成本"};
  return {fmt::format("{} differ by less than {} % in {}, which is no difference; {} is named "
                      "because {}.",
                      names, percent, what.en, best.name,
                      cheaper ? "its network is the cheaper one" : "one has to be"),
          fmt::format("{} 的{}相差不到 {}%，视为相同；列出 {} {}。", names, what.zh, percent,
                      best.name, cheaper ? "是因为其网络更便宜" : "只因须列其一")};
}

Text choice_words(const scenario::ValidScenario& scenario, const std::vector<Outcome>& outcomes,
                  const Evidence& evidence) {
  const Outcome& best = outcomes[evidence.best];
  if (outcomes.size() == 1) {
    return {fmt::format("{} is the only fabric of this scenario; there is nothing to compare.",
                        best.name),
            fmt::format("本方案只有 {} 一种网络，无从比较。", best.name)};
  }
  if (evidence.nothing_fits) {
    const std::string price = money(best.cost.capex, best.cost.currency);
    const std::string budget = money(scenario.budget->total, best.cost.currency);
    return {fmt::format("No fabric is within the budget of {}; {} comes nearest at {}.", budget,
                        best.name, price),
            fmt::format("没有网络在 {} 的预算之内；{} 最接近，为 {}。", budget, best.name, price)};
  }
  if (evidence.unmet && !best.serving) {
    const std::string days = number(scenario.constraints.max_days);
    return {fmt::format("No fabric is done within {} days; {} comes nearest with {}.", days,
                        best.name, number(best.training.days)),
            fmt::format("没有网络能在 {} 天内完成；{} 最接近，为 {} 天。", days, best.name,
                        number(best.training.days))};
  }
  if (evidence.unmet && scenario.objective == scenario::Objective::kCheapest) {
    const std::string offered = number(best.serving->offered_qps);
    return {fmt::format("No fabric answers the {} requests/s that are offered within the SLO; {} "
                        "comes nearest with {}.",
                        offered, best.name, number(best.serving->slo_qps.value)),
            fmt::format("没有网络能在 SLO 之内应答每秒 {} 个请求；{} 最接近，为 {}。", offered,
                        best.name, number(best.serving->slo_qps.value))};
  }
  if (evidence.unmet) {
    return {
        fmt::format("No fabric meets the SLO at any rate; {} costs least for what it sustains.",
                    best.name),
        fmt::format("没有网络能在任何速率下满足 SLO；按可持续速率计，{} 成本最低。", best.name)};
  }
  if (evidence.one_node) {
    return {
        fmt::format("The job stays inside one node and never uses the network. What differs is "
                    "the price of adapters and switches that it can do without; those of {} "
                    "cost least, should the cluster grow.",
                    best.name),
        fmt::format("任务全在一个节点之内，用不到网络。差别只在它并不需要的网卡与交换机的价格；若"
                    "集群日后扩展，{} 的最便宜。",
                    best.name)};
  }
  if (evidence.undecided()) return level_words(scenario, outcomes, evidence);
  switch (scenario.objective) {
    case scenario::Objective::kCheapest:
      return {fmt::format("{} costs least to buy of what does the work as asked.", best.name),
              fmt::format("在满足要求的方案中，{} 购置价最低。", best.name)};
    case scenario::Objective::kFastest:
      return {fmt::format("{} does the work in the shortest time.", best.name),
              fmt::format("{} 完成同样工作用时最短。", best.name)};
    case scenario::Objective::kValue:
      break;
  }
  return {fmt::format("{} does the work at the lowest cost.", best.name),
          fmt::format("{} 完成同样工作的成本最低。", best.name)};
}

/// That the objective goes by.
const char* metric_of(scenario::Objective objective, const std::vector<Outcome>& outcomes) {
  switch (objective) {
    case scenario::Objective::kValue:
      return "cost.per_million_tokens";
    case scenario::Objective::kCheapest:
      return "cost.capex";
    case scenario::Objective::kFastest:
      return outcomes.front().serving ? "serving.slo_qps" : "training.days";
  }
  return "";
}

Reason choice_reason(const scenario::ValidScenario& scenario, const std::vector<Outcome>& outcomes,
                     const Evidence& evidence) {
  Reason reason;
  reason.metric = evidence.nothing_fits ? "cost.capex" : metric_of(scenario.objective, outcomes);
  reason.values = evidence.verdict.score;
  if (evidence.nothing_fits) {
    for (const Outcome& o : outcomes) reason.values[o.name] = o.cost.capex;
  }
  Text words = choice_words(scenario, outcomes, evidence);
  reason.text = std::move(words.en);
  reason.text_zh = std::move(words.zh);
  return reason;
}

void push_budget(const scenario::ValidScenario& scenario, const std::vector<Outcome>& outcomes,
                 const Evidence& evidence, std::vector<Reason>& reasons) {
  if (!scenario.budget) return;
  Reason reason;
  reason.metric = "cost.capex";
  for (const Outcome& o : outcomes) reason.values[o.name] = o.cost.capex;
  const std::string& currency = outcomes.front().cost.currency;
  if (scenario.budget->currency != currency) {
    reason.text = fmt::format("The budget is in {}, the costs are in {}: it was not applied.",
                              scenario.budget->currency, currency);
    reason.text_zh = fmt::format("预算以 {} 计，成本以 {} 计：预算未参与比较。",
                                 scenario.budget->currency, currency);
    reasons.push_back(std::move(reason));
    return;
  }
  if (evidence.over_budget.empty() || evidence.nothing_fits) return;
  std::string prices;
  for (const std::size_t i : evidence.over_budget) {
    prices += fmt::format("{}{} {}", prices.empty() ? "" : ", ", outcomes[i].name,
                          money(outcomes[i].cost.capex, currency));
  }
  const std::string budget = money(scenario.budget->total, currency);
  reason.text = fmt::format("Over the budget of {} and left out: {}.", budget, prices);
  reason.text_zh = fmt::format("超出 {} 的预算而排除：{}。", budget, prices);
  // What was left out has to be read before the choice among the others.
  reasons.insert(reasons.begin(), std::move(reason));
}

/// The outcome that the house's choice stands for: of its kind the one that does the work for
/// least.
const Outcome* house_outcome(const std::vector<Outcome>& outcomes, const HouseVerdict& house) {
  const Outcome* found = nullptr;
  for (const Outcome& o : outcomes) {
    if (catalog::name_of(o.kind) != house.choice) continue;
    if (!found || o.cost.per_million_tokens < found->cost.per_million_tokens) found = &o;
  }
  return found;
}

/// "5.0 % shorter", "as long".
Text change(double a, double b, double error, const Text& less, const Text& more,
            const Text& same) {
  if (b <= 0 || level(a, b, error)) return same;
  const std::string percent = fmt::format("{:.1f}", 100 * std::abs(a - b) / b);
  if (percent == "0.0") return same;
  const Text& words = a < b ? less : more;
  return {percent + " % " + words.en, words.zh + " " + percent + "%"};
}

/// Where the two voices part, in the two factors of the score: hours, and cost of an hour.
Reason disagreement(const Outcome& chosen, const Outcome& house) {
  const Text run = change(pace_of(house), pace_of(chosen), time_error(house, chosen),
                          {"shorter", "短"}, {"longer", "长"}, {"as long", "相同"});
  const Text hour = change(house.cost.per_hour, chosen.cost.per_hour, kSameCost, {"cheaper", "低"},
                           {"dearer", "高"}, {"as dear", "相同"});
  Reason reason;
  reason.metric = "cost.per_hour";
  reason.values = {{chosen.name, chosen.cost.per_hour}, {house.name, house.cost.per_hour}};
  reason.text = fmt::format(
      "The voices part: with {}, the house's choice, {} is {} and an hour {}, against {}; the "
      "house weighs speed by the size of the cluster, the evidence weighs the two against each "
      "other.",
      house.name, chosen.serving ? "the time per request" : "the run", run.en, hour.en,
      chosen.name);
  reason.text_zh = fmt::format(
      "两种意见不同：与 {} 相比，规则所选的 {} {}{}，每小时成本{}；规则按集群规模看重速度，证据则"
      "将二者相权。",
      chosen.name, house.name, chosen.serving ? "每请求用时" : "用时", run.zh, hour.zh);
  return reason;
}

bool contains(const std::vector<std::size_t>& some, const std::vector<Outcome>& outcomes,
              const Outcome& outcome) {
  return std::ranges::any_of(some, [&](std::size_t i) { return &outcomes[i] == &outcome; });
}

Reason house_reason(Text text) {
  Reason reason;
  reason.metric = "house";
  reason.text = std::move(text.en);
  reason.text_zh = std::move(text.zh);
  return reason;
}

void push_house(const std::vector<Outcome>& outcomes, const Evidence& evidence,
                const HouseVerdict& house, std::vector<Reason>& reasons) {
  if (house.rules.empty()) return;
  const HouseRule& rule = house.rules.front();
  reasons.push_back(house_reason(
      {fmt::format("House rule {} chooses {}: {}", rule.place, house.choice, rule.text),
       fmt::format("规则 {} 选 {}：{}", rule.place, house.choice, rule.text_zh)}));
  const Outcome& chosen = outcomes[evidence.best];
  const Outcome* alternative = house_outcome(outcomes, house);
  if (!alternative) {
    reasons.push_back(house_reason(
        {fmt::format("The house's choice, {}, is not among the compared fabrics.", house.choice),
         fmt::format("规则所选的 {} 不在比较之列。", house.choice)}));
  } else if (evidence.one_node || catalog::name_of(chosen.kind) == house.choice) {
    // Nothing to part over.
  } else if (evidence.undecided() && contains(evidence.level, outcomes, *alternative)) {
    reasons.push_back(house_reason(
        {fmt::format("The voices do not part: {}, the house's choice, is among the level.",
                     alternative->name),
         fmt::format("两种意见并无不同：规则所选的 {} 也在持平之列。", alternative->name)}));
  } else {
    reasons.push_back(disagreement(chosen, *alternative));
  }
  if (rule.challenge.en.empty()) return;
  reasons.push_back(house_reason(
      {fmt::format("Public evidence against that rule: {} [{}]", rule.challenge.en,
                   rule.challenge_source),
       fmt::format("与该规则相左的公开证据：{} [{}]", rule.challenge.zh, rule.challenge_source)}));
}

}  // namespace

std::vector<Reason> explain(const scenario::ValidScenario& scenario,
                            const std::vector<Outcome>& outcomes, const Evidence& evidence,
                            const HouseVerdict& house) {
  std::vector<Reason> reasons{choice_reason(scenario, outcomes, evidence)};
  push_budget(scenario, outcomes, evidence, reasons);
  for (const Metric& metric : metrics(outcomes)) {
    push_metric(metric, outcomes, reasons);
  }
  push_house(outcomes, evidence, house, reasons);
  return reasons;
}

}  // namespace fabricast::advice
