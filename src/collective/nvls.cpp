// Collectives that the NVSwitches of a node sum and multicast (NVLink SHARP), as NCCL runs them
// (src/device/all_reduce.h, NVLS and NVLS_TREE). Every GPU is the head of a part of each loop. A
// scattering lane offers all parts to their heads; the head's lane takes the sum of its part, adds
// what other nodes have and passes it on; when the part is complete its lane multicasts it, and a
// gathering lane of every GPU takes it in. Between nodes a head's peers are those of the same local
// rank, over two binary trees or, with SHARP, over the switches.

#include "base/error.h"
#include "collective/double_tree.h"
#include "collective/schedule.h"

namespace fabricast::collective {
namespace {

using base::Bytes;

/// Streams of a channel.
enum : std::uint32_t { kScattered, kGathered, kUp, kDown };

class Nvls final : public Schedule {
 public:
  Nvls(Op op, std::vector<base::Rank> group, Bytes size, Cutting cutting, bool sharp)
      : Schedule(std::move(group)),
        op_(op),
        size_(size),
        cutting_(cutting),
        layout_(layout_of(group_, cutting.gpus_per_node)),
        sharp_(sharp && layout_.nodes > 1) {}

  std::uint32_t channels() const override { return cutting_.channels; }
  std::uint32_t lanes() const override { return kLanes * cutting_.channels; }

  std::uint64_t steps(std::uint32_t position, std::uint32_t lane) const override {
    const std::uint32_t channel = channel_of(lane);
    switch (lane % kLanes) {
      case kScatterLane:
        return op_ == Op::kAllGather ? 0 : loops(channel);
      case kGatherLane:
        return op_ == Op::kReduceScatter ? 0 : loops(channel);
      case kUpLane:
        return loops(channel);
      default:
        return up_of(position, channel) == kNobody ? 0 : loops(channel);
    }
  }

  void step(std::uint32_t position, std::uint32_t lane, std::uint64_t index,
            Step& step) const override {
    const std::uint32_t channel = channel_of(lane);
    const Bytes loop = chunk_of(share_of(size_, cutting_.channels, channel), loop_bytes(), index);
    const std::uint32_t local = layout_.local;
    const std::uint32_t first = position / local * local;
    const Bytes mine = share_of(loop, local, position % local);
    switch (lane % kLanes) {
      case kScatterLane:
      case kGatherLane:
        for (std::uint32_t head = 0; head < local; ++head) {
          const Bytes part = share_of(loop, local, head);
          if (part.count() == 0) continue;
          if (lane % kLanes == kScatterLane) {
            step.send.push_back({first + head, part, kScattered, width(), 1});
          } else {
            step.receive.push_back({first + head, part, kGathered});
          }
        }
        return;
      case kUpLane:
        if (mine.count() > 0) go_up(position, channel, mine, step);
        return;
      default:
        if (mine.count() == 0) return;
        if (up_of(position, channel) == kSwitches) {
          step.receive.push_back({position, mine, kUp});
        } else {
          step.receive.push_back({up_of(position, channel), mine, kDown});
        }
        go_down(position, channel, mine, step);
    }
  }

  std::uint64_t bulks(std::uint32_t channel) const override { return loops(channel) > 0 ? 1 : 0; }
  network::Bulk bulk(std::uint32_t channel, std::uint64_t /*index*/) const override {
    if (sharp_) throw base::failure("switches reduce chunk by chunk, not in bulk");
    network::Bulk bulk;
    bulk.channel = channel;
    bulk.ahead = kMostAhead;
    bulk.steps = static_cast<double>(loops(channel));
    bulk.fill = 2.0 * tree_depth(layout_.nodes) + 1;
    const auto share = static_cast<double>(share_of(size_, cutting_.channels, channel).count());
    const std::uint32_t local = layout_.local;
    const double part = share / local;
    for (std::uint32_t p = 0; p < group_.size(); ++p) {
      const std::uint32_t first = p / local * local;
      for (std::uint32_t other = first; other < first + local; ++other) {
        // One part is what comes in of a sum, and what goes out of a multicast.
        if (op_ != Op::kAllGather) {
          bulk.edges.push_back({group_[other], group_[p], part, width(), 1});
        }
        if (op_ != Op::kReduceScatter) {
          bulk.edges.push_back({group_[p], group_[other], part, 1, width()});
        }
      }
      const std::uint32_t up = up_of(p, channel);
      if (up == kNobody) continue;
      bulk.edges.push_back({group_[p], group_[up], part});
      bulk.edges.push_back({group_[up], group_[p], part});
    }
    return bulk;
  }

