#pragma once
// Which traffic class an egress serves next, where several have something to send.
//
// InfiniBand's VL arbitration (IBTA Volume 1, section 7.6.9): a high and a low priority table, each
// served by weighted round robin. A weight counts blocks of 64 bytes; an entry keeps its turn while
// weight is left, and a packet may overdraw it. The high table goes first until it has sent `limit`
// x 4096 bytes while the low table had something to send; then the low one sends a packet.
// Ethernet's weighted scheduling is the same with an empty high table; strict priority serves the
// highest class.

#include <array>
#include <bit>
#include <cstdint>

#include "catalog/fabric_profile.h"

namespace fabricast::packet {

class Arbiter {
 public:
  using Classes = catalog::FabricProfile::Classes;

  /// A class of `eligible` (a bit per class, at least one set): the one to try next.
  unsigned choose(const Classes& p, unsigned eligible) {
    if (p.scheduling == catalog::Scheduling::kStrict) {
      return static_cast<unsigned>(std::bit_width(eligible)) - 1;
    }
    const unsigned high = eligible & listed(p.high_weight);
    const unsigned low = eligible & listed(p.weight);
    from_high_ = high != 0 && (low == 0 || high_allowance_ > 0);
    if (from_high_) return high_.choose(p.high_weight, high);
    if (low != 0) return low_.choose(p.weight, low);
    // A class in neither table would never be served: it gets what the tables leave.
    return static_cast<unsigned>(std::countr_zero(eligible));
  }

  /// The class that `choose` gave has sent `bytes`.
  void served(const Classes& p, unsigned traffic_class, std::int64_t bytes) {
    if (p.scheduling == catalog::Scheduling::kStrict) return;
    if (from_high_) {
      high_.served(traffic_class, bytes);
      if (p.high_limit < 255) high_allowance_ -= bytes;
    } else {
      low_.served(traffic_class, bytes);
      high_allowance_ = p.high_limit == 0 ? 1 : std::int64_t{4096} * p.high_limit;
    }
  }

 private:
  using Weights = std::array<int, catalog::kMaxClasses>;

  static unsigned listed(const Weights& weights) {
    unsigned mask = 0;
    for (unsigned c = 0; c < weights.size(); ++c) mask |= weights[c] > 0 ? 1U << c : 0U;
    return mask;
  }

  struct RoundRobin {
    unsigned current = 0;
    std::int64_t left = 0;  ///< bytes of its turn

    // PRECONDITION: a class of `eligible` has weight.
    unsigned choose(const Weights& weights, unsigned eligible) {
      while (left <= 0 || (eligible >> current & 1U) == 0) {
        current = (current + 1) % catalog::kMaxClasses;
        left = std::int64_t{64} * weights[current];
      }
      return current;
    }
    void served(unsigned traffic_class, std::int64_t bytes) {
      if (traffic_class == current) left -= bytes;
    }
  };

  RoundRobin high_;
  RoundRobin low_;
  std::int64_t high_allowance_ = 1;
  bool from_high_ = false;
};

}  // namespace fabricast::packet
