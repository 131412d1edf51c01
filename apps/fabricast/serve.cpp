// One inference service in detail: percentiles, rates, what the GPUs do, every request.

#include "report/serve.h"

#include <cstdio>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "answers.h"
#include "base/error.h"
#include "base/progress.h"
#include "commands.h"
#include "comparison.h"
#include "design.h"

namespace fabricast::apps {
namespace {

struct ServeFlags {
  std::string scenario;
  std::string fabric;
  std::string trace;
  CommonFlags common;
};

void require_service(const scenario::ValidScenario& scenario) {
  if (std::holds_alternative<scenario::ServingSpec>(scenario.workload)) return;
  throw base::input_error(scenario.where("workload.kind"), "a training workload",
                          "`serving`; `fabricast train` shows a training run in detail");
}

report::ServeReport examine(const Knowledge& known, const scenario::ValidScenario& scenario,
                            std::size_t number, const ServeFlags& flags, std::string& trace) {
  const auto store = open_store(flags.common);  // what has been learnt of fabrics
  Lessons lessons(store.get());
  base::Progress progress("simulating", 0, !flags.common.quiet);
  network::PhaseCache phases;
  ComparisonOptions options;
  options.threads = threads_of(flags.common);
  options.resolution = flags.common.resolution;
  options.quiet = flags.common.quiet;
  options.progress = &progress;
  options.lessons = &lessons;
  if (!flags.trace.empty()) {
    trace = report::request_csv_header();
    options.trace = [&](const serving::RequestRecord& request) {
      trace += report::request_csv(request);
    };
  }
  report::ServeReport report;
  report.scenario = &scenario;
  try {
    const Design design = design_of(known.catalog, scenario, number, flags.common.quiet, &lessons);
    if (!flags.common.quiet) note_routing(*design.fabric, design.choice->profile);
    report.outcome = evaluate(known.catalog, scenario, design, phases, options);
  } catch (const base::Error& error) {
    throw located(error, scenario, number, known.directory);
  }
  report.peak_rss_mb = peak_rss_mb();
  return report;
}

void serve(const ServeFlags& flags) {
  check_outputs(flags.common, "--trace", flags.trace, {flags.scenario});
  const Knowledge known = load_knowledge();
  const Question question = question_of(flags.scenario, known, flags.common);
  require_service(question.scenario);
  const std::size_t number = fabric_named(flags.fabric, question.scenario);
  if (flags.common.resolution == Resolution::kFlow) require_flow_level(question.scenario);
  say_notes(question.scenario, flags.common);
  std::string trace;
  const report::ServeReport report = examine(known, question.scenario, number, flags, trace);
  if (!flags.trace.empty()) write_result(flags.trace, trace);
  publish(flags.common, report::serve_table(report, {flags.common.chinese, flags.common.stats}),
          report::serve_json(report));
}

}  // namespace

void add_serve(CLI::App& program, Chosen& chosen) {
  auto flags = std::make_shared<ServeFlags>();
  auto* command = program.add_subcommand(
      "serve-sim", "One inference service in detail: percentiles, rates, what the GPUs do");
  command->add_option("SCENARIO", flags->scenario, "Scenario file (YAML; `-`: standard input)")
      ->required()
      ->option_text("FILE");
  command
      ->add_option("--fabric", flags->fabric,
                   "Which of the scenario's fabrics, by name (may be left out of one alone)")
      ->type_name("NAME");
  command
      ->add_option("--trace", flags->trace, "Write every request of the run that is reported (CSV)")
      ->type_name("FILE");
  add_common_flags(*command, flags->common);
  command->get_option("--no-cache")
      ->description(
          "Learn of the fabric from scratch; neither read nor write the store of results");
  command->footer(
      "Examples:\n"
      "  fabricast serve-sim examples/article/serve-8-70b.yaml --fabric roce-v2\n"
      "  fabricast serve-sim examples/serving/elastic.yaml --trace requests.csv\n"
      "  fabricast serve-sim my.yaml --fabric tcp --json - --quiet");
  command->callback([flags, &chosen] {
    if (flags->scenario == "-") flags->scenario = "/dev/stdin";
    chosen = [flags] { serve(*flags); };
  });
}

}  // namespace fabricast::apps
