#include <cmath>

#include <gtest/gtest.h>

#include "tcp_wire.h"

namespace fabricast::packet {
namespace {

using base::Time;
using namespace base::literals;
using catalog::TcpCongestionControl;
using testing::TcpWire;

constexpr Time kRoundTrip = 1_ms;

TcpSender::Parameters parameters(bool sack, int window = 64) {
  return {window, 10'000, 200_ms, TcpCongestionControl::kReno, sack};
}

/// Loses `holes` segments of the first window, every second one from the tenth on.
TcpWire::Loss burst(std::uint32_t holes) {
  return [holes](std::uint64_t transmission, std::uint32_t sequence) {
    return transmission <= 64 && sequence >= 10 && sequence % 2 == 0 && sequence < 10 + 2 * holes;
  };
}

// RFC 6582, section 1: NewReno repairs one loss per round trip; RFC 6675 as many as there are
// holes.
TEST(TcpRecovery, SackRepairsABurstOfLossesInOneRoundTripAndNewRenoInOneForEach) {
  const auto recovery = [](bool sack, std::uint32_t holes) {
    TcpWire wire(parameters(sack), kRoundTrip, 1_us);
    wire.sender.enqueue(2000);
    wire.lost = burst(holes);
    while (!wire.sender.recovering()) wire.run(wire.now + 10_us);
    const Time start = wire.now;
    while (wire.sender.recovering()) wire.run(wire.now + 10_us);
    EXPECT_EQ(wire.timeouts, 0);
    EXPECT_EQ(wire.repeats, holes);
    return (wire.now - start) / kRoundTrip;
  };
  EXPECT_NEAR(recovery(true, 10), 1, 0.15);
  EXPECT_NEAR(recovery(false, 10), 10, 1);
}

TEST(TcpRecovery, SendsNothingAgainThatHasArrived) {
  for (const std::uint32_t holes : {1U, 5U, 20U}) {
    TcpWire wire(parameters(true), kRoundTrip, 1_us);
    wire.sender.enqueue(2000);
    wire.lost = burst(holes);
    wire.run(Time::max());
    EXPECT_EQ(wire.repeats, holes);
    EXPECT_EQ(wire.receiver.expected(), 2000U);
  }
}

// RFC 6675, 5, step 4.2: the window after the loss is that of the congestion control, and what is
// under way fits in it.
TEST(TcpRecovery, KeepsThePipeWithinTheHalvedWindow) {
  TcpWire wire(parameters(true), kRoundTrip, 1_us);
  wire.sender.enqueue(2000);
  wire.lost = [](std::uint64_t transmission, std::uint32_t) { return transmission == 11; };
  while (!wire.sender.recovering()) wire.run(wire.now + 1_us);
  EXPECT_NEAR(wire.sender.window(), (64 + 10) / 2.0, 1) << "ten acknowledgements grew it to 74";
  const double window = wire.sender.window();
  while (wire.sender.recovering()) wire.run(wire.now + 10_us);
  EXPECT_DOUBLE_EQ(wire.sender.window(), window);
}

// Nothing follows the last segment that could draw a duplicate.
TEST(TcpRecovery, ALostTailWaitsForTheTimer) {
  TcpWire wire(parameters(true), kRoundTrip, 1_us);
  wire.sender.enqueue(200);
  wire.lost = [](std::uint64_t transmission, std::uint32_t sequence) {
    return sequence == 199 && transmission == 200;
  };
  wire.run(Time::max());
  EXPECT_EQ(wire.timeouts, 1);
  EXPECT_EQ(wire.repeats, 1U);
  EXPECT_GT(wire.now, 200_ms);
  EXPECT_LT(wire.now, 210_ms);
}

// RFC 6675, 4, rule 4: a hole and the tail are lost; the rescue brings back the tail.
TEST(TcpRecovery, RescuesALostTailOnceARecoveryIsUnderWay) {
  TcpWire wire(parameters(true), kRoundTrip, 1_us);
  wire.sender.enqueue(64);
  wire.lost = [](std::uint64_t transmission, std::uint32_t sequence) {
    return transmission <= 64 && (sequence == 30 || sequence == 63);
  };
  wire.run(Time::max());
  EXPECT_EQ(wire.timeouts, 0);
  EXPECT_EQ(wire.repeats, 2U);
  EXPECT_EQ(wire.receiver.expected(), 64U);
}

// RFC 2018 lets a sender forget its scoreboard at a timeout; Linux keeps it, and so do we.
TEST(TcpRecovery, SendsOnlyWhatIsMissingAfterATimeout) {
  TcpWire wire(parameters(true), kRoundTrip, 1_us);
  wire.sender.enqueue(64);
  // 10..19 are lost, and 10 again when it is sent again.
  wire.lost = [copies = 0](std::uint64_t transmission, std::uint32_t sequence) mutable {
    if (sequence == 10) return ++copies <= 2;
    return transmission <= 64 && sequence >= 10 && sequence < 20;
  };
  wire.run(Time::max());
  EXPECT_EQ(wire.timeouts, 1);
  EXPECT_EQ(wire.receiver.expected(), 64U);
  EXPECT_EQ(wire.repeats, 12U) << "the ten, 10 again, and the rescue of the last of the burst";
}

/// Mean window when every n-th segment is lost, in segments: what a round trip delivers, over the
/// second half of `cycles` losses (the first half forgets the slow start).
double mean_window(TcpCongestionControl control, bool sack, std::uint64_t every, Time round_trip,
                   std::uint64_t cycles) {
  TcpWire wire({10, 30'000, 1_s, control, sack}, round_trip, 1_ns);
  wire.sender.enqueue(1'000'000'000);
  wire.lost = [every](std::uint64_t transmission, std::uint32_t) {
    return transmission % every == 0;
  };
  const auto run_to = [&](std::uint64_t transmissions) {
    while (wire.transmissions < transmissions) wire.run(wire.now + round_trip);
  };
  run_to(every * cycles / 2);
  const Time start = wire.now;
  const std::uint32_t before = wire.receiver.expected();
  run_to(every * cycles);
  EXPECT_EQ(wire.timeouts, 0);
  return (wire.receiver.expected() - before) / ((wire.now - start) / round_trip);
}

// Mathis, Semke, Mahdavi and Ott, "The macroscopic behavior of the TCP congestion avoidance
// algorithm", 1997: rate = MSS / RTT sqrt(3/2) / sqrt(p) when every 1/p-th segment is lost and each
// is acknowledged. The derivation leaves out the round trip of each recovery, in which the window
// does not grow, and that whole segments are sent: two segments, whatever the window.
TEST(TcpThroughput, OfRenoIsThatOfMathis) {
  for (const std::uint64_t every : {200U, 1000U, 5000U}) {
    const double mathis = std::sqrt(1.5 * static_cast<double>(every));
    for (const bool sack : {false, true}) {
      EXPECT_NEAR(mean_window(TcpCongestionControl::kReno, sack, every, 10_ms, 400), mathis - 2,
                  0.5)
          << every << (sack ? " SACK" : " NewReno");
    }
  }
}

// RFC 9438, 5: AVG_W = (C (3 + beta) / (4 (1 - beta)))^(1/4) RTT^(3/4) / p^(3/4).
// It supposes that each loss comes exactly at W_max; one that comes a little earlier draws fast
// convergence, which costs a tenth here. Without it the windows of losses alternate about W_max and
// the mean is 15 % above.
TEST(TcpThroughput, OfCubicIsThatOfItsRfc) {
  const auto mean = [](std::uint64_t every) {
    return mean_window(TcpCongestionControl::kCubic, true, every, 100_ms, 80);
  };
  const auto rfc = [](double every) {
    return std::pow(0.4 * 3.7 / (4 * 0.3), 0.25) * std::pow(0.1 * every, 0.75);
  };
  const double low = mean(10'000);
  const double high = mean(100'000);
  EXPECT_NEAR(low / rfc(1e4), 1, 0.12);
  EXPECT_NEAR(high / rfc(1e5), 1, 0.12);
  EXPECT_NEAR(high / low, std::pow(10, 0.75), 0.05 * std::pow(10, 0.75));
}

}  // namespace
}  // namespace fabricast::packet
