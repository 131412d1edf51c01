#pragma once
// Samples a phase in independent states of the network: each state has its own background traffic
// and its own skew between ranks; ECMP hashes are those of the job and stay. Long transfers are
// simulated until their marginal rate is steady and then extrapolated, with a stated error.

#include "base/progress.h"
#include "collective/phase.h"
#include "network/background.h"
#include "network/network.h"
#include "network/phase_cache.h"
#include "network/probes.h"

namespace fabricast::collective {

struct SamplingSpec {
  int states = 16;
  int threads = 1;
  bool whole = false;  ///< no extrapolation, whatever it costs
  /// The network is of the flow level, and a few states are enough.
  bool flow = false;
  bool probe = false;    ///< measure the latency of small messages meanwhile
  double variation = 0;  ///< sigma/mu of the compute before the phase
  std::uint64_t seed = 1;
  std::vector<network::BackgroundSpec> background;
  /// At flow level what others take is the mean of every port, known to the network already.
  bool mean_background = false;
  base::Progress* progress = nullptr;
  /// A run that is to be doubled must have made fewer packet-hops than half of this.
  std::uint64_t hops_per_run = 1'000'000;
};

/// Packet-hops that sampling a phase packet by packet takes, to an order of magnitude.
double packet_hops(const Phase& phase, const SamplingSpec& spec, int gpus_per_node);

network::PhaseSamples sample(const Phase& phase, const fabric::Fabric& fabric,
                             const network::Factory& factory, const SamplingSpec& spec);

/// True when both send the same, step by step, but for how much of it: a ring's all_gather and
/// reduce_scatter are alike.
bool alike(const Phase& one, const Phase& other);

/// What the samples of a phase say of one that is alike and of this size.
/// PRECONDITION: samples.extrapolated and no less than what was simulated.
network::PhaseSamples at_size(network::PhaseSamples samples, base::Bytes size);

/// What a network showed under the phases: shares of their simulated time. `counters` gets the sum.
/// Latency and bandwidth of an idle network stay 0.
network::NetworkMetrics loaded_metrics(const std::vector<const network::PhaseSamples*>& phases,
                                       const fabric::Fabric& fabric, network::Counters& counters);

/// Adds `more` to `sum`; maxima stay maxima.
void add_counters(network::Counters& sum, const network::Counters& more);

}  // namespace fabricast::collective
