#include "training/training.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/random.h"
#include "base/statistics.h"
#include "collective/losses.h"
#include "training/losses.h"
#include "training/plan.h"
#include "training/step.h"
#include "training/study.h"

namespace fabricast::training {
namespace {

using base::Bytes;
using collective::Sampler;
using collective::SamplingSpec;
using network::PhaseSamples;

/// The phase between nodes that moves most bytes per step, or the first that is like it: its runs
/// carry the latency probe.
const Phase* dominating(const Plan& plan) {
  const Phase* most = nullptr;
  const auto bytes = [](const Phase& p) {
    return static_cast<double>(p.size.count()) * p.times_per_step;
  };
  for (const Phase& phase : plan.phases) {
    if (phase.inside_nodes) continue;
    if (most == nullptr || bytes(phase) > bytes(*most)) most = &phase;
  }
  for (const Phase& phase : plan.phases) {
    if (most != nullptr && collective::alike(phase, *most)) return &phase;
  }
  return most;
}

collective::Place place_of(const Job& job) {
  return {job.fabric, job.networks, job.cache, scenario::inside_key(job.scenario),
          scenario::between_key(job.scenario, job.choice)};
}

SamplingSpec sampling_spec(const scenario::ValidScenario& scenario, const Options& options) {
  SamplingSpec spec;
  spec.states = std::max(1, options.states);
  spec.threads = options.threads;
  spec.whole = options.resolution == collective::Resolution::kPacket;
  spec.variation = scenario.cluster.gpu.kernel_variation_pct / 100;
  spec.seed = scenario.seed;
  spec.progress = options.progress;
  for (const scenario::BackgroundLoad& load : scenario.background) {
    spec.background.push_back({load.load, load.message, load.burst});
  }
  return spec;
}

/// A second more on the wire delays a step by a second at most, hidden or not.
double extrapolation_error(const Plan& plan, const Result& result) {
  double seconds = 0;
  for (std::size_t i = 0; i < plan.phases.size(); ++i) {
    const PhaseReport& phase = result.phases[i];
    seconds += phase.extrapolation_error * phase.mean_s * plan.phases[i].times_per_step;
  }
  return seconds / result.step_time_s;
}

double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

void fill_step(const std::vector<Step>& steps, const scenario::ValidScenario& scenario,
               const scenario::TrainingSpec& spec, Result& result) {
  Breakdown& mean = result.breakdown_s;
  const auto n = static_cast<double>(steps.size());
  for (const Step& step : steps) {
    result.step_times_s.push_back(step.seconds);
    mean.compute += step.breakdown.compute / n;
    mean.exposed_tp += step.breakdown.exposed_tp / n;
    mean.exposed_pp += step.breakdown.exposed_pp / n;
    mean.exposed_dp += step.breakdown.exposed_dp / n;
    mean.exposed_ep += step.breakdown.exposed_ep / n;
    mean.exposed_cp += step.breakdown.exposed_cp / n;
    mean.bubble += step.breakdown.bubble / n;
    result.late_hosts_s += step.late_hosts / n;
    result.wire_s.tp += step.wire.tp / n;
    result.wire_s.pp += step.wire.pp / n;
    result.wire_s.dp += step.wire.dp / n;
    result.wire_s.ep += step.wire.ep / n;
    result.wire_s.cp += step.wire.cp / n;
  }
  const double step_s = base::mean(result.step_times_s);
  result.step_time_s = step_s;
  result.gpu_utilisation_pct = percent(mean.compute, step_s);
  result.gpu_utilisation_smi_pct = std::min(100.0, percent(step_s - mean.bubble, step_s));
  result.jitter_pct = percent(base::standard_deviation(result.step_times_s), step_s);
  const double tokens = static_cast<double>(spec.shape.global_batch) * spec.shape.sequence;
  result.tokens_per_s = tokens / step_s;
  const double peak = scenario.cluster.gpu.peak_tflops(spec.shape.precision) * 1e12;
  const double flops =
      model::training_flops_per_token(spec.model, spec.shape.sequence, spec.shape.finetuning) *
      tokens;
  result.mfu_pct = percent(flops, step_s * peak * scenario.cluster.gpus);
}

/// Equal GPUs that are not equal: how long each takes for the same, 1: as the catalogue says.
std::vector<double> paces(const scenario::StragglerSpec& stragglers, int gpus, std::uint64_t seed) {
  constexpr double kFastest = 0.5;
  if (stragglers.spread_pct == 0 && stragglers.slow.empty()) return {};
  std::vector<double> paces;
  base::RandomStream random(seed, "spread between GPUs", 0);
  for (int gpu = 0; gpu < gpus; ++gpu) {
    paces.push_back(std::max(kFastest, 1 + stragglers.spread_pct / 100 * random.normal()));
  }
  for (const auto& [gpu, speed] : stragglers.slow) paces[static_cast<std::size_t>(gpu)] /= speed;
  return paces;
}

std::vector<Sampler::Sampled> sample_all(const Plan& plan, Sampler& sampler,
                                         base::Progress* progress) {
  const Phase* probed = dominating(plan);
  std::vector<Sampler::Sampled> all;
  for (const Phase& phase : plan.phases) {
    all.push_back(sampler(phase, &phase == probed));
    if (progress != nullptr) progress->advance();
  }
  return all;
}

std::vector<std::vector<double>> seconds_of(const std::vector<Sampler::Sampled>& sampled) {
  std::vector<std::vector<double>> seconds;
  for (const Sampler::Sampled& phase : sampled) seconds.push_back(phase.samples->seconds);
  return seconds;
}

}  // namespace

Study study(const Job& job, const Options& options) {
  const scenario::ValidScenario& scenario = job.scenario;
  const auto& spec = std::get<scenario::TrainingSpec>(scenario.workload);
  Study study;
  study.plan =
      training::plan(spec, scenario.cluster.gpu,
                     collective::machine_of(scenario.cluster.gpu, job.fabric.spec(),
                                            job.choice.profile, scenario.cluster.host.server.amd));
  study.plan.step.nodes = job.fabric.spec().nodes;
  study.plan.step.host_delay_s = spec.stragglers.host_delay_s;
  study.plan.step.timeouts = timeouts(study.plan, job.fabric, job.choice.profile);
  study.plan.step.timeout_s = collective::timeout_s(job.choice.profile);
  study.plan.step.pace = paces(spec.stragglers, scenario.cluster.gpus, scenario.seed);
  SamplingSpec sampling = sampling_spec(scenario, options);
  sampling.mean_background = collective::mean_background(
      sampling.background, job.fabric, job.choice.profile.kind == catalog::FabricKind::kTcp);
  const collective::Place place = place_of(job);
  Sampler sampler(place, options.resolution, sampling);
  if (options.progress != nullptr) {
    options.progress->next(job.choice.profile.name,
                           static_cast<std::int64_t>(study.plan.phases.size()));
  }
  const auto sampled = sample_all(study.plan, sampler, options.progress);
  study.samples = seconds_of(sampled);

  Result& result = study.result;
  std::vector<const PhaseSamples*> between;
  for (std::size_t i = 0; i < sampled.size(); ++i) {
    const Phase& phase = study.plan.phases[i];
    const auto [samples, flow] = sampled[i];
    if (!phase.inside_nodes && !flow) between.push_back(samples);
    result.phases.push_back(collective::report_of(phase, *samples, flow, job.fabric));
    result.phases.back().times_per_step = phase.times_per_step;
  }
  result.packets = !between.empty() || dominating(study.plan) == nullptr;
  result.network = collective::loaded_metrics(between, job.fabric, result.counters);
  const network::Factory& idle = sampler.factory(!result.packets);
  result.network.latency_us = network::idle_latency_us(idle, job.fabric);
  result.network.bandwidth_gbps =
      network::bandwidth_gbps(idle, job.fabric, Bytes(network::kBandwidthProbe));
  fill_step(play(study.plan.step, study.samples, spec.iterations, scenario.seed, options.threads),
            scenario, spec, result);
  result.extrapolation_error = extrapolation_error(study.plan, result);
  result.memory = model::memory(spec.model, spec.shape);
  const double work_s = spec.tokens / result.tokens_per_s;
  result.reliability = reliability(spec, job.fabric, work_s, result.network.bandwidth_gbps / 8);
  result.days = work_s / 86400 * 100 / result.reliability.goodput_pct;
  return study;
}

std::vector<std::vector<double>> samples_without_background(const Study& study, const Job& job,
                                                            const Options& options) {
  SamplingSpec sampling = sampling_spec(job.scenario, options);
  sampling.background.clear();
  const collective::Place place = place_of(job);
  Sampler sampler(place, options.resolution, sampling);
  return seconds_of(sample_all(study.plan, sampler, nullptr));
}

Result simulate(const scenario::ValidScenario& scenario, const scenario::FabricChoice& choice,
                const fabric::Fabric& fabric, const collective::Networks& networks,
                network::PhaseCache& cache, const Options& options) {
  return study({scenario, choice, fabric, networks, cache}, options).result;
}

}  // namespace fabricast::training
