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
#include "report/page.h"
#include "wishes.h"

namespace fabricast::apps {
namespace {

// Of what a service is judged by in earnest: enough to tell designs apart.
constexpr double kSearchEffort = 0.25;
constexpr int kSearchStates = 4;
// Sizes that the work is tried at, in multiples of the cluster's.
constexpr double kSizes[] = {0.25, 0.5, 1, 2, 4};

using report::DesignReport;

/// No phase of the work leaves a node, so that no network between nodes changes it.
bool inside_nodes(const scenario::ValidScenario& scenario) {
  if (scenario.cluster.topology.nodes == 1) return true;
  const auto* service = std::get_if<scenario::ServingSpec>(&scenario.workload);
  if (service == nullptr || service->disaggregation) return false;
  if (service->scaling && service->scaling->from == scenario::ScalingSpec::LoadFrom::kPeer) {
    return false;
  }
  return scenario.cluster.topology.gpus_per_node % service->shape.gpus() == 0;
}

/// Simulates designs.
class Bench {
 public:
  Bench(const Knowledge& known, const CommonFlags& flags, bool in_flows, bool exhaustive)
      : known_(known),
        flags_(flags),
        in_flows_(in_flows && !exhaustive),
        exhaustive_(exhaustive),
        store_(open_store(flags)),
        lessons_(store_.get()) {}

  /// Coarse: in flows, as a search does.
  advice::Outcome outcome(const scenario::ValidScenario& scenario, bool coarse, int threads) {
    const Design design = design_of(known_.catalog, scenario, 0, true, &lessons_);
    ComparisonOptions options;
    options.threads = threads;
    options.resolution = coarse ? Resolution::kFlow : flags_.resolution;
    options.quiet = true;
    options.lessons = &lessons_;
    if (coarse) {
      options.effort = kSearchEffort;
      options.states = kSearchStates;
    }
    return evaluate(known_.catalog, scenario, design, phases_, options);
  }
  /// The same work, which does not notice the network, on another one.
  advice::Outcome transfer(const scenario::ValidScenario& scenario, const advice::Outcome& known) {
    const Design design = design_of(known_.catalog, scenario, 0, true, &lessons_);
    return transferred(known_.catalog, scenario, design, known);
  }

  int threads() const { return threads_of(flags_); }
  /// Nothing is looked at more closely than in the search.
  bool in_flows() const { return in_flows_; }
  /// Everything is looked at closely.
  bool exhaustive() const { return exhaustive_; }
  const Knowledge& known() const { return known_; }

