#pragma once
// A layout as communication phases and per-stage work. A phase is what happens on the wires at one
// moment: the same collective in all groups that do it at the same time. Ranks are laid out in
// Megatron's default order tp-cp-ep-dp-pp (tensor parallelism fastest, pipeline slowest).

#include <optional>
#include <string>
#include <vector>

#include "collective/choice.h"
#include "fabric/fabric.h"
#include "scenario/scenario.h"

namespace fabricast::training {

struct Phase {
  std::string name;  ///< "tp all-gather", "dp gradients", ...
  collective::Op op = collective::Op::kAllReduce;
  base::Bytes size;  ///< as collective/schedule.h defines it for `op`
  std::vector<std::vector<base::Rank>> groups;
  bool one_way = false;  ///< sendrecv: from the first to the last, not round
  collective::Choice choice;
  collective::RunOptions run;  ///< but for the start
  bool inside_nodes = true;    ///< no group crosses nodes: the fabric is not used
  double preceding_s = 0;      ///< compute since these ranks last waited for one another
  double times_per_step = 0;   ///< of one GPU
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

/// One GPU of a pipeline stage; times of one micro-batch.
struct StageWork {
  double forward_s = 0;
  double backward_s = 0;
  double optimizer_s = 0;
  std::vector<CommTerm> forward;
  std::vector<CommTerm> backward;
  double bucket_share = 1;  ///< of this stage's data-parallel buckets, of the size simulated
};

/// What a step consists of, once the phases have been sampled.
struct StepWork {
  int replicas = 1;  ///< dp
  int group = 1;     ///< GPUs of one replica's stage: tp x cp
  int micro_batches = 1;
  int buckets = 1;                  ///< data-parallel buckets of a stage
  bool sharded_parameters = false;  ///< ZeRO-3: gathered in every forward and backward
  double variation = 0;             ///< sigma/mu of a GPU's speed from step to step
  double overlap_slowdown = 0;      ///< compute takes 1 + this while data-parallel traffic runs
  std::vector<StageWork> stages;
  std::optional<std::size_t> activations;           ///< phase, stage i to i + 1
  std::optional<std::size_t> activation_gradients;  ///< phase, stage i + 1 to i
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
/// Pairs (stage i, stage i + 1), or the other way round when `backward`.
std::vector<std::vector<base::Rank>> pipeline_pairs(const model::Parallelism& p, bool backward);

Plan plan(const scenario::TrainingSpec& spec, const catalog::Gpu& gpu,
          const collective::Machine& machine);

}  // namespace fabricast::training
