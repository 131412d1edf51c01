#include <algorithm>
#include <cmath>

#include "training/plan.h"

namespace fabricast::training {
namespace {

using base::Bytes;
using base::Rank;
using catalog::LanguageModel;
using collective::Op;
using model::Parallelism;
using model::Recompute;
using model::TrainingShape;

using Groups = std::vector<std::vector<Rank>>;

// Megatron-Core, DistributedDataParallelConfig.bucket_size: max(40 M, 1 M x dp) parameters.
constexpr double kBucketParameters = 40e6;
constexpr double kBucketParametersPerRank = 1e6;
// The sum over micro-batches is kept and reduced in fp32, as the memory model counts it
// (src/model/memory.cpp; Megatron-LM sets accumulate_allreduce_grads_in_fp32 for bf16).
constexpr double kGradientBytes = 4;
// arXiv 2507.03114: kernels overlapped with communication take 18.9 % longer on average over GPT
// and Llama models on A100, H100, MI210 and MI250 (40 % at most).
constexpr double kOverlapSlowdown = 0.189;
// Backward kernels of attention do 2.5 times the forward's work (five products for two; Dao 2023).
constexpr double kAttentionBackward = 2.5;
Rank rank_of(const Parallelism& p, int tp, int cp, int dp, int pp) {
  return Rank(static_cast<std::uint32_t>(tp + p.tp * (cp + p.cp * (dp + p.dp * pp))));
}

/// Collects phases; knows what all of them share.
struct Planner {
  const scenario::TrainingSpec& spec;
  const catalog::Gpu& gpu;
  collective::Machine machine;
  Plan plan;

  const LanguageModel& m() const { return spec.model; }
  const TrainingShape& shape() const { return spec.shape; }
  const Parallelism& p() const { return spec.shape.parallelism; }
  double element_bytes() const { return shape().precision == catalog::Precision::kFp32 ? 4 : 2; }
  /// Tokens of one micro-batch that a context-parallel rank holds.
  double tokens() const {
    return static_cast<double>(shape().micro_batch) * shape().sequence / p().cp;
  }
  /// The longest time of any model chunk, for the skew between ranks.
  double longest_forward() const {
    double t = 0;
    for (const StageWork& s : plan.step.stages) {
      for (const ChunkWork& c : s.chunks) t = std::max(t, c.forward_s);
    }
    return t;
  }
  double longest_backward() const {
    double t = 0;
    for (const StageWork& s : plan.step.stages) {
      for (const ChunkWork& c : s.chunks) t = std::max(t, c.backward_s);
    }
    return t;
  }
  int parts() const { return p().pp * p().vpp; }
  /// Layers of part `i` of the model, which is chunk i / pp of stage i % pp.
  model::StageLayers layers(int i) const { return model::stage_layers(m(), parts(), i); }
  int most_layers() const {
    int most = 0;
    for (int i = 0; i < parts(); ++i) most = std::max(most, layers(i).count);
    return most;
  }
  ChunkWork& chunk(int i) {
    return plan.step.stages[static_cast<std::size_t>(i % p().pp)]
        .chunks[static_cast<std::size_t>(i / p().pp)];
  }
  /// Passes of a chunk in a step, in each direction.
  double passes() const { return static_cast<double>(shape().micro_batches()) * p().vpp; }
  /// The layout as if every chunk were a stage of its own.
  TrainingShape by_chunk() const {
    TrainingShape parted = shape();
    parted.parallelism.pp = parts();
    parted.parallelism.vpp = 1;
    return parted;
  }

  std::size_t add(std::string name, Op op, double size, Groups groups, double preceding_s,
                  double times_per_step) {
    Phase phase{collective::phase_of(std::move(name), op, std::max(Bytes(1), Bytes::from(size)),
                                     std::move(groups), machine)};
    phase.preceding_s = preceding_s;
    phase.times_per_step = times_per_step;
    plan.phases.push_back(std::move(phase));
    return plan.phases.size() - 1;
  }

