#pragma once
// Published logs of nccl-tests held against what this program says of the same system: every size
// of every log, out of place.

#include <string>
#include <vector>

#include "base/progress.h"
#include "catalog/catalog.h"
#include "collective/schedule.h"

namespace fabricast::validation {

struct NcclCheckRow {
  std::string log;
  collective::Op op = collective::Op::kAllReduce;
  int gpus = 0;
  base::Bytes size;
  double measured_us = 0;
  double predicted_us = 0;
  std::string source;
};

struct NcclSkip {
  std::string log;
  std::string reason;
};

struct NcclCheck {
  std::vector<NcclCheckRow> rows;
  std::vector<NcclSkip> skipped;
};

struct NcclCheckOptions {
  std::string data;  ///< the folder `nccl` lies in, or itself a folder of logs
  int threads = 1;
  std::uint64_t seed = 1;
  base::Progress* progress = nullptr;
};

/// Logs in the order of their names. What `index.csv` says of a log stands; a log that it does not
/// know is read by its name. Throws base::Error (input) when the folder has no logs.
NcclCheck nccl_check(const catalog::Catalog& catalog, const NcclCheckOptions& options);

}  // namespace fabricast::validation
