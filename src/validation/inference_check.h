#pragma once
// Published measurements of serving held against what this program says of the same service, row by
// row.

#include <string>
#include <vector>

#include "base/progress.h"
#include "catalog/catalog.h"

namespace fabricast::validation {

struct InferenceCheckRow {
  std::string kind;  ///< inference_ttft, inference_tpot, inference_latency, inference_throughput
  std::string file;  ///< the table, without its folder
  std::string name;  ///< with the table and the line
  std::string quantity;
  double measured = 0;
  double predicted = 0;
  std::string source;
};

struct InferenceSkip {
  std::string kind;  ///< empty: nothing that could be predicted
  std::string name;
  std::string reason;
};

struct InferenceCheck {
  std::vector<InferenceCheckRow> rows;
  std::vector<InferenceSkip> skipped;
};

struct InferenceCheckOptions {
  std::string data;  ///< the folder `inference` lies in, or itself a folder of tables
  int threads = 1;
  std::uint64_t seed = 1;
  base::Progress* progress = nullptr;
};

/// Tables in the order of their names, rows in theirs. Collectives are sampled in one state, those
/// that leave a node in flows. Throws base::Error (input) when the folder has no table and on a
/// cell that cannot be read.
InferenceCheck inference_check(const catalog::Catalog& catalog,
                               const InferenceCheckOptions& options);

}  // namespace fabricast::validation
