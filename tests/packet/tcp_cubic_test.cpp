#include <cmath>

#include <gtest/gtest.h>

#include "packet/tcp_sender.h"

namespace fabricast::packet {
namespace {

using base::Time;
using namespace base::literals;
using catalog::TcpCongestionControl;

/// A CUBIC sender on a wire that only takes time: every segment is acknowledged one round trip
/// after it left, except that one can be lost.
class CubicSender {
 public:
  CubicSender(int window, Time round_trip) : round_trip_(round_trip) {
    sender.initialise({window, 1'000'000, 200_ms, TcpCongestionControl::kCubic});
    sender.enqueue(100'000'000);
    fill();
  }

  /// One round trip: what is in flight is acknowledged, and as the window allows more follows.
  void round() {
    now += round_trip_;
    const std::uint32_t end = sender.next_sequence();
    for (std::uint32_t s = sender.unacked() + 1; s <= end; ++s) {
      sender.on_ack(s, now);
      fill();
    }
  }

  /// The oldest segment in flight is lost; the round trip that finds it and the one that repairs.
  void lose_one() {
    now += round_trip_;
    const std::uint32_t oldest = sender.unacked();
    const std::uint32_t end = sender.next_sequence();
    for (std::uint32_t s = oldest + 1; s < end; ++s) sender.on_ack(oldest, now);
    fill();
    now += round_trip_;
    sender.on_ack(sender.next_sequence(), now);
    fill();
  }

  void fill() {
    std::uint32_t sequence = 0;
    while (sender.next(&sequence)) sender.sent(sequence, now);
  }
  const Cubic& cubic() const { return sender.congestion().as<Cubic>(); }

  TcpSender sender;
  Time now;

 private:
  Time round_trip_;
};

// RFC 9438, 4.6.
TEST(Cubic, CutsToSevenTenths) {
  CubicSender wire(1000, 100_ms);
  wire.lose_one();
  EXPECT_DOUBLE_EQ(wire.sender.window(), 700);
  EXPECT_DOUBLE_EQ(wire.sender.threshold(), 700);
  EXPECT_DOUBLE_EQ(wire.cubic().w_max(), 1000);
}

// RFC 9438, figures 1 and 2: K = cbrt(300 / 0.4) = 9.09 s, and W(t) = C (t - K)^3 + W_max while t
// goes from the concave region over the plateau into the convex one. At 100 ms a round trip Reno
// would have gained 5.3 segments per second, so that this is no Reno-friendly region.
TEST(Cubic, FollowsTheCubicFunctionAfterALoss) {
  CubicSender wire(1000, 100_ms);
  wire.lose_one();
  wire.round();  // the epoch begins with its first acknowledgement
  const Time epoch = wire.now;
  const double k = std::cbrt(1000 * (1 - 0.7) / 0.4);
  EXPECT_NEAR(wire.cubic().k(), k, 1e-9);
  double last = wire.sender.window();
  for (int i = 0; i < 150; ++i) {
    wire.round();
    const double t = (wire.now - epoch).s();
    EXPECT_NEAR(wire.sender.window() / (0.4 * std::pow(t - k, 3) + 1000), 1, 0.02) << t << " s";
    EXPECT_GE(wire.sender.window(), last);
    last = wire.sender.window();
  }
  EXPECT_GT(last, 1050) << "15 s: well into the convex region";
}

// RFC 9438, 4.7: a loss below the former W_max takes (1 + beta) / 2 of the window as W_max.
TEST(Cubic, ConvergesFastWhenItLosesBelowItsFormerMaximum) {
  CubicSender wire(1000, 100_ms);
  wire.lose_one();
  wire.round();
  wire.round();
  const double window = wire.sender.window();
  ASSERT_LT(window, 1000);
  wire.lose_one();
  EXPECT_NEAR(wire.cubic().w_max(), window * 0.85, 1e-9);
  EXPECT_NEAR(wire.sender.window(), window * 0.7, 1);
}

// RFC 9438, 4.3: on a small product of bandwidth and delay the window grows as Reno's average
// would, alpha = 3 (1 - beta) / (1 + beta) = 0.529 segments per round trip up to the window before
// the loss, and one beyond. At 50 us, K is 4.2 s or 84,000 round trips.
TEST(Cubic, GrowsLikeRenoWhenTheRoundTripIsShort) {
  CubicSender wire(100, 50_us);
  wire.lose_one();
  wire.round();
  const double start = wire.sender.window();
  for (int i = 0; i < 40; ++i) wire.round();
  EXPECT_NEAR(wire.sender.window() - start, 40 * 0.9 / 1.7, 0.02 * 40);
  for (int i = 0; i < 30; ++i) wire.round();
  ASSERT_GT(wire.sender.window(), 101);
  const double beyond = wire.sender.window();
  for (int i = 0; i < 10; ++i) wire.round();
  EXPECT_NEAR(wire.sender.window() - beyond, 10, 0.2);
}

// RFC 9438, 4.8: K = 0 and W_max = the window at which congestion avoidance begins.
TEST(Cubic, StartsOnThePlateauAfterATimeout) {
  CubicSender wire(1000, 100_ms);
  wire.sender.on_timeout();
  EXPECT_DOUBLE_EQ(wire.sender.threshold(), 700);
  wire.fill();
  while (wire.sender.window() < 700) wire.round();
  wire.round();
  EXPECT_DOUBLE_EQ(wire.cubic().k(), 0);
  EXPECT_NEAR(wire.cubic().w_max(), 700, 1);
}

// RFC 9438, 5.8: an idle second does not carry the window up the curve.
TEST(Cubic, DoesNotCountIdleTime) {
  CubicSender wire(1000, 100_ms);
  wire.lose_one();
  Cubic idle = wire.cubic();
  Cubic busy = wire.cubic();
  TcpWindow a{700, 700};
  TcpWindow b{700, 700};
  TcpAck ack;
  ack.newly = 1;
  ack.rtt = 100_ms;
  idle.grow(a, ack);
  busy.grow(b, ack);
  idle.idle(5_s);
  ack.now = 6_s;
  idle.grow(a, ack);
  ack.now = 1_s;
  busy.grow(b, ack);
  EXPECT_DOUBLE_EQ(a.size, b.size);
}

}  // namespace
}  // namespace fabricast::packet
