// The selection report: every network that could be built, what each does and costs, and which to
// choose. From a scenario, or from flags alone.

#include "report/advise.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "advice/evidence.h"
#include "answers.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "commands.h"
#include "comparison.h"
#include "wishes.h"

namespace fabricast::apps {
namespace {

// Of what a service is judged by in earnest: enough to tell designs apart.
constexpr double kSearchEffort = 0.1;
constexpr int kSearchStates = 4;
// Sizes that the work is tried at, in multiples of the cluster's.
constexpr double kSizes[] = {0.25, 0.5, 1, 2, 4};

using report::DesignReport;

/// Simulates designs one by one, or many at once.
class Bench {
 public:
  Bench(const Knowledge& known, const CommonFlags& flags)
      : known_(known), flags_(flags), store_(open_store(flags)), lessons_(store_.get()) {}

  std::optional<advice::Outcome> outcome(const scenario::ValidScenario& scenario, bool flow,
                                         int threads) {
    ComparisonOptions options;
    options.threads = threads;
    options.resolution = flow ? Resolution::kFlow : flags_.resolution;
    options.quiet = true;
    options.lessons = &lessons_;
    options.effort = flow ? kSearchEffort : 1;
    if (flow) options.states = kSearchStates;
    const Design design = design_of(known_.catalog, scenario, 0, true, &lessons_);
    return evaluate(known_.catalog, scenario, design, phases_, options);
  }

  int threads() const { return threads_of(flags_); }
  const Knowledge& known() const { return known_; }

