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
  struct Sum {
    double all = 0;
    double exposed = 0;  ///< what exceeds the part that is hidden
  };
  /// Sum of `count` draws. Takes as many random numbers whatever the sample holds.
  Sum sum(double count, double hidden, base::RandomStream& random) const {
    Sum total;
    if (count <= kDrawsOneByOne) {
      for (int i = 0; i < static_cast<int>(std::lround(count)); ++i) {
        const double t = draw(random);
        total.all += t;
        total.exposed += std::max(0.0, t - hidden);
      }
      return total;
    }
    const double z = std::sqrt(count) * random.normal();
    total.all = std::max(0.0, count * mean_ + z * sigma_);
    if (hidden <= 0) return {total.all, total.all};
    std::vector<double> rest;
    for (const double t : *sample_) rest.push_back(std::max(0.0, t - hidden));
    total.exposed = std::max(0.0, count * base::mean(rest) + z * base::standard_deviation(rest));
    return total;
  }

 private:
  const std::vector<double>* sample_;
  double mean_;
  double sigma_;
};

/// What one (replica, stage) does in a step.
struct Cell {
  double compute = 0;  ///< of its mean GPU
  std::array<double, kCommKinds> exposed{};
  std::array<double, kCommKinds> wire{};
  double busy = 0;            ///< all of its passes, as long as the slowest GPU of the group
  double mean_optimizer = 0;  ///< of its mean GPU
  double optimizer = 0;       ///< of its slowest
  double transfers = 0;
};

/// One iteration: draws all durations, then plays them three times.
class Iteration {
 public:
  Iteration(const StepWork& work, const std::vector<Distribution>& phases, std::uint64_t seed,
            std::uint64_t index)
      : work_(work),
        phases_(phases),
        random_(seed, "step", index),
        lost_(seed, "timeouts", index),
        hosts_(seed, "hosts", index),
        stages_(static_cast<int>(work.stages.size())),
        shape_{stages_, static_cast<int>(work.stages[0].chunks.size()), work.micro_batches},
        cells_(work.stages.size() * static_cast<std::size_t>(work.replicas)) {}

  /// `traced` may be null; else it gets what happened in replica 0.
  Step play(TracedStep* traced = nullptr);

 private:
  Cell& cell(int replica, int stage) {
    return cells_[static_cast<std::size_t>(replica) * static_cast<std::size_t>(stages_) +
                  static_cast<std::size_t>(stage)];
  }
  double draw(std::optional<std::size_t> phase) {
    return phase ? phases_[*phase].draw(random_) + timeouts(*phase, 1) : 0;
  }
  /// What lost packets cost `count` runs of a phase.
  double timeouts(std::size_t phase, double count) {
    if (work_.timeouts.empty()) return 0;
    return static_cast<double>(lost_.poisson(work_.timeouts[phase] * count)) * work_.timeout_s;
  }
  double latest_host();
  DataTraffic traffic();
  PassTimes draw_times(int replica, TracedStep* traced);
  double draw_pass(const std::vector<CommTerm>& terms, double compute, double slowest, double mean,
                   Cell& cell, PassParts* parts);
  Breakdown attribute(const Pipelines& ideal, const Pipelines& connected, double gradients_done,
                      double optimizer_done);
  OnTheWire on_the_wire(const Pipelines& whole);

  const StepWork& work_;
  const std::vector<Distribution>& phases_;
  base::RandomStream random_;
  base::RandomStream lost_;
  base::RandomStream hosts_;
  int stages_;
  PipelineShape shape_;
  std::vector<Cell> cells_;
};

DataTraffic Iteration::traffic() {
  const auto bucket = [this](std::size_t phase) {
    return [this, phase](int stage, int chunk) {
      const double share = work_.stages[static_cast<std::size_t>(stage)]
                               .chunks[static_cast<std::size_t>(chunk)]
                               .bucket_share;
      return phases_[phase].draw(random_) * share + timeouts(phase, share);
    };
  };
  DataTraffic data;
  data.sharding = work_.sharding;
  data.buckets = work_.buckets;
  data.slowdown = work_.overlap_slowdown;
  if (work_.parameters) data.gather = bucket(*work_.parameters);
  if (work_.gradients) data.reduce = bucket(*work_.gradients);
  return data;
}

