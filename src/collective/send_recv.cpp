// Point to point: one pair, or the ring of sends that sendrecv_perf of nccl-tests runs. Sending and
// receiving are lanes of their own, as NCCL's warps for them are (src/device/sendrecv.h).

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
  std::uint32_t lanes() const override { return 2 * cutting_.channels; }

  std::uint64_t steps(std::uint32_t position, std::uint32_t lane) const override {
    const bool idle = receives(lane) ? position == 0 : position + 1 == ranks_;
    return idle && !closed_ ? 0 : slices(channel_of(lane));
  }

  void step(std::uint32_t position, std::uint32_t lane, std::uint64_t index,
            Step& step) const override {
    const Bytes share = share_of(size_, cutting_.channels, channel_of(lane));
    const Bytes bytes = chunk_of(share, cutting_.slice, index);
    if (receives(lane)) {
      step.receive.push_back({(position + ranks_ - 1) % ranks_, bytes});
    } else {
      step.send.push_back({(position + 1) % ranks_, bytes});
    }
  }

  // A pair sends as fast as its slots are emptied.
  std::uint64_t bulks(std::uint32_t channel) const override { return slices(channel) > 0 ? 1 : 0; }
  network::Bulk bulk(std::uint32_t channel, std::uint64_t /*index*/) const override {
    network::Bulk bulk;
    bulk.channel = channel;
    bulk.steps = static_cast<double>(slices(channel));
    bulk.lockstep = false;
    const auto share = static_cast<double>(share_of(size_, cutting_.channels, channel).count());
    for (std::uint32_t p = 0; p + (closed_ ? 0 : 1) < ranks_; ++p) {
      bulk.edges.push_back({group_[p], group_[(p + 1) % ranks_], share});
    }
    return bulk;
  }

 private:
  static bool receives(std::uint32_t lane) { return lane % 2 == 1; }
  std::uint64_t slices(std::uint32_t channel) const {
    return chunks_of(share_of(size_, cutting_.channels, channel), cutting_.slice);
  }

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
