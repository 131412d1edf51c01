// Routing and the tolerance of reordering are one choice. Nothing is lost here: what is sent again
// is what overtook itself.

#include "pairing.h"

#include <gtest/gtest.h>

namespace fabricast::packet {
namespace {

using namespace testing;

class Pairing : public ::testing::TestWithParam<std::int64_t> {
 protected:
  Paired run(Routing routing, LossRecovery recovery, std::uint64_t seed = 1) const {
    return permute(paired(routing, recovery), 8, 128, Bytes(GetParam()), seed);
  }
  /// One flow by itself: its packets on the wire, five more and six links of its path, and the
  /// acknowledgement's way back.
  double lone_us() const {
    const std::int64_t packets = (GetParam() + 4095) / 4096;
    const auto wire = static_cast<double>(GetParam() + packets * 64);
    return (wire + 5 * 4160.0 + 6 * 64) * 8 / 400e3 + 12;
  }
};

TEST_P(Pairing, OfAdaptiveRoutingWithOutOfOrderPlacementIsNearTheLoneFlow) {
  const Paired lone =
      permute(paired(Routing::kEcmp, LossRecovery::kGoBackN), 8, 1, Bytes(GetParam()));
  EXPECT_NEAR(lone.last_us / lone_us(), 1.0, 0.002);
  const Paired all = run(Routing::kAdaptive, LossRecovery::kOutOfOrder);
  EXPECT_LT(all.last_us, 1.1 * lone_us());
  EXPECT_EQ(all.resent, 0);
}

// A packet that is a little late is sent again for nothing, which costs little of the wire.
TEST_P(Pairing, OfAdaptiveRoutingWithSelectiveRepeatIsNearTheLoneFlow) {
  const Paired all = run(Routing::kAdaptive, LossRecovery::kSelectiveRepeat);
  EXPECT_LT(all.last_us, 1.1 * lone_us());
  EXPECT_LT(all.resent, 0.15);
}

// Four or five flows on one uplink, two at one of the next: the last takes as many times as long,
// and PFC holds others with it.
TEST_P(Pairing, OfEcmpWithGoBackNIsInBetween) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Paired all = run(Routing::kEcmp, LossRecovery::kGoBackN, seed);
    EXPECT_GT(all.last_us, 1.5 * lone_us());
    EXPECT_LT(all.last_us, 6 * lone_us());
    EXPECT_LT(all.mean_us, 2.5 * lone_us());
    EXPECT_EQ(all.resent, 0);
  }
}

// Every packet that overtakes another costs what is under way, a round trip of the line.
TEST_P(Pairing, OfAdaptiveRoutingWithGoBackNSendsMoreAgainThanItSends) {
  const Paired ecmp = run(Routing::kEcmp, LossRecovery::kGoBackN);
  const Paired all = run(Routing::kAdaptive, LossRecovery::kGoBackN);
  EXPECT_GT(all.resent, 1);
  EXPECT_GT(all.mean_us, 2 * ecmp.mean_us);
  EXPECT_GT(all.last_us, 2 * ecmp.last_us);
}

INSTANTIATE_TEST_SUITE_P(Bytes, Pairing, ::testing::Values(262'144, 2'000'000));

}  // namespace
}  // namespace fabricast::packet
