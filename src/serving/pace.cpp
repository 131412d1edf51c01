#include "serving/pace.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"
#include "collective/losses.h"

namespace fabricast::serving {
namespace {

using base::Bytes;
using base::Rank;
using catalog::LanguageModel;
using collective::Op;

using Groups = std::vector<std::vector<Rank>>;

constexpr double kActivationBytes = 2;
// Experts get their input in FP8 and give back BF16 (DeepSeek-V3, arXiv 2412.19437, section 3.2.2).
constexpr double kDispatchBytes = 1;
// Of two sizes that are sampled, the larger over the smaller.
constexpr int kStep = 4;
// vLLM, csrc/custom_all_reduce.cuh: one shot between two GPUs, below 512 KiB between up to four and
// below 256 KiB between up to eight; two shots beyond.
constexpr std::int64_t kOneShotOfFour = 512 << 10;
constexpr std::int64_t kOneShotOfEight = 256 << 10;
constexpr std::size_t kMostDirect = 8;

/// Ranks along one dimension, in every replica and stage; those of a stage of a replica together.
template <class Each>
Groups groups_of(const Deployment& d, int stages, int per_stage, Each ranks) {
  Groups groups;
  for (int replica = 0; replica < d.replicas; ++replica) {
    for (int stage = 0; stage < stages; ++stage) {
      for (int i = 0; i < per_stage; ++i) groups.push_back(ranks(replica, stage, i));
    }
  }
  return groups;
}

Groups tensor_groups(const Deployment& d) {
  return groups_of(d, d.shape.pp, d.shape.dp, [&](int replica, int stage, int dp) {
    std::vector<Rank> group;
    for (int tp = 0; tp < d.shape.tp; ++tp) group.push_back(d.rank(replica, stage, dp, tp));
    return group;
  });
}

Groups expert_groups(const Deployment& d) {
  return groups_of(d, d.shape.pp, 1, [&](int replica, int stage, int) {
    std::vector<Rank> group;
    for (int dp = 0; dp < d.shape.dp; ++dp) {
      for (int tp = 0; tp < d.shape.tp; ++tp) group.push_back(d.rank(replica, stage, dp, tp));
    }
    return group;
  });
}

Groups stage_pairs(const Deployment& d) {
  return groups_of(d, d.shape.pp - 1, d.shape.tp, [&](int replica, int stage, int tp) {
    return std::vector<Rank>{d.rank(replica, stage, 0, tp), d.rank(replica, stage + 1, 0, tp)};
  });
}

collective::Wishes wishes_of(const catalog::ServingEngine& engine, Op op, Bytes size,
                             const std::vector<Rank>& group, const collective::Machine& machine) {
  const collective::Layout layout =
      collective::layout_of(group, static_cast<std::uint32_t>(machine.gpus_per_node));
  const bool direct = op == Op::kAllReduce && layout.nodes == 1 && machine.nvlink_gb_per_s > 0 &&
                      group.size() <= kMostDirect && group.size() % 2 == 0 &&
                      static_cast<double>(size.count()) <= engine.custom_all_reduce_kb * 1e3;
  if (!direct) return {};
  const std::int64_t most = group.size() <= 4 ? kOneShotOfFour : kOneShotOfEight;
  const bool one_shot = group.size() == 2 || size.count() < most;
  return {.algorithm =
              one_shot ? collective::Algorithm::kOneShot : collective::Algorithm::kTwoShot};
}

CommCurve::Point point_of(double bytes, const network::PhaseSamples& samples) {
  CommCurve::Point point{bytes, base::mean(samples.seconds), samples.seconds};
  std::ranges::sort(point.seconds);
  return point;
}

std::vector<int> sizes_up_to(int most) {
  std::vector<int> sizes;
  for (int tokens = 1; tokens < most; tokens *= kStep) sizes.push_back(tokens);
  sizes.push_back(most);
  return sizes;
}

}  // namespace

Rank Deployment::rank(int replica, int stage, int dp, int tp) const {
  const int local = tp + shape.tp * (dp + shape.dp * stage);
  return Rank(static_cast<std::uint32_t>(first_gpu + replica * shape.gpus() + local));
}

std::vector<CommKind> comm_kinds(const LanguageModel& m, const Deployment& d) {
  using Runs = CommKind::Runs;
  const double width = m.hidden * kActivationBytes;
  std::vector<CommKind> kinds;
  const auto add = [&](std::string name, Op op, Runs runs, double count, double bytes,
                       Groups groups, int alone) {
    kinds.push_back({std::move(name), op, runs, count, bytes, std::move(groups),
                     static_cast<std::size_t>(alone)});
  };
  if (d.shape.tp > 1) {
    // After attention and after the MLP (Shoeybi et al. 2019, section 3); behind experts that are
    // everybody's, what comes back is complete. Embeddings are cut by rows.
    const bool exchanged = d.shape.dp > 1;
    add("tp all-reduce", Op::kAllReduce, Runs::kPerLayer, exchanged ? 1 : 2, width,
        tensor_groups(d), d.shape.dp);
    add("tp logits", Op::kAllGather, Runs::kLogits, 1, m.vocabulary * kActivationBytes,
        tensor_groups(d), d.shape.dp);
  }
  if (d.shape.dp > 1) {
    // Every GPU of a rank sends its share of the rank's tokens to their experts.
    const double copies = static_cast<double>(m.experts_per_token) / d.shape.tp;
    add("ep dispatch", Op::kAllToAll, Runs::kPerMixtureLayer, 1, copies * m.hidden * kDispatchBytes,
        expert_groups(d), 1);
    add("ep combine", Op::kAllToAll, Runs::kPerMixtureLayer, 1, copies * width, expert_groups(d),
        1);
  }
  if (d.shape.pp > 1) {
    add("pp activations", Op::kSendRecv, Runs::kBetween, 1, width, stage_pairs(d), d.shape.tp);
  }
  return kinds;
}

// Between two sizes a straight line: latency and a rate. The sum of n independent runs has n times
// the mean and sqrt(n) times the deviation of one.
double CommCurve::seconds(double bytes, double count, double u) const {
  const double root = std::sqrt(count);
  const auto at = [&](const Point& point) {
    const auto k = static_cast<std::size_t>(u * static_cast<double>(point.seconds.size()));
    return std::max(0.0, count * point.mean + root * (point.seconds[k] - point.mean));
  };
  if (bytes <= points_.front().bytes) return at(points_.front());
  for (std::size_t i = 1; i < points_.size(); ++i) {
    const Point& high = points_[i];
    if (bytes > high.bytes && i + 1 < points_.size()) continue;
    const Point& low = points_[i - 1];
    const double share = (bytes - low.bytes) / (high.bytes - low.bytes);
    return (1 - share) * at(low) + share * at(high);
  }
  return at(points_.back());
}

double largest_normal(double u, int n) {
  // Acklam's rational approximation of the normal quantile is more than is needed here; that of
  // Abramowitz and Stegun 26.2.23 is within 4.5e-4.
  const double p = std::pow(std::max(u, 1e-12), 1.0 / n);
  const double tail = std::min(p, 1 - p);
  if (tail <= 0) return 8;
  const double t = std::sqrt(-2 * std::log(tail));
  const double x = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                           (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  return p < 0.5 ? -x : x;
}

Pace::Pace(const scenario::ServingSpec& spec, const catalog::Gpu& gpu, const Deployment& deployment,
           const collective::Machine& machine, const catalog::FabricProfile& profile,
           const fabric::Fabric& fabric, collective::Sampler& sampler,
           std::vector<SampledPhase>& reports)
    : spec_(spec), shape_(deployment.shape) {
  for (int stage = 0; stage < shape_.pp; ++stage) {
    stages_.emplace_back(gpu, spec.model, shape_, stage);
  }
  variation_ = gpu.kernel_variation_pct / 100;
  timeout_s_ = collective::timeout_s(profile);
  for (CommKind& kind : comm_kinds(spec.model, deployment)) {
    const bool logits = kind.runs == CommKind::Runs::kLogits;
    const int most = logits ? std::min(spec.engine.max_num_seqs, spec.engine.max_num_batched_tokens)
                            : spec.engine.max_num_batched_tokens;
    std::vector<CommCurve::Point> alone;
    std::vector<CommCurve::Point> together;
    double timeouts = 0;
    for (const int tokens : sizes_up_to(most)) {
      const double bytes = std::max(1.0, tokens * kind.bytes_per_token);
      const Bytes size = Bytes::from(bytes);
      const auto sampled = [&](const Groups& groups, const char* whose) {
        collective::Phase phase =
            collective::phase_of(kind.name + whose, kind.op, size, groups, machine,
                                 wishes_of(spec.engine, kind.op, size, groups[0], machine));
        phase.one_way = kind.runs == CommKind::Runs::kBetween;
        // What a GPU does between two of them, at least.
        phase.preceding_s = stages_[0].layers_s(tokens, tokens) / stages_[0].layers() / 2;
        const bool probe = !phase.inside_nodes && tokens == most && !logits;
        const auto found = sampler(phase, probe);
        timeouts = collective::expected_timeouts(phase, fabric, profile) / bytes;
        reports.push_back({std::move(phase), found.samples, found.flow});
        return point_of(bytes, *found.samples);
      };
      const Groups first(kind.groups.begin(),
                         kind.groups.begin() + static_cast<std::ptrdiff_t>(kind.alone));
      alone.push_back(sampled(first, ""));
      if (!reports.back().phase.inside_nodes && kind.groups.size() > kind.alone) {
        together.push_back(sampled(kind.groups, ", all replicas"));
      }
    }
    curves_.push_back(
        {std::move(kind), CommCurve(std::move(alone)), CommCurve(std::move(together)), timeouts});
  }
}

double Pace::runs(const CommKind& kind, int stage) const {
  const model::InferenceTimes& times = stages_[static_cast<std::size_t>(stage)];
  switch (kind.runs) {
    case CommKind::Runs::kPerLayer:
      return kind.count * times.layers() + (stage == 0 ? 1 : 0);
    case CommKind::Runs::kPerMixtureLayer:
      return kind.count * times.mixture_layers();
    case CommKind::Runs::kLogits:
      return stage + 1 == stages() ? kind.count : 0;
    case CommKind::Runs::kBetween:
      return stage + 1 < stages() ? kind.count : 0;
  }
  return 0;
}

double Pace::comm_s(const Curve& curve, double bytes, double count, double duty,
                    base::RandomStream& random, Taken& taken) const {
  const bool shared = !curve.together.empty() && random.uniform() < duty;
  double seconds = (shared ? curve.together : curve.alone).seconds(bytes, count, random.uniform());
  const double expected = curve.timeouts_per_byte * bytes * count;
  if (expected > 0) {
    const auto timeouts = static_cast<double>(random.poisson(expected));
    taken.timeouts += timeouts;
    seconds += timeouts * timeout_s_;
  }
  taken.comm_s += seconds;
  return seconds;
}

void Pace::take(const std::vector<Batch>& ranks, double duty, base::RandomStream& random,
                Taken& taken) const {
  taken.stage_s.assign(stages_.size(), 0);
  taken.hop_s.assign(stages_.size(), 0);
  taken.compute_s = taken.comm_s = taken.timeouts = taken.total_s = 0;
  int together = 0;
  int most = 0;
  int sampled = 0;
  double sequences = 0;
  for (const Batch& batch : ranks) {
    together += batch.tokens;
    most = std::max(most, batch.tokens);
    sampled = std::max(sampled, batch.sampled);
    sequences = std::max(sequences, static_cast<double>(batch.parts.size()));
  }
  taken.host_s = (spec_.engine.step_us + spec_.engine.sequence_us * sequences) * 1e-6;
  for (int stage = 0; stage < stages(); ++stage) {
    const model::InferenceTimes& times = stages_[static_cast<std::size_t>(stage)];
    double slowest = 0;
    double sum = 0;
    for (const Batch& batch : ranks) {
      const double own = times.layers_s(batch.tokens, together) + times.head_s(batch.sampled) +
                         times.prompts_s(batch.prompts) + times.decodes_s(batch.decodes);
      slowest = std::max(slowest, own);
      sum += own;
    }
    const double mean = sum / static_cast<double>(ranks.size());
    const int gpus = shape_.tp * shape_.dp;
    const double late = variation_ * largest_normal(random.uniform(), gpus);
    double seconds = slowest * std::max(0.5, 1 + late);
    // A GPU alone waits for nobody: it takes longer itself.
    const double own = gpus == 1 ? seconds : mean;
    taken.compute_s += own / stages();
    taken.comm_s += seconds - own;
    for (const Curve& curve : curves_) {
      const double count = runs(curve.kind, stage);
      if (count == 0) continue;
      const bool logits = curve.kind.runs == CommKind::Runs::kLogits;
      const int tokens = logits ? sampled : most;
      if (tokens == 0) continue;
      const double comm =
          comm_s(curve, tokens * curve.kind.bytes_per_token, count, duty, random, taken);
      (curve.kind.runs == CommKind::Runs::kBetween ? taken.hop_s[static_cast<std::size_t>(stage)]
                                                   : seconds) += comm;
    }
    if (stage == 0) seconds += taken.host_s;
    taken.stage_s[static_cast<std::size_t>(stage)] = seconds;
    taken.total_s += seconds + taken.hop_s[static_cast<std::size_t>(stage)];
  }
}

}  // namespace fabricast::serving
