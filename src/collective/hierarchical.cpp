// all_reduce in three rings: reduce_scatter among the GPUs of a node, all_reduce of every segment
// over its rail, all_gather in the node. Adapters carry 2(N - 1)/N of a message over N nodes, where
// one ring over all n GPUs lets each carry 2(n - 1)/n of it.

#include "base/error.h"
#include "collective/schedule.h"

namespace fabricast::collective {
namespace {

using base::Bytes;

class Hierarchical final : public Schedule {
 public:
  Hierarchical(std::vector<base::Rank> group, Bytes size, Cutting cutting)
      : Schedule(std::move(group)),
        size_(size),
        cutting_(cutting),
        layout_(layout_of(group_, cutting.gpus_per_node)) {}

  std::uint32_t channels() const override { return cutting_.channels; }

  std::uint64_t steps(std::uint32_t /*position*/, std::uint32_t lane) const override {
    return loops(lane) * steps_per_loop();
  }

  void step(std::uint32_t position, std::uint32_t lane, std::uint64_t index,
            Step& step) const override {
    const Bytes loop =
        chunk_of(share_of(size_, cutting_.channels, lane), loop_bytes(), index / steps_per_loop());
    const std::uint32_t local = layout_.local;
    const std::uint32_t node = position / local;
    const std::uint32_t l = position % local;
    auto j = static_cast<std::uint32_t>(index % steps_per_loop());
    const auto neighbour = [&](std::uint32_t by) { return node * local + (l + by) % local; };
    if (j < local) {
      go_round({l + local - 1, j, local, true}, loop, neighbour(local - 1), neighbour(1), step);
      return;
    }
    j -= local;
    if (j < rail_steps()) {
      const std::uint32_t nodes = layout_.nodes;
      const auto on_rail = [&](std::uint32_t by) { return (node + by) % nodes * local + l; };
      go_round({node + nodes - 1, j, nodes, false}, share_of(loop, local, l), on_rail(nodes - 1),
               on_rail(1), step);
      return;
    }
    go_round({l, j - rail_steps(), local, true}, loop, neighbour(local - 1), neighbour(1), step);
    step.reduce = false;
  }

  std::uint64_t bulks(std::uint32_t channel) const override { return loops(channel) > 0 ? 1 : 0; }
  network::Bulk bulk(std::uint32_t channel, std::uint64_t /*index*/) const override {
    network::Bulk bulk;
    bulk.channel = channel;
    const std::uint32_t local = layout_.local;
    const std::uint32_t nodes = layout_.nodes;
    bulk.steps = static_cast<double>(loops(channel)) * 2.0 * (local - 1 + nodes - 1);
    const auto share = static_cast<double>(share_of(size_, cutting_.channels, channel).count());
    for (std::uint32_t p = 0; p < group_.size(); ++p) {
      const std::uint32_t node = p / local;
      const std::uint32_t l = p % local;
      bulk.edges.push_back(
          {group_[p], group_[node * local + (l + 1) % local], 2 * share * (local - 1) / local});
      bulk.edges.push_back({group_[p], group_[(node + 1) % nodes * local + l],
                            2 * share / local * (nodes - 1) / nodes});
    }
    return bulk;
  }

 private:
  /// A stage of a ring of `ranks` that starts with segment `first`.
  struct Stage {
    std::uint32_t first;
    std::uint32_t j;
    std::uint32_t ranks;
    bool once;  ///< round once (reduce_scatter, all_gather) or twice (all_reduce)
  };

  static void go_round(Stage stage, Bytes bytes, std::uint32_t previous, std::uint32_t next,
                       Step& step) {
    const std::uint32_t hops = (stage.once ? 1 : 2) * (stage.ranks - 1);
    const Bytes part =
        share_of(bytes, stage.ranks, (stage.first + 2 * stage.ranks - stage.j) % stage.ranks);
    if (part.count() == 0) return;
    if (stage.j > 0) step.receive.push_back({previous, part});
    if (stage.j < hops) step.send.push_back({next, part});
    step.reduce = stage.j > 0 && stage.j < stage.ranks;
  }

  std::uint32_t rail_steps() const { return 2 * (layout_.nodes - 1) + 1; }
  std::uint64_t steps_per_loop() const { return 2ULL * layout_.local + rail_steps(); }
  Bytes loop_bytes() const {
    return cutting_.slice * (std::int64_t{layout_.local} * layout_.nodes);
  }
  std::uint64_t loops(std::uint32_t channel) const {
    return chunks_of(share_of(size_, cutting_.channels, channel), loop_bytes());
  }

  Bytes size_;
  Cutting cutting_;
  Layout layout_;
};

}  // namespace

std::unique_ptr<Schedule> hierarchical(std::vector<base::Rank> group, Bytes size, Cutting cutting) {
  const Layout layout = layout_of(group, cutting.gpus_per_node);
  if (layout.nodes < 2 || layout.local < 2) {
    throw base::failure("a hierarchy needs two or more nodes of two or more ranks");
  }
  return std::make_unique<Hierarchical>(std::move(group), size, cutting);
}

}  // namespace fabricast::collective
