#pragma once
// The faces of a sweep: a table, JSON (docs/sweep.schema.json) and CSV, one row per point.

#include <string>
#include <vector>

#include "report/row.h"

namespace fabricast::report {

struct SweepOptions {
  bool chinese = false;
  std::string figure = "step_time_s";  ///< key of the figure that the table shows
};

/// One figure of every fabric and the choices by point, how often each fabric was chosen, and what
/// is wrong with points that have no result. Of many points the first and the last.
std::string sweep_table(const std::string& grid, const std::vector<Row>& rows,
                        const SweepOptions& options);
std::string sweep_json(const std::string& grid, const std::vector<Row>& rows);

}  // namespace fabricast::report
