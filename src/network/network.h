#pragma once
// The door between what ranks want to send and how a network carries it. Messages, not packets,
// cross it, so a virtual call here costs nothing. `packet::PacketNetwork` implements it packet by
// packet; flow-level sharing will implement the same.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/id.h"
#include "base/units.h"
#include "fabric/fabric.h"

namespace fabricast::network {

/// Called when a message is complete, or when a timer is due.
using Callback = std::function<void(base::Time now)>;

/// Channels below `kChannels`; the two highest belong to background traffic and to probes, so that
/// neither shares a connection with a job.
inline constexpr std::uint32_t kChannels = 1U << 16;
inline constexpr std::uint32_t kBackgroundChannel = kChannels - 2;
inline constexpr std::uint32_t kProbeChannel = kChannels - 1;

/// When a message counts as complete.
enum class Completion : std::uint8_t {
  kDelivered,     ///< its last byte is visible at the destination
  kAcknowledged,  ///< the sender knows: its last packet has been acknowledged
};

struct SendOptions {
  std::uint32_t channel = 0;   ///< below kChannels
  unsigned traffic_class = 0;  ///< priority or service level; below the fabric's number of classes
  Completion completion = Completion::kDelivered;
  /// Inside a node whose switch sums or multicasts (NVLS): so many GPUs send what the receiver gets
  /// summed as one, or so many get what the sender sends once.
  std::uint16_t senders = 1;
  std::uint16_t receivers = 1;
};

/// Messages that move in step, at one rate: what a channel of a collective sends from its first
/// chunk to its last, when that is too much to be told message by message.
struct Bulk {
  struct Edge {
    base::Rank from;
    base::Rank to;
    double bytes = 0;  ///< altogether
    std::uint16_t senders = 1;
    std::uint16_t receivers = 1;  ///< as of SendOptions
  };
  std::vector<Edge> edges;
  std::uint32_t channel = 0;
  double steps = 1;      ///< that every edge takes, one after the other
  bool lockstep = true;  ///< an edge begins a step when an earlier one is complete:
  double ahead = 1;      ///< so many are under way at once
  double fill = 0;       ///< steps from end to end of a pipeline, beside those of an edge
  base::Time overhead;   ///< of a step, beyond the network
};

/// Ranks whose data the switches reduce on its way.
using ReductionGroup = base::Id<struct ReductionGroupTag>;

/// Sums since construction.
struct Counters {
  std::uint64_t events = 0;
  std::uint64_t packet_hops = 0;   ///< one data or control packet over one link
  std::uint64_t data_packets = 0;  ///< sent by adapters, retransmissions included
  std::uint64_t retransmitted_packets = 0;
  std::uint64_t dropped_packets = 0;
  std::uint64_t ecn_marked_packets = 0;  ///< data packets that arrived with congestion experienced
  std::uint64_t cnps = 0;
  std::uint64_t pause_frames = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t link_retries = 0;       ///< packets sent again by a link, unseen by the transport
  std::uint64_t watchdog_trips = 0;     ///< queues that PFC's watchdog has emptied
  std::uint64_t lifetime_discards = 0;  ///< packets dropped at the end of their HOQ lifetime
  std::int64_t bytes_sent = 0;          ///< payload accepted by send()
  std::int64_t bytes_delivered = 0;     ///< payload delivered once
  base::Time paused;                    ///< summed over ports: time an egress was held by PFC
  base::Time credit_stalled;            ///< summed over ports: time an egress lacked credits
  base::Time cpu_busy;                  ///< summed over the cores of all hosts
  int cores = 0;                        ///< cores of all hosts that serve the network
  std::int64_t max_queue_bytes = 0;     ///< fullest egress queue seen
};

class Network {
 public:
  virtual ~Network() = default;

  virtual base::Time now() const = 0;
  /// Sends `size` bytes (> 0) from one GPU to another. Ranks of one node use NVLink (or PCIe);
  /// others the adapters next to them. A channel spreads messages of one pair over connections:
  /// equal (src, dst, channel) share an ordered connection. Inside a node a message is acknowledged
  /// when it is delivered.
  virtual void send(base::Rank src, base::Rank dst, base::Bytes size, const SendOptions& options,
                    Callback on_complete) = 0;
  /// Claims a tree of switches that reduces what these ranks send (InfiniBand's SHARP), each next
  /// to an adapter. None when the network cannot do that, or has no tree that is free.
  virtual std::optional<ReductionGroup> claim_reduction(std::span<const base::Rank> ranks) {
    static_cast<void>(ranks);
    return std::nullopt;
  }
  /// One member's part of an all-reduce of `size` bytes (> 0), complete when the result is visible
  /// at it. Every member has to call this as often, with the same sizes, in the same order.
  virtual void reduce(ReductionGroup group, base::Rank rank, base::Bytes size,
                      const Callback& on_complete);
  /// Gives the tree back. PRECONDITION: nothing is being reduced over it.
  virtual void release_reduction(ReductionGroup group) { static_cast<void>(group); }
  /// True of a network that can carry messages in bulk.
  virtual bool carries_bulk() const { return false; }
  /// Begins now; complete when the last edge has sent all it has to.
  virtual void carry(const Bulk& bulk, Callback on_complete);
  /// PRECONDITION: at >= now().
  virtual void at(base::Time at, Callback callback) = 0;
  /// Runs until no message and no timer is outstanding, or until `stop()` is called in a callback.
  /// Throws base::Error (failure) when messages are outstanding but nothing can move (deadlock).
  virtual void run() = 0;
  virtual void stop() = 0;
  virtual Counters counters() const = 0;
  /// What every port has sent since the start, headers and gaps included, in the order of the
  /// fabric's ports; empty of a network that does not count it.
  virtual std::vector<base::Bytes> sent_by_port() const { return {}; }
};

inline void Network::reduce(ReductionGroup /*group*/, base::Rank /*rank*/, base::Bytes /*size*/,
                            const Callback& /*on_complete*/) {
  throw base::failure("a network that reduces nothing was asked to");
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): those that carry keep it
inline void Network::carry(const Bulk& /*bulk*/, Callback /*on_complete*/) {
  throw base::failure("a network that carries nothing in bulk was asked to");
}

/// Makes a fresh, idle network; the seed decides ECMP hashes and marking draws.
using Factory = std::function<std::unique_ptr<Network>(std::uint64_t seed)>;

}  // namespace fabricast::network
