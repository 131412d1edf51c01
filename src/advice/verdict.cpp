#include "advice/evidence.h"

namespace fabricast::advice {

Verdict verdict(const scenario::ValidScenario& scenario, const std::vector<Outcome>& outcomes,
                const HouseVerdict& house, const catalog::Catalog* catalog) {
  Evidence evidence = weigh(scenario, outcomes);
  evidence.verdict.headline = headline(scenario, outcomes, evidence);
  const Suggestion next = suggest(scenario, outcomes, evidence, catalog);
  return {.choice = evidence.verdict.choice,
          .house = house,
          .evidence = evidence.verdict,
          .reasons = explain(scenario, outcomes, evidence, house),
          .flips = find_flips(scenario, outcomes, evidence, catalog),
          .next = next.text.en,
          .next_zh = next.text.zh,
          .next_yaml = next.yaml};
}

}  // namespace fabricast::advice
