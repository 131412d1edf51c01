#include "training/step.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/parallel.h"
#include "base/random.h"
#include "base/statistics.h"

namespace fabricast::training {
namespace {

// Above this many draws their sum is drawn from the normal distribution it tends to.
constexpr double kDrawsOneByOne = 16;
// A GPU does not get faster than this however the draw falls.
constexpr double kFastest = 0.5;

/// Durations of a phase, drawn with replacement.
class Distribution {
 public:
  explicit Distribution(const std::vector<double>& sample)
      : sample_(&sample), mean_(base::mean(sample)), sigma_(base::standard_deviation(sample)) {}

  double draw(base::RandomStream& random) const {
    return (*sample_)[random.below(sample_->size())];
  }
  /// Sum of `count` draws, of each what exceeds `hidden`.
  double sum(double count, double hidden, base::RandomStream& random) const {
    if (count <= kDrawsOneByOne) {
      double total = 0;
      for (int i = 0; i < static_cast<int>(std::lround(count)); ++i) {
        total += std::max(0.0, draw(random) - hidden);
      }
      return total;
    }
    double mean = mean_;
    double sigma = sigma_;
    if (hidden > 0) {
      std::vector<double> rest;
      for (const double t : *sample_) rest.push_back(std::max(0.0, t - hidden));
      mean = base::mean(rest);
      sigma = base::standard_deviation(rest);
    }
    if (sigma <= 0) return count * mean;
    return std::max(0.0, count * mean + std::sqrt(count) * sigma * random.normal());
  }

 private:
  const std::vector<double>* sample_;
  double mean_;
  double sigma_;
};

/// How a stage's first forward and last backward differ from the others, per replica.
struct Edge {
  const std::vector<double>* gathered = nullptr;  ///< per stage x bucket: when parameters are there
  int buckets = 1;
  double slowdown = 0;
};

/// A forward that starts at `start` and must not use a bucket of parameters before it is there.
double gathered_forward(double start, double duration, const double* gathered, const Edge& edge) {
  const double chunk = duration / edge.buckets;
  const double last = gathered[edge.buckets - 1];
  double now = start;
  for (int j = 0; j < edge.buckets; ++j) {
    now = std::max(now, gathered[j]);
    now += chunk * (now < last ? 1 + edge.slowdown : 1);
  }
  return now;
}

/// One replica's pipeline under 1F1B. Sends block the sender until they are through, as Megatron's
/// p2p communication does without interleaving.
class Pipeline {
 public:
  Pipeline(const PipelineTimes& times, bool with_transfers, const Edge& edge, bool leave_last)
      : t_(times),
        with_transfers_(with_transfers),
        edge_(edge),
        leave_last_(leave_last),
        free_(static_cast<std::size_t>(times.stages), 0),
        end_(free_),
        position_(static_cast<std::size_t>(times.stages), 0),
        activation_(times.forward.size(), -1),
        gradient_(times.forward.size(), -1) {
    for (int s = 0; s < t_.stages; ++s) {
      for (int k = 0; k < t_.micro_batches; ++k) {
        if (s == 0) activation_[t_.at(s, k)] = 0;
        if (s == t_.stages - 1) gradient_[t_.at(s, k)] = 0;
      }
    }
  }

  void run() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (int s = 0; s < t_.stages; ++s) {
        while (step(s)) moved = true;
      }
    }
  }

  double free(int stage) const { return free_[static_cast<std::size_t>(stage)]; }
  double end() const { return *std::max_element(end_.begin(), end_.end()); }

 private:
  /// Does the next operation of a stage; false when its input is not there or nothing is left.
  bool step(int s) {
    const auto stage = static_cast<std::size_t>(s);
    const int m = t_.micro_batches;
    const int warm_up = std::min(t_.stages - 1 - s, m);
    const int i = position_[stage];
    if (i >= 2 * m - (leave_last_ ? 1 : 0)) return false;
    const bool steady = i >= warm_up && i < 2 * m - warm_up;
    const bool forward = i < warm_up || (steady && (i - warm_up) % 2 == 0);
    const int k = i < warm_up ? i
                  : !steady   ? i - m
                  : forward   ? warm_up + (i - warm_up) / 2
                              : (i - warm_up) / 2;
    if (!(forward ? do_forward(s, k) : do_backward(s, k))) return false;
    ++position_[stage];
    return true;
  }

  bool do_forward(int s, int k) {
    const std::size_t here = t_.at(s, k);
    if (activation_[here] < 0) return false;
    double& free = free_[static_cast<std::size_t>(s)];
    const double start = std::max(free, activation_[here]);
    free = k == 0 && edge_.gathered != nullptr
               ? gathered_forward(start, t_.forward[here],
                                  edge_.gathered->data() + s * edge_.buckets, edge_)
               : start + t_.forward[here];
    if (s + 1 < t_.stages) {
      if (with_transfers_) free += t_.to_next[here];
      activation_[t_.at(s + 1, k)] = free;
    }
    return true;
  }

