#pragma once
// Plays training steps at the level of phases: a 1F1B pipeline per replica, durations of compute
// drawn from the GPUs' variation and those of communication from the samples of their phases.
// Attribution of idle time: docs/models/training.md, section "Breakdown".

#include <cstdint>
#include <vector>

#include "training/plan.h"
#include "training/training.h"

namespace fabricast::training {

struct Step {
  double seconds = 0;
  Breakdown breakdown;  ///< mean over GPUs; sums to `seconds`
};

/// `samples[i]` are the durations of phase i, seconds. Iterations are independent of one another
/// and of the number of threads.
std::vector<Step> play(const StepWork& work, const std::vector<std::vector<double>>& samples,
                       int iterations, std::uint64_t seed, int threads);

/// Durations of one pipeline: index stage * micro_batches + micro_batch.
struct PipelineTimes {
  int stages = 1;
  int micro_batches = 1;
  std::vector<double> forward;
  std::vector<double> backward;
  std::vector<double> to_next;      ///< activations of a stage on their way to the next
  std::vector<double> to_previous;  ///< gradients on their way to the stage before
  std::size_t at(int stage, int micro_batch) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(micro_batches) +
           static_cast<std::size_t>(micro_batch);
  }
};
/// End of the last backward of the slowest stage of a 1F1B schedule (Narayanan et al. 2021, section
/// 2.2): m micro-batches over p equal stages without communication take (m + p - 1)(tf + tb).
double pipeline_time(const PipelineTimes& times, bool with_transfers);

}  // namespace fabricast::training
