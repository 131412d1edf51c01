#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "fixtures.h"

namespace fabricast::packet {
namespace {

using namespace testing;
using catalog::TcpCongestionControl;

constexpr double kSegment = 8948 + 90;  // bytes on the wire
constexpr double kRate = 200e9 / 8;     // bytes per second

/// Hosts that cost nothing, so that what is seen is the network's.
FabricProfile free_hosts(TcpCongestionControl control) {
  FabricProfile p = tcp();
  p.transport.ack_every = 1;
  p.tcp.congestion_control = control;
  p.tcp.cpu_per_packet = 1_ns;
  p.tcp.cpu_ns_per_byte = 0;
  p.tcp.interrupt_delay = 0_ns;
  p.tcp.cores_per_nic = 16;
  p.tcp.minimum_rto = 10_ms;
  return p;
}

/// One switch with cables of `one_way` each.
std::shared_ptr<const fabric::Fabric> far_apart(int nodes, Time one_way) {
  fabric::TopologySpec spec = topology(fabric::TopologyKind::kSingleSwitch, nodes);
  spec.cable_ns_per_m = one_way.us() * 1000 / spec.cable_m;
  return std::make_shared<const fabric::Fabric>(fabric::build(spec));
}

/// Nodes 1..n send to node 0 without end; node n + 1 measures the queue before node 0 with a byte
/// now and then.
class Bottleneck {
 public:
  Bottleneck(const FabricProfile& profile, int flows, Time one_way)
      : network(network_on(far_apart(flows + 2, one_way), profile)),
        delivered(static_cast<std::size_t>(flows), 0),
        prober_(static_cast<std::uint32_t>(flows) + 1) {
    for (std::uint32_t f = 0; f < static_cast<std::uint32_t>(flows); ++f) {
      for (int ahead = 0; ahead < 16; ++ahead) feed(f);
    }
  }

  /// Runs for `duration`, probing every `period`, which returns the queues seen, in segments.
  std::vector<double> watch(Time duration, Time period) {
    // A probe that was lost may come after the end.
    const auto seen = std::make_shared<std::vector<double>>();
    const Time end = network->now() + duration;
    for (Time at = network->now(); at < end; at += period) {
      network->at(at, [this, seen](Time start) {
        // In turn on connections of their own, so that none has to wait for its window.
        const network::SendOptions options{.channel = 1 + probes_++ % 64,
                                           .completion = network::Completion::kDelivered};
        network->send(Rank(prober_), Rank(0), Bytes(1), options, [this, seen, start](Time now) {
          idle_ = std::min(idle_, now - start);
          seen->push_back((now - start).s());
        });
      });
    }
    network->at(end + 5_ms, [this](Time) { network->stop(); });
    network->run();
    std::vector<double> queues;
    for (const double s : *seen) queues.push_back((s - idle_.s()) * kRate / kSegment);
    return queues;
  }

  std::unique_ptr<network::Network> network;
  std::vector<std::int64_t> delivered;  ///< bytes, by flow

 private:
  void feed(std::uint32_t flow) {
    const Bytes size = 1_MiB;
    network->send(Rank(flow + 1), Rank(0), size, {}, [this, flow, size](Time) {
      delivered[flow] += size.count();
      feed(flow);
    });
  }

