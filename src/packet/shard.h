#pragma once
// An engine as one of several that share a network (parallel_network.h). Each has ports and flows
// of the whole network, so that an index means the same in all of them, but moves the devices of
// its own part only; what leaves the part is handed to the engine of the next. Included by engine.h
// only.

#include <algorithm>

#include "packet/engine.h"

namespace fabricast::packet {

template <FabricKind K>
void Engine<K>::share(std::shared_ptr<const Partition> partition, unsigned part) {
  partition_ = std::move(partition);
  part_ = part;
  outboxes_.resize(partition_->parts);
  for (PortState& port : ports_) {
    if (!mine(port)) continue;
    port.across = !mine(ports_[port.peer]);
    port.watched = port.across || !port.peer_is_switch;
  }
}

template <FabricKind K>
bool Engine<K>::mine(const PortState& port) const {
  return partition_ == nullptr || partition_->part_of[port.device] == part_;
}

template <FabricKind K>
Crossing& Engine<K>::outbox_towards(std::uint32_t port) {
  return outboxes_[partition_->part_of[ports_[port].device]];
}

// A packet starts on a link to another part or to an adapter. True: it has been handed over.
template <FabricKind K>
bool Engine<K>::crosses(std::uint32_t index, PacketIndex packet) {
  const PortState& port = ports_[index];
  if (!port.across) {
    if (may_complete(port, packets_[packet])) completions_due_.push(packets_[packet].time_ps);
    return false;
  }
  Crossing& out = outbox_towards(port.peer);
  out.packets.push_back({index, packets_[packet]});
  if (telemetry_on_) out.telemetry.push_back(telemetry_of(packet));
  packets_.release(packet);
  return true;
}

// True when a message could be complete once this packet has arrived at its adapter: when no more
// of its message is missing than what the wire holds with it, or it acknowledges a message's end.
template <FabricKind K>
bool Engine<K>::may_complete(const PortState& port, const Packet& packet) const {
  if constexpr (kTcp) return false;  // a core stands between
  const Flow& flow = flows_[packet.flow];
  if (packet.type != PacketType::kData) {
    const std::uint32_t unacked = packet.sequence + (packet.type == PacketType::kResult ? 1 : 0);
    for (std::uint32_t i = flow.oldest; i != kNone && transfers_[i].last < unacked;
         i = transfers_[i].next) {
      if (transfers_[i].completion == network::Completion::kAcknowledged) return true;
    }
    return false;
  }
  if (flow.receiving == kNone) return false;
  std::uint32_t missing = transfers_[flow.receiving].last + 1;
  if constexpr (!kTcp) {
    missing -= std::min(missing - 1, flow.expected + flow.window.held());
  }
  std::uint32_t on_wire = 1;
  for (PacketIndex i = port.wire.front(); i != kNone && on_wire < missing; i = packets_[i].next) {
    ++on_wire;
  }
  return on_wire >= missing;
}

template <FabricKind K>
void Engine<K>::run_before(const engine::Event& bound) {
  engine::Event event;
  while (events_.pop_before(bound, event)) dispatch(event);
  const auto arrived = [&](std::int64_t at) { return engine::Event{at, kArrive, 0} < bound; };
  while (!completions_due_.empty() && arrived(completions_due_.top())) completions_due_.pop();
}

template <FabricKind K>
void Engine<K>::take_in(Crossing& in) {
  for (std::size_t i = 0; i < in.packets.size(); ++i) {
    const Crossing::OnWire& crossing = in.packets[i];
    const PacketIndex packet = packets_.allocate();
    packets_[packet] = crossing.packet;
    if (telemetry_on_) telemetry_of(packet) = in.telemetry[i];
    put_on_wire(crossing.link, packet);
  }
  for (const engine::Event& pause : in.pauses) {
    events_.push(pause);
  }
  if constexpr (kCredits) {
    for (const Crossing::Credit& credit : in.credits) {
      add_credits(credit.port, credit.traffic_class, credit.update);
    }
  }
  if constexpr (kTcp) {
    for (const Crossing::Sack& sack : in.sacks)
      flows_[sack.connection].receiver.report(sack.segment);
  }
  in.clear();
}

}  // namespace fabricast::packet
