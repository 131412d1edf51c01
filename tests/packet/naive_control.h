#pragma once
// The naive engine and congestion control: pacing and timers of the senders, marks and telemetry of
// the switches. Included by naive_engine.h only.

#include "naive_engine.h"

namespace fabricast::packet::testing {

// The time of a packet on an idle path, from its first bit to its last at the far end.
inline std::int64_t NaiveEngine::idle_time(const std::vector<std::uint32_t>& path,
                                           std::int64_t wire) const {
  const bool cut_through = profile_.switching.forwarding == catalog::Forwarding::kCutThrough;
  std::int64_t time = 0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Port& port = ports_[path[i]];
    // A faster link has to wait for the tail.
    const bool head_counts = cut_through && port.to_switch && ports_[path[i + 1]].q16 >= port.q16;
    const std::int64_t bytes = head_counts ? std::min<std::int64_t>(wire, 64) : wire;
    time += serialisation(port, bytes) + port.propagation + port.pipeline;
  }
  return time;
}

inline void NaiveEngine::begin_control(QueuePair& qp) {
  const std::int64_t data = (profile_.link.mtu + profile_.link.header).count();
  RdmaPath path;
  path.line_rate = fabric_->port(fabric::PortId(qp.there.front())).rate;
  path.base_rtt =
      Time::picoseconds(idle_time(qp.there, data) + idle_time(qp.back, profile_.link.ack.count()));
  qp.control.initialise(static_cast<std::size_t>(profile_.congestion.control), profile_, path);
}

// Behind the last packet by its length over the rate.
inline std::int64_t NaiveEngine::may_leave_at(const QueuePair& qp) const {
  if (!qp.control.limited()) return now_;
  const double bits = static_cast<double>(qp.sent_wire) * 8;
  return std::max(now_,
                  qp.sent_at + static_cast<std::int64_t>(bits * 1e12 / qp.control.rate_bps()));
}

inline void NaiveEngine::wait_for_pace(QueuePair& qp) {
  ++waits_for_pace;
  qp.paced = true;
  qp.pace = may_leave_at(qp);
  at(qp.pace, kPaced, qp.number, 0, [this, &qp] {
    if (!qp.paced || qp.pace != now_) return;
    qp.paced = qp.ready = false;
    if (!has_work(qp)) return;
    qp.ready = true;
    ports_[qp.there.front()].ready[qp.traffic_class].push_back(&qp);
    try_start(qp.there.front());
  });
}

// Rate, window or deadline may have changed. Who waits is let go earlier, never later: a cut counts
// from the next packet on.
inline void NaiveEngine::heed_control(QueuePair& qp) {
  if (qp.paced && may_leave_at(qp) < qp.pace) wait_for_pace(qp);
  const Time deadline = qp.control.deadline();
  if (deadline == qp.deadline_of_control) return;
  qp.deadline_of_control = deadline;
  if (deadline == Time::max()) return;
  at(deadline.ps(), kControlTimer, qp.number, 0, [this, &qp] {
    if (qp.deadline_of_control.ps() != now_) return;
    qp.control.on_deadline(profile_, Time::picoseconds(now_));
    heed_control(qp);
    take_turn(qp);
  });
}

inline void NaiveEngine::on_cnp(QueuePair& qp) {
  qp.control.on_cnp(profile_, Time::picoseconds(now_));
  heed_control(qp);
}

// Ethernet's notifications have a queue of their own, outside of the shared buffer.
inline bool NaiveEngine::is_control(const Packet& packet) const {
  return packet.type == PacketType::kCnp && !credits();
}

// HPCC: a switch's record of itself, in a packet that starts to leave it.
inline void NaiveEngine::stamp(std::uint32_t index, Packet& packet) {
  if (!controlled_by(catalog::RdmaCongestionControl::kHpcc)) return;
  if (packet.type != PacketType::kData) return;
  const Port& port = ports_[index];
  IntHop hop;
  hop.time_ps = now_;
  hop.sent_bytes = port.sent;
  hop.rate_bps = (8'000'000'000'000LL << 16) / port.q16;
  hop.queued_bytes = static_cast<std::uint32_t>(port.bytes[packet.qp->traffic_class]);
  hop.port = index;
  packet.hops.push_back(hop);
}

// InfiniBand: FECN on what leaves a port that is the root of congestion.
inline void NaiveEngine::mark_at_root(Port& port, Packet& packet) {
  if (!controlled_by(catalog::RdmaCongestionControl::kInfiniBand)) return;
  if (packet.type != PacketType::kData) return;
  const std::size_t c = packet.qp->traffic_class;
  const std::uint32_t full = credit_blocks((profile_.link.mtu + profile_.link.header).count());
  FecnMarker::Port state;
  state.queued = port.bytes[c];
  state.has_credits = port.credits[c].may_send(full);
  state.to_adapter = !port.to_switch;
  if (port.markers[c].mark(profile_, state, packet.wire)) packet.marked = true;
}

}  // namespace fabricast::packet::testing
