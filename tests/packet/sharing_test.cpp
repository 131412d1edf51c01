// Who gets what of a chain of switches in the long run, against closed forms.
//
// Lossless hop by hop, a network of round-robin queues, one for each flow, gives max-min fair rates
// (Hahne, "Round-robin scheduling for max-min fairness in data networks", IEEE JSAC 1991). With one
// queue for all, an egress serves its ingresses alike instead, whatever number of flows comes by
// each, and an ingress goes at the pace of the slowest egress that it feeds.

#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "base/random.h"
#include "endless.h"
#include "fabric/custom.h"
#include "max_min.h"

namespace fabricast::packet {
namespace {

using namespace testing;
using Control = catalog::RdmaCongestionControl;

/// Flows along a chain of switches that cables of `gbps` join: from an adapter of its own at switch
/// `from` to one of its own at switch `to`, further on.
struct Chain {
  struct Stream {
    int from;
    int to;
  };
  std::vector<double> gbps;
  std::vector<Stream> streams;
  double cable_m = 10;

  std::shared_ptr<const fabric::Fabric> build() const {
    fabric::CustomSpec spec;
    spec.nic_rate = 200_gbps;
    spec.adapter_cable_m = cable_m;
    for (std::size_t i = 0; i <= gbps.size(); ++i) {
      spec.switches.push_back({std::string("s").append(std::to_string(i)), i == 0 ? 2 : 1});
    }
    for (std::size_t i = 0; i < gbps.size(); ++i) {
      const int at = static_cast<int>(i);
      spec.cables.push_back({at, at + 1, Rate::gigabits_per_second(gbps[i]), cable_m});
    }
    for (const Stream& stream : streams) spec.adapters.push_back(stream.from);
    for (const Stream& stream : streams) spec.adapters.push_back(stream.to);
    return std::make_shared<const fabric::Fabric>(fabric::custom(spec));
  }

  std::vector<Pair> pairs(bool class_each) const {
    std::vector<Pair> result;
    const auto n = static_cast<std::uint32_t>(streams.size());
    for (std::uint32_t i = 0; i < n; ++i) result.push_back({i, n + i, class_each ? i : 0});
    return result;
  }

