// One training run in detail: where a step goes, what binds, what varies, what a step looks like.

#include "report/train.h"

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "answers.h"
#include "base/progress.h"
#include "commands.h"
#include "comparison.h"
#include "design.h"
#include "tenants.h"
#include "training/detail.h"

namespace fabricast::apps {
namespace {

struct TrainFlags {
  std::string scenario;
  std::string fabric;
  std::string trace;
  CommonFlags common;
};

void require_training(const scenario::ValidScenario& scenario) {
  if (std::holds_alternative<scenario::TrainingSpec>(scenario.workload)) return;
  throw base::input_error(scenario.where("workload.kind"), "a service",
                          "`training`; `fabricast serve-sim` shows a service in detail");
}

report::TrainReport examine(const Knowledge& known, const scenario::ValidScenario& scenario,
                            std::size_t number, const CommonFlags& flags) {
  const auto begin = std::chrono::steady_clock::now();
  const auto store = open_store(flags);  // what has been learnt of fabrics
  Lessons lessons(store.get());
  Design design;
  try {
    design = design_of(known.catalog, scenario, number, flags.quiet, &lessons);
  } catch (const base::Error& error) {
    throw located(error, scenario, number, known.directory);
  }
  if (!flags.quiet) note_routing(*design.fabric, design.choice->profile);
  base::Progress progress("simulating", 0, !flags.quiet);
  network::PhaseCache phases;
  training::Options options;
  options.threads = threads_of(flags);
  options.resolution = flags.resolution;
  options.progress = &progress;
  report::TrainReport report;
  report.scenario = &scenario;
  report.choice = design.choice;
  const auto resolved = with_tenants(known.catalog, scenario, number, options.threads, &lessons);
  report.detail = training::detail(resolved ? *resolved : scenario, *design.choice, *design.fabric,
                                   design.networks, phases, options);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  report.wall_s = wall.count();
  report.peak_rss_mb = peak_rss_mb();
  return report;
}

void train(const TrainFlags& flags) {
  check_outputs(flags.common, "--trace", flags.trace, {flags.scenario});
  const Knowledge known = load_knowledge();
  const Question question = question_of(flags.scenario, known, flags.common);
  require_training(question.scenario);
  const std::size_t number = fabric_named(flags.fabric, question.scenario);
  if (flags.common.resolution == Resolution::kFlow) require_flow_level(question.scenario);
  say_notes(question.scenario, flags.common);
  const report::TrainReport report = examine(known, question.scenario, number, flags.common);
  if (!flags.trace.empty()) write_result(flags.trace, report::train_trace(report));
  publish(flags.common, report::train_table(report, {flags.common.chinese, flags.common.stats}),
          report::train_json(report));
}

}  // namespace

void add_train(CLI::App& program, Chosen& chosen) {
  auto flags = std::make_shared<TrainFlags>();
  auto* command = program.add_subcommand(
      "train", "One training run in detail: step, communication, jitter, memory, failures");
  command->add_option("SCENARIO", flags->scenario, "Scenario file (YAML; `-`: standard input)")
      ->required()
      ->option_text("FILE");
  command
      ->add_option("--fabric", flags->fabric,
                   "Which of the scenario's fabrics, by name (may be left out of one alone)")
      ->type_name("NAME");
  command
      ->add_option("--trace", flags->trace,
                   "Write the timeline of one step (JSON for ui.perfetto.dev or chrome://tracing)")
      ->type_name("FILE");
  add_common_flags(*command, flags->common);
  command->get_option("--no-cache")
      ->description(
          "Learn of the fabric from scratch; neither read nor write the store of results");
  command->footer(
      "Examples:\n"
      "  fabricast train examples/article/train-32-70b.yaml --fabric roce-v2\n"
      "  fabricast train examples/article/train-32-70b.yaml --fabric infiniband --trace step.json\n"
      "  fabricast train my.yaml --fabric tcp --json - --quiet\n"
      "Open step.json at https://ui.perfetto.dev.");
  command->callback([flags, &chosen] {
    if (flags->scenario == "-") flags->scenario = "/dev/stdin";
    chosen = [flags] { train(*flags); };
  });
}

}  // namespace fabricast::apps
