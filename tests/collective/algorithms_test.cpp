// Algorithms against their papers and against what NCCL's sources say of them.

#include <bit>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "collective/double_tree.h"
#include "collective/run.h"
#include "collective/schedule.h"
#include "ideal_network.h"
#include "network/node_links.h"

namespace fabricast::collective {
namespace {

using namespace base::literals;
using base::Bytes;
using base::Rank;
using base::Time;
using test::IdealNetwork;
using test::IdealSpec;

const IdealSpec kPlain{.alpha = 2_us, .beta = 100_gbps};

std::vector<Rank> ranks(std::uint32_t n) {
  std::vector<Rank> group;
  for (std::uint32_t i = 0; i < n; ++i) group.emplace_back(i);
  return group;
}

std::vector<std::unique_ptr<Schedule>> one(std::unique_ptr<Schedule> schedule) {
  std::vector<std::unique_ptr<Schedule>> all;
  all.push_back(std::move(schedule));
  return all;
}

TEST(DoubleTree, is_the_one_that_nccl_draws_for_14_ranks) {
  // The comment above ncclGetBtree in src/graph/trees.cc.
  const auto children = [](std::uint32_t node) { return tree_node(14, node, 0).children; };
  using Pair = std::array<std::uint32_t, 2>;
  EXPECT_EQ(children(0), (Pair{kNobody, 8}));
  EXPECT_EQ(children(8), (Pair{4, 12}));
  EXPECT_EQ(children(4), (Pair{2, 6}));
  EXPECT_EQ(children(12), (Pair{10, 13}));
  EXPECT_EQ(children(2), (Pair{1, 3}));
  EXPECT_EQ(children(6), (Pair{5, 7}));
  EXPECT_EQ(children(10), (Pair{9, 11}));
  EXPECT_EQ(children(13), (Pair{kNobody, kNobody}));
}

TEST(DoubleTree, spans_all_nodes_in_both_trees) {
  for (std::uint32_t nodes = 1; nodes <= 70; ++nodes) {
    for (const unsigned tree : {0U, 1U}) {
      int roots = 0;
      for (std::uint32_t node = 0; node < nodes; ++node) {
        unsigned depth = 0;
        std::uint32_t at = node;
        while (tree_node(nodes, at, tree).parent != kNobody) {
          const TreeNode here = tree_node(nodes, at, tree);
          EXPECT_EQ(tree_node(nodes, here.parent, tree).children.at(here.turn), at);
          at = here.parent;
          ASSERT_LE(++depth, tree_depth(nodes)) << nodes << " nodes, node " << node;
        }
        roots += at == node ? 1 : 0;
      }
      EXPECT_EQ(roots, 1) << nodes;
    }
  }
}

TEST(DoubleTree, an_inner_node_of_one_is_a_leaf_of_the_other) {
  // Sanders, Speck and Traeff 2009, section 4, for even counts by the mirror; one root apart.
  for (std::uint32_t nodes = 2; nodes <= 64; nodes += 2) {
    for (std::uint32_t node = 0; node < nodes; ++node) {
      int inner = 0;
      for (const unsigned tree : {0U, 1U}) {
        const TreeNode here = tree_node(nodes, node, tree);
        const bool leaf = here.children[0] == kNobody && here.children[1] == kNobody;
        inner += leaf ? 0 : 1;
      }
      EXPECT_LE(inner, 1) << node << " of " << nodes;
    }
  }
}

TEST(Tree, a_small_all_reduce_goes_up_and_down_once) {
  // 2 log2(n) hops (NCCL's latency of a tree), where a ring takes 2(n - 1).
  for (const std::uint32_t n : {2U, 4U, 8U, 16U}) {
    IdealNetwork network(static_cast<int>(n), kPlain);
    const Time hop = kPlain.alpha + base::transmission_time(8_B, kPlain.beta);
    const auto schedule = one(tree(ranks(n), 8_B, {.channels = 1, .gpus_per_node = 1}));
    const int depth = static_cast<int>(std::bit_width(n)) - 1;
    // Two children of one parent meet at its port.
    EXPECT_NEAR(run(network, schedule, {}).us(), 2 * depth * hop.us(), 0.01 * depth) << n;
  }
}

TEST(Tree, a_long_all_reduce_between_nodes_uses_half_of_what_a_port_can) {
  // Every node sends what it has up and twice what it gets down over both trees together: bus
  // bandwidth approaches the rate of the ports (NCCL credits a tree with half of it as algorithm
  // bandwidth).
  const std::uint32_t n = 16;
  IdealNetwork network(n, {.alpha = 1_us, .beta = 200_gbps});
  const Bytes size = 256_MiB;
  const auto schedule =
      one(tree(ranks(n), size, {.channels = 2, .slice = 512_KiB, .gpus_per_node = 1}));
  const Time t = run(network, schedule, {});
  const double algbw = base::rate_of(size, t).gbps();
  EXPECT_GT(algbw, 0.85 * 200 / 2);
  EXPECT_LE(algbw, 200.0 / 2 * 1.08);  // the roots of the two trees have one child
}

TEST(Tree, reaches_its_node_over_two_gpus) {
  // NCCL's balanced tree: parent and one child over one GPU, the other child over the next.
  std::set<std::uint32_t> outside;
  const auto schedule = tree(ranks(56), 1_MiB, {.channels = 2, .gpus_per_node = 8});
  for (std::uint32_t p = 0; p < 56; ++p) {
    Step step;
    schedule->step(p, 0, 0, step);
    for (const Part& part : step.send) {
      if (part.peer / 8 != p / 8) outside.insert(part.peer % 8);
    }
    for (const Part& part : step.receive) {
      if (part.peer / 8 != p / 8) outside.insert(p % 8);
    }
  }
  EXPECT_EQ(outside, (std::set<std::uint32_t>{0, 1}));
}

TEST(HalvingDoubling, takes_2_log_n_alphas_and_the_least_bytes) {
  // Thakur et al. 2005, section 4.4: 2 log2(n) alpha + 2 (n - 1)/n S / beta.
  for (const std::uint32_t n : {2U, 4U, 16U}) {
    IdealNetwork network(static_cast<int>(n), kPlain);
    const Bytes size = 1_MiB;
    const auto schedule = one(halving_doubling(ranks(n), size, {.channels = 1, .slice = 1_MiB}));
    const double wire = base::transmission_time(size, kPlain.beta).us();
    const double depth = std::bit_width(n) - 1;
    EXPECT_NEAR(run(network, schedule, {}).us(),
                2 * depth * kPlain.alpha.us() + 2 * wire * (n - 1) / n, 0.02)
        << n;
  }
}

TEST(HalvingDoubling, a_count_that_is_no_power_of_two_pays_two_more_rounds) {
  IdealNetwork network(6, kPlain);
  const Bytes size = 1_MiB;
  const auto schedule = one(halving_doubling(ranks(6), size, {.channels = 1, .slice = 1_MiB}));
  const double wire = base::transmission_time(size, kPlain.beta).us();
  EXPECT_NEAR(run(network, schedule, {}).us(), 6 * kPlain.alpha.us() + 2 * wire * 0.75 + 2 * wire,
              0.02);
}

TEST(Hierarchical, sends_1_of_1_875_of_what_a_ring_sends_over_two_nodes_of_eight) {
  const Bytes size = 15_MiB;
  const auto between = [&](const Schedule& schedule) {
    double bytes = 0;
    for (std::uint32_t lane = 0; lane < schedule.lanes(); ++lane) {
      for (std::uint32_t p = 0; p < 16; ++p) {
        for (std::uint64_t i = 0; i < schedule.steps(p, lane); ++i) {
          Step step;
          schedule.step(p, lane, i, step);
          for (const Part& part : step.send) {
            if (part.peer / 8 != p / 8) bytes += static_cast<double>(part.bytes.count());
          }
        }
      }
    }
    return bytes;
  };
  const Cutting cutting{.channels = 8, .slice = 64_KiB, .gpus_per_node = 8};
  EXPECT_NEAR(between(*ring(Op::kAllReduce, ranks(16), size, cutting)) /
                  between(*hierarchical(ranks(16), size, cutting)),
              1.875, 1e-3);
}

/// One node on NVSwitch, with the ports of `NodeLinks`.
class NodeNetwork final : public network::Network {
 public:
  NodeNetwork(int gpus, network::NodeLinkSpec spec) : links_(gpus, spec) {}
  Time now() const override { return now_; }
  void send(Rank src, Rank dst, Bytes size, const network::SendOptions& options,
            network::Callback done) override {
    const auto [leaves, crossing] = links_.leave(src, dst, size, options, 0, now_);
    at(leaves, [this, crossing, done = std::move(done)](Time) {
      at(links_.enter(crossing, now_).at, done);
    });
  }
  void at(Time at, network::Callback callback) override {
    events_.emplace(std::pair{at, order_++}, std::move(callback));
  }
  void run() override {
    stopped_ = false;
    while (!stopped_ && !events_.empty()) {
      auto event = events_.extract(events_.begin());
      now_ = event.key().first;
      event.mapped()(now_);
    }
  }
  void stop() override { stopped_ = true; }
  network::Counters counters() const override { return {}; }

