#pragma once
// The TCP host. Every segment costs its connection's core time on each side (stack, copy), one
// after the other; a core that was idle starts one interrupt delay late. Acknowledgements are
// cumulative, one for every `ack_every` segments, at once when a message ends or a segment is out
// of order; their own processing is part of the measured per-packet cost. Included by engine.h
// only.

#include <algorithm>
#include <string>

#include "packet/engine.h"

namespace fabricast::packet {

/// Longest that an acknowledgement is held back: Linux, include/net/tcp.h, TCP_DELACK_MIN (RFC 1122
/// allows half a second). The timer is not restarted by each segment, so that it may come earlier.
inline constexpr base::Time kDelayedAckTime = base::Time::picoseconds(40'000'000'000);

/// Timeouts in a row after which a connection ends: Linux's tcp_retries2 (RFC 1122, 4.2.3.5).
inline constexpr int kTcpRetryLimit = 15;

inline void initialise_tcp(TcpConnection& connection, const catalog::FabricProfile& profile) {
  const catalog::FabricProfile::Tcp& tcp = profile.tcp;
  const std::int64_t window = tcp.receive_window.count() / profile.link.mtu.count();
  const auto segments =
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(window, 1, TcpReceiver::kMostSegments));
  connection.sender.initialise(
      {tcp.initial_window, segments, tcp.minimum_rto, tcp.congestion_control, tcp.sack});
  const bool exact = tcp.congestion_control == catalog::TcpCongestionControl::kDctcp;
  connection.receiver.initialise(
      {segments, tcp.sack, exact ? TcpReceiver::Echo::kExact : TcpReceiver::Echo::kUntilReduced});
}

/// Tells the sender what the receiver had reported when the acknowledgement left. One that was
/// overtaken has nothing new.
inline void read_sacks(TcpConnection& connection, std::uint16_t reported) {
  const auto fresh = static_cast<std::int16_t>(reported - connection.sacks_read);
  for (int i = 0; i < fresh; ++i) {
    connection.sender.on_sack(connection.receiver.out_of_order(connection.sacks_read++));
  }
}

template <FabricKind K>
void Engine<K>::pump(std::uint32_t index) {
  if constexpr (kTcp) {
    TcpConnection& tcp = flows_[index];
    std::uint32_t sequence = 0;
    while (tcp.sender.next(&sequence)) {
      const bool again = sequence + 1 <= tcp.highest;
      const std::uint32_t payload = payload_of(tcp, sequence);
      const PacketIndex packet_index = packets_.allocate();
      Packet& packet = packets_[packet_index];
      packet.flow = index;
      packet.sequence = sequence;
      packet.payload = static_cast<std::uint16_t>(payload);
      packet.wire = static_cast<std::uint16_t>(payload + profile_.link.header.count());
      packet.traffic_class = static_cast<std::uint8_t>(tcp.traffic_class);
      ++counters_.data_packets;
      if (again) {
        ++counters_.retransmitted_packets;
      } else {
        packet.ack_request = tcp.sender.take_reduced();
      }
      tcp.highest = std::max(tcp.highest, sequence + 1);
      if (!tcp.sender.outstanding()) arm_timer(index, tcp.sender.rto());
      tcp.sender.sent(sequence, now());
      core_push(tcp.source_core, packet_index, false);
    }
  }
}

template <FabricKind K>
std::int64_t Engine<K>::cpu_cost_ps(const Packet& packet) const {
  return profile_.tcp.cpu_per_packet.ps() +
         static_cast<std::int64_t>(profile_.tcp.cpu_ns_per_byte * 1000.0 * packet.payload);
}

template <FabricKind K>
void Engine<K>::core_push(std::uint32_t index, PacketIndex packet, bool interrupt) {
  Core& core = cores_[index];
  core.jobs.push(packets_, packet);
  if (core.active) return;
  core.active = true;
  const base::Time delay = interrupt ? profile_.tcp.interrupt_delay : base::Time();
  events_.push(now() + delay + base::Time::picoseconds(cpu_cost_ps(packets_[packet])), kCoreDone,
               index);
}

template <FabricKind K>
void Engine<K>::on_core_done(std::uint32_t index) {
  if constexpr (kTcp) {
    Core& core = cores_[index];
    const PacketIndex packet_index = core.jobs.pop(packets_);
    core.busy_ps += cpu_cost_ps(packets_[packet_index]);
    core.active = !core.jobs.empty();
    if (core.active) {
      const Packet& next = packets_[core.jobs.front()];
      events_.push(now() + base::Time::picoseconds(cpu_cost_ps(next)), kCoreDone, index);
    }
    Packet& packet = packets_[packet_index];
    if (packet.hop == 0) {
      packet.time_ps = now().ps();
      enqueue(flows_[packet.flow].source_port, packet_index);
    } else {
      on_tcp_data(packet_index);
    }
  }
}

template <FabricKind K>
void Engine<K>::on_tcp_data(PacketIndex packet_index) {
  if constexpr (kTcp) {
    const Packet packet = packets_[packet_index];
    packets_.release(packet_index);
    TcpConnection& tcp = flows_[packet.flow];
    if (packet.marked) ++counters_.ecn_marked_packets;
    if (tcp.unreported_packets > 0 && tcp.receiver.echo_changes(packet.marked)) {
      acknowledge(packet.flow);
    }
    const std::uint16_t reported = tcp.receiver.reported();
    const TcpReceiver::Arrival arrival =
        tcp.receiver.receive(packet.sequence, packet.marked, packet.ack_request);
    if (tcp.receiver.reported() != reported && !mine(tcp.source_port)) {
      outbox_towards(tcp.source_port).sacks.push_back({packet.flow, packet.sequence});
    }
    ++tcp.unreported_packets;
    const std::uint32_t before = tcp.receiving;
    if (arrival.in_order) complete_transfers(tcp, tcp.receiver.expected());
    if (arrival.at_once || tcp.receiving != before ||
        tcp.unreported_packets >= static_cast<std::uint32_t>(profile_.transport.ack_every)) {
      acknowledge(packet.flow);
    } else if (!tcp.ack_timer_pending) {
      tcp.ack_timer_pending = true;
      events_.push(now() + kDelayedAckTime, kDelayedAck, packet.flow);
    }
  }
}

template <FabricKind K>
void Engine<K>::acknowledge(std::uint32_t index) {
  if constexpr (kTcp) {
    TcpConnection& tcp = flows_[index];
    tcp.unreported_packets = 0;
    const PacketIndex packet_index = packets_.allocate();
    Packet& packet = packets_[packet_index];
    packet.flow = index;
    packet.type = PacketType::kAck;
    packet.sequence = tcp.receiver.expected();
    packet.payload = tcp.receiver.reported();
    packet.marked = tcp.receiver.echo();
    packet.wire = static_cast<std::uint16_t>(profile_.link.ack.count());
    packet.time_ps = now().ps();
    enqueue(tcp.destination_port, packet_index);
  }
}

template <FabricKind K>
void Engine<K>::on_delayed_ack(std::uint32_t index) {
  if constexpr (kTcp) {
    TcpConnection& tcp = flows_[index];
    tcp.ack_timer_pending = false;
    if (tcp.unreported_packets > 0) acknowledge(index);
  }
}

template <FabricKind K>
void Engine<K>::on_tcp_ack(PacketIndex packet_index) {
  if constexpr (kTcp) {
    const Packet packet = packets_[packet_index];
    packets_.release(packet_index);
    TcpConnection& tcp = flows_[packet.flow];
    const bool progress = packet.sequence > tcp.sender.unacked();
    read_sacks(tcp, packet.payload);
    tcp.sender.on_ack(packet.sequence, now(), packet.marked);
    if (progress) {
      tcp.retries = 0;
      forget_acknowledged(tcp, packet.sequence);
      if (tcp.sender.outstanding()) arm_timer(packet.flow, tcp.sender.rto());
    }
    pump(packet.flow);
  }
}

template <FabricKind K>
void Engine<K>::on_tcp_timer(std::uint32_t index) {
  if constexpr (kTcp) {
    TcpConnection& tcp = flows_[index];
    if (!tcp.timer_pending || tcp.timer_at_ps != now().ps()) return;  // replaced by an earlier one
    tcp.timer_pending = false;
    if (!tcp.sender.outstanding()) return;
    if (tcp.deadline_ps > now().ps()) {
      tcp.timer_pending = true;
      tcp.timer_at_ps = tcp.deadline_ps;
      events_.push(base::Time::picoseconds(tcp.deadline_ps), kRetransmit, index);
      return;
    }
    ++counters_.timeouts;
    if (++tcp.retries > kTcpRetryLimit) {
      throw gave_up("TCP connection", tcp, std::to_string(kTcpRetryLimit) + " timeouts in a row");
    }
    tcp.sender.on_timeout();
    arm_timer(index, tcp.sender.rto());
    pump(index);
  }
}

}  // namespace fabricast::packet