  std::vector<std::vector<base::Rank>> reductions() const override {
    if (!sharp_) return {};
    std::vector<std::vector<base::Rank>> groups(layout_.local);
    for (std::uint32_t p = 0; p < group_.size(); ++p)
      groups[p % layout_.local].push_back(group_[p]);
    return groups;
  }

 private:
  enum : std::uint32_t { kScatterLane, kUpLane, kDownLane, kGatherLane, kLanes };
  // NCCL_STEPS.
  static constexpr double kMostAhead = 8;

  std::uint16_t width() const { return static_cast<std::uint16_t>(layout_.local); }
  Bytes loop_bytes() const { return cutting_.slice * layout_.local; }
  std::uint64_t loops(std::uint32_t channel) const {
    return chunks_of(share_of(size_, cutting_.channels, channel), loop_bytes());
  }

  TreeNode node_of(std::uint32_t position, std::uint32_t channel) const {
    return tree_node(layout_.nodes, position / layout_.local, channel % 2);
  }
  std::uint32_t peer(std::uint32_t position, std::uint32_t node) const {
    return node * layout_.local + position % layout_.local;
  }
  std::uint32_t up_of(std::uint32_t position, std::uint32_t channel) const {
    if (sharp_) return kSwitches;
    const std::uint32_t parent = node_of(position, channel).parent;
    return parent == kNobody ? kNobody : peer(position, parent);
  }

  /// A head takes the sum of its node and those of the nodes below, and sends it on.
  void go_up(std::uint32_t position, std::uint32_t channel, Bytes part, Step& step) const {
    const std::uint32_t first = position / layout_.local * layout_.local;
    if (op_ != Op::kAllGather) {
      for (std::uint32_t p = first; p < first + layout_.local; ++p) {
        step.receive.push_back({p, part, kScattered});
      }
    }
    if (!sharp_) {
      for (const std::uint32_t child : node_of(position, channel).children) {
        if (child == kNobody) continue;
        step.receive.push_back({peer(position, child), part, kUp});
        step.reduce = true;
      }
    }
    const std::uint32_t up = up_of(position, channel);
    if (up == kNobody) {
      if (op_ != Op::kReduceScatter) go_down(position, channel, part, step);
    } else {
      step.send.push_back({up, part, kUp});
    }
  }
  void go_down(std::uint32_t position, std::uint32_t channel, Bytes part, Step& step) const {
    const std::uint32_t first = position / layout_.local * layout_.local;
    for (std::uint32_t p = first; p < first + layout_.local; ++p) {
      step.send.push_back({p, part, kGathered, 1, width()});
    }
    if (sharp_) return;
    for (const std::uint32_t child : node_of(position, channel).children) {
      if (child != kNobody) step.send.push_back({peer(position, child), part, kDown});
    }
  }

  Op op_;
  Bytes size_;
  Cutting cutting_;
  Layout layout_;
  bool sharp_;
};

}  // namespace

std::unique_ptr<Schedule> nvls(Op op, std::vector<base::Rank> group, Bytes size, Cutting cutting,
                               bool sharp) {
  const bool known = op == Op::kAllReduce || op == Op::kAllGather || op == Op::kReduceScatter;
  const Layout layout = layout_of(group, cutting.gpus_per_node);
  if (!known || layout.local < 2 || (layout.nodes > 1 && op != Op::kAllReduce)) {
    throw base::failure("NVSwitches reduce and multicast in nodes of two or more ranks");
  }
  return std::make_unique<Nvls>(op, std::move(group), size, cutting, sharp);
}

}  // namespace fabricast::collective
