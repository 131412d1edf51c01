#pragma once
// The reliable connection at the adapters, RoCE v2 and InfiniBand alike (IBTA Volume 1,
// section 9.7): packets in sequence, cumulative acknowledgements, a NAK on a gap, a timeout
// of 4.096 us * 2^t that ends every loss. Adapters serve their queue pairs round robin; a
// congestion control holds a queue pair to a rate, a window, or both. Included by engine.h only.

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "packet/engine.h"

namespace fabricast::packet {

/// Retries after which a queue pair gives up: IBTA's 3-bit counter and NCCL_IB_RETRY_CNT's default.
inline constexpr int kRetryLimit = 7;
/// Wire bytes of a congestion notification: RoCE v2 annex A17, 16 bytes of payload behind the
/// headers of any RoCE v2 packet (Ethernet 38, IP 20, UDP 8, BTH 12, ICRC 4).
inline constexpr std::uint16_t kCnpBytes = 98;
/// The same on InfiniBand: LRH 8, BTH 12, payload 16, ICRC 4, VCRC 2.
inline constexpr std::uint16_t kInfiniBandCnpBytes = 42;

template <FabricKind K>
bool Engine<K>::has_work(const QueuePair& qp) const {
  if (qp.resend != kNone) return true;
  return qp.next < qp.posted && qp.next - qp.unacked < qp.limit;
}

// Packets that may be under way: a window lets another one go while what is under way is shorter
// than the window.
template <FabricKind K>
std::uint32_t Engine<K>::window_limit(const QueuePair& qp) const {
  const auto packets = [](std::int64_t window, std::int64_t packet) {
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(window / packet + (window % packet != 0 ? 1 : 0), 1, kNone));
  };
  std::uint32_t limit = kNone;
  if (profile_.transport.recovery != catalog::LossRecovery::kGoBackN) {
    limit = qp.window.capacity();
  }
  const base::Bytes mtu = profile_.link.mtu;
  if (profile_.transport.window > base::Bytes()) {
    limit = std::min(limit, packets(profile_.transport.window.count(), mtu.count()));
  }
  return std::min(limit, packets(qp.control.window_bytes(), (mtu + profile_.link.header).count()));
}

// The time of a packet on an idle path, from its first bit to its last at the far end.
template <FabricKind K>
base::Time Engine<K>::one_way(std::uint32_t path, std::int64_t bytes) const {
  const std::int64_t head = std::min(bytes, kHeadBytes);
  std::int64_t ps = 0;
  for (std::uint32_t i = path;; ++i) {
    const PortState& port = ports_[paths_[i]];
    ps += port.serialisation_ps(port.head_arrives ? head : bytes) + port.propagation_ps +
          port.pipeline_ps;
    if (!port.peer_is_switch) return base::Time::picoseconds(ps);
    if (port.head_arrives && ports_[paths_[i + 1]].ps_per_byte_q16 < port.ps_per_byte_q16) {
      ps += port.serialisation_ps(bytes) - port.serialisation_ps(head);
    }
  }
}

template <FabricKind K>
void Engine<K>::initialise_control(QueuePair& qp) {
  const std::int64_t data = (profile_.link.mtu + profile_.link.header).count();
  RdmaPath path;
  path.line_rate = fabric_->port(fabric::PortId(qp.source_port)).rate;
  path.base_rtt = one_way(qp.path, data) + one_way(qp.reverse_path, profile_.link.ack.count());
  qp.control.initialise(static_cast<std::size_t>(profile_.congestion.control), profile_, path);
  qp.controlled = qp.control.active();
  qp.limit = window_limit(qp);
}

template <FabricKind K>
void Engine<K>::mark_ready(std::uint32_t index) {
  if constexpr (!kTcp) {
    QueuePair& qp = flows_[index];
    if (qp.ready || !has_work(qp)) return;
    wait_for_turn(index);
    if (!qp.paced) try_start(qp.source_port);
  }
}

// When the next packet may leave: the length of the last one over the rate behind it.
template <FabricKind K>
std::int64_t Engine<K>::pace_due(const QueuePair& qp) const {
  return qp.sent_ps + static_cast<std::int64_t>(qp.paced_wire * 8e12 / qp.control.rate_bps());
}

template <FabricKind K>
bool Engine<K>::must_pace(const QueuePair& qp) const {
  return qp.controlled && qp.control.limited() && pace_due(qp) > now().ps();
}

// A queue pair that has work stands in its adapter's ring, or waits for its pace and stands in
// none.
template <FabricKind K>
void Engine<K>::wait_for_turn(std::uint32_t index) {
  QueuePair& qp = flows_[index];
  qp.ready = true;
  if (!must_pace(qp)) {
    join_ring(index);
    return;
  }
  qp.paced = true;
  qp.pace_ps = std::numeric_limits<std::int64_t>::max();
  schedule_pace(index);
}

