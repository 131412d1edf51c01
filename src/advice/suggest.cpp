#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "advice/evidence.h"
#include "advice/tuning.h"

namespace fabricast::advice {

namespace {

const scenario::FabricChoice* choice_of(const scenario::ValidScenario& scenario,
                                        const Outcome& outcome) {
  for (const scenario::FabricChoice& choice : scenario.fabrics) {
    if (choice.profile.name == outcome.name) return &choice;
  }
  return nullptr;
}

/// A name that no fabric of the scenario has.
std::string fresh_name(const scenario::ValidScenario& scenario, const std::string& wanted) {
  const auto taken = [&](const std::string& name) {
    return std::ranges::any_of(scenario.fabrics, [&](const scenario::FabricChoice& choice) {
      return choice.profile.name == name;
    });
  };
  std::string name = wanted;
  for (int i = 2; taken(name); ++i) name = fmt::format("{}-{}", wanted, i);
  return name;
}

Suggestion second_fabric(const scenario::ValidScenario& scenario, const Outcome& only) {
  const bool ib = only.kind == catalog::FabricKind::kInfiniBand;
  const char* other = ib ? "roce-v2" : "infiniband";
  return {
      .text = {fmt::format("Add `{}` to `fabrics` in {} and compare again.", other, scenario.file),
               fmt::format("在 {} 的 `fabrics` 中加入 `{}` 再比较一次。", scenario.file, other)},
      .yaml = {}};
}

Suggestion more_gpus(const scenario::ValidScenario& scenario, int gpus, const Text& what) {
  return {.text = {fmt::format("{}: write `gpus: {}` in {} (with a `parallelism` for as many, or "
                               "`auto`) and compare again.",
                               what.en, gpus, scenario.file),
                   fmt::format("{}：在 {} 中写 `gpus: {}`（`parallelism` 相应改动，或用 `auto`），"
                               "再比较一次。",
                               what.zh, scenario.file, gpus)},
          .yaml = {}};
}

/// Tuning for an outcome that has not got it, while its run is longer than the shortest by more
/// than the error, and nobody has tried it.
std::optional<catalog::FabricProfile> untried_tuning(const scenario::ValidScenario& scenario,
                                                     const std::vector<Outcome>& outcomes,
                                                     const catalog::Catalog& catalog,
                                                     const Outcome& outcome) {
  const scenario::FabricChoice* choice = choice_of(scenario, outcome);
  if (!choice || outcome.kind != catalog::FabricKind::kRoceV2) return std::nullopt;
  const Outcome& fastest =
      *std::ranges::min_element(outcomes, {}, [](const Outcome& o) { return pace_of(o); });
  if (level(pace_of(outcome), pace_of(fastest), time_error(outcome, fastest))) {
    return std::nullopt;
  }
  catalog::FabricProfile better = tuned(catalog, choice->profile);
  for (const scenario::FabricChoice& other : scenario.fabrics) {
    if (same_fabric(other.profile, better)) return std::nullopt;
  }
  better.name = fresh_name(scenario, outcome.name + "-tuned");
  return better;
}

Suggestion tuning(const scenario::ValidScenario& scenario, const catalog::Catalog& catalog,
                  const Outcome& outcome, const catalog::FabricProfile& better) {
  std::vector<catalog::FabricProfile> profiles;
  for (const scenario::FabricChoice& choice : scenario.fabrics) {
    profiles.push_back(choice.profile);
    if (choice.profile.name == outcome.name) profiles.push_back(better);
  }
  return {
      .text = {fmt::format("See how much of the gap of {} is tuning, on the same hardware: in {} "
                           "let `fabrics` read as below and compare again.",
                           outcome.name, scenario.file),
               fmt::format("看 {} 的差距中有多少来自调优（硬件不变）：把 {} 的 `fabrics` 改成如下，"
                           "再比较一次。",
                           outcome.name, scenario.file)},
      .yaml = fabrics_yaml(catalog, profiles)};
}

Suggestion sources(const scenario::ValidScenario& scenario, const Outcome& best) {
  const scenario::FabricChoice* choice = choice_of(scenario, best);
  const std::string profile = choice ? choice->profile.id : std::string();
  return {.text = {fmt::format("See what {} assumes, value by value with sources: `fabricast "
                               "catalog fabrics {}`.",
                               best.name, profile),
                   fmt::format("逐项查看 {} 的参数及来源：`fabricast catalog fabrics {}`。",
                               best.name, profile)},
          .yaml = {}};
}

}  // namespace

Suggestion suggest(const scenario::ValidScenario& scenario, const std::vector<Outcome>& outcomes,
                   const Evidence& evidence, const catalog::Catalog* catalog) {
  if (outcomes.size() == 1) return second_fabric(scenario, outcomes.front());
  if (evidence.one_node) {
    return more_gpus(scenario, 2 * scenario.cluster.gpus,
                     {"See what a network is worth once there is a second node",
                      "看有了第二个节点时网络值多少"});
  }
  for (const Outcome& o : outcomes) {
    if (!catalog) break;
    const auto better = untried_tuning(scenario, outcomes, *catalog, o);
    if (better) return tuning(scenario, *catalog, o, *better);
  }
  const int growth = scenario.constraints.growth_gpus;
  if (growth > scenario.cluster.gpus) {
    return more_gpus(
        scenario, growth,
        {"See whether the choice holds at the size to grow to", "看扩展到目标规模后选择是否不变"});
  }
  return sources(scenario, outcomes[evidence.best]);
}

}  // namespace fabricast::advice