 private:
  const Knowledge& known_;
  const CommonFlags& flags_;
  bool in_flows_;
  bool exhaustive_;
  std::unique_ptr<store::Store> store_;
  Lessons lessons_;
  network::PhaseCache phases_;
};

/// All of them, several at a time; where they cannot differ, one for all.
std::vector<advice::Outcome> outcomes_of(Bench& bench,
                                         const std::vector<const scenario::ValidScenario*>& all,
                                         bool coarse, base::Progress& progress) {
  std::vector<advice::Outcome> outcomes(all.size());
  if (all.empty()) return outcomes;
  const bool alike = inside_nodes(*all.front());
  if (alike) outcomes.front() = bench.outcome(*all.front(), coarse, bench.threads());
  // Packets take all threads for one design, flows one thread each.
  base::parallel_for(all.size(), alike || coarse ? bench.threads() : 1, [&](std::size_t i) {
    if (!alike) outcomes[i] = bench.outcome(*all[i], coarse, coarse ? 1 : bench.threads());
    if (alike && i > 0) outcomes[i] = bench.transfer(*all[i], outcomes.front());
    progress.advance(1);
  });
  return outcomes;
}

void simulate(Bench& bench, std::vector<DesignReport>& designs, base::Progress& progress) {
  std::vector<DesignReport*> feasible;
  std::vector<const scenario::ValidScenario*> scenarios;
  for (DesignReport& design : designs) {
    if (!design.candidate.scenario) continue;
    feasible.push_back(&design);
    scenarios.push_back(&*design.candidate.scenario);
  }
  progress.next("designs", static_cast<std::int64_t>(feasible.size()));
  std::vector<advice::Outcome> outcomes =
      outcomes_of(bench, scenarios, !bench.exhaustive(), progress);
  for (std::size_t i = 0; i < feasible.size(); ++i) {
    outcomes[i].name = feasible[i]->candidate.name;
    feasible[i]->flow = !advice::packets_of(outcomes[i]);
    feasible[i]->outcome = std::move(outcomes[i]);
  }
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
       [](auto& p, const auto& t) { p.pfc.alpha = t.pfc.alpha; }},
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
    done.outcome = bench.outcome(scenario, false, bench.threads());
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
      series.values.emplace_back();
      const auto sized = resized(designs[i].candidate.document, gpus);
      try {
        const scenario::ValidScenario scenario =
            scenario::from_document(sized, space.file, bench.known().catalog, space.overrides);
        scenario::require_simulated(scenario);
        const auto outcome = bench.outcome(scenario, true, bench.threads());
        series.values.back() =
            outcome.serving ? outcome.serving->capacity_qps.value : outcome.training.tokens_per_s;
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

/// The finalists once more, as closely as was asked for.
void look_closely(Bench& bench, const std::vector<std::size_t>& best,
                  const scenario::ValidScenario& shown, base::Progress& progress,
                  report::AdviseReport& report) {
  std::vector<scenario::ValidScenario> alone;
  std::vector<const scenario::ValidScenario*> scenarios;
  for (std::size_t k = 0; k < best.size(); ++k) {
    alone.push_back(*report.designs[best[k]].candidate.scenario);
    alone.back().fabrics = {shown.fabrics[k]};
  }
  for (const scenario::ValidScenario& one : alone) scenarios.push_back(&one);
  std::vector<advice::Outcome> outcomes;
  if (bench.in_flows() || bench.exhaustive()) {
    for (const std::size_t i : best) outcomes.push_back(*report.designs[i].outcome);
  } else {
    outcomes = outcomes_of(bench, scenarios, false, progress);
  }
  for (std::size_t k = 0; k < best.size(); ++k) {
    DesignReport& design = report.designs[best[k]];
    outcomes[k].name = shown.fabrics[k].profile.name;
    report.comparison.outcomes.push_back(outcomes[k]);
    design.flow = !advice::packets_of(outcomes[k]);
    outcomes[k].name = design.candidate.name;
    design.outcome = std::move(outcomes[k]);
  }
}

/// Everything but the words of what was asked.
report::AdviseReport examine(Bench& bench, const advice::SearchSpace& space,
                             const scenario::ValidScenario& asked, scenario::ValidScenario& shown,
                             const advice::HouseVerdict& house, const CommonFlags& flags) {
  base::Progress progress("designs", 0, !flags.quiet);
  report::AdviseReport report;
  report.comparison.claims = claims_of(bench.known());
  for (advice::Candidate& candidate : advice::candidates(bench.known().catalog, space)) {
    DesignReport design;
    design.candidate = std::move(candidate);
    report.designs.push_back(std::move(design));
  }
  simulate(bench, report.designs, progress);
  sort(asked, report.designs);
  if (report.designs.empty() || !report.designs.front().outcome) {
    report.subject = asked.name;
    report.nothing = {"No network of the catalogue can be built for this cluster.",
                      "目录中没有可用于该集群的网络。"};
    without_evidence(house, report);
    return report;
  }

  const std::vector<std::size_t> best = finalists(asked, report.designs);
  shown = side_by_side(asked, report.designs, best);
  progress.next("the best of each kind", static_cast<std::int64_t>(best.size()));
  look_closely(bench, best, shown, progress, report);
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
  const advice::Outcome* rival = advice::rival_of(outcomes, evidence);
  if (rival != nullptr) {
    report.rival = rival->name;
    report.sensitivities = advice::sensitivities(catalog, choice, *rival);
  }
  report.break_evens =
      advice::break_evens(catalog, asked.cluster.gpu.id, asked.cluster.gpus, choice, rival);
  progress.next("tuning and sizes", 0);
  if (inside_nodes(asked)) return report;
  for (const std::size_t i : best) {
    // Marks and pauses are packets' business: flows know nothing of them.
    if (bench.in_flows()) break;
    if (report.designs[i].candidate.kind != catalog::FabricKind::kRoceV2) continue;
    report.tuning = tuning(bench, report.designs[i]);
  }
  report.scaling = scaling(bench, space, asked, report.designs, best);
  return report;
}

/// A link of one network means nothing in another.
void require_no_faults(const scenario::ValidScenario& asked) {
  if (asked.faults.empty()) return;
  throw base::input_error(asked.where("faults"), "faults of links of one network",
                          "none under `advise`, which tries networks that have other links; "
                          "`compare` takes them");
}

struct AdviseFlags {
  std::string scenario;
  Wishes wishes;
  bool exhaustive = false;
  bool resolution_given = false;
  CommonFlags common;
};

void advise(const AdviseFlags& flags) {
  check_outputs(flags.common, "--html", flags.common.html, {flags.scenario});
  const Knowledge catalogued = load_knowledge();
  const bool from_flags = flags.scenario.empty();
  advice::SearchSpace space;
  space.overrides = {.seed = flags.common.seed, .prices = flags.common.prices};
  space.profiles_given = !from_flags;
  space.file = from_flags ? "flags" : flags.scenario;
  if (!flags.common.prices.empty()) catalogued.catalog.with_prices(flags.common.prices);
  const std::string policy = catalogued.directory + "/house-rules.yaml";

  report::AdviseReport report;
  scenario::ValidScenario shown;
  catalog::Catalog prices = catalogued.catalog;
  if (from_flags) {
    const advice::HouseVerdict house =
        advice::house_verdict(policy, question_of(flags.wishes, catalogued.catalog));
    try {
      space.document = document_of(flags.wishes, catalogued.catalog, space.overrides);
      const scenario::ValidScenario asked =
          scenario::from_document(space.document, space.file, catalogued.catalog, space.overrides);
      const Knowledge known = priced(catalogued, asked);
      prices = known.catalog;
      say_assumed(flags.wishes, asked, flags.common);
      say_notes(asked, flags.common);
      // An answer at once, unless somebody asks for a closer look.
      const bool in_flows = !flags.resolution_given || flags.common.resolution == Resolution::kFlow;
      Bench bench(known, flags.common, in_flows, flags.exhaustive);
      report = examine(bench, space, asked, shown, house, flags.common);
      report.comparison.verdict.next = "Write the whole report: add --html report.html.";
      report.comparison.verdict.next_zh = "生成完整报告：加 --html report.html。";
    } catch (const NothingFits& nothing) {
      report.subject = subject_of(flags.wishes);
      report.nothing = nothing.why;
      report.comparison.claims = claims_of(catalogued);
      without_evidence(house, report);
    }
  } else {
    space.document = base::yaml::parse_file(flags.scenario);
    const scenario::ValidScenario asked =
        scenario::from_document(space.document, space.file, catalogued.catalog, space.overrides);
    scenario::require_simulated(asked);
    require_no_faults(asked);
    say_notes(asked, flags.common);
    const Knowledge known = priced(catalogued, asked);
    prices = known.catalog;
    Bench bench(known, flags.common, flags.common.resolution == Resolution::kFlow,
                flags.exhaustive);
    report = examine(bench, space, asked, shown,
                     advice::house_verdict(policy, advice::question_of(asked)), flags.common);
  }
  if (!flags.common.html.empty()) {
    write_result(flags.common.html,
                 report::html_page(report, {flags.common.chinese, command_line(), &prices}));
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
  command->add_flag("--exhaustive", flags->exhaustive,
                    "Look at every design as closely as at the best of each kind: takes minutes");
  add_prices_flag(*command, flags->common);
  add_html_flag(*command, flags->common);
  add_common_flags(*command, flags->common);
  hide_flags(*command, {"--stats"});
  command->get_option("--resolution")
      ->description(
          "How closely the best of each kind is looked at: packet, flow or auto (default: auto "
          "with a scenario, flow from flags)");
  command->footer(
      "Examples:\n"
      "  fabricast advise --gpus 32 --gpu h100-sxm --model llama2-70b --task train\n"
      "  fabricast advise --gpus 8 --gpu h100-sxm --model llama2-13b --task serve --slo-ms 200\n"
      "  fabricast advise --gpus 64 --model llama3-8b --task train --budget 20M --currency CNY \\\n"
      "      --existing-ethernet --growth 128\n"
      "  fabricast advise examples/article/train-32-70b.yaml --json advice.json");
  command->callback([flags, command, &chosen] {
    check_wishes(*command, flags->scenario, flags->wishes);
    flags->resolution_given = command->get_option("--resolution")->count() > 0;
    chosen = [flags] { advise(*flags); };
  });
}

}  // namespace fabricast::apps
