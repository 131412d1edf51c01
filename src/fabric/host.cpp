#include "fabric/host.h"

#include <algorithm>
#include <bit>

#include "base/random.h"

namespace fabricast::fabric {

std::string_view name_of(HostLinkKind kind) {
  switch (kind) {
    case HostLinkKind::kUplink:
      return "uplink";
    case HostLinkKind::kMemory:
      return "memory";
    case HostLinkKind::kSockets:
      return "sockets";
    case HostLinkKind::kSlot:
      break;
  }
  return "slot";
}

base::Time HostLinks::copy_time(base::Bytes message) const {
  if (copy_chunk == base::Bytes()) return {};
  return copy_latency + base::transmission_time(std::min(message, copy_chunk), copy_rate);
}

std::optional<HostLimit> limit(const HostLinks& host) {
  std::vector<double> load(host.links.size());  // bytes on each link per byte of every adapter
  for (const HostWay& way : host.ways) {
    for (const HostCrossing& crossing : way.send) load[crossing.link] += crossing.bytes;
    for (const HostCrossing& crossing : way.receive) load[crossing.link] += crossing.bytes;
  }
  std::optional<HostLimit> least;
  for (std::size_t i = 0; i < load.size(); ++i) {
    if (load[i] <= 0) continue;
    const base::Rate rate = base::Rate::gigabits_per_second(host.links[i].rate.gbps() / load[i]);
    if (!least || rate < least->rate) least = HostLimit{rate, host.links[i].kind};
  }
  return least;
}

std::uint64_t digest(const HostLinks& host) {
  std::uint64_t h = base::hash_name("host");
  const auto mix = [&](auto value) { h = base::mix64(h ^ static_cast<std::uint64_t>(value)); };
  const auto mix_crossings = [&](const std::vector<HostCrossing>& crossings) {
    mix(crossings.size());
    for (const HostCrossing& crossing : crossings) {
      mix(crossing.link);
      mix(std::bit_cast<std::uint64_t>(crossing.bytes));
    }
  };
  mix(host.links.size());
  for (const HostLink& link : host.links) mix(link.rate.bps());
  mix(host.ways.size());
  for (const HostWay& way : host.ways) {
    mix_crossings(way.send);
    mix_crossings(way.receive);
  }
  mix(host.receive_buffer.count());
  mix(host.send_latency.ps());
  mix(host.receive_latency.ps());
  mix(host.copy_chunk.count());
  mix(host.copy_rate.bps());
  mix(host.copy_latency.ps());
  return h;
}

}  // namespace fabricast::fabric
