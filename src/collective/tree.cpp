// all_reduce over trees as NCCL runs it (src/device/all_reduce.h, runTreeSplit): in a node the GPUs
// are a chain towards the one beside the channel's adapter; between nodes half of the channels go
// over one of two binary trees and half over the other. One lane reduces towards the root, another
// hands the result down; at the root they are one. With SHARP the switches are the tree between the
// nodes (CollNetChain).

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "collective/double_tree.h"
#include "collective/schedule.h"

namespace fabricast::collective {
namespace {

using base::Bytes;

class Tree final : public Schedule {
 public:
  Tree(std::vector<base::Rank> group, Bytes size, Cutting cutting, bool sharp)
      : Schedule(std::move(group)),
        size_(size),
        cutting_(cutting),
        layout_(layout_of(group_, cutting.gpus_per_node)),
        sharp_(sharp) {}

  std::uint32_t channels() const override { return cutting_.channels; }
  std::uint32_t lanes() const override { return 2 * cutting_.channels; }

  std::uint64_t steps(std::uint32_t position, std::uint32_t lane) const override {
    const bool root = links_of(position, channel_of(lane)).up == kNobody;
    return down(lane) && root ? 0 : chunks(channel_of(lane));
  }

  void step(std::uint32_t position, std::uint32_t lane, std::uint64_t index,
            Step& step) const override {
    const std::uint32_t channel = channel_of(lane);
    const Links links = links_of(position, channel);
    const Bytes bytes =
        chunk_of(share_of(size_, cutting_.channels, channel), cutting_.slice, index);
    if (down(lane)) {
      // What the switches have reduced comes back from oneself.
      step.receive.push_back({links.up == kSwitches ? position : links.up, bytes});
      for (const std::uint32_t child : links.down) step.send.push_back({child, bytes});
      return;
    }
    for (const std::uint32_t child : links.down) step.receive.push_back({child, bytes});
    step.reduce = !links.down.empty();
    if (links.up != kNobody) {
      step.send.push_back({links.up, bytes});
    } else {
      for (const std::uint32_t child : links.down) step.send.push_back({child, bytes});
    }
  }

  std::uint64_t bulks(std::uint32_t channel) const override { return chunks(channel) > 0 ? 1 : 0; }
  network::Bulk bulk(std::uint32_t channel, std::uint64_t /*index*/) const override {
    if (sharp_) throw base::failure("switches reduce chunk by chunk, not in bulk");
    network::Bulk bulk;
    bulk.channel = channel;
    bulk.steps = static_cast<double>(chunks(channel));
    // The last chunk leaves when all before it have, and then goes up and down.
    bulk.fill = 2.0 * (layout_.local - 1 + tree_depth(layout_.nodes)) - 1;
    bulk.ahead = kMostAhead;
    const auto share = static_cast<double>(share_of(size_, cutting_.channels, channel).count());
    for (std::uint32_t p = 0; p < group_.size(); ++p) {
      const std::uint32_t up = links_of(p, channel).up;
      if (up == kNobody) continue;
      bulk.edges.push_back({group_[p], group_[up], share});
      bulk.edges.push_back({group_[up], group_[p], share});
    }
    return bulk;
  }

  std::vector<std::vector<base::Rank>> reductions() const override {
    if (!sharp_) return {};
    std::vector<std::vector<base::Rank>> groups;
    for (std::uint32_t head = 0; head < std::min(cutting_.channels, layout_.local); ++head) {
      auto& ranks = groups.emplace_back();
      for (std::uint32_t node = 0; node < layout_.nodes; ++node) {
        ranks.push_back(group_[node * layout_.local + head]);
      }
    }
    return groups;
  }

 private:
  // Chunks that a connection has under way, NCCL_STEPS.
  static constexpr double kMostAhead = 8;

  /// Of a position on a channel: positions, `kSwitches` or `kNobody`.
  struct Links {
    std::uint32_t up = kNobody;
    std::vector<std::uint32_t> down;
  };

  static bool down(std::uint32_t lane) { return lane % 2 == 1; }
  std::uint64_t chunks(std::uint32_t channel) const {
    return chunks_of(share_of(size_, cutting_.channels, channel), cutting_.slice);
  }

  Links links_of(std::uint32_t position, std::uint32_t channel) const {
    const std::uint32_t local = layout_.local;
    const std::uint32_t half = std::max(1U, cutting_.channels / 2);
    const std::uint32_t turn = sharp_ ? channel : channel % half;
    const std::uint32_t head = turn % local;
    const std::uint32_t node = position / local;
    const std::uint32_t i = (position % local + local - head) % local;
    // The GPU of a node that is `place` away from the chain's head.
    const auto at = [&](std::uint32_t n, std::uint32_t place) {
      return n * local + (head + place) % local;
    };
    Links links;
    if (i + 1 < local) links.down.push_back(at(node, i + 1));
    if (i > 0) links.up = at(node, i - 1);
    if (sharp_) {
      if (i == 0) links.up = kSwitches;
      return links;
    }
    const TreeNode tree = tree_node(layout_.nodes, node, channel >= half ? 1 : 0);
    // The parent and a child are reached over the chain's head, the other child over the GPU next
    // to it (NCCL's balanced tree), so that two adapters share three links.
    const std::uint32_t second = local > 1 ? 1 : 0;
    if (i == 0 && tree.children[0] != kNobody) links.down.push_back(at(tree.children[0], 0));
    if (i == second && tree.children[1] != kNobody) links.down.push_back(at(tree.children[1], 0));
    if (i == 0 && tree.parent != kNobody) links.up = at(tree.parent, tree.turn == 0 ? 0 : second);
    return links;
  }

  Bytes size_;
  Cutting cutting_;
  Layout layout_;
  bool sharp_;
};

}  // namespace

std::unique_ptr<Schedule> tree(std::vector<base::Rank> group, Bytes size, Cutting cutting,
                               bool sharp) {
  return std::make_unique<Tree>(std::move(group), size, cutting, sharp);
}

}  // namespace fabricast::collective
