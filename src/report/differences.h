#pragma once
// What differs between two runs. Private to this room.

#include <optional>
#include <string>
#include <vector>

#include "report/runs.h"

namespace fabricast::report {

struct KeyDifference {
  std::string key;  ///< of the scenario
  std::string a;    ///< the value as text; empty where the scenario does not set it
  std::string b;
};

/// Keys with another value, or with one in one of the scenarios only; seed and resolution first.
std::vector<KeyDifference> differing_keys(const StoredRun& a, const StoredRun& b);

struct FigureDifference {
  std::optional<double> a;
  std::optional<double> b;
  std::optional<double> percent;  ///< 100 (b - a) / a; none where a value is missing, or a is 0
};

struct FabricDifference {
  std::string name;
  std::vector<FigureDifference> values;  ///< as `figures()`
};

/// Every fabric of either run, those of `a` first.
std::vector<FabricDifference> differences(const StoredRun& a, const StoredRun& b);

}  // namespace fabricast::report
