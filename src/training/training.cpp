#include "training/training.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/statistics.h"
#include "training/plan.h"
#include "training/sampling.h"
#include "training/step.h"

namespace fabricast::training {
namespace {

using base::Bytes;
using network::PhaseSamples;

// One step of a ring with the Simple protocol over NVLink takes 3.4 us in NCCL's own tuning table
// (src/graph/tuning.cc, hwLatencies); what the link itself takes of it is simulated.
constexpr double kRingStepUs = 3.4;
constexpr std::int64_t kBandwidthProbe = 64 << 20;
// Of a phase, beyond which `auto` takes flows: half a minute or so on two cores.
constexpr double kMostPacketHops = 4e8;

/// Everything that decides a phase's samples.
std::string key_of(const Phase& phase, const scenario::ValidScenario& scenario,
                   const scenario::FabricChoice& choice, const fabric::Fabric& fabric,
                   const SamplingSpec& spec) {
  const fabric::TopologySpec& t = fabric.spec();
  std::string key = fmt::format(
      "{} {} {} | {} x {} B in {} ch of {} | {:.17g} {:.17g} {} | seed {} states {} whole {} flow "
      "{} | {} "
      "| ",
      phase.name, collective::name_of(phase.op), phase.groups.size(), phase.groups[0].size(),
      phase.size.count(), phase.cutting.channels, phase.cutting.chunk.count(), phase.preceding_s,
      spec.variation, spec.step_overhead.ps(), spec.seed, spec.states, spec.whole, spec.flow,
      scenario.cluster.gpu.id);
  for (const auto& group : phase.groups) {
    for (const base::Rank rank : group) key += fmt::format("{},", rank.index());
    key += ';';
  }
  // What stays inside the nodes is the same on every fabric.
  if (phase.inside_nodes) return key + fmt::format("| {} per node", t.gpus_per_node);
  key += fmt::format("| {:016x} {:016x} {} {} {} {} {} {} {} {} {} {} {} {} {} {} probe {}",
                     catalog::digest(choice.profile), fabric::digest(t.host),
                     fabric::name_of(t.kind), t.nodes, t.gpus_per_node, t.nics_per_node,
                     t.nic_rate.bps(), t.switch_ports, t.switch_rate.bps(), t.oversubscription,
                     t.cable_m, t.cable_ns_per_m, t.nodes_per_leaf, t.management_ports,
                     t.scalable_unit_nodes, t.max_uplink_split, spec.probe);
  for (const auto& b : spec.background) {
    key += fmt::format(" {:.17g} of {} in {}", b.load, b.message.count(), b.burst.ps());
  }
  for (const scenario::Fault& fault : scenario.faults) {
    key += fmt::format(" {} {} {:.17g}", fault.link, fault.kind, fault.value);
  }
  return key;
}

/// The phase between nodes that moves most bytes per step; its runs carry the latency probe.
const Phase* dominating(const Plan& plan) {
  const Phase* most = nullptr;
  const auto bytes = [](const Phase& p) {
    return static_cast<double>(p.size.count()) * p.times_per_step;
  };
  for (const Phase& phase : plan.phases) {
    if (phase.inside_nodes) continue;
    if (most == nullptr || bytes(phase) > bytes(*most)) most = &phase;
  }
  return most;
}

SamplingSpec sampling_spec(const scenario::ValidScenario& scenario, const Options& options) {
  SamplingSpec spec;
  spec.states = std::max(1, options.states);
  spec.threads = options.threads;
  spec.whole = options.resolution == Resolution::kPacket;
  spec.variation = scenario.cluster.gpu.kernel_variation_pct / 100;
  spec.step_overhead = base::Time::seconds(
      std::max(0.0, kRingStepUs - scenario.cluster.gpu.nvlink_latency_us) * 1e-6);
  spec.seed = scenario.seed;
  spec.progress = options.progress;
  for (const scenario::BackgroundLoad& load : scenario.background) {
    spec.background.push_back({load.load, load.message, load.burst});
  }
  return spec;
}

PhaseReport report_of(const Phase& phase, const PhaseSamples& samples, bool flow) {
  PhaseReport report;
  report.flow = flow;
  report.name = phase.name;
  report.op = phase.op;
  report.size = phase.size;
  report.ranks = static_cast<int>(phase.groups[0].size());
  report.mean_s = base::mean(samples.seconds);
  report.sigma_s = base::standard_deviation(samples.seconds);
  report.extrapolation_error = samples.extrapolation_error;
  report.states = static_cast<int>(samples.seconds.size());
  return report;
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

/// Which phases are simulated in flows, and what networks either level has.
class Levels {
 public:
  Levels(const Networks& networks, const Options& options, const SamplingSpec& spec,
         const fabric::Fabric& fabric)
      : networks_(networks),
        options_(options),
        spec_(spec),
        per_node_(fabric.spec().gpus_per_node) {
    if (!mean_background(fabric)) return;
    for (const network::BackgroundSpec& background : spec.background) load_ += background.load;
  }

  bool flow(const Phase& phase) const {
    if (phase.inside_nodes || !networks_.flow) return false;
    if (options_.resolution != Resolution::kAuto) {
      return options_.resolution == Resolution::kFlow;
    }
    return packet_hops(phase, spec_, per_node_) > kMostPacketHops;
  }
  const network::Factory& node() const {
    return networks_.node ? networks_.node : networks_.packet;
  }
  const network::Factory& factory(bool flow) const {
    if (!flow) return networks_.packet;
    if (!flow_) flow_ = networks_.flow(load_);
    return flow_;
  }

 private:
  const Networks& networks_;
  const Options& options_;
  SamplingSpec spec_;
  int per_node_;
  double load_ = 0;
  mutable network::Factory flow_;
};

double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

/// Shares over the simulated time of all phases between nodes.
void fill_network(const std::vector<const PhaseSamples*>& between, const fabric::Fabric& fabric,
                  Result& result) {
  network::Counters sum;
  double simulated = 0;
  std::vector<double> latencies;
  for (const PhaseSamples* samples : between) {
    add_counters(sum, samples->counters);
    simulated += samples->simulated_s;
    latencies.insert(latencies.end(), samples->probe_latencies_us.begin(),
                     samples->probe_latencies_us.end());
  }
  network::NetworkMetrics& m = result.network;
  if (!latencies.empty()) {
    m.latency_loaded_p50_us = base::percentile(latencies, 50);
    m.latency_loaded_p99_us = base::percentile(latencies, 99);
  }
  const auto packets = static_cast<double>(sum.data_packets);
  m.pfc_pause_pct = percent(sum.paused.s(), static_cast<double>(fabric.ports().size()) * simulated);
  m.ecn_marked_pct = percent(static_cast<double>(sum.ecn_marked_packets), packets);
  m.retransmitted_pct = percent(static_cast<double>(sum.retransmitted_packets), packets);
  m.dropped_packets = static_cast<double>(sum.dropped_packets);
  m.host_cpu_pct = percent(sum.cpu_busy.s(), sum.cores * simulated);
  result.counters = sum;
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
  }
  const double step_s = base::mean(result.step_times_s);
  result.step_time_s = step_s;
  result.gpu_utilisation_pct = percent(mean.compute, step_s);
  result.gpu_utilisation_smi_pct = std::min(100.0, percent(step_s - mean.bubble, step_s));
  result.jitter_pct = percent(base::standard_deviation(result.step_times_s), step_s);
  const double tokens = static_cast<double>(spec.shape.global_batch) * spec.shape.sequence;
  result.tokens_per_s = tokens / step_s;
  result.days = spec.tokens / result.tokens_per_s / 86400;
  const double peak = scenario.cluster.gpu.peak_tflops(spec.shape.precision) * 1e12;
  const double flops =
      model::training_flops_per_token(spec.model, spec.shape.sequence, spec.shape.finetuning) *
      tokens;
  result.mfu_pct = percent(flops, step_s * peak * scenario.cluster.gpus);
}

}  // namespace

Result simulate(const scenario::ValidScenario& scenario, const scenario::FabricChoice& choice,
                const fabric::Fabric& fabric, const Networks& networks, network::PhaseCache& cache,
                const Options& options) {
  const auto& spec = std::get<scenario::TrainingSpec>(scenario.workload);
  const int per_node = scenario.cluster.topology.gpus_per_node;
  const Plan plan = training::plan(spec, scenario.cluster.gpu, per_node);
  const Phase* probed = dominating(plan);
  SamplingSpec sampling = sampling_spec(scenario, options);
  const Levels levels(networks, options, sampling, fabric);

  Result result;
  std::vector<std::vector<double>> samples;
  std::vector<const PhaseSamples*> between;
  if (options.progress != nullptr) {
    options.progress->next(choice.profile.name, static_cast<std::int64_t>(plan.phases.size()));
  }
  for (const Phase& phase : plan.phases) {
    sampling.flow = levels.flow(phase);
    sampling.probe = &phase == probed && !sampling.flow;
    const PhaseSamples& found = cache.get(key_of(phase, scenario, choice, fabric, sampling), [&] {
      return phase.inside_nodes
                 ? sample(first_node(phase, per_node), fabric, levels.node(), sampling)
                 : sample(phase, fabric, levels.factory(sampling.flow), sampling);
    });
    samples.push_back(found.seconds);
    if (!phase.inside_nodes && !sampling.flow) between.push_back(&found);
    result.phases.push_back(report_of(phase, found, sampling.flow));
    if (options.progress != nullptr) options.progress->advance();
  }
  result.packets = !between.empty() || probed == nullptr;
  fill_network(between, fabric, result);
  const network::Factory& idle = levels.factory(!result.packets);
  result.network.latency_us = network::idle_latency_us(idle, fabric);
  result.network.bandwidth_gbps = network::bandwidth_gbps(idle, fabric, Bytes(kBandwidthProbe));
  fill_step(play(plan.step, samples, spec.iterations, scenario.seed, options.threads), scenario,
            spec, result);
  result.extrapolation_error = extrapolation_error(plan, result);
  result.memory = model::memory(spec.model, spec.shape);
  return result;
}

}  // namespace fabricast::training
