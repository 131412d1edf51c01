#pragma once
// The faces of a validation: what was predicted against what was measured, row by row, and the
// error of each kind (docs/validation.schema.json).

#include <string>
#include <vector>

#include "report/report.h"

namespace fabricast::report {

struct ValidationRow {
  std::string kind;      ///< "flow", ...
  std::string name;      ///< of the case
  std::string quantity;  ///< with its unit: "time_us"
  double measured = 0;
  double predicted = 0;
  std::string source;

  double error_pct() const;  ///< |predicted - measured| / measured
};

struct ValidationResult {
  std::vector<ValidationRow> rows;
  double measured_wall_s = 0;
  double predicted_wall_s = 0;
};

/// Rows, then mean, median and 90th percentile (nearest rank) of the error per kind. At most 80
/// cells wide.
std::string validation_table(const ValidationResult& result, const TerminalOptions& options);
std::string validation_json(const ValidationResult& result);

}  // namespace fabricast::report
