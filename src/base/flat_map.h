#pragma once
// A hash map for the inner loops: 64-bit keys and small values side by side in one array, so that a
// look-up is one cache line and an insertion allocates nothing of its own.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.h"

namespace fabricast::base {

/// Nothing is ever taken out. PRECONDITION of every key: it is not the largest there is.
template <class T>
class FlatMap {
 public:
  std::size_t size() const { return size_; }

  /// The value of a key, and whether it is new: `value` then.
  std::pair<T*, bool> try_emplace(std::uint64_t key, T value) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[place_of(key)];
    const bool added = slot.key == kFree;
    if (added) {
      slot = {key, std::move(value)};
      ++size_;
    }
    return {&slot.value, added};
  }

  void clear() {
    slots_.clear();
    size_ = 0;
  }

 private:
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};
  static constexpr std::size_t kLeast = 16;

  struct Slot {
    std::uint64_t key = kFree;
    T value{};
  };

  // Where a key is, or would be: the first slot from its hash on that holds it or is free.
  std::size_t place_of(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = static_cast<std::size_t>(mix64(key)) & mask;
    while (slots_[i].key != key && slots_[i].key != kFree) i = (i + 1) & mask;
    return i;
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? kLeast : 2 * slots_.size());
    old.swap(slots_);
    for (Slot& slot : old) {
      if (slot.key != kFree) slots_[place_of(slot.key)] = std::move(slot);
    }
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace fabricast::base
