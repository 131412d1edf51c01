// What the store of results holds: `results`, `results show ID`, `results compare A B`.

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "commands.h"
#include "report/runs.h"
#include "store/store.h"

namespace fabricast::apps {
namespace {

/// `--where KEY=VALUE`.
struct Condition {
  std::string key;
  std::string value;
};

struct ResultsFlags {
  std::vector<std::string> where;  ///< as it was given
  std::vector<Condition> conditions;
  std::string csv;
  std::int64_t a = 0;
  std::int64_t b = 0;
  CommonFlags common;
};

report::StoredRun stored_run(const store::Run& run) {
  report::StoredRun result;
  result.row.number = run.id;
  result.row.labels = report::flattened(base::yaml::parse(run.document, "the store"));
  report::read_result(run.result, result.row);
  result.created = run.created;
  result.program = run.program;
  result.scenario = run.scenario;
  result.seed = run.seed;
  result.resolution = run.resolution;
  result.result = run.result;
  return result;
}

/// What a condition can be on, beside the keys of the scenario.
std::vector<std::pair<std::string, std::string>> properties(const report::StoredRun& run) {
  return {{"run", std::to_string(run.row.number)},
          {"created", run.created},
          {"program", run.program},
          {"scenario", run.scenario},
          {"seed", std::to_string(run.seed)},
          {"resolution", run.resolution},
          {"choice", run.row.choice},
          {"house", run.row.house},
          {"evidence", run.row.evidence}};
}

/// Every key of the run with its value.
std::vector<std::pair<std::string, std::string>> values_of(const report::StoredRun& run) {
  auto values = properties(run);
  for (const auto& [key, unused] : run.row.labels) {
    values.emplace_back(key, report::label_text(run.row, key));
  }
  return values;
}

/// The same text, or the same number: `100e6` is `100000000`.
bool equal(const std::string& found, const std::string& wanted) {
  const auto number = [](const std::string& text) -> std::optional<double> {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, value);
    return problem == std::errc() && stop == end ? std::optional(value) : std::nullopt;
  };
  return found == wanted || (number(found) && number(found) == number(wanted));
}

/// A time is met by its beginning: `created=2026-11`.
bool meets(const report::StoredRun& run, const Condition& condition) {
  return std::ranges::any_of(values_of(run), [&](const auto& entry) {
    if (entry.first != condition.key) return false;
    return condition.key == "created" ? entry.second.starts_with(condition.value)
                                      : equal(entry.second, condition.value);
  });
}

/// A key that no run has is a slip, where there are runs.
void check_keys(const std::vector<Condition>& conditions, const std::set<std::string>& known) {
  for (const Condition& condition : conditions) {
    if (known.empty() || known.contains(condition.key)) continue;
    throw base::input_error({{}, 0, 0, "--where"},
                            "the key " + base::quote(condition.key) + ", which no run has",
                            "a key of a scenario, or one of `run`, `created`, `program`, "
                            "`scenario`, `seed`, `resolution`, `choice`, `house` and `evidence`",
                            base::near_miss(condition.key, {known.begin(), known.end()}));
  }
}

/// The user's store; null when there is none yet. Throws base::Error (failure) when it cannot be
/// used.
std::unique_ptr<store::Store> existing_store() {
  const std::string file = store::default_file();
  if (file.empty()) {
    throw base::failure("there is no home for a store of results; FABRICAST_STORE names a file");
  }
  std::error_code problem;
  if (!std::filesystem::exists(file, problem) && !problem) return nullptr;
  return std::make_unique<store::Store>(file);
}

void list(const ResultsFlags& flags) {
  const auto store = existing_store();
  check_outputs(flags.common, "--csv", flags.csv, {store::default_file()});
  std::vector<report::StoredRun> runs;
  std::set<std::string> keys;
  if (store) {
    store->each([&](const store::Run& kept) {
      report::StoredRun run = stored_run(kept);
      for (const auto& [key, unused] : values_of(run)) keys.insert(key);
      const auto met = [&](const Condition& condition) { return meets(run, condition); };
      if (std::ranges::all_of(flags.conditions, met)) runs.push_back(std::move(run));
    });
  }
  check_keys(flags.conditions, keys);
  publish(flags.common, flags.csv,
          {report::runs_table(runs, flags.common.chinese), report::runs_json(runs),
           report::runs_csv(runs)});
}

report::StoredRun run_with(const store::Store* store, std::int64_t id) {
  const auto run = store != nullptr ? store->run(id) : std::nullopt;
  if (run) return stored_run(*run);
  throw base::input_error({{}, 0, 0, "results"},
                          fmt::format("run {}, which is not in {}", id, store::default_file()),
                          "a number that `fabricast results` lists");
}

void show(const ResultsFlags& flags) {
  const auto store = existing_store();
  const report::StoredRun run = run_with(store.get(), flags.a);
  publish(flags.common, report::run_table(run, flags.common.chinese), report::run_json(run));
}

void compare(const ResultsFlags& flags) {
  const auto store = existing_store();
  const report::StoredRun a = run_with(store.get(), flags.a);
  const report::StoredRun b = run_with(store.get(), flags.b);
  publish(flags.common, report::runs_compared(a, b, flags.common.chinese),
          report::runs_compared_json(a, b));
}

Condition condition_in(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw CLI::ValidationError("--where: found `" + text +
                               "`; allowed KEY=VALUE, such as `cluster.gpus=32`");
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

CLI::App* add_show(CLI::App& results, ResultsFlags& flags) {
  auto* command = results.add_subcommand("show", "One run in full, with its scenario");
  command->add_option("ID", flags.a, "Number of the run")->required()->check(CLI::PositiveNumber);
  command->footer(
      "Examples:\n"
      "  fabricast results show 3\n"
      "  fabricast results show 3 --json -      # with the whole result, as `compare` gave it");
  return command->fallthrough();
}

CLI::App* add_side_by_side(CLI::App& results, ResultsFlags& flags) {
  auto* command = results.add_subcommand("compare", "Two runs side by side: what differs");
  command->add_option("A", flags.a, "Number of a run")->required()->check(CLI::PositiveNumber);
  command->add_option("B", flags.b, "Number of another")->required()->check(CLI::PositiveNumber);
  command->footer(
      "Examples:\n"
      "  fabricast results compare 3 7\n"
      "  fabricast results compare 3 7 --json difference.json");
  return command->fallthrough();
}

}  // namespace

void add_results(CLI::App& program, Chosen& chosen) {
  auto flags = std::make_shared<ResultsFlags>();
  auto* command =
      program.add_subcommand("results", "The store of results: list, show, compare, export");
  command->add_option("--where", flags->where, "Only runs with this value; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command
      ->add_option("--csv", flags->csv,
                   "Write every run with its scenario and figures (`-`: standard output)")
      ->type_name("FILE");
  add_common_flags(*command, flags->common);
  hide_flags(*command,
             {"--html", "--seed", "--threads", "--resolution", "--stats", "--quiet", "--no-cache"});
  command->footer(
      "Examples:\n"
      "  fabricast results\n"
      "  fabricast results --where cluster.gpus=32 --where evidence=roce-v2\n"
      "  fabricast results --where created=2026-11 --csv runs.csv\n"
      "  fabricast results show 3\n"
      "  fabricast results compare 3 7\n"
      "The store is one SQLite file: $FABRICAST_STORE, else fabricast/results.sqlite in\n"
      "$XDG_DATA_HOME or ~/.local/share.");
  const CLI::App* one = add_show(*command, *flags);
  const CLI::App* two = add_side_by_side(*command, *flags);
  command->require_subcommand(0, 1);
  command->callback([flags, one, two, &chosen] {
    for (const std::string& text : flags->where) flags->conditions.push_back(condition_in(text));
    chosen = [flags, one, two] {
      if (one->parsed()) return show(*flags);
      if (two->parsed()) return compare(*flags);
      list(*flags);
    };
  });
}

}  // namespace fabricast::apps
