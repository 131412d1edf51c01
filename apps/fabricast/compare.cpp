// The main job: every fabric of a scenario side by side. Read from top to bottom, `compare_fabrics`
// meets every stage once, in the order of docs/architecture.md; `compare` is the command around it.

#include <chrono>
#include <cstdio>
#include <memory>
#include <vector>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "advice/advice.h"
#include "answers.h"
#include "base/progress.h"
#include "commands.h"
#include "comparison.h"
#include "design.h"
#include "network/probes.h"
#include "report/outcomes.h"
#include "report/page.h"
#include "report/report.h"
#include "tenants.h"

namespace fabricast::apps {
namespace {

struct CompareFlags {
  std::string scenario;
  CommonFlags common;
};

training::Options training_options(const ComparisonOptions& options) {
  training::Options result;
  result.threads = options.threads;
  result.resolution = options.resolution;
  result.progress = options.progress;
  if (options.states > 0) result.states = options.states;
  return result;
}

/// All fabrics, so that the last one is refused before the first one is simulated.
std::vector<Design> designs_of(const Knowledge& known, const scenario::ValidScenario& scenario,
                               const ComparisonOptions& options) {
  std::vector<Design> designs;
  for (std::size_t i = 0; i < scenario.fabrics.size(); ++i) {
    try {
      designs.push_back(design_of(known.catalog, scenario, i, options.quiet, options.lessons));
      cost::cost_of(known.catalog, designs.back().bill, 0, 0);
    } catch (const base::Error& error) {
      throw located(error, scenario, i, known.directory);
    }
  }
  return designs;
}

/// What a service costs by what it answers within its SLO, or, where it never does, by what it
/// sustains.
cost::Result cost_of_serving(const catalog::Catalog& known, const cost::Bill& bill,
                             const serving::Result& result, double tokens_per_answer) {
  const double served = advice::served_qps(result);
  const double rate = served > 0 ? served : result.capacity_qps.value;
  cost::Result cost = cost::cost_of(known, bill, 1, rate * tokens_per_answer * 3600);
  cost.per_run = 0;
  return cost;
}

serving::Options serving_options(const ComparisonOptions& options) {
  serving::Options result;
  result.threads = options.threads;
  result.resolution = options.resolution;
  result.progress = options.progress;
  result.trace = options.trace;
  result.effort = options.effort;
  if (options.states > 0) result.states = options.states;
  return result;
}

/// An outcome with everything that the design and the prices say of it.
advice::Outcome with_costs(const catalog::Catalog& known, const scenario::ValidScenario& scenario,
                           const Design& design, advice::Outcome outcome) {
  outcome.name = design.choice->profile.name;
  outcome.kind = design.choice->profile.kind;
  outcome.sizing = design.fabric->sizing();
  outcome.host = fabric::limit(design.fabric->spec().host);
  outcome.bill = design.bill;
  if (const auto* job = std::get_if<scenario::TrainingSpec>(&scenario.workload)) {
    outcome.cost = cost::cost_of(known, outcome.bill, outcome.training.days * 24, job->tokens);
  } else {
    const auto& service = std::get<scenario::ServingSpec>(scenario.workload);
    outcome.cost = cost_of_serving(known, outcome.bill, *outcome.serving, service.output.mean);
  }
  outcome.bounds = cost::bounds_of(known, outcome.bill);
  return outcome;
}

}  // namespace

advice::Outcome evaluate(const catalog::Catalog& known, const scenario::ValidScenario& asked,
                         const Design& design, network::PhaseCache& cache,
                         const ComparisonOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const scenario::FabricChoice& choice = *design.choice;
  const auto number = static_cast<std::size_t>(&choice - asked.fabrics.data());
  const auto resolved = with_tenants(known, asked, number, options.threads, options.lessons);
  const scenario::ValidScenario& scenario = resolved ? *resolved : asked;

  advice::Outcome outcome;
  if (std::holds_alternative<scenario::TrainingSpec>(scenario.workload)) {
    outcome.training = training::simulate(scenario, choice, *design.fabric, design.networks, cache,
                                          training_options(options));
    outcome.network = outcome.training.network;
  } else {
    outcome.serving = serving::simulate(scenario, choice, *design.fabric, design.networks, cache,
                                        serving_options(options));
    outcome.network = outcome.serving->network;
  }
  outcome = with_costs(known, scenario, design, std::move(outcome));
  outcome.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

advice::Outcome transferred(const catalog::Catalog& known, const scenario::ValidScenario& scenario,
                            const Design& design, advice::Outcome outcome) {
  if (scenario.cluster.topology.nodes > 1) {
    outcome.network.latency_us = network::idle_latency_us(design.networks.packet, *design.fabric);
    outcome.network.bandwidth_gbps = network::bandwidth_gbps(design.networks.packet, *design.fabric,
                                                             base::Bytes(network::kBandwidthProbe));
  }
  return with_costs(known, scenario, design, std::move(outcome));
}

namespace {

advice::HouseVerdict house_of(const Knowledge& known, const scenario::ValidScenario& scenario) {
  return advice::house_verdict(known.directory + "/house-rules.yaml",
                               advice::question_of(scenario));
}

report::Comparison judged(const Knowledge& known, const scenario::ValidScenario& scenario,
                          const advice::HouseVerdict& house,
                          std::vector<advice::Outcome> outcomes) {
  report::Comparison comparison;
  comparison.scenario = &scenario;
  comparison.outcomes = std::move(outcomes);
  comparison.verdict = advice::verdict(scenario, comparison.outcomes, house, &known.catalog);
  comparison.peak_rss_mb = peak_rss_mb();
  return comparison;
}

/// Only who looks at a terminal wonders why it was that quick.
void say_recalled(const store::Run& run, const store::Store& store, const CommonFlags& flags) {
  if (flags.quiet || isatty(STDERR_FILENO) != 1) return;
  std::fprintf(stderr, "answered from the store (run %lld of %s, %s); --no-cache simulates again\n",
               static_cast<long long>(run.id), run.created.c_str(),
               base::printable(store.file()).c_str());
}

/// From the store when it has the answer, else by simulation. --stats is about this very run, so
/// that there is one.
report::Comparison answer(const Knowledge& known, const Question& question,
                          const CommonFlags& flags) {
  const auto store = open_store(flags);
  const std::string address = store ? address_of(question, flags, digest_of(known)) : "";
  if (const auto run = flags.stats ? std::nullopt : recall(store.get(), address)) {
    say_recalled(*run, *store, flags);
    return judge(known, question.scenario, report::unpacked(run->outcomes));
  }
  network::PhaseCache phases;
  base::Progress progress("simulating", 0, !flags.quiet);
  ComparisonOptions options;
  options.threads = threads_of(flags);
  options.resolution = flags.resolution;
  options.quiet = flags.quiet;
  options.progress = &progress;
  Lessons lessons(store.get());
  options.lessons = &lessons;
  if (!flags.no_cache) options.phases = &phases;
  report::Comparison comparison = compare_fabrics(known, question.scenario, options);
  if (store) keep(store.get(), run_of(question, address, flags, comparison), flags);
  return comparison;
}

void compare(const CompareFlags& flags) {
  check_outputs(flags.common, "--html", flags.common.html, {flags.scenario});
  const Knowledge known = load_knowledge();
  const Question question = question_of(flags.scenario, known, flags.common);
  say_notes(question.scenario, flags.common);
  report::Comparison comparison = answer(known, question, flags.common);
  const Knowledge with_prices = priced(known, question.scenario);
  comparison.claims = claims_of(with_prices);
  if (!flags.common.html.empty()) {
    write_result(flags.common.html,
                 report::html_page(comparison,
                                   {flags.common.chinese, command_line(), &with_prices.catalog}));
  }
  publish(flags.common, report::terminal(comparison, {flags.common.chinese, flags.common.stats}),
          report::json(comparison));
}

}  // namespace

Knowledge load_knowledge() {
  std::string directory = catalog::Catalog::default_directory();
  auto known = catalog::Catalog::load(directory);
  return {std::move(directory), std::move(known)};
}

std::vector<advice::Claim> claims_of(const Knowledge& known) {
  std::vector<advice::Claim> claims = advice::cost_claims(known.catalog);
  for (advice::Claim& claim : advice::read_claims(known.directory + "/claims.yaml")) {
    claims.push_back(std::move(claim));
  }
  return claims;
}

Knowledge priced(const Knowledge& known, const scenario::ValidScenario& scenario) {
  if (scenario.prices.empty()) return known;
  return {known.directory, known.catalog.with_prices(scenario.prices)};
}

report::Comparison compare_fabrics(const Knowledge& catalogued,
                                   const scenario::ValidScenario& scenario,
                                   const ComparisonOptions& options) {
  const Knowledge known = priced(catalogued, scenario);
  if (options.resolution == Resolution::kFlow) require_flow_level(scenario);
  const std::vector<Design> designs = designs_of(known, scenario, options);
  if (!options.quiet) {
    for (const Design& design : designs) {
      note_routing(*design.fabric, design.choice->profile);
    }
  }
  const advice::HouseVerdict house = house_of(known, scenario);
  std::vector<advice::Outcome> outcomes;
  for (const Design& design : designs) {
    network::PhaseCache of_its_own;
    network::PhaseCache& phases = options.phases != nullptr ? *options.phases : of_its_own;
    outcomes.push_back(evaluate(known.catalog, scenario, design, phases, options));
  }
  return judged(known, scenario, house, std::move(outcomes));
}

report::Comparison judge(const Knowledge& known, const scenario::ValidScenario& scenario,
                         std::vector<advice::Outcome> outcomes) {
  return judged(priced(known, scenario), scenario, house_of(known, scenario), std::move(outcomes));
}

void add_compare(CLI::App& program, Chosen& chosen) {
  auto flags = std::make_shared<CompareFlags>();
  auto* command = program.add_subcommand(
      "compare", "Every fabric of a scenario side by side: network, workload, cost, verdict");
  command->add_option("SCENARIO", flags->scenario, "Scenario file (YAML; `-`: standard input)")
      ->required()
      ->option_text("FILE");
  add_prices_flag(*command, flags->common);
  add_html_flag(*command, flags->common);
  add_common_flags(*command, flags->common);
  command->footer(
      "Examples:\n"
      "  fabricast compare examples/article/train-32-70b.yaml\n"
      "  fabricast compare examples/article/train-32-70b.yaml --json - --quiet\n"
      "  fabricast compare my.yaml --lang zh --seed 7 --stats\n"
      "A question asked again is answered from the store of results (`fabricast results`);\n"
      "--no-cache and --stats simulate.");
  command->callback([flags, &chosen] {
    if (flags->scenario == "-") flags->scenario = "/dev/stdin";
    chosen = [flags] { compare(*flags); };
  });
}

}  // namespace fabricast::apps
