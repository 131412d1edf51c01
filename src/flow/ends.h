#pragma once
// When streams end, and which does so next. A change of rates moves the ends of very many streams
// at once; so an end is one entry of an array, and the least one is looked for, block by block,
// only when it is asked for.

#include <cstdint>
#include <limits>
#include <vector>

namespace fabricast::flow {

class Ends {
 public:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  /// Instant `ps` for a stream, in place of the one it had.
  void set(std::uint32_t stream, std::int64_t ps);
  void clear(std::uint32_t stream) {
    if (stream < ends_.size() && ends_[stream] != kNever) set(stream, kNever);
  }
  /// The earliest; kNever when there is none.
  std::int64_t next() {
    if (!stale_blocks_.empty()) refresh();
    return next_;
  }
  /// Takes those of the earliest instant out, in the order of their numbers; until the next call.
  /// PRECONDITION: next() is not kNever.
  const std::vector<std::uint32_t>& take();

 private:
  static constexpr std::size_t kBlock = 64;  ///< entries under one of the level above

  static std::int64_t least(const std::vector<std::int64_t>& values, std::size_t block);
  void refresh();

  std::vector<std::int64_t> ends_;
  std::vector<std::int64_t> blocks_;  ///< the least of kBlock ends
  std::vector<std::int64_t> groups_;  ///< the least of kBlock blocks
  std::vector<std::uint8_t> stale_;   ///< of each block
  std::vector<std::uint32_t> stale_blocks_;
  std::int64_t next_ = kNever;
  std::vector<std::uint32_t> taken_;
};

}  // namespace fabricast::flow
