#pragma once
// The naive engine between two ports: queues, arbitration, credits, pauses, buffers. Included by
// naive_engine.h only.

#include "naive_engine.h"

namespace fabricast::packet::testing {

inline void NaiveEngine::wake(std::uint32_t index, std::int64_t time) {
  if (!wakes_.emplace(time, index).second) return;  // or they would breed
  at(time, kWake, index, 0, [this, index] {
    wakes_.erase({now_, index});
    try_start(index);
  });
}

inline void NaiveEngine::try_start(std::uint32_t index) {
  Port& port = ports_[index];
  if (port.busy_until > now_) {
    wake(index, port.busy_until);
    return;
  }
  if (!port.control.empty()) {
    const PacketPtr first = port.control.front();
    if (first->earliest <= now_) {
      port.control.pop_front();
      transmit(index, first);
      return;
    }
    wake(index, first->earliest);
  }
  unsigned eligible = 0;
  for (unsigned c = 0; c < classes(); ++c) {
    const bool something = !port.queues[c].empty() || !port.ready[c].empty();
    if (something && !port.paused[c]) eligible |= 1U << c;
  }
  const Arbiter before = port.arbiter;
  while (eligible != 0) {
    const unsigned c = classes() > 1 ? port.arbiter.choose(profile_.classes, eligible) : 0;
    eligible &= ~(1U << c);
    if (const PacketPtr packet = take(index, c)) {
      if (classes() > 1) port.arbiter.served(profile_.classes, c, packet->wire);
      transmit(index, packet);
      return;
    }
  }
  port.arbiter = before;
}

inline bool NaiveEngine::may_go(Port& port, std::size_t c, std::int64_t wire) {
  if (!credits()) return true;
  if (!port.credits[c].may_send(credit_blocks(wire))) return false;
  port.credits[c].sent(credit_blocks(wire));
  return true;
}

inline NaiveEngine::PacketPtr NaiveEngine::take(std::uint32_t index, std::size_t c) {
  Port& port = ports_[index];
  if (!port.queues[c].empty()) {
    PacketPtr head = port.queues[c].front();
    if (head->earliest > now_) {
      wake(index, head->earliest);
      return nullptr;
    }
    if (!may_go(port, c, head->wire)) return nullptr;
    port.queues[c].pop_front();
    port.bytes[c] -= head->wire;
    if (port.from_switch) mark_at_root(port, *head);
    return head;
  }
  return pull(port, c);
}

inline void NaiveEngine::transmit(std::uint32_t index, const PacketPtr& packet) {
  Port& port = ports_[index];
  if (port.from_switch) {
    leave(*packet);
    stamp(index, *packet);
  }
  port.sent += packet->wire;
  const std::int64_t whole = serialisation(port, packet->wire);
  const bool head_counts =
      port.to_switch && profile_.switching.forwarding == catalog::Forwarding::kCutThrough;
  const std::int64_t in =
      head_counts ? serialisation(port, std::min<std::int64_t>(packet->wire, 64)) : whole;
  port.busy_until = now_ + whole;
  ++counters.packet_hops;
  wake(index, port.busy_until);
  at(now_ + in + port.propagation + port.pipeline, kArrive, index, 0,
     [this, index, packet] { arrive(index, packet); });
}

inline void NaiveEngine::leave(const Packet& packet) {
  if (is_control(packet)) return;
  const std::size_t c = packet.qp->traffic_class;
  if (credits()) {
    give_back(packet.ingress, c, packet.wire);
    return;
  }
  SharedBuffer& buffer = buffers_.at(ports_[packet.ingress].device);
  if (c >= lossless()) {
    buffer.release_lossy(packet.wire);
    return;
  }
  buffer.release(place(packet.ingress, c), packet.wire);
  if (buffer.resume_due(place(packet.ingress, c))) pause(packet.ingress, c, false);
}

inline std::int64_t NaiveEngine::link_control(std::uint32_t index, std::int64_t bytes) {
  Port& port = ports_[index];
  port.busy_until = std::max(now_, port.busy_until) + serialisation(port, bytes);
  return port.busy_until + port.propagation;
}

inline void NaiveEngine::give_back(std::uint32_t ingress, std::size_t c, std::int64_t wire) {
  CreditReceiver& receiver = ports_[ingress].receivers[c];
  if (!receiver.freed(credit_blocks(wire))) return;
  const std::uint32_t sender = ports_[ingress].peer;
  const std::int64_t arrival = link_control(ingress, kFlowControlPacketBytes);
  const std::uint32_t limit = receiver.advertise();
  at(arrival, kUpdate, sender, 0,
     [this, sender, c, limit] { ports_[sender].credits[c].update(limit); });
  at(arrival, kCredit, sender, 0, [this, sender] { try_start(sender); });
}

inline void NaiveEngine::pause(std::uint32_t ingress, std::size_t c, bool xoff) {
  const std::uint32_t sender = ports_[ingress].peer;
  if (xoff) ++counters.pause_frames;
  at(link_control(ingress, kPauseFrameBytes), xoff ? kPause : kResume, sender,
     static_cast<std::uint32_t>(c), [this, sender, c, xoff] {
       ports_[sender].paused[c] = xoff;
       if (!xoff) try_start(sender);
     });
}

inline double NaiveEngine::draw(std::uint32_t port) {
  const std::uint64_t salt = base::mix64(seed_ ^ base::hash_name("draws"));
  const std::uint64_t number = static_cast<std::uint64_t>(port) << 32 | ports_[port].draws++;
  return static_cast<double>(base::mix64(salt ^ base::mix64(number)) >> 11) * 0x1p-53;
}

inline void NaiveEngine::arrive(std::uint32_t index, const PacketPtr& packet) {
  const Port& in = ports_[index];
  const std::size_t c = packet->qp->traffic_class;
  ++packet->hop;
  packet->ingress = in.peer;
  if (credits()) {
    ASSERT_TRUE(ports_[in.peer].receivers[c].received(credit_blocks(packet->wire)));
  }
  if (!in.to_switch) {
    if (credits()) give_back(in.peer, c, packet->wire);
    at_host(*packet);
    return;
  }
  const std::uint32_t egress = next_port(*packet);
  packet->earliest = now_;
  if (ports_[egress].q16 < in.q16 &&
      profile_.switching.forwarding == catalog::Forwarding::kCutThrough) {
    packet->earliest += serialisation(in, packet->wire) -
                        serialisation(in, std::min<std::int64_t>(packet->wire, 64));
  }
  const bool lost = packet->type == PacketType::kData && drop_probability_ > 0 &&
                    draw(egress) < drop_probability_;
  if (lost && credits()) give_back(in.peer, c, packet->wire);
  if (lost || (!credits() && !is_control(*packet) && !admit(*packet, in.peer, egress))) {
    ++counters.dropped_packets;
    return;
  }
  enqueue(egress, packet);
}

inline std::uint32_t NaiveEngine::next_port(const Packet& packet) const {
  const bool there = packet.type == PacketType::kData;
  const QueuePair& qp = *packet.qp;
  if (profile_.paths.routing != catalog::Routing::kAdaptive) {
    return (there ? qp.there : qp.back)[packet.hop];
  }
  // The shortest queue; of equals the first from a hash of the packet on.
  const std::uint32_t device = ports_[packet.ingress].device;
  const auto choices = fabric_->next_hops(fabric::DeviceId(device),
                                          fabric::EndpointId(there ? qp.destination : qp.source));
  const std::uint64_t of_packet = qp.number * 0x9e3779b9ULL + packet.sequence;
  const std::size_t first = base::mix64(of_packet ^ base::mix64(device)) % choices.size();
  std::uint32_t best = choices[first].index();
  for (std::size_t i = 1; i < choices.size(); ++i) {
    const std::uint32_t other = choices[(first + i) % choices.size()].index();
    const auto queued = [&](std::uint32_t p) { return ports_[p].bytes[qp.traffic_class]; };
    if (queued(other) < queued(best)) best = other;
  }
  return best;
}

// False: there is no room.
inline bool NaiveEngine::admit(Packet& packet, std::uint32_t ingress, std::uint32_t egress) {
  SharedBuffer& buffer = buffers_.at(ports_[ingress].device);
  const std::size_t c = packet.qp->traffic_class;
  const std::int64_t queued = ports_[egress].bytes[c];
  if (c < lossless()) {
    if (!buffer.admit(place(ingress, c), packet.wire)) return false;
    if (buffer.pause_due(place(ingress, c))) pause(ingress, c, true);
  } else if (!buffer.admit_lossy(packet.wire, queued)) {
    return false;
  }
  if (profile_.ecn.enabled && packet.type == PacketType::kData && !packet.marked) {
    const double p = marking_probability(profile_.ecn, queued);
    packet.marked = p > 0 && draw(egress) < p;
  }
  return true;
}

inline void NaiveEngine::enqueue(std::uint32_t index, const PacketPtr& packet) {
  Port& port = ports_[index];
  const std::size_t c = packet->qp->traffic_class;
  if (is_control(*packet)) {
    port.control.push_back(packet);
  } else {
    port.queues[c].push_back(packet);
    port.bytes[c] += packet->wire;
    counters.max_queue_bytes = std::max(counters.max_queue_bytes, port.bytes[c]);
  }
  try_start(index);
}

}  // namespace fabricast::packet::testing
