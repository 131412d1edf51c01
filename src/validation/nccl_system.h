#pragma once
// The system behind a published nccl-tests log, as far as its index or its name tell: what they
// leave open is what is usual for the GPU, and said so.

#include <string>
#include <vector>

#include "catalog/catalog.h"

namespace fabricast::validation {

/// As `nccl/index.csv` of the measured data has it; the same can be read from most file names.
struct LogDescription {
  std::string file;  ///< without its folder
  std::string collective;
  std::string gpu;
  int gpus = 0;
  int nodes = 0;
  std::string fabric;
  std::string nics;
  std::string remarks;  ///< health and caveats
};

/// What `nccl_allreduce_h100_2n_ib_ndr400x8_xe9680.txt` says of itself.
LogDescription described_by_name(const std::string& file);

struct NcclSystem {
  std::string yaml;     ///< a system file for `fabricast collective --system`
  std::string skipped;  ///< why there is none
};
NcclSystem system_of(const LogDescription& log, const catalog::Catalog& catalog);

}  // namespace fabricast::validation
