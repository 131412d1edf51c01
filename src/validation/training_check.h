#pragma once
// Published measurements of training held against what this program says of the same job, row by
// row.

#include <string>
#include <vector>

#include "base/progress.h"
#include "catalog/catalog.h"

namespace fabricast::validation {

struct TrainingCheckRow {
  std::string file;  ///< the table, without its folder
  std::string name;  ///< with the table and the line
  std::string quantity;
  double measured = 0;
  double predicted = 0;
  std::string source;
  bool beyond_memory = false;  ///< it ran, though the model of memory says that it does not fit
};

struct TrainingSkip {
  std::string name;
  std::string reason;
  bool measures = true;  ///< false: the table has nothing that could be predicted
};

struct TrainingCheck {
  std::vector<TrainingCheckRow> rows;
  std::vector<TrainingSkip> skipped;
};

struct TrainingCheckOptions {
  std::string data;  ///< the folder `training` lies in, or itself a folder of tables
  int threads = 1;
  std::uint64_t seed = 1;
  base::Progress* progress = nullptr;
};

/// Tables in the order of their names, rows in theirs. What leaves a node is simulated in flows,
/// what stays inside packet by packet, each in one state. Throws base::Error (input) when the
/// folder has no table and on a cell that cannot be read.
TrainingCheck training_check(const catalog::Catalog& catalog, const TrainingCheckOptions& options);

}  // namespace fabricast::validation
