#pragma once
// The reliable connection at the adapters, RoCE v2 and InfiniBand alike (IBTA Volume 1,
// section 9.7): packets in sequence, cumulative acknowledgements, a NAK on a gap, a timeout
// of 4.096 us * 2^t that ends every loss. Adapters serve their queue pairs round robin; DCQCN holds
// a queue pair to its rate. Included by engine.h only.

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

template <FabricKind K>
bool Engine<K>::has_work(const QueuePair& qp) const {
  if (qp.resend != kNone) return true;
  if (qp.next >= qp.posted) return false;
  const std::uint32_t in_flight = qp.next - qp.unacked;
  if (profile_.transport.recovery != catalog::LossRecovery::kGoBackN &&
      in_flight >= qp.window.capacity()) {
    return false;
  }
  const std::int64_t window = profile_.transport.window.count();
  return window == 0 || in_flight * profile_.link.mtu.count() < window;
}

template <FabricKind K>
void Engine<K>::mark_ready(std::uint32_t index) {
  if constexpr (!kTcp) {
    QueuePair& qp = flows_[index];
    if (qp.ready || !has_work(qp)) return;
    qp.ready = true;
    join_ring(index);
    try_start(qp.source_port);
  }
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
    packet.sequence = sequence;
    packet.payload = static_cast<std::uint16_t>(payload);
    packet.wire = wire;
    packet.traffic_class = static_cast<std::uint8_t>(c);
    ++counters_.data_packets;
    if (sequence < qp.highest) ++counters_.retransmitted_packets;
    if (again) {
      qp.resend = kNone;
    } else {
      if (qp.next == qp.unacked) arm_timer(index, timeout_);
      ++qp.next;
      qp.highest = std::max(qp.highest, qp.next);
      packet.ack_request = qp.next < qp.posted && !has_work(qp);  // the window is used up
    }

    if constexpr (kRoce) {
      qp.rate.on_sent(profile_.dcqcn, wire);
      if (qp.rate.limited() && has_work(qp)) {
        qp.ready = true;  // it waits for its pace and stands in no ring
        qp.paced = true;
        qp.paced_wire = wire;
        qp.sent_ps = now().ps();
        qp.pace_ps = std::numeric_limits<std::int64_t>::max();
        schedule_pace(index);
        return packet_index;
      }
    }
    if (has_work(qp)) {
      qp.ready = true;
      join_ring(index);
    }
    return packet_index;
  }
}

