#pragma once
// What perftest would say of a fabric: latency of 8-byte messages between nodes, goodput of one
// large transfer, and latency while other traffic runs.

#include <memory>
#include <vector>

#include "network/network.h"

namespace fabricast::network {

/// The network section of a result. Units are in the names.
struct NetworkMetrics {
  double latency_us = 0;             ///< idle, 8 B, half a round trip, median over cross-node pairs
  double latency_loaded_p50_us = 0;  ///< the same probe under the workload
  double latency_loaded_p99_us = 0;
  double bandwidth_gbps = 0;  ///< goodput of one large cross-node transfer
  double pfc_pause_pct = 0;   ///< share of port time held by PFC, under the workload
  double ecn_marked_pct = 0;  ///< share of data packets
  double dropped_packets = 0;
  double retransmitted_pct = 0;  ///< share of data packets
  double host_cpu_pct = 0;       ///< share of the serving cores' time
};

/// Median over the cross-node pairs (all of them up to `max_pairs`, else an even choice) of half
/// the round trip of an 8-byte message on an idle network, us. 0 when the fabric has one node.
double idle_latency_us(const Factory& factory, const fabric::Fabric& fabric, int max_pairs = 64);

/// What a result's bandwidth is measured with, bytes.
inline constexpr std::int64_t kBandwidthProbe = 64 << 20;

/// Goodput of one transfer of `size` between the first GPUs of the first and last node, Gb/s: size
/// over the time from post to last byte. 0 when the fabric has one node.
double bandwidth_gbps(const Factory& factory, const fabric::Fabric& fabric, base::Bytes size);

/// Sends 8-byte probes between random cross-node pairs at fixed intervals (the first at a random
/// point of the first interval) while a workload runs on the same network, and keeps their one-way
/// latencies. Never ends by itself, as background traffic; destroying it silences it.
/// PRECONDITION: interval > 0; the network and the fabric outlive the object.
class LatencyProbe {
 public:
  LatencyProbe(Network& network, const fabric::Fabric& fabric, base::Time interval,
               std::uint64_t seed);
  ~LatencyProbe();
  LatencyProbe(const LatencyProbe&) = delete;
  LatencyProbe& operator=(const LatencyProbe&) = delete;

  /// Latencies of the probes that arrived, us, in order of arrival.
  const std::vector<double>& latencies_us() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace fabricast::network
