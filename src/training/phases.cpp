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
// NCCL_P2P_NET_CHUNKSIZE and NCCL_P2P_NVL_CHUNKSIZE of NCCL's documentation of its variables.
constexpr std::int64_t kNetPairChunk = 128 << 10;
constexpr std::int64_t kNvlPairChunk = 512 << 10;

Rank rank_of(const Parallelism& p, int tp, int cp, int dp, int pp) {
  return Rank(static_cast<std::uint32_t>(tp + p.tp * (cp + p.cp * (dp + p.dp * pp))));
}

bool inside_nodes(const Groups& groups, int gpus_per_node) {
  const auto node = [&](Rank r) { return static_cast<int>(r.index()) / gpus_per_node; };
  return std::all_of(groups.begin(), groups.end(), [&](const auto& group) {
    return std::all_of(group.begin(), group.end(),
                       [&](Rank r) { return node(r) == node(group[0]); });
  });
}

/// Two channels per adapter that the group can use; inside a node four keep a port busy.
collective::Cutting cutting_of(Op op, const Groups& groups, bool inside, int gpus_per_node) {
  collective::Cutting cutting;
  cutting.gpus_per_node = static_cast<std::uint32_t>(gpus_per_node);
  if (op == Op::kSendRecv || op == Op::kAllToAll) {
    cutting.channels = 2;
    cutting.chunk = Bytes(inside ? kNvlPairChunk : kNetPairChunk);
    return cutting;
  }
  const std::uint32_t first = groups[0][0].index() / cutting.gpus_per_node;
  const auto local = std::count_if(groups[0].begin(), groups[0].end(), [&](Rank r) {
    return r.index() / cutting.gpus_per_node == first;
  });
  cutting.channels = inside ? 4U : 2U * static_cast<std::uint32_t>(local);
  return cutting;
}

/// Collects phases; knows what all of them share.
struct Planner {
  const scenario::TrainingSpec& spec;
  const catalog::Gpu& gpu;
  int gpus_per_node;
  Plan plan;

  const LanguageModel& m() const { return spec.model; }
  const TrainingShape& shape() const { return spec.shape; }
  const Parallelism& p() const { return spec.shape.parallelism; }
  double element_bytes() const { return shape().precision == catalog::Precision::kFp32 ? 4 : 2; }
  /// Tokens of one micro-batch that a context-parallel rank holds.
  double tokens() const {
    return static_cast<double>(shape().micro_batch) * shape().sequence / p().cp;
  }
  /// The longest time of any stage, for the skew between ranks.
  double longest_forward() const {
    double t = 0;
    for (const StageWork& s : plan.step.stages) t = std::max(t, s.forward_s);
    return t;
  }
  double longest_backward() const {
    double t = 0;
    for (const StageWork& s : plan.step.stages) t = std::max(t, s.backward_s);
    return t;
  }
  int most_layers() const { return model::stage_layers(m(), p().pp, 0).count; }

