#pragma once
// One comparison in one row: what tells it from others, the main figures of every fabric, and the
// choices. `sweep` and `results` show, export and compare rows.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/yaml.h"

namespace fabricast::report {

/// A figure of a fabric as a row has it.
struct Figure {
  const char* section;  ///< "training": of the result's JSON
  const char* key;      ///< "step_time_s": in JSON below its section, and in CSV
  const char* en;       ///< with the unit
  const char* zh;
};

/// All of them, in the order of the columns.
const std::vector<Figure>& figures();

/// Its name and unit; money in `currency`, where it is not empty.
std::string title_of(const Figure& figure, const std::string& currency, bool chinese);

struct FabricFigures {
  std::string name;
  std::vector<std::optional<double>>
      values;  ///< as `figures()`; none where a run has no such value
};

struct Row {
  std::int64_t number = 0;  ///< of the point, or of the run
  /// Keys of the scenario with their values.
  std::vector<std::pair<std::string, base::yaml::Node>> labels;
  std::string error;  ///< why there is no result; all below is empty then
  std::vector<FabricFigures> fabrics;
  std::string currency;
  std::string choice;
  std::string house;
  std::string evidence;
};

/// The value under a key of the scenario as text; empty where the row has none.
std::string label_text(const Row& row, const std::string& key);

/// Fills the row from a result as `report::json` writes it. Throws base::Error (failure) on another
/// text.
void read_result(const std::string& json, Row& row);

/// RFC 4180 with a header: the number under `what`, one column per label and per figure of every
/// fabric (`NAME.step_time_s`), then choices and error. What a row has not is empty.
std::string rows_csv(const std::vector<Row>& rows, const std::string& what);

}  // namespace fabricast::report