/// Duration of one forward or backward of the group, its parts booked in `cell`.
double Iteration::draw_pass(const std::vector<CommTerm>& terms, double compute, double slowest,
                            double mean, Cell& cell, PassParts* parts) {
  constexpr auto kTp = static_cast<std::size_t>(CommKind::kTp);
  PassParts pass;
  pass.compute = compute * mean;
  // Peers wait for the slowest of their group at the next collective.
  pass.exposed[kTp] = compute * (slowest - mean);
  double duration = compute * slowest;
  for (const CommTerm& term : terms) {
    auto t = phases_[term.phase].sum(term.count, term.hidden_s, random_);
    const double lost = timeouts(term.phase, term.count);
    t.all += lost;
    t.exposed += lost;
    pass.wire[static_cast<std::size_t>(term.kind)] += t.all;
    pass.exposed[static_cast<std::size_t>(term.kind)] += t.exposed;
    duration += t.exposed;
  }
  cell.compute += pass.compute;
  for (std::size_t kind = 0; kind < kCommKinds; ++kind) {
    cell.exposed[kind] += pass.exposed[kind];
    cell.wire[kind] += pass.wire[kind];
  }
  cell.busy += duration;
  if (parts != nullptr) *parts = pass;
  return duration;
}

PassTimes Iteration::draw_times(int replica, TracedStep* traced) {
  PassTimes times;
  for (int s = 0; s < stages_; ++s) {
    const StageWork& stage = work_.stages[static_cast<std::size_t>(s)];
    double slowest = 0;
    double mean = 0;
    for (int g = 0; g < work_.group; ++g) {
      const int rank = g + work_.group * (replica + work_.replicas * s);
      const double own = work_.pace.empty() ? 1 : work_.pace[static_cast<std::size_t>(rank)];
      const double pace = own * std::max(kFastest, 1 + work_.variation * random_.normal());
      slowest = std::max(slowest, pace);
      mean += pace / work_.group;
    }
    Cell& here = cell(replica, s);
    here.mean_optimizer = stage.optimizer_s * mean;
    here.optimizer = stage.optimizer_s * slowest;
    for (const ChunkWork& chunk : stage.chunks) {
      for (int k = 0; k < work_.micro_batches; ++k) {
        PassParts* forward = nullptr;
        PassParts* backward = nullptr;
        if (traced != nullptr) {
          forward = &traced->forward.emplace_back();
          backward = &traced->backward.emplace_back();
        }
        times.forward.push_back(
            draw_pass(chunk.forward, chunk.forward_s, slowest, mean, here, forward));
        times.backward.push_back(
            draw_pass(chunk.backward, chunk.backward_s, slowest, mean, here, backward));
        times.to_next.push_back(draw(work_.activations));
        times.to_previous.push_back(draw(work_.activation_gradients));
      }
    }
  }
  return times;
}

Breakdown Iteration::attribute(const Pipelines& ideal, const Pipelines& connected,
                               double gradients_done, double optimizer_done) {
  Breakdown sum;
  for (int d = 0; d < work_.replicas; ++d) {
    for (int s = 0; s < stages_; ++s) {
      const Cell& c = cell(d, s);
      sum.compute += c.compute + c.mean_optimizer;
      sum.exposed_tp += c.exposed[static_cast<std::size_t>(CommKind::kTp)];
      sum.exposed_cp += c.exposed[static_cast<std::size_t>(CommKind::kCp)];
      sum.exposed_ep += c.exposed[static_cast<std::size_t>(CommKind::kEp)];
      sum.bubble += ideal.end(d) - c.busy;
      sum.exposed_pp += connected.end(d) - ideal.end(d);
      sum.exposed_dp +=
          gradients_done - connected.end(d) + (optimizer_done - gradients_done - c.mean_optimizer);
    }
  }
  const auto cells = static_cast<double>(cells_.size());
  for (double* part : {&sum.compute, &sum.exposed_tp, &sum.exposed_pp, &sum.exposed_dp,
                       &sum.exposed_ep, &sum.exposed_cp, &sum.bubble}) {
    *part /= cells;
  }
  return sum;
}

