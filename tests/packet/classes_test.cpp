// Traffic classes on the wire: shares of a port, who is starved, and who is spared by whose pauses
// and credits.

#include <algorithm>

#include <gtest/gtest.h>

#include "base/error.h"
#include "fabric/forwarding.h"
#include "fixtures.h"

namespace fabricast::packet {
namespace {

using namespace testing;

FabricProfile with_classes(FabricProfile p, int count) {
  p.classes.count = count;
  p.pfc.lossless_classes = count;
  p.ecn.enabled = false;
  p.congestion.control = catalog::RdmaCongestionControl::kNone;
  return p;
}

/// When `bytes` of payload have crossed a link of 200 Gb/s of which they have a share.
Time at_share(const FabricProfile& p, Bytes bytes, double share) {
  const double wire = static_cast<double>((p.link.mtu + p.link.header).count()) /
                      static_cast<double>(p.link.mtu.count());
  return Time::seconds(base::transmission_time(bytes, 200_gbps).s() * wire / share);
}

// Two senders, a class each, to one receiver: while both send, the class of three times the weight
// has three quarters of the receiver's link.
TEST(Classes, ShareALinkByWeightOnInfiniBandAndEthernet) {
  for (FabricProfile p : {with_classes(infiniband(), 2), with_classes(roce(), 2)}) {
    p.classes.weight = {192, 64, 0, 0, 0, 0, 0, 0};
    auto network = network_on(one_switch(3), p);
    const auto done = completion_times(*network, {{1, 0, 8_MiB, 0}, {2, 0, 8_MiB, 1}});
    EXPECT_NEAR(done[0] / at_share(p, 8_MiB, 0.75), 1.0, 0.02) << p.id;
    EXPECT_NEAR(done[1] / at_share(p, 16_MiB, 1), 1.0, 0.02) << p.id << ": the link never idles";
  }
}

TEST(Classes, ShareTheirAdaptersLinkByWeightToo) {
  for (FabricProfile p : {with_classes(infiniband(), 2), with_classes(roce(), 2)}) {
    p.classes.weight = {192, 64, 0, 0, 0, 0, 0, 0};
    auto network = network_on(one_switch(3), p);
    const auto done = completion_times(*network, {{0, 1, 8_MiB, 0}, {0, 2, 8_MiB, 1}});
    EXPECT_NEAR(done[0] / at_share(p, 8_MiB, 0.75), 1.0, 0.02) << p.id;
    EXPECT_NEAR(done[1] / at_share(p, 16_MiB, 1), 1.0, 0.02) << p.id;
  }
}

// HighPriLimit 4: 16384 bytes, which 4126-byte packets exceed with the fourth, then one low packet.
TEST(Classes, OfTheHighTableHaveWhatItsLimitImplies) {
  FabricProfile p = with_classes(infiniband(), 2);
  p.classes.weight = {64, 0, 0, 0, 0, 0, 0, 0};
  p.classes.high_weight[1] = 64;
  p.classes.high_limit = 4;
  auto network = network_on(one_switch(3), p);
  const auto done = completion_times(*network, {{1, 0, 8_MiB, 0}, {2, 0, 8_MiB, 1}});
  EXPECT_NEAR(done[1] / at_share(p, 8_MiB, 4.0 / 5), 1.0, 0.02);
}

TEST(Classes, BelowAnotherInStrictPriorityWaitUntilItIsThrough) {
  for (FabricProfile p : {with_classes(infiniband(), 2), with_classes(roce(), 2)}) {
    p.classes.scheduling = catalog::Scheduling::kStrict;
    auto network = network_on(one_switch(3), p);
    const auto done = completion_times(*network, {{1, 0, 4_MiB, 0}, {2, 0, 4_MiB, 1}});
    EXPECT_NEAR(done[1] / at_share(p, 4_MiB, 1), 1.0, 0.02) << p.id << ": as if alone";
    EXPECT_NEAR(done[0] / at_share(p, 8_MiB, 1), 1.0, 0.02) << p.id;
  }
}

// 802.1Qbb: a pause frame holds one priority. Node 1 has a quarter of the incast's receiver, 50
// Gb/s, in class 0. What it sends to an idle receiver in class 1 has the rest of its link; in class
// 0 it is held with the incast and has as much as that.
TEST(Classes, PausedByPfcDoNotStopAnother) {
  FabricProfile p = with_classes(roce(), 2);
  p.switching.buffer = Bytes(2'000'000);
  const auto time = [&](unsigned traffic_class) {
    std::vector<Flow> flows = incast(4, 16_MiB);
    flows.push_back({1, 5, 4_MiB, traffic_class});
    auto network = network_on(one_switch(6), p);
    const Time done = completion_times(*network, flows).back();
    EXPECT_EQ(network->counters().dropped_packets, 0U);
    EXPECT_GT(network->counters().pause_frames, 0U);
    return done;
  };
  EXPECT_NEAR(time(1) / at_share(p, 4_MiB, 0.75), 1.0, 0.05);
  EXPECT_NEAR(time(0) / at_share(p, 4_MiB, 0.25), 1.0, 0.15);
}

TEST(Classes, BeyondTheLosslessOnesDrop) {
  FabricProfile p = with_classes(roce(), 2);
  p.pfc.lossless_classes = 1;
  p.switching.buffer = Bytes(1'500'000);
  p.transport.timeout_exponent = 6;
  const auto dropped = [&](unsigned traffic_class) {
    std::vector<Flow> flows = incast(8, 1_MiB);
    for (Flow& flow : flows) flow.traffic_class = traffic_class;
    auto network = network_on(one_switch(9), p);
    completion_times(*network, flows);
    EXPECT_EQ(network->counters().bytes_delivered, (8_MiB).count());
    EXPECT_EQ(network->counters().pause_frames > 0, traffic_class == 0);
    return network->counters().dropped_packets;
  };
  EXPECT_EQ(dropped(0), 0U);
  EXPECT_GT(dropped(1), 0U);
}

/// An adapter of `leaf` to which the first leaf sends by the same uplink as to `like`.
std::uint32_t twin(const fabric::Fabric& f, std::uint32_t like, std::uint32_t first,
                   std::uint32_t end) {
  const auto tables = fabric::forwarding(f, fabric::RoutingEngine::kFatTree);
  const auto leaf = fabric::DeviceId(0);
  while (first < end && tables.egress(leaf, fabric::EndpointId(first)) !=
                            tables.egress(leaf, fabric::EndpointId(like))) {
    ++first;
  }
  return first;
}

// Credits are per virtual lane (IBTA 7.9). Two leaves send to node 4, so that the first leaf's
// uplink carries half a link of it and stands still the other half. A victim over that uplink to an
// idle node has the idle half on a lane of its own; on the same lane it stands in the queue with
// three flows of the incast. De Sensi et al. ("Exploring GPU-to-GPU Communication", SC 2024) find
// the same on Leonardo: another service level frees the victim.
TEST(Classes, OnALaneOfTheirOwnDoNotStandBehindACongestedOne) {
  const FabricProfile p = with_classes(infiniband(), 2);
  const auto fabric = leaf_spine(12, 4);
  const std::uint32_t idle = twin(*fabric, 4, 8, 12);
  ASSERT_LT(idle, 12U);
  const auto time = [&](unsigned traffic_class) {
    std::vector<Flow> flows;
    for (const std::uint32_t from : {1U, 2U, 3U}) flows.push_back({from, 4, 16_MiB});
    for (std::uint32_t from = 8; from < 12; ++from) {
      if (from != idle) flows.push_back({from, 4, 16_MiB});
    }
    flows.push_back({0, idle, 2_MiB, traffic_class});
    auto network = network_on(fabric, p);
    return completion_times(*network, flows).back();
  };
  EXPECT_NEAR(time(1) / at_share(p, 2_MiB, 0.5), 1.0, 0.05);
  EXPECT_GT(time(0) / at_share(p, 2_MiB, 0.25), 1.0);
}

TEST(Classes, HaveQueuePairsOfTheirOwn) {
  const FabricProfile p = with_classes(roce(), 2);
  int different = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    auto two = network_on(leaf_spine(8, 4), p, seed);
    const auto done = completion_times(*two, {{0, 4, 4_MiB, 0}, {1, 5, 4_MiB, 0}});
    auto other = network_on(leaf_spine(8, 4), p, seed);
    const auto apart = completion_times(*other, {{0, 4, 4_MiB, 0}, {1, 5, 4_MiB, 1}});
    different += done[1] != apart[1] ? 1 : 0;
  }
  EXPECT_GT(different, 0) << "the class is part of the hash";
}

TEST(Classes, ThatTheFabricDoesNotHaveAreRefused) {
  auto network = network_on(one_switch(2), with_classes(infiniband(), 2));
  network::SendOptions options;
  options.traffic_class = 2;
  EXPECT_THROW(network->send(Rank(0), Rank(1), 1_KiB, options, {}), base::Error);
}

}  // namespace
}  // namespace fabricast::packet
