#include "packet/tcp_sender.h"

#include <gtest/gtest.h>

#include "fixtures.h"

namespace fabricast::packet {
namespace {

using namespace testing;

class Tcp : public ::testing::Test {
 protected:
  void SetUp() override {
    sender_.initialise({10, 10'000, 200_ms});
    sender_.enqueue(1'000'000);
  }
  /// Sends all that the window allows; returns how many segments.
  int fill() {
    int count = 0;
    std::uint32_t sequence = 0;
    while (sender_.next(&sequence)) {
      sender_.sent(sequence, now_);
      ++count;
    }
    return count;
  }
  TcpSender sender_;
  Time now_;
};

TEST_F(Tcp, StartsWithTenSegments) {
  EXPECT_EQ(fill(), 10);
}

TEST_F(Tcp, DoublesTheWindowPerRoundTripInSlowStart) {
  fill();
  for (std::uint32_t i = 1; i <= 10; ++i) sender_.on_ack(i, 1_ms);
  EXPECT_DOUBLE_EQ(sender_.window(), 20);
  EXPECT_EQ(fill(), 20);
}

// RFC 5681, 3.2: on the third duplicate ssthresh = flight / 2, cwnd = ssthresh + 3, and the missing
// segment is sent again.
TEST_F(Tcp, HalvesOnTheThirdDuplicateAndResendsTheMissingSegment) {
  fill();
  for (int i = 0; i < 3; ++i) sender_.on_ack(0, 1_ms);
  EXPECT_DOUBLE_EQ(sender_.threshold(), 5);
  EXPECT_DOUBLE_EQ(sender_.window(), 8);
  std::uint32_t sequence = 99;
  ASSERT_TRUE(sender_.next(&sequence));
  EXPECT_EQ(sequence, 0U);
}

TEST_F(Tcp, LeavesRecoveryAtTheHalvedWindowWhenAllIsAcknowledged) {
  fill();
  for (int i = 0; i < 3; ++i) sender_.on_ack(0, 1_ms);
  fill();
  sender_.on_ack(10, 2_ms);
  EXPECT_FALSE(sender_.recovering());
  EXPECT_DOUBLE_EQ(sender_.window(), 5);
}

// RFC 6582, 3.2 step 3: a partial acknowledgement resends the next hole without leaving recovery.
TEST_F(Tcp, ResendsTheNextHoleOnAPartialAcknowledgement) {
  fill();
  for (int i = 0; i < 3; ++i) sender_.on_ack(0, 1_ms);
  fill();
  sender_.on_ack(4, 2_ms);
  EXPECT_TRUE(sender_.recovering());
  std::uint32_t sequence = 99;
  ASSERT_TRUE(sender_.next(&sequence));
  EXPECT_EQ(sequence, 4U);
}

TEST_F(Tcp, GrowsByOneSegmentPerRoundTripInCongestionAvoidance) {
  fill();
  for (int i = 0; i < 3; ++i) sender_.on_ack(0, 1_ms);
  fill();
  sender_.on_ack(10, 2_ms);  // window 5 = threshold
  const std::uint32_t start = sender_.unacked();
  fill();
  const std::uint32_t end = sender_.next_sequence();
  for (std::uint32_t i = start + 1; i <= end; ++i) sender_.on_ack(i, 3_ms);
  EXPECT_NEAR(sender_.window(), 6, 0.15);
}

TEST_F(Tcp, TimesOutToOneSegmentAndDoublesTheTimer) {
  fill();
  sender_.on_ack(1, 1_ms);
  EXPECT_EQ(sender_.rto(), 200_ms) << "the floor, since the round trip is 1 ms";
  sender_.on_timeout();
  EXPECT_DOUBLE_EQ(sender_.window(), 1);
  EXPECT_EQ(sender_.rto(), 400_ms);
  EXPECT_EQ(fill(), 1);
}

TEST_F(Tcp, NeverExceedsTheReceiveWindow) {
  TcpSender small;
  small.initialise({10, 16, 200_ms});
  small.enqueue(1000);
  std::uint32_t sequence = 0;
  for (std::uint32_t acked = 0; acked < 200; ++acked) {
    while (small.next(&sequence)) small.sent(sequence, now_);
    EXPECT_LE(small.next_sequence() - small.unacked(), 16U);
    small.on_ack(acked + 1, 1_ms);
  }
}

}  // namespace
}  // namespace fabricast::packet