  std::uint32_t prober_;
  std::uint32_t probes_ = 0;
  Time idle_ = Time::max();
};

// Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, section 3.3, for N flows in step:
//
//   W* = (C RTT + K) / N,   alpha = sqrt(2 / W*),
//   Q_max = K + N,   A = 1/2 sqrt(2 N (C RTT + K)),   Q_min = Q_max - A,
//
// and alpha is the share of the segments that are marked. Held to 15 % of the amplitude, 10 % of
// alpha and four segments of the peak: flows drift out of step as they grow in number.
class DctcpSawtooth : public ::testing::TestWithParam<int> {};

TEST_P(DctcpSawtooth, SwingsAsThePaperSays) {
  const int n = GetParam();
  const double k = 40;
  FabricProfile profile = free_hosts(TcpCongestionControl::kDctcp);
  profile.ecn.enabled = true;
  profile.ecn.kmin = profile.ecn.kmax = Bytes(static_cast<std::int64_t>(k * kSegment));
  profile.ecn.pmax = 1;
  Bottleneck bottleneck(profile, n, 20_us);
  const Time rtt = 4 * 20_us + 4 * 100_ns + 600_ns + 2_us;  // cables, PHYs, switch, serialisation
  bottleneck.watch(40_ms, 1_ms);
  const auto before = bottleneck.network->counters();
  std::vector<double> queue = bottleneck.watch(60_ms, 7_us);
  const auto after = bottleneck.network->counters();
  EXPECT_EQ(after.dropped_packets, 0U);
  std::sort(queue.begin(), queue.end());
  const double low = queue[queue.size() / 100];
  const double high = queue[queue.size() - queue.size() / 100];
  const double bdp = rtt.s() * kRate / kSegment;
  const double amplitude = std::sqrt(2 * n * (bdp + k)) / 2;
  const double marked = static_cast<double>(after.ecn_marked_packets - before.ecn_marked_packets) /
                        static_cast<double>(after.data_packets - before.data_packets);
  const double alpha = std::sqrt(2 * n / (bdp + k));
  EXPECT_NEAR(high, k + n, 4);
  EXPECT_NEAR((high - low) / amplitude, 1, 0.15);
  EXPECT_NEAR(marked / alpha, 1, 0.1);
}

INSTANTIATE_TEST_SUITE_P(Flows, DctcpSawtooth, ::testing::Values(2, 4, 10));

/// Jain, Chiu and Hawe 1984: 1 when all have the same, 1/n when one has all.
double jain(const std::vector<std::int64_t>& shares) {
  double sum = 0;
  double squares = 0;
  for (const std::int64_t share : shares) {
    sum += static_cast<double>(share);
    squares += static_cast<double>(share) * static_cast<double>(share);
  }
  return sum * sum / (static_cast<double>(shares.size()) * squares);
}

TEST(TcpSharing, EightCubicFlowsShareABottleneckFairly) {
  FabricProfile profile = free_hosts(TcpCongestionControl::kCubic);
  profile.switching.buffer = Bytes(4'000'000);
  Bottleneck bottleneck(profile, 8, 5_us);
  bottleneck.watch(60_ms, 1_ms);
  const std::vector<std::int64_t> before = bottleneck.delivered;
  const Time start = bottleneck.network->now();
  bottleneck.watch(200_ms, 1_ms);
  std::vector<std::int64_t> shares = bottleneck.delivered;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) sum += shares[i] -= before[i];
  const auto counters = bottleneck.network->counters();
  EXPECT_GT(counters.dropped_packets, 0U);
  EXPECT_GT(jain(shares), 0.9);
  EXPECT_GT(static_cast<double>(sum) / (bottleneck.network->now() - start).s() / kRate, 0.9);
}

// RFC 3168: a mark does what a drop would, and nothing is lost.
TEST(TcpSharing, ClassicEcnKeepsTheQueueWithoutLosingASegment) {
  FabricProfile profile = free_hosts(TcpCongestionControl::kCubic);
  profile.ecn.enabled = true;
  profile.ecn.kmin = Bytes(400'000);
  profile.ecn.kmax = Bytes(1'600'000);
  profile.ecn.pmax = 0.1;
  Bottleneck bottleneck(profile, 4, 5_us);
  bottleneck.watch(20_ms, 1_ms);
  const auto counters = bottleneck.network->counters();
  EXPECT_GT(counters.ecn_marked_packets, 0U);
  EXPECT_EQ(counters.dropped_packets, 0U);
  EXPECT_EQ(counters.retransmitted_packets, 0U);
  EXPECT_LT(bottleneck.watch(10_ms, 100_us).back(), 1'600'000 / kSegment + 40);
}

}  // namespace
}  // namespace fabricast::packet