  bool do_backward(int s, int k) {
    const std::size_t here = t_.at(s, k);
    if (gradient_[here] < 0) return false;
    double& free = free_[static_cast<std::size_t>(s)];
    free = std::max(free, gradient_[here]) + t_.backward[here];
    end_[static_cast<std::size_t>(s)] = free;
    if (s > 0) {
      if (with_transfers_) free += t_.to_previous[here];
      gradient_[t_.at(s - 1, k)] = free;
    }
    return true;
  }

  const PipelineTimes& t_;
  bool with_transfers_;
  Edge edge_;
  bool leave_last_;  ///< stop before the last backward of every stage
  std::vector<double> free_;
  std::vector<double> end_;
  std::vector<int> position_;
  std::vector<double> activation_;  ///< when the input of a forward is there; -1: unknown
  std::vector<double> gradient_;
};

/// What one (replica, stage) does in a step.
struct Cell {
  double compute = 0;  ///< of its mean GPU
  std::array<double, kCommKinds> exposed{};
  double stalled = 0;            ///< ZeRO-3 transfers that compute does not cover
  double busy = 0;               ///< all of the above, as long as the slowest GPU of the group
  double fastest_optimizer = 0;  ///< of its mean GPU
  double optimizer = 0;          ///< of its slowest
  double free = 0;               ///< when its last backward may start
  double last_backward = 0;
  double last_transfer = 0;  ///< of the gradient that the last backward sends
};

/// One iteration: draws all durations, then plays them three times.
class Iteration {
 public:
  Iteration(const StepWork& work, const std::vector<Distribution>& phases, std::uint64_t seed,
            std::uint64_t index)
      : work_(work),
        phases_(phases),
        random_(seed, "step", index),
        stages_(static_cast<int>(work.stages.size())),
        cells_(work.stages.size() * static_cast<std::size_t>(work.replicas)) {}

  Step play();

 private:
  Cell& cell(int replica, int stage) {
    return cells_[static_cast<std::size_t>(replica) * static_cast<std::size_t>(stages_) +
                  static_cast<std::size_t>(stage)];
  }
  double draw(std::optional<std::size_t> phase) {
    return phase ? phases_[*phase].draw(random_) : 0;
  }
  void draw_gathers();
  PipelineTimes draw_times(int replica);
  double draw_pass(const std::vector<CommTerm>& terms, double compute, double slowest, double mean,
                   bool backward, double share, Cell& cell);
  double drain();
  Breakdown attribute(double gradients_done, double optimizer_done);

  const StepWork& work_;
  const std::vector<Distribution>& phases_;
  base::RandomStream random_;
  int stages_;
  std::vector<Cell> cells_;
  std::vector<double> gathered_;
  std::vector<double> ideal_;      ///< per replica: pipeline alone
  std::vector<double> connected_;  ///< per replica: with transfers between stages
};

// All stages start to gather at the start of the step (align_param_gather), one bucket after the
// other.
void Iteration::draw_gathers() {
  for (const StageWork& stage : work_.stages) {
    double at = 0;
    for (int j = 0; j < work_.buckets; ++j) {
      at += draw(work_.parameters) * stage.bucket_share;
      gathered_.push_back(at);
    }
  }
}

/// Duration of one forward or backward of the group, its parts booked in `cell`.
double Iteration::draw_pass(const std::vector<CommTerm>& terms, double compute, double slowest,
                            double mean, bool backward, double share, Cell& cell) {
  double duration = compute * slowest;
  cell.compute += compute * mean;
  // Peers wait for the slowest of their group at the next collective.
  cell.exposed[static_cast<std::size_t>(CommKind::kTp)] += compute * (slowest - mean);
  for (const CommTerm& term : terms) {
    const double t = phases_[term.phase].sum(term.count, term.hidden_s, random_);
    cell.exposed[static_cast<std::size_t>(term.kind)] += t;
    duration += t;
  }
  if (work_.sharded_parameters) {
    double traffic = phases_[*work_.parameters].sum(work_.buckets, 0, random_) * share;
    if (backward) traffic += phases_[*work_.gradients].sum(work_.buckets, 0, random_) * share;
    const double stall = std::max(0.0, traffic - duration);
    cell.stalled += stall;
    duration += stall;
  }
  cell.busy += duration;
  return duration;
}

PipelineTimes Iteration::draw_times(int replica) {
  PipelineTimes times;
  times.stages = stages_;
  times.micro_batches = work_.micro_batches;
  for (int s = 0; s < stages_; ++s) {
    const StageWork& stage = work_.stages[static_cast<std::size_t>(s)];
    double slowest = 0;
    double mean = 0;
    for (int g = 0; g < work_.group; ++g) {
      const double pace = std::max(kFastest, 1 + work_.variation * random_.normal());
      slowest = std::max(slowest, pace);
      mean += pace / work_.group;
    }
    Cell& here = cell(replica, s);
    here.fastest_optimizer = stage.optimizer_s * mean;
    here.optimizer = stage.optimizer_s * slowest;
    for (int k = 0; k < work_.micro_batches; ++k) {
      times.forward.push_back(draw_pass(stage.forward, stage.forward_s, slowest, mean, false,
                                        stage.bucket_share, here));
      times.backward.push_back(draw_pass(stage.backward, stage.backward_s, slowest, mean, true,
                                         stage.bucket_share, here));
      times.to_next.push_back(draw(work_.activations));
      times.to_previous.push_back(draw(work_.activation_gradients));
    }
    here.last_backward = times.backward.back();
    here.last_transfer = times.to_previous.back();
  }
  return times;
}

