#pragma once
// State of one port: the directed link that leaves it, and what it keeps as the receiver of the
// link that comes in. All times are picoseconds as plain integers: this is the hot path.

#include <cstdint>

#include "packet/credits.h"
#include "packet/packet.h"

namespace fabricast::packet {

/// What every packet touches comes first, in one cache line.
struct alignas(64) PortState {
  std::int64_t busy_until_ps = 0;
  std::int64_t queued_bytes = 0;
  PacketQueue data;
  PacketQueue control;
  PacketQueue wire;
  std::uint32_t peer = 0;
  std::uint32_t device = 0;
  std::uint32_t adapter = kNone;  ///< endpoint, where this port is an adapter's
  bool wake_pending = false;
  bool paused = false;
  bool stalled = false;         ///< lacks credits
  bool peer_is_switch = false;  ///< at the far end of the cable
  bool head_arrives = false;    ///< far end is a cut-through switch: it acts on the head
  bool credit_pending = false;  ///< a kCredit event is on its way to a stalled sender

  // Constants of the link.
  std::uint32_t local = 0;            ///< number of this port within its device
  std::int64_t ps_per_byte_q16 = 0;   ///< serialisation, 16 fractional bits
  std::int64_t gap_per_byte_q16 = 0;  ///< least spacing of starts, when an adapter feeds slower
  std::int64_t propagation_ps = 0;    ///< cable and PHY
  std::int64_t pipeline_ps = 0;       ///< of the switch at the far end; 0 at an adapter
  std::int64_t sent_bytes = 0;
  std::int64_t max_queued_bytes = 0;

  // InfiniBand.
  CreditSender credits;
  std::uint32_t updates_begin = 0;  ///< credit updates under way: positions in the port's ring
  std::uint32_t updates_end = 0;
  CreditReceiver receiver;  ///< of the link that comes in

  // Counters.
  std::int64_t paused_since_ps = 0;
  std::int64_t paused_ps = 0;
  std::int64_t stalled_since_ps = 0;
  std::int64_t stalled_ps = 0;

  std::int64_t serialisation_ps(std::int64_t bytes) const {
    return (bytes * ps_per_byte_q16) >> 16;
  }
};

/// A flow-control packet on its way to the sender. Only a sender that has run dry needs an event
/// for it; any other looks at the updates that have arrived when it next sends.
struct CreditUpdate {
  std::int64_t arrival_ps = 0;
  std::uint32_t fccl = 0;
};

/// Bytes after which a cut-through switch knows where a packet goes.
inline constexpr std::int64_t kHeadBytes = 64;

}  // namespace fabricast::packet