// The next packet may leave its length over the rate after the last one. Called again when the rate
// has risen: an earlier event replaces the one under way, which then finds that it is not meant.
template <FabricKind K>
void Engine<K>::schedule_pace(std::uint32_t index) {
  if constexpr (kRoce) {
    QueuePair& qp = flows_[index];
    if (!qp.paced) return;
    const auto gap = static_cast<std::int64_t>(qp.paced_wire * 8e12 / qp.rate.rate_bps());
    const std::int64_t at = std::max(now().ps(), qp.sent_ps + gap);
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
  mark_ready(index);
}

template <FabricKind K>
void Engine<K>::reply(std::uint32_t index, PacketType type, std::uint32_t sequence) {
  const PacketIndex packet_index = packets_.allocate();
  Packet& packet = packets_[packet_index];
  packet.flow = index;
  packet.type = type;
  packet.sequence = sequence;
  packet.traffic_class = static_cast<std::uint8_t>(flows_[index].traffic_class);
  packet.wire =
      type == PacketType::kCnp ? kCnpBytes : static_cast<std::uint16_t>(profile_.link.ack.count());
  packet.time_ps = now().ps();
  enqueue(flows_[index].destination_port, packet_index);
}

template <FabricKind K>
void Engine<K>::on_data(PacketIndex packet_index) {
  const Packet packet = packets_[packet_index];
  packets_.release(packet_index);
  QueuePair& qp = flows_[packet.flow];
  if constexpr (kRoce) {
    if (packet.marked) {
      ++counters_.ecn_marked_packets;
      if (profile_.dcqcn.enabled &&
          now().ps() - qp.last_cnp_ps >= profile_.dcqcn.cnp_interval.ps()) {
        qp.last_cnp_ps = now().ps();
        ++counters_.cnps;
        reply(packet.flow, PacketType::kCnp, 0);
      }
    }
  }
  bool in_order = false;
  bool duplicate = false;
  if (profile_.transport.recovery == catalog::LossRecovery::kGoBackN) {
    in_order = packet.sequence == qp.expected;
    duplicate = packet.sequence < qp.expected;
    if (in_order) ++qp.expected;
  } else {
    using Outcome = ReceiveWindow::Outcome;
    const Outcome outcome = qp.window.receive(packet.sequence);
    in_order = outcome == Outcome::kInOrder;
    duplicate = outcome == Outcome::kDuplicate;
    qp.expected = qp.window.expected();
  }
  if (in_order) {
    qp.nak_sent = false;
    ++qp.unreported_packets;
    const std::uint32_t before = qp.receiving;
    complete_transfers(qp, qp.expected);
    const bool message_done = qp.receiving != before;
    if (message_done || packet.ack_request ||
        qp.unreported_packets >= static_cast<std::uint32_t>(profile_.transport.ack_every)) {
      qp.unreported_packets = 0;
      reply(packet.flow, PacketType::kAck, qp.expected);
    }
  } else if (duplicate) {
    reply(packet.flow, PacketType::kAck, qp.expected);
  } else if (!qp.nak_sent && profile_.transport.recovery != catalog::LossRecovery::kOutOfOrder) {
    qp.nak_sent = true;  // one NAK per gap (IBTA 9.7.5.2.8)
    reply(packet.flow, PacketType::kNak, qp.expected);
  }
}

// Back to `sequence`: everything behind it will be sent again (go-back-N).
template <FabricKind K>
void Engine<K>::rewind(QueuePair& qp, std::uint32_t sequence) {
  qp.next = sequence;
  qp.sending = qp.oldest;
}

template <FabricKind K>
void Engine<K>::on_ack(PacketIndex packet_index) {
  const Packet packet = packets_[packet_index];
  packets_.release(packet_index);
  if constexpr (!kTcp) {
    QueuePair& qp = flows_[packet.flow];
    if (packet.sequence > qp.unacked) {
      qp.unacked = packet.sequence;
      qp.next = std::max(qp.next, qp.unacked);
      if (qp.resend != kNone && qp.resend < qp.unacked) qp.resend = kNone;
      qp.retries = 0;
      forget_acknowledged(qp, qp.unacked);
      if (qp.unacked < qp.next) arm_timer(packet.flow, timeout_);
    }
    if (packet.type == PacketType::kNak && packet.sequence >= qp.unacked &&
        packet.sequence < qp.next) {
      if (profile_.transport.recovery == catalog::LossRecovery::kGoBackN) {
        rewind(qp, packet.sequence);
      } else {
        qp.resend = packet.sequence;
      }
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
    if (++qp.retries > kRetryLimit) {
      throw stuck("a queue pair gave up after " + std::to_string(kRetryLimit) +
                  " retries: its packets do not get through");
    }
    if (profile_.transport.recovery == catalog::LossRecovery::kGoBackN) {
      rewind(qp, qp.unacked);
    } else {
      qp.resend = qp.unacked;
    }
    arm_timer(index, timeout_);
    mark_ready(index);
  }
}

template <FabricKind K>
void Engine<K>::on_cnp(std::uint32_t index) {
  if constexpr (kRoce) {
    flows_[index].rate.on_cnp(profile_.dcqcn, now());
    schedule_rate_timer(index);
  }
}

template <FabricKind K>
void Engine<K>::schedule_rate_timer(std::uint32_t index) {
  if constexpr (kRoce) {
    QueuePair& qp = flows_[index];
    if (qp.rate_timer_pending || !qp.rate.limited()) return;
    qp.rate_timer_pending = true;
    events_.push(std::max(now(), qp.rate.deadline()), kRateTimer, index);
  }
}

template <FabricKind K>
void Engine<K>::on_rate_timer(std::uint32_t index) {
  if constexpr (kRoce) {
    QueuePair& qp = flows_[index];
    qp.rate_timer_pending = false;
    qp.rate.on_deadline(profile_.dcqcn, now());
    schedule_pace(index);
    schedule_rate_timer(index);
  }
}

}  // namespace fabricast::packet
