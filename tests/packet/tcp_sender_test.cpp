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

// RFC 6298, 5: Karn's algorithm takes no sample from what was sent again, so that the timer stays
// backed off until a segment that was sent once is acknowledged.
TEST_F(Tcp, KeepsTheDoubledTimerUntilASegmentThatWasSentOnceIsAcknowledged) {
  fill();
  sender_.on_ack(1, 1_ms);
  fill();
  sender_.on_timeout();
  fill();
  sender_.on_ack(sender_.unacked() + 1, 500_ms);
  EXPECT_EQ(sender_.rto(), 400_ms);
  now_ = 500_ms;
  const std::uint32_t first_new = 12;  // ten of the first flight, two after the acknowledgement
  while (sender_.next_sequence() <= first_new) {
    fill();
    sender_.on_ack(sender_.next_sequence(), 501_ms);
  }
  now_ = 502_ms;
  fill();
  sender_.on_ack(sender_.next_sequence(), 503_ms);
  EXPECT_EQ(sender_.rto(), 200_ms);
}

// RFC 5681, 3.1: ssthresh is cut once for a segment, however often it times out.
TEST_F(Tcp, CutsTheThresholdOnceForASegmentThatTimesOutAgain) {
  fill();
  sender_.on_timeout();
  EXPECT_DOUBLE_EQ(sender_.threshold(), 5);
  fill();
  sender_.on_timeout();
  EXPECT_DOUBLE_EQ(sender_.threshold(), 5);
  EXPECT_EQ(sender_.rto(), 4_s);
}

// RFC 3042: each of the first two duplicates lets one new segment out, and the window stays.
TEST_F(Tcp, SendsANewSegmentForEachOfTheFirstTwoDuplicates) {
  fill();
  sender_.on_ack(0, 1_ms);
  EXPECT_EQ(fill(), 1);
  sender_.on_ack(0, 1_ms);
  EXPECT_EQ(fill(), 1);
  EXPECT_DOUBLE_EQ(sender_.window(), 10);
  sender_.on_ack(0, 1_ms);
  EXPECT_DOUBLE_EQ(sender_.threshold(), 5) << "the two do not count as flight (RFC 5681, 3.2)";
}

// RFC 6582, 3.2, step 1: duplicates that a timeout's own resending draws are no new loss.
TEST_F(Tcp, DoesNotTakeDuplicatesAfterATimeoutForALoss) {
  fill();
  sender_.on_timeout();
  fill();
  for (int i = 0; i < 5; ++i) sender_.on_ack(0, 1_ms);
  EXPECT_FALSE(sender_.recovering());
}

// RFC 7661: a window that the application did not fill says nothing about the path.
TEST_F(Tcp, DoesNotGrowAWindowThatIsNotUsed) {
  TcpSender slow;
  slow.initialise({10, 10'000, 200_ms});
  std::uint32_t sequence = 0;
  for (std::uint32_t i = 0; i < 100; ++i) {
    slow.enqueue(1);
    ASSERT_TRUE(slow.next(&sequence));
    slow.sent(sequence, now_);
    slow.on_ack(i + 1, 1_ms);
  }
  EXPECT_DOUBLE_EQ(slow.window(), 10);
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
