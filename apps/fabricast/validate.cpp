// Predictions held against what is known better: the flow level against the packet level.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/progress.h"
#include "commands.h"
#include "report/validation.h"
#include "validation/flow_check.h"

namespace fabricast::apps {
namespace {

struct ValidateFlags {
  std::string kind = "flow";
  std::vector<std::string> fabrics;
  bool in_bulk = false;
  CommonFlags common;
};

report::ValidationRow row_of(const validation::FlowCheckRow& checked) {
  report::ValidationRow row;
  row.kind = "flow";
  row.name = checked.name;
  row.quantity = "time_us";
  row.measured = checked.packet_s * 1e6;
  row.predicted = checked.flow_s * 1e6;
  row.source = "packet level of this program";
  return row;
}

void validate(const ValidateFlags& flags) {
  check_output("--json", flags.common.json, {});
  const auto known = catalog::Catalog::load(catalog::Catalog::default_directory());
  base::Progress progress("validating", 0, !flags.common.quiet);
  validation::FlowCheckOptions options;
  options.fabrics = flags.fabrics;
  options.in_bulk = flags.in_bulk;
  options.threads = threads_of(flags.common);
  options.seed = flags.common.seed.value_or(1);
  options.progress = &progress;
  report::ValidationResult result;
  for (const validation::FlowCheckRow& checked : validation::flow_check(known, options)) {
    result.rows.push_back(row_of(checked));
    result.measured_wall_s += checked.packet_wall_s;
    result.predicted_wall_s += checked.flow_wall_s;
  }
  publish(flags.common,
          report::validation_table(result, {flags.common.chinese, flags.common.stats}),
          report::validation_json(result));
}

}  // namespace

void add_validate(CLI::App& program, Chosen& chosen) {
  auto flags = std::make_shared<ValidateFlags>();
  auto* command = program.add_subcommand(
      "validate", "Predictions against what is known better: a table of errors");
  command
      ->add_option("--kind", flags->kind,
                   "flow: the flow level against the packet level (the one kind of this version)")
      ->type_name("KIND")
      ->check(CLI::IsMember({"flow"}));
  command
      ->add_option("--fabric", flags->fabrics,
                   "Fabric profiles (default: infiniband, roce-v2, tcp, roce-v2-adaptive)")
      ->type_name("ID");
  command->add_flag("--bulk", flags->in_bulk,
                    "Carry channels in bulk at the flow level, as on large clusters");
  add_common_flags(*command, flags->common);
  hide_flags(*command, {"--html", "--resolution", "--no-cache"});
  command->footer(
      "Examples:\n"
      "  fabricast validate --kind flow\n"
      "  fabricast validate --kind flow --fabric infiniband --json -");
  command->callback([flags, &chosen] { chosen = [flags] { validate(*flags); }; });
}

}  // namespace fabricast::apps
