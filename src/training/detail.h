#pragma once
// One run in detail, for `fabricast train`: where its jitter comes from, the other layouts that
// `parallelism: auto` weighed, and one step pass by pass. Equations: docs/models/training.md.

#include <string>
#include <vector>

#include "training/pipeline.h"
#include "training/step.h"
#include "training/training.h"

namespace fabricast::training {

/// The iterations replayed with one source of variation at a time and the same draws.
struct JitterSource {
  enum class Kind {
    kNone,        ///< every duration at its mean
    kKernels,     ///< GPUs vary from step to step
    kQueueing,    ///< phases vary with the skew of their ranks
    kBackground,  ///< what traffic of others adds to that
    kHosts,       ///< nodes begin a step late
    kTimeouts,    ///< packets that a timeout brings back
    kStragglers,  ///< GPUs that are slower for good
    kAll,
  };
  Kind kind = Kind::kNone;
  double mean_s = 0;  ///< of the step; of kBackground and what follows also
  double sigma_s = 0;
};

/// A layout that `auto` weighed, simulated like the one it chose.
struct LayoutReport {
  model::LayoutChoice choice;
  double step_time_s = 0;
  std::string refusal;  ///< why it was not simulated; else empty
};

struct Detail {
  Result result;
  /// Of the bubble: what filling and draining take of stages that are alike; the rest is imbalance.
  double fill_drain_s = 0;
  std::vector<JitterSource> sources;  ///< those there are; first kNone, last kAll
  std::vector<LayoutReport> layouts;  ///< empty where the scenario gives its layout
  std::vector<Phase> phases;          ///< without groups
  TracedStep traced;                  ///< the iteration nearest to the mean
  StepWork work;
};

/// PRECONDITION: as `simulate`.
Detail detail(const scenario::ValidScenario& scenario, const scenario::FabricChoice& choice,
              const fabric::Fabric& fabric, const collective::Networks& networks,
              network::PhaseCache& cache, const Options& options);

}  // namespace fabricast::training
