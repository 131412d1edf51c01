#include <cmath>

#include <gtest/gtest.h>

#include "packet/tcp_receiver.h"
#include "packet/tcp_sender.h"

namespace fabricast::packet {
namespace {

using base::Time;
using namespace base::literals;
using catalog::TcpCongestionControl;

/// A sender whose every window of data is acknowledged at once, with or without echo.
class Windows {
 public:
  explicit Windows(TcpCongestionControl control) {
    sender.initialise({100, 10'000, 200_ms, control, true});
    sender.enqueue(10'000'000);
    fill();
  }
  /// Acknowledges what is in flight, the last `marked` segments of it with an echo.
  void window(std::uint32_t marked) {
    now += 1_ms;
    const std::uint32_t end = sender.next_sequence();
    for (std::uint32_t s = sender.unacked() + 1; s <= end; ++s) {
      sender.on_ack(s, now, s > end - marked);
      fill();
    }
  }
  void fill() {
    std::uint32_t sequence = 0;
    while (sender.next(&sequence)) sender.sent(sequence, now);
  }
  std::uint32_t in_flight() const { return sender.next_sequence() - sender.unacked(); }
  double alpha() const { return sender.congestion().as<Dctcp>().alpha(); }

  TcpSender sender;
  Time now;
};

// RFC 8257: alpha starts at 1, so that the first mark halves the window.
TEST(Dctcp, HalvesTheWindowAtTheFirstMark) {
  Windows w(TcpCongestionControl::kDctcp);
  w.sender.on_ack(1, 1_ms, true);
  EXPECT_DOUBLE_EQ(w.alpha(), 1);
  EXPECT_DOUBLE_EQ(w.sender.window(), 50);
}

// RFC 8257, 3.3: alpha = (1 - g) alpha + g M with g = 1/16, once per window of data; M is the share
// of the segments, not of the acknowledgements.
TEST(Dctcp, AveragesTheMarkedShareOfEachWindow) {
  Dctcp dctcp;
  double alpha = 1;
  std::uint32_t unacked = 0;
  const auto acknowledge = [&](std::uint32_t segments, bool echo) {
    unacked += segments;
    dctcp.observe({Time(), Time(), static_cast<double>(segments), unacked, unacked + 50, echo});
  };
  acknowledge(1, false);  // the RFC's first window ends with the first acknowledgement
  alpha = alpha * 15 / 16;
  EXPECT_DOUBLE_EQ(dctcp.alpha(), alpha);
  for (int window = 0; window < 20; ++window) {
    acknowledge(30, false);
    acknowledge(10, true);
    acknowledge(10, false);
    EXPECT_DOUBLE_EQ(dctcp.alpha(), alpha) << "the window ends beyond its last segment";
    acknowledge(1, false);
    alpha = alpha * 15 / 16 + (10.0 / 51) / 16;
    EXPECT_DOUBLE_EQ(dctcp.alpha(), alpha);
  }
}

TEST(Dctcp, DecaysAlphaByOneMinusGForEveryWindowWithoutMarks) {
  Windows w(TcpCongestionControl::kDctcp);
  for (int i = 0; i < 50; ++i) w.window(0);
  EXPECT_NEAR(std::log(w.alpha()) / std::log(15.0 / 16), 50, 1);
}

// RFC 8257, 3.3: the cut is alpha / 2 and comes once per window of data.
TEST(Dctcp, CutsOncePerWindowHoweverManyAcknowledgementsEcho) {
  Windows w(TcpCongestionControl::kDctcp);
  for (int i = 0; i < 30; ++i) w.window(0);
  const double before = w.sender.window();
  const double alpha = w.alpha();
  ASSERT_LT(alpha, 0.2);
  w.window(20);
  EXPECT_NEAR(w.sender.window() / before, 1 - alpha / 2, 0.02);
}

// RFC 8257, 3.5: a loss halves as in Reno.
TEST(Dctcp, HalvesOnALoss) {
  Windows w(TcpCongestionControl::kDctcp);
  for (int i = 0; i < 30; ++i) w.window(0);
  const std::uint32_t oldest = w.sender.unacked();
  const double flight = w.in_flight();
  for (std::uint32_t s = oldest + 1; s <= oldest + 3; ++s) {
    w.sender.on_sack(s);
    w.sender.on_ack(oldest, w.now);
  }
  EXPECT_TRUE(w.sender.recovering());
  EXPECT_NEAR(w.sender.window(), flight / 2, 2);
}

// RFC 8257, 3.2, figure 1: with delayed acknowledgements a change of marking sends what was held
// back with the old echo, so that the sender can count marks exactly.
TEST(DctcpReceiver, NeverAcknowledgesMarkedAndUnmarkedSegmentsTogether) {
  TcpReceiver receiver;
  receiver.initialise({100, true, TcpReceiver::Echo::kExact});
  EXPECT_FALSE(receiver.echo_changes(false));
  receiver.receive(0, false);
  EXPECT_FALSE(receiver.echo());
  EXPECT_TRUE(receiver.echo_changes(true)) << "segment 0 is acknowledged first, without echo";
  receiver.receive(1, true);
  EXPECT_TRUE(receiver.echo());
  EXPECT_FALSE(receiver.echo_changes(true));
  EXPECT_TRUE(receiver.echo_changes(false));
  receiver.receive(2, false);
  EXPECT_FALSE(receiver.echo());
}

// RFC 3168, 6.1.3: the echo stays until the sender says that it has reduced its window.
TEST(ClassicEcn, EchoesUntilTheSenderHasReduced) {
  TcpReceiver receiver;
  receiver.initialise({100, true, TcpReceiver::Echo::kUntilReduced});
  receiver.receive(0, true);
  receiver.receive(1, false);
  EXPECT_TRUE(receiver.echo());
  EXPECT_FALSE(receiver.echo_changes(false));
  receiver.receive(2, false, true);
  EXPECT_FALSE(receiver.echo());
  receiver.receive(3, true, true);
  EXPECT_TRUE(receiver.echo()) << "marked anew";
}

// RFC 3168, 6.1.2, and RFC 9438, 4.6: the cut of a loss, once per window of data, and one CWR.
TEST(ClassicEcn, CutsAsForALossOncePerWindow) {
  for (const auto& [control, factor] : {std::pair{TcpCongestionControl::kReno, 0.5},
                                        std::pair{TcpCongestionControl::kCubic, 0.7}}) {
    Windows w(control);
    w.sender.on_ack(1, 1_ms, true);
    EXPECT_DOUBLE_EQ(w.sender.window(), 99 * factor) << "99 in flight";
    EXPECT_TRUE(w.sender.take_reduced());
    EXPECT_FALSE(w.sender.take_reduced());
    w.sender.on_ack(50, 1_ms, true);
    EXPECT_DOUBLE_EQ(w.sender.window(), 99 * factor);
    w.sender.on_ack(100, 1_ms, true);
    EXPECT_DOUBLE_EQ(w.sender.window(), 99 * factor) << "the last that left before the cut";
    w.fill();
    w.sender.on_ack(101, 1_ms, true);
    EXPECT_LT(w.sender.window(), 99 * factor) << "marked although the window was cut";
  }
}

}  // namespace
}  // namespace fabricast::packet
