// Idle-network times against closed formulas. Notation: h host overheads, w cable + PHY of one link
// (150 ns here), s pipeline of a switch (300 ns), ser() serialisation at 200 Gb/s (40 ps per byte).

#include <gtest/gtest.h>

#include "fixtures.h"

namespace fabricast::packet {
namespace {

using namespace testing;

Time ser(std::int64_t bytes) {
  return base::transmission_time(Bytes(bytes), 200_gbps);
}

const Time kHosts = 600_ns;
const Time kWire = 150_ns;
const Time kSwitch = 300_ns;

Time one_message(std::shared_ptr<const fabric::Fabric> fabric, const FabricProfile& profile,
                 Bytes size, std::uint32_t to = 1) {
  auto network = network_on(std::move(fabric), profile);
  return completion_times(*network, {{0, to, size}}).front();
}

// An 8-byte message is 38 bytes on an InfiniBand wire: its head is the whole packet.
TEST(Latency, OfEightBytesThroughOneSwitchIsHostsPlusTwoLinksPlusPipeline) {
  EXPECT_EQ(one_message(one_switch(4), infiniband(), 8_B),
            kHosts + ser(38) + kWire + kSwitch + ser(38) + kWire);
}

TEST(Latency, GrowsByTwoLinksAndTwoSwitchesThroughASpine) {
  const Time near = one_message(leaf_spine(8, 4), infiniband(), 8_B, 1);
  const Time far = one_message(leaf_spine(8, 4), infiniband(), 8_B, 7);
  EXPECT_EQ(far - near, (kWire + kSwitch + ser(38)) * 2);
}

// Cut-through: only the first 64 bytes are waited for at a switch; the rest streams behind.
TEST(Latency, OfAFullPacketCutsThroughTheSwitch) {
  const Time expected = kHosts + ser(64) + kWire + kSwitch + ser(4096 + 30) + kWire;
  EXPECT_EQ(one_message(one_switch(4), infiniband(), 4096_B), expected);
}

TEST(Latency, OfStoreAndForwardIsLongerByTheRestOfThePacketPerSwitch) {
  FabricProfile slow = infiniband();
  slow.switching.forwarding = catalog::Forwarding::kStoreAndForward;
  const Time gain = one_message(leaf_spine(8, 4), slow, 4096_B, 7) -
                    one_message(leaf_spine(8, 4), infiniband(), 4096_B, 7);
  EXPECT_EQ(gain, (ser(4126) - ser(64)) * 3);
}

// The pipe is full: N packets back to back, then the path of the last one. One acknowledgement at
// the end, so that no credit packet for an earlier one takes wire time from the data.
TEST(Latency, OfALongMessageIsItsSerialisationPlusOnePath) {
  const int packets = 1000;
  const auto expected = [&](std::int64_t wire) {
    return kHosts + ser(wire) * (packets - 1) + ser(64) + kWire + kSwitch + ser(wire) + kWire;
  };
  FabricProfile ib = infiniband();
  ib.transport.ack_every = packets;
  EXPECT_EQ(one_message(one_switch(4), ib, 4096_B * packets), expected(4126));
  EXPECT_EQ(one_message(one_switch(4), roce(), 4096_B * packets), expected(4178));
}

// Nine leaves of four nodes need their uplinks split to 2 x 100 Gb/s. A packet leaves the first
// leaf on its head, crosses the spine on its head, and must wait for its tail at the last leaf,
// whose egress is twice as fast as its ingress.
TEST(Latency, WaitsForTheTailWhereTheEgressIsFaster) {
  fabric::TopologySpec spec = topology(fabric::TopologyKind::kLeafSpine, 36);
  spec.switch_ports = 8;
  spec.max_uplink_split = 2;
  const auto fabric = std::make_shared<const fabric::Fabric>(fabric::build(spec));
  ASSERT_EQ(fabric->sizing().uplink_rate, 100_gbps);
  const Time links = kWire * 4 + kSwitch * 3;
  EXPECT_EQ(one_message(fabric, infiniband(), 4096_B, 35),
            kHosts + links + ser(64) + ser(64) * 2 + ser(4126) * 2 + ser(4126));
}

TEST(Latency, InsideANodeIsTheNodeLinkAlone) {
  fabric::TopologySpec spec = topology(fabric::TopologyKind::kSingleSwitch, 2);
  spec.gpus_per_node = 4;
  spec.nics_per_node = 4;
  const auto fabric = std::make_shared<const fabric::Fabric>(fabric::build(spec));
  EXPECT_EQ(one_message(fabric, infiniband(), Bytes(450'000), 3), 1_us + 1_us);
  EXPECT_EQ(one_message(fabric, roce(), Bytes(450'000), 3), 2_us);
}

// An adapter that feeds 80 % of its port spaces its packets by 1 / 0.8.
TEST(Latency, FollowsTheShareOfTheRateThatTheAdapterFeeds) {
  FabricProfile half = infiniband();
  half.host.rate_share = 0.8;
  const Time full = one_message(one_switch(2), infiniband(), 4096_B * 1000);
  const Time slow = one_message(one_switch(2), half, 4096_B * 1000);
  EXPECT_NEAR(slow / full, 1 / 0.8, 0.01);
}

// 10 messages per microsecond: a burst of 1000 small messages takes 100 us to start.
TEST(Latency, FollowsTheMessageRateOfTheAdapter) {
  FabricProfile profile = infiniband();
  profile.host.message_rate_mps = 10;
  auto network = network_on(one_switch(2), profile);
  const auto done = completion_times(*network, std::vector<Flow>(1000, Flow{0, 1, 8_B}));
  EXPECT_NEAR((done.back() - done.front()).us(), 99.9, 0.1);
}

}  // namespace
}  // namespace fabricast::packet
