#pragma once
// A GPU's cached keys and values in blocks, as vLLM manages them (Kwon et al., SOSP 2023): blocks
// belong to one sequence, or to a segment of a prompt that several share. Segments that nobody uses
// stay until their blocks are wanted, the longest unused first.

#include <cstdint>
#include <list>
#include <unordered_map>

namespace fabricast::serving {

/// Leading tokens of a prompt that have a name: equal names, equal tokens from the beginning.
struct Segment {
  std::uint64_t name = 0;
  int tokens = 0;
};

class BlockCache {
 public:
  BlockCache(std::int64_t blocks, int block_size);

  std::int64_t blocks_for(std::int64_t tokens) const { return (tokens + size_ - 1) / size_; }
  /// Takes blocks for one sequence, evicting what nobody uses. False: there are not so many.
  bool take(std::int64_t blocks);
  void give(std::int64_t blocks) { free_ += blocks; }
  bool could_take(std::int64_t blocks) const { return blocks <= free_ + evictable_; }
  std::int64_t capacity() const { return capacity_; }
  std::int64_t in_use() const { return capacity_ - free_ - evictable_; }

  bool has(std::uint64_t name) const { return segments_.contains(name); }
  /// One more user of a segment that is there.
  void use(std::uint64_t name);
  /// One user less.
  void leave(std::uint64_t name);
  /// A sequence has computed the segment: blocks that it has taken become the segment's, with the
  /// sequence as their user. False when it is there already and nothing changes.
  bool share(const Segment& segment);
  /// Blocks of `use`d segments that nobody used before and that eviction could have had.
  std::int64_t idle_blocks(std::uint64_t name) const;

 private:
  struct Kept {
    std::int64_t blocks = 0;
    int users = 0;
    std::list<std::uint64_t>::iterator place;  ///< in `unused_`, while there are none
  };
  void evict();

  std::int64_t capacity_;
  int size_;
  std::int64_t free_;
  std::int64_t evictable_ = 0;
  std::unordered_map<std::uint64_t, Kept> segments_;
  std::list<std::uint64_t> unused_;  ///< the longest unused first
};

}  // namespace fabricast::serving
