// Sampling of phases on the textbook network.

#include "collective/sampling.h"

#include <gtest/gtest.h>

#include "base/statistics.h"
#include "clusters.h"
#include "ideal_network.h"

namespace fabricast::collective {
namespace {

using namespace base::literals;
using base::Bytes;
using base::Rank;

using test::IdealNetwork;
using test::IdealSpec;

constexpr int kNodes = 4;
constexpr int kPerNode = 4;

/// One rank of each node per group: four rings that share what the network makes them share.
Phase gradients(Bytes size) {
  Phase phase;
  phase.name = "dp gradients";
  phase.op = Op::kReduceScatter;
  phase.size = size;
  for (std::uint32_t local = 0; local < kPerNode; ++local) {
    auto& group = phase.groups.emplace_back();
    for (std::uint32_t node = 0; node < kNodes; ++node) group.emplace_back(node * kPerNode + local);
  }
  phase.inside_nodes = false;
  phase.preceding_s = 1e-3;
  return phase;
}

network::Factory ideal(IdealSpec spec) {
  return [spec](std::uint64_t) { return std::make_unique<IdealNetwork>(kNodes * kPerNode, spec); };
}

const IdealSpec kPlain{.alpha = 3_us, .beta = 200_gbps};
const IdealSpec kContended{
    .alpha = 3_us, .beta = 200_gbps, .ranks_per_port = kPerNode, .core = 600_gbps};

fabric::Fabric fabric() {
  return fabric::build(test::topology(kNodes, kPerNode));
}

TEST(Sampling, short_phases_run_whole_and_follow_alpha_beta) {
  SamplingSpec spec;
  const auto samples = sample(gradients(2_MiB), fabric(), ideal(kPlain), spec);
  EXPECT_FALSE(samples.extrapolated);
  EXPECT_EQ(samples.extrapolation_error, 0);
  ASSERT_EQ(samples.seconds.size(), 16U);
  // Two channels share a port: three steps of alpha and 1/4 of the buffer each, the second channel
  // one chunk behind; reduction at 1 TB/s.
  const double bytes = 3.0 / 4 * (2 << 20);
  EXPECT_GT(samples.seconds[0], bytes * 8 / 200e9);
  EXPECT_LT(samples.seconds[0], bytes * 8 / 200e9 + 6 * 3e-6 + 12e-6);
}

TEST(Sampling, states_are_equal_without_skew_and_differ_with_it) {
  SamplingSpec spec;
  const auto still = sample(gradients(2_MiB), fabric(), ideal(kContended), spec);
  for (const double t : still.seconds) EXPECT_EQ(t, still.seconds[0]);
  spec.variation = 0.05;
  const auto skewed = sample(gradients(2_MiB), fabric(), ideal(kContended), spec);
  EXPECT_GT(base::standard_deviation(skewed.seconds), 0);
}

TEST(Sampling, extrapolates_within_the_stated_error_of_a_whole_run) {
  SamplingSpec spec;
  spec.variation = 0.02;
  for (const Bytes size : {48_MiB, 160_MiB, Bytes(123'456'789)}) {
    for (const IdealSpec& network : {kPlain, kContended}) {
      spec.whole = false;
      const auto quick = sample(gradients(size), fabric(), ideal(network), spec);
      spec.whole = true;
      spec.states = 4;
      const auto whole = sample(gradients(size), fabric(), ideal(network), spec);
      spec.states = 16;
      EXPECT_TRUE(quick.extrapolated);
      EXPECT_LT(quick.extrapolation_error, 0.03);
      EXPECT_LT(quick.counters.packet_hops / 16, whole.counters.packet_hops / 4);
      // One in a hundred for what the states themselves scatter.
      const double expected = base::mean(whole.seconds);
      EXPECT_NEAR(base::mean(quick.seconds), expected,
                  (quick.extrapolation_error + 0.01) * expected)
          << size.count();
    }
  }
}

TEST(Sampling, packet_resolution_runs_every_byte) {
  SamplingSpec spec;
  spec.whole = true;
  spec.states = 2;
  const auto samples = sample(gradients(96_MiB), fabric(), ideal(kPlain), spec);
  // Each of 16 ranks sends 3/4 of the buffer, in each of two states.
  EXPECT_EQ(samples.counters.bytes_sent, 2 * 16 * (72_MiB).count());
  EXPECT_FALSE(samples.extrapolated);
}

TEST(Sampling, does_not_depend_on_the_number_of_threads) {
  SamplingSpec spec;
  spec.variation = 0.02;
  const auto one = sample(gradients(48_MiB), fabric(), ideal(kContended), spec);
  spec.threads = 2;
  const auto two = sample(gradients(48_MiB), fabric(), ideal(kContended), spec);
  EXPECT_EQ(one.seconds, two.seconds);
  EXPECT_EQ(one.counters.packet_hops, two.counters.packet_hops);
  EXPECT_EQ(one.simulated_s, two.simulated_s);
}

TEST(Sampling, probes_see_the_queue_of_the_phase) {
  SamplingSpec spec;
  spec.probe = true;
  const auto samples = sample(gradients(8_MiB), fabric(), ideal(kContended), spec);
  ASSERT_FALSE(samples.probe_latencies_us.empty());
  // Idle it would be alpha; here chunks of 512 KiB hold the ports for 21 us each.
  EXPECT_GT(base::percentile(samples.probe_latencies_us, 99), 3 + 21);
}

}  // namespace
}  // namespace fabricast::collective