  /// Max-min fair rates of the chain in Gb/s.
  std::vector<double> fair() const {
    Routes routes;
    std::vector<double> capacity = gbps;
    for (const Stream& stream : streams) {
      std::vector<std::size_t>& route = routes.emplace_back();
      for (int i = stream.from; i < stream.to; ++i) route.push_back(static_cast<std::size_t>(i));
      route.push_back(capacity.size());  // its adapter
      capacity.push_back(200);
    }
    return max_min(routes, capacity);
  }
};

FabricProfile lossless(FabricProfile p, int classes) {
  p.ecn.enabled = false;
  p.congestion.control = Control::kNone;
  p.classes.count = p.pfc.lossless_classes = classes;
  p.switching.buffer = Bytes(6'000'000);
  return p;
}

/// Rates on the wire in Gb/s, headers included, once the queues are full.
std::vector<double> settled(const Chain& chain, const FabricProfile& profile, Time warm_up,
                            Time duration) {
  Endless flows(network_on(chain.build(), profile), chain.pairs(profile.classes.count > 1));
  flows.rates(warm_up);
  std::vector<double> rates = flows.rates(duration);
  const double header = static_cast<double>(
      profile.link.header.count() +
      (profile.congestion.control == Control::kHpcc ? profile.hpcc.int_header.count() : 0));
  for (double& rate : rates) rate *= 1 + header / static_cast<double>(profile.link.mtu.count());
  return rates;
}

void expect_rates(const std::vector<double>& rates, const std::vector<double>& expected,
                  double tolerance, const std::string& what) {
  ASSERT_EQ(rates.size(), expected.size());
  for (std::size_t i = 0; i < rates.size(); ++i) {
    EXPECT_NEAR(rates[i] / expected[i], 1.0, tolerance)
        << what << ", flow " << i << ": " << rates[i] << " for " << expected[i];
  }
}

// The first link has 100 Gb/s for three flows, the second 60 for three, the third 160 for four. The
// second is the tightest: 20 each; what this leaves of the first is 40 for each of two, and of the
// third 60.
TEST(Sharing, WithAClassForEachFlowIsMaxMinFair) {
  const Chain chain{{100, 60, 160}, {{0, 3}, {0, 1}, {0, 1}, {1, 2}, {1, 3}, {2, 3}, {2, 3}}};
  const std::vector<double> expected = {20, 40, 40, 20, 20, 60, 60};
  EXPECT_EQ(chain.fair(), expected);
  for (const auto& profile : {lossless(infiniband(), 7), lossless(roce(), 7)}) {
    expect_rates(settled(chain, profile, 5_ms, 20_ms), expected, 0.02, profile.id);
  }
}

// Chains of four to six switches with cables of 20 to 180 Gb/s, and eight flows anywhere.
TEST(Sharing, WithAClassForEachFlowIsMaxMinFairOnRandomChains) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    base::RandomStream random(seed, "chains");
    Chain chain;
    const int cables = 3 + static_cast<int>(random.below(3));
    for (int i = 0; i < cables; ++i) {
      chain.gbps.push_back(20 * static_cast<double>(1 + random.below(9)));
    }
    for (int i = 0; i < 8; ++i) {
      const int from = static_cast<int>(random.below(static_cast<std::uint64_t>(cables)));
      const int hops =
          1 + static_cast<int>(random.below(static_cast<std::uint64_t>(cables - from)));
      chain.streams.push_back({from, from + hops});
    }
    for (const auto& profile : {lossless(infiniband(), 8), lossless(roce(), 8)}) {
      expect_rates(settled(chain, profile, 10_ms, 20_ms), chain.fair(), 0.03,
                   profile.id + ", chain " + std::to_string(seed));
    }
  }
}

// The parking lot: a flow joins at each switch, all for the last one. Each merge is halved between
// the newcomer and all that came before: 1/8, 1/8, 1/4, 1/2 of the exit instead of a quarter each.
TEST(Sharing, OfOneQueueIsByIngressAsInAParkingLot) {
  const Chain lot{{100, 100, 100, 100}, {{0, 4}, {1, 4}, {2, 4}, {3, 4}}};
  EXPECT_EQ(lot.fair(), std::vector<double>(4, 25));
  for (const auto& profile : {lossless(infiniband(), 1), lossless(roce(), 1)}) {
    expect_rates(settled(lot, profile, 10_ms, 20_ms), {12.5, 12.5, 25, 50}, 0.03, profile.id);
  }
  for (const auto& profile : {lossless(infiniband(), 4), lossless(roce(), 4)}) {
    expect_rates(settled(lot, profile, 10_ms, 20_ms), lot.fair(), 0.02, profile.id);
  }
}

/// Two links of 90 Gb/s. The first flow crosses both, the second the first one only, two more the
/// second one only: 30, 60, 30 and 30 in max-min fairness.
Chain two_links() {
  return {{90, 90}, {{0, 2}, {0, 1}, {1, 2}, {1, 2}}};
}

// Head-of-line blocking: the flow that leaves the chain after the first link could have two thirds
// of it, but comes to the second switch by one ingress with the flow that has a third of the second
// link: alike, and at its pace. With credits that ingress has as many places as the two others, 15
// packets in 64 KiB, and one of them always holds a packet of the second flow that passes by: the
// first flow has 14 places of 44.
TEST(Sharing, OfOneQueueHoldsAVictimToThePaceOfItsNeighbour) {
  EXPECT_EQ(two_links().fair(), (std::vector<double>{30, 60, 30, 30}));
  expect_rates(settled(two_links(), lossless(roce(), 1), 10_ms, 20_ms), {30, 30, 30, 30}, 0.02,
               "PFC");
  const double place = 90.0 / 44;
  expect_rates(settled(two_links(), lossless(infiniband(), 1), 10_ms, 20_ms),
               {14 * place, 14 * place, 15 * place, 15 * place}, 0.01, "credits");
  for (const auto& profile : {lossless(infiniband(), 4), lossless(roce(), 4)}) {
    expect_rates(settled(two_links(), profile, 10_ms, 20_ms), two_links().fair(), 0.02, profile.id);
  }
}

