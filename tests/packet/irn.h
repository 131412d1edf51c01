#pragma once
// The fabric and traffic of IRN (Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM
// 2018, section 4.1; figures from memory, the abstract's re-read): 54 servers on a fat-tree of
// 6-port switches at 40 Gb/s and 2 us a cable, packets of 1000 bytes, 240 KB of buffer per port, of
// which PFC leaves 20 for headroom. The bandwidth-delay product of the longest path is 120 packets.

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "base/statistics.h"
#include "fixtures.h"

namespace fabricast::packet::testing {

inline std::shared_ptr<const fabric::Fabric> irn_fabric() {
  fabric::TopologySpec spec = topology(fabric::TopologyKind::kFatTree, 54);
  spec.nic_rate = spec.switch_rate = 40_gbps;
  spec.switch_ports = 6;
  spec.cable_m = 400;
  return std::make_shared<const fabric::Fabric>(fabric::build(spec));
}

/// RoCE with PFC: go-back-N, no window, and no timeouts, since nothing is lost.
inline FabricProfile irn_roce() {
  FabricProfile p = roce();
  p.link.mtu = 1000_B;
  p.link.header = 48_B;
  p.link.ack = 64_B;
  p.link.phy = p.switching.latency = p.host.send_overhead = p.host.receive_overhead = Time();
  p.switching.forwarding = catalog::Forwarding::kStoreAndForward;
  p.ecn.enabled = false;
  p.congestion.control = catalog::RdmaCongestionControl::kNone;
  // A port's share whatever the others hold: a small part of a pool that is never short.
  p.switching.buffer = Bytes(1'000'000'000);
  p.pfc.alpha = 220e3 / 1e9;
  p.tcp.queue_alpha = 240e3 / 1e9;
  p.pfc.xon_offset = 2096_B;
  p.pfc.headroom_computed = false;
  p.pfc.headroom = Bytes(40'000);
  p.transport.timeout_exponent = 20;
  return p;
}

/// What IRN lets be under way, and the timeout next to its 320 us: 262 us.
inline FabricProfile within_bdp(FabricProfile p) {
  p.transport.window = Bytes(120'000);
  p.transport.timeout_exponent = 6;
  return p;
}

inline FabricProfile without_pfc(FabricProfile p) {
  p.pfc.enabled = false;
  return p;
}

/// BDP-FC and selective repeat.
inline FabricProfile irn() {
  FabricProfile p = within_bdp(irn_roce());
  p.transport.recovery = catalog::LossRecovery::kSelectiveRepeat;
  return p;
}

struct Arrival {
  Time at;
  std::uint32_t from;
  std::uint32_t to;
  Bytes size;
};

/// Poisson arrivals between random pairs at `load` of the links for 5 ms. Sizes: half of the
/// messages have 32 B to 1 KB, 15 % have 200 KB to 3 MB, the rest lie between (by the logarithm).
inline std::vector<Arrival> heavy_tailed_load(double load, std::uint64_t seed) {
  base::RandomStream random(seed, "heavy tail");
  const auto size = [&] {
    const double kind = random.uniform();
    if (kind < 0.5) return 32 + 968 * random.uniform();
    if (kind < 0.85) return 1000 * std::pow(200, random.uniform());
    return 200e3 + 2.8e6 * random.uniform();
  };
  const double mean = 0.5 * 516 + 0.35 * 199e3 / std::log(200) + 0.15 * 1.6e6;
  const double interval_s = mean * 8 / (load * 40e9 * 54);
  std::vector<Arrival> arrivals;
  Time at = Time::seconds(random.exponential(interval_s));
  while (at < 5_ms) {
    const auto from = static_cast<std::uint32_t>(random.below(54));
    const auto to = (from + 1 + static_cast<std::uint32_t>(random.below(53))) % 54;
    arrivals.push_back({at, from, to, Bytes(static_cast<std::int64_t>(size()))});
    at += Time::seconds(random.exponential(interval_s));
  }
  return arrivals;
}

/// The time of a message on an idle network: three hosts to a ToR, nine to a pod.
inline double idle_s(const Arrival& message) {
  const int links = message.from / 3 == message.to / 3   ? 2
                    : message.from / 9 == message.to / 9 ? 4
                                                         : 6;
  const std::int64_t packets = (message.size.count() + 999) / 1000;
  const auto wire = static_cast<double>(message.size.count() + packets * 48);
  return (wire + (links - 1) * std::min(wire, 1048.0)) / 5e9 + links * 2e-6;
}

struct Completions {
  double mean_slowdown = 0;  ///< over the time on an idle network
  double mean_ms = 0;
  double percentile_99_ms = 0;
};

inline Completions completions(const FabricProfile& profile, const std::vector<Arrival>& arrivals,
                               std::uint64_t seed) {
  auto network = network_on(irn_fabric(), profile, seed);
  std::vector<double> slowdown;
  std::vector<double> ms;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    network->at(arrivals[i].at, [&, i](Time start) {
      const Arrival& message = arrivals[i];
      const auto channel = static_cast<std::uint32_t>(i);  // a queue pair, and a path, of its own
      network->send(Rank(message.from), Rank(message.to), message.size, {.channel = channel},
                    [&, start](Time end) {
                      slowdown.push_back((end - start).s() / idle_s(message));
                      ms.push_back((end - start).s() * 1e3);
                    });
    });
  }
  network->run();
  return {base::mean(slowdown), base::mean(ms), base::percentile(ms, 99)};
}

}  // namespace fabricast::packet::testing
