// Expected values follow algorithm 1 of Li et al., SIGCOMM 2019, worked by hand.

#include "packet/hpcc.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "endless.h"

namespace fabricast::packet {
namespace {

using namespace testing;

/// A path of one link of 100 Gb/s and 10 us: B x T = 125,000 bytes.
class HpccEquations : public ::testing::Test {
 protected:
  void SetUp() override { sender_.initialise(p_, {100_gbps, 10_us}); }

  /// The next acknowledgement finds that the link sent `utilisation` of what it could in 1 us.
  void acknowledge(double utilisation, std::uint32_t queued, bool new_round) {
    hop_.time_ps += 1'000'000;
    hop_.sent_bytes += static_cast<std::int64_t>(12'500 * utilisation);
    hop_.queued_bytes = queued;
    RdmaAck ack;
    ack.unacked = new_round ? ++round_ * 100 : round_ * 100;
    ack.next = round_ * 100 + 99;
    ack.hops = {&hop_, 1};
    sender_.on_ack(p_, ack);
  }

  const FabricProfile::Hpcc p_;
  Hpcc sender_;
  IntHop hop_{.time_ps = 1'000'000, .sent_bytes = 0, .rate_bps = 100'000'000'000};
  std::uint32_t round_ = 0;
};

TEST_F(HpccEquations, StartAtLineRateWithAWindowOfRateTimesBaseRoundTrip) {
  EXPECT_FALSE(sender_.limited());
  EXPECT_DOUBLE_EQ(sender_.window(), 125'000);
  acknowledge(1, 50'000, true);
  EXPECT_DOUBLE_EQ(sender_.window(), 125'000) << "one record alone says nothing";
}

// Lines 4 to 10: u' = min(qlen)/(B T) + txRate/B; U = (1 - tau/T) U + tau/T u, from U = 1.
TEST_F(HpccEquations, AverageTheUtilisationOverTheBaseRoundTrip) {
  acknowledge(1, 50'000, true);
  acknowledge(1, 25'000, true);
  EXPECT_NEAR(sender_.utilisation(), 0.9 * 1 + 0.1 * (25'000 / 125'000.0 + 1), 1e-12);
  acknowledge(0.5, 60'000, true);
  EXPECT_NEAR(sender_.utilisation(), 0.9 * 1.02 + 0.1 * (25'000 / 125'000.0 + 0.5), 1e-12)
      << "the shorter of the two queues";
}

// Lines 12 to 14: W = W^c / (U / eta) + W_AI; R = W / T.
TEST_F(HpccEquations, CutTheWindowInProportionToTheExcess) {
  acknowledge(1, 25'000, true);
  acknowledge(1, 25'000, true);
  const double window = 125'000 * 0.95 / 1.02 + 80;
  EXPECT_NEAR(sender_.window(), window, 1e-6);
  EXPECT_NEAR(sender_.rate_bps(), window * 8 / 10e-6, 1);
  EXPECT_TRUE(sender_.limited());
}

// Lines 24 to 27: within a round trip every acknowledgement starts from the same W^c, so that one
// episode of congestion is answered once.
TEST_F(HpccEquations, CompareWithTheReferenceWindowOfTheRoundTrip) {
  acknowledge(1, 25'000, true);
  acknowledge(1, 25'000, true);
  const double reference = sender_.reference_window();
  for (int i = 0; i < 5; ++i) acknowledge(1, 25'000, false);
  EXPECT_DOUBLE_EQ(sender_.reference_window(), reference);
  EXPECT_NEAR(sender_.window(), reference * 0.95 / sender_.utilisation() + 80, 1e-6);
  acknowledge(1, 25'000, true);
  EXPECT_DOUBLE_EQ(sender_.reference_window(), sender_.window());
}

// Lines 16 to 19: below eta the window grows by W_AI, maxStage = 5 rounds long; then it jumps.
TEST_F(HpccEquations, GrowByWaiForFiveRoundsAndThenToTheTarget) {
  acknowledge(1, 500'000, true);
  for (int i = 0; i < 10; ++i) acknowledge(1, 500'000, true);
  ASSERT_LT(sender_.window(), 50'000);
  while (sender_.utilisation() >= 0.95) acknowledge(0.3, 0, false);
  acknowledge(0.3, 0, true);
  EXPECT_EQ(sender_.stage(), 1);
  for (int stage = 2; stage <= 5; ++stage) {
    const double before = sender_.window();
    acknowledge(0.3, 0, true);
    EXPECT_EQ(sender_.stage(), stage);
    EXPECT_DOUBLE_EQ(sender_.window(), before + 80);
  }
  const double before = sender_.window();
  acknowledge(0.3, 0, true);
  EXPECT_EQ(sender_.stage(), 0);
  EXPECT_NEAR(sender_.window(), before * 0.95 / sender_.utilisation() + 80, 1e-6);
}

TEST_F(HpccEquations, FollowTheBusiestLink) {
  std::array<IntHop, 2> hops{hop_, hop_};
  hops[1].rate_bps = 50'000'000'000;
  hops[1].port = 1;
  RdmaAck ack;
  for (int i = 0; i < 2; ++i) {
    for (IntHop& hop : hops) {
      hop.time_ps += 2'000'000;
      hop.sent_bytes += 12'500;
    }
    ack.hops = hops;
    sender_.on_ack(p_, ack);
  }
  EXPECT_NEAR(sender_.utilisation(), 0.8 * 1 + 0.2 * 1.0, 1e-12) << "50 Gb/s used in full";
}

TEST_F(HpccEquations, ForgetTheRecordsOfAnotherPath) {
  acknowledge(1, 25'000, true);
  hop_.port = 7;
  acknowledge(0, 500'000, true);
  EXPECT_DOUBLE_EQ(sender_.utilisation(), 1);
  EXPECT_DOUBLE_EQ(sender_.window(), 125'000);
}

TEST_F(HpccEquations, KeepToTheLowestRate) {
  for (int i = 0; i < 200; ++i) acknowledge(1, 5'000'000, true);
  EXPECT_NEAR(sender_.rate_bps(), 100e6, 1);
}

FabricProfile hpcc() {
  FabricProfile p = roce();
  p.link.mtu = 1024_B;
  p.ecn.enabled = false;
  p.congestion.control = catalog::RdmaCongestionControl::kHpcc;
  return p;
}

/// 100 Gb/s and cables of 1 us, as in section 5.1 of the paper.
std::shared_ptr<const fabric::Fabric> pod(int nodes) {
  fabric::TopologySpec spec = topology(fabric::TopologyKind::kSingleSwitch, nodes);
  spec.nic_rate = spec.switch_rate = 100_gbps;
  spec.cable_m = 200;
  return std::make_shared<const fabric::Fabric>(fabric::build(spec));
}

class HpccIncast : public ::testing::TestWithParam<std::uint32_t> {};

// Figures 9 and 11 of the paper: after convergence flows share the bottleneck evenly, eta of it is
// used, and its queue is near zero: below 10 KB at the 95th percentile here (1.7 KB and 4.8 KB
// seen), where rate times base round trip is 64 KB. W = W^c eta/U + W_AI stands still at U = eta
// W/(W - W_AI), which for n flows is n W_AI / (B T) above eta: 0.25 % for two and 2 % for sixteen.
TEST_P(HpccIncast, ConvergesToEvenSharesOfEtaWithHardlyAQueue) {
  const std::uint32_t n = GetParam();
  const FabricProfile profile = hpcc();
  const auto fabric = pod(static_cast<int>(n) + 2);
  const Time idle = completion_times(*network_on(fabric, profile), {{n + 1, 0, 1_B}}).front();
  Endless flows(network_on(fabric, profile), many_to_one(n));
  flows.rates(4_ms);
  std::vector<Time> waits;
  const std::vector<double> rates = flows.rates(4_ms, n + 1, 5_us, &waits);
  const double used = sum(rates) / 100 * (1024 + 82 + 42) / 1024;
  std::vector<double> queue = queues(waits, idle, 100_gbps);
  std::sort(queue.begin(), queue.end());
  const double high = queue[queue.size() * 95 / 100];
  EXPECT_GT(jain(rates), 0.95);
  EXPECT_GT(used, 0.93);
  EXPECT_LT(used, 0.98);
  EXPECT_LT(high, 10'000);
  EXPECT_EQ(flows.network->counters().pause_frames, 0U);
}

// A window that shrinks while packets are under way must not wait for an acknowledgement that
// coalescing holds back: nothing but the timeout would end that.
TEST(HpccInNetwork, AsksForEveryAcknowledgementHoweverFewTheReceiverSends) {
  FabricProfile profile = hpcc();
  profile.transport.ack_every = 64;
  auto network = network_on(pod(17), profile);
  completion_times(*network, incast(16, 1_MiB));
  EXPECT_EQ(network->counters().timeouts, 0U);
}

INSTANTIATE_TEST_SUITE_P(Senders, HpccIncast, ::testing::Values(2, 16));

}  // namespace
}  // namespace fabricast::packet
