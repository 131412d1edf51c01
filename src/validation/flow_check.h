#pragma once
// The flow level held against the packet level: collectives x topologies x fabrics x sizes, each
// played at both, with the same hashes.

#include <string>
#include <vector>

#include "base/progress.h"
#include "catalog/catalog.h"

namespace fabricast::validation {

struct FlowCheckRow {
  std::string name;  ///< "roce-v2, leaf-spine, all_reduce of 16 MiB"
  double packet_s = 0;
  double flow_s = 0;
  double packet_wall_s = 0;
  double flow_wall_s = 0;

  double error_pct() const;  ///< |flow - packet| / packet
};

struct FlowCheckOptions {
  std::vector<std::string> fabrics;  ///< profile ids; empty: InfiniBand, RoCE v2, TCP, adaptive
  bool in_bulk = false;              ///< channels instead of messages at the flow level
  int threads = 1;
  std::uint64_t seed = 1;
  base::Progress* progress = nullptr;
};

/// In a fixed order, whatever the number of threads.
std::vector<FlowCheckRow> flow_check(const catalog::Catalog& catalog,
                                     const FlowCheckOptions& options);

}  // namespace fabricast::validation