/// The last backward of every stage, over which the gradient buckets are reduced as they become
/// ready in all replicas. Returns when the last bucket of the last stage is done.
double Iteration::drain() {
  std::vector<double> arrival(static_cast<std::size_t>(work_.replicas), 0);
  double done = 0;
  for (int s = stages_ - 1; s >= 0; --s) {
    const double share = work_.stages[static_cast<std::size_t>(s)].bucket_share;
    std::vector<double> now;
    for (int d = 0; d < work_.replicas; ++d) {
      now.push_back(std::max(cell(d, s).free, arrival[static_cast<std::size_t>(d)]));
    }
    double wire = 0;
    for (int j = 0; j < work_.buckets; ++j) {
      double ready = 0;
      for (int d = 0; d < work_.replicas; ++d) {
        double& t = now[static_cast<std::size_t>(d)];
        const bool busy = work_.gradients && wire > t;
        t += cell(d, s).last_backward / work_.buckets * (busy ? 1 + work_.overlap_slowdown : 1);
        ready = std::max(ready, t);
      }
      if (work_.gradients) wire = std::max(wire, ready) + draw(work_.gradients) * share;
    }
    for (int d = 0; d < work_.replicas; ++d) {
      const double t = now[static_cast<std::size_t>(d)];
      arrival[static_cast<std::size_t>(d)] = t + (s > 0 ? cell(d, s).last_transfer : 0);
      done = std::max(done, t);
    }
    done = std::max(done, wire);
  }
  return done;
}

Breakdown Iteration::attribute(double gradients_done, double optimizer_done) {
  Breakdown sum;
  for (int d = 0; d < work_.replicas; ++d) {
    const auto r = static_cast<std::size_t>(d);
    for (int s = 0; s < stages_; ++s) {
      const Cell& c = cell(d, s);
      sum.compute += c.compute + c.fastest_optimizer;
      sum.exposed_tp += c.exposed[static_cast<std::size_t>(CommKind::kTp)];
      sum.exposed_cp += c.exposed[static_cast<std::size_t>(CommKind::kCp)];
      sum.exposed_ep += c.exposed[static_cast<std::size_t>(CommKind::kEp)];
      sum.bubble += ideal_[r] - c.busy;
      sum.exposed_pp += connected_[r] - ideal_[r];
      sum.exposed_dp += c.stalled + gradients_done - connected_[r] +
                        (optimizer_done - gradients_done - c.fastest_optimizer);
    }
  }
  const auto cells = static_cast<double>(cells_.size());
  for (double* part : {&sum.compute, &sum.exposed_tp, &sum.exposed_pp, &sum.exposed_dp,
                       &sum.exposed_ep, &sum.exposed_cp, &sum.bubble}) {
    *part /= cells;
  }
  return sum;
}

Step Iteration::play() {
  if (work_.parameters) draw_gathers();
  Edge edge;
  if (work_.parameters && !work_.sharded_parameters) {
    edge = {&gathered_, work_.buckets, work_.overlap_slowdown};
  }
  for (int d = 0; d < work_.replicas; ++d) {
    const PipelineTimes times = draw_times(d);
    ideal_.push_back(pipeline_time(times, false));
    connected_.push_back(pipeline_time(times, true));
    Pipeline whole(times, true, edge, true);
    whole.run();
    for (int s = 0; s < stages_; ++s) cell(d, s).free = whole.free(s);
  }
  // The norm of all gradients is needed before anyone may take the optimizer's step.
  const double gradients_done = drain();
  double longest = 0;
  for (const Cell& c : cells_) longest = std::max(longest, c.optimizer);
  Step step;
  step.seconds = gradients_done + longest;
  step.breakdown = attribute(gradients_done, step.seconds);
  return step;
}

}  // namespace

double pipeline_time(const PipelineTimes& times, bool with_transfers) {
  Pipeline pipeline(times, with_transfers, {}, false);
  pipeline.run();
  return pipeline.end();
}

std::vector<Step> play(const StepWork& work, const std::vector<std::vector<double>>& samples,
                       int iterations, std::uint64_t seed, int threads) {
  std::vector<Distribution> phases;
  phases.reserve(samples.size());
  for (const auto& sample : samples) phases.emplace_back(sample);
  std::vector<Step> steps(static_cast<std::size_t>(iterations));
  base::parallel_for(steps.size(), threads,
                     [&](std::size_t i) { steps[i] = Iteration(work, phases, seed, i).play(); });
  return steps;
}

}  // namespace fabricast::training