 private:
  network::NodeLinks links_;
  Time now_;
  std::map<std::pair<Time, std::uint64_t>, network::Callback> events_;
  std::uint64_t order_ = 0;
  bool stopped_ = false;
};

TEST(Nvls, an_all_reduce_moves_each_byte_over_a_port_once_and_an_eighth) {
  // A GPU offers all it has and takes in its part of the sum; it sends that part and takes in all:
  // S (1 + 1/n) each way.
  const Bytes size = 256_MiB;
  NodeNetwork network(8, {3000_gbps, 600_ns, 0.85});
  const auto schedule = one(
      nvls(Op::kAllReduce, ranks(8), size, {.channels = 16, .slice = 128_KiB, .gpus_per_node = 8}));
  RunOptions options;
  options.slots = 2;
  const Time t = run(network, schedule, options);
  EXPECT_NEAR(base::rate_of(size, t).gbps(), 3000 * 0.85 / (1 + 1.0 / 8), 0.1 * 2267);
}

TEST(Nvls, a_gather_takes_in_all_but_multicasts_only_its_own) {
  const Bytes size = 256_MiB;
  NodeNetwork network(8, {3000_gbps, 600_ns, 0.85});
  const auto schedule = one(
      nvls(Op::kAllGather, ranks(8), size, {.channels = 16, .slice = 128_KiB, .gpus_per_node = 8}));
  EXPECT_NEAR(base::rate_of(size, run(network, schedule, {})).gbps(), 3000 * 0.85, 0.03 * 2550);
}

}  // namespace
}  // namespace fabricast::collective
