#pragma once
// One inference service on one fabric: latency percentiles, the rate that it sustains, the rate
// that meets its SLO, utilisation, jitter. `simulate` samples the collectives of its batches on the
// given network, then plays the service at several rates. Definitions: docs/models/serving.md.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "collective/sampler.h"
#include "network/network.h"
#include "network/phase_cache.h"
#include "network/probes.h"
#include "scenario/scenario.h"
#include "serving/service.h"

namespace fabricast::serving {

/// A figure and what it may be: 95 %, from ten parts of its run.
struct Estimate {
  double value = 0;
  double lo = 0;
  double hi = 0;
};

/// Milliseconds; nearest rank.
struct Percentiles {
  double mean = 0;
  double p50 = 0;
  double p90 = 0;
  double p95 = 0;
  double p99 = 0;
};

/// The service at one rate of Poisson arrivals.
struct RatePoint {
  double qps = 0;
  Percentiles ttft_ms;
  Percentiles tpot_ms;  ///< all 0 where answers are one token
  Percentiles latency_ms;
  double violation_pct = 0;  ///< of requests, of the SLO's limit
  double utilisation_pct = 0;
};

/// What a GPU holds.
struct GpuMemory {
  model::InferenceMemory held;
  std::int64_t cache_tokens = 0;  ///< of one attention rank
};

struct Result {
  double offered_qps = 0;
  double simulated_qps = 0;  ///< at which the latencies are taken: min(offered, 0.8 capacity)
  bool overloaded = false;   ///< offered above capacity
  Estimate capacity_qps;
  Estimate slo_qps;
  double goodput_qps = 0;  ///< of requests within the SLO
  double slo_met_pct = 0;
  Percentiles ttft_ms;
  Percentiles tpot_ms;
  Percentiles latency_ms;
  Percentiles queue_ms;
  bool has_tpot = false;
  double gpu_utilisation_pct = 0;
  double communicating_pct = 0;
  double host_pct = 0;
  double jitter_pct = 0;
  double input_tokens_per_s = 0;
  double output_tokens_per_s = 0;
  double concurrency = 0;  ///< requests in the system, mean
  double batch = 0;        ///< sequences of a batch, mean
  double cached_pct = 0;   ///< of the prompts' tokens
  double cache_in_use_pct = 0;
  std::int64_t requests = 0;
  std::int64_t preemptions = 0;
  double timeouts = 0;
  double simulated_s = 0;
  double transfer_ms = 0;  ///< of keys and values, mean; 0: none
  int replicas = 0;        ///< that the cluster has
  double mean_replicas = 0;
  int scaled_out = 0;
  int scaled_in = 0;
  double cold_start_s = 0;
  std::vector<RatePoint> curve;
  std::vector<GpuMemory> memory;  ///< of each pool of replicas
  std::vector<collective::PhaseReport> phases;
  network::NetworkMetrics network;
  network::Counters counters;
  bool packets = true;  ///< false: nothing between nodes was simulated packet by packet
};

struct Options {
  int threads = 1;
  int states = 16;  ///< independent states per collective and size
  collective::Resolution resolution = collective::Resolution::kAuto;
  base::Progress* progress = nullptr;  ///< may be null
  /// Of the requests that rates are judged by: below 1 is quicker and coarser.
  double effort = 1;
  /// Only the run at the stated rate: capacity, SLO rate and curve stay empty.
  bool stated_only = false;
  /// The first requests of that run count, too, as in a benchmark that does not warm up.
  bool from_cold = false;
  /// Gets every request of the run that is reported; may be empty.
  std::function<void(const RequestRecord&)> trace;
};

/// PRECONDITION: the scenario holds a ServingSpec; the networks are on `fabric`.
Result simulate(const scenario::ValidScenario& scenario, const scenario::FabricChoice& choice,
                const fabric::Fabric& fabric, const collective::Networks& networks,
                network::PhaseCache& cache, const Options& options);

}  // namespace fabricast::serving
