#include <algorithm>

#include <gtest/gtest.h>

#include "base/error.h"
#include "fixtures.h"

namespace fabricast::packet {
namespace {

using namespace testing;

double goodput_gbps(Bytes size, Time time) {
  return base::rate_of(size, time).gbps();
}

TEST(InfiniBand, SharesAReceiverEvenlyAndLosslessly) {
  auto network = network_on(one_switch(5), infiniband());
  const auto done = completion_times(*network, incast(4, 4_MiB));
  const auto [first, last] = std::minmax_element(done.begin(), done.end());
  // Max-min share: a quarter of 200 Gb/s each, so all end with the last byte of 16 MiB.
  const Time all = base::transmission_time(16_MiB, 200_gbps) * 4126 / 4096;
  EXPECT_NEAR(*last / all, 1.0, 0.01);
  EXPECT_NEAR(*first / *last, 1.0, 0.01);
  EXPECT_EQ(network->counters().dropped_packets, 0U);
  EXPECT_EQ(network->counters().retransmitted_packets, 0U);
  EXPECT_GT(network->counters().credit_stalled, 1_us);
}

// IBTA 7.9: a receiver lets at most its buffer be on the way, so throughput over a long cable is
// the buffer over the round trip: both directions of the cable and PHY, the packet's and the credit
// packet's serialisation (8 bytes).
TEST(InfiniBand, OverALongCableIsLimitedToBufferOverRoundTrip) {
  fabric::TopologySpec spec = topology(fabric::TopologyKind::kDirect, 2);
  spec.cable_m = 10'000;  // 50 us one way
  FabricProfile profile = infiniband();
  profile.credits.vl_buffer = 66_KiB;
  const auto fabric = std::make_shared<const fabric::Fabric>(fabric::build(spec));
  auto network = network_on(fabric, profile);
  const Bytes size = 64_MiB;
  const Time time = completion_times(*network, {{0, 1, size}}).front();
  // 66 KiB are 1056 blocks: 16 packets of 65 blocks (4126 bytes on the wire).
  const double round_trip_s = 2 * (50e-6 + 100e-9) + 4126 * 40e-12;
  const double expected = 16 * 4096 * 8 / round_trip_s * 1e-9;
  EXPECT_NEAR(goodput_gbps(size, time) / expected, 1.0, 0.02);
}

TEST(InfiniBand, OverAShortCableRunsAtLineRate) {
  auto network = network_on(one_switch(2), infiniband());
  const Time time = completion_times(*network, {{0, 1, 64_MiB}}).front();
  EXPECT_NEAR(goodput_gbps(64_MiB, time), 200.0 * 4096 / 4126, 0.5);
}

// d-mod-k gives every destination of a shift permutation an uplink of its own.
TEST(InfiniBand, StaticRoutesCarryAShiftPermutationWithoutCollision) {
  const std::uint32_t n = 16;
  std::vector<Flow> flows;
  for (std::uint32_t i = 0; i < n; ++i) flows.push_back({i, (i + n / 2) % n, 4_MiB});
  auto alone = network_on(leaf_spine(n, 8), infiniband());
  auto together = network_on(leaf_spine(n, 8), infiniband());
  const Time one = completion_times(*alone, {flows.front()}).front();
  const auto all = completion_times(*together, flows);
  EXPECT_LT(*std::max_element(all.begin(), all.end()) / one, 1.01);
}

// Congestion spreads: while an incast fills the switch towards node 0, a flow that shares the
// senders' leaf uplink is slowed although its own receiver is idle (no congestion control by
// default).
TEST(InfiniBand, WithoutCongestionControlAVictimSuffersFromAnIncastBesideIt) {
  auto alone = network_on(leaf_spine(8, 4), infiniband());
  const Time one = completion_times(*alone, {{0, 4, 4_MiB}}).front();
  auto crowded = network_on(leaf_spine(8, 4), infiniband());
  // Destinations 4 and 0 mod 4 share uplink 0 of leaf 0 by d-mod-k; 1..3 send to 4's twin, 0 to 5.
  const auto done =
      completion_times(*crowded, {{1, 4, 4_MiB}, {2, 4, 4_MiB}, {3, 4, 4_MiB}, {1, 5, 4_MiB}});
  EXPECT_GT(done[3] / one, 1.5);
}

TEST(InfiniBand, RefusesABufferThatTheCreditCountersCannotExpress) {
  FabricProfile profile = infiniband();
  profile.credits.vl_buffer = 129_KiB;
  EXPECT_THROW(network_on(one_switch(2), profile), base::Error);
  profile.credits.vl_buffer = 8_KiB;  // below two packets
  EXPECT_THROW(network_on(one_switch(2), profile), base::Error);
}

}  // namespace
}  // namespace fabricast::packet
