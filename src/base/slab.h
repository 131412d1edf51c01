#pragma once
// Items that come and go, named by an index that others can keep.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/large_pages.h"

namespace fabricast::base {

/// A slab with a free list, named by index.
template <class T>
class Slab {
 public:
  std::uint32_t allocate() {
    if (free_.empty()) {
      items_.emplace_back();
      return static_cast<std::uint32_t>(items_.size() - 1);
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    items_[index] = T{};
    return index;
  }
  void release(std::uint32_t index) { free_.push_back(index); }
  /// The item at an index that somebody else has chosen.
  T& place(std::uint32_t index) {
    if (index >= items_.size()) items_.resize(index + std::size_t{1});
    return items_[index];
  }
  T& operator[](std::uint32_t index) { return items_[index]; }
  const T& operator[](std::uint32_t index) const { return items_[index]; }

 private:
  std::vector<T, LargePages<T>> items_;
  std::vector<std::uint32_t> free_;
};

}  // namespace fabricast::base
