#pragma once
// Plays training steps at the level of phases: a pipeline per replica, durations of compute drawn
// from the GPUs' variation and those of communication from the samples of their phases.
// Attribution of idle time: docs/models/training.md, section "Breakdown".

#include <cstdint>
#include <vector>

#include "training/pipeline.h"
#include "training/plan.h"
#include "training/training.h"

namespace fabricast::training {

struct Step {
  double seconds = 0;
  Breakdown breakdown;    ///< mean over GPUs; sums to `seconds`
  double late_hosts = 0;  ///< of the bubble: everybody waits for the latest node
  OnTheWire wire;         ///< mean over GPUs
};

/// `samples[i]` are the durations of phase i, seconds. Iterations are independent of one another
/// and of the number of threads.
std::vector<Step> play(const StepWork& work, const std::vector<std::vector<double>>& samples,
                       int iterations, std::uint64_t seed, int threads);

/// What one GPU of a stage does in a pass, seconds.
struct PassParts {
  double compute = 0;
  double exposed[kCommKinds] = {};  ///< by CommKind; that of tp with the wait for slower GPUs
  double wire[kCommKinds] = {};
};

/// The same step as `play` makes of iteration `index`, with what happened in one replica.
struct TracedStep {
  Step step;
  PipelineShape shape;
  Timeline timeline;
  std::vector<PassParts> forward;   ///< of its mean GPU, by PipelineShape::at
  std::vector<PassParts> backward;  ///< the same
  double gradients_done = 0;
  std::vector<double> optimizer;  ///< per stage, of its mean GPU
};
TracedStep trace(const StepWork& work, const std::vector<std::vector<double>>& samples,
                 std::uint64_t seed, std::uint64_t index);

}  // namespace fabricast::training
