// NCCL's choice, against its sources and against what people measured.

#include "collective/choice.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace fabricast::collective {
namespace {

using namespace base::literals;
using base::Bytes;
using base::Rank;

std::vector<Rank> ranks(std::uint32_t n, std::uint32_t stride = 1) {
  std::vector<Rank> group;
  for (std::uint32_t i = 0; i < n; ++i) group.emplace_back(i * stride);
  return group;
}

Machine a100() {
  return {.compute_capability = 8.0,
          .nics_per_node = 4,
          .nic_gb_per_s = 25,
          .nvlink_gb_per_s = 240,
          .nvls = false};
}

TEST(Estimate, small_all_reduces_take_what_was_measured) {
  // NCCL's own figures: a tree with LL, 6.8 + 2 (7 x 0.6 + log2(nodes) x 5.0) us.
  const double two = *estimate_us(Op::kAllReduce, 8_B, {2, 8}, {}, Algorithm::kTree, Protocol::kLl);
  EXPECT_NEAR(two, 25.2, 0.01);
  // nccl-tests issue 309, two nodes of eight H100 on InfiniBand: 24.7 to 25.3 us.
  EXPECT_NEAR(two, 25.0, 0.5);
  // NCCL issue 652, 256 A100 on InfiniBand HDR, 8 B to 128 B: 62.9 to 65.5 us.
  const double many =
      *estimate_us(Op::kAllReduce, 64_B, {32, 8}, a100(), Algorithm::kTree, Protocol::kLl);
  EXPECT_NEAR(many, 63.9, 2);
}

TEST(Choice, goes_from_tree_with_ll_to_rings_or_nvlstree_with_simple_as_sizes_grow) {
  const auto group = ranks(256);
  const auto at = [&](Bytes size, const Machine& machine) {
    const Choice choice = choose(Op::kAllReduce, size, group, machine);
    return std::pair(choice.algorithm, choice.protocol);
  };
  EXPECT_EQ(at(8_B, a100()), std::pair(Algorithm::kTree, Protocol::kLl));
  EXPECT_EQ(at(4_MiB, a100()).first, Algorithm::kTree);
  EXPECT_EQ(at(16_GiB, a100()), std::pair(Algorithm::kRing, Protocol::kSimple));
  EXPECT_EQ(at(8_B, {}), std::pair(Algorithm::kTree, Protocol::kLl));
  EXPECT_EQ(at(1_GiB, {}), std::pair(Algorithm::kNvlsTree, Protocol::kSimple));
}

TEST(Choice, one_node_of_hopper_reduces_in_its_switches_when_it_is_worth_it) {
  const auto group = ranks(8);
  EXPECT_EQ(choose(Op::kAllReduce, 1_KiB, group, {}).protocol, Protocol::kLl);
  EXPECT_EQ(choose(Op::kAllReduce, 1_GiB, group, {}).algorithm, Algorithm::kNvls);
  EXPECT_EQ(choose(Op::kAllReduce, 1_GiB, group, a100()).algorithm, Algorithm::kRing);
}

TEST(Choice, what_gathers_and_scatters_between_nodes_goes_round_rings) {
  for (const Op op : {Op::kAllGather, Op::kReduceScatter, Op::kBroadcast}) {
    EXPECT_EQ(choose(op, 64_MiB, ranks(32), {}).algorithm, Algorithm::kRing) << name_of(op);
  }
}

TEST(Choice, few_bytes_take_few_channels) {
  // 512 threads x 64 bytes are worth a channel with Simple.
  const Wishes ring{.algorithm = Algorithm::kRing, .protocol = Protocol::kSimple};
  const auto channels = [&](Bytes size) {
    return choose(Op::kAllReduce, size, ranks(16), {}, ring).cutting.channels;
  };
  EXPECT_EQ(channels(8_B), 1U);
  EXPECT_EQ(channels(128_KiB), 4U);
  EXPECT_EQ(channels(1_GiB), 16U);
}

TEST(Choice, channels_are_two_for_each_adapter_beside_the_group) {
  Machine machine;
  EXPECT_EQ(choose(Op::kAllGather, 1_GiB, ranks(32), machine).cutting.channels, 16U);
  // One GPU of each node: its own adapter.
  EXPECT_EQ(choose(Op::kAllGather, 1_GiB, ranks(4, 8), machine).cutting.channels, 2U);
  machine.nics_per_node = 1;
  EXPECT_EQ(choose(Op::kAllGather, 1_GiB, ranks(32), machine).cutting.channels, 2U);
}

TEST(Choice, wishes_stand_above_it) {
  const Choice choice =
      choose(Op::kAllReduce, 1_GiB, ranks(32), {}, {.algorithm = Algorithm::kTree, .channels = 3});
  EXPECT_EQ(choice.algorithm, Algorithm::kTree);
  EXPECT_EQ(choice.cutting.channels, 3U);
}

TEST(Choice, what_cannot_be_had_is_refused) {
  EXPECT_THROW(choose(Op::kAllGather, 1_MiB, ranks(32), {}, {.algorithm = Algorithm::kTree}),
               base::Error);
  EXPECT_THROW(choose(Op::kAllReduce, 1_MiB, ranks(8), a100(), {.algorithm = Algorithm::kNvls}),
               base::Error);
  EXPECT_THROW(choose(Op::kAllReduce, 1_MiB, ranks(32), {},
                      {.algorithm = Algorithm::kNvlsTree, .protocol = Protocol::kLl}),
               base::Error);
  EXPECT_THROW(choose(Op::kAllReduce, 1_MiB, ranks(32), {}, {.algorithm = Algorithm::kSharp}),
               base::Error);
}

TEST(Choice, sharp_is_offered_where_the_switches_reduce) {
  Machine machine;
  machine.sharp = true;
  const Choice choice =
      choose(Op::kAllReduce, 1_MiB, ranks(64), machine, {.algorithm = Algorithm::kSharp});
  EXPECT_EQ(make(Op::kAllReduce, ranks(64), 1_MiB, choice)->reductions().size(), 8U);
}

}  // namespace
}  // namespace fabricast::collective
