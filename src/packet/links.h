#pragma once
// Packets between ports. A port sends the head of its queue when the wire is free, the class is not
// paused and (InfiniBand) credits suffice. Only the first packet on a wire owns an event; the time
// of the next is in the packet itself. A packet's place in a buffer is given back when its
// transmission starts, since a switch frees its cells as they leave. Included by engine.h only.

#include <algorithm>

#include "base/error.h"
#include "packet/engine.h"

namespace fabricast::packet {

/// Link-level retries of one packet after which the link lets it go: ours, so that a cable that
/// carries nothing whole ends in the transport's error.
inline constexpr int kReplayLimit = 16;

template <FabricKind K>
void Engine<K>::wake_at(std::uint32_t index, std::int64_t at_ps) {
  PortState& port = ports_[index];
  if (port.wake_ps <= at_ps) return;
  port.wake_ps = at_ps;  // a later one that is under way will find that it is not meant
  events_.push(base::Time::picoseconds(at_ps), kWake, index);
}

template <FabricKind K>
void Engine<K>::enqueue(std::uint32_t index, PacketIndex packet) {
  PortState& port = ports_[index];
  // The watchdog empties a class; notifications are in one of their own.
  const bool control = kEthernet && packets_[packet].control;
  const unsigned discarded = control && !port.down ? 0 : port.discarding;
  if (discarded != 0 && (discarded & mask_of(packets_[packet].traffic_class)) != 0) {
    if (port.adapter == kNone) leave_switch(port, packets_[packet]);
    drop(packet);
    return;
  }
  if (control) {
    port.control.push(packets_, packet);
  } else {
    const unsigned c = packets_[packet].traffic_class;
    ClassQueue& queue = port.classes[c];
    queue.packets.push(packets_, packet);
    queue.bytes += packets_[packet].wire;
    port.queued |= mask_of(c);
    port.max_queued_bytes = std::max(port.max_queued_bytes, queue.bytes);
  }
  try_start(index);
}

// Applies the credit updates that have arrived by now.
template <FabricKind K>
void Engine<K>::read_credit_updates(std::size_t lane_index) {
  Lane& lane = lanes_[lane_index];
  const std::size_t ring = lane_index * credit_ring_;
  while (lane.updates_begin != lane.updates_end) {
    const CreditUpdate& update = credit_updates_[ring + lane.updates_begin % credit_ring_];
    if (update.arrival_ps > now().ps()) break;
    lane.sender.update(update.fccl);
    ++lane.updates_begin;
  }
}

// A stalled sender is woken by the next update under way.
template <FabricKind K>
void Engine<K>::await_credits(std::uint32_t index, unsigned c) {
  const std::size_t lane_index = lane_of(index, c);
  Lane& lane = lanes_[lane_index];
  if (lane.update_event || lane.updates_begin == lane.updates_end) return;
  lane.update_event = true;
  const CreditUpdate& update =
      credit_updates_[lane_index * credit_ring_ + lane.updates_begin % credit_ring_];
  events_.push(base::Time::picoseconds(update.arrival_ps), kCredit, index, c);
}

template <FabricKind K>
void Engine<K>::end_stall(PortState& port, unsigned c) {
  if ((port.stalled & mask_of(c)) == 0) return;
  port.stalled &= static_cast<ClassMask>(~mask_of(c));
  if (port.stalled == 0) port.stalled_ps += now().ps() - port.stalled_since_ps;
}

// An update has reached a sender that was stalled when it was awaited.
template <FabricKind K>
void Engine<K>::on_credit(std::uint32_t index, unsigned c) {
  const std::size_t lane_index = lane_of(index, c);
  Lane& lane = lanes_[lane_index];
  lane.update_event = false;
  PortState& port = ports_[index];
  if ((port.stalled & mask_of(c)) == 0) return;
  read_credit_updates(lane_index);
  if (lane.sender.may_send(lane.wanted)) {
    end_stall(port, c);  // although the wire may be busy
  } else {
    await_credits(index, c);
  }
  try_start(index);
}

// True, and charged to the link, when the receiver has room; else the class counts as stalled.
template <FabricKind K>
bool Engine<K>::take_credits(std::uint32_t index, unsigned c, std::int64_t bytes) {
  PortState& port = ports_[index];
  const std::size_t lane_index = lane_of(index, c);
  const std::uint32_t blocks = credit_blocks(bytes);
  read_credit_updates(lane_index);
  CreditSender& sender = lanes_[lane_index].sender;
  if (!sender.may_send(blocks)) {
    if (port.stalled == 0) port.stalled_since_ps = now().ps();
    if (hoq_lifetime_ps_ > 0 && (port.stalled & mask_of(c)) == 0 && port.adapter == kNone) {
      lanes_[lane_index].stalled_since_ps = now().ps();
      events_.push(now() + base::Time::picoseconds(hoq_lifetime_ps_), kLifetime, index, c);
    }
    port.stalled |= mask_of(c);
    lanes_[lane_index].wanted = blocks;
    await_credits(index, c);
    return false;
  }
  end_stall(port, c);
  lanes_[lane_index].expired = 0;
  sender.sent(blocks);
  return true;
}

template <FabricKind K>
void Engine<K>::try_start(std::uint32_t index) {
  PortState& port = ports_[index];
  const std::int64_t now_ps = now().ps();
  if (port.busy_until_ps > now_ps) {
    if (!port.down) wake_at(index, port.busy_until_ps);
    return;
  }
  const bool notified = !port.control.empty();
  if (notified && packets_[port.control.front()].time_ps <= now_ps) {
    transmit(index, port.control.pop(packets_));
  } else {
    // Its tail is not in yet and this link is faster.
    if (notified) wake_at(index, packets_[port.control.front()].time_ps);
    // kResume and kCredit try again for a class that is held.
    const unsigned eligible = (port.queued | port.ready) & ~port.paused & 0xffU;
    if (eligible == 0) return;
    const PacketIndex packet = several_classes_ ? take_in_turn(index, eligible) : take(index, 0);
    if (packet == kNone) return;
    transmit(index, packet);
  }
  const bool more = ((port.queued | port.ready) & ~port.paused) != 0 || !port.control.empty();
  if (more) wake_at(index, port.busy_until_ps);
}

// The next packet of several classes. How often it is tried in vain leaves no trace in the arbiter.
template <FabricKind K>
PacketIndex Engine<K>::take_in_turn(std::uint32_t index, unsigned eligible) {
  Arbiter& arbiter = arbiters_[index];
  const Arbiter before = arbiter;
  while (eligible != 0) {
    const unsigned c = arbiter.choose(profile_.classes, eligible);
    const PacketIndex packet = take(index, c);
    if (packet != kNone) {
      arbiter.served(profile_.classes, c, packets_[packet].wire);
      return packet;
    }
    eligible &= ~(1U << c);
  }
  arbiter = before;
  return kNone;
}

// The next packet of a class, from its queue or from the adapter's queue pairs; kNone when it
// cannot go yet, and then an event is on its way that tries again.
template <FabricKind K>
PacketIndex Engine<K>::take(std::uint32_t index, unsigned c) {
  PortState& port = ports_[index];
  if (host_limits_ && !fed(index, c)) return kNone;
  if ((port.queued & mask_of(c)) == 0) return pull(index, c);
  ClassQueue& queue = port.classes[c];
  Packet& head = packets_[queue.packets.front()];
  if (head.time_ps > now().ps()) {  // its tail is not in yet and this link is faster
    wake_at(index, head.time_ps);
    return kNone;
  }
  if constexpr (kCredits) {
    if (!take_credits(index, c, head.wire)) return kNone;
    if (!markers_.empty() && port.adapter == kNone)
      mark_at_root(index, head, queue.bytes - head.wire);
  }
  queue.bytes -= head.wire;
  const PacketIndex packet = queue.packets.pop(packets_);
  if (queue.packets.empty()) port.queued &= static_cast<ClassMask>(~mask_of(c));
  return packet;
}

template <FabricKind K>
void Engine<K>::transmit(std::uint32_t index, PacketIndex packet_index) {
  PortState& port = ports_[index];
  Packet& packet = packets_[packet_index];
  if (port.adapter == kNone) {
    leave_switch(port, packet);
    if (kRoce && telemetry_on_ && packet.type == PacketType::kData) stamp(port, packet_index);
  } else if (host_limits_ && carries_payload(packet.type)) {
    take_payload(index, packet);
  }
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
  if (port.watched && crosses(index, packet_index)) return;
  put_on_wire(index, packet_index);
}

template <FabricKind K>
void Engine<K>::put_on_wire(std::uint32_t index, PacketIndex packet) {
  PacketQueue& wire = ports_[index].wire;
  const bool first = wire.empty();
  wire.push(packets_, packet);
  if (first) events_.push(base::Time::picoseconds(packets_[packet].time_ps), kArrive, index);
}

template <FabricKind K>
IntRecord& Engine<K>::telemetry_of(PacketIndex packet) {
  if (packet >= telemetry_.size()) telemetry_.resize(packet + std::size_t{1});
  return telemetry_[packet];
}

// The switch's record of itself, as the packet starts to leave it.
template <FabricKind K>
void Engine<K>::stamp(const PortState& port, PacketIndex packet) {
  IntHop hop;
  hop.time_ps = now().ps();
  hop.sent_bytes = port.sent_bytes;
  hop.rate_bps = (8'000'000'000'000LL << 16) / port.ps_per_byte_q16;
  hop.queued_bytes = static_cast<std::uint32_t>(port.classes[packets_[packet].traffic_class].bytes);
  hop.port = static_cast<std::uint32_t>(&port - ports_.data());
  telemetry_of(packet).push(hop);
}

// FECN on a packet that leaves a switch with `queued` bytes waiting behind it.
template <FabricKind K>
void Engine<K>::mark_at_root(std::uint32_t index, Packet& packet, std::int64_t queued) {
  if (packet.type != PacketType::kData) return;
  const std::size_t lane = lane_of(index, packet.traffic_class);
  const auto full = static_cast<std::int64_t>((profile_.link.mtu + profile_.link.header).count());
  FecnMarker::Port port;
  port.queued = queued;
  port.has_credits = lanes_[lane].sender.may_send(credit_blocks(full));
  port.to_adapter = !ports_[index].peer_is_switch;
  if (markers_[lane].mark(profile_, port, packet.wire)) packet.marked = true;
}

template <FabricKind K>
void Engine<K>::leave_switch(const PortState& port, const Packet& packet) {
  if constexpr (kCredits) {
    // But a copy of a reduction's result, which never held any.
    if (packet.ingress != kNone) free_credits(packet.ingress, packet.traffic_class, packet.wire);
  } else {
    if (packet.control) return;
    SharedBuffer& buffer = buffer_of(port.device);
    const unsigned c = packet.traffic_class;
    if (!lossless(c)) {
      buffer.release_lossy(packet.wire);
      return;
    }
    const std::size_t ingress = buffer_place(packet.ingress, c);
    buffer.release(ingress, packet.wire);
    if (buffer.resume_due(ingress) && buffer.pfc()) send_pause(packet.ingress, c, false);
  }
}

template <FabricKind K>
void Engine<K>::on_arrive(std::uint32_t index) {
  PortState& port = ports_[index];
  // A link that went down, or that sends again, leaves an event that is no longer meant.
  if (port.wire.empty() || packets_[port.wire.front()].time_ps != now().ps()) return;
  const bool corrupted = port.errors && corrupts(port, packets_[port.wire.front()]);
  if (corrupted && profile_.link.retry && port.replays++ < kReplayLimit) {
    replay(index);
    return;
  }
  if (port.errors) port.replays = 0;
  const PacketIndex packet = port.wire.pop(packets_);
  if (!port.wire.empty()) {
    events_.push(base::Time::picoseconds(packets_[port.wire.front()].time_ps), kArrive, index);
  }
  if (corrupted) {
    if constexpr (kCredits) {  // its place is given back
      accept_on_lane(port.peer, packets_[packet]);
      free_credits(port.peer, packets_[packet].traffic_class, packets_[packet].wire);
    }
    drop(packet);
    return;
  }
  ++packets_[packet].hop;
  if (port.peer_is_switch) {
    forward(packet, index);
    return;
  }
  if (host_limits_ && carries_payload(packets_[packet].type)) {
    arrive_at_host(port.peer, packet);
    return;
  }
  if constexpr (kCredits) accept_on_lane(port.peer, packets_[packet]);
  leave_adapter(port.peer, packet);  // at once
}

// kNone when there is no way.
template <FabricKind K>
std::uint32_t Engine<K>::next_port(const Packet& packet, std::uint32_t device) const {
  const Flow& flow = flows_[packet.flow];
  const bool forward_direction = packet.type == PacketType::kData;
  if (profile_.paths.routing == catalog::Routing::kAdaptive) {
    return least_loaded(packet, device, forward_direction ? flow.destination : flow.source);
  }
  if (routes_changed_) return choose_port(flow, forward_direction, device);
  return paths_[(forward_direction ? flow.path : flow.reverse_path) + packet.hop];
}

// Where the flow's path leads on from `device`. A packet that was under way when routes changed may
// stand at a switch that is no longer on it: it takes the way that routing has from there.
template <FabricKind K>
std::uint32_t Engine<K>::choose_port(const Flow& flow, bool forward_direction,
                                     std::uint32_t device) const {
  const std::uint32_t destination = forward_direction ? flow.destination : flow.source;
  const std::uint32_t last_device =
      ports_[fabric_->endpoint_port(fabric::EndpointId(destination)).index()].device;
  for (std::uint32_t i = forward_direction ? flow.path : flow.reverse_path;; ++i) {
    if (ports_[paths_[i]].device == device) return paths_[i];
    if (ports_[ports_[paths_[i]].peer].device == last_device) break;
  }
  return routed_port(device, destination, flow.hash, Known::kWhatRoutingKnows);
}

// Where routing sends a flow from a switch: by the switch's forwarding table, or by the flow's hash
// over the next hops that lead on.
template <FabricKind K>
std::uint32_t Engine<K>::routed_port(std::uint32_t device, std::uint32_t destination,
                                     std::uint64_t hash, Known known) const {
  const bool heed = known == Known::kWhatRoutingKnows;
  if (tables_ != nullptr) {
    const fabric::PortId port =
        (heed ? tables_ : whole_tables_)
            ->egress(fabric::DeviceId(device), fabric::EndpointId(destination));
    return port.valid() ? port.index() : kNone;
  }
  const auto choices =
      fabric_->next_hops(fabric::DeviceId(device), fabric::EndpointId(destination));
  const auto leads_on = [&](fabric::PortId p) {
    return !heed || !avoiding_ || usable(p.index(), destination);
  };
  const fabric::PortId port =
      network::pick_next_hop(choices, profile_.paths.routing, hash, device, leads_on);
  return port.valid() ? port.index() : kNone;
}

// Least queued bytes; ties go round from a hash of the packet, so that idle links share. A switch
// knows at once which of its own links are down, and of others what routing has learnt.
template <FabricKind K>
std::uint32_t Engine<K>::least_loaded(const Packet& packet, std::uint32_t device,
                                      std::uint32_t destination) const {
  const auto choices =
      fabric_->next_hops(fabric::DeviceId(device), fabric::EndpointId(destination));
  const std::size_t n = choices.size();
  const std::size_t offset =
      n == 1 ? 0 : network::switch_hash(packet.flow * 0x9e3779b9ULL + packet.sequence, device) % n;
  const unsigned c = packet.traffic_class;
  std::uint32_t best = kNone;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t port = choices[(offset + i) % n].index();
    if (impaired_ && (ports_[port].down || !usable(port, destination))) continue;
    if (best == kNone || ports_[port].classes[c].bytes < ports_[best].classes[c].bytes) {
      best = port;
    }
  }
  return best;
}

