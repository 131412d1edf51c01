// All-to-all as NCCL runs its n - 1 rounds of point-to-point messages (src/enqueue.cc, p2p
// schedule): in round s a position sends to the one s after it and receives from the one s before
// it. A channel works on several rounds at once, each with warps of its own for sending and
// receiving, and takes the next when one is done; rounds do not wait for one another.

#include <algorithm>

#include "collective/schedule.h"

namespace fabricast::collective {
namespace {

using base::Bytes;

// NCCL_MAX_DEV_WORK_P2P_PER_BATCH.
constexpr std::uint32_t kRoundsAtOnce = 8;
// Few enough for their edges to be kept at once.
constexpr std::uint32_t kRoundsInBulk = 64;

class Pairwise final : public Schedule {
 public:
  Pairwise(std::vector<base::Rank> group, Bytes size, Cutting cutting)
      : Schedule(std::move(group)),
        size_(size),
        cutting_(cutting),
        ranks_(static_cast<std::uint32_t>(group_.size())),
        at_once_(std::min(kRoundsAtOnce, ranks_ - 1)) {}

  std::uint32_t channels() const override { return cutting_.channels; }
  std::uint32_t lanes() const override { return cutting_.channels * 2 * at_once_; }

  std::uint64_t steps(std::uint32_t /*position*/, std::uint32_t lane) const override {
    const std::uint32_t first = turn_of(lane);
    return (ranks_ - 1 - first + at_once_ - 1) / at_once_ * slices(channel_of(lane));
  }

  void step(std::uint32_t position, std::uint32_t lane, std::uint64_t index,
            Step& step) const override {
    const std::uint32_t channel = channel_of(lane);
    const std::uint64_t per_peer = slices(channel);
    const auto round = turn_of(lane) + static_cast<std::uint32_t>(index / per_peer) * at_once_;
    const std::uint32_t distance = round + 1;
    if (lane % 2 == 1) {
      const Bytes bytes = slice(position, channel, index % per_peer);
      if (bytes.count() > 0)
        step.receive.push_back({(position + ranks_ - distance) % ranks_, bytes});
      return;
    }
    const std::uint32_t to = (position + distance) % ranks_;
    const Bytes bytes = slice(to, channel, index % per_peer);
    if (bytes.count() > 0) step.send.push_back({to, bytes});
  }

  // Rounds do not wait for one another; of large groups they are told in portions.
  std::uint64_t bulks(std::uint32_t channel) const override {
    return slices(channel) > 0 ? (ranks_ - 2) / kRoundsInBulk + 1 : 0;
  }
  network::Bulk bulk(std::uint32_t channel, std::uint64_t index) const override {
    network::Bulk bulk;
    bulk.channel = channel;
    bulk.steps = static_cast<double>(slices(channel));
    bulk.lockstep = false;
    const auto first = static_cast<std::uint32_t>(index) * kRoundsInBulk + 1;
    const std::uint32_t last = std::min(first + kRoundsInBulk, ranks_);
    for (std::uint32_t distance = first; distance < last; ++distance) {
      for (std::uint32_t p = 0; p < ranks_; ++p) {
        const std::uint32_t to = (p + distance) % ranks_;
        const Bytes block = share_of(share_of(size_, ranks_, to), cutting_.channels, channel);
        bulk.edges.push_back({group_[p], group_[to], static_cast<double>(block.count())});
      }
    }
    return bulk;
  }

 private:
  /// The first round of a lane; its next is `at_once_` later.
  std::uint32_t turn_of(std::uint32_t lane) const { return lane / 2 % at_once_; }
  /// Of the largest block; smaller blocks have an empty last slice.
  std::uint64_t slices(std::uint32_t channel) const {
    const Bytes largest = share_of(share_of(size_, ranks_, 0), cutting_.channels, channel);
    return chunks_of(largest, cutting_.slice);
  }
  /// Of the block that is meant for `receiver`.
  Bytes slice(std::uint32_t receiver, std::uint32_t channel, std::uint64_t index) const {
    const Bytes block = share_of(size_, ranks_, receiver);
    return chunk_of(share_of(block, cutting_.channels, channel), cutting_.slice, index);
  }

  Bytes size_;
  Cutting cutting_;
  std::uint32_t ranks_;
  std::uint32_t at_once_;
};

}  // namespace

std::unique_ptr<Schedule> pairwise_all_to_all(std::vector<base::Rank> group, Bytes size,
                                              Cutting cutting) {
  return std::make_unique<Pairwise>(std::move(group), size, cutting);
}

}  // namespace fabricast::collective
