// Many scenarios from one: every point of a grid as a row. What is finished is in the store, so
// that a sweep which was interrupted, killed or widened goes on where it was.

#include "report/sweep.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/parallel.h"
#include "base/progress.h"
#include "points.h"
#include "ranks.h"
#include "work.h"

namespace fabricast::apps {
namespace {

struct SweepFlags {
  std::string grid;
  std::string csv;
  std::string figure = "step_time_s";
  CommonFlags common;
};

/// The rows of a sweep while they come in, from any thread.
class Rows {
 public:
  Rows(const Points& points, store::Store* store, const CommonFlags& flags)
      : store_(store), flags_(flags), rows_(points.size()) {
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i] = points.row(i);
  }

  void refuse(std::size_t i, const std::string& why) {
    rows_[i].error = why;
    ++failed_;
  }
  /// False when the store has no such run.
  bool recall(std::size_t i, const std::string& address) {
    const auto run = apps::recall(store_, address);
    if (run) report::read_result(run->result, rows_[i]);
    return run.has_value();
  }
  void finish(std::size_t i, const PointResult& result) {
    if (!result.run) {
      refuse(i, result.error);
      return;
    }
    keep(store_, *result.run, flags_);
    report::read_result(result.run->result, rows_[i]);
  }

  const std::vector<report::Row>& all() const { return rows_; }
  std::size_t failed() const { return failed_; }

 private:
  store::Store* store_;
  const CommonFlags& flags_;
  std::vector<report::Row> rows_;
  std::atomic<std::size_t> failed_ = 0;
};

/// The address of every point, and of those that are no valid scenario none. Throws what is wrong
/// with the first when none is valid: then it is the grid.
std::vector<std::string> check(const Points& points, int threads, Rows& rows) {
  std::vector<std::string> addresses(points.size());
  std::optional<base::Error> first;
  std::mutex mutex;
  base::parallel_for(points.size(), threads, [&](std::size_t i) {
    try {
      addresses[i] = points.address(i);
    } catch (const base::Error& error) {
      rows.refuse(i, error.what());
      const std::lock_guard lock(mutex);
      if (i == 0) first = error;
    }
  });
  if (first && rows.failed() == points.size()) throw base::Error(*first);
  return addresses;
}

/// "about 3 min left", from what the points so far took.
std::string time_left(std::chrono::steady_clock::time_point start, std::size_t done,
                      std::size_t total) {
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  const double left = spent.count() / static_cast<double>(done) * static_cast<double>(total - done);
  constexpr double kMinute = 60;
  constexpr double kHour = 3600;
  if (left < 2 * kMinute) return fmt::format("about {:.0f} s left", left);
  if (left < 2 * kHour) return fmt::format("about {:.0f} min left", left / kMinute);
  return fmt::format("about {:.0f} h left", left / kHour);
}

/// Simulates what is pending, on threads here or on the other ranks of the job.
void work(Points& points, const std::vector<std::size_t>& pending, Ranks* ranks, Rows& rows,
          const CommonFlags& flags) {
  base::Progress progress("points", static_cast<std::int64_t>(pending.size()), !flags.quiet);
  const auto start = std::chrono::steady_clock::now();
  std::atomic<std::size_t> done = 0;
  const auto finish = [&](std::size_t i, const PointResult& result) {
    rows.finish(i, result);
    progress.advance(1, time_left(start, ++done, pending.size()));
  };
  if (ranks != nullptr) {
    hand_out(*ranks, points, pending, finish);
    return;
  }
  base::parallel_for(pending.size(), threads_of(flags),
                     [&](std::size_t k) { finish(pending[k], point_result(points, pending[k])); });
}

void write_results(const SweepFlags& flags, const Points& points, const Rows& rows) {
  const std::string grid = points.grid().files().front();
  publish(flags.common, flags.csv,
          {report::sweep_table(grid, rows.all(), {flags.common.chinese, flags.figure}),
           report::sweep_json(grid, rows.all()), report::rows_csv(rows.all(), "point")});
}

void lead(const SweepFlags& flags, Ranks* ranks) {
  Points points(flags.grid, flags.common);
  check_outputs(flags.common, "--csv", flags.csv, points.grid().files());
  const auto store = open_store(flags.common);
  Rows rows(points, store.get(), flags.common);
  const auto addresses = check(points, threads_of(flags.common), rows);
  const std::size_t invalid = rows.failed();
  std::vector<std::size_t> pending;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!addresses[i].empty() && !rows.recall(i, addresses[i])) pending.push_back(i);
  }
  if (store) say_on_interrupt("what was finished is in the store; the same command goes on");
  work(points, pending, ranks, rows, flags.common);
  if (!flags.common.quiet) {
    std::fprintf(stderr, "%zu %s: %zu from the store, %zu simulated, %zu without a result\n",
                 points.size(), points.size() == 1 ? "point" : "points",
                 points.size() - invalid - pending.size(), pending.size(), rows.failed());
  }
  write_results(flags, points, rows);
  if (rows.failed() == points.size()) throw base::failure("no point of the sweep has a result");
}

void sweep(const SweepFlags& flags) {
  Ranks* ranks = join_ranks();
  if (ranks != nullptr && ranks->rank() != 0) {
    say_on_interrupt(nullptr);
    follow(*ranks, [&] { return std::make_unique<Points>(flags.grid, flags.common); });
  } else {
    lead(flags, ranks);
  }
  if (ranks != nullptr) ranks->finish();
}

}  // namespace

void add_sweep(CLI::App& program, Chosen& chosen) {
  auto flags = std::make_shared<SweepFlags>();
  auto* command = program.add_subcommand(
      "sweep", "Every point of a grid of scenarios: one row each, resumed where it was left");
  command->add_option("GRID", flags->grid, "Grid file (YAML: `base`, `axes` and `points`)")
      ->required()
      ->option_text("FILE");
  command
      ->add_option("--csv", flags->csv, "Write every row with all figures (`-`: standard output)")
      ->type_name("FILE");
  std::vector<std::string> keys;
  for (const report::Figure& figure : report::figures()) keys.emplace_back(figure.key);
  command
      ->add_option("--figure", flags->figure, "Figure that the table shows (default: step_time_s)")
      ->type_name("KEY")
      ->check(CLI::IsMember(keys));
  add_common_flags(*command, flags->common);
  hide_flags(*command, {"--html", "--stats"});
  command->get_option("--threads")->description("Points at once (default: all cores)");
  command->get_option("--no-cache")->description("Neither read nor write the store of results");
  command->footer(
      "Examples:\n"
      "  fabricast sweep examples/sweep/grid.yaml\n"
      "  fabricast sweep grid.yaml --csv rows.csv --json rows.json --threads 8\n"
      "  fabricast sweep grid.yaml --figure jitter_pct\n"
      "  mpirun -n 64 fabricast sweep grid.yaml --csv rows.csv\n"
      "Finished points are in the store of results: a sweep that was stopped goes on where it "
      "was.");
  command->callback([flags, &chosen] { chosen = [flags] { sweep(*flags); }; });
}

}  // namespace fabricast::apps
