#include "serving/serving.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "serving/search.h"

namespace fabricast::serving {
namespace {

using scenario::ServingSpec;

// Of the capacity, at which latencies are taken when more is offered.
constexpr double kOfCapacity = 0.8;
// A request carries its tokens as numbers of four bytes, an answer's token comes in a frame of its
// own (server-sent events); assumed.
constexpr std::int64_t kTokenBytes = 4;
constexpr std::int64_t kResponseBytes = 256;

/// A service ready to be run, and what was found out on the way.
struct Prepared {
  std::vector<std::unique_ptr<Pace>> paces;
  ServiceSpec service;
  std::vector<SampledPhase> phases;
  std::vector<GpuMemory> memory;
};

GpuMemory memory_of(const ServingSpec& spec, const catalog::Gpu& gpu,
                    const model::InferenceShape& shape) {
  GpuMemory memory;
  memory.held = model::inference_memory(spec.model, shape, spec.engine.max_num_batched_tokens,
                                        spec.engine.max_num_seqs);
  const model::InferenceMemory& m = memory.held;
  const double left = gpu.memory_gb * spec.engine.gpu_memory_utilization - m.weights_gb -
                      m.activations_gb - m.overhead_gb;
  const auto blocks =
      static_cast<std::int64_t>(std::floor(left / (m.cache_gb_per_token * spec.engine.block_size)));
  memory.cache_tokens = blocks * spec.engine.block_size;
  return memory;
}

std::vector<Deployment> deployments_of(const ServingSpec& spec, int gpus) {
  std::vector<Deployment> deployments;
  int first = 0;
  if (spec.disaggregation) {
    Deployment prompts;
    prompts.shape = spec.shape;
    prompts.shape.tp = spec.disaggregation->prefill_tp;
    prompts.replicas = spec.disaggregation->prefill_replicas;
    first = prompts.replicas * prompts.shape.gpus();
    deployments.push_back(prompts);
  }
  Deployment all;
  all.shape = spec.shape;
  all.first_gpu = first;
  all.replicas = (gpus - first) / spec.shape.gpus();
  deployments.push_back(all);
  return deployments;
}

/// One message on an idle network, seconds; 0 where there is one node.
double message_s(const network::Factory& factory, const fabric::Fabric& fabric, base::Bytes size) {
  const double gbps = network::bandwidth_gbps(factory, fabric, size);
  return gbps > 0 ? static_cast<double>(size.count()) * 8e-9 / gbps : 0;
}

Prepared prepare(const scenario::ValidScenario& scenario, const scenario::FabricChoice& choice,
                 const fabric::Fabric& fabric, collective::Sampler& sampler) {
  const auto& spec = std::get<ServingSpec>(scenario.workload);
  const catalog::Gpu& gpu = scenario.cluster.gpu;
  const collective::Machine machine =
      collective::machine_of(gpu, fabric.spec(), choice.profile, scenario.cluster.host.server.amd);
  Prepared prepared;
  prepared.service.serving = &spec;
  prepared.service.seed = scenario.seed;
  for (const Deployment& deployment : deployments_of(spec, scenario.cluster.gpus)) {
    prepared.paces.push_back(std::make_unique<Pace>(spec, gpu, deployment, machine, choice.profile,
                                                    fabric, sampler, prepared.phases));
    prepared.memory.push_back(memory_of(spec, gpu, deployment.shape));
    Pool pool;
    pool.deployment = deployment;
    pool.pace = prepared.paces.back().get();
    pool.cache_blocks = prepared.memory.back().cache_tokens / spec.engine.block_size;
    prepared.service.pools.push_back(pool);
  }
  if (spec.disaggregation) prepared.service.pools.front().prompts_only = true;
  for (int stage = 0; stage < spec.shape.pp; ++stage) {
    const double gb = model::weight_bytes(spec.model, spec.shape, stage) * 1e-9;
    prepared.service.weights_gb += gb * spec.shape.tp * spec.shape.dp;
    prepared.service.weights_gb_per_gpu = std::max(prepared.service.weights_gb_per_gpu, gb);
  }
  return prepared;
}

void fill_network(const Prepared& prepared, collective::Sampler& sampler,
                  const fabric::Fabric& fabric, Result& result) {
  std::vector<const network::PhaseSamples*> between;
  bool crossing = false;
  for (const SampledPhase& phase : prepared.phases) {
    result.phases.push_back(collective::report_of(phase.phase, *phase.samples, phase.flow, fabric));
    if (phase.phase.inside_nodes) continue;
    crossing = true;
    if (!phase.flow) between.push_back(phase.samples);
  }
  result.packets = !between.empty();
  const network::Factory& idle = sampler.factory(crossing && !result.packets);
  result.network = collective::loaded_metrics(between, fabric, result.counters);
  result.network.latency_us = network::idle_latency_us(idle, fabric);
  result.network.bandwidth_gbps =
      network::bandwidth_gbps(idle, fabric, base::Bytes(network::kBandwidthProbe));
}

void fill_run(const RunResult& run, Result& result) {
  result.ttft_ms = percentiles_of(run.ttft);
  result.has_tpot = run.tpot.count() > 0;
  result.tpot_ms = percentiles_of(run.tpot);
  result.latency_ms = percentiles_of(run.latency);
  result.queue_ms = percentiles_of(run.queue);
  result.gpu_utilisation_pct = 100 * run.computing;
  result.communicating_pct = 100 * run.communicating;
  result.host_pct = 100 * run.host;
  result.jitter_pct = 100 * run.tpot.variation();
  result.input_tokens_per_s = run.input_per_s;
  result.output_tokens_per_s = run.output_per_s;
  result.concurrency = run.outstanding;
  result.batch = run.batch;
  result.cached_pct = 100 * run.cached;
  result.cache_in_use_pct = 100 * run.cache_in_use;
  result.requests = run.requests;
  result.preemptions = run.preemptions;
  result.timeouts = run.timeouts;
  result.simulated_s = run.window_s;
  result.transfer_ms = 1e3 * run.transfer_s;
  result.mean_replicas = run.replicas;
  result.scaled_out = run.scaled_out;
  result.scaled_in = run.scaled_in;
  result.cold_start_s = run.cold_start_s;
  const double met =
      run.requests > 0 ? static_cast<double>(run.met) / static_cast<double>(run.requests) : 0;
  result.slo_met_pct = 100 * met;
  result.goodput_qps = met * run.completed_per_s;
}

/// The run that is reported, at the stated rate or, where that is too much, at most of what the
/// service sustains.
RunSpec stated_run(const ServingSpec& spec, const Runner& runner, bool from_cold, Result& result) {
  RunSpec run;
  result.offered_qps = spec.qps;
  result.simulated_qps = spec.qps;
  const double capacity = result.capacity_qps.value;
  if (capacity > 0 && spec.qps > kOfCapacity * capacity) {
    run.rate = kOfCapacity * capacity / spec.qps;
    result.simulated_qps = kOfCapacity * capacity;
  }
  result.overloaded = capacity > 0 && spec.qps > capacity;
  run.requests = spec.requests.value_or(spec.duration_s ? 0 : 2 * runner.requests());
  if (spec.duration_s) run.duration_s = *spec.duration_s;
  if (spec.trace && !spec.requests) {
    run.requests = static_cast<std::int64_t>(spec.trace->requests.size());
  }
  const double expected =
      run.requests > 0 ? static_cast<double>(run.requests) : run.duration_s * result.simulated_qps;
  run.warm_up = static_cast<std::int64_t>(expected / 10);
  // Every request of a trace counts, and so does every replica that comes.
  if (spec.trace || spec.scaling || from_cold) run.warm_up = 0;
  return run;
}

}  // namespace

Result simulate(const scenario::ValidScenario& scenario, const scenario::FabricChoice& choice,
                const fabric::Fabric& fabric, const collective::Networks& networks,
                network::PhaseCache& cache, const Options& options) {
  const auto& spec = std::get<ServingSpec>(scenario.workload);
  collective::SamplingSpec sampling;
  sampling.states = std::max(1, options.states);
  sampling.threads = options.threads;
  sampling.whole = options.resolution == collective::Resolution::kPacket;
  sampling.variation = scenario.cluster.gpu.kernel_variation_pct / 100;
  sampling.seed = scenario.seed;
  sampling.progress = options.progress;
  for (const scenario::BackgroundLoad& load : scenario.background) {
    sampling.background.push_back({load.load, load.message, load.burst});
  }
  sampling.mean_background = collective::mean_background(
      sampling.background, fabric, choice.profile.kind == catalog::FabricKind::kTcp);
  const collective::Place place{fabric, networks, cache, scenario::inside_key(scenario),
                                scenario::between_key(scenario, choice)};
  collective::Sampler sampler(place, options.resolution, sampling);
  if (options.progress != nullptr) options.progress->next(choice.profile.name, 0);

  Prepared prepared = prepare(scenario, choice, fabric, sampler);
  Result result;
  result.replicas = prepared.service.pools.back().deployment.replicas;
  result.memory = prepared.memory;
  fill_network(prepared, sampler, fabric, result);
  const bool in_flows = std::ranges::any_of(result.phases, &collective::PhaseReport::flow);
  const network::Factory& idle = sampler.factory(in_flows && !result.packets);
  const auto prompt = std::max<std::int64_t>(1, std::llround(spec.context.mean) * kTokenBytes);
  prepared.service.request_s = message_s(idle, fabric, base::Bytes(prompt));
  prepared.service.response_s = message_s(idle, fabric, base::Bytes(kResponseBytes));
  const double per_gpu =
      static_cast<double>(fabric.spec().nics_per_node) / std::max(1, fabric.spec().gpus_per_node);
  prepared.service.adapter_gb_per_s = result.network.bandwidth_gbps / 8 * std::min(1.0, per_gpu);

  // What is sent while the service runs are keys, values and weights; else the network is a clock.
  const bool sends = spec.disaggregation ||
                     (spec.scaling && spec.scaling->from == scenario::ScalingSpec::LoadFrom::kPeer);
  const bool flows =
      sends && networks.flow && options.resolution != collective::Resolution::kPacket;
  const network::Factory& clock =
      sends ? sampler.factory(flows) : (networks.node ? networks.node : networks.packet);
  const Runner runner(prepared.service, clock, options.threads, options.effort);
  const auto note = [&](const char* what) {
    if (options.progress != nullptr) options.progress->note(what);
  };
  if (!options.stated_only) {
    note("capacity");
    result.capacity_qps = capacity(runner);
    note("rates");
    SloSearch search = slo_search(runner, result.capacity_qps.value);
    result.slo_qps = search.slo_qps;
    result.curve = std::move(search.curve);
  }
  note("the stated rate");
  fill_run(runner(stated_run(spec, runner, options.from_cold, result), options.trace), result);
  if (spec.arrival == scenario::ArrivalKind::kClosed) {
    result.simulated_qps = result.goodput_qps / std::max(1e-9, result.slo_met_pct / 100);
  }
  return result;
}

}  // namespace fabricast::serving
