#pragma once
// A service in motion: replicas, a balancer in front of them, replicas that come and go, keys and
// values that cross the fabric. A discrete-event simulation on the clock of the network that
// carries what is sent. Every run checks Little's law.

#include <functional>
#include <memory>
#include <vector>

#include "base/histogram.h"
#include "network/network.h"
#include "scenario/scenario.h"
#include "serving/pace.h"
#include "serving/scheduler.h"

namespace fabricast::serving {

/// One group of replicas that are alike.
struct Pool {
  Deployment deployment;
  const Pace* pace = nullptr;
  std::int64_t cache_blocks = 0;  ///< of one attention rank
  bool prompts_only = false;
};

/// What a run needs to know of the cluster.
struct ServiceSpec {
  const scenario::ServingSpec* serving = nullptr;
  std::vector<Pool> pools;  ///< one, or those that work on prompts and those that generate
  double request_s = 0;     ///< from the client's side of the fabric to a replica, mean
  double response_s = 0;    ///< back, of one token
  double weights_gb = 0;    ///< of one replica of the last pool
  double weights_gb_per_gpu = 0;
  double adapter_gb_per_s = 0;  ///< that a GPU can take in over the fabric
  std::uint64_t seed = 1;
};

/// Sequences that one attention rank of a pool holds at once, on average.
double sequences_at_once(const Pool& pool, const scenario::ServingSpec& serving);

/// How a run goes.
struct RunSpec {
  Arrivals arrivals = Arrivals::kAsStated;
  double rate = 1;            ///< as RequestSource has it
  std::int64_t requests = 0;  ///< that arrive; 0: until `duration_s`
  double duration_s = 0;      ///< of arrivals; 0: until `requests`
  std::int64_t warm_up = 0;   ///< leading requests that are not counted
  bool saturate = false;      ///< every replica always has more to do than it can
};

/// A request as it went, for a trace.
struct RequestRecord {
  std::uint64_t index = 0;
  int input = 0;
  int output = 0;
  int cached = 0;
  int replica = 0;
  int preemptions = 0;
  double arrival_s = 0;
  double scheduled_s = 0;
  double first_token_s = 0;
  double last_token_s = 0;
};

struct RunResult {
  base::Histogram ttft;     ///< seconds
  base::Histogram tpot;     ///< seconds per token after the first; requests of one token have none
  base::Histogram latency;  ///< seconds
  base::Histogram queue;    ///< seconds until the first batch that had a part of it
  std::int64_t requests = 0;       ///< counted
  std::int64_t met = 0;            ///< of these, within the SLO
  std::vector<double> violations;  ///< share that misses it, in ten parts one after the other
  double window_s = 0;             ///< of counting, from the first counted arrival to the last
  double completed_per_s = 0;
  std::vector<double> parts_per_s;  ///< the same, of ten parts one after the other
  double input_per_s = 0;           ///< tokens, cached ones included
  double output_per_s = 0;
  // Shares of the time of GPUs that are there.
  double computing = 0;
  double communicating = 0;
  double host = 0;
  double outstanding = 0;   ///< requests in the system, mean over the run
  double batch = 0;         ///< sequences of a batch, mean
  double cached = 0;        ///< share of the prompts' tokens that was found in the cache
  double cache_in_use = 0;  ///< of its blocks, most
  std::int64_t preemptions = 0;
  std::int64_t batches = 0;
  double timeouts = 0;
  double transfer_s = 0;  ///< of keys and values from replica to replica, mean
  // Scaling.
  double replicas = 0;  ///< mean
  int scaled_out = 0;
  int scaled_in = 0;
  double cold_start_s = 0;  ///< mean, from the decision to the first request
};

/// Throws base::Error (input) when a request is larger than a cache, base::Error (failure) when
/// Little's law does not hold.
RunResult run(const ServiceSpec& service, const RunSpec& spec, network::Network& network,
              const std::function<void(const RequestRecord&)>& trace = {});

}  // namespace fabricast::serving