// DCQCN stands still where a flow is marked with probability p, p^3 = R_AI / (tau' R^2) (1/(T R))^2
// (docs/models/packet.md, where the byte counter, 10 MB, is far from its turn): R goes as p^(-3/4).
// A flow over both links is marked by both. With R1 = 2 R2 by the links' capacities
//
//     p1 = 2^(-4/3) p2,   R0 = (1 + 2^(-4/3))^(-3/4) R2 = 0.778 R2,   R0 + 2 R2 = 90
//
// which gives the long flow 25.2 of its fair 30, and frees the victim.
TEST(Sharing, UnderDcqcnGivesALongWayALowerShare) {
  FabricProfile profile = lossless(roce(), 1);
  profile.ecn.enabled = true;
  profile.congestion.control = Control::kDcqcn;
  const std::vector<double> rates = settled(two_links(), profile, 50_ms, 300_ms);
  const double ratio = std::pow(1 + std::pow(2.0, -4.0 / 3), -3.0 / 4);
  const double r2 = 90 / (2 + ratio);
  expect_rates({rates[0], rates[1], (rates[2] + rates[3]) / 2}, {ratio * r2, 2 * r2, r2}, 0.05,
               "DCQCN");
}

/// Section 5.1 of the paper: packets of 1 KB, cables of 1 us, one T for all.
FabricProfile hpcc() {
  FabricProfile p = lossless(roce(), 1);
  p.link.mtu = 1024_B;
  p.congestion.control = Control::kHpcc;
  p.hpcc.base_rtt = 12_us;
  return p;
}

// HPCC shares one busy link evenly, eta of it, however long the ways are. Over two busy links it
// frees the victim, but the long flow gets less than a fair share: algorithm 1 takes the larger of
// two noisy samples before it averages, which is on the average larger than either's average, and
// a step of W_AI makes up for no more than 0.2 % of that here. (With one average for each link, and
// the larger of these, the same flow gets 26.4 Gb/s: tried, not kept.)
TEST(Sharing, UnderHpccIsFairOverOneBusyLinkAndNotOverTwo) {
  Chain one{{90, 90}, {{0, 2}, {1, 2}, {1, 2}}, 200};
  expect_rates(settled(one, hpcc(), 40_ms, 20_ms), std::vector<double>(3, 0.95 * 30), 0.05, "one");
  Chain two = two_links();
  two.cable_m = 200;
  const std::vector<double> rates = settled(two, hpcc(), 20_ms, 20_ms);
  EXPECT_NEAR((rates[0] + rates[1]) / 90, 0.95, 0.02);
  EXPECT_NEAR((rates[0] + rates[2] + rates[3]) / 90, 0.95, 0.02);
  EXPECT_GT(rates[1], 0.95 * 60);
  EXPECT_LT(rates[0], 0.8 * 0.95 * 30);
}

// InfiniBand's control frees the victim, too. The long flow is marked at two places, and one mark
// weighs as much as another: it has less than a fair share, but is not starved.
TEST(Sharing, UnderInfiniBandsControlFreesTheVictim) {
  FabricProfile profile = lossless(infiniband(), 1);
  profile.congestion.control = Control::kInfiniBand;
  const std::vector<double> rates = settled(two_links(), profile, 20_ms, 50_ms);
  EXPECT_GT(rates[1], 0.95 * 60);
  EXPECT_LT(rates[0], 0.95 * 30);
  EXPECT_GT(rates[0], 0.4 * 30);
}

}  // namespace
}  // namespace fabricast::packet
