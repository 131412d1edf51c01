#pragma once
// What a service can do: the rate that it sustains, the rate at which it meets its SLO, and what
// happens in between. Private to this room.

#include <vector>

#include "serving/serving.h"

namespace fabricast::serving {

/// A service that can be run any number of times, from several threads: every run has its own
/// network and its own memory.
class Runner {
 public:
  /// `pools` and what they point to, and the factory, must outlive the object.
  Runner(const ServiceSpec& service, const network::Factory& factory, int threads, double effort)
      : service_(service), factory_(factory), threads_(threads), effort_(effort) {}

  RunResult operator()(const RunSpec& spec,
                       const std::function<void(const RequestRecord&)>& trace = {}) const;
  const ServiceSpec& service() const { return service_; }
  int threads() const { return threads_; }
  /// Requests that a rate is judged by.
  std::int64_t requests() const;
  /// Times that all sequences come and go while the capacity is measured.
  std::int64_t generations() const;
  /// Sequences that all replicas hold at once, at most.
  std::int64_t concurrency() const;

 private:
  const ServiceSpec& service_;
  const network::Factory& factory_;
  int threads_;
  double effort_;  ///< share of the requests that judging takes
};

/// Requests per second with more waiting than can be served.
Estimate capacity(const Runner& run);

struct SloSearch {
  Estimate slo_qps;
  std::vector<RatePoint> curve;
};
/// Runs at fixed shares of the capacity, then bisection between the last that meets the SLO and the
/// first that does not.
SloSearch slo_search(const Runner& run, double capacity_qps);

Percentiles percentiles_of(const base::Histogram& seconds);

}  // namespace fabricast::serving
