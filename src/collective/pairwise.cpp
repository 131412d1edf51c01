// All-to-all as n - 1 exchanges: in exchange s every position sends to the one s after it and
// receives from the one s before it, so that each port carries one message in and one out at a
// time.

#include "collective/schedule.h"

namespace fabricast::collective {
namespace {

using base::Bytes;

class Pairwise final : public Schedule {
 public:
  Pairwise(std::vector<base::Rank> group, Bytes size, Cutting cutting)
      : Schedule(std::move(group)),
        size_(size),
        cutting_(cutting),
        ranks_(static_cast<std::uint32_t>(group_.size())) {}

  std::uint32_t channels() const override { return cutting_.channels; }

  std::uint64_t steps(std::uint32_t channel) const override {
    return (ranks_ - 1) * chunks(channel);
  }

  Step step(std::uint32_t position, std::uint32_t channel, std::uint64_t index) const override {
    const std::uint64_t per_peer = chunks(channel);
    const auto distance = static_cast<std::uint32_t>(index / per_peer) + 1;
    Step step;
    step.to = (position + distance) % ranks_;
    step.from = (position + ranks_ - distance) % ranks_;
    step.send = chunk(step.to, channel, index % per_peer);
    step.receive = chunk(position, channel, index % per_peer);
    return step;
  }

  // Ranks meet in every exchange, so that the slowest pair of it holds all.
  std::uint64_t bulks(std::uint32_t channel) const override {
    return steps(channel) > 0 ? ranks_ - 1 : 0;
  }
  network::Bulk bulk(std::uint32_t channel, std::uint64_t index) const override {
    network::Bulk bulk;
    bulk.channel = channel;
    bulk.steps = static_cast<double>(chunks(channel));
    for (std::uint32_t p = 0; p < ranks_; ++p) {
      const auto to = static_cast<std::uint32_t>((p + index + 1) % ranks_);
      const Bytes block = share_of(share_of(size_, ranks_, to), cutting_.channels, channel);
      bulk.edges.push_back({group_[p], group_[to], static_cast<double>(block.count())});
    }
    return bulk;
  }

 private:
  /// Chunks of the largest block; smaller blocks have an empty last chunk.
  std::uint64_t chunks(std::uint32_t channel) const {
    const Bytes largest = share_of(share_of(size_, ranks_, 0), cutting_.channels, channel);
    return static_cast<std::uint64_t>((largest.count() + cutting_.chunk.count() - 1) /
                                      cutting_.chunk.count());
  }
  /// Chunk of the block that is meant for `receiver`.
  Bytes chunk(std::uint32_t receiver, std::uint32_t channel, std::uint64_t index) const {
    const Bytes block = share_of(size_, ranks_, receiver);
    return chunk_of(share_of(block, cutting_.channels, channel), cutting_.chunk, index);
  }

  Bytes size_;
  Cutting cutting_;
  std::uint32_t ranks_;
};

}  // namespace

std::unique_ptr<Schedule> pairwise_all_to_all(std::vector<base::Rank> group, Bytes size,
                                              Cutting cutting) {
  return std::make_unique<Pairwise>(std::move(group), size, cutting);
}

}  // namespace fabricast::collective