// Last in its adapter's ring.
template <FabricKind K>
void Engine<K>::join_ring(std::uint32_t index) {
  QueuePair& qp = flows_[index];
  ReadyRing& ring = adapters_[qp.source].ready[qp.traffic_class];
  qp.ready_next = kNone;
  if (ring.head == kNone) {
    ring.head = index;
    ports_[qp.source_port].ready |= mask_of(qp.traffic_class);
  } else {
    flows_[ring.tail].ready_next = index;
  }
  ring.tail = index;
}

template <FabricKind K>
void Engine<K>::leave_ring(PortState& port, ReadyRing& ring, unsigned c) {
  ring.head = flows_[ring.head].ready_next;
  if (ring.head == kNone) port.ready &= static_cast<ClassMask>(~mask_of(c));
}

// Takes the next packet of the first ready queue pair; kNone when the link has no credits for it.
template <FabricKind K>
PacketIndex Engine<K>::pull(std::uint32_t port_index, unsigned c) {
  if constexpr (kTcp) {
    return kNone;
  } else {
    PortState& port = ports_[port_index];
    ReadyRing& ring = adapters_[port.adapter].ready[c];
    // An acknowledgement may have overtaken a spurious timeout and left nothing to send again.
    while (ring.head != kNone && !has_work(flows_[ring.head])) {
      flows_[ring.head].ready = false;
      leave_ring(port, ring, c);
    }
    if (ring.head == kNone) return kNone;
    const std::uint32_t index = ring.head;
    QueuePair& qp = flows_[index];
    const bool again = qp.resend != kNone;
    const std::uint32_t sequence = again ? qp.resend : qp.next;
    const std::uint32_t payload = payload_of(qp, sequence);
    const auto wire = static_cast<std::uint16_t>(payload + profile_.link.header.count());
    if constexpr (kCredits) {
      if (!take_credits(port_index, c, wire)) return kNone;
    }
    leave_ring(port, ring, c);
    qp.ready = false;

    const PacketIndex packet_index = packets_.allocate();
    Packet& packet = packets_[packet_index];
    packet.flow = index;
    if (qp.group != kNone) packet.type = PacketType::kReduce;
    packet.sequence = sequence;
    packet.payload = static_cast<std::uint16_t>(payload);
    packet.wire = wire;
    packet.traffic_class = static_cast<std::uint8_t>(c);
    ++counters_.data_packets;
    if (sequence < qp.highest) ++counters_.retransmitted_packets;
    if (again) {
      qp.reported.resent_end = sequence + 1;
      qp.resend = qp.reported.next_lost(qp.unacked);
    } else {
      if (qp.next == qp.unacked) arm_timer(index, timeout_);
      ++qp.next;
      qp.highest = std::max(qp.highest, qp.next);
      packet.ack_request = qp.next < qp.posted && !has_work(qp);  // the window is used up
    }

    if (qp.controlled) {
      // A window that shrinks under way could leave the receiver with fewer packets than it
      // acknowledges at once, and the sender with none that it may send.
      if (qp.control.window_bytes() != kNoWindow) packet.ack_request = true;
      sent_under_control(index, sequence, wire);
      if constexpr (kRoce) {
        if (telemetry_on_) telemetry_of(packet_index).clear();
      }
    }
    if (has_work(qp)) wait_for_turn(index);
    return packet_index;
  }
}

template <FabricKind K>
void Engine<K>::sent_under_control(std::uint32_t index, std::uint32_t sequence,
                                   std::uint16_t wire) {
  QueuePair& qp = flows_[index];
  qp.paced_wire = wire;
  qp.sent_ps = now().ps();
  if (qp.timed == kNone && sequence + 1 == qp.highest) {  // sent again, it would have two times
    qp.timed = sequence;
    qp.timed_ps = now().ps();
  }
  qp.control.on_sent(profile_, wire);
}

// Called again when the rate has risen: an earlier event replaces the one under way, which then
// finds that it is not meant.
template <FabricKind K>
void Engine<K>::schedule_pace(std::uint32_t index) {
  if constexpr (!kTcp) {
    QueuePair& qp = flows_[index];
    if (!qp.paced) return;
    const std::int64_t at = qp.control.limited() ? std::max(now().ps(), pace_due(qp)) : now().ps();
    if (at >= qp.pace_ps) return;
    qp.pace_ps = at;
    events_.push(base::Time::picoseconds(at), kPaced, index);
  }
}

template <FabricKind K>
void Engine<K>::on_paced(std::uint32_t index) {
  QueuePair& qp = flows_[index];
  if (!qp.paced || qp.pace_ps != now().ps()) return;
  qp.paced = false;
  qp.ready = false;
  if (!has_work(qp)) return;
  qp.ready = true;
  join_ring(index);
  try_start(qp.source_port);
}

