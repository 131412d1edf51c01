#include <algorithm>

#include <gtest/gtest.h>

#include "fixtures.h"

namespace fabricast::packet {
namespace {

using namespace testing;

// One core handles a segment of 8948 bytes in 800 ns + 894.8 ns: 42.2 Gb/s, the figure that Cai et
// al. (SIGCOMM 2021) measured for one core with all offloads.
TEST(TcpHost, OneStreamIsLimitedByItsCore) {
  auto network = network_on(one_switch(2), tcp());
  const Time time = completion_times(*network, {{0, 1, Bytes(200'000'000)}}).front();
  const double expected = 8948 * 8 / (800 + 894.8);
  EXPECT_NEAR(base::rate_of(Bytes(200'000'000), time).gbps() / expected, 1.0, 0.02);
}

TEST(TcpHost, MoreStreamsOnMoreCoresScaleUntilTheLinkIsFull) {
  FabricProfile profile = tcp();
  const auto gbps = [&](int n) {
    profile.tcp.streams_per_connection = n;
    profile.tcp.cores_per_nic = n;
    auto network = network_on(one_switch(2), profile);
    const Bytes size(400'000'000);
    return base::rate_of(size, completion_times(*network, {{0, 1, size}}).front()).gbps();
  };
  EXPECT_NEAR(gbps(2), 2 * 42.2, 2);
  EXPECT_NEAR(gbps(8), 200.0 * 8948 / 9038, 6);
}

// The busy time of the two cores of a transfer is its segments times the cost of one.
TEST(TcpHost, ReportsTheCpuTimeOfBothSides) {
  auto network = network_on(one_switch(2), tcp());
  completion_times(*network, {{0, 1, Bytes(8948 * 10'000)}});
  EXPECT_NEAR(network->counters().cpu_busy.us(), 2 * 10'000 * (0.8 + 0.8948), 10);
}

TEST(TcpHost, SmallMessageTakesAnInterruptAndTheStackOnBothSides) {
  auto network = network_on(one_switch(2), tcp());
  const Time time = completion_times(*network, {{0, 1, 8_B}}).front();
  const double stacks = 2 * (0.8 + 0.0008);
  const double wire = 2 * 0.150 + 0.300 + (64 + 98) * 40e-6;
  EXPECT_NEAR(time.us(), 0.6 + stacks + 10 + wire, 0.01);
}

// RFC 1122, 4.2.3.2, with Linux's 40 ms: a window of fewer segments than the receiver waits for
// draws its acknowledgement from the timer, not from a retransmission.
TEST(TcpHost, AcknowledgesAfter40MillisecondsAtTheLatest) {
  FabricProfile profile = tcp();
  profile.transport.ack_every = 1000;
  auto network = network_on(one_switch(2), profile);
  const Time time = completion_times(*network, {{0, 1, Bytes(8948 * 15)}}).front();
  EXPECT_EQ(network->counters().retransmitted_packets, 0U);
  EXPECT_GT(time, 40_ms);
  EXPECT_LT(time, 41_ms);
}

TEST(TcpLoss, TailDropLosesSegmentsOfAnIncastAndAllBytesStillArrive) {
  FabricProfile profile = tcp();
  profile.switching.buffer = Bytes(1'000'000);
  profile.tcp.cores_per_nic = 8;
  profile.tcp.streams_per_connection = 4;
  profile.tcp.minimum_rto = 5_ms;
  auto network = network_on(one_switch(9), profile);
  completion_times(*network, incast(8, 8_MiB));
  const auto counters = network->counters();
  EXPECT_GT(counters.dropped_packets, 0U);
  EXPECT_GT(counters.retransmitted_packets, 0U);
  EXPECT_EQ(counters.bytes_delivered, 8 * (8_MiB).count());
  EXPECT_EQ(counters.pause_frames, 0U);
  // alpha = 1: one queue takes half of the buffer, give or take half a packet.
  EXPECT_LE(counters.max_queue_bytes, 500'000 + 9038 / 2);
}

// The timer begins with a second (RFC 6298, 2.1) and is 200 ms once a round trip is known: a lost
// tail costs the latter also when the former was armed before.
TEST(TcpLoss, ALostTailCostsTheTimerOfTheMeasuredRoundTrip) {
  int losses = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    auto network =
        network_on(one_switch(2), tcp(), seed, {.drop_probability = 0.02, .schedule = {}});
    const Time time = completion_times(*network, {{0, 1, Bytes(8948 * 20)}}).front();
    if (network->counters().timeouts != 1) continue;
    ++losses;
    EXPECT_GT(time, 200_ms);
    EXPECT_LT(time, 250_ms);  // and perhaps a delayed acknowledgement's 40 ms
  }
  EXPECT_GT(losses, 2);
}

// Every loss costs NewReno a round trip of its own once several fall into one window.
TEST(TcpLoss, SackBringsMoreThroughALossyLinkThanNewReno) {
  FabricProfile profile = tcp();
  profile.tcp.minimum_rto = 5_ms;
  profile.tcp.cpu_per_packet = 10_ns;
  profile.tcp.cpu_ns_per_byte = 0;
  const auto finished = [&](bool sack) {
    profile.tcp.sack = sack;
    Time sum;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      auto network =
          network_on(one_switch(2), profile, seed, {.drop_probability = 0.02, .schedule = {}});
      sum += completion_times(*network, {{0, 1, 64_MiB}}).front();
    }
    return sum;
  };
  EXPECT_LT(finished(true), finished(false));
}

TEST(TcpLoss, EndsAlsoOnALinkThatCorruptsOnePacketInFifty) {
  FabricProfile profile = tcp();
  profile.tcp.minimum_rto = 5_ms;
  auto network = network_on(one_switch(2), profile, 2, {.drop_probability = 0.02, .schedule = {}});
  completion_times(*network, std::vector<Flow>(20, Flow{0, 1, 1_MiB}));
  EXPECT_EQ(network->counters().bytes_delivered, 20 * (1_MiB).count());
}

}  // namespace
}  // namespace fabricast::packet
