// Rings as NCCL runs them (src/device/all_reduce.h, all_gather.h, reduce_scatter.h, broadcast.h): a
// channel cuts its share of the message into loops of n chunks; in a loop every rank sends a chunk
// to its successor n - 1 times (2(n - 1) for all_reduce) and each time but the first sends what it
// has just received. A broadcast passes chunk after chunk along the ring.

#include "base/error.h"
#include "collective/schedule.h"

namespace fabricast::collective {
namespace {

using base::Bytes;
using base::Rank;

class Ring final : public Schedule {
 public:
  Ring(Op op, std::vector<Rank> group, Bytes size, Cutting cutting)
      : Schedule(std::move(group)),
        op_(op),
        size_(size),
        cutting_(cutting),
        ranks_(static_cast<std::uint32_t>(group_.size())),
        layout_(layout_of(group_, cutting.gpus_per_node)) {}

  std::uint32_t channels() const override { return cutting_.channels; }

  std::uint64_t steps(std::uint32_t /*position*/, std::uint32_t lane) const override {
    return loops(lane) * cutting_.slices * (hops() + (op_ == Op::kBroadcast ? 0 : 1));
  }

  void step(std::uint32_t position, std::uint32_t lane, std::uint64_t index,
            Step& step) const override {
    const std::uint32_t place = place_of(position, lane);
    const std::uint32_t next = position_at((place + 1) % ranks_, lane);
    const std::uint32_t previous = position_at((place + ranks_ - 1) % ranks_, lane);
    const std::uint64_t slice = index % cutting_.slices;
    if (op_ == Op::kBroadcast) {
      const Bytes bytes = slice_of(lane, index / cutting_.slices, 0, slice);
      if (bytes.count() == 0) return;
      if (place > 0) step.receive.push_back({previous, bytes});
      if (place + 1 < ranks_) step.send.push_back({next, bytes});
      return;
    }
    const std::uint64_t stages = hops() + 1;
    const std::uint64_t loop = index / (cutting_.slices * stages);
    const auto j = static_cast<std::uint32_t>(index / cutting_.slices % stages);
    // all_reduce and reduce_scatter start with the segment of the predecessor, so that segment p is
    // complete at place p; all_gather starts with the rank's own. What stage j receives it sends.
    const std::uint32_t first = op_ == Op::kAllGather ? place : place + ranks_ - 1;
    const Bytes bytes = slice_of(lane, loop, (first + 2 * ranks_ - j) % ranks_, slice);
    if (bytes.count() == 0) return;
    if (j > 0) step.receive.push_back({previous, bytes});
    if (j + 1 < stages) step.send.push_back({next, bytes});
    step.reduce = op_ != Op::kAllGather && j > 0 && j < ranks_;
  }

  std::uint64_t bulks(std::uint32_t channel) const override { return loops(channel) > 0 ? 1 : 0; }
  network::Bulk bulk(std::uint32_t channel, std::uint64_t /*index*/) const override {
    network::Bulk bulk;
    bulk.channel = channel;
    bulk.steps = static_cast<double>(loops(channel) * cutting_.slices * hops());
    bulk.ahead = cutting_.slices;
    const auto share = static_cast<double>(share_of(size_, cutting_.channels, channel).count());
    const double sent = op_ == Op::kBroadcast ? share : share * hops() / ranks_;
    for (std::uint32_t place = 0; place < ranks_; ++place) {
      if (op_ == Op::kBroadcast && place + 1 == ranks_) break;
      const std::uint32_t from = position_at(place, channel);
      const std::uint32_t to = position_at((place + 1) % ranks_, channel);
      bulk.edges.push_back({group_[from], group_[to], sent});
    }
    return bulk;
  }

 private:
  /// Times that a chunk is sent within a loop.
  std::uint32_t hops() const {
    if (op_ == Op::kBroadcast) return 1;
    return op_ == Op::kAllReduce ? 2 * (ranks_ - 1) : ranks_ - 1;
  }
  /// Chunks of a loop, one for each rank.
  std::uint32_t segments() const { return op_ == Op::kBroadcast ? 1 : ranks_; }
  Bytes loop_bytes() const { return cutting_.slice * cutting_.slices * segments(); }
  std::uint64_t loops(std::uint32_t channel) const {
    return chunks_of(share_of(size_, cutting_.channels, channel), loop_bytes());
  }
  Bytes slice_of(std::uint32_t channel, std::uint64_t loop, std::uint32_t segment,
                 std::uint64_t slice) const {
    const Bytes share = share_of(size_, cutting_.channels, channel);
    const Bytes chunk = share_of(chunk_of(share, loop_bytes(), loop), segments(), segment);
    return share_of(chunk, cutting_.slices, slice);
  }

  bool turns() const { return layout_.nodes > 1 && layout_.local > 1; }

  // Channel c enters an even node at local rank c and leaves it at c - 1; it enters an odd node at
  // c - 1 and leaves at c. So consecutive nodes meet on one rail (NCCL_CROSS_NIC = 2, its default,
  // alternates in this way), and g channels use g adapters.
  std::uint32_t position_at(std::uint32_t place, std::uint32_t channel) const {
    if (!turns()) return place;
    const std::uint32_t local = layout_.local;
    const std::uint32_t node = place / local;
    const std::uint32_t i = place % local;
    const std::uint32_t turn = channel % local;
    const std::uint32_t l = node % 2 == 0 ? (turn + i) % local : (turn + 2 * local - 1 - i) % local;
    return node * local + l;
  }
  std::uint32_t place_of(std::uint32_t position, std::uint32_t channel) const {
    if (!turns()) return position;
    const std::uint32_t local = layout_.local;
    const std::uint32_t node = position / local;
    const std::uint32_t l = position % local;
    const std::uint32_t turn = channel % local;
    const std::uint32_t i =
        node % 2 == 0 ? (l + local - turn) % local : (turn + 2 * local - 1 - l) % local;
    return node * local + i;
  }

  Op op_;
  Bytes size_;
  Cutting cutting_;
  std::uint32_t ranks_;
  Layout layout_;
};

}  // namespace

std::unique_ptr<Schedule> ring(Op op, std::vector<Rank> group, Bytes size, Cutting cutting) {
  if (op == Op::kAllToAll || op == Op::kSendRecv) {
    throw base::failure("a ring carries all_reduce, all_gather, reduce_scatter and broadcast only");
  }
  return std::make_unique<Ring>(op, std::move(group), size, cutting);
}

}  // namespace fabricast::collective
