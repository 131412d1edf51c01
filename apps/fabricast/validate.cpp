// Predictions held against what is known better: the flow level against the packet level.

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "article.h"
#include "base/error.h"
#include "base/progress.h"
#include "commands.h"
#include "report/article.h"
#include "report/validation.h"
#include "validation/flow_check.h"
#include "validation/inference_check.h"
#include "validation/nccl_check.h"
#include "validation/training_check.h"

namespace fabricast::apps {
namespace {

struct ValidateFlags {
  std::string kind = "flow";
  std::string data;
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

/// Where measured data lie: --data, else $FABRICAST_DATA.
std::string data_of(const ValidateFlags& flags) {
  if (!flags.data.empty()) return flags.data;
  if (const char* data = std::getenv("FABRICAST_DATA")) return data;
  throw base::input_error({"", 0, 0, "--data"}, "nothing",
                          "a folder of measured data, or its name in FABRICAST_DATA");
}

template <class Options>
Options options_of(const ValidateFlags& flags, base::Progress& progress) {
  Options options;
  options.data = data_of(flags);
  options.threads = threads_of(flags.common);
  options.seed = flags.common.seed.value_or(1);
  options.progress = &progress;
  return options;
}

// Sizes from here on count as large.
constexpr std::int64_t kLarge = std::int64_t{1} << 20;

report::ValidationRow row_of(const validation::NcclCheckRow& checked) {
  report::ValidationRow row;
  const auto bytes = static_cast<double>(checked.size.count());
  const bool large = checked.size.count() >= kLarge;
  row.kind = large ? "nccl_large" : "nccl_small";
  row.group = checked.log;
  row.name = fmt::format("{}, {} B", checked.log, checked.size.count());
  row.quantity = large ? "busbw_GBps" : "time_us";
  const double factor = collective::busbw_factor(checked.op, checked.gpus) * bytes / 1e3;
  row.measured = large ? factor / checked.measured_us : checked.measured_us;
  row.predicted = large ? factor / checked.predicted_us : checked.predicted_us;
  row.source = checked.source;
  return row;
}

void validate_nccl(const ValidateFlags& flags) {
  const auto known = catalog::Catalog::load(catalog::Catalog::default_directory());
  base::Progress progress("validating", 0, !flags.common.quiet);
  const auto options = options_of<validation::NcclCheckOptions>(flags, progress);
  const validation::NcclCheck check = validation::nccl_check(known, options);
  if (check.rows.empty()) {
    throw base::input_error({options.data, 0, 0, ""}, "no row of nccl-tests that can be forecast",
                            "logs that nccl-tests printed");
  }
  report::ValidationResult result;
  for (const validation::NcclCheckRow& row : check.rows) result.rows.push_back(row_of(row));
  for (const validation::NcclSkip& skip : check.skipped) {
    result.skipped.push_back({"nccl_large", skip.log, skip.reason});
  }
  publish(flags.common, report::validation_table(result, {flags.common.chinese, false}),
          report::validation_json(result));
}

report::ValidationRow row_of(const validation::TrainingCheckRow& checked) {
  report::ValidationRow row;
  row.kind = "training";
  row.name = checked.name;
  row.quantity = checked.quantity;
  row.group = checked.file;
  row.measured = checked.measured;
  row.predicted = checked.predicted;
  row.source = checked.source;
  return row;
}

/// Jobs that ran where the model of memory says that they cannot.
void note_memory(const validation::TrainingCheck& check, bool chinese,
                 report::ValidationResult& result) {
  const auto count =
      std::ranges::count_if(check.rows, [](const auto& row) { return row.beyond_memory; });
  if (count == 0) return;
  result.notes.push_back(fmt::format(
      fmt::runtime(chinese ? "{} 行（共 {} 行）按内存模型放不下，但实际跑过；照样预测。"
                           : "{} of {} rows ran where the model of memory finds no room; they are "
                             "predicted all the same."),
      count, check.rows.size()));
}

void validate_training(const ValidateFlags& flags) {
  const auto known = catalog::Catalog::load(catalog::Catalog::default_directory());
  base::Progress progress("validating", 0, !flags.common.quiet);
  const auto options = options_of<validation::TrainingCheckOptions>(flags, progress);
  const validation::TrainingCheck check = validation::training_check(known, options);
  if (check.rows.empty()) {
    throw base::input_error({options.data, 0, 0, ""}, "no row of training that can be forecast",
                            "tables such as mlperf_llm.csv");
  }
  report::ValidationResult result;
  for (const validation::TrainingCheckRow& row : check.rows) result.rows.push_back(row_of(row));
  for (const validation::TrainingSkip& skip : check.skipped) {
    result.skipped.push_back({skip.measures ? "training" : "", skip.name, skip.reason});
  }
  note_memory(check, flags.common.chinese, result);
  publish(flags.common, report::validation_table(result, {flags.common.chinese, false}, true),
          report::validation_json(result));
}

void validate_inference(const ValidateFlags& flags) {
  const auto known = catalog::Catalog::load(catalog::Catalog::default_directory());
  base::Progress progress("validating", 0, !flags.common.quiet);
  const auto options = options_of<validation::InferenceCheckOptions>(flags, progress);
  const validation::InferenceCheck check = validation::inference_check(known, options);
  if (check.rows.empty()) {
    throw base::input_error({options.data, 0, 0, ""}, "no row of serving that can be forecast",
                            "tables such as serving_ttft_tpot.csv");
  }
  report::ValidationResult result;
  for (const validation::InferenceCheckRow& row : check.rows) {
    result.rows.push_back(
        {row.kind, row.name, row.quantity, "", row.measured, row.predicted, row.source});
  }
  for (const validation::InferenceSkip& skip : check.skipped) {
    result.skipped.push_back({skip.kind, skip.name, skip.reason});
  }
  publish(flags.common, report::validation_table(result, {flags.common.chinese, false}),
          report::validation_json(result));
}

void validate_article(const ValidateFlags& flags) {
  const validation::ArticleCheck training = run_article(flags.data, flags.common);
  const validation::ArticleServingCheck serving = run_article_serving(flags.data, flags.common);
  const report::TerminalOptions options{flags.common.chinese, false};
  report::ValidationResult result = report::article_result(training);
  report::add_article_serving(serving, result);
  publish(flags.common,
          report::article_text(training, options) + "\n" +
              report::article_serving_text(serving, options),
          report::validation_json(result));
}

void validate(const ValidateFlags& flags) {
  check_output("--json", flags.common.json, {});
  const bool measured = flags.kind != "flow";
  if (measured && (!flags.fabrics.empty() || flags.in_bulk)) {
    throw base::input_error({"", 0, 0, flags.in_bulk ? "--bulk" : "--fabric"},
                            "`--kind " + flags.kind + "`", "`--kind flow` with it");
  }
  if (!measured && !flags.data.empty()) {
    throw base::input_error({"", 0, 0, "--data"}, "`--kind flow`",
                            "`--kind nccl`, `training`, `inference` or `article` with it");
  }
  if (measured) {
    (flags.kind == "nccl"        ? validate_nccl
     : flags.kind == "article"   ? validate_article
     : flags.kind == "inference" ? validate_inference
                                 : validate_training)(flags);
    return;
  }
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
                   "flow: the flow level against the packet level (default); nccl: collectives "
                   "against logs of nccl-tests; training: steps against tables of public runs; "
                   "inference: services against tables of public runs; article: the jobs and "
                   "services of the comparison article")
      ->type_name("KIND")
      ->check(CLI::IsMember({"flow", "nccl", "training", "inference", "article"}));
  command
      ->add_option("--data", flags->data,
                   "Folder of measured data (default: what FABRICAST_DATA names; of the article: "
                   "validation/article beside the catalogue)")
      ->type_name("DIR");
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
      "  fabricast validate --kind nccl --data measured --json nccl.json\n"
      "  fabricast validate --kind training --data measured\n"
      "  fabricast validate --kind inference --data measured\n"
      "  fabricast validate --kind article\n"
      "  fabricast validate --kind flow --fabric infiniband --json -");
  command->callback([flags, &chosen] { chosen = [flags] { validate(*flags); }; });
}

}  // namespace fabricast::apps
