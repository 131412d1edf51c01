#include "collective/losses.h"

#include <cmath>

#include "base/error.h"

namespace fabricast::collective {
namespace {

using fabric::EndpointId;
using fabric::Fabric;

/// Links between two adapters, by the first of the next hops: all shortest paths are as long.
int links(const Fabric& fabric, EndpointId from, EndpointId to) {
  if (!fabric.connected(from, to)) {
    throw base::failure("a phase between adapters that no path connects");
  }
  int count = 1;
  const fabric::PortId last = fabric.endpoint_port(to);
  fabric::PortId port = fabric.endpoint_port(from);
  while (fabric.port(port).peer != last) {
    port = fabric.next_hops(fabric.port(fabric.port(port).peer).device, to).front();
    ++count;
  }
  return count;
}

/// The adapter that a rank's message for another node leaves by: with PXN that of the GPU beside it
/// on the receiver's rail.
EndpointId leaves_by(const Phase& phase, const Fabric& fabric, base::Rank from, base::Rank to) {
  const auto per_node = static_cast<std::uint32_t>(fabric.spec().gpus_per_node);
  const base::Rank beside(from.index() / per_node * per_node + to.index() % per_node);
  return fabric.endpoint_of(phase.run.pxn ? beside : from);
}

/// Packets times links that one run of the phase sends between nodes, all groups.
double packet_links(const Phase& phase, const Fabric& fabric, double mtu) {
  double sum = 0;
  for (const auto& group : phase.groups) {
    const auto schedule = schedule_of(phase, group, phase.size);
    for (std::uint32_t channel = 0; channel < schedule->channels(); ++channel) {
      for (std::uint64_t i = 0; i < schedule->bulks(channel); ++i) {
        for (const auto& edge : schedule->bulk(channel, i).edges) {
          if (fabric.node_of(edge.from) == fabric.node_of(edge.to)) continue;
          sum += edge.bytes * phase.run.wire / mtu *
                 links(fabric, leaves_by(phase, fabric, edge.from, edge.to),
                       fabric.endpoint_of(edge.to));
        }
      }
    }
  }
  return sum;
}

}  // namespace

double timeout_s(const catalog::FabricProfile& profile) {
  return std::ldexp(4.096e-6, profile.transport.timeout_exponent);
}

double expected_timeouts(const Phase& phase, const Fabric& fabric,
                         const catalog::FabricProfile& profile) {
  const double rate = profile.transport.timeouts_per_gpacket * 1e-9;
  if (rate <= 0 || phase.inside_nodes) return 0;
  return rate * packet_links(phase, fabric, static_cast<double>(profile.link.mtu.count()));
}

}  // namespace fabricast::collective
