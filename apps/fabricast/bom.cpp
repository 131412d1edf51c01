// What to buy: the bill of materials of every fabric of a scenario, with its cable map.

#include "report/bom.h"

#include <memory>

#include <CLI/CLI.hpp>

#include "advice/designs.h"
#include "answers.h"
#include "commands.h"
#include "comparison.h"
#include "design.h"

namespace fabricast::apps {
namespace {

struct BomFlags {
  std::string scenario;
  std::string fabric;
  std::string csv;
  std::string cables;
  CommonFlags common;
};

report::BomEntry entry_of(const Knowledge& known, const scenario::ValidScenario& scenario,
                          std::size_t number, bool cables) {
  const scenario::FabricChoice& choice = scenario.fabrics[number];
  try {
    const fabric::Fabric fabric = fabric::build(choice.topology);
    const cost::BuildInputs inputs = advice::build_inputs(scenario, choice, fabric);
    report::BomEntry entry;
    entry.name = choice.profile.name;
    entry.kind = choice.profile.kind;
    entry.sizing = fabric.sizing();
    entry.bill = cost::bill_of_materials(known.catalog, inputs);
    entry.bounds = cost::bounds_of(known.catalog, entry.bill);
    if (cables) entry.cables = cost::cable_map(known.catalog, inputs);
    return entry;
  } catch (const base::Error& error) {
    throw located(error, scenario, number, known.directory);
  }
}

void bom(const BomFlags& flags) {
  check_outputs(flags.common, "--csv", flags.csv, {flags.scenario});
  check_outputs(flags.common, "--cables", flags.cables, {flags.scenario});
  if (!flags.cables.empty() && flags.cables == flags.csv) {
    throw base::input_error({flags.cables, 0, 0, "--cables"}, "the place of `--csv`",
                            "a file of its own");
  }
  const Knowledge catalogued = load_knowledge();
  const Question question = question_of(flags.scenario, catalogued, flags.common);
  const scenario::ValidScenario& scenario = question.scenario;
  const Knowledge known = priced(catalogued, scenario);
  report::BomReport report;
  report.scenario = &scenario;
  for (std::size_t i = 0; i < scenario.fabrics.size(); ++i) {
    if (!flags.fabric.empty() && i != fabric_named(flags.fabric, scenario)) continue;
    report.entries.push_back(entry_of(known, scenario, i, !flags.cables.empty()));
  }
  if (!flags.cables.empty()) write_result(flags.cables, report::cables_csv(report));
  if (flags.cables == "-") return;
  publish(flags.common, flags.csv,
          {report::bom_table(report, flags.common.chinese), report::bom_json(report),
           report::bom_csv(report)});
}

}  // namespace

void add_bom(CLI::App& program, Chosen& chosen) {
  auto flags = std::make_shared<BomFlags>();
  auto* command = program.add_subcommand(
      "bom", "What to buy: bill of materials, power and price of every fabric, cable by cable");
  command->add_option("SCENARIO", flags->scenario, "Scenario file (YAML; `-`: standard input)")
      ->required()
      ->option_text("FILE");
  command->add_option("--fabric", flags->fabric, "One of the scenario's fabrics, by name")
      ->type_name("NAME");
  command->add_option("--csv", flags->csv, "Write the bill as CSV (`-`: to standard output)")
      ->type_name("FILE");
  command
      ->add_option("--cables", flags->cables,
                   "Write the cable map as CSV: device, port, device, port, length, type")
      ->type_name("FILE");
  add_prices_flag(*command, flags->common);
  add_common_flags(*command, flags->common);
  hide_flags(*command, {"--seed", "--threads", "--resolution", "--stats", "--no-cache"});
  command->footer(
      "Examples:\n"
      "  fabricast bom examples/article/train-32-70b.yaml\n"
      "  fabricast bom examples/bom/hall-1016.yaml --csv bill.csv --cables cables.csv\n"
      "  fabricast bom my.yaml --fabric roce-v2 --prices quotes.yaml --csv -");
  command->callback([flags, &chosen] {
    if (flags->scenario == "-") flags->scenario = "/dev/stdin";
    chosen = [flags] { bom(*flags); };
  });
}

}  // namespace fabricast::apps
