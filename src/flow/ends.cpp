#include "flow/ends.h"

#include <algorithm>

namespace fabricast::flow {

void Ends::set(std::uint32_t stream, std::int64_t ps) {
  const std::size_t block = stream / kBlock;
  if (block >= blocks_.size()) {
    // Whole groups, so that no look at a block needs to know where the last one stops.
    const std::size_t groups = std::max(block / kBlock + 1, 2 * groups_.size());
    ends_.resize(groups * kBlock * kBlock, kNever);
    blocks_.resize(groups * kBlock, kNever);
    stale_.resize(groups * kBlock, 0);
    groups_.resize(groups, kNever);
  }
  ends_[stream] = ps;
  if (stale_[block] != 0) return;
  stale_[block] = 1;
  stale_blocks_.push_back(static_cast<std::uint32_t>(block));
}

std::int64_t Ends::least(const std::vector<std::int64_t>& values, std::size_t block) {
  std::int64_t found = kNever;
  for (std::size_t i = block * kBlock; i < (block + 1) * kBlock; ++i) {
    found = std::min(found, values[i]);
  }
  return found;
}

void Ends::refresh() {
  for (const std::uint32_t block : stale_blocks_) blocks_[block] = least(ends_, block);
  std::size_t done = groups_.size();
  for (const std::uint32_t block : stale_blocks_) {
    stale_[block] = 0;
    if (block / kBlock == done) continue;
    done = block / kBlock;
    groups_[done] = least(blocks_, done);
  }
  stale_blocks_.clear();
  next_ = *std::ranges::min_element(groups_);
}

const std::vector<std::uint32_t>& Ends::take() {
  taken_.clear();
  const std::int64_t now = next();
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    if (groups_[group] != now) continue;
    for (std::size_t block = group * kBlock; block < (group + 1) * kBlock; ++block) {
      if (blocks_[block] != now) continue;
      for (std::size_t i = block * kBlock; i < (block + 1) * kBlock; ++i) {
        if (ends_[i] == now) taken_.push_back(static_cast<std::uint32_t>(i));
      }
    }
  }
  for (const std::uint32_t stream : taken_) set(stream, kNever);
  return taken_;
}

}  // namespace fabricast::flow
