#include "collective/sampler.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/statistics.h"

namespace fabricast::collective {
namespace {

using network::PhaseSamples;

// Of a phase, beyond which `auto` takes flows: half a minute or so on two cores.
constexpr double kMostPacketHops = 4e8;
// Adapters up to which flows play the background as it comes.
constexpr int kMostPlayed = 16;
constexpr int kMostPlayedTcpOrBursts = 1024;

/// The durations; what was counted stays with the phase that was simulated.
PhaseSamples taken_from(const PhaseSamples& source, base::Bytes size) {
  PhaseSamples samples = at_size(source, size);
  samples.counters = {};
  samples.simulated_s = 0;
  samples.probe_latencies_us.clear();
  return samples;
}

}  // namespace

PhaseReport report_of(const Phase& phase, const PhaseSamples& samples, bool flow,
                      const fabric::Fabric& fabric) {
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
  report.p99_s = base::percentile(samples.seconds, 99);
  report.inside_nodes = phase.inside_nodes;
  if (samples.busiest) {
    report.busiest_link = fabric.port_name(samples.busiest->port);
    report.busiest_pct = 100 * samples.busiest->utilisation;
  }
  return report;
}

bool mean_background(const std::vector<network::BackgroundSpec>& background,
                     const fabric::Fabric& fabric, bool tcp) {
  const bool bursts =
      std::ranges::any_of(background, [](const auto& spec) { return spec.burst > base::Time(); });
  return fabric.endpoints() > (tcp || bursts ? kMostPlayedTcpOrBursts : kMostPlayed);
}

Sampler::Sampler(const Place& place, Resolution resolution, SamplingSpec spec)
    : place_(place), resolution_(resolution), spec_(std::move(spec)) {
  if (!spec_.mean_background) return;
  for (const network::BackgroundSpec& background : spec_.background) load_ += background.load;
}

bool Sampler::flow(const Phase& phase) const {
  if (phase.inside_nodes || !place_.networks.flow) return false;
  if (resolution_ != Resolution::kAuto) return resolution_ == Resolution::kFlow;
  return packet_hops(phase, spec_, place_.fabric.spec().gpus_per_node) > kMostPacketHops;
}

const network::Factory& Sampler::factory(bool flow) {
  if (!flow) return place_.networks.packet;
  if (!flow_) flow_ = place_.networks.flow(load_);
  return flow_;
}

/// Everything that decides a phase's samples.
std::string Sampler::key_of(const Phase& phase, const SamplingSpec& spec) const {
  const Cutting& cutting = phase.choice.cutting;
  std::string key = fmt::format(
      "{} {} {} | {} x {} B, {} {} in {} ch of {} | {:.17g} {:.17g} | seed {} states {} whole {} "
      "flow {} | ",
      phase.name, name_of(phase.op), phase.groups.size(), phase.groups[0].size(),
      phase.size.count(), name_of(phase.choice.algorithm), name_of(phase.choice.protocol),
      cutting.channels, cutting.slice.count(), phase.preceding_s, spec.variation, spec.seed,
      spec.states, spec.whole, spec.flow);
  for (const auto& group : phase.groups) {
    for (const base::Rank rank : group) key += fmt::format("{},", rank.index());
    key += ';';
  }
  key += "| " + place_.inside;
  // What stays inside the nodes is the same on every fabric.
  if (phase.inside_nodes) return key;
  key += fmt::format(" | {} | probe {}", place_.between, spec.probe);
  for (const auto& b : spec.background) {
    key += fmt::format(" {:.17g} of {} in {}", b.load, b.message.count(), b.burst.ps());
  }
  return key;
}

/// Samples of an earlier phase that say all there is to know of this one, or null.
const PhaseSamples* Sampler::source_of(const Phase& phase) const {
  for (const Known& known : known_) {
    const auto& runs = known.samples->extrapolated;
    if (runs && runs->size <= phase.size && alike(known.phase, phase)) return known.samples;
  }
  return nullptr;
}

Sampler::Sampled Sampler::operator()(const Phase& phase, bool probe) {
  SamplingSpec spec = spec_;
  spec.flow = flow(phase);
  spec.probe = probe && !spec.flow;
  std::string key = key_of(phase, spec);
  const PhaseSamples* source = source_of(phase);
  if (source != nullptr) key += " | alike";
  const fabric::Fabric& fabric = place_.fabric;
  const Networks& networks = place_.networks;
  const PhaseSamples& found = place_.cache.get(key, [&] {
    if (source != nullptr) return taken_from(*source, phase.size);
    return phase.inside_nodes ? sample(first_node(phase, fabric.spec().gpus_per_node), fabric,
                                       networks.node ? networks.node : networks.packet, spec)
                              : sample(phase, fabric, factory(spec.flow), spec);
  });
  known_.push_back({phase, &found});
  return {&found, spec.flow};
}

}  // namespace fabricast::collective
