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
  std::string group;     ///< rows that count as one in the score of the kind: a log
  double measured = 0;
  double predicted = 0;
  std::string source;

  double error_pct() const;  ///< |predicted - measured| / measured
};

struct ValidationSkip {
  std::string kind;  ///< empty: there was nothing to predict, and no kind counts it
  std::string name;
  std::string reason;
};

/// What a source says of itself or of the world, judged.
struct ValidationClaim {
  std::string id;
  std::string verdict;  ///< holds, partly, contradicted, unverifiable
  std::string evidence;
};

struct ValidationResult {
  std::vector<ValidationRow> rows;
  std::vector<ValidationSkip> skipped;
  std::vector<std::string> notes;
  std::vector<ValidationClaim> claims;
  double measured_wall_s = 0;
  double predicted_wall_s = 0;
};

/// The worst rows, or every row table by table; what was skipped, reason by reason; then mean,
/// median and 90th percentile (nearest rank) of the error per kind. The median is that of the
/// groups' medians, so that long logs do not dominate. At most 80 cells wide.
std::string validation_table(const ValidationResult& result, const TerminalOptions& options,
                             bool every_row = false);
std::string validation_json(const ValidationResult& result);

}  // namespace fabricast::report