 private:
  const Knowledge& known_;
  const CommonFlags& flags_;
  std::unique_ptr<store::Store> store_;
  Lessons lessons_;
  network::PhaseCache phases_;
};

/// Simulates all of them in flows, several at a time.
void simulate(Bench& bench, std::vector<DesignReport>& designs, base::Progress& progress) {
  std::vector<std::size_t> feasible;
  for (std::size_t i = 0; i < designs.size(); ++i) {
    if (designs[i].candidate.scenario) feasible.push_back(i);
  }
  progress.next("designs", feasible.size());
  base::parallel_for(feasible.size(), bench.threads(), [&](std::size_t i) {
    DesignReport& design = designs[feasible[i]];
    design.outcome = bench.outcome(*design.candidate.scenario, true, 1);
    design.outcome->name = design.candidate.name;
    progress.advance(1);
  });
}

std::vector<advice::Outcome> outcomes_of(const std::vector<DesignReport>& designs) {
  std::vector<advice::Outcome> outcomes;
  for (const DesignReport& design : designs) {
    if (design.outcome) outcomes.push_back(*design.outcome);
  }
  return outcomes;
}

/// Best first; then what cannot be built, in the order of the search.
void sort(const scenario::ValidScenario& asked, std::vector<DesignReport>& designs) {
  std::ranges::stable_sort(designs, [&](const DesignReport& a, const DesignReport& b) {
    if (a.outcome.has_value() != b.outcome.has_value()) return a.outcome.has_value();
    if (!a.outcome) return false;
    const bool a_does = advice::qualifies(asked, *a.outcome);
    const bool b_does = advice::qualifies(asked, *b.outcome);
    if (a_does != b_does) return a_does;
    return advice::criterion(asked.objective, *a.outcome) <
           advice::criterion(asked.objective, *b.outcome);
  });
}

/// Nothing costs less and is as quick.
void mark_pareto(std::vector<DesignReport>& designs) {
  for (DesignReport& design : designs) {
    if (!design.outcome) continue;
    design.pareto = std::ranges::none_of(designs, [&](const DesignReport& other) {
      if (!other.outcome || &other == &design) return false;
      const double money = other.outcome->cost.capex - design.outcome->cost.capex;
      const double pace = advice::pace_of(*other.outcome) - advice::pace_of(*design.outcome);
      return money <= 0 && pace <= 0 && (money < 0 || pace < 0);
    });
  }
}

void assess(std::vector<DesignReport>& designs) {
  advice::Yardstick yardstick;
  for (const DesignReport& design : designs) {
    if (!design.outcome) continue;
    const double cost = advice::score_of(*design.outcome);
    const double pace = advice::pace_of(*design.outcome);
    if (yardstick.cost == 0 || cost < yardstick.cost) yardstick.cost = cost;
    if (yardstick.pace == 0 || pace < yardstick.pace) yardstick.pace = pace;
  }
  for (DesignReport& design : designs) {
    if (!design.outcome) continue;
    design.assessment = advice::assess(
        *design.outcome, design.candidate.scenario->fabrics.front().topology, yardstick);
  }
}

/// The best design of each kind of fabric, in the order of the kinds.
std::vector<std::size_t> finalists(const scenario::ValidScenario& asked,
                                   const std::vector<DesignReport>& designs) {
  std::vector<std::size_t> result;
  for (const catalog::FabricKind kind :
       {catalog::FabricKind::kInfiniBand, catalog::FabricKind::kRoceV2,
        catalog::FabricKind::kRoceV1, catalog::FabricKind::kTcp}) {
    std::vector<advice::Outcome> outcomes;
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < designs.size(); ++i) {
      if (!designs[i].outcome || designs[i].candidate.kind != kind) continue;
      outcomes.push_back(*designs[i].outcome);
      numbers.push_back(i);
    }
    if (!outcomes.empty()) result.push_back(numbers[advice::weigh(asked, outcomes).best]);
  }
  return result;
}

/// The scenario of the finalists side by side, each under the name of its kind.
scenario::ValidScenario side_by_side(const scenario::ValidScenario& asked,
                                     const std::vector<DesignReport>& designs,
                                     const std::vector<std::size_t>& numbers) {
  scenario::ValidScenario scenario = asked;
  scenario.fabrics.clear();
  for (const std::size_t i : numbers) {
    scenario::FabricChoice choice = designs[i].candidate.scenario->fabrics.front();
    choice.profile.name = catalog::name_of(choice.profile.kind);
    scenario.fabrics.push_back(std::move(choice));
  }
  return scenario;
}

/// One RoCE v2 network from as it comes to as it can be, on the hardware of the best of its kind.
std::vector<report::TuningStep> tuning(Bench& bench, const DesignReport& design) {
  struct Step {
    const char* name;
    advice::Text text;
    std::function<void(catalog::FabricProfile&, const catalog::FabricProfile&)> apply;
  };
  const catalog::FabricProfile& untuned = bench.known().catalog.fabric("roce-v2-untuned");
  const catalog::FabricProfile& tuned = bench.known().catalog.fabric("roce-v2");
  const catalog::FabricProfile& adaptive = bench.known().catalog.fabric("roce-v2-adaptive");
  const std::vector<Step> steps = {
      {"as it comes",
       {"one queue pair per connection, late ECN, a small share of the buffer before PFC",
        "每连接一个队列对，ECN 触发晚，PFC 前可用缓存少"},
       [](auto&, const auto&) {}},
      {"PFC",
       {"a larger share of the buffer before PFC pauses", "提高 PFC 触发前的缓存份额"},
       [](auto& p, const auto& t) { p.pfc = t.pfc; }},
      {"ECN and DCQCN",
       {"ECN marks earlier, rates follow", "更早打 ECN 标记，速率随之调整"},
       [](auto& p, const auto& t) {
         p.ecn = t.ecn;
         p.dcqcn = t.dcqcn;
       }},
      {"queue pairs",
       {"several queue pairs per connection, spread by ECMP", "每连接多个队列对，由 ECMP 分散"},
       [](auto& p, const auto& t) { p.paths.qps_per_connection = t.paths.qps_per_connection; }},
      {"adaptive routing",
       {"switches choose a path per packet, adapters put packets in order",
        "交换机逐包选路，网卡恢复顺序"},
       [&](auto& p, const auto&) {
         p.paths = adaptive.paths;
         p.transport.recovery = adaptive.transport.recovery;
       }}};
  std::vector<report::TuningStep> result;
  scenario::ValidScenario scenario = *design.candidate.scenario;
  scenario::FabricChoice& choice = scenario.fabrics.front();
  catalog::FabricProfile profile = choice.profile;
  profile.paths = untuned.paths;
  profile.pfc.alpha = untuned.pfc.alpha;
  profile.ecn = untuned.ecn;
  profile.dcqcn = untuned.dcqcn;
  profile.transport.recovery = untuned.transport.recovery;
  for (const Step& step : steps) {
    step.apply(profile, tuned);
    if (profile.paths.routing == catalog::Routing::kAdaptive &&
        !choice.network_switch.adaptive_routing) {
      continue;
    }
    choice.profile = profile;
    choice.profile.name = step.name;
    report::TuningStep done;
    done.name = step.name;
    done.text = step.text;
    done.outcome = *bench.outcome(scenario, true, 1);
    if (!result.empty()) {
      const double before = advice::pace_of(result.back().outcome);
      done.gain_pct = 100 * (advice::pace_of(done.outcome) / before - 1);
    }
    result.push_back(std::move(done));
  }
  return result;
}

/// The same work on fewer and on more GPUs, on networks like the finalists'.
report::Scaling scaling(Bench& bench, const advice::SearchSpace& space,
                        const scenario::ValidScenario& asked,
                        const std::vector<DesignReport>& designs,
                        const std::vector<std::size_t>& numbers) {
  report::Scaling result;
  const int per_node = asked.cluster.topology.gpus_per_node;
  for (const double size : kSizes) {
    const int gpus = static_cast<int>(asked.cluster.gpus * size);
    if (gpus >= per_node && gpus % per_node == 0) result.gpus.push_back(gpus);
  }
  if (result.gpus.size() < 2) return {};
  for (const std::size_t i : numbers) {
    report::Scaling::Series series;
    series.name = catalog::name_of(designs[i].candidate.kind);
    for (const int gpus : result.gpus) {
      series.values.push_back(std::nullopt);
      const auto sized = resized(designs[i].candidate.document, gpus);
      try {
        const scenario::ValidScenario scenario =
            scenario::from_document(sized, space.file, bench.known().catalog, space.overrides);
        scenario::require_simulated(scenario);
        const auto outcome = bench.outcome(scenario, true, bench.threads());
        series.values.back() = outcome->serving ? outcome->serving->capacity_qps.value
                                                : outcome->training.tokens_per_s;
      } catch (const base::Error& error) {
        if (error.kind() != base::ErrorKind::kInput) throw;
      }
    }
    result.series.push_back(std::move(series));
  }
  return result;
}

/// The house answers alone.
void without_evidence(const advice::HouseVerdict& house, report::AdviseReport& report) {
  advice::Verdict& verdict = report.comparison.verdict;
  verdict.house = house;
  verdict.choice = verdict.evidence.choice = "none";
  verdict.evidence.headline = {"The evidence: no design does this work", "证据：没有可行的设计"};
}

/// Everything but the words of what was asked.
report::AdviseReport examine(Bench& bench, const advice::SearchSpace& space,
                             const scenario::ValidScenario& asked, scenario::ValidScenario& shown,
                             const advice::HouseVerdict& house, const CommonFlags& flags) {
  base::Progress progress("designs", 0, !flags.quiet);
  report::AdviseReport report;
  for (advice::Candidate& candidate : advice::candidates(bench.known().catalog, space)) {
    DesignReport design;
    design.candidate = std::move(candidate);
    report.designs.push_back(std::move(design));
  }
  simulate(bench, report.designs, progress);
  sort(asked, report.designs);
  if (outcomes_of(report.designs).empty()) {
    report.subject = asked.name;
    report.nothing = {"No network of the catalogue can be built for this cluster.",
                      "目录中没有可用于该集群的网络。"};
    without_evidence(house, report);
    return report;
  }

  const std::vector<std::size_t> best = finalists(asked, report.designs);
  shown = side_by_side(asked, report.designs, best);
  progress.next("the best of each kind", best.size());
  for (std::size_t k = 0; k < best.size(); ++k) {
    DesignReport& design = report.designs[best[k]];
    scenario::ValidScenario alone = *design.candidate.scenario;
    alone.fabrics = {shown.fabrics[k]};
    advice::Outcome outcome = *bench.outcome(alone, false, bench.threads());
    outcome.name = shown.fabrics[k].profile.name;
    report.comparison.outcomes.push_back(outcome);
    design.flow = !advice::packets_of(outcome);
    outcome.name = design.candidate.name;
    design.outcome = std::move(outcome);
    progress.advance(1);
  }
  mark_pareto(report.designs);
  assess(report.designs);
  const catalog::Catalog& catalog = bench.known().catalog;
  report.comparison.scenario = &shown;
  report.comparison.verdict = advice::verdict(shown, report.comparison.outcomes, house, &catalog);
  report.comparison.peak_rss_mb = peak_rss_mb();
  const auto& outcomes = report.comparison.outcomes;
  const advice::Evidence evidence = advice::weigh(shown, outcomes);
  report.designs[best[evidence.best]].chosen = true;
  const advice::Outcome& choice = outcomes[evidence.best];
  const advice::Outcome* rival = evidence.runner_up ? &outcomes[*evidence.runner_up] : nullptr;
  if (rival != nullptr) report.sensitivities = advice::sensitivities(catalog, choice, *rival);
  report.break_evens =
      advice::break_evens(catalog, asked.cluster.gpu.id, asked.cluster.gpus, choice, rival);
  progress.next("tuning and sizes", 0);
  for (const std::size_t i : best) {
    if (report.designs[i].candidate.kind != catalog::FabricKind::kRoceV2) continue;
    if (asked.cluster.topology.nodes > 1) {
      report.tuning = tuning(bench, report.designs[i]);
    }
  }
  report.scaling = scaling(bench, space, asked, report.designs, best);
  return report;
}

struct AdviseFlags {
  std::string scenario;
  Wishes wishes;
  CommonFlags common;
};

void advise(const AdviseFlags& flags) {
  check_output("--json", flags.common.json, {flags.scenario});
  const Knowledge catalogued = load_knowledge();
  const bool from_flags = flags.scenario.empty();
  advice::SearchSpace space;
  space.overrides = {.seed = flags.common.seed, .prices = flags.common.prices};
  space.profiles_given = !from_flags;
  space.file = from_flags ? "flags" : flags.scenario;
  const std::string policy = catalogued.directory + "/house-rules.yaml";

  report::AdviseReport report;
  scenario::ValidScenario shown;
  if (from_flags) {
    const advice::HouseVerdict house =
        advice::house_verdict(policy, question_of(flags.wishes, catalogued.catalog));
    try {
      space.document = document_of(flags.wishes, catalogued.catalog, space.overrides);
      const scenario::ValidScenario asked =
          scenario::from_document(space.document, space.file, catalogued.catalog, space.overrides);
      const Knowledge known = priced(catalogued, asked);
      Bench bench(known, flags.common);
      report = examine(bench, space, asked, shown, house, flags.common);
    } catch (const NothingFits& nothing) {
      report.subject = subject_of(flags.wishes);
      report.nothing = nothing.why;
      without_evidence(house, report);
    }
  } else {
    space.document = base::yaml::parse_file(flags.scenario);
    const scenario::ValidScenario asked =
        scenario::from_document(space.document, space.file, catalogued.catalog, space.overrides);
    scenario::require_simulated(asked);
    const Knowledge known = priced(catalogued, asked);
    Bench bench(known, flags.common);
    report = examine(bench, space, asked, shown,
                     advice::house_verdict(policy, advice::question_of(asked)), flags.common);
  }
  publish(flags.common, report::advise_table(report, flags.common.chinese),
          report::advise_json(report));
}

}  // namespace

void add_advise(CLI::App& program, Chosen& chosen) {
  auto flags = std::make_shared<AdviseFlags>();
  auto* command = program.add_subcommand(
      "advise", "Which network to buy: every design that can be built, its cost, and the verdict");
  command->add_option("SCENARIO", flags->scenario, "Scenario file; without one the flags below ask")
      ->option_text("FILE");
  add_wishes(*command, flags->wishes);
  add_prices_flag(*command, flags->common);
  add_common_flags(*command, flags->common);
  command->footer(
      "Examples:\n"
      "  fabricast advise --gpus 32 --gpu h100-sxm --model llama2-70b --task train\n"
      "  fabricast advise --gpus 8 --gpu h100-sxm --model llama2-13b --task serve --slo-ms 200\n"
      "  fabricast advise --gpus 64 --model llama3-8b --task train --budget 20M --currency CNY \\\n"
      "      --existing-ethernet --growth 128\n"
      "  fabricast advise examples/article/train-32-70b.yaml --json advice.json");
  command->callback([flags, command, &chosen] {
    check_wishes(*command, flags->scenario, flags->wishes);
    chosen = [flags] { advise(*flags); };
  });
}

}  // namespace fabricast::apps
