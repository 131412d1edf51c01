#include <fmt/format.h>

#include "advice/evidence.h"
#include "advice/words.h"

namespace fabricast::advice {

namespace {

Text within_the_budget(const scenario::ValidScenario& scenario,
                       const std::vector<Outcome>& outcomes, const Evidence& evidence) {
  const std::string& choice = outcomes[evidence.best].name;
  if (outcomes.size() == 1) return {"The evidence: " + choice, "证据：" + choice};
  if (evidence.unmet && outcomes.front().serving) {
    return {"The evidence: no fabric meets the SLO; nearest: " + choice,
            "证据：没有网络满足 SLO；最接近的是：" + choice};
  }
  if (evidence.unmet) {
    const std::string days = base::number(scenario.constraints.max_days);
    return {
        fmt::format("The evidence: no fabric is done within {} days; nearest: {}", days, choice),
        fmt::format("证据：没有网络能在 {} 天内完成；最接近的是：{}", days, choice)};
  }
  if (evidence.one_node) {
    return {"The evidence: no network between nodes is needed, all fabrics do equally",
            "证据：无需节点间网络，各种网络效果相同"};
  }
  if (evidence.undecided()) {
    const std::string names = list_of(outcomes, evidence.level);
    return {"The evidence: level within the error of the run: " + names,
            "证据：在本次运行的误差之内不分高下：" + names};
  }
  return {"The evidence chooses: " + choice, "证据的选择：" + choice};
}

}  // namespace

Text headline(const scenario::ValidScenario& scenario, const std::vector<Outcome>& outcomes,
              const Evidence& evidence) {
  if (evidence.over_budget.empty()) return within_the_budget(scenario, outcomes, evidence);
  const Outcome& best = outcomes[evidence.best];
  const std::string budget = money(scenario.budget->total, scenario.budget->currency);
  if (evidence.nothing_fits) {
    return {fmt::format("The evidence: every fabric is over the budget of {}; nearest: {}", budget,
                        best.name),
            fmt::format("证据：各种网络都超出 {} 的预算；最接近的是：{}", budget, best.name)};
  }
  const Text text = within_the_budget(scenario, outcomes, evidence);
  const std::string names = list_of(outcomes, evidence.over_budget);
  return {fmt::format("{}; over the budget of {}: {}", text.en, budget, names),
          fmt::format("{}；超出 {} 的预算：{}", text.zh, budget, names)};
}

}  // namespace fabricast::advice
