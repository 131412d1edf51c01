#pragma once
// State of one port: the directed link that leaves it, and what it keeps as the receiver of the
// link that comes in. All times are picoseconds as plain integers: this is the hot path.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "catalog/fabric_profile.h"
#include "packet/credits.h"
#include "packet/packet.h"

namespace fabricast::packet {

/// Traffic classes: priorities of Ethernet, service levels on virtual lanes of InfiniBand.
inline constexpr int kMaxClasses = catalog::kMaxClasses;
using ClassMask = std::uint8_t;
constexpr ClassMask mask_of(unsigned traffic_class) {
  return static_cast<ClassMask>(1U << traffic_class);
}

inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// An egress queue of one traffic class.
struct ClassQueue {
  PacketQueue packets;
  std::int64_t bytes = 0;
};

/// What every packet touches comes first, in one cache line (with the queue of class 0).
struct alignas(64) PortState {
  std::int64_t busy_until_ps = 0;
  std::int64_t wake_ps = kNever;  ///< when the earliest kWake event is due
  PacketQueue control;            ///< congestion notifications, above every class
  PacketQueue wire;
  std::uint32_t peer = 0;
  std::uint32_t device = 0;
  ClassMask queued = 0;      ///< classes whose queue holds something
  ClassMask ready = 0;       ///< adapter: classes with a queue pair that has work
  ClassMask paused = 0;      ///< classes held by PFC
  ClassMask stalled = 0;     ///< classes that lack credits
  ClassMask discarding = 0;  ///< classes that drop what comes: link down, watchdog, VLStalled
  bool peer_is_switch : 1 = false;  ///< at the far end of the cable
  bool head_arrives : 1 = false;    ///< far end is a cut-through switch: it acts on the head
  bool errors : 1 = false;          ///< `log_keep_per_byte` is not 0
  bool across : 1 = false;          ///< far end is simulated by another engine
  bool watched : 1 = false;  ///< `across`, or, with several engines, to an adapter: see shard.h
  std::array<ClassQueue, kMaxClasses> classes;

  bool down = false;             ///< the cable carries nothing
  bool avoided = false;          ///< routing knows that it is down
  bool storm = false;            ///< the adapter at the far end pauses it without end
  std::uint8_t replays = 0;      ///< of the packet that the link is sending again
  std::uint32_t outages = 0;     ///< so far
  std::uint32_t draws = 0;       ///< random numbers taken
  double log_keep_per_byte = 0;  ///< log of the probability that a byte arrives whole
  std::int64_t nominal_per_byte_q16 = 0;

  // Constants of the link, but for faults.
  std::uint32_t adapter = kNone;      ///< endpoint, where this port is an adapter's
  std::uint32_t local = 0;            ///< number of this port within its device
  std::int64_t ps_per_byte_q16 = 0;   ///< serialisation, 16 fractional bits
  std::int64_t gap_per_byte_q16 = 0;  ///< least spacing of starts, when an adapter feeds slower
  std::int64_t propagation_ps = 0;    ///< cable and PHY
  std::int64_t pipeline_ps = 0;       ///< of the switch at the far end; 0 at an adapter

  // Counters.
  std::int64_t sent_bytes = 0;
  std::int64_t max_queued_bytes = 0;  ///< of the fullest class
  std::int64_t paused_since_ps = 0;   ///< while any class is
  std::int64_t paused_ps = 0;
  std::int64_t stalled_since_ps = 0;
  std::int64_t stalled_ps = 0;

  std::int64_t serialisation_ps(std::int64_t bytes) const {
    return (bytes * ps_per_byte_q16) >> 16;
  }
};
static_assert(sizeof(ClassQueue) == 16);
static_assert(offsetof(PortState, classes) == 48, "class 0 shares the first cache line");

/// What PFC's watchdog remembers of a port and class.
struct Watch {
  std::int64_t since_ps = 0;  ///< last change between paused and not
};

/// InfiniBand's credits of one port and virtual lane.
struct Lane {
  CreditSender sender;
  std::uint32_t updates_begin = 0;  ///< credit updates under way: positions in the lane's ring
  std::uint32_t updates_end = 0;
  bool update_event = false;  ///< a kCredit event is on its way to the stalled sender
  std::uint32_t wanted = 0;   ///< blocks that the sender is stalled for
  std::int64_t stalled_since_ps = 0;
  std::int64_t discards_until_ps = 0;  ///< while it is VLStalled
  int expired = 0;                     ///< packets in a row that outlived their time at the head
  CreditReceiver receiver;             ///< of the link that comes in
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
