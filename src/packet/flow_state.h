#pragma once
// What an adapter (or a TCP stack) keeps per connection, and how messages lie on it.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "catalog/fabric_profile.h"
#include "network/network.h"
#include "packet/link.h"
#include "packet/packet.h"
#include "packet/rdma_congestion.h"
#include "packet/receive_window.h"
#include "packet/tcp_receiver.h"
#include "packet/tcp_sender.h"

namespace fabricast::packet {

/// The part of a message that one flow carries: packets first..last, all full but the last.
struct Transfer {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::uint32_t last_payload = 0;
  std::uint32_t message = 0;
  std::uint32_t next = kNone;  ///< behind it on the same flow
  network::Completion completion = network::Completion::kDelivered;
};

/// Common to queue pairs and TCP connections. Paths are runs of egress ports in the engine's arena.
struct FlowBase {
  std::uint32_t source = 0;       ///< endpoint
  std::uint32_t destination = 0;  ///< endpoint
  std::uint32_t source_port = 0;
  std::uint32_t destination_port = 0;
  unsigned traffic_class = 0;
  std::uint64_t hash = 0;  ///< of its 5-tuple
  std::uint32_t path = 0;
  std::uint32_t reverse_path = 0;
  std::uint32_t end = 0;  ///< packets enqueued so far
  // Transfers, oldest first: not yet acknowledged ... being sent ... newest; and being received.
  std::uint32_t oldest = kNone;
  std::uint32_t sending = kNone;
  std::uint32_t receiving = kNone;
  std::uint32_t newest = kNone;
  std::uint32_t unreported_packets = 0;  ///< arrived since the last acknowledgement
  bool timer_pending = false;
  std::int64_t deadline_ps = 0;  ///< of the retransmission timer
};

/// What selective repeat knows at the sender: packets that the receiver holds behind a gap, and how
/// far it has come in sending the others again.
struct Reported {
  ReceiveWindow held;
  std::uint32_t end = 0;           ///< one past the highest that is held
  std::uint32_t recovery_end = 0;  ///< a recovery lasts until all before this are acknowledged
  std::uint32_t resent_end = 0;    ///< in this recovery; each packet goes once

  /// The first packet of a gap that has not been sent again; kNone when there is none.
  std::uint32_t next_lost(std::uint32_t unacked) const {
    std::uint32_t sequence = std::max(resent_end, unacked);
    while (sequence < end && held.holds(sequence)) ++sequence;
    return sequence < end ? sequence : kNone;
  }
};

/// A reliable-connection queue pair (RoCE v2 and InfiniBand).
struct QueuePair : FlowBase {
  std::uint32_t group = kNone;  ///< of a member of a reduction: the other end is its switch
  std::uint32_t posted = 0;     ///< packets whose message has reached the adapter
  std::uint32_t next = 0;       ///< next packet to send
  std::uint32_t unacked = 0;
  std::uint32_t highest = 0;     ///< one past the highest ever sent
  std::uint32_t resend = kNone;  ///< not go-back-N: this one first
  std::uint32_t limit = kNone;   ///< most packets under way, by every window there is
  std::uint32_t ready_next = kNone;
  bool ready = false;            ///< in its adapter's ring, or waiting for its pace
  bool paced = false;            ///< waiting for its pace, until `pace_ps`
  std::uint16_t paced_wire = 0;  ///< length of the packet that it sent last, and when; where
  std::int64_t sent_ps = 0;      ///< there is a congestion control
  std::int64_t pace_ps = 0;
  bool controlled = false;  ///< has a congestion control; beside what every packet reads
  bool nak_sent = false;
  bool control_timer_pending = false;
  std::uint8_t retries = 0;
  std::uint32_t expected = 0;  ///< receiver, go-back-N
  std::int64_t last_cnp_ps = 0;
  std::uint32_t timed = kNone;  ///< the packet whose round trip is being timed
  std::int64_t timed_ps = 0;    ///< when it left
  RdmaCongestion control;
  ReceiveWindow window;  ///< receiver, other recovery schemes
  Reported reported;     ///< sender, selective repeat
};

struct TcpConnection : FlowBase {
  std::int64_t timer_at_ps = 0;    ///< of the retransmission timer's event that counts
  bool ack_timer_pending = false;  ///< of the delayed acknowledgement
  TcpSender sender;
  std::uint32_t highest = 0;  ///< one past the highest segment ever sent
  TcpReceiver receiver;
  std::uint8_t retries = 0;      ///< timeouts since the last new acknowledgement
  std::uint16_t sacks_read = 0;  ///< of the receiver's reports, modulo 2^16
  std::uint32_t source_core = 0;
  std::uint32_t destination_core = 0;
};

/// A processor core that serves one NIC: packets to send and packets received, in order.
struct Core {
  PacketQueue jobs;
  bool active = false;
  std::int64_t busy_ps = 0;
};

/// Queue pairs that have something to send, served round robin.
struct ReadyRing {
  std::uint32_t head = kNone;
  std::uint32_t tail = kNone;
};

struct Adapter {
  std::array<ReadyRing, catalog::kMaxClasses> ready;  ///< per class
  std::int64_t next_message_ps = 0;
  std::uint32_t flows = 0;
  // Where the host holds it back:
  std::int64_t fed_ps = 0;  ///< when the payload of its next packet is there
  PacketQueue arrived;      ///< waiting for the host, the first one crossing
  std::array<std::int64_t, catalog::kMaxClasses> held = {};  ///< bytes of them, per class
  ClassMask pausing = 0;                                     ///< classes that it pauses
  std::int64_t room = 0;                                     ///< for a class that drops
  std::int64_t lossless_room = 0;
  std::int64_t xoff = 0;  ///< bytes of a lossless class above which it pauses
};

/// Payload on a link inside a node.
struct HostCrossing {
  std::uint32_t link = 0;
  std::int64_t ps_per_byte_q16 = 0;  ///< of payload, 16 fractional bits
};

struct HostWay {
  std::vector<HostCrossing> send;
  std::vector<HostCrossing> receive;
};

}  // namespace fabricast::packet
