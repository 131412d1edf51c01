// Rings as NCCL runs them (src/device/all_reduce.h, all_gather.h, reduce_scatter.h): a channel cuts
// its share of the message into loops of n chunks; in a loop every rank sends a chunk to its
// successor n - 1 times (2(n - 1) for all_reduce) and each time but the first sends what it has
// just received.

#include <algorithm>

#include "base/error.h"
#include "collective/schedule.h"

namespace fabricast::collective {
namespace {

using base::Bytes;
using base::Rank;

/// Ranks per node when the group is runs of equal length on different nodes, else 0.
std::uint32_t local_ranks(const std::vector<Rank>& group, std::uint32_t gpus_per_node) {
  if (gpus_per_node == 0) return 0;
  const auto node = [&](std::size_t i) { return group[i].index() / gpus_per_node; };
  std::size_t local = 1;
  while (local < group.size() && node(local) == node(0)) ++local;
  if (local == group.size() || group.size() % local != 0) return 0;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const std::size_t first = i - i % local;
    if (node(i) != node(first)) return 0;
    if (i == first && i > 0 && node(i) == node(i - 1)) return 0;
  }
  return static_cast<std::uint32_t>(local);
}

class Ring final : public Schedule {
 public:
  Ring(Op op, std::vector<Rank> group, Bytes size, Cutting cutting)
      : Schedule(std::move(group)),
        op_(op),
        size_(size),
        cutting_(cutting),
        ranks_(static_cast<std::uint32_t>(group_.size())),
        local_(local_ranks(group_, cutting.gpus_per_node)) {}

  std::uint32_t channels() const override { return cutting_.channels; }

  std::uint64_t steps(std::uint32_t channel) const override {
    const std::int64_t loop = cutting_.chunk.count() * ranks_;
    const std::int64_t size = share_of(size_, cutting_.channels, channel).count();
    return static_cast<std::uint64_t>((size + loop - 1) / loop) * steps_per_loop();
  }

  Step step(std::uint32_t position, std::uint32_t channel, std::uint64_t index) const override {
    const Bytes share = share_of(size_, cutting_.channels, channel);
    const Bytes loop = chunk_of(share, cutting_.chunk * ranks_, index / steps_per_loop());
    const auto j = static_cast<std::uint32_t>(index % steps_per_loop());
    const std::uint32_t place = place_of(position, channel);
    // all_reduce and reduce_scatter start with the segment of the predecessor, so that segment p is
    // complete at place p; all_gather starts with the rank's own.
    const std::uint32_t first = op_ == Op::kAllGather ? place : place + ranks_ - 1;
    const std::uint32_t sent = (first + 2 * ranks_ - j) % ranks_;
    Step step;
    step.to = position_at((place + 1) % ranks_, channel);
    step.from = position_at((place + ranks_ - 1) % ranks_, channel);
    step.send = share_of(loop, ranks_, sent);
    step.receive = share_of(loop, ranks_, (sent + ranks_ - 1) % ranks_);
    step.reduce = op_ != Op::kAllGather && j + 1 < ranks_;
    return step;
  }

  std::uint64_t bulks(std::uint32_t channel) const override { return steps(channel) > 0 ? 1 : 0; }
  network::Bulk bulk(std::uint32_t channel, std::uint64_t /*index*/) const override {
    network::Bulk bulk;
    bulk.channel = channel;
    bulk.steps = static_cast<double>(steps(channel));
    const auto share = static_cast<double>(share_of(size_, cutting_.channels, channel).count());
    for (std::uint32_t place = 0; place < ranks_; ++place) {
      const std::uint32_t from = position_at(place, channel);
      const std::uint32_t to = position_at((place + 1) % ranks_, channel);
      bulk.edges.push_back({group_[from], group_[to], share * steps_per_loop() / ranks_});
    }
    return bulk;
  }

 private:
  std::uint32_t steps_per_loop() const {
    return op_ == Op::kAllReduce ? 2 * (ranks_ - 1) : ranks_ - 1;
  }

  // Channel c enters an even node at local rank c and leaves it at c - 1; it enters an odd node at
  // c - 1 and leaves at c. So consecutive nodes meet on one rail (NCCL_CROSS_NIC = 2, its default,
  // alternates in this way), and g channels use g adapters.
  std::uint32_t position_at(std::uint32_t place, std::uint32_t channel) const {
    if (local_ == 0) return place;
    const std::uint32_t node = place / local_;
    const std::uint32_t i = place % local_;
    const std::uint32_t turn = channel % local_;
    const std::uint32_t l =
        node % 2 == 0 ? (turn + i) % local_ : (turn + 2 * local_ - 1 - i) % local_;
    return node * local_ + l;
  }
  std::uint32_t place_of(std::uint32_t position, std::uint32_t channel) const {
    if (local_ == 0) return position;
    const std::uint32_t node = position / local_;
    const std::uint32_t l = position % local_;
    const std::uint32_t turn = channel % local_;
    const std::uint32_t i =
        node % 2 == 0 ? (l + local_ - turn) % local_ : (turn + 2 * local_ - 1 - l) % local_;
    return node * local_ + i;
  }

  Op op_;
  Bytes size_;
  Cutting cutting_;
  std::uint32_t ranks_;
  std::uint32_t local_;  ///< ranks per node, 0: the ring follows the group's order
};

}  // namespace

std::unique_ptr<Schedule> ring(Op op, std::vector<Rank> group, Bytes size, Cutting cutting) {
  if (op != Op::kAllReduce && op != Op::kAllGather && op != Op::kReduceScatter) {
    throw base::failure("a ring carries all_reduce, all_gather and reduce_scatter only");
  }
  return std::make_unique<Ring>(op, std::move(group), size, cutting);
}

std::string_view name_of(Op op) {
  switch (op) {
    case Op::kAllReduce:
      return "all_reduce";
    case Op::kAllGather:
      return "all_gather";
    case Op::kReduceScatter:
      return "reduce_scatter";
    case Op::kAllToAll:
      return "alltoall";
    case Op::kSendRecv:
      return "sendrecv";
  }
  return "";
}

double busbw_factor(Op op, int ranks) {
  const double n = ranks;
  switch (op) {
    case Op::kAllReduce:
      return 2 * (n - 1) / n;
    case Op::kAllGather:
    case Op::kReduceScatter:
    case Op::kAllToAll:
      return (n - 1) / n;
    case Op::kSendRecv:
      return 1;
  }
  return 1;
}

}  // namespace fabricast::collective
