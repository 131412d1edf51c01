#pragma once
// The clock and the pending events of one simulation; knows nothing of networks.
//
// An event is 16 bytes: when, a kind, a target and a value. Pending events leave in the order
// (time, kind, target, value): a total order of what they are, so that neither the shape of a
// container nor the order of insertion can change a run.
//
// The queue is a calendar that fits itself to the run. A ring of buckets covers the near future;
// events beyond its horizon wait in a heap, and the bucket in progress is a heap of its own, mostly
// of one event. Width and number of buckets follow what the last few thousand events needed.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/units.h"

namespace fabricast::engine {

struct Event {
  std::int64_t time_ps = 0;
  std::uint32_t kind_and_target = 0;  ///< kind << 27 | target
  std::uint32_t value = 0;

  static constexpr int kTargetBits = 27;
  static constexpr std::uint32_t kTargets = 1U << kTargetBits;  ///< targets are below this

  /// PRECONDITION: kind < 32, target < kTargets.
  static Event make(base::Time at, std::uint8_t kind, std::uint32_t target,
                    std::uint32_t value = 0) {
    return {at.ps(), static_cast<std::uint32_t>(kind) << kTargetBits | target, value};
  }

  base::Time time() const { return base::Time::picoseconds(time_ps); }
  std::uint8_t kind() const { return static_cast<std::uint8_t>(kind_and_target >> kTargetBits); }
  std::uint32_t target() const { return kind_and_target & (kTargets - 1); }

  friend bool operator<(const Event& a, const Event& b) { return a.rank() < b.rank(); }

 private:
  __extension__ using Rank = unsigned __int128;
  Rank rank() const {
    const std::uint64_t low = static_cast<std::uint64_t>(kind_and_target) << 32 | value;
    return static_cast<Rank>(static_cast<std::uint64_t>(time_ps)) << 64 | low;
  }
};
static_assert(sizeof(Event) == 16);

/// A 4-ary implicit heap, the least event on top: half the levels of a binary heap, and the four
/// children share a cache line or two.
class EventHeap {
 public:
  bool empty() const { return events_.empty(); }
  std::size_t size() const { return events_.size(); }
  const Event& top() const { return events_.front(); }
  const std::vector<Event>& events() const { return events_; }
  void clear() { events_.clear(); }

  void push(const Event& event) {
    events_.push_back(event);
    std::size_t i = events_.size() - 1;
    while (i > 0) {
      const std::size_t parent = (i - 1) / kArity;
      if (!(event < events_[parent])) break;
      events_[i] = events_[parent];
      i = parent;
    }
    events_[i] = event;
  }

  /// PRECONDITION: not empty.
  Event pop() {
    const Event top = events_.front();
    const Event last = events_.back();
    events_.pop_back();
    if (!events_.empty()) sift_down(last);
    return top;
  }

 private:
  static constexpr std::size_t kArity = 4;

  // Places `moving` starting from the root's hole.
  void sift_down(const Event& moving) {
    const std::size_t n = events_.size();
    std::size_t i = 0;
    for (;;) {
      const std::size_t first = kArity * i + 1;
      if (first >= n) break;
      const std::size_t end = first + kArity < n ? first + kArity : n;
      std::size_t least = first;
      for (std::size_t c = first + 1; c < end; ++c) {
        if (events_[c] < events_[least]) least = c;
      }
      if (!(events_[least] < moving)) break;
      events_[i] = events_[least];
      i = least;
    }
    events_[i] = moving;
  }

  std::vector<Event> events_;
};

class EventQueue {
 public:
  EventQueue() { resize(kLeastBuckets); }

  bool empty() const { return size() == 0; }
  std::size_t size() const { return current_.size() + near_ + far_.size(); }
  /// The instant of the event that was popped last; 0 at the start.
  base::Time now() const { return base::Time::picoseconds(now_ps_); }
  std::uint64_t popped() const { return popped_; }

