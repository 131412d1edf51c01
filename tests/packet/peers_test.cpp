// Workloads that two independent packet simulators have run, on the same fabric: htsim (Broadcom's
// csg-htsim, RoCE) and ns-3 (the HPCC model, in three forks). Their results and settings, and what
// differs: docs/models/peers.md.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "base/statistics.h"
#include "permutation.h"

namespace fabricast::packet {
namespace {

using namespace testing;

constexpr double kBytesPerMs = 12.5e6;  // 100 Gb/s

/// Wire bytes of a message of `bytes`.
double wire_bytes(const FabricProfile& profile, std::int64_t bytes) {
  const std::int64_t mtu = profile.link.mtu.count();
  const std::int64_t packets = (bytes + mtu - 1) / mtu;
  return static_cast<double>(bytes + packets * profile.link.header.count());
}

double highest(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

/// The time of a message over so many links, each of 1 us, with a switch between any two that
/// stores and forwards, until its acknowledgement is back: what an idle network takes.
double idle_us(const FabricProfile& profile, std::int64_t bytes, int links) {
  const double packet = static_cast<double>((profile.link.mtu + profile.link.header).count());
  const double ack = static_cast<double>(profile.link.ack.count());
  return (wire_bytes(profile, bytes) + (links - 1) * packet + links * ack) / kBytesPerMs * 1e3 +
         2.0 * links;
}

// W2. 64 flows into one port end when the port has carried them all, and the last byte has come
// from the furthest sender: six links of 1 us, five of which its first packet had to be stored for.
TEST(PeersIncast, EndsWhenItsLastLinkHasCarriedAll) {
  for (const auto& profile : {bench::htsim_profile(), bench::ns3_profile({})}) {
    const auto outcome = bench::incast(profile, Bytes(1'000'000));
    const double bound = 64 * wire_bytes(profile, 1'000'000) / kBytesPerMs * 1e3;
    EXPECT_GT(outcome.last_us, bound + 6);
    EXPECT_LT(outcome.last_us, bound + 20);
    EXPECT_EQ(outcome.counters.dropped_packets, 0U);
  }
}

// htsim: mean 203.8 ms, last 260.0 ms.
TEST(PeersIncast, AgreesWithHtsim) {
  const auto outcome = bench::incast(bench::htsim_profile(), Bytes(50'000'000));
  EXPECT_NEAR(base::mean(outcome.completion_us) * 1e-3 / 203.8, 1.0, 0.05);
  EXPECT_NEAR(highest(outcome.completion_us) * 1e-3 / 260.0, 1.0, 0.001);
}

// ns-3: mean 201.7 ms, last 258.6 ms (its packets need 259.0 ms on the wire; a clock of 1 ns cuts
// each serialisation short).
TEST(PeersIncast, AgreesWithNs3) {
  const auto outcome = bench::incast(bench::ns3_profile({}), Bytes(50'000'000));
  EXPECT_NEAR(base::mean(outcome.completion_us) * 1e-3 / 201.7, 1.0, 0.05);
  EXPECT_NEAR(highest(outcome.completion_us) * 1e-3 / 258.6, 1.0, 0.003);
}

/// Of the 128 neighbours of the ring 96 share a ToR, 24 a pod, and 8 neither: 2, 4 and 6 links.
double idle_step_us(const FabricProfile& profile) {
  const std::int64_t chunk = (256_KiB).count();
  return (96 * idle_us(profile, chunk, 2) + 24 * idle_us(profile, chunk, 4) +
          8 * idle_us(profile, chunk, 6)) /
         128;
}

/// A step lasts from the end of the one before, when it may start, until its last packet is
/// acknowledged. It takes at least what an idle network takes, and longer where two chunks have
/// come to be at one host: by a tenth at most, or the ring would have fallen out of step.
void expect_steps(const bench::Outcome& outcome, const FabricProfile& profile) {
  const std::vector<double>& steps = outcome.completion_us;
  EXPECT_EQ(steps.size(), 128U * 254);
  EXPECT_GE(*std::min_element(steps.begin(), steps.end()),
            idle_us(profile, (256_KiB).count(), 2) - 0.001);
  EXPECT_GT(base::mean(steps), idle_step_us(profile));
  EXPECT_LT(base::mean(steps), 1.1 * idle_step_us(profile));
}

// W3. htsim: the last step ends after 7,032 us.
TEST(PeersRing, AgreesWithHtsim) {
  const auto outcome = bench::ring(bench::htsim_profile(), 256_KiB);
  expect_steps(outcome, bench::htsim_profile());
  EXPECT_NEAR(outcome.last_us / 7'032, 1.0, 0.01);
}

// ns-3: a step takes 27.446 us in the mean and 36.995 us at most; the last ends after 6.99 ms.
TEST(PeersRing, AgreesWithNs3) {
  const auto outcome = bench::ring(bench::ns3_profile({}), 256_KiB);
  expect_steps(outcome, bench::ns3_profile({}));
  EXPECT_NEAR(base::mean(outcome.completion_us) / 27.446, 1.0, 0.01);
  EXPECT_NEAR(highest(outcome.completion_us) / 36.995, 1.0, 0.05);
  EXPECT_NEAR(outcome.last_us / 6'990, 1.0, 0.01);
}

// W1. A flow is alone when none of the 3 others of its switch takes its uplink (1 in 4) and none of
// the 12 from its pod's other switches its core (1 in 16); from there the way is given, and no two
// flows that were apart meet.
TEST(PeersPermutation, CollidesAsOftenAsUniformHashesDo) {
  const int seeds = 60;
  double alone = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const PermutationPaths paths = permutation_paths(bench::htsim_profile(), seed);
    alone += static_cast<double>(paths.alone().size());
    for (std::size_t f = 0; f < paths.data.size(); ++f) {
      ASSERT_EQ(paths.data[f].size(), 6U);
      ASSERT_EQ(paths.acknowledgements[f].size(), 6U);
    }
  }
  const double expected = 128 * std::pow(3.0 / 4, 3) * std::pow(15.0 / 16, 12);
  EXPECT_NEAR(alone / seeds / expected, 1.0, 0.08) << "24.9 of 128 flows";
}

// ns-3: mean 18.02 ms, last 35.15 ms, from one hash. Among 200 hashes of ours, whose flows share as
// in max-min fairness (which the whole simulation keeps to within 4 %: peers_slow_test.cpp), both
// are nothing rare.
TEST(PeersPermutation, OfNs3HasAHashLikeOurs) {
  const FabricProfile profile = bench::ns3_profile({});
  std::vector<double> mean_ms;
  std::vector<double> last_ms;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const PermutationPaths paths = permutation_paths(profile, seed);
    const std::vector<double> capacity(paths.flows.size(), kBytesPerMs);
    const auto done = max_min_completions(paths.data, capacity, wire_bytes(profile, 100'000'000));
    mean_ms.push_back(base::mean(done));
    last_ms.push_back(highest(done));
  }
  EXPECT_LT(base::standard_deviation(mean_ms) / base::mean(mean_ms), 0.06);
  EXPECT_LT(base::percentile(mean_ms, 10), 18.02);
  EXPECT_GT(base::percentile(mean_ms, 90), 18.02);
  EXPECT_LT(base::percentile(last_ms, 10), 35.15);
  EXPECT_GT(base::percentile(last_ms, 90), 35.15);
}

/// The bounds of a flow that is alone: it needs its own bytes on the wire, and behind them stand at
/// most the acknowledgements that share its links, one for each packet that their own flows can
/// send in that time.
void expect_near_line_rate(const FabricProfile& profile, const PermutationPaths& paths,
                           std::size_t flow, std::int64_t bytes, double delivered_ms) {
  const double own = wire_bytes(profile, bytes) / kBytesPerMs;
  const double packet = static_cast<double>((profile.link.mtu + profile.link.header).count());
  const double share = static_cast<double>(profile.link.ack.count()) / packet;
  const double path_ms = (6.0 + 5 * packet / kBytesPerMs * 1e3) * 1e-3;
  EXPECT_GE(delivered_ms, own + path_ms - 1e-5);
  EXPECT_LE(delivered_ms, own / (1 - paths.crossing(flow) * share) + 2 * path_ms);
}

TEST(PeersPermutation, GivesAFlowThatIsAloneItsLine) {
  const FabricProfile profile = bench::htsim_profile();
  const bench::Variant variant{.seed = 3, .completion = network::Completion::kDelivered};
  const PermutationPaths paths = permutation_paths(profile, variant.seed);
  const auto outcome =
      bench::permutation(profile, bench::fat_tree(8, 128), Bytes(4'000'000), variant);
  ASSERT_GT(paths.alone().size(), 10U);
  for (const std::size_t flow : paths.alone()) {
    expect_near_line_rate(profile, paths, flow, 4'000'000, outcome.completion_us[flow] * 1e-3);
  }
}

}  // namespace
}  // namespace fabricast::packet
