// Point to point: one pair, or the ring of sends that sendrecv_perf of nccl-tests runs.

#include "collective/schedule.h"

namespace fabricast::collective {
namespace {

using base::Bytes;

class SendRecv final : public Schedule {
 public:
  SendRecv(std::vector<base::Rank> group, Bytes size, Cutting cutting, bool closed)
      : Schedule(std::move(group)),
        size_(size),
        cutting_(cutting),
        ranks_(static_cast<std::uint32_t>(group_.size())),
        closed_(closed) {}

  std::uint32_t channels() const override { return cutting_.channels; }

  std::uint64_t steps(std::uint32_t channel) const override {
    const std::int64_t share = share_of(size_, cutting_.channels, channel).count();
    return static_cast<std::uint64_t>((share + cutting_.chunk.count() - 1) /
                                      cutting_.chunk.count());
  }

  Step step(std::uint32_t position, std::uint32_t channel, std::uint64_t index) const override {
    const Bytes bytes =
        chunk_of(share_of(size_, cutting_.channels, channel), cutting_.chunk, index);
    Step step;
    if (closed_ || position + 1 < ranks_) {
      step.to = (position + 1) % ranks_;
      step.send = bytes;
    }
    if (closed_ || position > 0) {
      step.from = (position + ranks_ - 1) % ranks_;
      step.receive = bytes;
    }
    return step;
  }

  // The ring goes round in step; a pair sends as fast as its slots are emptied.
  std::uint64_t bulks(std::uint32_t channel) const override { return steps(channel) > 0 ? 1 : 0; }
  network::Bulk bulk(std::uint32_t channel, std::uint64_t /*index*/) const override {
    network::Bulk bulk;
    bulk.channel = channel;
    bulk.steps = static_cast<double>(steps(channel));
    bulk.lockstep = closed_;
    const auto share = static_cast<double>(share_of(size_, cutting_.channels, channel).count());
    for (std::uint32_t p = 0; p + (closed_ ? 0 : 1) < ranks_; ++p) {
      bulk.edges.push_back({group_[p], group_[(p + 1) % ranks_], share});
    }
    return bulk;
  }

 private:
  Bytes size_;
  Cutting cutting_;
  std::uint32_t ranks_;
  bool closed_;  ///< the last position sends to the first
};

}  // namespace

std::unique_ptr<Schedule> send_recv_ring(std::vector<base::Rank> group, Bytes size,
                                         Cutting cutting) {
  return std::make_unique<SendRecv>(std::move(group), size, cutting, true);
}

std::unique_ptr<Schedule> send_recv_pair(std::vector<base::Rank> group, Bytes size,
                                         Cutting cutting) {
  return std::make_unique<SendRecv>(std::move(group), size, cutting, false);
}

}  // namespace fabricast::collective
