#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "advice/evidence.h"
#include "advice/words.h"

namespace fabricast::advice {

namespace {

using base::number;

/// A metric that reasons are tied to.
struct Metric {
  std::string key;
  Text label;
  std::function<double(const Outcome&)> value;
  std::function<Text(double)> print;
  bool more_is_better = false;
};

std::function<Text(double)> with_unit(const std::string& unit) {
  return [unit](double x) {
    const std::string text = number(x) + unit;
    return Text{text, text};
  };
}

std::vector<Metric> metrics(const std::vector<Outcome>& outcomes) {
  const std::string currency = " " + outcomes.front().cost.currency;
  const RunUnit unit = run_unit(outcomes);
  return {
      {"cost.per_million_tokens",
       {"Cost of a million tokens", "每百万 token 成本"},
       [](const Outcome& o) { return o.cost.per_million_tokens; },
       with_unit(currency)},
      {"training.days",
       {"Length of the run", "训练用时"},
       [](const Outcome& o) { return o.training.days; },
       [unit](double days) { return duration(days, unit); }},
      {"training.gpu_utilisation_pct",
       {"GPUs computing", "GPU 利用率"},
       [](const Outcome& o) { return o.training.gpu_utilisation_pct; },
       with_unit(" %"),
       true},
      {"cost.network_capex",
       {"Price of the network", "网络造价"},
       [](const Outcome& o) { return o.cost.network_capex; },
       with_unit(currency)},
      {"training.jitter_pct",
       {"Jitter of the step time", "步时抖动"},
       [](const Outcome& o) { return o.training.jitter_pct; },
       with_unit(" %")},
      {"network.latency_us",
       {"Latency between nodes", "节点间延迟"},
       [](const Outcome& o) { return o.network.latency_us; },
       with_unit(" us")},
  };
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
  const double best = metric.value(*order.front());
  for (const Outcome* o : order) {
    const double value = metric.value(*o);
    const Text printed = metric.print(value);
    std::string distance;
    if (o != order.front() && best > 0) {
      distance = fmt::format(" ({:+.1f} %)", 100 * (value - best) / best);
    }
    const bool first = o == order.front();
    text.en += fmt::format("{}{} {}{}", first ? "" : "; ", o->name, printed.en, distance);
    text.zh += fmt::format("{}{} {}{}", first ? "" : "；", o->name, printed.zh, distance);
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

Reason choice_reason(const std::vector<Outcome>& outcomes, const Evidence& evidence) {
  const Outcome& best = outcomes[evidence.best];
  Reason reason;
  reason.metric = "cost.per_million_tokens";
  reason.values = evidence.verdict.score;
  if (outcomes.size() == 1) {
    reason.text = fmt::format(
        "{} is the only fabric of this scenario; there is nothing to compare.", best.name);
    reason.text_zh = fmt::format("本方案只有 {} 一种网络，无从比较。", best.name);
  } else if (evidence.nothing_fits) {
    reason.metric = "cost.capex";
    for (const Outcome& o : outcomes) reason.values[o.name] = o.cost.capex;
    reason.text = fmt::format("No fabric is within the budget; {} comes nearest at {} {}.",
                              best.name, number(best.cost.capex), best.cost.currency);
    reason.text_zh = fmt::format("没有网络在预算之内；{} 最接近，为 {} {}。", best.name,
                                 number(best.cost.capex), best.cost.currency);
  } else if (evidence.best != evidence.cheapest_work) {
    const Outcome& level = outcomes[evidence.cheapest_work];
    reason.text = fmt::format(
        "{} and {} differ by less than {:.0f} % in cost per million tokens, which is no "
        "difference; "
        "{} has the cheaper network.",
        best.name, level.name, 100 * kTie, best.name);
    reason.text_zh =
        fmt::format("{} 与 {} 的每百万 token 成本相差不到 {:.0f}%，视为相同；{} 的网络更便宜。",
                    best.name, level.name, 100 * kTie, best.name);
  } else {
    reason.text = fmt::format("{} does the work at the lowest cost.", best.name);
    reason.text_zh = fmt::format("{} 完成同样工作的成本最低。", best.name);
  }
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
  std::string names;
  for (const std::size_t i : evidence.over_budget) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", outcomes[i].name);
  }
  reason.text = fmt::format("Over the budget of {} {} and left out: {}.",
                            number(scenario.budget->total), currency, names);
  reason.text_zh =
      fmt::format("超出 {} {} 的预算而排除：{}。", number(scenario.budget->total), currency, names);
  reasons.push_back(std::move(reason));
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

double percent_more(double a, double b) {
  return b > 0 ? 100 * (a - b) / b : 0;
}

/// Where the two voices part, in the two factors of the score: hours, and cost of an hour.
Reason disagreement(const Outcome& chosen, const Outcome& house) {
  const double longer = percent_more(house.training.days, chosen.training.days);
  const double dearer = percent_more(house.cost.per_hour, chosen.cost.per_hour);
  Reason reason;
  reason.metric = "cost.per_hour";
  reason.values = {{chosen.name, chosen.cost.per_hour}, {house.name, house.cost.per_hour}};
  reason.text = fmt::format(
      "The voices part: {}, the house's choice, changes the length of the run by {:+.1f} % against "
      "{} "
      "and the cost of an hour by {:+.1f} %; the house weighs speed by the size of the cluster, "
      "the "
      "evidence weighs the two against each other.",
      house.name, longer, chosen.name, dearer);
  reason.text_zh = fmt::format(
      "两种意见不同：与 {} 相比，规则所选的 {} 使用时变化 {:+.1f}%，每小时成本变化 "
      "{:+.1f}%；规则按集群规模"
      "看重速度，证据则将二者相权。",
      chosen.name, house.name, longer, dearer);
  return reason;
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
  } else if (catalog::name_of(chosen.kind) != house.choice) {
    reasons.push_back(disagreement(chosen, *alternative));
  }
  if (rule.challenge.en.empty()) return;
  reasons.push_back(house_reason(
      {fmt::format("Public evidence against that rule: {} [{}]", rule.challenge.en,
                   rule.challenge_source),
       fmt::format("与该规则相左的公开证据：{} [{}]", rule.challenge.zh, rule.challenge_source)}));
}

/// The catalogue profile of an outcome; empty when the scenario does not list it.
std::string profile_of(const scenario::ValidScenario& scenario, const Outcome& outcome) {
  for (const scenario::FabricChoice& choice : scenario.fabrics) {
    if (choice.profile.name == outcome.name) return choice.profile.id;
  }
  return {};
}

}  // namespace

std::vector<Reason> explain(const scenario::ValidScenario& scenario,
                            const std::vector<Outcome>& outcomes, const Evidence& evidence,
                            const HouseVerdict& house) {
  std::vector<Reason> reasons{choice_reason(outcomes, evidence)};
  push_budget(scenario, outcomes, evidence, reasons);
  for (const Metric& metric : metrics(outcomes)) {
    push_metric(metric, outcomes, reasons);
  }
  push_house(outcomes, evidence, house, reasons);
  return reasons;
}

Text suggest(const scenario::ValidScenario& scenario, const std::vector<Outcome>& outcomes,
             const Evidence& evidence) {
  if (outcomes.size() == 1) {
    const bool ib = outcomes.front().kind == catalog::FabricKind::kInfiniBand;
    const char* other = ib ? "roce-v2" : "infiniband";
    return {fmt::format("Add `{}` to `fabrics` in {} and compare again.", other, scenario.file),
            fmt::format("在 {} 的 `fabrics` 中加入 `{}` 再比较一次。", scenario.file, other)};
  }
  for (const Outcome& o : outcomes) {
    const std::string profile = profile_of(scenario, o);
    if (profile != "article-roce-v2" && profile != "roce-v2-untuned") continue;
    return {
        fmt::format("See how much of the gap is tuning: in {} write `- {{profile: roce-v2, name: "
                    "roce-v2-tuned}}` beside `{}` and run `fabricast compare` again.",
                    scenario.file, profile),
        fmt::format("看差距中有多少来自调优：在 {} 的 `{}` 旁加一行 `- {{profile: roce-v2, name: "
                    "roce-v2-tuned}}`，再运行 `fabricast compare`。",
                    scenario.file, profile)};
  }
  const std::string profile = profile_of(scenario, outcomes[evidence.best]);
  return {
      fmt::format("See what {} assumes, value by value with sources: `fabricast catalog fabrics "
                  "{}`.",
                  outcomes[evidence.best].name, profile),
      fmt::format("逐项查看 {} 的参数及来源：`fabricast catalog fabrics {}`。",
                  outcomes[evidence.best].name, profile)};
}

}  // namespace fabricast::advice
