#include "training/detail.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"
#include "training/study.h"

namespace fabricast::training {
namespace {

using Samples = std::vector<std::vector<double>>;

/// As many values, all the mean: the same random numbers are drawn for nothing.
Samples without_spread(Samples samples) {
  for (auto& phase : samples) std::ranges::fill(phase, base::mean(phase));
  return samples;
}

JitterSource replay(JitterSource::Kind kind, const StepWork& work, const Samples& samples,
                    const scenario::ValidScenario& scenario, const Options& options) {
  const auto& spec = std::get<scenario::TrainingSpec>(scenario.workload);
  std::vector<double> seconds;
  for (const Step& step : play(work, samples, spec.iterations, scenario.seed, options.threads)) {
    seconds.push_back(step.seconds);
  }
  return {kind, base::mean(seconds), base::standard_deviation(seconds)};
}

std::vector<JitterSource> jitter_sources(const Study& study, const Job& job,
                                         const Options& options) {
  using Kind = JitterSource::Kind;
  const StepWork& work = study.plan.step;
  StepWork alike = work;  // no GPU differs from another, nor from itself
  alike.pace.clear();
  alike.variation = 0;
  alike.host_delay_s = 0;
  alike.timeouts.clear();
  StepWork varying = alike;
  varying.variation = work.variation;
  StepWork late = alike;
  late.host_delay_s = work.host_delay_s;
  StepWork losing = alike;
  losing.timeouts = work.timeouts;
  StepWork straggling = alike;
  straggling.pace = work.pace;
  const bool background = !job.scenario.background.empty();
  const Samples quiet =
      background ? samples_without_background(study, job, options) : study.samples;
  const auto played = [&](Kind kind, const StepWork& by, const Samples& samples) {
    return replay(kind, by, samples, job.scenario, options);
  };
  std::vector<JitterSource> sources;
  sources.push_back(played(Kind::kNone, alike, without_spread(quiet)));
  sources.push_back(played(Kind::kKernels, varying, without_spread(quiet)));
  const JitterSource queueing = played(Kind::kQueueing, alike, quiet);
  sources.push_back(queueing);
  if (background) {
    // It cannot be had alone: what it adds to the network without it.
    JitterSource both = played(Kind::kBackground, alike, study.samples);
    both.mean_s += sources.front().mean_s - queueing.mean_s;
    both.sigma_s =
        std::sqrt(std::max(0.0, both.sigma_s * both.sigma_s - queueing.sigma_s * queueing.sigma_s));
    sources.push_back(both);
  }
  if (work.host_delay_s > 0) sources.push_back(played(Kind::kHosts, late, without_spread(quiet)));
  if (!work.timeouts.empty()) {
    sources.push_back(played(Kind::kTimeouts, losing, without_spread(quiet)));
  }
  if (!work.pace.empty()) {
    sources.push_back(played(Kind::kStragglers, straggling, without_spread(quiet)));
  }
  const auto& all = study.result.step_times_s;
  sources.push_back({Kind::kAll, base::mean(all), base::standard_deviation(all)});
  return sources;
}

std::vector<LayoutReport> layouts(const Job& job, const Options& options) {
  std::vector<LayoutReport> reports;
  const auto& spec = std::get<scenario::TrainingSpec>(job.scenario.workload);
  for (const model::LayoutChoice& choice : spec.alternatives) {
    scenario::ValidScenario other = job.scenario;
    std::get<scenario::TrainingSpec>(other.workload).shape = choice.shape;
    LayoutReport report{choice, 0, {}};
    try {
      scenario::require_simulated(other);
      report.step_time_s =
          simulate(other, job.choice, job.fabric, job.networks, job.cache, options).step_time_s;
    } catch (const base::Error& error) {
      if (error.kind() != base::ErrorKind::kInput) throw;
      report.refusal = error.message();
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

/// Filling and draining of equal stages is (p - 1)/(v m) of their passes (Narayanan et al. 2021).
double fill_drain(const Study& study) {
  const StepWork& work = study.plan.step;
  const Breakdown& b = study.result.breakdown_s;
  double optimizer = 0;
  for (const StageWork& stage : work.stages) {
    optimizer += stage.optimizer_s / static_cast<double>(work.stages.size());
  }
  const double passes = b.compute - optimizer + b.exposed_tp + b.exposed_cp + b.exposed_ep;
  const auto chunks = static_cast<double>(work.stages[0].chunks.size());
  const double share = static_cast<double>(work.stages.size() - 1) / (chunks * work.micro_batches);
  return std::min(b.bubble, passes * share);
}

std::uint64_t nearest_to_the_mean(const std::vector<double>& seconds) {
  const double mean = base::mean(seconds);
  const auto nearest =
      std::ranges::min_element(seconds, {}, [&](double s) { return std::abs(s - mean); });
  return static_cast<std::uint64_t>(nearest - seconds.begin());
}

}  // namespace

Detail detail(const scenario::ValidScenario& scenario, const scenario::FabricChoice& choice,
              const fabric::Fabric& fabric, const collective::Networks& networks,
              network::PhaseCache& cache, const Options& options) {
  const Job job{scenario, choice, fabric, networks, cache};
  Study found = study(job, options);
  Detail detail;
  detail.fill_drain_s = fill_drain(found);
  detail.sources = jitter_sources(found, job, options);
  detail.layouts = layouts(job, options);
  detail.traced = trace(found.plan.step, found.samples, scenario.seed,
                        nearest_to_the_mean(found.result.step_times_s));
  detail.phases = std::move(found.plan.phases);
  for (Phase& phase : detail.phases) phase.groups.clear();
  detail.work = std::move(found.plan.step);
  detail.result = std::move(found.result);
  return detail;
}

}  // namespace fabricast::training