template <FabricKind K>
void Engine<K>::reply(std::uint32_t index, PacketType type, std::uint32_t sequence, bool becn,
                      std::uint32_t behind) {
  const PacketIndex packet_index = packets_.allocate();
  Packet& packet = packets_[packet_index];
  packet.flow = index;
  packet.type = type;
  packet.sequence = sequence;
  packet.traffic_class = static_cast<std::uint8_t>(flows_[index].traffic_class);
  packet.marked = becn;
  packet.payload = static_cast<std::uint16_t>(behind);
  packet.control = kEthernet && (type == PacketType::kCnp || profile_.transport.acks_first);
  packet.wire = static_cast<std::uint16_t>(profile_.link.ack.count());
  if (type == PacketType::kCnp) {
    packet.wire = kCredits ? kInfiniBandCnpBytes : kCnpBytes;
  } else if (telemetry_on_) {
    telemetry_of(packet_index) = received_;
  }
  packet.time_ps = now().ps();
  enqueue(flows_[index].destination_port, packet_index);
}

// RoCE's notification point: at most one CNP per queue pair and interval.
template <FabricKind K>
void Engine<K>::notify_source(std::uint32_t index) {
  QueuePair& qp = flows_[index];
  if (profile_.congestion.control != catalog::RdmaCongestionControl::kDcqcn ||
      now().ps() - qp.last_cnp_ps < profile_.dcqcn.cnp_interval.ps()) {
    return;
  }
  qp.last_cnp_ps = now().ps();
  ++counters_.cnps;
  reply(index, PacketType::kCnp, 0);
}

template <FabricKind K>
bool Engine<K>::arrives_in_order(QueuePair& qp, std::uint32_t sequence, bool* duplicate) {
  if (profile_.transport.recovery == catalog::LossRecovery::kGoBackN) {
    *duplicate = sequence < qp.expected;
    if (sequence != qp.expected) return false;
    ++qp.expected;
    return true;
  }
  using Outcome = ReceiveWindow::Outcome;
  const Outcome outcome = qp.window.receive(sequence);
  *duplicate = outcome == Outcome::kDuplicate;
  qp.expected = qp.window.expected();
  return outcome == Outcome::kInOrder;
}

template <FabricKind K>
void Engine<K>::on_data(PacketIndex packet_index) {
  const Packet packet = packets_[packet_index];
  if (telemetry_on_) received_ = telemetry_[packet_index];
  packets_.release(packet_index);
  QueuePair& qp = flows_[packet.flow];
  if (packet.marked) {
    ++counters_.ecn_marked_packets;
    if constexpr (kRoce) notify_source(packet.flow);
  }
  const bool becn = kCredits && packet.marked;  // goes back with what is sent now, or by itself
  bool duplicate = false;
  if (arrives_in_order(qp, packet.sequence, &duplicate)) {
    qp.nak_sent = false;
    ++qp.unreported_packets;
    const std::uint32_t before = qp.receiving;
    complete_transfers(qp, qp.expected);
    const bool message_done = qp.receiving != before;
    if (message_done || packet.ack_request ||
        qp.unreported_packets >= static_cast<std::uint32_t>(profile_.transport.ack_every)) {
      qp.unreported_packets = 0;
      reply(packet.flow, PacketType::kAck, qp.expected, becn);
      return;
    }
  } else if (duplicate) {
    reply(packet.flow, PacketType::kAck, qp.expected, becn);
    return;
  } else if (profile_.transport.recovery == catalog::LossRecovery::kSelectiveRepeat) {
    reply(packet.flow, PacketType::kNak, qp.expected, becn, packet.sequence - qp.expected);
    return;
  } else if (profile_.transport.recovery == catalog::LossRecovery::kGoBackN && !qp.nak_sent) {
    qp.nak_sent = true;  // one NAK per gap (IBTA 9.7.5.2.8)
    reply(packet.flow, PacketType::kNak, qp.expected, becn);
    return;
  }
  if (becn) {
    ++counters_.cnps;
    reply(packet.flow, PacketType::kCnp, 0);
  }
}

// Back to `sequence`: everything behind it will be sent again (go-back-N).
template <FabricKind K>
void Engine<K>::rewind(QueuePair& qp, std::uint32_t sequence) {
  qp.next = sequence;
  qp.sending = qp.oldest;
}

// Selective repeat, as in IRN (Mittal et al., SIGCOMM 2018, section 3.1): every packet that arrives
// behind a gap is reported, and what lies before it and has not been reported is lost. A recovery
// sends each lost packet once; one that is lost again waits for the timeout.
template <FabricKind K>
void Engine<K>::on_gap(QueuePair& qp, std::uint32_t held) {
  Reported& reported = qp.reported;
  reported.held.advance(qp.unacked);
  reported.held.receive(held);
  reported.end = std::max(reported.end, held + 1);
  if (qp.unacked >= reported.recovery_end) {
    reported.recovery_end = qp.next;
    reported.resent_end = qp.unacked;
  }
  qp.resend = reported.next_lost(qp.unacked);
}