template <FabricKind K>
void Engine<K>::forward(PacketIndex index, std::uint32_t ingress_link) {
  Packet& packet = packets_[index];
  if (kCredits && packet.type >= PacketType::kReduce) {
    reduce_at(index, ingress_link);
    return;
  }
  const PortState& in = ports_[ingress_link];
  const std::uint32_t ingress = in.peer;
  const std::uint32_t device = ports_[ingress].device;
  const std::uint32_t egress = next_port(packet, device);
  packet.ingress = ingress;
  if (egress == kNone) {
    if constexpr (kCredits) {
      accept_on_lane(ingress, packet);
      free_credits(ingress, packet.traffic_class, packet.wire);
    }
    drop(index);
    return;
  }
  PortState& out = ports_[egress];
  // A faster egress would run out of bits: it waits for the tail.
  packet.time_ps = now().ps();
  if (in.head_arrives && out.ps_per_byte_q16 < in.ps_per_byte_q16) {
    packet.time_ps += in.serialisation_ps(packet.wire) -
                      in.serialisation_ps(std::min<std::int64_t>(packet.wire, kHeadBytes));
  }
  if constexpr (kCredits) accept_on_lane(ingress, packet);
  if (faults_.drop_probability > 0 && packet.type == PacketType::kData &&
      draw(out) < faults_.drop_probability) {
    // It gives its place back.
    if constexpr (kCredits) free_credits(ingress, packet.traffic_class, packet.wire);
    drop(index);
    return;
  }
  if constexpr (kEthernet) {
    if (!packet.control && !admit(packet, ingress, out)) {
      drop(index);
      return;
    }
  }
  enqueue(egress, index);
}