  std::size_t add(std::string name, Op op, double size, Groups groups, double preceding_s,
                  double times_per_step) {
    Phase phase;
    phase.name = std::move(name);
    phase.op = op;
    phase.size = std::max(Bytes(1), Bytes::from(size));
    phase.inside_nodes = inside_nodes(groups, gpus_per_node);
    phase.cutting = cutting_of(op, groups, phase.inside_nodes, gpus_per_node);
    phase.groups = std::move(groups);
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
  for (int s = 0; s < p().pp; ++s) {
    const model::StageTime t = model::stage_time(gpu, m(), shape(), s);
    StageWork& stage = plan.step.stages.emplace_back();
    stage.forward_s = t.forward_s;
    stage.backward_s = t.backward_s;
    stage.optimizer_s = t.optimizer_s;
  }
}

// Sequence parallelism (Korthikanti et al. 2022, section 4.2.2): per layer two all-gathers and two
// reduce-scatters forward and the same backward; recomputation repeats the forward's.
void Planner::tensor() {
  if (p().tp == 1) return;
  const double size = tokens() * m().hidden * element_bytes();
  const double passes = shape().recompute ? 3 : 2;
  const double times = 2.0 * most_layers() * passes * shape().micro_batches();
  const double between = longest_forward() / (4.0 * most_layers());
  const auto gather =
      add("tp all-gather", Op::kAllGather, size, tensor_groups(p()), between, times);
  const auto scatter =
      add("tp reduce-scatter", Op::kReduceScatter, size, tensor_groups(p()), between, times);
  for (int s = 0; s < p().pp; ++s) {
    StageWork& stage = plan.step.stages[static_cast<std::size_t>(s)];
    const double layers = model::stage_layers(m(), p().pp, s).count;
    for (const auto phase : {gather, scatter}) {
      stage.forward.push_back({phase, 2 * layers, 0, CommKind::kTp});
      stage.backward.push_back({phase, 2 * layers * (passes - 1), 0, CommKind::kTp});
    }
  }
}

// Ring attention: keys and values go round the group in cp - 1 steps, each under the attention of
// the block before (Transformer Engine's cp_comm_type "p2p"); backward their gradients go too.
void Planner::context() {
  if (p().cp == 1) return;
  const double kv = 2.0 * std::max(1.0, static_cast<double>(m().kv_heads) / p().tp) * m().head_dim;
  const double size = tokens() * kv * element_bytes();
  const double passes = shape().recompute ? 4 : 3;
  const double times = (p().cp - 1.0) * most_layers() * passes * shape().micro_batches();
  const auto exchange = add("cp keys and values", Op::kSendRecv, size, context_groups(p()),
                            longest_forward() / most_layers(), times);
  const double block = model::attention_time(gpu, m(), shape(), 0) / p().cp;
  for (int s = 0; s < p().pp; ++s) {
    StageWork& stage = plan.step.stages[static_cast<std::size_t>(s)];
    const double count = (p().cp - 1.0) * model::stage_layers(m(), p().pp, s).count;
    stage.forward.push_back({exchange, count, block, CommKind::kCp});
    if (shape().recompute) stage.backward.push_back({exchange, count, block, CommKind::kCp});
    stage.backward.push_back({exchange, 2 * count, block * kAttentionBackward / 2, CommKind::kCp});
  }
}

// Dispatch and combine of every MoE layer, forward and backward, each a full exchange in bf16.
void Planner::expert() {
  if (p().ep == 1 || m().experts == 0) return;
  const double size = tokens() / p().tp * m().experts_per_token * m().hidden * element_bytes();
  const double passes = shape().recompute ? 3 : 2;
  const auto layers_of = [&](int s) {
    const auto l = model::stage_layers(m(), p().pp, s);
    return std::max(0, l.first + l.count - std::max(l.first, m().dense_layers));
  };
  int most = 0;
  for (int s = 0; s < p().pp; ++s) most = std::max(most, layers_of(s));
  const auto exchange =
      add("ep exchange", Op::kAllToAll, size, expert_groups(p()),
          longest_forward() / (2.0 * most_layers()), 2.0 * most * passes * shape().micro_batches());
  for (int s = 0; s < p().pp; ++s) {
    StageWork& stage = plan.step.stages[static_cast<std::size_t>(s)];
    stage.forward.push_back({exchange, 2.0 * layers_of(s), 0, CommKind::kEp});
    stage.backward.push_back({exchange, 2.0 * layers_of(s) * (passes - 1), 0, CommKind::kEp});
  }
}

void Planner::pipeline() {
  if (p().pp == 1) return;
  const double size = tokens() * m().hidden * element_bytes() / p().tp;
  plan.step.activations = add("pp activations", Op::kSendRecv, size, pipeline_pairs(p(), false),
                              longest_forward(), shape().micro_batches());
  plan.step.activation_gradients =
      add("pp activation gradients", Op::kSendRecv, size, pipeline_pairs(p(), true),
          longest_backward(), shape().micro_batches());
}

void Planner::data() {
  const int ranks = p().dp * p().cp;
  if (ranks == 1) return;
  // What has gradients; frozen weights move only where they are sharded.
  double most = 0;
  double held = 0;
  for (int s = 0; s < p().pp; ++s) {
    most = std::max(most, model::stage_trained_parameters(m(), shape(), s));
    held = std::max(held, model::stage_parameters(m(), p(), s, shape().finetuning));
  }
  for (int s = 0; s < p().pp; ++s) {
    plan.step.stages[static_cast<std::size_t>(s)].bucket_share =
        model::stage_trained_parameters(m(), shape(), s) / most;
  }
  // FSDP gathers layer by layer; the distributed optimizer and DDP in Megatron by bucket.
  const double bucket = std::max(kBucketParameters, kBucketParametersPerRank * ranks);
  plan.step.sharded_parameters = p().zero >= 3;
  plan.step.buckets = plan.step.sharded_parameters
                          ? most_layers()
                          : std::max(1, static_cast<int>(std::ceil(most / bucket)));
  const double parameters = most / plan.step.buckets;
  const double times = plan.step.buckets;
  const double between = longest_backward() / plan.step.buckets;
  const bool whole = p().zero == 0;
  plan.step.gradients =
      add("dp gradients", whole ? Op::kAllReduce : Op::kReduceScatter, parameters * kGradientBytes,
          gradient_groups(p()), between, times * (p().zero >= 3 ? shape().micro_batches() : 1));
  if (whole) return;
  const double gathered = plan.step.sharded_parameters ? held / plan.step.buckets : parameters;
  plan.step.parameters = add("dp parameters", Op::kAllGather, gathered * element_bytes(),
                             gradient_groups(p()), longest_forward() / plan.step.buckets,
                             times * (p().zero >= 3 ? 2 * shape().micro_batches() : 1));
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
  for (int pp = 0; pp + 1 < p.pp; ++pp) {
    for (int dp = 0; dp < p.dp; ++dp) {
      for (int cp = 0; cp < p.cp; ++cp) {
        for (int tp = 0; tp < p.tp; ++tp) {
          const Rank early = rank_of(p, tp, cp, dp, pp);
          const Rank late = rank_of(p, tp, cp, dp, pp + 1);
          groups.push_back(backward ? std::vector{late, early} : std::vector{early, late});
        }
      }
    }
  }
  return groups;
}

Plan plan(const scenario::TrainingSpec& spec, const catalog::Gpu& gpu, int gpus_per_node) {
  Planner planner{spec, gpu, gpus_per_node, {}};
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
