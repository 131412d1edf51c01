#pragma once
// Which traffic class an egress serves next, where several have something to send.
//
// InfiniBand's VL arbitration (IBTA Volume 1, section 7.6.9): a high and a low priority table, each
// served by weighted round robin. A weight counts blocks of 64 bytes; an entry keeps its turn while
// weight is left, and its last packet may overdraw it, which is forgotten: for packets of 4 KiB
// weights should be multiples of 64 (opensm(8), "QoS"). The high table goes first until it has sent
// `limit` x 4096 bytes while the low table had something to send; then the low one sends a packet.
//
// Ethernet's weighted scheduling has no high table, and what a class overdraws comes off its next
// turn (deficit round robin, Shreedhar and Varghese 1995), so that any weights give shares in
// proportion. Strict priority serves the highest class.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "catalog/fabric_profile.h"

namespace fabricast::packet {

class Arbiter {
 public:
  using Classes = catalog::FabricProfile::Classes;
  enum class Kind : std::uint8_t { kInfiniBand, kEthernet };

  explicit Arbiter(Kind kind = Kind::kInfiniBand) : kind_(kind) {}

  /// A class of `eligible` (a bit per class, at least one set): the one to try next.
  unsigned choose(const Classes& p, unsigned eligible) {
    if (p.scheduling == catalog::Scheduling::kStrict) {
      return static_cast<unsigned>(std::bit_width(eligible)) - 1;
    }
    const unsigned high = eligible & listed(p.high_weight);
    const unsigned low = eligible & listed(p.weight);
    low_waits_ = low != 0;
    from_high_ = high != 0 && (low == 0 || high_sent_ < high_limit(p));
    if (from_high_) return high_.choose(kind_, p.high_weight, high);
    if (low != 0) return low_.choose(kind_, p.weight, low);
    // A class in neither table would never be served: it gets what the tables leave.
    return static_cast<unsigned>(std::countr_zero(eligible));
  }

  /// The class that `choose` gave last has sent `bytes`.
  void served(const Classes& p, unsigned traffic_class, std::int64_t bytes) {
    if (p.scheduling == catalog::Scheduling::kStrict) return;
    if (from_high_) {
      high_.served(kind_, traffic_class, bytes);
      high_sent_ = low_waits_ ? high_sent_ + bytes : 0;
    } else {
      low_.served(kind_, traffic_class, bytes);
      high_sent_ = 0;
    }
  }

 private:
  using Weights = std::array<int, catalog::kMaxClasses>;
  static constexpr std::int64_t kBlock = 64;
  static constexpr int kNoLimit = 255;

  static unsigned listed(const Weights& weights) {
    unsigned mask = 0;
    for (unsigned c = 0; c < weights.size(); ++c) mask |= weights[c] > 0 ? 1U << c : 0U;
    return mask;
  }

  /// Bytes of the high table before the low one has its turn; one packet for a limit of 0.
  static std::int64_t high_limit(const Classes& p) {
    if (p.high_limit >= kNoLimit) return INT64_MAX;
    return std::max<std::int64_t>(1, std::int64_t{4096} * p.high_limit);
  }

  struct RoundRobin {
    unsigned current = 0;
    std::array<std::int64_t, catalog::kMaxClasses> left{};  ///< bytes of a turn; overdrawn below 0

    // PRECONDITION: a class of `eligible` has weight.
    unsigned choose(Kind kind, const Weights& weights, unsigned eligible) {
      unsigned passed = 0;
      while (left[current] <= 0 || (eligible >> current & 1U) == 0) {
        if (passed++ == catalog::kMaxClasses) pass_rounds(weights, eligible);
        left[current] = std::min<std::int64_t>(left[current], 0);  // an unused turn is lost
        current = (current + 1) % catalog::kMaxClasses;
        const std::int64_t turn = kBlock * weights[current];
        left[current] = kind == Kind::kEthernet ? left[current] + turn : turn;
      }
      return current;
    }
    // As many rounds at once as leave every class of `eligible` overdrawn, or at nothing.
    void pass_rounds(const Weights& weights, unsigned eligible) {
      std::int64_t rounds = INT64_MAX;
      for (unsigned c = 0; c < weights.size(); ++c) {
        if ((eligible >> c & 1U) != 0) rounds = std::min(rounds, -left[c] / (kBlock * weights[c]));
      }
      for (unsigned c = 0; c < weights.size(); ++c) {
        left[c] = std::min<std::int64_t>(left[c] + rounds * kBlock * weights[c], 0);
      }
    }
    void served(Kind kind, unsigned traffic_class, std::int64_t bytes) {
      if (traffic_class != current) return;
      left[current] -= kind == Kind::kInfiniBand ? (bytes + kBlock - 1) / kBlock * kBlock : bytes;
    }
  };

  Kind kind_;
  RoundRobin high_;
  RoundRobin low_;
  std::int64_t high_sent_ = 0;  ///< bytes, since the low table had its turn or nothing to send
  bool low_waits_ = false;
  bool from_high_ = false;
};

}  // namespace fabricast::packet
