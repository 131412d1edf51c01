#include <algorithm>

#include <gtest/gtest.h>

#include "base/error.h"
#include "fixtures.h"

namespace fabricast::packet {
namespace {

using namespace testing;

FabricProfile without_dcqcn() {
  FabricProfile p = roce();
  p.ecn.enabled = false;
  p.congestion.control = catalog::RdmaCongestionControl::kNone;
  return p;
}

Time last(const std::vector<Time>& done) {
  return *std::max_element(done.begin(), done.end());
}

TEST(Pfc, KeepsAnIncastLossless) {
  FabricProfile profile = without_dcqcn();
  profile.switching.buffer = Bytes(2'000'000);
  auto network = network_on(one_switch(17), profile);
  const auto done = completion_times(*network, incast(16, 2_MiB));
  const auto counters = network->counters();
  EXPECT_GT(counters.pause_frames, 0U);
  EXPECT_GT(counters.paused, 1_us);
  EXPECT_EQ(counters.dropped_packets, 0U);
  EXPECT_EQ(counters.retransmitted_packets, 0U);
  const Time all = base::transmission_time(32_MiB, 200_gbps) * 4178 / 4096;
  EXPECT_NEAR(last(done) / all, 1.0, 0.01) << "the receiver's link never idles";
}

TEST(Pfc, NeverActsWhileTheNetworkIsNotCongested) {
  auto network = network_on(one_switch(4), without_dcqcn());
  completion_times(*network, {{0, 1, 16_MiB}, {2, 3, 16_MiB}});
  EXPECT_EQ(network->counters().pause_frames, 0U);
}

// Head-of-line blocking: PFC holds the whole class of an ingress, so a flow from a paused sender to
// an idle receiver is slowed.
TEST(Pfc, HoldsAVictimThatSharesAPausedIngress) {
  FabricProfile profile = without_dcqcn();
  profile.switching.buffer = Bytes(2'000'000);
  auto alone = network_on(one_switch(20), profile);
  const Time one = completion_times(*alone, {{1, 18, 2_MiB}}).front();
  auto network = network_on(one_switch(20), profile);
  std::vector<Flow> flows = incast(16, 2_MiB);
  flows.push_back({1, 18, 2_MiB});
  EXPECT_GT(completion_times(*network, flows).back() / one, 3.0);
}

TEST(GoBackN, DeliversEverythingWhenALossySwitchDrops) {
  FabricProfile profile = without_dcqcn();
  profile.pfc.enabled = false;
  profile.switching.buffer = Bytes(500'000);
  profile.transport.window = Bytes(1'000'000);
  auto network = network_on(one_switch(9), profile);
  completion_times(*network, incast(8, 1_MiB));
  const auto counters = network->counters();
  EXPECT_GT(counters.dropped_packets, 0U);
  EXPECT_GT(counters.retransmitted_packets, counters.dropped_packets)
      << "going back resends what had arrived, too";
  EXPECT_EQ(counters.bytes_delivered, (8_MiB).count());
}

class Recovery : public ::testing::TestWithParam<catalog::LossRecovery> {};

TEST_P(Recovery, EndsEveryLossOnALinkThatCorruptsOnePacketInAHundred) {
  FabricProfile profile = without_dcqcn();
  profile.transport.recovery = GetParam();
  auto network = network_on(one_switch(2), profile, 3, {.drop_probability = 0.01, .schedule = {}});
  completion_times(*network, std::vector<Flow>(50, Flow{0, 1, 256_KiB}));
  const auto counters = network->counters();
  EXPECT_GT(counters.dropped_packets, 10U);
  EXPECT_EQ(counters.bytes_delivered, 50 * (256_KiB).count());
}

INSTANTIATE_TEST_SUITE_P(All, Recovery,
                         ::testing::Values(catalog::LossRecovery::kGoBackN,
                                           catalog::LossRecovery::kSelectiveRepeat,
                                           catalog::LossRecovery::kOutOfOrder));

TEST(SelectiveRepeat, ResendsFarLessThanGoBackN) {
  FabricProfile profile = without_dcqcn();
  const auto resent = [&](catalog::LossRecovery recovery) {
    profile.transport.recovery = recovery;
    auto network =
        network_on(one_switch(2), profile, 3, {.drop_probability = 0.002, .schedule = {}});
    completion_times(*network, {{0, 1, 16_MiB}});
    return network->counters().retransmitted_packets;
  };
  EXPECT_LT(resent(catalog::LossRecovery::kSelectiveRepeat) * 3,
            resent(catalog::LossRecovery::kGoBackN));
}

/// One switch and cables of 5 us.
std::shared_ptr<const fabric::Fabric> long_cables() {
  fabric::TopologySpec spec = topology(fabric::TopologyKind::kSingleSwitch, 5);
  spec.cable_m = 1000;
  return std::make_shared<const fabric::Fabric>(fabric::build(spec));
}

// IRN (Mittal et al., SIGCOMM 2018, section 3.1): whatever a burst has lost comes again within one
// round trip, as long as its last packet has arrived and none is lost twice.
TEST(SelectiveRepeat, BringsAllLossesOfABurstBackInOneRoundTrip) {
  const auto fabric = long_cables();
  FabricProfile profile = without_dcqcn();
  profile.transport.recovery = catalog::LossRecovery::kSelectiveRepeat;
  const std::vector<Flow> burst = {{0, 1, 4096_B * 100}};
  const Time idle = completion_times(*network_on(fabric, profile), burst).front();
  const Time round_trip = (5_us + profile.link.phy) * 4 + profile.switching.latency * 2;
  int repaired = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    auto network = network_on(fabric, profile, seed, {.drop_probability = 0.05, .schedule = {}});
    const Time time = completion_times(*network, burst).front();
    const auto counters = network->counters();
    if (counters.timeouts > 0 || counters.dropped_packets < 2) continue;
    EXPECT_EQ(counters.retransmitted_packets, counters.dropped_packets);
    EXPECT_LT(time, idle + round_trip + 1_us) << counters.dropped_packets << " lost";
    ++repaired;
  }
  EXPECT_GT(repaired, 20);
}

// A single packet has nothing behind it that could show the gap: only the timer, 4.096 us * 2^10,
// brings it back.
TEST(Timeout, BringsBackALostLastPacketAfter4096NanosecondsTimesTwoToTheT) {
  FabricProfile profile = without_dcqcn();
  std::uint64_t seed = 1;
  Time time;
  std::uint64_t timeouts = 0;
  for (; seed < 100 && timeouts != 1; ++seed) {
    auto network =
        network_on(one_switch(2), profile, seed, {.drop_probability = 0.5, .schedule = {}});
    time = completion_times(*network, {{0, 1, 8_B}}).front();
    timeouts = network->counters().timeouts;
  }
  ASSERT_EQ(timeouts, 1U);
  const Time timeout = Time::picoseconds(4'096'000) * 1024;
  EXPECT_GT(time, timeout);
  EXPECT_LT(time, timeout + 3_us);
}

// 4.096 us are shorter than the round trip of a long cable: every packet is sent again although
// none is lost, and acknowledgements overtake the second sending.
TEST(Timeout, ShorterThanTheRoundTripOnlyWastesPackets) {
  const auto fabric = long_cables();
  for (const auto recovery :
       {catalog::LossRecovery::kGoBackN, catalog::LossRecovery::kSelectiveRepeat}) {
    FabricProfile profile = without_dcqcn();
    profile.transport.timeout_exponent = 0;
    profile.transport.ack_every = 1000;  // only the end of a message is acknowledged
    profile.transport.recovery = recovery;
    auto network = network_on(fabric, profile);
    for (std::int64_t kib = 8; kib <= 256; kib += 8) {  // one message each, so that pairs run empty
      std::vector<Flow> flows;
      for (std::uint32_t to = 1; to <= 4; ++to) flows.push_back({0, to, Bytes(kib << 10)});
      completion_times(*network, flows);
    }
    EXPECT_EQ(network->counters().bytes_delivered, network->counters().bytes_sent);
    EXPECT_GT(network->counters().timeouts, 0U);
  }
}

// IBTA 9.7.5: the AckReq bit. A sender whose window is shorter than the receiver's stride between
// acknowledgements asks for one; throughput is the window over the round trip, not over the
// timeout.
// One packet to a host that sends little to one that many send to: its acknowledgement meets their
// queue, or goes past it.
TEST(Acknowledgement, WaitsInTheClassOfItsDataUnlessAcknowledgementsGoFirst) {
  const auto acknowledged = [](bool first, std::uint32_t others) {
    FabricProfile p = roce();
    p.congestion.control = catalog::RdmaCongestionControl::kNone;
    p.transport.acks_first = first;
    auto network = network_on(one_switch(8), p);
    for (std::uint32_t i = 2; i < 2 + others; ++i) {
      network->send(Rank(i), Rank(0), 1_MiB, {}, [](Time) {});
    }
    Time done;
    network->at(30_us, [&](Time begin) {
      network->send(Rank(0), Rank(1), 4096_B, {.completion = network::Completion::kAcknowledged},
                    [&done, begin](Time now) { done = now - begin; });
    });
    network->run();
    return done;
  };
  const Time alone = acknowledged(false, 0);
  const Time packet = base::transmission_time(4178_B, 200_gbps);
  EXPECT_GT(acknowledged(false, 4), alone + 100 * packet);
  EXPECT_LE(acknowledged(true, 4), alone + packet);
  EXPECT_EQ(acknowledged(true, 0), alone);
}

TEST(Window, ThatIsUsedUpAsksForAnAcknowledgement) {
  FabricProfile profile = without_dcqcn();
  profile.transport.ack_every = 64;
  profile.transport.window = 8_KiB;
  auto network = network_on(one_switch(2), profile);
  const Time time = completion_times(*network, {{0, 1, 1_MiB}}).front();
  const Time round_trip = (150_ns * 2 + 300_ns) * 2 + 500_ns;
  EXPECT_EQ(network->counters().timeouts, 0U);
  EXPECT_NEAR(time / (round_trip * 128), 1.0, 0.15);
}

TEST(Timeout, GivesUpAfterSevenRetriesWithAnErrorInsteadOfHanging) {
  auto network =
      network_on(one_switch(2), without_dcqcn(), 1, {.drop_probability = 1.0, .schedule = {}});
  EXPECT_THROW(completion_times(*network, {{0, 1, 8_B}}), base::Error);
}

// Zhu et al., SIGCOMM 2015: with their settings (40 Gb/s, Kmin 5 KB, Kmax 200 KB, Pmax 1 %) flows
// that share a bottleneck converge to equal rates and keep the link busy.
TEST(DcqcnInNetwork, SharesABottleneckFairlyWithTheSettingsOfItsPaper) {
  fabric::TopologySpec spec = topology(fabric::TopologyKind::kSingleSwitch, 5);
  spec.nic_rate = spec.switch_rate = 40_gbps;
  const auto fabric = std::make_shared<const fabric::Fabric>(fabric::build(spec));
  FabricProfile profile = roce();
  profile.link.mtu = 1024_B;
  profile.switching.buffer = Bytes(12'000'000);
  profile.ecn.kmin = 5_KiB;
  profile.ecn.kmax = 200_KiB;
  profile.ecn.pmax = 0.01;
  auto network = network_on(fabric, profile);
  const auto done = completion_times(*network, incast(4, 128_MiB));
  EXPECT_NEAR(*std::min_element(done.begin(), done.end()) / last(done), 1.0, 0.1);
  const Time line_rate = base::transmission_time(512_MiB, 40_gbps) * 1106 / 1024;
  EXPECT_LT(last(done) / line_rate, 1.1);
  EXPECT_EQ(network->counters().pause_frames, 0U);
  EXPECT_GT(network->counters().cnps, 100U);
}

// The purpose of DCQCN: rate control at the senders leaves PFC little to do.
TEST(DcqcnInNetwork, SparesMostPauseFramesOfALongIncast) {
  FabricProfile with = roce();
  with.switching.buffer = Bytes(6'000'000);
  FabricProfile without = without_dcqcn();
  without.switching.buffer = with.switching.buffer;
  auto a = network_on(one_switch(9), with);
  auto b = network_on(one_switch(9), without);
  completion_times(*a, incast(8, 16_MiB));
  completion_times(*b, incast(8, 16_MiB));
  EXPECT_LT(a->counters().pause_frames * 2, b->counters().pause_frames);
  EXPECT_EQ(a->counters().dropped_packets, 0U);
}

// A flow cut to almost nothing must not sleep through its own recovery: at 1 Mb/s the gap behind a
// full packet is 33 ms, but the increase timer raises the rate after 300 us.
TEST(DcqcnInNetwork, WakesAPacedFlowWhenItsRateRises) {
  FabricProfile profile = roce();
  profile.ecn.kmin = 8_KiB;
  profile.ecn.kmax = 16_KiB;
  profile.ecn.pmax = 1;
  profile.dcqcn.cnp_interval = 4_us;
  profile.dcqcn.increase_timer = 300_us;
  profile.dcqcn.fast_recovery_steps = 1;
  profile.dcqcn.clamp_target = false;
  profile.dcqcn.minimum_rate = 1_mbps;
  auto network = network_on(one_switch(9), profile);
  EXPECT_LT(last(completion_times(*network, incast(8, 1_MiB))), 3_ms);
}

TEST(Ecmp, ThatHashesTwoFlowsToOneUplinkHalvesThem) {
  const std::uint32_t n = 16;
  std::vector<Flow> flows;
  for (std::uint32_t i = 0; i < n; ++i) flows.push_back({i, (i + n / 2) % n, 4_MiB});
  auto alone = network_on(leaf_spine(n, 8), without_dcqcn());
  const Time one = completion_times(*alone, {flows.front()}).front();
  auto together = network_on(leaf_spine(n, 8), without_dcqcn());
  const auto done = completion_times(*together, flows);
  // 8 flows on 8 uplinks per leaf: the chance of no collision is 8!/8^8 = 0.24 %.
  EXPECT_GT(last(done) / one, 1.8);
}

TEST(Ecmp, WithMoreQueuePairsPerConnectionSpreadsMessagesOverPaths) {
  const std::uint32_t n = 16;
  std::vector<Flow> flows;
  for (std::uint32_t i = 0; i < n; ++i) {
    for (int k = 0; k < 64; ++k) flows.push_back({i, (i + n / 2) % n, 128_KiB});
  }
  FabricProfile profile = without_dcqcn();
  auto one = network_on(leaf_spine(n, 8), profile);
  const Time single = last(completion_times(*one, flows));
  profile.paths.qps_per_connection = 8;
  auto many = network_on(leaf_spine(n, 8), profile);
  EXPECT_LT(last(completion_times(*many, flows)) / single, 0.85);
}

TEST(Ecmp, KeepsThePathOfAConnectionForTheLifeOfTheJob) {
  const auto fabric = leaf_spine(16, 8);
  auto first = network_on(fabric, without_dcqcn(), 5);
  auto second = network_on(fabric, without_dcqcn(), 5);
  const std::vector<Flow> flows{{0, 9, 1_MiB}, {1, 10, 1_MiB}, {2, 11, 1_MiB}, {3, 12, 1_MiB}};
  const std::vector<Flow> reversed(flows.rbegin(), flows.rend());
  auto a = completion_times(*first, flows);
  auto b = completion_times(*second, reversed);
  std::reverse(b.begin(), b.end());
  EXPECT_EQ(a, b) << "the order in which connections are made does not matter";
}

TEST(AdaptiveRouting, WithOutOfOrderPlacementCarriesAPermutationAtNearlyFullRate) {
  const std::uint32_t n = 16;
  std::vector<Flow> flows;
  for (std::uint32_t i = 0; i < n; ++i) flows.push_back({i, (i + n / 2) % n, 4_MiB});
  FabricProfile profile = without_dcqcn();
  profile.paths.routing = catalog::Routing::kAdaptive;
  profile.transport.recovery = catalog::LossRecovery::kOutOfOrder;
  auto alone = network_on(leaf_spine(n, 8), profile);
  const Time one = completion_times(*alone, {flows.front()}).front();
  auto network = network_on(leaf_spine(n, 8), profile);
  EXPECT_LT(last(completion_times(*network, flows)) / one, 1.1);
  EXPECT_EQ(network->counters().retransmitted_packets, 0U);
}

// Routing and tolerance of reordering are one choice: with go-back-N the same routing resends.
TEST(AdaptiveRouting, WithGoBackNResendsWhatOvertookItself) {
  const std::uint32_t n = 16;
  std::vector<Flow> flows;
  for (std::uint32_t i = 0; i < n; ++i) flows.push_back({i, (i + n / 2) % n, 4_MiB});
  FabricProfile profile = without_dcqcn();
  profile.paths.routing = catalog::Routing::kAdaptive;
  auto network = network_on(leaf_spine(n, 8), profile);
  completion_times(*network, flows);
  EXPECT_GT(network->counters().retransmitted_packets, 0U);
}

FabricProfile roce_v1() {
  FabricProfile p = roce();
  p.kind = FabricKind::kRoceV1;
  p.id = p.name = "roce-v1";
  p.link.header = 94_B;
  p.link.ack = 98_B;
  p.ecn.enabled = false;
  p.congestion.control = catalog::RdmaCongestionControl::kNone;
  p.paths.routing = catalog::Routing::kSpanningTree;
  return p;
}

// Four adapters of a leaf to four of the other one: 200 Gb/s for all on the one link of the tree.
// The wire carries 94 bytes besides each 4096.
TEST(RoceV1, SharesTheOneLinkThatASpanningTreeLeavesALeaf) {
  auto network = network_on(leaf_spine(8, 4), roce_v1());
  const auto done =
      completion_times(*network, {{0, 4, 8_MiB}, {1, 5, 8_MiB}, {2, 6, 8_MiB}, {3, 7, 8_MiB}});
  const double share = 200.0 / 4 * 4096 / (4096 + 94);
  for (const Time t : done) EXPECT_NEAR(base::rate_of(8_MiB, t).gbps(), share, 0.02 * share);
  EXPECT_EQ(network->counters().dropped_packets, 0U);
  EXPECT_GT(network->counters().pause_frames, 0U) << "PFC is all that holds the senders";
  EXPECT_EQ(network->counters().ecn_marked_packets, 0U);
  EXPECT_EQ(network->counters().cnps, 0U);
}

TEST(RoceV1, UnderOneSwitchDiffersFromV2ByItsHeaderAlone) {
  const auto time = [](const FabricProfile& p) {
    auto network = network_on(one_switch(2), p);
    return completion_times(*network, {{0, 1, 8_MiB}}).front();
  };
  // 12 bytes more in each of 2048 packets.
  EXPECT_EQ(time(roce_v1()) - time(roce()), base::transmission_time(Bytes(12 * 2048), 200_gbps));
}

}  // namespace
}  // namespace fabricast::packet
