#pragma once
// The clock and the pending events of one simulation; knows nothing of networks. An event is 24
// bytes: when, a running number that breaks ties in order of insertion (so that equal times never
// depend on the shape of the heap), a kind, a target index and a value. The queue is a 4-ary
// implicit heap: half the levels of a binary one, and the four children share a cache line or two.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/units.h"

namespace fabricast::engine {

struct Event {
  std::int64_t time_ps = 0;
  std::uint64_t order_and_kind = 0;  ///< running number << 8 | kind
  std::uint32_t target = 0;
  std::uint32_t value = 0;

  base::Time time() const { return base::Time::picoseconds(time_ps); }
  std::uint8_t kind() const { return static_cast<std::uint8_t>(order_and_kind & 0xff); }
};

class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  /// The instant of the event that was popped last; 0 at the start.
  base::Time now() const { return now_; }
  std::uint64_t popped() const { return popped_; }
  void reserve(std::size_t events) { heap_.reserve(events); }

  /// PRECONDITION: at >= now().
  void push(base::Time at, std::uint8_t kind, std::uint32_t target, std::uint32_t value = 0) {
    heap_.push_back({at.ps(), (next_order_++ << 8) | kind, target, value});
    sift_up(heap_.size() - 1);
  }

  /// PRECONDITION: not empty. Moves the clock to the event's time.
  Event pop() {
    const Event top = heap_.front();
    const Event last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sift_down(last);
    now_ = top.time();
    ++popped_;
    return top;
  }

 private:
  static constexpr std::size_t kArity = 4;

  static bool before(const Event& a, const Event& b) {
    return a.time_ps < b.time_ps || (a.time_ps == b.time_ps && a.order_and_kind < b.order_and_kind);
  }

  void sift_up(std::size_t i) {
    const Event moving = heap_[i];
    while (i > 0) {
      const std::size_t parent = (i - 1) / kArity;
      if (!before(moving, heap_[parent])) break;
      heap_[i] = heap_[parent];
      i = parent;
    }
    heap_[i] = moving;
  }

  // Places `moving` starting from the root's hole.
  void sift_down(const Event& moving) {
    const std::size_t n = heap_.size();
    std::size_t i = 0;
    for (;;) {
      const std::size_t first = kArity * i + 1;
      if (first >= n) break;
      const std::size_t end = first + kArity < n ? first + kArity : n;
      std::size_t least = first;
      for (std::size_t c = first + 1; c < end; ++c) {
        if (before(heap_[c], heap_[least])) least = c;
      }
      if (!before(heap_[least], moving)) break;
      heap_[i] = heap_[least];
      i = least;
    }
    heap_[i] = moving;
  }

  std::vector<Event> heap_;
  std::uint64_t next_order_ = 0;
  std::uint64_t popped_ = 0;
  base::Time now_;
};

}  // namespace fabricast::engine
