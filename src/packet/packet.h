#pragma once
// Packets live in a slab and are named by a 32-bit index; a queue is a linked list of indices
// through the packets themselves. Sending a packet allocates nothing once the slab has grown to its
// peak.

#include <cstdint>
#include <vector>

namespace fabricast::packet {

using PacketIndex = std::uint32_t;
inline constexpr std::uint32_t kNone = 0xffffffffU;

enum class PacketType : std::uint8_t {
  kData,
  kAck,     ///< `sequence` is the next one expected (cumulative)
  kNak,     ///< as kAck, and that one is missing
  kCnp,     ///< congestion notification to the sender of `flow`
  kReduce,  ///< one member's data, or the sum of several, on its way up a tree
  kResult,  ///< the sum on its way down
};

/// Of what a rank sent, or receives.
constexpr bool carries_payload(PacketType type) {
  return type == PacketType::kData || type >= PacketType::kReduce;
}

/// 32 bytes: two to a cache line.
struct Packet {
  std::int64_t time_ps = 0;    ///< on a wire: arrival at its far end; in a queue: earliest start
  std::uint32_t next = kNone;  ///< behind it in the queue it is in
  std::uint32_t flow = 0;      ///< queue pair or TCP connection
  std::uint32_t sequence = 0;
  std::uint32_t ingress = 0;  ///< port of the present device through which it came
  /// Bytes; of TCP's acknowledgements: segments reported by SACK; of a NAK of selective repeat: how
  /// far the packet that it answers lies behind the missing one.
  std::uint16_t payload = 0;
  std::uint16_t wire = 0;  ///< bytes on the wire, all headers and gaps included
  PacketType type = PacketType::kData;
  std::uint8_t hop = 0;            ///< links crossed so far
  std::uint8_t traffic_class = 0;  ///< priority or service level
  bool control : 1 = false;        ///< above every class, past PFC, charged to no buffer
  bool marked : 1 = false;  ///< ECN congestion experienced; of TCP's acknowledgements: ECN-Echo
  /// The sender can send no more before it hears (AckReq of the BTH); of TCP's data: congestion
  /// window reduced (CWR).
  bool ack_request : 1 = false;
};
static_assert(sizeof(Packet) == 32);

class PacketSlab {
 public:
  PacketIndex allocate() {
    if (free_ == kNone) {
      slab_.emplace_back();
      return static_cast<PacketIndex>(slab_.size() - 1);
    }
    const PacketIndex index = free_;
    free_ = slab_[index].next;
    slab_[index] = Packet{};
    return index;
  }
  void release(PacketIndex index) {
    slab_[index].next = free_;
    free_ = index;
  }
  void prefetch(PacketIndex index) const { __builtin_prefetch(&slab_[index], 1); }
  Packet& operator[](PacketIndex index) { return slab_[index]; }
  const Packet& operator[](PacketIndex index) const { return slab_[index]; }

 private:
  std::vector<Packet> slab_;
  PacketIndex free_ = kNone;
};

/// First in, first out, by index.
class PacketQueue {
 public:
  bool empty() const { return head_ == kNone; }
  PacketIndex front() const { return head_; }
  void push(PacketSlab& slab, PacketIndex index) {
    slab[index].next = kNone;
    if (head_ == kNone) {
      head_ = index;
    } else {
      slab[tail_].next = index;
    }
    tail_ = index;
  }
  // The next packet has lain here for a while: it is fetched into the cache before its turn comes.
  PacketIndex pop(PacketSlab& slab) {
    const PacketIndex index = head_;
    head_ = slab[index].next;
    if (head_ != kNone) slab.prefetch(head_);
    return index;
  }

 private:
  PacketIndex head_ = kNone;
  PacketIndex tail_ = kNone;
};

}  // namespace fabricast::packet
