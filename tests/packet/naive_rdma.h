#pragma once
// The naive engine at the adapters: the reliable connection. A sender keeps every packet that it
// has promised; what it knows of a loss is a set of numbers. Included by naive_engine.h only.

#include "naive_engine.h"

namespace fabricast::packet::testing {

// The queue pairs of a pair and class, made when they are first used.
inline NaiveEngine::Connection& NaiveEngine::connection(const Job& job) {
  const std::uint64_t key = static_cast<std::uint64_t>(job.traffic_class) << 61 |
                            static_cast<std::uint64_t>(job.from) << 40 |
                            static_cast<std::uint64_t>(job.to) << 16;
  Connection& made = connections_[key];
  for (int i = static_cast<int>(made.qps.size()); i < profile_.paths.qps_per_connection; ++i) {
    const std::uint64_t pair = base::mix64(key * 64 + static_cast<std::uint64_t>(i));
    const std::uint64_t hash = base::mix64(base::mix64(seed_ ^ base::hash_name("ecmp")) ^ pair ^
                                           job.traffic_class * 0x9e3779b97f4a7c15ULL);
    auto qp = std::make_unique<QueuePair>();
    qp->number = queue_pairs_++;
    qp->source = job.from;
    qp->destination = job.to;
    qp->traffic_class = job.traffic_class;
    qp->there = path(job.from, job.to, hash);
    qp->back = path(job.to, job.from, base::mix64(hash));
    begin_control(*qp);
    made.qps.push_back(std::move(qp));
  }
  return made;
}

// Queue pairs take messages in turn, or each its part of every one, in multiples of 128 bytes.
inline void NaiveEngine::send(std::size_t index, const Job& job) {
  Connection& to = connection(job);
  const std::int64_t size = job.size.count();
  const auto qps = static_cast<std::int64_t>(to.qps.size());
  const std::int64_t part =
      profile_.paths.split_messages ? ((size + qps - 1) / qps + 127) / 128 * 128 : size;
  if (profile_.paths.split_messages) to.turn = 0;
  for (std::int64_t sent = 0; sent < size; sent += part) {
    ++parts_left_[index];
    QueuePair& qp = *to.qps[to.turn++ % to.qps.size()];
    post(qp, std::min(part, size - sent), {index, 0, job.completion});
  }
}

inline void NaiveEngine::post(QueuePair& qp, std::int64_t bytes, Message message) {
  const auto before = static_cast<std::uint32_t>(qp.payloads.size());
  for (std::int64_t left = bytes; left > 0; left -= qp.payloads.back()) {
    qp.payloads.push_back(std::min(left, profile_.link.mtu.count()));
  }
  const auto end = static_cast<std::uint32_t>(qp.payloads.size());
  message.last = end - 1;
  qp.receiving.push_back(message);
  qp.unacknowledged.push_back(message);
  at(now_ + profile_.host.send_overhead.ps(), kMessageStart, qp.number, end - before,
     [this, &qp, packets = end - before] {
       qp.posted += packets;
       take_turn(qp);
     });
}

// The first packet that is known to be lost and has not been sent again in this recovery.
inline std::optional<std::uint32_t> NaiveEngine::lost(const QueuePair& qp) {
  for (std::uint32_t sequence = qp.unacked; sequence < qp.lost_before; ++sequence) {
    if (qp.reported.count(sequence) == 0 && qp.resent.count(sequence) == 0) return sequence;
  }
  return std::nullopt;
}

inline bool NaiveEngine::has_work(const QueuePair& qp) const {
  const std::int64_t under_way = qp.next - qp.unacked;
  const std::int64_t mtu = profile_.link.mtu.count();
  const std::int64_t wire = mtu + profile_.link.header.count();
  const std::int64_t window = profile_.transport.window.count();
  const bool open = under_way == 0 || ((window == 0 || under_way * mtu < window) &&
                                       under_way * wire < qp.control.window_bytes());
  return lost(qp) || (qp.next < qp.posted && open);
}

// A queue pair that has work stands in its adapter's ring, or waits for its pace.
inline void NaiveEngine::take_turn(QueuePair& qp) {
  if (qp.ready || !has_work(qp)) return;
  wait_for_turn(qp);
  if (!qp.paced) try_start(qp.there.front());
}

inline void NaiveEngine::wait_for_turn(QueuePair& qp) {
  qp.ready = true;
  if (may_leave_at(qp) > now_) {
    wait_for_pace(qp);
  } else {
    ports_[qp.there.front()].ready[qp.traffic_class].push_back(&qp);
  }
}

// The next packet of the first queue pair that has work.
inline NaiveEngine::PacketPtr NaiveEngine::pull(Port& port, std::size_t c) {
  std::list<QueuePair*>& ring = port.ready[c];
  while (!ring.empty() && !has_work(*ring.front())) {
    ring.front()->ready = false;
    ring.pop_front();
  }
  if (ring.empty()) return nullptr;
  QueuePair& qp = *ring.front();
  const std::optional<std::uint32_t> again = lost(qp);
  auto packet = std::make_shared<Packet>();
  packet->qp = &qp;
  packet->sequence = again.value_or(qp.next);
  packet->wire = qp.payloads[packet->sequence] + profile_.link.header.count();
  if (!may_go(port, c, packet->wire)) return nullptr;
  ring.pop_front();
  ++counters.data_packets;
  if (packet->sequence < qp.highest) ++counters.retransmitted_packets;
  if (again) {
    qp.resent.insert(*again);
  } else {
    if (qp.next == qp.unacked) arm(qp);
    ++qp.next;
    qp.highest = std::max(qp.highest, qp.next);
    packet->ack_request = qp.next < qp.posted && !has_work(qp);
  }
  // A window may shrink below what the receiver acknowledges at once.
  if (qp.control.window_bytes() != kNoWindow) packet->ack_request = true;
  qp.sent_at = now_;
  qp.sent_wire = packet->wire;
  qp.control.on_sent(profile_, packet->wire);
  qp.ready = false;
  if (has_work(qp)) wait_for_turn(qp);
  return packet;
}

inline void NaiveEngine::arm(QueuePair& qp) {
  qp.deadline = now_ + (4'096'000LL << profile_.transport.timeout_exponent);
  at(qp.deadline, kRetransmit, qp.number, 0, [this, &qp] {
    if (qp.deadline == now_ && qp.unacked < qp.next) on_timeout(qp);
  });
}

inline void NaiveEngine::on_timeout(QueuePair& qp) {
  ++counters.timeouts;
  gave_up = ++qp.retries > 7;  // IBTA's 3-bit counter
  if (gave_up) return;
  if (profile_.transport.recovery == catalog::LossRecovery::kGoBackN) {
    qp.next = qp.unacked;
  } else {
    begin_recovery(qp);
    qp.lost_before = std::max(qp.lost_before, qp.unacked + 1);
  }
  arm(qp);
  take_turn(qp);
}

// From here on each lost packet is sent again once, until all before `next` are acknowledged.
inline void NaiveEngine::begin_recovery(QueuePair& qp) {
  qp.recovery_end = qp.next;
  qp.resent.clear();
}

inline void NaiveEngine::at_host(const Packet& packet) {
  if (packet.type == PacketType::kData) {
    on_data(packet);
  } else if (packet.type == PacketType::kCnp) {
    on_cnp(*packet.qp);
  } else {
    on_ack(packet);
  }
}

// What the receiver says to a packet that has come; a mark on InfiniBand goes back with it (BECN).
inline void NaiveEngine::reply(const Packet& to, PacketType type) {
  QueuePair& qp = *to.qp;
  auto packet = std::make_shared<Packet>();
  packet->qp = &qp;
  packet->type = type;
  packet->earliest = now_;
  if (type == PacketType::kCnp) {
    ++counters.cnps;
    packet->wire = credits() ? 42 : 98;  // 16 bytes behind the headers (annexes A10 and A17)
  } else {
    packet->sequence = qp.expected;
    packet->held = to.sequence;
    packet->wire = profile_.link.ack.count();
    packet->marked = credits() && to.marked;
    packet->hops = to.hops;
  }
  enqueue(qp.back.front(), packet);
}

inline void NaiveEngine::on_data(const Packet& packet) {
  QueuePair& qp = *packet.qp;
  if (packet.marked) ++counters.ecn_marked_packets;
  const bool due = !qp.last_cnp || now_ - *qp.last_cnp >= profile_.dcqcn.cnp_interval.ps();
  if (packet.marked && controlled_by(catalog::RdmaCongestionControl::kDcqcn) && due) {
    qp.last_cnp = now_;
    reply(packet, PacketType::kCnp);
  }
  const bool answered = acknowledge(packet);
  if (packet.marked && credits() && !answered) reply(packet, PacketType::kCnp);
}

// False where a packet draws no answer.
inline bool NaiveEngine::acknowledge(const Packet& packet) {
  using catalog::LossRecovery;
  const LossRecovery recovery = profile_.transport.recovery;
  QueuePair& qp = *packet.qp;
  if (packet.sequence < qp.expected || qp.held.count(packet.sequence) != 0) {  // a duplicate
    reply(packet, PacketType::kAck);
    return true;
  }
  if (packet.sequence > qp.expected) {  // behind a gap
    if (recovery != LossRecovery::kGoBackN) qp.held.insert(packet.sequence);
    const bool first = !qp.nak_sent;
    qp.nak_sent = true;
    const bool says_so =
        recovery == LossRecovery::kSelectiveRepeat || (recovery == LossRecovery::kGoBackN && first);
    if (says_so) reply(packet, PacketType::kNak);
    return says_so;
  }
  ++qp.expected;
  while (qp.held.erase(qp.expected) != 0) ++qp.expected;
  qp.nak_sent = false;
  ++qp.unreported;
  const bool message_done = complete_messages(qp);
  const auto every = static_cast<std::uint32_t>(profile_.transport.ack_every);
  if (!message_done && !packet.ack_request && qp.unreported < every) return false;
  qp.unreported = 0;
  reply(packet, PacketType::kAck);
  return true;
}

// True when a message ends before the next expected packet.
inline bool NaiveEngine::complete_messages(QueuePair& qp) {
  bool any = false;
  for (; !qp.receiving.empty() && qp.receiving.front().last < qp.expected; any = true) {
    const Message message = qp.receiving.front();
    qp.receiving.pop_front();
    if (message.completion == network::Completion::kDelivered) complete_part(message.job);
  }
  return any;
}

inline void NaiveEngine::complete_part(std::size_t job) {
  if (--parts_left_[job] > 0) return;
  at(now_ + profile_.host.receive_overhead.ps(), kDelivered, static_cast<std::uint32_t>(job), 0,
     [this, job] {
       done_[job] = Time::picoseconds(now_);
       ++delivered_;
     });
}

inline void NaiveEngine::on_ack(const Packet& ack) {
  QueuePair& qp = *ack.qp;
  const std::uint32_t newly = ack.sequence - std::min(qp.unacked, ack.sequence);
  if (newly > 0) {
    qp.unacked = ack.sequence;
    qp.next = std::max(qp.next, qp.unacked);
    qp.retries = 0;
    while (!qp.unacknowledged.empty() && qp.unacknowledged.front().last < qp.unacked) {
      const Message message = qp.unacknowledged.front();
      qp.unacknowledged.pop_front();
      if (message.completion == network::Completion::kAcknowledged) complete_part(message.job);
    }
    if (qp.unacked < qp.next) arm(qp);
  }
  if (ack.type == PacketType::kNak && ack.sequence >= qp.unacked && ack.sequence < qp.next) {
    if (profile_.transport.recovery == catalog::LossRecovery::kGoBackN) {
      qp.next = ack.sequence;
    } else {
      if (qp.unacked >= qp.recovery_end) begin_recovery(qp);
      qp.reported.insert(ack.held);
      qp.lost_before = std::max(qp.lost_before, ack.held);
    }
  }
  if (qp.control.active()) {
    RdmaAck heard;
    heard.now = Time::picoseconds(now_);
    heard.newly = newly * profile_.link.mtu.count();
    heard.unacked = qp.unacked;
    heard.next = qp.next;
    heard.echo = ack.marked;
    heard.hops = ack.hops;
    qp.control.on_ack(profile_, heard);
    heed_control(qp);
  }
  take_turn(qp);
}

}  // namespace fabricast::packet::testing
