#include "network/pairs.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "fake_network.h"

namespace fabricast::network {
namespace {

using fabric::TopologyKind;

void expect_reachable(const fabric::Fabric& fabric, const Pair& pair) {
  EXPECT_NE(fabric.node_of(pair.src), fabric.node_of(pair.dst));
  EXPECT_TRUE(fabric.connected(fabric.endpoint_of(pair.src), fabric.endpoint_of(pair.dst)));
}

// 2 nodes of 4 GPUs: each of 8 senders has 4 GPUs elsewhere.
TEST(Pairs, AllCrossNodePairsAreTakenWhenTheyAreFew) {
  const auto fabric = small_fabric(2, TopologyKind::kSingleSwitch);
  const auto pairs = cross_node_pairs(fabric, 32);
  std::set<std::pair<base::Rank, base::Rank>> distinct;
  for (const Pair& pair : pairs) {
    expect_reachable(fabric, pair);
    distinct.insert({pair.src, pair.dst});
  }
  EXPECT_EQ(distinct.size(), 32U);
}

TEST(Pairs, OfMoreAnEvenChoiceIsTaken) {
  const auto fabric = small_fabric(16, TopologyKind::kSingleSwitch);
  const auto pairs = cross_node_pairs(fabric, 32);
  ASSERT_EQ(pairs.size(), 32U);
  std::map<int, int> from;
  std::map<int, int> to;
  for (const Pair& pair : pairs) {
    expect_reachable(fabric, pair);
    ++from[fabric.node_of(pair.src)];
    ++to[fabric.node_of(pair.dst)];
  }
  EXPECT_EQ(from.size(), 16U);
  for (const auto& [node, count] : from) EXPECT_EQ(count, 2) << node;
  EXPECT_GE(to.size(), 12U);  // a fair random choice leaves 2.0 of 16 nodes out on average
}

TEST(Pairs, OnRailsOnlyGpusOfOneRailMeet) {
  const auto fabric = small_fabric(8, TopologyKind::kRailOnly);
  const auto few = cross_node_pairs(fabric, 16);
  const auto all = cross_node_pairs(fabric, 10'000);
  EXPECT_EQ(few.size(), 16U);
  EXPECT_EQ(all.size(), 32U * 7);  // each of 32 GPUs meets its counterpart in 7 nodes
  for (const Pair& pair : few) expect_reachable(fabric, pair);
}

TEST(Pairs, OneNodeHasNone) {
  EXPECT_TRUE(cross_node_pairs(small_fabric(1, TopologyKind::kSingleSwitch), 64).empty());
}

// 60,000 draws over 60 GPUs elsewhere: 1,000 each, standard deviation 31.4; five of them allowed.
TEST(Pairs, RandomPeersAreUniformOverTheOtherNodes) {
  const auto fabric = small_fabric(16, TopologyKind::kSingleSwitch);
  base::RandomStream random(1, "test");
  std::map<base::Rank, int> count;
  for (int i = 0; i < 60'000; ++i) ++count[random_peer(fabric, base::Rank(17), random)];
  EXPECT_EQ(count.size(), 60U);
  for (const auto& [gpu, n] : count) {
    expect_reachable(fabric, {base::Rank(17), gpu});
    EXPECT_NEAR(n, 1000, 157) << gpu.index();
  }
}

}  // namespace
}  // namespace fabricast::network
