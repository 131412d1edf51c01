// The main job: every fabric of a scenario side by side. Read from top to bottom, `compare` meets
// every stage once, in the order of docs/architecture.md.

#include <chrono>
#include <cstdio>
#include <memory>
#include <vector>

#include <CLI/CLI.hpp>

#include "advice/advice.h"
#include "base/progress.h"
#include "commands.h"
#include "faults.h"
#include "flow_level.h"
#include "packet/packet_network.h"
#include "report/report.h"

namespace fabricast::apps {
namespace {

struct CompareFlags {
  std::string scenario;
  CommonFlags common;
};

training::Options training_options(const CommonFlags& flags, base::Progress& progress) {
  training::Options options;
  options.threads = threads_of(flags);
  options.resolution = flags.resolution;
  options.progress = &progress;
  return options;
}

/// The bill of the fabric as built, in the currency of the budget.
cost::Bill bill_of(const catalog::Catalog& known, const scenario::ValidScenario& scenario,
                   const scenario::FabricChoice& choice, const fabric::Fabric& fabric) {
  cost::BuildInputs inputs;
  inputs.fabric = &fabric;
  inputs.gpu = scenario.cluster.gpu;
  inputs.adapter = choice.adapter;
  inputs.network_switch = choice.network_switch;
  if (scenario.budget) inputs.currency = scenario.budget->currency;
  return cost::bill_of_materials(known, inputs);
}

/// A fabric of the scenario as built and priced, before anything is simulated on it.
struct Design {
  const scenario::FabricChoice* choice = nullptr;
  std::shared_ptr<const fabric::Fabric> fabric;
  training::Networks networks;
  cost::Bill bill;
};

std::shared_ptr<const fabric::Fabric> one_node(fabric::TopologySpec spec) {
  spec.kind = fabric::TopologyKind::kSingleSwitch;
  spec.nodes = 1;
  spec.management_ports = 0;
  return std::make_shared<const fabric::Fabric>(fabric::build(spec));
}

Design design_of(const catalog::Catalog& known, const scenario::ValidScenario& scenario,
                 std::size_t number, bool quiet) {
  const scenario::FabricChoice& choice = scenario.fabrics[number];
  Design design;
  design.choice = &choice;
  design.fabric = std::make_shared<const fabric::Fabric>(fabric::build(choice.topology));
  const network::NodeLinkSpec inside = node_links(scenario.cluster.gpu);
  const packet::Faults faults = standing_faults_of(scenario, number, *design.fabric, quiet);
  design.networks.packet = packet::factory(design.fabric, choice.profile, inside, faults);
  design.networks.packet(scenario.seed);  // whatever cannot be built is refused here
  design.networks.node = packet::factory(one_node(choice.topology), choice.profile, inside);
  design.networks.flow = flow_level(scenario, choice, design.fabric, faults);
  design.bill = bill_of(known, scenario, choice, *design.fabric);
  return design;
}

/// The stages know keys; the file is the scenario, or that of the prices.
base::Error located(const base::Error& error, const scenario::ValidScenario& scenario,
                    std::size_t fabric, const std::string& catalog_directory) {
  if (!error.where().key.starts_with("prices.")) return scenario::located(error, scenario, fabric);
  base::Location where = error.where();
  if (where.file.empty()) where.file = catalog_directory + "/prices.yaml";
  return {error.kind(), where, error.message()};
}

/// All fabrics, so that the last one is refused before the first one is simulated.
std::vector<Design> designs_of(const catalog::Catalog& known,
                               const scenario::ValidScenario& scenario,
                               const std::string& catalog_directory, bool quiet) {
  std::vector<Design> designs;
  for (std::size_t i = 0; i < scenario.fabrics.size(); ++i) {
    try {
      designs.push_back(design_of(known, scenario, i, quiet));
      cost::cost_of(known, designs.back().bill, 0, 0);
    } catch (const base::Error& error) {
      throw located(error, scenario, i, catalog_directory);
    }
  }
  return designs;
}

/// One fabric from its design to what it does and costs.
advice::Outcome evaluate(const catalog::Catalog& known, const scenario::ValidScenario& scenario,
                         const Design& design, network::PhaseCache& cache,
                         const training::Options& options) {
  const auto start = std::chrono::steady_clock::now();
  const auto& job = std::get<scenario::TrainingSpec>(scenario.workload);
  const scenario::FabricChoice& choice = *design.choice;

  advice::Outcome outcome;
  outcome.name = choice.profile.name;
  outcome.kind = choice.profile.kind;
  outcome.sizing = design.fabric->sizing();
  outcome.host = fabric::limit(design.fabric->spec().host);
  outcome.training =
      training::simulate(scenario, choice, *design.fabric, design.networks, cache, options);
  outcome.network = outcome.training.network;
  outcome.bill = design.bill;
  outcome.cost = cost::cost_of(known, outcome.bill, outcome.training.days * 24, job.tokens);
  outcome.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

void compare(const CompareFlags& flags) {
  check_output("--json", flags.common.json, {flags.scenario});
  const std::string catalog_directory = catalog::Catalog::default_directory();
  const auto known = catalog::Catalog::load(catalog_directory);
  const auto scenario = scenario::load(flags.scenario, known, {flags.common.seed});
  scenario::require_simulated(scenario);
  if (!flags.common.quiet) {
    for (const std::string& note : scenario::notes(scenario)) {
      std::fprintf(stderr, "%s\n", note.c_str());
    }
  }
  const std::vector<Design> designs =
      designs_of(known, scenario, catalog_directory, flags.common.quiet);
  if (!flags.common.quiet)
    for (const Design& design : designs) {
      note_routing(*design.fabric, design.choice->profile);
    }
  const auto house =
      advice::house_verdict(catalog_directory + "/house-rules.yaml", advice::question_of(scenario));

  report::Comparison comparison;
  comparison.scenario = &scenario;
  auto cache = std::make_unique<network::PhaseCache>();
  base::Progress progress("simulating", 0, !flags.common.quiet);
  for (const Design& design : designs) {
    if (flags.common.no_cache) cache = std::make_unique<network::PhaseCache>();
    comparison.outcomes.push_back(
        evaluate(known, scenario, design, *cache, training_options(flags.common, progress)));
  }

  comparison.verdict = advice::verdict(scenario, comparison.outcomes, house, &known);
  comparison.peak_rss_mb = peak_rss_mb();

  publish(flags.common, report::terminal(comparison, {flags.common.chinese, flags.common.stats}),
          report::json(comparison));
}

}  // namespace

void add_compare(CLI::App& program, Chosen& chosen) {
  auto flags = std::make_shared<CompareFlags>();
  auto* command = program.add_subcommand(
      "compare", "Every fabric of a scenario side by side: network, workload, cost, verdict");
  command->add_option("SCENARIO", flags->scenario, "Scenario file (YAML; `-`: standard input)")
      ->required()
      ->option_text("FILE");
  add_common_flags(*command, flags->common);
  command->footer(
      "Examples:\n"
      "  fabricast compare examples/article/train-32-70b.yaml\n"
      "  fabricast compare examples/article/train-32-70b.yaml --json - --quiet\n"
      "  fabricast compare my.yaml --lang zh --seed 7 --stats");
  command->callback([flags, &chosen] {
    if (flags->scenario == "-") flags->scenario = "/dev/stdin";
    chosen = [flags] { compare(*flags); };
  });
}

}  // namespace fabricast::apps
