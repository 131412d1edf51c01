// Faults, each against the formula of what it does.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "fabric/forwarding.h"
#include "fabric/routes.h"
#include "fixtures.h"

namespace fabricast::packet {
namespace {

using namespace testing;
using fabric::EndpointId;
using fabric::PortId;

FabricProfile without_dcqcn() {
  FabricProfile p = roce();
  p.ecn.enabled = false;
  p.congestion.control = catalog::RdmaCongestionControl::kNone;
  return p;
}

PortId adapter_port(const fabric::Fabric& f, std::uint32_t endpoint) {
  return f.endpoint_port(EndpointId(endpoint));
}

Faults one(Fault::Kind kind, PortId port, Time at, Time duration = Time(), double value = 0) {
  Faults faults;
  faults.schedule.push_back({kind, port, at, duration, false, value});
  return faults;
}

/// The uplink that InfiniBand's tables take from one node's leaf to another node.
PortId uplink(const fabric::Fabric& f, std::uint32_t from, std::uint32_t to) {
  return fabric::route(f, fabric::forwarding(f, fabric::RoutingEngine::kFatTree), EndpointId(from),
                       EndpointId(to))[1];
}

/// Of `bytes` at 200 Gb/s with headers.
Time wire_time(const FabricProfile& p, Bytes bytes) {
  const auto packets = (bytes.count() + p.link.mtu.count() - 1) / p.link.mtu.count();
  return base::transmission_time(bytes + p.link.header * packets, 200_gbps);
}

TEST(LinkDown, OnAStaticRouteLosesTrafficUntilFailover) {
  FabricProfile p = infiniband();
  p.paths.failover = 1_ms;
  p.transport.timeout_exponent = 6;  // 262 us, eight of them are 2.1 ms
  const auto f = leaf_spine(8, 4);
  auto network = network_on(f, p, 1, one(Fault::Kind::kLinkDown, uplink(*f, 0, 4), 100_us));
  const Time done = completion_times(*network, {{0, 4, 16_MiB}}).front();
  const auto counters = network->counters();
  EXPECT_EQ(counters.bytes_delivered, (16_MiB).count());
  EXPECT_GT(counters.dropped_packets, 0U);
  EXPECT_GT(counters.timeouts, 0U);
  // What had arrived by 100 us need not be sent again; a timer that runs out after failover at the
  // latest 262 us later starts the rest.
  const Time rest = wire_time(p, 16_MiB) - 100_us;
  EXPECT_GT(done, 100_us + 1_ms + rest);
  EXPECT_LT(done, 100_us + 1_ms + 263_us + rest + 20_us);
}

TEST(LinkDown, ThatIsShortLosesOnlyWhatWasSentMeanwhile) {
  for (FabricProfile p : {infiniband(), without_dcqcn(), tcp()}) {
    p.transport.timeout_exponent = 6;
    p.tcp.minimum_rto = 1_ms;
    p.paths.failover = 50_ms;
    const auto f = one_switch(2);
    auto network =
        network_on(f, p, 1, one(Fault::Kind::kLinkDown, adapter_port(*f, 1), 100_us, 200_us));
    const Time done = completion_times(*network, {{0, 1, 16_MiB}}).front();
    EXPECT_EQ(network->counters().bytes_delivered, (16_MiB).count()) << p.id;
    EXPECT_GT(network->counters().dropped_packets, 0U) << p.id;
    EXPECT_GT(done, wire_time(p, 16_MiB) + 200_us) << p.id;
  }
}

TEST(LinkDown, UnderAdaptiveRoutingLosesWhatWasOnTheWire) {
  FabricProfile p = infiniband();
  p.paths.routing = catalog::Routing::kAdaptive;
  p.transport.recovery = catalog::LossRecovery::kOutOfOrder;
  p.paths.failover = Time();  // the acknowledgements' leaf learns of it at once
  p.transport.timeout_exponent = 6;
  const auto f = leaf_spine(8, 4);
  auto network = network_on(f, p, 1, one(Fault::Kind::kLinkDown, uplink(*f, 0, 4), 100_us));
  completion_times(*network, {{0, 4, 16_MiB}});
  EXPECT_EQ(network->counters().bytes_delivered, (16_MiB).count());
  // A quarter of the packets is on each uplink. It holds a packet that is being sent, 450 ns of
  // flight (cable, PHY, pipeline) at 165 ns a packet, and one in the queue; as many on the way
  // back.
  EXPECT_LE(network->counters().dropped_packets, 8U);
}

Faults standing(Fault::Kind kind, PortId port, double value = 0) {
  Faults faults;
  faults.schedule.push_back({kind, port, Time(), Time(), true, value});
  return faults;
}

// Tables, ECMP and adaptive switches know a cable that was down before the start: nothing is lost.
TEST(LinkDown, BeforeTheStartCostsNoPacket) {
  FabricProfile adaptive = infiniband();
  adaptive.paths.routing = catalog::Routing::kAdaptive;
  adaptive.transport.recovery = catalog::LossRecovery::kOutOfOrder;
  for (const FabricProfile& p : {infiniband(), adaptive, without_dcqcn(), tcp()}) {
    const auto f = leaf_spine(8, 4);
    const PortId broken = uplink(*f, 0, 4);
    auto network = network_on(f, p, 1, standing(Fault::Kind::kLinkDown, broken));
    completion_times(*network, {{0, 4, 1_MiB}, {1, 5, 1_MiB}, {2, 6, 1_MiB}, {3, 7, 1_MiB}});
    EXPECT_EQ(network->counters().bytes_delivered, 4 * (1_MiB).count()) << p.id;
    EXPECT_EQ(network->counters().timeouts, 0U) << p.id;
    if (p.kind != FabricKind::kTcp) {
      EXPECT_EQ(network->counters().dropped_packets, 0U) << p.id;
    }
    EXPECT_EQ(network->links()[broken.index()].sent, Bytes(0)) << p.id;
  }
}

TEST(Degraded, BeforeTheStartIsDegradedFromTheFirstPacket) {
  const FabricProfile p = infiniband();
  const auto f = one_switch(2);
  auto network = network_on(f, p, 1, standing(Fault::Kind::kDegraded, adapter_port(*f, 1), 0.5));
  const Time done = completion_times(*network, {{0, 1, 16_MiB}}).front();
  EXPECT_GT(done, 2 * wire_time(p, 16_MiB));
  EXPECT_LT(done, 2 * wire_time(p, 16_MiB) + 10_us);
}

// A new connection while its only cable is down, as routing knows: it waits for the cable.
TEST(LinkDown, IsWaitedForByAConnectionThatBeginsMeanwhile) {
  FabricProfile p = infiniband();
  p.paths.failover = 1_us;
  p.transport.timeout_exponent = 6;
  const auto f = one_switch(3);
  auto network =
      network_on(f, p, 1, one(Fault::Kind::kLinkDown, adapter_port(*f, 1), 1_us, 500_us));
  Time done;
  network->at(10_us, [&](Time) {
    network->send(Rank(0), Rank(1), 1_MiB, {}, [&](Time now) { done = now; });
  });
  network->run();
  EXPECT_GT(done, 500_us);
}

TEST(LinkDown, ForGoodEndsInAnErrorAndNotInAHang) {
  for (FabricProfile p : {infiniband(), without_dcqcn(), tcp()}) {
    p.transport.timeout_exponent = 6;
    const auto f = one_switch(2);
    auto network = network_on(f, p, 1, one(Fault::Kind::kLinkDown, adapter_port(*f, 1), 10_us));
    try {
      completion_times(*network, {{0, 1, 1_MiB}});
      ADD_FAILURE() << p.id;
    } catch (const base::Error& error) {
      EXPECT_NE(error.message().find("from node0/nic0 to node1/nic0 gave up after"),
                std::string::npos)
          << error.message();
      EXPECT_NE(error.message().find(" us into the run"), std::string::npos);
    }
  }
}

// Two faults of one cable, the shorter inside the longer: it is down until both are over.
TEST(LinkDown, LastsAsLongAsAnyFaultOfTheCable) {
  FabricProfile p = infiniband();
  p.transport.timeout_exponent = 6;
  const auto f = one_switch(2);
  Faults faults = one(Fault::Kind::kLinkDown, adapter_port(*f, 1), 10_us, 400_us);
  const PortId far_end = f->port(adapter_port(*f, 1)).peer;
  faults.schedule.push_back({Fault::Kind::kLinkDown, far_end, 50_us, 20_us, false});
  auto network = network_on(f, p, 1, faults);
  EXPECT_GT(completion_times(*network, {{0, 1, 1_MiB}}).front(), 410_us);
}

// XOFF is on a wire of 50 us when the cable breaks, and its ingress drains while it is down, so
// that no XON follows: the frame that broke with the cable must not hold the sender for ever after.
TEST(LinkDown, TakesPauseFramesWithIt) {
  FabricProfile p = without_dcqcn();
  p.switching.buffer = Bytes(60'000'000);
  p.pfc.alpha = 1.0 / 256;
  p.transport.timeout_exponent = 8;
  fabric::TopologySpec spec = topology(fabric::TopologyKind::kSingleSwitch, 3);
  spec.cable_m = 10'000;
  const auto f = std::make_shared<const fabric::Fabric>(fabric::build(spec));
  for (int i = 0; i < 30; ++i) {
    const Time at = 60_us + 2_us * i;
    auto network = network_on(f, p, 1, one(Fault::Kind::kLinkDown, adapter_port(*f, 1), at, 30_us));
    completion_times(*network, {{1, 0, 4_MiB}, {2, 0, 4_MiB}});
    EXPECT_GT(network->counters().pause_frames, 0U);
    EXPECT_EQ(network->counters().bytes_delivered, (8_MiB).count());
  }
}

TEST(Degraded, LinkAtHalfItsRateHalvesTheThroughputOfFlowsOverIt) {
  for (const FabricProfile& p : {infiniband(), without_dcqcn()}) {
    const auto f = one_switch(3);
    const Faults faults = one(Fault::Kind::kDegraded, adapter_port(*f, 1), Time(), Time(), 0.5);
    auto network = network_on(f, p, 1, faults);
    const Time over = completion_times(*network, {{0, 1, 16_MiB}}).front();
    EXPECT_NEAR(over / wire_time(p, 16_MiB), 2.0, 0.01) << p.id;
    auto beside = network_on(f, p, 1, faults);
    auto whole = network_on(f, p, 1);
    EXPECT_EQ(completion_times(*beside, {{0, 2, 16_MiB}}),
              completion_times(*whole, {{0, 2, 16_MiB}}));
  }
}

TEST(Degraded, LinkRunsAtItsRateAgainAfterwards) {
  const auto f = one_switch(2);
  const FabricProfile p = infiniband();
  auto network =
      network_on(f, p, 1, one(Fault::Kind::kDegraded, adapter_port(*f, 1), Time(), 200_us, 0.25));
  const Time done = completion_times(*network, {{0, 1, 16_MiB}}).front();
  // In 200 us a quarter of what the whole rate would have moved.
  EXPECT_NEAR(done / (wire_time(p, 16_MiB) + 150_us), 1.0, 0.01);
}

// The adapter feeds 0.8 of the port: a cable at 0.9 does not matter, one at 0.5 does.
TEST(Degraded, LinkAndASlowHostAreAsSlowAsTheSlowerOfThem) {
  FabricProfile p = infiniband();
  p.host.rate_share = 0.8;
  const auto f = one_switch(2);
  for (const double rate : {0.9, 0.5}) {
    auto network =
        network_on(f, p, 1, one(Fault::Kind::kDegraded, adapter_port(*f, 0), Time(), Time(), rate));
    const Time done = completion_times(*network, {{0, 1, 16_MiB}}).front();
    EXPECT_NEAR(wire_time(p, 16_MiB) / done, std::min(rate, 0.8), 0.01);
  }
}

// A packet of b bits arrives whole with (1 - BER)^b.
TEST(BitErrors, LosePacketsAtTheRateOfTheirLength) {
  FabricProfile p = without_dcqcn();
  p.transport.recovery = catalog::LossRecovery::kSelectiveRepeat;
  p.transport.ack_every = 64;  // few acknowledgements, which may be lost, too
  p.transport.timeout_exponent = 6;
  const double ber = 1e-6;
  const auto f = one_switch(2);
  auto network =
      network_on(f, p, 1, one(Fault::Kind::kBitErrors, adapter_port(*f, 0), Time(), Time(), ber));
  completion_times(*network, {{0, 1, 64_MiB}});
  const auto counters = network->counters();
  EXPECT_EQ(counters.bytes_delivered, (64_MiB).count());
  const double sent = static_cast<double>(counters.data_packets);
  const double loss = 1 - std::pow(1 - ber, 8.0 * 4178);
  const double deviation = std::sqrt(sent * loss * (1 - loss));
  EXPECT_NEAR(static_cast<double>(counters.dropped_packets), sent * loss, 4 * deviation);
  EXPECT_GT(counters.retransmitted_packets, 0U);
}

// The link sends a corrupted packet again, 1/(1-p) times in the mean, each time after a round trip
// (to the receiver and back) and the packet itself. The transport sees none of it.
TEST(BitErrors, WithLinkLevelRetryCostThroughputAndNoRetransmission) {
  FabricProfile p = infiniband();
  p.link.retry = true;
  const double ber = 1e-6;
  const auto f = one_switch(2);
  auto network =
      network_on(f, p, 1, one(Fault::Kind::kBitErrors, adapter_port(*f, 0), Time(), Time(), ber));
  const Time done = completion_times(*network, {{0, 1, 64_MiB}}).front();
  const auto counters = network->counters();
  EXPECT_EQ(counters.dropped_packets, 0U);
  EXPECT_EQ(counters.retransmitted_packets, 0U);
  EXPECT_GT(counters.link_retries, 0U);
  const double packet = 4126 * 40e-12;
  const double loss = 1 - std::pow(1 - ber, 8.0 * 4126);
  const double each = packet + loss / (1 - loss) * (2 * 150e-9 + packet);
  EXPECT_NEAR(done.s() / (16384 * each), 1.0, 0.01);
}

TEST(BitErrors, ThatCorruptEverythingEndInAnErrorAndNotInAHang) {
  for (const bool retry : {false, true}) {
    FabricProfile p = infiniband();
    p.link.retry = retry;
    p.transport.timeout_exponent = 6;
    const auto f = one_switch(2);
    auto network =
        network_on(f, p, 1, one(Fault::Kind::kBitErrors, adapter_port(*f, 0), Time(), Time(), 0.5));
    EXPECT_THROW(completion_times(*network, {{0, 1, 64_KiB}}), base::Error);
  }
}

// Node 2 takes a tenth of its rate. Node 0 sends to it and to node 1, its queue pairs in turn:
// flow control holds node 0's link, so that the idle node 1 gets a tenth, too.
TEST(SlowAdapter, HoldsAVictimThroughHeadOfLineBlocking) {
  FabricProfile lossless = without_dcqcn();
  lossless.switching.buffer = Bytes(500'000);
  for (const FabricProfile& p : {infiniband(), lossless}) {
    const auto f = one_switch(3);
    const Faults faults = one(Fault::Kind::kSlowAdapter, adapter_port(*f, 2), Time(), Time(), 0.1);
    auto network = network_on(f, p, 1, faults);
    const auto done = completion_times(*network, {{0, 2, 16_MiB}, {0, 1, 16_MiB}});
    EXPECT_NEAR(done[0] / wire_time(p, 16_MiB), 10.0, 0.1) << p.id;
    EXPECT_NEAR(done[1] / wire_time(p, 16_MiB), 10.0, 0.5) << p.id;
    EXPECT_EQ(network->counters().dropped_packets, 0U) << p.id;
    auto alone = network_on(f, p, 1, faults);
    const Time free = completion_times(*alone, {{0, 1, 16_MiB}}).front();
    EXPECT_NEAR(free / wire_time(p, 16_MiB), 1.0, 0.01) << p.id;
  }
}

TEST(SlowAdapter, SendsSlowlyToo) {
  const auto f = one_switch(2);
  const FabricProfile p = infiniband();
  auto network =
      network_on(f, p, 1, one(Fault::Kind::kSlowAdapter, adapter_port(*f, 0), Time(), Time(), 0.1));
  const Time done = completion_times(*network, {{0, 1, 4_MiB}}).front();
  EXPECT_NEAR(done / wire_time(p, 4_MiB), 10.0, 0.1);
}

FabricProfile stormy() {
  FabricProfile p = without_dcqcn();
  p.switching.buffer = Bytes(500'000);
  p.transport.timeout_exponent = 10;  // 4.2 ms
  p.pfc.watchdog_detect = 200_us;
  p.pfc.watchdog_restore = 100_us;
  return p;
}

// Node 0's adapter pauses its switch for 2 ms. Node 1 sends to it and to node 2.
TEST(PauseStorm, BlocksOthersUntilItEndsWithoutAWatchdog) {
  const auto f = one_switch(3);
  auto network =
      network_on(f, stormy(), 1, one(Fault::Kind::kPauseStorm, adapter_port(*f, 0), Time(), 2_ms));
  const auto done = completion_times(*network, {{1, 0, 4_MiB}, {1, 2, 4_MiB}});
  EXPECT_GT(done[1], 2_ms);
  EXPECT_EQ(network->counters().watchdog_trips, 0U);
  EXPECT_EQ(network->counters().dropped_packets, 0U);
  EXPECT_EQ(network->counters().bytes_delivered, (8_MiB).count());
}

TEST(PauseStorm, IsEndedByTheWatchdogAfterItsDetectionTime) {
  FabricProfile p = stormy();
  p.pfc.watchdog = true;
  const auto f = one_switch(3);
  auto network =
      network_on(f, p, 1, one(Fault::Kind::kPauseStorm, adapter_port(*f, 0), Time(), 2_ms));
  const auto done = completion_times(*network, {{1, 0, 4_MiB}, {1, 2, 4_MiB}});
  // From the detection on the two queue pairs share node 1's link.
  EXPECT_GT(done[1], 200_us);
  EXPECT_LT(done[1], 200_us + wire_time(p, 8_MiB) + 10_us);
  EXPECT_EQ(network->counters().watchdog_trips, 1U);
  EXPECT_GT(network->counters().dropped_packets, 0U);
  EXPECT_GT(done[0], 2_ms) << "what was dropped comes by the transport's timer";
  EXPECT_EQ(network->counters().bytes_delivered, (8_MiB).count());
}

// Notifications are in a class of their own, which the watchdog does not empty: the sender whose
// adapter storms hears of congestion as if it did not.
TEST(PauseStorm, LetsCongestionNotificationsThrough) {
  FabricProfile p = roce();
  p.pfc.watchdog = true;
  p.pfc.watchdog_detect = 10_us;
  const auto f = one_switch(3);
  const std::vector<Flow> flows = {{1, 0, 4_MiB}, {2, 0, 4_MiB}};
  auto calm = network_on(f, p);
  const Time expected = completion_times(*calm, flows).front();
  auto network =
      network_on(f, p, 1, one(Fault::Kind::kPauseStorm, adapter_port(*f, 1), Time(), 2_ms));
  EXPECT_NEAR(completion_times(*network, flows).front() / expected, 1.0, 0.02);
  EXPECT_GT(network->counters().cnps, 0U);
  EXPECT_EQ(network->counters().watchdog_trips, 1U);
}

TEST(PauseStorm, HoldsNothingOnASwitchWithoutPfc) {
  const auto f = one_switch(3);
  Faults faults = one(Fault::Kind::kPauseStorm, adapter_port(*f, 0), Time(), 2_ms);
  faults.schedule.push_back({Fault::Kind::kNoPfc, PortId(0), Time(), Time(), false});
  auto network = network_on(f, stormy(), 1, faults);
  EXPECT_LT(completion_times(*network, {{1, 0, 1_MiB}}).front(), 100_us);
}

TEST(NoPfc, LosesPacketsInAnIncastWhereALosslessSwitchDoesNot) {
  FabricProfile p = without_dcqcn();
  p.switching.buffer = Bytes(1'500'000);
  p.transport.timeout_exponent = 6;
  const auto f = one_switch(9);
  for (const bool lossless : {true, false}) {
    auto network =
        network_on(f, p, 1, lossless ? Faults() : one(Fault::Kind::kNoPfc, PortId(0), Time()));
    completion_times(*network, incast(8, 1_MiB));
    EXPECT_EQ(network->counters().dropped_packets == 0, lossless);
    EXPECT_EQ(network->counters().pause_frames > 0, lossless);
    EXPECT_EQ(network->counters().bytes_delivered, (8_MiB).count());
  }
}

// A switch without PFC has an ingress over its threshold when a cable comes up: it pauses nobody
// then either, and would never say XON.
TEST(NoPfc, DoesNotPauseWhenALinkComesUp) {
  FabricProfile p = without_dcqcn();
  p.switching.buffer = Bytes(1'500'000);
  p.transport.timeout_exponent = 6;
  const auto f = one_switch(5);
  Faults faults = one(Fault::Kind::kNoPfc, PortId(0), Time());
  for (int i = 0; i < 10; ++i) {
    faults.schedule.push_back(
        {Fault::Kind::kLinkDown, adapter_port(*f, 1), 20_us * (i + 1), 2_us, false});
  }
  auto network = network_on(f, p, 1, faults);
  completion_times(*network, incast(4, 1_MiB));
  EXPECT_EQ(network->counters().bytes_delivered, (4_MiB).count());
  EXPECT_EQ(network->counters().paused, Time());
}

TEST(NoEcn, MarksNothingWhereAnotherSwitchMarks) {
  const auto f = one_switch(5);
  for (const bool marks : {true, false}) {
    auto network =
        network_on(f, roce(), 1, marks ? Faults() : one(Fault::Kind::kNoEcn, PortId(0), Time()));
    completion_times(*network, incast(4, 4_MiB));
    EXPECT_EQ(network->counters().ecn_marked_packets > 0, marks);
  }
}

// Node 4 takes nothing. The spine that leads to it has its leaf's buffer full after a few us, and
// from then on lets one packet go in every HOQ lifetime (IBTA 18.2.5.4), 4.096 us x 2^n.
TEST(HoqLifetime, DiscardsAHeadThatHasWaitedForCredits) {
  const auto f = leaf_spine(8, 4);
  const Faults faults = one(Fault::Kind::kSlowAdapter, adapter_port(*f, 4), Time(), Time(), 1e-6);
  for (const int n : {3, 4, 5}) {
    FabricProfile p = infiniband();
    p.credits.hoq_lifetime_exponent = n;
    const Time lifetime = Time::picoseconds(4'096'000LL << n);
    auto network = network_on(f, p, 1, faults);
    network->send(Rank(0), Rank(4), 4_MiB, {}, {});
    network->at(lifetime * 6 + 20_us, [&](Time) { network->stop(); });
    network->run();
    EXPECT_EQ(network->counters().lifetime_discards, 6U) << "n = " << n;
    EXPECT_EQ(network->counters().dropped_packets, 6U) << "n = " << n;
  }
}

// VLStalled: the seventh in a row empties the lane, which then discards what comes for eight
// lifetimes. What follows waits for credits again, for a lifetime.
TEST(HoqLifetime, StallsTheLaneAfterSevenDiscardsInARow) {
  const auto f = leaf_spine(8, 4);
  FabricProfile p = infiniband();
  p.credits.hoq_lifetime_exponent = 3;
  const Time lifetime = Time::picoseconds(4'096'000LL << 3);
  auto network = network_on(
      f, p, 1, one(Fault::Kind::kSlowAdapter, adapter_port(*f, 4), Time(), Time(), 1e-6));
  network->send(Rank(0), Rank(4), 64_MiB, {}, {});
  std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;  // expired, dropped
  for (const int lifetimes : {7, 14, 15, 16}) {
    network->at(lifetime * lifetimes + 20_us, [&](Time) {
      seen.emplace_back(network->counters().lifetime_discards, network->counters().dropped_packets);
    });
  }
  network->at(lifetime * 17, [&](Time) { network->stop(); });
  network->run();
  EXPECT_EQ(seen[0].first, 7U);
  EXPECT_GT(seen[0].second, 7U) << "the queue went with the seventh";
  EXPECT_EQ(seen[1].first, 7U);
  // At line rate a packet takes 165 ns.
  const double passed = (lifetime * 7).us() / 0.16504;
  EXPECT_NEAR(static_cast<double>(seen[1].second - seen[0].second), passed, 0.01 * passed);
  EXPECT_EQ(seen[2].first, 7U);
  EXPECT_EQ(seen[3].first, 8U) << "it has ended after eight, and a head has waited for one more";
}

TEST(HoqLifetime, OfTwentyIsForEver) {
  const auto f = leaf_spine(8, 4);
  auto network =
      network_on(f, infiniband(), 1,
                 one(Fault::Kind::kSlowAdapter, adapter_port(*f, 4), Time(), Time(), 1e-6));
  network->send(Rank(0), Rank(4), 4_MiB, {}, {});
  network->at(4_ms, [&](Time) { network->stop(); });
  network->run();
  EXPECT_EQ(network->counters().lifetime_discards, 0U);
}

// NCCL_IB_SPLIT_DATA_ON_QPS: equal parts, rounded up to 128 bytes, the last what is left.
TEST(SplitMessages, LieInPartsOf128BytesOnAllQueuePairs) {
  FabricProfile p = infiniband();
  p.paths.qps_per_connection = 4;
  p.paths.split_messages = true;
  struct Case {
    std::int64_t bytes;
    std::uint64_t packets;
  };
  // 40000: three parts of 10112 and one of 9664, three packets each; unsplit they were ten.
  for (const Case& c : {Case{1, 1}, Case{128, 1}, Case{129, 2}, Case{512, 4}, Case{1000, 4},
                        Case{16384, 4}, Case{16385, 7}, Case{40000, 12}, Case{65536, 16}}) {
    auto network = network_on(one_switch(2), p);
    completion_times(*network, {{0, 1, Bytes(c.bytes)}});
    EXPECT_EQ(network->counters().data_packets, c.packets) << c.bytes << " bytes";
    EXPECT_EQ(network->counters().bytes_delivered, c.bytes);
  }
}

TEST(Faults, ThatMeanNothingAreRefused) {
  const auto f = one_switch(2);
  const PortId host = adapter_port(*f, 0);
  const auto refused = [&](const Faults& faults) {
    EXPECT_THROW(network_on(f, roce(), 1, faults), base::Error);
  };
  refused(one(Fault::Kind::kLinkDown, PortId(99), Time()));
  refused(one(Fault::Kind::kDegraded, host, Time(), Time(), 0));
  refused(one(Fault::Kind::kBitErrors, host, Time(), Time(), 1));
  refused(one(Fault::Kind::kNoEcn, host, Time()));
  const auto tree = leaf_spine(8, 4);
  EXPECT_THROW(
      network_on(tree, roce(), 1, one(Fault::Kind::kPauseStorm, uplink(*tree, 0, 4), Time())),
      base::Error);
}

}  // namespace
}  // namespace fabricast::packet