template <FabricKind K>
void Engine<K>::on_ack(PacketIndex packet_index) {
  const Packet packet = packets_[packet_index];
  packets_.release(packet_index);
  if constexpr (!kTcp) {
    QueuePair& qp = flows_[packet.flow];
    const std::uint32_t newly = packet.sequence > qp.unacked ? packet.sequence - qp.unacked : 0;
    if (newly > 0) {
      qp.unacked = packet.sequence;
      qp.next = std::max(qp.next, qp.unacked);
      if (qp.resend != kNone && qp.resend < qp.unacked) {
        qp.resend = qp.reported.next_lost(qp.unacked);
      }
      qp.retries = 0;
      forget_acknowledged(qp, qp.unacked);
      if (qp.unacked < qp.next) arm_timer(packet.flow, timeout_);
    }
    if (packet.type == PacketType::kNak && packet.sequence >= qp.unacked &&
        packet.sequence < qp.next) {
      if (profile_.transport.recovery == catalog::LossRecovery::kGoBackN) {
        rewind(qp, packet.sequence);
      } else {
        on_gap(qp, packet.sequence + packet.payload);
      }
    }
    if (qp.controlled) {
      acknowledge_to_control(
          packet.flow, packet, newly,
          telemetry_on_ ? telemetry_[packet_index].view() : std::span<const IntHop>());
    }
    mark_ready(packet.flow);
  }
}

template <FabricKind K>
void Engine<K>::on_retransmit_timer(std::uint32_t index) {
  if constexpr (!kTcp) {
    QueuePair& qp = flows_[index];
    qp.timer_pending = false;
    if (qp.unacked >= qp.next) return;
    if (qp.deadline_ps > now().ps()) {
      qp.timer_pending = true;
      events_.push(base::Time::picoseconds(qp.deadline_ps), kRetransmit, index);
      return;
    }
    ++counters_.timeouts;
    if (qp.group != kNone) throw stuck("a reduction in the network has lost a packet");
    if (++qp.retries > kRetryLimit) {
      throw gave_up("queue pair", qp, std::to_string(kRetryLimit) + " retries");
    }
    if (profile_.transport.recovery == catalog::LossRecovery::kGoBackN) {
      rewind(qp, qp.unacked);
    } else {
      qp.reported.recovery_end = qp.next;
      qp.reported.resent_end = qp.unacked;
      qp.resend = qp.unacked;
    }
    arm_timer(index, timeout_);
    mark_ready(index);
  }
}

template <FabricKind K>
void Engine<K>::acknowledge_to_control(std::uint32_t index, const Packet& packet,
                                       std::uint32_t newly, std::span<const IntHop> hops) {
  QueuePair& qp = flows_[index];
  RdmaAck ack;
  ack.now = now();
  if (qp.timed != kNone && qp.timed < qp.unacked) {
    ack.rtt = now() - base::Time::picoseconds(qp.timed_ps);
    qp.timed = kNone;
  }
  ack.newly = newly * profile_.link.mtu.count();
  ack.unacked = qp.unacked;
  ack.next = qp.next;
  ack.echo = packet.marked;
  ack.hops = hops;
  qp.control.on_ack(profile_, ack);
  heed_control(index);
}

template <FabricKind K>
void Engine<K>::on_cnp(std::uint32_t index) {
  if constexpr (!kTcp) {
    flows_[index].control.on_cnp(profile_, now());
    heed_control(index);
  }
}

// Rate, window or deadline of a queue pair may have changed.
template <FabricKind K>
void Engine<K>::heed_control(std::uint32_t index) {
  QueuePair& qp = flows_[index];
  qp.limit = window_limit(qp);
  schedule_pace(index);
  schedule_control_timer(index);
}

template <FabricKind K>
void Engine<K>::schedule_control_timer(std::uint32_t index) {
  QueuePair& qp = flows_[index];
  const base::Time deadline = qp.control.deadline();
  if (qp.control_timer_pending || deadline == base::Time::max()) return;
  qp.control_timer_pending = true;
  events_.push(std::max(now(), deadline), kControlTimer, index);
}

template <FabricKind K>
void Engine<K>::on_control_timer(std::uint32_t index) {
  if constexpr (!kTcp) {
    QueuePair& qp = flows_[index];
    qp.control_timer_pending = false;
    qp.control.on_deadline(profile_, now());
    heed_control(index);
    mark_ready(index);
  }
}

}  // namespace fabricast::packet
