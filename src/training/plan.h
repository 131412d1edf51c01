#pragma once
// A layout as communication phases and per-stage work. Ranks are laid out in Megatron's default
// order tp-cp-ep-dp-pp (tensor parallelism fastest, pipeline slowest).

#include <optional>
#include <string>
#include <vector>

#include "collective/phase.h"
#include "fabric/fabric.h"
#include "scenario/scenario.h"

namespace fabricast::training {

/// Of a step.
struct Phase : collective::Phase {
  double times_per_step = 0;  ///< of one GPU
};

enum class CommKind { kTp, kCp, kEp };
inline constexpr int kCommKinds = 3;

/// `count` runs of a phase within one forward or backward; of each, `hidden_s` lies under compute.
struct CommTerm {
  std::size_t phase = 0;
  double count = 0;
  double hidden_s = 0;
  CommKind kind = CommKind::kTp;
};

/// A model chunk on one GPU; times of one micro-batch.
struct ChunkWork {
  double forward_s = 0;
  double backward_s = 0;
  std::vector<CommTerm> forward;
  std::vector<CommTerm> backward;
  double bucket_share = 1;  ///< of this chunk's data-parallel buckets, of the size simulated
  int layers = 1;
};

/// One GPU of a pipeline stage.
struct StageWork {
  std::vector<ChunkWork> chunks;
  double optimizer_s = 0;
};

/// What the data-parallel ranks share out, and so when they must talk.
enum class Sharding {
  kOptimizer,   ///< ZeRO-0 and 1: gradients are reduced once per step, in the last backward
  kGradients,   ///< ZeRO-2: in every backward, since they cannot be kept whole
  kParameters,  ///< ZeRO-3, FSDP: parameters are gathered in every pass, too
};

/// What a step consists of, once the phases have been sampled.
struct StepWork {
  int replicas = 1;  ///< dp
  int group = 1;     ///< GPUs of one replica's stage: tp x cp
  int micro_batches = 1;
  int buckets = 1;  ///< data-parallel buckets of a chunk
  Sharding sharding = Sharding::kOptimizer;
  double variation = 0;         ///< sigma/mu of a GPU's speed from step to step
  std::vector<double> pace;     ///< time of each rank's kernels, 1: as stated; empty: all 1
  double overlap_slowdown = 0;  ///< compute takes 1 + this while data-parallel traffic runs
  int nodes = 1;
  double host_delay_s = 0;       ///< mean (exponential) by which a node begins a step late
  std::vector<double> timeouts;  ///< expected in one run of each phase, as drawn; empty: none
  double timeout_s = 0;          ///< that each lasts
  std::vector<StageWork> stages;
  std::optional<std::size_t> activations;           ///< phase, to the next part of the model
  std::optional<std::size_t> activation_gradients;  ///< phase, back
  std::optional<std::size_t> gradients;             ///< phase, one bucket
  std::optional<std::size_t> parameters;            ///< phase, one bucket
};

struct Plan {
  std::vector<Phase> phases;
  StepWork step;
};

/// The ranks of every group along one dimension, in Megatron's order.
std::vector<std::vector<base::Rank>> tensor_groups(const model::Parallelism& p);
std::vector<std::vector<base::Rank>> context_groups(const model::Parallelism& p);
std::vector<std::vector<base::Rank>> expert_groups(const model::Parallelism& p);
/// Data-parallel times context-parallel: the ranks that hold the same parameters.
std::vector<std::vector<base::Rank>> gradient_groups(const model::Parallelism& p);
/// Pairs (stage i, stage i + 1), or the other way round when `backward`; with several model chunks
/// also (last stage, first stage).
std::vector<std::vector<base::Rank>> pipeline_pairs(const model::Parallelism& p, bool backward);

Plan plan(const scenario::TrainingSpec& spec, const catalog::Gpu& gpu,
          const collective::Machine& machine);

}  // namespace fabricast::training