  /// PRECONDITION: at >= now(), kind < 32, target < Event::kTargets.
  void push(base::Time at, std::uint8_t kind, std::uint32_t target, std::uint32_t value = 0) {
    insert(Event::make(at, kind, target, value));
  }
  void push(const Event& event) { insert(event); }

  /// PRECONDITION: not empty. Moves the clock to the event's time.
  Event pop() {
    if (!current_.empty()) return leave(current_.pop());
    return leave(advance(next_bucket()) ? take_only() : current_.pop());
  }

  /// The next event, if it comes before `bound`, as `pop` gives it; false, and the clock stays, if
  /// there is none.
  bool pop_before(const Event& bound, Event& event) {
    if (current_.empty()) {
      if (empty()) return false;
      const std::int64_t bucket = next_bucket();
      if (bucket > bucket_of(bound)) return false;  // the cursor waits for what may come before
      if (advance(bucket)) current_.push(take_only());
    }
    if (!(current_.top() < bound)) return false;
    event = leave(current_.pop());
    return true;
  }

  /// The next event. PRECONDITION: not empty.
  Event next() {
    if (!current_.empty()) return current_.top();
    if (near_ == 0) return far_.top();
    std::uint32_t i = heads_[slot_of(next_bucket())];
    Event least = nodes_[i].event;
    while ((i = nodes_[i].next) != kEnd) {
      if (nodes_[i].event < least) least = nodes_[i].event;
    }
    return least;
  }

  /// Moves the clock on. PRECONDITION: nothing is pending before `now`.
  void set_now(base::Time now) { now_ps_ = now.ps(); }

 private:
  static constexpr std::size_t kLeastBuckets = 256;
  static constexpr std::size_t kMostBuckets = std::size_t{1} << 20;
  static constexpr std::uint64_t kReview = 8192;  ///< pops between two looks at the shape
  static constexpr std::uint32_t kEnd = 0xffffffffU;

  /// An event in a bucket, and what follows it there in no particular order.
  struct Node {
    Event event;
    std::uint32_t next = kEnd;
  };

  std::int64_t bucket_of(const Event& event) const { return event.time_ps >> shift_; }

  void insert(const Event& event) {
    const std::int64_t bucket = bucket_of(event);
    if (bucket <= cursor_) {
      current_.push(event);
    } else if (bucket < cursor_ + static_cast<std::int64_t>(heads_.size())) {
      append(slot_of(bucket), event);
    } else {
      far_.push(event);
      ++far_pushes_;
    }
  }

  void append(std::size_t slot, const Event& event) {
    std::uint32_t index = free_;
    if (index == kEnd) {
      index = static_cast<std::uint32_t>(nodes_.size());
      nodes_.emplace_back();
    } else {
      free_ = nodes_[index].next;
    }
    nodes_[index] = {event, heads_[slot]};
    heads_[slot] = index;
    occupied_[slot / 64] |= std::uint64_t{1} << slot % 64;
    ++near_;
  }

  std::size_t slot_of(std::int64_t bucket) const {
    return static_cast<std::size_t>(bucket) & (heads_.size() - 1);
  }

  Event leave(const Event& event) {
    now_ps_ = event.time_ps;
    if ((++popped_ & (kReview - 1)) == 0) review();
    return event;
  }

  // Moves the cursor to `bucket`, the next one that holds anything. True, and nothing moved yet,
  // when that is one event; else its events are in `current_`.
  bool advance(std::int64_t bucket) {
    ++advances_;
    cursor_ = bucket;
    // What has come within the horizon.
    while (!far_.empty() &&
           bucket_of(far_.top()) < cursor_ + static_cast<std::int64_t>(heads_.size())) {
      const Event event = far_.pop();
      append(slot_of(bucket_of(event)), event);
    }
    const std::size_t slot = slot_of(cursor_);
    if (nodes_[heads_[slot]].next == kEnd) return true;
    while (heads_[slot] != kEnd) current_.push(take(slot));
    return false;
  }

  Event take_only() { return take(slot_of(cursor_)); }

