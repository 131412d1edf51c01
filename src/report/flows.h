#pragma once
// The faces of a run of plain flows: a table, JSON (docs/flows.schema.json) and the flows' own CSV
// with `fct_us,ideal_us,slowdown` added.

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "fabric/host.h"
#include "network/network.h"

namespace fabricast::report {

struct FlowRow {
  std::string id;
  std::uint32_t src = 0;
  std::uint32_t dst = 0;
  base::Bytes size;
  base::Time started;
  base::Time fct;    ///< from its start to the last acknowledgement at its sender
  base::Time ideal;  ///< the same, alone on the idle network
  double slowdown() const { return fct / ideal; }
};

/// One directed link over the whole run.
struct LinkRow {
  std::string link;  ///< "leaf0:3"
  double utilisation_pct = 0;
  double max_queue_kb = 0;
  double pause_pct = 0;  ///< of the time: held by PFC, or without credits
};

enum class FlowsLevel { kPacket, kFlow };

struct FlowsResult {
  std::string system;
  std::string fabric;
  std::uint64_t seed = 0;
  FlowsLevel level = FlowsLevel::kPacket;  ///< without packets: no links, and events alone counted
  base::Time end;                          ///< when the last flow was complete
  std::vector<FlowRow> flows;
  std::vector<LinkRow> links;             ///< that carried anything
  std::optional<fabric::HostLimit> host;  ///< where hosts hold adapters back
  base::Rate nic_rate;
  std::string slot;  ///< of the adapters
  network::Counters counters;
  double wall_s = 0;
  double peak_rss_mb = 0;
};

struct FlowsOptions {
  bool chinese = false;
  bool stats = false;
};

std::string flows_table(const FlowsResult& result, const FlowsOptions& options);
std::string flows_json(const FlowsResult& result);
std::string flows_csv(const FlowsResult& result);

}  // namespace fabricast::report
