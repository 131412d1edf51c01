#include "packet/arbiter.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace fabricast::packet {
namespace {

using Kind = Arbiter::Kind;
using Served = std::array<std::int64_t, catalog::kMaxClasses>;

/// Packets of each class out of `packets`, all of `size`, when the classes of `eligible` always
/// have one.
Served serve(Kind kind, const Arbiter::Classes& classes, unsigned eligible, std::int64_t size,
             int packets) {
  Arbiter arbiter(kind);
  Served served{};
  for (int i = 0; i < packets; ++i) {
    const unsigned c = arbiter.choose(classes, eligible);
    arbiter.served(classes, c, size);
    ++served[c];
  }
  return served;
}

Arbiter::Classes weights(std::array<int, catalog::kMaxClasses> weight) {
  Arbiter::Classes classes;
  classes.count = catalog::kMaxClasses;
  classes.weight = weight;
  return classes;
}

// A packet of 4126 bytes is 65 blocks. Weight 64 lets one go, 192 three (130 blocks leave 62).
TEST(VlArbitration, CountsWeightsInBlocksAndLetsTheLastPacketOverdraw) {
  const Served served = serve(Kind::kInfiniBand, weights({192, 64}), 3, 4126, 4000);
  EXPECT_EQ(served[0], 3000);
  EXPECT_EQ(served[1], 1000);
}

// 195 blocks are three packets of 65 blocks and no byte more, though 4126 is not a multiple of 64.
TEST(VlArbitration, RoundsPacketsUpToBlocks) {
  const Served served = serve(Kind::kInfiniBand, weights({195, 65}), 3, 4126, 4000);
  EXPECT_EQ(served[0], 3000);
}

// opensm(8): "for 4KB MTU a single packet will require 64 credits, so ... the weighting values for
// each VL should be multiples of 64".
TEST(VlArbitration, DoesNotTellApartWeightsBelowOnePacket) {
  const Served served = serve(Kind::kInfiniBand, weights({3, 1}), 3, 4126, 4000);
  EXPECT_EQ(served[0], 2000);
}

// HighPriLimit x 4096 bytes of the high table, rounded up to packets, then one low packet.
TEST(VlArbitration, GivesTheLowTableOnePacketAfterTheHighLimit) {
  struct Case {
    int limit;
    std::int64_t size;
    int high_per_low;
  };
  for (const Case& k : {Case{0, 4126, 1}, Case{1, 4126, 1}, Case{1, 2078, 2}, Case{4, 4126, 4},
                        Case{6, 4126, 6}, Case{2, 1054, 8}}) {
    Arbiter::Classes classes = weights({64});
    classes.high_weight[1] = 64;
    classes.high_limit = k.limit;
    const int packets = 100 * (k.high_per_low + 1);
    const Served served = serve(Kind::kInfiniBand, classes, 3, k.size, packets);
    EXPECT_EQ(served[0], 100) << "limit " << k.limit << ", " << k.size << " bytes";
  }
}

TEST(VlArbitration, StarvesTheLowTableWithoutALimit) {
  Arbiter::Classes classes = weights({64});
  classes.high_weight[1] = 64;
  classes.high_limit = 255;
  EXPECT_EQ(serve(Kind::kInfiniBand, classes, 3, 4126, 1000)[0], 0);
  EXPECT_EQ(serve(Kind::kInfiniBand, classes, 1, 4126, 1000)[0], 1000) << "alone it has it all";
}

// The limit counts while the low table waits: traffic that passed an idle one does not shorten the
// next turn of the high table.
TEST(VlArbitration, CountsTheLimitOnlyWhileTheLowTableWaits) {
  Arbiter::Classes classes = weights({64});
  classes.high_weight[1] = 64;
  classes.high_limit = 4;
  Arbiter arbiter;
  for (int i = 0; i < 50; ++i) arbiter.served(classes, arbiter.choose(classes, 2), 4126);
  int high = 0;
  while (arbiter.choose(classes, 3) == 1) {
    arbiter.served(classes, 1, 4126);
    ++high;
  }
  EXPECT_EQ(high, 4);
}

TEST(VlArbitration, SharesTheHighTableByItsWeights) {
  Arbiter::Classes classes = weights({});
  classes.high_weight = {0, 128, 64};
  const Served served = serve(Kind::kInfiniBand, classes, 6, 4126, 3000);
  EXPECT_EQ(served[1], 2000);
  EXPECT_EQ(served[2], 1000);
}

TEST(VlArbitration, ServesAClassOfNoTableFromWhatTheTablesLeave) {
  const Served beside = serve(Kind::kInfiniBand, weights({64}), 3, 4126, 100);
  EXPECT_EQ(beside[1], 0);
  EXPECT_EQ(serve(Kind::kInfiniBand, weights({64}), 2, 4126, 100)[1], 100);
}

// Deficit round robin: any weights, whatever the packets.
TEST(WeightedScheduling, OnEthernetIsInProportionToAnyWeights) {
  for (const auto& [a, b] : {std::pair{3, 1}, {1, 3}, {7, 5}, {255, 1}, {100, 50}}) {
    const Served served = serve(Kind::kEthernet, weights({a, b}), 3, 4178, 20000);
    const double share = static_cast<double>(served[0]) / 20000;
    EXPECT_NEAR(share, static_cast<double>(a) / (a + b), 0.005) << a << ":" << b;
  }
}

TEST(WeightedScheduling, OnEthernetSharesBytesNotPackets) {
  const Arbiter::Classes classes = weights({1, 1});
  Arbiter arbiter(Kind::kEthernet);
  std::array<std::int64_t, 2> bytes{};
  constexpr std::array<std::int64_t, 2> kSizes = {4178, 128};
  for (int i = 0; i < 20000; ++i) {
    const unsigned c = arbiter.choose(classes, 3);
    arbiter.served(classes, c, kSizes[c]);
    bytes[c] += kSizes[c];
  }
  EXPECT_NEAR(static_cast<double>(bytes[0]) / static_cast<double>(bytes[1]), 1.0, 0.02);
}

TEST(WeightedScheduling, OnEthernetForgetsWhatAnIdleClassDidNotUse) {
  const Arbiter::Classes classes = weights({1, 1});
  Arbiter arbiter(Kind::kEthernet);
  for (int i = 0; i < 1000; ++i) arbiter.served(classes, arbiter.choose(classes, 1), 4178);
  int run = 0;
  int longest = 0;
  for (int i = 0; i < 100; ++i) {
    const unsigned c = arbiter.choose(classes, 3);
    arbiter.served(classes, c, 4178);
    run = c == 1 ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  EXPECT_LE(longest, 2);
}

TEST(StrictPriority, ServesTheHighestClass) {
  Arbiter::Classes classes = weights({1, 1, 1});
  classes.scheduling = catalog::Scheduling::kStrict;
  for (const Kind kind : {Kind::kInfiniBand, Kind::kEthernet}) {
    EXPECT_EQ(serve(kind, classes, 7, 4126, 10)[2], 10);
    EXPECT_EQ(serve(kind, classes, 3, 4126, 10)[1], 10);
  }
}

}  // namespace
}  // namespace fabricast::packet
