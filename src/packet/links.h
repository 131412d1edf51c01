#pragma once
// Packets between ports. A port sends the head of its queue when the wire is free, the class is not
// paused and (InfiniBand) credits suffice. Only the first packet on a wire owns an event; the time
// of the next is in the packet itself. A packet's place in a buffer is given back when its
// transmission starts, since a switch frees its cells as they leave. Included by engine.h only.

#include <algorithm>

#include "base/error.h"
#include "packet/engine.h"

namespace fabricast::packet {

template <FabricKind K>
void Engine<K>::wake_at(std::uint32_t index, std::int64_t at_ps) {
  PortState& port = ports_[index];
  if (port.wake_pending) return;  // it will come at or before the time that is needed
  port.wake_pending = true;
  events_.push(base::Time::picoseconds(at_ps), kWake, index);
}

template <FabricKind K>
void Engine<K>::enqueue(std::uint32_t index, PacketIndex packet) {
  PortState& port = ports_[index];
  if (packets_[packet].type == PacketType::kCnp) {
    port.control.push(packets_, packet);
  } else {
    port.data.push(packets_, packet);
    port.queued_bytes += packets_[packet].wire;
    port.max_queued_bytes = std::max(port.max_queued_bytes, port.queued_bytes);
  }
  try_start(index);
}

// Applies the credit updates that have arrived by now.
template <FabricKind K>
void Engine<K>::read_credit_updates(std::uint32_t index) {
  PortState& port = ports_[index];
  const std::size_t ring = index * credit_ring_;
  while (port.updates_begin != port.updates_end) {
    const CreditUpdate& update = credit_updates_[ring + port.updates_begin % credit_ring_];
    if (update.arrival_ps > now().ps()) break;
    port.credits.update(update.fccl);
    ++port.updates_begin;
  }
}

// A stalled sender is woken by the next update under way.
template <FabricKind K>
void Engine<K>::await_credits(std::uint32_t index) {
  PortState& port = ports_[index];
  if (port.credit_pending || port.updates_begin == port.updates_end) return;
  port.credit_pending = true;
  const CreditUpdate& update =
      credit_updates_[index * credit_ring_ + port.updates_begin % credit_ring_];
  events_.push(base::Time::picoseconds(update.arrival_ps), kCredit, index);
}

// True, and charged to the link, when the receiver has room; else the port counts as stalled.
template <FabricKind K>
bool Engine<K>::take_credits(std::uint32_t index, std::int64_t bytes) {
  PortState& port = ports_[index];
  const std::uint32_t blocks = credit_blocks(bytes);
  read_credit_updates(index);
  if (!port.credits.may_send(blocks)) {
    if (!port.stalled) {
      port.stalled = true;
      port.stalled_since_ps = now().ps();
    }
    await_credits(index);
    return false;
  }
  if (port.stalled) {
    port.stalled = false;
    port.stalled_ps += now().ps() - port.stalled_since_ps;
  }
  port.credits.sent(blocks);
  return true;
}

template <FabricKind K>
void Engine<K>::try_start(std::uint32_t index) {
  PortState& port = ports_[index];
  const std::int64_t now_ps = now().ps();
  if (port.busy_until_ps > now_ps) {
    wake_at(index, port.busy_until_ps);
    return;
  }
  if (!port.control.empty()) {
    transmit(index, port.control.pop(packets_));
  } else if (port.paused) {
    return;  // kResume tries again
  } else if (!port.data.empty()) {
    Packet& head = packets_[port.data.front()];
    if (head.time_ps > now_ps) {  // its tail is not in yet and this link is faster
      wake_at(index, head.time_ps);
      return;
    }
    if constexpr (kCredits) {
      if (!take_credits(index, head.wire)) return;  // kCredit tries again
    }
    port.queued_bytes -= head.wire;
    transmit(index, port.data.pop(packets_));
  } else {
    if constexpr (!kTcp) {
      if (port.adapter == kNone || adapters_[port.adapter].ready_head == kNone) return;
      const PacketIndex packet = pull(index);
      if (packet == kNone) return;
      transmit(index, packet);
    } else {
      return;
    }
  }
  const bool more = !port.data.empty() || !port.control.empty() ||
                    (!kTcp && port.adapter != kNone && adapters_[port.adapter].ready_head != kNone);
  if (more) wake_at(index, port.busy_until_ps);
}

template <FabricKind K>
void Engine<K>::transmit(std::uint32_t index, PacketIndex packet_index) {
  PortState& port = ports_[index];
  Packet& packet = packets_[packet_index];
  if (port.adapter == kNone) leave_switch(port, packet);
  const std::int64_t start = now().ps();
  const std::int64_t serialisation = port.serialisation_ps(packet.wire);
  const std::int64_t gap = (packet.wire * port.gap_per_byte_q16) >> 16;
  port.busy_until_ps = start + gap;
  port.sent_bytes += packet.wire;
  const std::int64_t in =
      port.head_arrives ? port.serialisation_ps(std::min<std::int64_t>(packet.wire, kHeadBytes))
                        : serialisation;
  packet.time_ps = start + in + port.propagation_ps + port.pipeline_ps;
  ++counters_.packet_hops;
  const bool first = port.wire.empty();
  port.wire.push(packets_, packet_index);
  if (first) events_.push(base::Time::picoseconds(packet.time_ps), kArrive, index);
}

template <FabricKind K>
void Engine<K>::leave_switch(const PortState& port, const Packet& packet) {
  if constexpr (kCredits) {
    free_credits(packet.ingress, packet.wire);
  } else {
    if (packet.type == PacketType::kCnp) return;
    SharedBuffer& buffer = buffer_of(port.device);
    const std::size_t ingress = local_port(packet.ingress);
    buffer.release(ingress, packet.wire);
    if constexpr (kRoce) {
      if (profile_.pfc.enabled && buffer.resume_due(ingress)) send_pause(packet.ingress, false);
    }
  }
}

template <FabricKind K>
void Engine<K>::on_arrive(std::uint32_t index) {
  PortState& port = ports_[index];
  const PacketIndex packet = port.wire.pop(packets_);
  if (!port.wire.empty()) {
    events_.push(base::Time::picoseconds(packets_[port.wire.front()].time_ps), kArrive, index);
  }
  ++packets_[packet].hop;
  if (port.peer_is_switch) {
    forward(packet, index);
    return;
  }
  if constexpr (kCredits) {  // an adapter drains its buffer at once
    const std::uint32_t blocks = credit_blocks(packets_[packet].wire);
    if (!ports_[port.peer].receiver.received(blocks)) {
      throw base::failure("a packet arrived without credits");
    }
    free_credits(port.peer, packets_[packet].wire);
  }
  on_host(packet);
}

template <FabricKind K>
std::uint32_t Engine<K>::next_port(const Packet& packet, std::uint32_t device) const {
  const Flow& flow = flows_[packet.flow];
  const bool forward_direction = packet.type == PacketType::kData;
  if (profile_.paths.routing != catalog::Routing::kAdaptive) {
    return paths_[(forward_direction ? flow.path : flow.reverse_path) + packet.hop];
  }
  const std::uint32_t destination = forward_direction ? flow.destination : flow.source;
  const auto choices =
      fabric_->next_hops(fabric::DeviceId(device), fabric::EndpointId(destination));
  // Least queued bytes; ties go round from a hash of the packet, so that idle links share.
  const std::size_t n = choices.size();
  const std::size_t offset =
      n == 1 ? 0 : detail::switch_hash(packet.flow * 0x9e3779b9ULL + packet.sequence, device) % n;
  std::uint32_t best = choices[offset].index();
  for (std::size_t i = 1; i < n; ++i) {
    const std::uint32_t other = choices[(offset + i) % n].index();
    if (ports_[other].queued_bytes < ports_[best].queued_bytes) best = other;
  }
  return best;
}

template <FabricKind K>
void Engine<K>::forward(PacketIndex index, std::uint32_t ingress_link) {
  Packet& packet = packets_[index];
  const PortState& in = ports_[ingress_link];
  const std::uint32_t ingress = in.peer;
  const std::uint32_t device = ports_[ingress].device;
  const std::uint32_t egress = next_port(packet, device);
  PortState& out = ports_[egress];
  packet.ingress = ingress;
  // A faster egress would run out of bits: it waits for the tail.
  packet.time_ps = now().ps();
  if (in.head_arrives && out.ps_per_byte_q16 < in.ps_per_byte_q16) {
    packet.time_ps += in.serialisation_ps(packet.wire) -
                      in.serialisation_ps(std::min<std::int64_t>(packet.wire, kHeadBytes));
  }
  if (faults_.drop_probability > 0 && packet.type == PacketType::kData &&
      errors_.uniform() < faults_.drop_probability) {
    if constexpr (kCredits) {  // it used and gives back its place
      if (!ports_[ingress].receiver.received(credit_blocks(packet.wire))) {
        throw base::failure("a packet arrived without credits");
      }
      free_credits(ingress, packet.wire);
    }
    ++counters_.dropped_packets;
    packets_.release(index);
    return;
  }
  if constexpr (kCredits) {
    if (!ports_[ingress].receiver.received(credit_blocks(packet.wire))) {
      throw base::failure("a packet arrived without credits");
    }
  } else if (packet.type != PacketType::kCnp) {
    SharedBuffer& buffer = buffer_of(device);
    if (!buffer.admit(local_port(ingress), packet.wire, out.queued_bytes)) {
      ++counters_.dropped_packets;
      packets_.release(index);
      return;
    }
    if constexpr (kRoce) {
      if (profile_.pfc.enabled && buffer.pause_due(local_port(ingress))) send_pause(ingress, true);
    }
    if (profile_.ecn.enabled && packet.type == PacketType::kData && !packet.marked) {
      const double p = marking_probability(profile_.ecn, out.queued_bytes);
      packet.marked = p > 0 && marking_.uniform() < p;
    }
  }
  enqueue(egress, index);
}

// A link-control frame goes out between packets: it waits for the one on the wire, then takes its
// own time. Returns the instant at which its last bit reaches the far end.
template <FabricKind K>
std::int64_t Engine<K>::send_link_control(std::uint32_t index, std::int64_t bytes) {
  PortState& port = ports_[index];
  const std::int64_t start = std::max(now().ps(), port.busy_until_ps);
  port.busy_until_ps = start + port.serialisation_ps(bytes);
  return port.busy_until_ps + port.propagation_ps;
}

template <FabricKind K>
void Engine<K>::send_pause(std::uint32_t ingress, bool xoff) {
  const std::int64_t arrival = send_link_control(ingress, kPauseFrameBytes);
  if (xoff) ++counters_.pause_frames;
  events_.push(base::Time::picoseconds(arrival), xoff ? kPause : kResume, ports_[ingress].peer);
}

template <FabricKind K>
void Engine<K>::free_credits(std::uint32_t ingress, std::int64_t bytes) {
  CreditReceiver& receiver = ports_[ingress].receiver;
  if (!receiver.freed(credit_blocks(bytes))) return;
  const std::uint32_t sender = ports_[ingress].peer;
  PortState& port = ports_[sender];
  read_credit_updates(sender);  // so that the ring holds only what is under way
  credit_updates_[sender * credit_ring_ + port.updates_end++ % credit_ring_] = {
      send_link_control(ingress, kFlowControlPacketBytes), receiver.advertise()};
  if (port.stalled) await_credits(sender);
}

template <FabricKind K>
void Engine<K>::on_host(PacketIndex packet) {
  if constexpr (kTcp) {
    if (packets_[packet].type == PacketType::kData) {
      core_push(flows_[packets_[packet].flow].destination_core, packet, true);
    } else {
      on_tcp_ack(packet);
    }
  } else {
    switch (packets_[packet].type) {
      case PacketType::kData:
        on_data(packet);
        break;
      case PacketType::kAck:
      case PacketType::kNak:
        on_ack(packet);
        break;
      case PacketType::kCnp:
        on_cnp(packets_[packet].flow);
        packets_.release(packet);
        break;
    }
  }
}

}  // namespace fabricast::packet
