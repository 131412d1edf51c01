#pragma once
// The faces of one training run in detail: tables, JSON (docs/train.schema.json), and the timeline
// of one step in Chrome's trace event format, which Perfetto opens.

#include <string>

#include "report/report.h"
#include "scenario/scenario.h"
#include "training/detail.h"

namespace fabricast::report {

struct TrainReport {
  const scenario::ValidScenario* scenario = nullptr;
  const scenario::FabricChoice* choice = nullptr;
  training::Detail detail;
  double wall_s = 0;
  double peak_rss_mb = 0;
};

/// The phase between nodes that costs the GPUs most: of its kind's waiting the share that is its
/// own of the kind's time on the wire. Null where they wait for none.
const training::PhaseReport* binding_phase(const training::Result& result);

/// At most 80 cells wide.
std::string train_table(const TrainReport& report, const TerminalOptions& options);
std::string train_json(const TrainReport& report);

/// A process per pipeline stage of replica 0, a thread per stream: compute, and each kind of
/// communication. Complete events with `ts` and `dur` in us; sends are joined by flow arrows.
std::string train_trace(const TrainReport& report);

}  // namespace fabricast::report
