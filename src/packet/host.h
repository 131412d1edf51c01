#pragma once
// Payload between adapters and GPUs crosses links inside the node (fabric/host.h). A link serves
// packet by packet, first come first served. An adapter sends its next packet when the payload of
// the last one has crossed. What it receives waits in its buffer and crosses one packet at a time;
// a buffer that fills pauses the switch (PFC), holds back credits (InfiniBand) or drops. Included
// by engine.h only.

#include <algorithm>
#include <cmath>

#include "packet/engine.h"

namespace fabricast::packet {

template <FabricKind K>
void Engine<K>::build_hosts() {
  const fabric::HostLinks& host = fabric_->spec().host;
  host_limits_ = !host.ways.empty();
  if (!host_limits_) return;
  const auto crossings = [&](const std::vector<fabric::HostCrossing>& of) {
    std::vector<HostCrossing> result;
    for (const fabric::HostCrossing& c : of) {
      const double ps_per_byte =
          c.bytes * 8e12 / static_cast<double>(host.links[c.link].rate.bps());
      result.push_back({c.link, std::llround(ps_per_byte * 65536.0)});
    }
    return result;
  };
  for (const fabric::HostWay& way : host.ways) {
    host_ways_.push_back({crossings(way.send), crossings(way.receive)});
  }
  host_links_ = host.links.size();
  host_free_ps_.resize(adapters_.size() / host_ways_.size() * host_links_);
  const std::int64_t packet = (profile_.link.mtu + profile_.link.header).count();
  for (std::uint32_t e = 0; e < adapters_.size(); ++e) {
    const fabric::Port& port = fabric_->port(fabric_->endpoint_port(fabric::EndpointId(e)));
    const std::int64_t headroom = pfc_headroom(profile_, port.rate, port.delay).count();
    adapters_[e].room = host.receive_buffer.count();
    adapters_[e].lossless_room = std::max(adapters_[e].room, headroom + 2 * packet);
    adapters_[e].xoff = adapters_[e].lossless_room - headroom;
  }
}

// Books `payload` on the links of an adapter's node from `from_ps` on; returns when the last of it
// is through.
template <FabricKind K>
std::int64_t Engine<K>::cross_host(std::uint32_t endpoint, const std::vector<HostCrossing>& way,
                                   std::int64_t payload, std::int64_t from_ps) {
  std::int64_t* const free = &host_free_ps_[endpoint / host_ways_.size() * host_links_];
  std::int64_t through = from_ps;
  for (const HostCrossing& crossing : way) {
    std::int64_t& link = free[crossing.link];
    link = std::max(link, from_ps) + ((payload * crossing.ps_per_byte_q16) >> 16);
    through = std::max(through, link);
  }
  return through;
}

// False while an adapter's next packet of a class has to wait for its payload; it is woken then.
template <FabricKind K>
bool Engine<K>::fed(std::uint32_t index, unsigned c) {
  const PortState& port = ports_[index];
  if (port.adapter == kNone) return true;
  const PacketQueue& queue = port.classes[c].packets;
  if (!queue.empty() && !carries_payload(packets_[queue.front()].type)) return true;
  const std::int64_t at = adapters_[port.adapter].fed_ps;
  if (at <= now().ps()) return true;
  wake_at(index, at);
  return false;
}

template <FabricKind K>
void Engine<K>::take_payload(std::uint32_t index, const Packet& packet) {
  const std::uint32_t endpoint = ports_[index].adapter;
  adapters_[endpoint].fed_ps = cross_host(endpoint, host_ways_[endpoint % host_ways_.size()].send,
                                          packet.payload, now().ps());
}

// A data packet has reached the adapter at `index`.
template <FabricKind K>
void Engine<K>::arrive_at_host(std::uint32_t index, PacketIndex packet_index) {
  const std::uint32_t endpoint = ports_[index].adapter;
  Adapter& adapter = adapters_[endpoint];
  Packet& packet = packets_[packet_index];
  const unsigned c = packet.traffic_class;
  if constexpr (kCredits) {
    accept_on_lane(index, packet);
  } else if (adapter.held[c] + packet.wire > (lossless(c) ? adapter.lossless_room : adapter.room)) {
    drop(packet_index);
    return;
  }
  if (adapter.arrived.empty()) {
    // Its first bytes cross while the last ones are on the wire.
    const std::int64_t wire = ports_[ports_[index].peer].serialisation_ps(packet.wire);
    packet.time_ps = cross_host(endpoint, host_ways_[endpoint % host_ways_.size()].receive,
                                packet.payload, now().ps() - wire);
    if (packet.time_ps <= now().ps()) {
      leave_adapter(index, packet_index);
      return;
    }
    events_.push(base::Time::picoseconds(packet.time_ps), kCrossed, endpoint);
  }
  adapter.arrived.push(packets_, packet_index);
  adapter.held[c] += packet.wire;
  if (lossless(c) && adapter.held[c] > adapter.xoff && (adapter.pausing & mask_of(c)) == 0) {
    adapter.pausing |= mask_of(c);
    send_pause(index, c, true);
  }
}

// The first packet that waits at an adapter has crossed; the next one begins to.
template <FabricKind K>
void Engine<K>::on_crossed(std::uint32_t endpoint) {
  Adapter& adapter = adapters_[endpoint];
  const std::uint32_t index = fabric_->endpoint_port(fabric::EndpointId(endpoint)).index();
  const PacketIndex first = adapter.arrived.pop(packets_);
  const unsigned c = packets_[first].traffic_class;
  adapter.held[c] -= packets_[first].wire;
  const std::int64_t packet = (profile_.link.mtu + profile_.link.header).count();
  if ((adapter.pausing & mask_of(c)) != 0 && adapter.held[c] <= adapter.xoff - packet) {
    adapter.pausing &= static_cast<ClassMask>(~mask_of(c));
    send_pause(index, c, false);
  }
  if (!adapter.arrived.empty()) {
    Packet& next = packets_[adapter.arrived.front()];
    next.time_ps = cross_host(endpoint, host_ways_[endpoint % host_ways_.size()].receive,
                              next.payload, now().ps());
    events_.push(base::Time::picoseconds(next.time_ps), kCrossed, endpoint);
  }
  leave_adapter(index, first);
}

// An adapter is through with a packet: its place is free, and its transport looks at it.
template <FabricKind K>
void Engine<K>::leave_adapter(std::uint32_t index, PacketIndex packet) {
  if constexpr (kCredits) {
    free_credits(index, packets_[packet].traffic_class, packets_[packet].wire);
  }
  on_host(packet);
}

}  // namespace fabricast::packet
