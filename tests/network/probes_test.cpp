#include "network/probes.h"

#include <memory>

#include <gtest/gtest.h>

#include "base/error.h"
#include "fake_network.h"

namespace fabricast::network {
namespace {

using namespace base::literals;
using fabric::TopologyKind;

Factory factory_of(const fabric::Fabric& fabric, base::Time latency) {
  return
      [&fabric, latency](std::uint64_t) { return std::make_unique<FakeNetwork>(fabric, latency); };
}

// 8 bytes at 100 Gb/s are 0.64 ns on the wire, then 2 us.
TEST(Probes, IdleLatencyIsHalfARoundTripOfEightBytes) {
  const auto fabric = small_fabric(4, TopologyKind::kSingleSwitch);
  EXPECT_NEAR(idle_latency_us(factory_of(fabric, 2_us), fabric), 2.00064, 1e-9);
}

/// Slower towards one GPU, to tell a median from a mean and a round trip from one way.
class Lopsided : public FakeNetwork {
 public:
  using FakeNetwork::FakeNetwork;
  void send(base::Rank src, base::Rank dst, base::Bytes size, const SendOptions& options,
            Callback on_delivered) override {
    const base::Time extra = dst.index() == 0 ? 1_ms : 0_us;
    FakeNetwork::send(src, dst, size, options,
                      [this, extra, on_delivered = std::move(on_delivered)](base::Time now) {
                        at(now + extra, on_delivered);
                      });
  }
};

TEST(Probes, IdleLatencyIsTheMedianOverThePairs) {
  const auto fabric = small_fabric(4, TopologyKind::kSingleSwitch);
  const Factory factory = [&fabric](std::uint64_t) {
    return std::make_unique<Lopsided>(fabric, 2_us);
  };
  EXPECT_NEAR(idle_latency_us(factory, fabric), 2.00064, 1e-9);
}

// One GPU per node and two nodes: both pairs pass GPU 0, whose millisecond counts half.
TEST(Probes, IdleLatencyCountsBothDirections) {
  fabric::TopologySpec spec = small_fabric(2, TopologyKind::kSingleSwitch).spec();
  spec.gpus_per_node = 1;
  spec.nics_per_node = 1;
  const auto fabric = fabric::build(spec);
  const Factory factory = [&fabric](std::uint64_t) {
    return std::make_unique<Lopsided>(fabric, 2_us);
  };
  EXPECT_NEAR(idle_latency_us(factory, fabric), 502.00064, 1e-6);
}

// 100 MB at 100 Gb/s take 8 ms; with 2 ms of latency 10 ms: 80 Gb/s.
TEST(Probes, BandwidthIsSizeOverTimeToTheLastByte) {
  const auto fabric = small_fabric(2, TopologyKind::kSingleSwitch);
  EXPECT_NEAR(bandwidth_gbps(factory_of(fabric, 2_ms), fabric, 100'000'000_B), 80, 1e-6);
}

TEST(Probes, OneNodeHasNoNetworkToMeasure) {
  const auto fabric = small_fabric(1, TopologyKind::kSingleSwitch);
  EXPECT_EQ(idle_latency_us(factory_of(fabric, 2_us), fabric), 0);
  EXPECT_EQ(bandwidth_gbps(factory_of(fabric, 2_us), fabric, 1_MiB), 0);
}

/// Ends without delivering anything.
class Silent : public FakeNetwork {
 public:
  using FakeNetwork::FakeNetwork;
  void send(base::Rank, base::Rank, base::Bytes, const SendOptions&, Callback) override {}
};

TEST(Probes, ProbesThatNeverArriveAreAFailure) {
  const auto fabric = small_fabric(2, TopologyKind::kSingleSwitch);
  const Factory factory = [&fabric](std::uint64_t) {
    return std::make_unique<Silent>(fabric, 2_us);
  };
  EXPECT_THROW(idle_latency_us(factory, fabric), base::Error);
  EXPECT_THROW(bandwidth_gbps(factory, fabric, 1_MiB), base::Error);
}

// A probe every 100 us for 10 ms from a random phase on: 100 are posted; all but the last arrive.
TEST(Probes, LoadedProbesGoOutAtFixedIntervals) {
  const auto fabric = small_fabric(4, TopologyKind::kSingleSwitch);
  FakeNetwork network(fabric, 2_us);
  const LatencyProbe probe(network, fabric, 100_us, 1);
  network.at(10_ms, [&network](base::Time) { network.stop(); });
  network.run();
  ASSERT_EQ(network.messages.size(), 100U);
  EXPECT_LT(network.messages[0].posted, 100_us);
  for (std::size_t i = 1; i < 100; ++i) {
    EXPECT_EQ(network.messages[i].posted - network.messages[i - 1].posted, 100_us);
    EXPECT_NE(fabric.node_of(network.messages[i].src), fabric.node_of(network.messages[i].dst));
    EXPECT_EQ(network.messages[i].channel, kProbeChannel);
  }
  EXPECT_GE(probe.latencies_us().size(), 99U);
}

// Every adapter is busy with 12.5 MB (1 ms at 100 Gb/s) from the start, so the first probe, posted
// at some t < 950 us, leaves at 1 ms.
TEST(Probes, LoadedProbesWaitBehindTheWorkload) {
  const auto fabric = small_fabric(4, TopologyKind::kSingleSwitch);
  FakeNetwork network(fabric, 2_us);
  for (std::uint32_t gpu = 0; gpu < 16; ++gpu) {
    network.send(base::Rank(gpu), base::Rank((gpu + 4) % 16), 12'500'000_B, {}, [](base::Time) {});
  }
  const LatencyProbe probe(network, fabric, 950_us, 1);
  network.at(3_ms, [&network](base::Time) { network.stop(); });
  network.run();
  const FakeNetwork::Message& first = network.messages[16];
  ASSERT_EQ(first.channel, kProbeChannel);
  ASSERT_FALSE(probe.latencies_us().empty());
  EXPECT_NEAR(probe.latencies_us()[0], 1000 - first.posted.us() + 2.00064, 1e-6);
}

TEST(Probes, DestroyingALoadedProbeSilencesItsTimers) {
  const auto fabric = small_fabric(4, TopologyKind::kSingleSwitch);
  FakeNetwork network(fabric, 2_us);
  {
    const LatencyProbe probe(network, fabric, 100_us, 1);
  }
  network.run();
  EXPECT_TRUE(network.messages.empty());
}

}  // namespace
}  // namespace fabricast::network
