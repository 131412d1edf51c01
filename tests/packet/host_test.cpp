// Hosts that hold payload back: links inside a node with round rates, so that times can be worked
// out by hand. Packets carry 4096 bytes; the wire runs at 200 Gb/s.

#include "fabric/host.h"

#include <gtest/gtest.h>

#include "random_traffic.h"

namespace fabricast::packet {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): fixtures of this folder
using fabric::HostLinkKind;
using fabric::HostLinks;

/// One link per adapter that what it sends and what it receives cross, `sent` and `received` bytes
/// for each of payload.
HostLinks one_link(Rate rate, double sent, double received) {
  HostLinks host;
  host.links = {{HostLinkKind::kSlot, rate}};
  host.ways.resize(1);
  if (sent > 0) host.ways[0].send = {{0, sent}};
  if (received > 0) host.ways[0].receive = {{0, received}};
  host.receive_buffer = Bytes(130'944);
  return host;
}

std::shared_ptr<const fabric::Fabric> switch_of(int nodes, HostLinks host) {
  fabric::TopologySpec spec = topology(fabric::TopologyKind::kSingleSwitch, nodes);
  spec.host = std::move(host);
  return std::make_shared<const fabric::Fabric>(fabric::build(spec));
}

FabricProfile lossless() {
  FabricProfile p = roce();
  p.congestion.control = catalog::RdmaCongestionControl::kNone;
  p.ecn.enabled = false;
  return p;
}

double gbps(Bytes size, Time time) {
  return base::rate_of(size, time).gbps();
}

TEST(Host, An_adapter_sends_as_its_host_feeds_it) {
  for (const FabricProfile& p : {infiniband(), lossless()}) {
    auto network = network_on(switch_of(2, one_link(100_gbps, 1, 0)), p);
    const Time done = completion_times(*network, {{0, 1, 16_MiB}}).front();
    EXPECT_NEAR(gbps(16_MiB, done), 100, 0.5) << p.id;
    EXPECT_EQ(network->counters().pause_frames, 0U);
  }
}

// The first packet leaves at once: its payload is part of the send overhead. Every other one starts
// when the payload of the one before has crossed.
TEST(Host, Packets_start_as_payload_crosses_to_the_picosecond) {
  const FabricProfile p = infiniband();
  const auto time = [&](Bytes size, HostLinks host) {
    auto network = network_on(switch_of(2, std::move(host)), p);
    return completion_times(*network, {{0, 1, size}}).front();
  };
  const Time one = time(4096_B, {});
  const Time crossing = base::transmission_time(4096_B, 50_gbps);
  EXPECT_EQ(time(4096_B, one_link(50_gbps, 1, 0)), one);
  EXPECT_EQ(time(Bytes(9 * 4096), one_link(50_gbps, 1, 0)), one + crossing * 8);
}

// A packet crosses while it comes in, so that it is late by what its host is slower than the wire,
// and the next one crosses behind it.
TEST(Host, What_is_received_crosses_behind_one_another_to_the_picosecond) {
  const FabricProfile p = infiniband();
  const auto time = [&](Bytes size, HostLinks host) {
    auto network = network_on(switch_of(2, std::move(host)), p);
    return completion_times(*network, {{0, 1, size}}).front();
  };
  const Time one = time(4096_B, {});
  const Time wire = base::transmission_time(4096_B + p.link.header, 200_gbps);
  const Time crossing = base::transmission_time(4096_B, 50_gbps);
  EXPECT_EQ(time(4096_B, one_link(50_gbps, 0, 1)), one - wire + crossing);
  EXPECT_EQ(time(Bytes(9 * 4096), one_link(50_gbps, 0, 1)), one - wire + crossing * 9);
  // A host that is no slower than the wire changes nothing.
  EXPECT_EQ(time(Bytes(9 * 4096), one_link(200_gbps, 0, 1)), time(Bytes(9 * 4096), {}));
}

TEST(Host, A_slow_receiver_holds_back_credits) {
  auto network = network_on(switch_of(2, one_link(100_gbps, 0, 1)), infiniband());
  const Time done = completion_times(*network, {{0, 1, 16_MiB}}).front();
  EXPECT_NEAR(gbps(16_MiB, done), 100, 0.5);
  EXPECT_EQ(network->counters().dropped_packets, 0U);
  // The switch lacks credits for the half of the time that the wire is idle, and the sender's too,
  // once the switch's own buffer is full.
  EXPECT_NEAR(network->counters().credit_stalled / done, 2 * 0.5, 0.05);
}

TEST(Host, A_slow_receiver_pauses_its_switch_and_loses_nothing) {
  auto network = network_on(switch_of(2, one_link(100_gbps, 0, 1)), lossless());
  const Time done = completion_times(*network, {{0, 1, 16_MiB}}).front();
  EXPECT_NEAR(gbps(16_MiB, done), 100, 0.5);
  EXPECT_EQ(network->counters().dropped_packets, 0U);
  EXPECT_EQ(network->counters().retransmitted_packets, 0U);
  EXPECT_GT(network->counters().pause_frames, 100U);
}

// Slow-receiver symptom (Guo et al., SIGCOMM 2016): pauses reach back to the sender's port, and a
// flow between others through the same switch suffers.
TEST(Host, A_slow_receiver_blocks_others_behind_it) {
  fabric::TopologySpec spec = topology(fabric::TopologyKind::kLeafSpine, 4);
  spec.switch_ports = 4;
  spec.nodes_per_leaf = 2;
  spec.host = one_link(20_gbps, 0, 1);
  const auto slow = std::make_shared<const fabric::Fabric>(fabric::build(spec));
  FabricProfile p = lossless();
  p.switching.buffer = Bytes(1'000'000);
  auto network = network_on(slow, p);
  // Node 0 sends to both nodes of the other leaf over one adapter: each gets 20 Gb/s of the wire's
  // 200, and the pauses for one hold the other.
  const auto done = completion_times(*network, {{0, 2, 4_MiB}, {0, 3, 4_MiB}});
  EXPECT_NEAR(gbps(4_MiB, done[0]), 20, 1);
  EXPECT_NEAR(gbps(4_MiB, done[1]), 20, 1);
  EXPECT_EQ(network->counters().dropped_packets, 0U);
}

// With less room than the headroom there is still no loss: a lossless buffer is at least the
// headroom and two packets.
TEST(Host, No_buffer_is_too_small_to_be_lossless) {
  HostLinks host = one_link(50_gbps, 0, 1);
  host.receive_buffer = Bytes(1);
  auto network = network_on(switch_of(3, std::move(host)), lossless());
  completion_times(*network, {{1, 0, 4_MiB}, {2, 0, 4_MiB}});
  EXPECT_EQ(network->counters().dropped_packets, 0U);
}

TEST(Host, Without_flow_control_a_full_buffer_drops) {
  FabricProfile p = lossless();
  p.pfc.enabled = false;
  p.transport.recovery = catalog::LossRecovery::kSelectiveRepeat;
  p.transport.window = 512_KiB;
  auto network = network_on(switch_of(2, one_link(100_gbps, 0, 1)), p);
  // Half of what comes waits: 256 KiB of a message are more than the buffer has, 128 KiB are not.
  completion_times(*network, {{0, 1, 128_KiB}});
  EXPECT_EQ(network->counters().dropped_packets, 0U);
  completion_times(*network, {{0, 1, 1_MiB}});
  EXPECT_GT(network->counters().dropped_packets, 0U);
  EXPECT_EQ(network->counters().bytes_delivered, (128_KiB + 1_MiB).count());
}

TEST(Host, Tcp_finds_the_rate_of_a_slow_receiver_by_loss) {
  FabricProfile p = tcp();
  p.tcp.cpu_per_packet = 50_ns;
  p.tcp.cpu_ns_per_byte = 0.005;
  p.tcp.minimum_rto = 1_ms;
  auto network = network_on(switch_of(2, one_link(50_gbps, 0, 1)), p);
  const Time done = completion_times(*network, {{0, 1, 64_MiB}}).front();
  EXPECT_GT(network->counters().dropped_packets, 0U);
  EXPECT_GT(gbps(64_MiB, done), 35);
  EXPECT_LT(gbps(64_MiB, done), 50);
}

// ACS: both directions cross the same link. One direction alone has it to itself.
TEST(Host, Both_directions_share_a_link_that_they_cross) {
  for (const FabricProfile& p : {infiniband(), lossless()}) {
    const auto f = switch_of(2, one_link(200_gbps, 1, 1));
    auto alone = network_on(f, p);
    const Time one_way = completion_times(*alone, {{0, 1, 16_MiB}}).front();
    EXPECT_GT(gbps(16_MiB, one_way), 195) << p.id;
    auto both = network_on(f, p);
    const auto done = completion_times(*both, {{0, 1, 16_MiB}, {1, 0, 16_MiB}});
    for (const Time t : done) EXPECT_NEAR(gbps(16_MiB, t), 100, 1) << p.id;
    EXPECT_EQ(both->counters().dropped_packets, 0U);
  }
}

TEST(Host, Adapters_share_a_link_packet_by_packet) {
  fabric::TopologySpec spec = topology(fabric::TopologyKind::kSingleSwitch, 2);
  spec.gpus_per_node = spec.nics_per_node = 4;
  HostLinks host = one_link(300_gbps, 1, 0);
  host.links.push_back(host.links[0]);
  host.ways = {host.ways[0], host.ways[0], host.ways[0], host.ways[0]};
  host.ways[3].send[0].link = 1;
  spec.host = host;
  const auto f = std::make_shared<const fabric::Fabric>(fabric::build(spec));
  auto network = network_on(f, infiniband());
  const auto done =
      completion_times(*network, {{0, 4, 16_MiB}, {1, 5, 16_MiB}, {2, 6, 16_MiB}, {3, 7, 16_MiB}});
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(gbps(16_MiB, done[i]), 100, 1);
  EXPECT_GT(gbps(16_MiB, done[3]), 195);
}

TEST(Host, Latency_of_the_way_is_added_at_both_ends) {
  for (const FabricProfile& p : {infiniband(), lossless(), tcp()}) {
    HostLinks far;
    far.send_latency = 640_ns;
    far.receive_latency = 320_ns;
    const auto time = [&](HostLinks host) {
      auto network = network_on(switch_of(2, std::move(host)), p);
      return completion_times(*network, {{0, 1, 8_B}}).front();
    };
    EXPECT_EQ(time(far), time({}) + 960_ns) << p.id;
  }
}

// GPUDirect off: the first chunk of a message is copied before it is sent, the last one after it
// has come.
TEST(Host, Staging_adds_a_copy_of_a_chunk_at_either_end) {
  HostLinks staged;
  staged.copy_chunk = 512_KiB;
  staged.copy_rate = 400_gbps;
  staged.copy_latency = 1_us;
  const auto time = [&](Bytes size, const HostLinks& host) {
    auto network = network_on(switch_of(2, host), infiniband());
    return completion_times(*network, {{0, 1, size}}).front();
  };
  for (const Bytes size : {8_B, 64_KiB, 512_KiB, 8_MiB}) {
    const Time copy = 1_us + base::transmission_time(std::min(size, 512_KiB), 400_gbps);
    EXPECT_EQ(time(size, staged), time(size, {}) + copy * 2);
  }
}

// Copies of one adapter's messages are in turn: a short message does not overtake a long one.
TEST(Host, Staged_messages_keep_their_order) {
  HostLinks staged;
  staged.copy_chunk = 512_KiB;
  staged.copy_rate = 400_gbps;
  auto network = network_on(switch_of(2, staged), infiniband());
  const auto done = completion_times(*network, {{0, 1, 512_KiB}, {0, 1, 8_B}});
  EXPECT_GE(done[1] + base::transmission_time(512_KiB, 400_gbps), done[0]);
  EXPECT_EQ(network->counters().bytes_delivered, (512_KiB).count() + 8);
}

/// Random links that all adapters' payload may cross, some of them slower than the wire.
HostLinks random_host(std::uint64_t number) {
  base::RandomStream random(number, "host");
  HostLinks host;
  host.ways.resize(1);
  for (std::uint32_t i = 0; i < 3; ++i) {
    host.links.push_back(
        {HostLinkKind::kUplink, Rate::gigabits_per_second(40 + 300 * random.uniform())});
    if (random.below(2) == 0) host.ways[0].send.push_back({i, 0.5 + random.uniform()});
    if (random.below(2) == 0) host.ways[0].receive.push_back({i, 0.5 + random.uniform()});
  }
  host.receive_buffer = Bytes(static_cast<std::int64_t>(1 + random.below(200'000)));
  host.receive_latency = Time::picoseconds(static_cast<std::int64_t>(random.below(1'000'000)));
  if (random.below(2) == 0) {
    host.copy_chunk = 64_KiB;
    host.copy_rate = 400_gbps;
  }
  return host;
}

RandomScenario with_hosts(RandomScenario s, std::uint64_t number) {
  fabric::TopologySpec spec = s.fabric->spec();
  spec.host = random_host(number);
  if (s.profile.kind == FabricKind::kTcp) {
    spec.host.receive_buffer += s.profile.link.mtu + s.profile.link.header;  // a segment fits
  }
  s.fabric = std::make_shared<const fabric::Fabric>(fabric::build(spec));
  return s;
}

class RandomHosts : public ::testing::TestWithParam<FabricKind> {};

TEST_P(RandomHosts, Everything_arrives_and_the_books_are_right) {
  for (std::uint64_t n = 0; n < 60; ++n) {
    expect_invariants(with_hosts(random_scenario(GetParam(), n, false), n), n);
  }
}

TEST_P(RandomHosts, So_they_are_under_faults) {
  for (std::uint64_t n = 0; n < 60; ++n) {
    RandomScenario s = with_hosts(random_scenario(GetParam(), n, true), n);
    if (GetParam() == FabricKind::kRoceV2) {  // what no class is lossless for needs room, too
      fabric::TopologySpec spec = s.fabric->spec();
      spec.host.receive_buffer += 8_KiB;
      s.fabric = std::make_shared<const fabric::Fabric>(fabric::build(spec));
    }
    expect_invariants_under_faults(s, n);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, RandomHosts,
                         ::testing::Values(FabricKind::kInfiniBand, FabricKind::kRoceV2,
                                           FabricKind::kTcp));

}  // namespace
}  // namespace fabricast::packet