template <FabricKind K>
void Engine<K>::drop(PacketIndex index) {
  ++counters_.dropped_packets;
  packets_.release(index);
}

// Takes a packet into the buffer of an Ethernet switch, pauses its sender where that is due, and
// marks it where the egress queue is long. False: there is no room.
template <FabricKind K>
bool Engine<K>::admit(Packet& packet, std::uint32_t ingress, PortState& out) {
  SharedBuffer& buffer = buffer_of(out.device);
  const unsigned c = packet.traffic_class;
  const std::int64_t queued = out.classes[c].bytes;
  if (lossless(c)) {
    const std::size_t place = buffer_place(ingress, c);
    if (!buffer.admit(place, packet.wire)) return false;
    if (buffer.pause_due(place) && buffer.pfc()) send_pause(ingress, c, true);
  } else if (!buffer.admit_lossy(packet.wire, queued)) {
    return false;
  }
  if (profile_.ecn.enabled && buffer.ecn() && packet.type == PacketType::kData && !packet.marked) {
    const double p = marking_probability(profile_.ecn, queued);
    packet.marked = p > 0 && draw(out) < p;
  }
  return true;
}

// A packet has come in on a lane of `ingress`.
template <FabricKind K>
void Engine<K>::accept_on_lane(std::uint32_t ingress, const Packet& packet) {
  Lane& lane = lanes_[lane_of(ingress, packet.traffic_class)];
  if (!lane.receiver.received(credit_blocks(packet.wire))) {
    throw base::failure("a packet arrived without credits");
  }
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
void Engine<K>::send_pause(std::uint32_t ingress, unsigned c, bool xoff) {
  if (ports_[ingress].down) return;
  const auto arrival = base::Time::picoseconds(send_link_control(ingress, kPauseFrameBytes));
  if (xoff) ++counters_.pause_frames;
  const std::uint32_t sender = ports_[ingress].peer;
  const auto frame =
      engine::Event::make(arrival, xoff ? kPause : kResume, sender, frame_of(sender, c));
  if (ports_[ingress].across) {
    outbox_towards(sender).pauses.push_back(frame);
  } else {
    events_.push(frame);
  }
}

template <FabricKind K>
void Engine<K>::on_pause(std::uint32_t index, unsigned c) {
  PortState& port = ports_[index];
  if (port.adapter == kNone && kEthernet && !buffer_of(port.device).pfc()) return;
  if (port.down || (port.paused & mask_of(c)) != 0) return;
  if (port.paused == 0) port.paused_since_ps = now().ps();
  port.paused |= mask_of(c);
  watch(index, c, profile_.pfc.watchdog_detect);
}

template <FabricKind K>
void Engine<K>::on_resume(std::uint32_t index, unsigned c) {
  PortState& port = ports_[index];
  if ((port.paused & mask_of(c)) == 0) return;
  watch(index, c, profile_.pfc.watchdog_restore);
  port.paused &= static_cast<ClassMask>(~mask_of(c));
  if (port.paused == 0) port.paused_ps += now().ps() - port.paused_since_ps;
  try_start(index);
}

template <FabricKind K>
void Engine<K>::free_credits(std::uint32_t ingress, unsigned c, std::int64_t bytes) {
  CreditReceiver& receiver = lanes_[lane_of(ingress, c)].receiver;
  if (!receiver.freed(credit_blocks(bytes))) return;
  const std::uint32_t sender = ports_[ingress].peer;
  if (ports_[sender].down) return;
  const CreditUpdate update = {send_link_control(ingress, kFlowControlPacketBytes),
                               receiver.advertise()};
  if (ports_[ingress].across) {
    outbox_towards(sender).credits.push_back({sender, c, update});
  } else {
    add_credits(sender, c, update);
  }
}

// A credit update is on its way to a sender.
template <FabricKind K>
void Engine<K>::add_credits(std::uint32_t sender, unsigned c, const CreditUpdate& update) {
  const std::size_t lane_index = lane_of(sender, c);
  Lane& lane = lanes_[lane_index];
  read_credit_updates(lane_index);  // so that the ring holds only what is under way
  credit_updates_[lane_index * credit_ring_ + lane.updates_end++ % credit_ring_] = update;
  if ((ports_[sender].stalled & mask_of(c)) != 0) await_credits(sender, c);
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
      case PacketType::kReduce:
      case PacketType::kResult:
        on_result(packet);
        break;
    }
  }
}

}  // namespace fabricast::packet
