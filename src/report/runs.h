#pragma once
// The faces of the store of results: a list of runs, one run in full, two side by side.

#include <string>
#include <vector>

#include "report/row.h"

namespace fabricast::report {

/// A run as the store has it.
struct StoredRun {
  Row row;  ///< the number is the run's id; labels are the scenario's keys, down to single values
  std::string created;
  std::string program;  ///< version
  std::string scenario;
  std::uint64_t seed = 0;
  std::string resolution;
  std::string result;  ///< JSON, as `compare --json` wrote it
};

/// The scenario's keys with their values, down to single values: "cluster.gpus", "fabrics[0].name".
std::vector<std::pair<std::string, base::yaml::Node>> flattened(const base::yaml::Node& document);

/// Of many runs the last ones.
std::string runs_table(const std::vector<StoredRun>& runs, bool chinese);
std::string runs_json(const std::vector<StoredRun>& runs);
/// As `rows_csv`, with what is known of the run before the keys of its scenario.
std::string runs_csv(const std::vector<StoredRun>& runs);

std::string run_table(const StoredRun& run, bool chinese);
/// What is known of the run, and its whole result.
std::string run_json(const StoredRun& run);

/// What differs between the scenarios, and every figure of every fabric with the difference of `b`
/// against `a` in percent.
std::string runs_compared(const StoredRun& a, const StoredRun& b, bool chinese);
std::string runs_compared_json(const StoredRun& a, const StoredRun& b);

}  // namespace fabricast::report
