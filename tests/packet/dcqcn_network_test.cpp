// DCQCN among switches, against the papers that describe and analyse it.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "endless.h"

namespace fabricast::packet {
namespace {

using namespace testing;

/// Pmax is 10 % so that sixteen flows at 40 Gb/s, too, find their probability below it.
FabricProfile paper() {
  return dcqcn_paper(0.1);
}

std::shared_ptr<const fabric::Fabric> forty_gigabit(int nodes) {
  fabric::TopologySpec spec = topology(fabric::TopologyKind::kSingleSwitch, nodes);
  spec.nic_rate = spec.switch_rate = 40_gbps;
  return std::make_shared<const fabric::Fabric>(fabric::build(spec));
}

/// The marking probability at which the fluid model of DCQCN stands still, for a flow of `rate`
/// packets per second (Zhu et al., "ECN or Delay", CoNEXT 2016, equation 11: for small p,
/// p^3 = R_AI / (tau' R^2) (1/B + 1/(T R))^2).
double fixed_point(const FabricProfile& profile, double rate) {
  const double packet = static_cast<double>((profile.link.mtu + profile.link.header).count());
  const auto& d = profile.dcqcn;
  const double b = static_cast<double>(d.byte_counter.count()) / packet;
  const double additive = static_cast<double>(d.additive_increase.bps()) / 8 / packet;
  const double per_packet = 1 / b + 1 / (d.increase_timer.s() * rate);
  return std::cbrt(additive / (d.alpha_timer.s() * rate * rate) * per_packet * per_packet);
}

class DcqcnFixedPoint : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(DcqcnFixedPoint, SharesEvenlyWithTheQueueBetweenKminAndKmax) {
  const std::uint32_t n = GetParam();
  const FabricProfile profile = paper();
  const auto fabric = forty_gigabit(static_cast<int>(n) + 2);
  const Time idle = completion_times(*network_on(fabric, profile), {{n + 1, 0, 1_B}}).front();
  Endless flows(network_on(fabric, profile), many_to_one(n));
  flows.rates(100_ms);
  std::vector<Time> waits;
  const std::vector<double> rates = flows.rates(400_ms, n + 1, 50_us, &waits);
  std::vector<double> queue = queues(waits, idle, 40_gbps);
  std::sort(queue.begin(), queue.end());
  const double p = fixed_point(profile, 40e9 / 8 / 1106 / n);
  const double expected = 5'000 + p / 0.1 * 195'000;
  for (const double rate : rates) {
    EXPECT_NEAR(rate / (40.0 * 1024 / 1106 / n), 1.0, 0.05);
  }
  EXPECT_NEAR(sum(queue) / static_cast<double>(queue.size()) / expected, 1.0, 0.15);
  EXPECT_GT(queue[queue.size() / 2], 0.7 * 5'000) << "about Kmin or above";
  EXPECT_LT(queue[queue.size() * 99 / 100], 200'000) << "below Kmax";
  EXPECT_EQ(flows.network->counters().pause_frames, 0U);
}

INSTANTIATE_TEST_SUITE_P(Flows, DcqcnFixedPoint, ::testing::Values(2, 4, 10, 16));

/// What the pairs of the tree deliver at 40 Gb/s once it has settled, and the pause frames of then.
std::pair<std::vector<double>, std::uint64_t> tree(const FabricProfile& profile) {
  fabric::TopologySpec spec = topology(fabric::TopologyKind::kLeafSpine, 32);
  spec.nic_rate = spec.switch_rate = 40_gbps;
  spec.switch_ports = 16;
  spec.nodes_per_leaf = 8;
  const auto fabric = std::make_shared<const fabric::Fabric>(fabric::build(spec));
  Endless flows(network_on(fabric, profile), congestion_tree_with_a_victim());
  flows.rates(60_ms);
  const std::uint64_t before = flows.network->counters().pause_frames;
  std::vector<double> rates = flows.rates(40_ms);
  return {std::move(rates), flows.network->counters().pause_frames - before};
}

// Zhu et al., SIGCOMM 2015, sections 2.2 and 6.1: with PFC alone those next to the receiver take
// more than those whose port to the receiver's switch is shared, and a flow that only shares a way
// with the incast is paused with it. DCQCN ends both, and the pauses. The fair share of the victim
// is 27.8 Gb/s of payload; it has to get 70 % of it.
TEST(DcqcnInATree, EndsTheParkingLotTheVictimAndThePauses) {
  FabricProfile profile = paper();
  profile.paths.routing = catalog::Routing::kStatic;
  auto [with, pauses_with] = tree(profile);
  profile.ecn.enabled = false;
  profile.congestion.control = catalog::RdmaCongestionControl::kNone;
  auto [without, pauses_without] = tree(profile);
  EXPECT_LT(without.back(), 0.3 * 27.8);
  EXPECT_GT(with.back(), 0.7 * 27.8);
  with.pop_back();
  without.pop_back();
  EXPECT_LT(jain(without), 0.7);
  EXPECT_GT(jain(with), 0.95);
  EXPECT_GT(pauses_without, 1000U);
  EXPECT_EQ(pauses_with, 0U);
}

}  // namespace
}  // namespace fabricast::packet