  Event take(std::size_t slot) {
    const std::uint32_t index = heads_[slot];
    Node& node = nodes_[index];
    heads_[slot] = node.next;
    if (node.next == kEnd) occupied_[slot / 64] &= ~(std::uint64_t{1} << slot % 64);
    node.next = std::exchange(free_, index);
    --near_;
    return node.event;
  }

  // The next bucket that holds anything. PRECONDITION: `current_` is empty, the queue is not.
  std::int64_t next_bucket() {
    if (near_ == 0) return bucket_of(far_.top());
    const std::size_t mask = heads_.size() - 1;
    const std::size_t from = static_cast<std::size_t>(cursor_ + 1) & mask;
    std::size_t word = from / 64;
    std::uint64_t bits = occupied_[word] & (~std::uint64_t{0} << from % 64);
    while (bits == 0) {
      ++words_scanned_;
      word = (word + 1) & (occupied_.size() - 1);
      bits = occupied_[word];
    }
    const std::size_t slot = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
    return cursor_ + 1 + static_cast<std::int64_t>((slot - from) & mask);
  }

  // Fits width and number of the buckets to the last kReview events: few events to a bucket, few
  // empty buckets between, and few events beyond the horizon.
  void review() {
    const bool short_sighted = far_pushes_ > kReview / 32;
    const bool sparse = words_scanned_ > 2 * advances_;
    const bool crowded = 2 * kReview > 3 * advances_;
    std::size_t buckets = heads_.size();
    const std::size_t wanted = std::bit_ceil(2 * size());
    if (wanted > buckets || 8 * wanted < buckets) {
      buckets =
          wanted < kLeastBuckets ? kLeastBuckets : (wanted > kMostBuckets ? kMostBuckets : wanted);
    }
    int shift = shift_;
    if (short_sighted || sparse) {
      ++shift;
      // What had to be widened is not narrowed again at once.
      least_shift_ = shift;
    } else if (crowded && shift > least_shift_) {
      --shift;
    }
    if (shift > kMostShift) shift = kMostShift;
    if (popped_ % (kReview * 256) == 0) least_shift_ = 0;
    far_pushes_ = words_scanned_ = advances_ = 0;
    if (shift != shift_ || buckets != heads_.size()) rebuild(shift, buckets);
  }

  void rebuild(int shift, std::size_t buckets) {
    std::vector<Event> all = current_.events();
    all.insert(all.end(), far_.events().begin(), far_.events().end());
    for (const std::uint32_t head : heads_) {
      for (std::uint32_t i = head; i != kEnd; i = nodes_[i].next) all.push_back(nodes_[i].event);
    }
    current_.clear();
    far_.clear();
    shift_ = shift;
    resize(buckets);
    cursor_ = now_ps_ >> shift_;
    for (const Event& event : all) insert(event);
    far_pushes_ = 0;
  }

  void resize(std::size_t buckets) {
    heads_.assign(buckets, kEnd);
    occupied_.assign(buckets / 64, 0);
    nodes_.clear();
    free_ = kEnd;
    near_ = 0;
  }

  static constexpr int kMostShift = 40;  ///< 1.1 s to a bucket

  EventHeap current_;  ///< what lies at or before the cursor's bucket
  std::vector<std::uint32_t> heads_;
  std::vector<std::uint64_t> occupied_;  ///< a bit per bucket
  std::vector<Node> nodes_;
  std::uint32_t free_ = kEnd;
  std::size_t near_ = 0;  ///< events in buckets
  EventHeap far_;         ///< what lies beyond the horizon
  int shift_ = 12;        ///< a bucket is 2^shift_ ps wide
  int least_shift_ = 0;
  std::int64_t cursor_ = 0;  ///< bucket in progress, counted from time 0
  std::int64_t now_ps_ = 0;
  std::uint64_t popped_ = 0;
  // Since the last review.
  std::uint64_t far_pushes_ = 0;
  std::uint64_t words_scanned_ = 0;
  std::uint64_t advances_ = 0;
};

}  // namespace fabricast::engine
