#pragma once
// One training iteration, and many of them. `plan` turns a layout into compute times and named
// communication phases; `sample` simulates each phase in at least 16 states on the given network;
// `simulate` plays iterations of the pipeline with durations drawn from those samples and kernel
// times drawn from the GPU's stated variation, and reports step time, breakdown, utilisation and
// jitter. Equations: docs/models/training.md.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "collective/sampler.h"
#include "network/background.h"
#include "network/network.h"
#include "network/phase_cache.h"
#include "network/probes.h"
#include "scenario/scenario.h"
#include "training/reliability.h"

namespace fabricast::training {

/// Seconds of a step by what the compute stream of a GPU was doing or waiting for; mean over GPUs
/// and iterations. Sums to the step time.
struct Breakdown {
  double compute = 0;
  double exposed_tp = 0;
  double exposed_pp = 0;
  double exposed_dp = 0;
  double exposed_ep = 0;
  double exposed_cp = 0;
  double bubble = 0;
};

/// Seconds of a step that each kind of communication is on the wire, hidden or not; mean over GPUs
/// (of pp: what a GPU sends).
struct OnTheWire {
  double tp = 0;
  double pp = 0;
  double dp = 0;
  double ep = 0;
  double cp = 0;
};

using collective::PhaseReport;

struct Result {
  double step_time_s = 0;
  Breakdown breakdown_s;
  OnTheWire wire_s;
  double late_hosts_s = 0;             ///< of the bubble
  double gpu_utilisation_pct = 0;      ///< compute-stream busy / step
  double gpu_utilisation_smi_pct = 0;  ///< as nvidia-smi reads: NCCL kernels count as busy
  double mfu_pct = 0;
  double jitter_pct = 0;  ///< sigma / mu of the step time over the iterations
  double tokens_per_s = 0;
  double days = 0;  ///< of the whole run, with checkpoints and failures
  ReliabilityReport reliability;
  /// What the extrapolated transfers of a step may be wrong by, as a share of the step: the sum
  /// over the phases of error x time on the wire. 0 when every byte was simulated.
  double extrapolation_error = 0;
  model::Memory memory;
  std::vector<PhaseReport> phases;
  std::vector<double> step_times_s;  ///< one per iteration
  bool packets = true;              ///< false: nothing between nodes was simulated packet by packet
  network::NetworkMetrics network;  ///< the part measured under this workload; idle part filled too
  network::Counters counters;
};

struct Options {
  int threads = 1;
  int states = 16;  ///< independent states per phase
  collective::Resolution resolution = collective::Resolution::kAuto;
  base::Progress* progress = nullptr;  ///< restarted with the phases as its count; may be null
};

/// PRECONDITION: the scenario holds a TrainingSpec; the networks are on `fabric`.
Result simulate(const scenario::ValidScenario& scenario, const scenario::FabricChoice& choice,
                const fabric::Fabric& fabric, const collective::Networks& networks,
                network::PhaseCache& cache, const Options& options);

}  // namespace fabricast::training
