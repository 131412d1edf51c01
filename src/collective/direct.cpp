// All-reduce by kernels that read the peers' buffers over NVLink, as serving engines use them for
// small messages instead of NCCL (vLLM's csrc/custom_all_reduce.cuh and TensorRT-LLM's AUTO
// strategy). One shot: everybody reads everything and sums. Two shots: everybody sums a part and
// reads the others' sums.

#include "collective/schedule.h"

namespace fabricast::collective {
namespace {

using base::Bytes;

class Direct final : public Schedule {
 public:
  Direct(std::vector<base::Rank> group, Bytes size, bool two_shots)
      : Schedule(std::move(group)),
        size_(size),
        ranks_(static_cast<std::uint32_t>(group_.size())),
        two_shots_(two_shots) {}

  std::uint32_t channels() const override { return 1; }

  std::uint64_t steps(std::uint32_t /*position*/, std::uint32_t /*lane*/) const override {
    return two_shots_ ? 3 : 2;
  }

  void step(std::uint32_t position, std::uint32_t /*lane*/, std::uint64_t index,
            Step& step) const override {
    for (std::uint32_t distance = 1; distance < ranks_; ++distance) {
      const std::uint32_t to = (position + distance) % ranks_;
      const std::uint32_t from = (position + ranks_ - distance) % ranks_;
      // What comes in: the peers' share of one's own part first, then the sums of their parts.
      if (index > 0) push(step.receive, from, index == 1 ? position : from);
      if (index == 0) push(step.send, to, to);
      if (index == 1 && two_shots_) push(step.send, to, position);
    }
    step.reduce = index == 1;
  }

  std::uint64_t bulks(std::uint32_t /*channel*/) const override { return two_shots_ ? 2 : 1; }
  network::Bulk bulk(std::uint32_t channel, std::uint64_t index) const override {
    network::Bulk bulk;
    bulk.channel = channel;
    bulk.lockstep = false;
    for (std::uint32_t p = 0; p < ranks_; ++p) {
      for (std::uint32_t to = 0; to < ranks_; ++to) {
        const auto bytes = static_cast<double>(part(index == 0 ? to : p).count());
        if (to != p) bulk.edges.push_back({group_[p], group_[to], bytes});
      }
    }
    return bulk;
  }

 private:
  Bytes part(std::uint32_t index) const {
    return two_shots_ ? share_of(size_, ranks_, index) : size_;
  }
  void push(std::vector<Part>& parts, std::uint32_t peer, std::uint32_t index) const {
    const Bytes bytes = part(index);
    if (bytes.count() > 0) parts.push_back({peer, bytes});
  }

  Bytes size_;
  std::uint32_t ranks_;
  bool two_shots_;
};

}  // namespace

std::unique_ptr<Schedule> direct_all_reduce(std::vector<base::Rank> group, Bytes size,
                                            bool two_shots) {
  return std::make_unique<Direct>(std::move(group), size, two_shots);
}

}  // namespace fabricast::collective