OnTheWire Iteration::on_the_wire(const Pipelines& whole) {
  OnTheWire sum;
  for (int d = 0; d < work_.replicas; ++d) {
    for (int s = 0; s < stages_; ++s) {
      const Cell& c = cell(d, s);
      sum.tp += c.wire[static_cast<std::size_t>(CommKind::kTp)];
      sum.cp += c.wire[static_cast<std::size_t>(CommKind::kCp)];
      sum.ep += c.wire[static_cast<std::size_t>(CommKind::kEp)];
      sum.pp += whole.sent_s(d, s);
      sum.dp += whole.traffic_s(s);
    }
  }
  const auto cells = static_cast<double>(cells_.size());
  for (double* part : {&sum.tp, &sum.cp, &sum.ep, &sum.pp, &sum.dp}) *part /= cells;
  return sum;
}

double Iteration::latest_host() {
  if (work_.host_delay_s <= 0) return 0;
  double latest = 0;
  for (int n = 0; n < work_.nodes; ++n) {
    latest = std::max(latest, hosts_.exponential(work_.host_delay_s));
  }
  return latest;
}

Step Iteration::play(TracedStep* traced) {
  std::vector<PassTimes> replicas;
  for (int d = 0; d < work_.replicas; ++d) {
    replicas.push_back(draw_times(d, d == 0 ? traced : nullptr));
  }
  Pipelines ideal(shape_, replicas, false);
  ideal.run();
  Pipelines connected(shape_, replicas, true);
  connected.run();
  const DataTraffic data = traffic();
  Pipelines whole(shape_, replicas, true, &data, traced != nullptr ? &traced->timeline : nullptr);
  whole.run();
  // The norm of all gradients is needed before anyone may take the optimizer's step.
  const double gradients_done = whole.gradients_done();
  double longest = 0;
  for (const Cell& c : cells_) longest = std::max(longest, c.optimizer);
  Step step;
  step.seconds = gradients_done + longest;
  step.breakdown = attribute(ideal, connected, gradients_done, step.seconds);
  step.wire = on_the_wire(whole);
  step.late_hosts = latest_host();
  step.breakdown.bubble += step.late_hosts;
  step.seconds += step.late_hosts;
  if (traced != nullptr) {
    traced->step = step;
    traced->shape = shape_;
    traced->gradients_done = gradients_done;
    for (int s = 0; s < stages_; ++s) traced->optimizer.push_back(cell(0, s).mean_optimizer);
  }
  return step;
}

std::vector<Distribution> distributions(const std::vector<std::vector<double>>& samples) {
  std::vector<Distribution> phases;
  phases.reserve(samples.size());
  for (const auto& sample : samples) phases.emplace_back(sample);
  return phases;
}

}  // namespace

std::vector<Step> play(const StepWork& work, const std::vector<std::vector<double>>& samples,
                       int iterations, std::uint64_t seed, int threads) {
  const std::vector<Distribution> phases = distributions(samples);
  std::vector<Step> steps(static_cast<std::size_t>(iterations));
  base::parallel_for(steps.size(), threads,
                     [&](std::size_t i) { steps[i] = Iteration(work, phases, seed, i).play(); });
  return steps;
}

TracedStep trace(const StepWork& work, const std::vector<std::vector<double>>& samples,
                 std::uint64_t seed, std::uint64_t index) {
  const std::vector<Distribution> phases = distributions(samples);
  TracedStep traced;
  Iteration(work, phases, seed, index).play(&traced);
  return traced;
}

}  // namespace fabricast::training
