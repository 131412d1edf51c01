#pragma once
// The faces of a collective over sizes: a table in nccl-tests' own columns, and JSON.

#include <cstdint>
#include <string>
#include <vector>

#include "collective/choice.h"

namespace fabricast::report {

struct CollectiveRow {
  base::Bytes size;  ///< as nccl-tests counts it
  collective::Algorithm algorithm = collective::Algorithm::kRing;
  collective::Protocol protocol = collective::Protocol::kSimple;
  std::uint32_t channels = 0;
  double time_us = 0;
  bool flow = false;               ///< simulated in flows
  double extrapolation_error = 0;  ///< relative; 0: simulated whole
};

struct CollectiveResult {
  std::string system;
  std::string fabric;
  std::string gpu;
  collective::Op op = collective::Op::kAllReduce;
  int gpus = 0;
  int nodes = 0;
  std::uint64_t seed = 0;
  std::vector<CollectiveRow> rows;
};

double algbw_gb_per_s(const CollectiveRow& row);
double busbw_gb_per_s(const CollectiveResult& result, const CollectiveRow& row);

/// Tools that read nccl-tests read this, too. In place is what out of place is: only the data's
/// addresses differ.
std::string collective_table(const CollectiveResult& result);
std::string collective_json(const CollectiveResult& result);

}  // namespace fabricast::report