  void stages();
  void tensor();
  void context();
  void expert();
  void pipeline();
  void data();
};

void Planner::stages() {
  const TrainingShape parted = by_chunk();
  plan.step.stages.resize(static_cast<std::size_t>(p().pp));
  for (StageWork& stage : plan.step.stages) stage.chunks.resize(static_cast<std::size_t>(p().vpp));
  for (int i = 0; i < parts(); ++i) {
    const model::StageTime t = model::stage_time(gpu, m(), parted, i);
    chunk(i).forward_s = t.forward_s;
    chunk(i).backward_s = t.backward_s;
    chunk(i).layers = layers(i).count;
    plan.step.stages[static_cast<std::size_t>(i % p().pp)].optimizer_s += t.optimizer_s;
  }
}

// Sequence parallelism (Korthikanti et al. 2022, section 4.2.2): per layer two all-gathers and two
// reduce-scatters forward and the same backward; recomputation repeats the forward's.
void Planner::tensor() {
  if (p().tp == 1) return;
  const double size = tokens() * m().hidden * element_bytes();
  const double repeats = shape().recompute == Recompute::kFull ? 3 : 2;
  const double times = 2.0 * most_layers() * repeats * passes();
  const double between = longest_forward() / (4.0 * most_layers());
  const auto gather =
      add("tp all-gather", Op::kAllGather, size, tensor_groups(p()), between, times);
  const auto scatter =
      add("tp reduce-scatter", Op::kReduceScatter, size, tensor_groups(p()), between, times);
  for (int i = 0; i < parts(); ++i) {
    for (const auto phase : {gather, scatter}) {
      chunk(i).forward.push_back({phase, 2.0 * layers(i).count, 0, CommKind::kTp});
      chunk(i).backward.push_back({phase, 2.0 * layers(i).count * (repeats - 1), 0, CommKind::kTp});
    }
  }
}

// Ring attention: keys and values go round the group in cp - 1 steps, each under the attention of
// the block before (Transformer Engine's cp_comm_type "p2p"); backward their gradients go too.
void Planner::context() {
  if (p().cp == 1) return;
  const double kv = 2.0 * std::max(1.0, static_cast<double>(m().kv_heads) / p().tp) * m().head_dim;
  const double size = tokens() * kv * element_bytes();
  // Recomputing the core of attention repeats its exchange, too.
  const bool again = shape().recompute != Recompute::kNone;
  const double times = (p().cp - 1.0) * most_layers() * (again ? 4 : 3) * passes();
  const auto exchange = add("cp keys and values", Op::kSendRecv, size, context_groups(p()),
                            longest_forward() / most_layers(), times);
  const double block = model::attention_time(gpu, m(), shape(), 0) / p().cp;
  for (int i = 0; i < parts(); ++i) {
    const double count = (p().cp - 1.0) * layers(i).count;
    chunk(i).forward.push_back({exchange, count, block, CommKind::kCp});
    if (again) chunk(i).backward.push_back({exchange, count, block, CommKind::kCp});
    chunk(i).backward.push_back(
        {exchange, 2 * count, block * kAttentionBackward / 2, CommKind::kCp});
  }
}

// Dispatch and combine of every MoE layer, forward and backward, each a full exchange in bf16.
void Planner::expert() {
  if (p().ep == 1 || m().experts == 0) return;
  const double size = tokens() / p().tp * m().experts_per_token * m().hidden * element_bytes();
  const double repeats = shape().recompute == Recompute::kFull ? 3 : 2;
  const auto layers_of = [&](int i) {
    const auto l = layers(i);
    return std::max(0, l.first + l.count - std::max(l.first, m().dense_layers));
  };
  int most = 0;
  for (int i = 0; i < parts(); ++i) most = std::max(most, layers_of(i));
  const auto exchange =
      add("ep exchange", Op::kAllToAll, size, expert_groups(p()),
          longest_forward() / (2.0 * most_layers()), 2.0 * most * repeats * passes());
  for (int i = 0; i < parts(); ++i) {
    chunk(i).forward.push_back({exchange, 2.0 * layers_of(i), 0, CommKind::kEp});
    chunk(i).backward.push_back({exchange, 2.0 * layers_of(i) * (repeats - 1), 0, CommKind::kEp});
  }
}

void Planner::pipeline() {
  if (p().pp == 1) return;
  const double size = tokens() * m().hidden * element_bytes() / p().tp;
  plan.step.activations = add("pp activations", Op::kSendRecv, size, pipeline_pairs(p(), false),
                              longest_forward(), passes());
  plan.phases.back().one_way = true;
  plan.step.activation_gradients = add("pp activation gradients", Op::kSendRecv, size,
                                       pipeline_pairs(p(), true), longest_backward(), passes());
  plan.phases.back().one_way = true;
}

void Planner::data() {
  const int ranks = p().dp * p().cp;
  if (ranks == 1) return;
  // What has gradients; frozen weights move only where they are sharded.
  const model::TrainingShape parted = by_chunk();
  double most = 0;
  double held = 0;
  for (int i = 0; i < parts(); ++i) {
    most = std::max(most, model::stage_trained_parameters(m(), parted, i));
    held = std::max(held, model::stage_parameters(m(), parted.parallelism, i, shape().finetuning));
  }
  for (int i = 0; i < parts(); ++i) {
    chunk(i).bucket_share = model::stage_trained_parameters(m(), parted, i) / most;
  }
  const bool gathered = p().zero >= 3;
  plan.step.sharding = gathered        ? Sharding::kParameters
                       : p().zero == 2 ? Sharding::kGradients
                                       : Sharding::kOptimizer;
  // FSDP gathers layer by layer; the distributed optimizer and DDP in Megatron by bucket.
  const double bucket = std::max(kBucketParameters, kBucketParametersPerRank * ranks);
  plan.step.buckets =
      gathered ? most_layers() : std::max(1, static_cast<int>(std::ceil(most / bucket)));
  const double parameters = most / plan.step.buckets;
  const double times = static_cast<double>(plan.step.buckets) * p().vpp;
  const double between = longest_backward() / plan.step.buckets;
  const bool whole = p().zero == 0;
  plan.step.gradients =
      add("dp gradients", whole ? Op::kAllReduce : Op::kReduceScatter, parameters * kGradientBytes,
          gradient_groups(p()), between, times * (p().zero >= 2 ? shape().micro_batches() : 1));
  if (whole) return;
  const double per_gather = gathered ? held / plan.step.buckets : parameters;
  plan.step.parameters = add("dp parameters", Op::kAllGather, per_gather * element_bytes(),
                             gradient_groups(p()), longest_forward() / plan.step.buckets,
                             times * (gathered ? 2 * shape().micro_batches() : 1));
}

}  // namespace

Groups tensor_groups(const Parallelism& p) {
  Groups groups;
  for (int pp = 0; pp < p.pp; ++pp) {
    for (int dp = 0; dp < p.dp; ++dp) {
      for (int cp = 0; cp < p.cp; ++cp) {
        auto& group = groups.emplace_back();
        for (int tp = 0; tp < p.tp; ++tp) group.push_back(rank_of(p, tp, cp, dp, pp));
      }
    }
  }
  return groups;
}

Groups context_groups(const Parallelism& p) {
  Groups groups;
  for (int pp = 0; pp < p.pp; ++pp) {
    for (int dp = 0; dp < p.dp; ++dp) {
      for (int tp = 0; tp < p.tp; ++tp) {
        auto& group = groups.emplace_back();
        for (int cp = 0; cp < p.cp; ++cp) group.push_back(rank_of(p, tp, cp, dp, pp));
      }
    }
  }
  return groups;
}

Groups expert_groups(const Parallelism& p) {
  Groups groups;
  for (int pp = 0; pp < p.pp; ++pp) {
    for (int first = 0; first < p.dp; first += p.ep) {
      for (int cp = 0; cp < p.cp; ++cp) {
        for (int tp = 0; tp < p.tp; ++tp) {
          auto& group = groups.emplace_back();
          for (int e = 0; e < p.ep; ++e) group.push_back(rank_of(p, tp, cp, first + e, pp));
        }
      }
    }
  }
  return groups;
}

Groups gradient_groups(const Parallelism& p) {
  Groups groups;
  for (int pp = 0; pp < p.pp; ++pp) {
    for (int tp = 0; tp < p.tp; ++tp) {
      auto& group = groups.emplace_back();
      for (int dp = 0; dp < p.dp; ++dp) {
        for (int cp = 0; cp < p.cp; ++cp) group.push_back(rank_of(p, tp, cp, dp, pp));
      }
    }
  }
  return groups;
}

Groups pipeline_pairs(const Parallelism& p, bool backward) {
  Groups groups;
  const int pairs = p.vpp > 1 ? p.pp : p.pp - 1;
  for (int pp = 0; pp < pairs; ++pp) {
    for (int dp = 0; dp < p.dp; ++dp) {
      for (int cp = 0; cp < p.cp; ++cp) {
        for (int tp = 0; tp < p.tp; ++tp) {
          const Rank early = rank_of(p, tp, cp, dp, pp);
          const Rank late = rank_of(p, tp, cp, dp, (pp + 1) % p.pp);
          groups.push_back(backward ? std::vector{late, early} : std::vector{early, late});
        }
      }
    }
  }
  return groups;
}

Plan plan(const scenario::TrainingSpec& spec, const catalog::Gpu& gpu,
          const collective::Machine& machine) {
  Planner planner{spec, gpu, machine, {}};
  const Parallelism& p = spec.shape.parallelism;
  planner.plan.step.replicas = p.dp;
  planner.plan.step.group = p.tp * p.cp;
  planner.plan.step.micro_batches = spec.shape.micro_batches();
  planner.plan.step.variation = gpu.kernel_variation_pct / 100;
  planner.plan.step.overlap_slowdown = kOverlapSlowdown;
  planner.stages();
  planner.tensor();
  planner.context();
  planner.expert();
  planner.pipeline();
  planner.data();
  return std::move(planner.plan);
}

}  // namespace fabricast::training
