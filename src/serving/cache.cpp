#include "serving/cache.h"

namespace fabricast::serving {

BlockCache::BlockCache(std::int64_t blocks, int block_size)
    : capacity_(blocks), size_(block_size), free_(blocks) {}

bool BlockCache::take(std::int64_t blocks) {
  if (!could_take(blocks)) return false;
  while (free_ < blocks) evict();
  free_ -= blocks;
  return true;
}

void BlockCache::evict() {
  const auto found = segments_.find(unused_.front());
  free_ += found->second.blocks;
  evictable_ -= found->second.blocks;
  segments_.erase(found);
  unused_.pop_front();
}

void BlockCache::use(std::uint64_t name) {
  Kept& kept = segments_.find(name)->second;
  if (kept.users++ > 0) return;
  evictable_ -= kept.blocks;
  unused_.erase(kept.place);
}

void BlockCache::leave(std::uint64_t name) {
  Kept& kept = segments_.find(name)->second;
  if (--kept.users > 0) return;
  evictable_ += kept.blocks;
  kept.place = unused_.insert(unused_.end(), name);
}

bool BlockCache::share(const Segment& segment) {
  const auto [found, is_new] = segments_.try_emplace(segment.name);
  if (!is_new) return false;
  found->second.blocks = blocks_for(segment.tokens);
  found->second.users = 1;
  return true;
}

std::int64_t BlockCache::idle_blocks(std::uint64_t name) const {
  const Kept& kept = segments_.find(name)->second;
  return kept.users == 0 ? kept.blocks : 0;
}

}  // namespace fabricast::serving
