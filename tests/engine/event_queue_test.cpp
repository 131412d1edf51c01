#include "engine/event_queue.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"

namespace fabricast::engine {
namespace {

using base::Time;
using namespace base::literals;

TEST(EventQueue, GivesEventsInOrderOfTime) {
  EventQueue queue;
  base::RandomStream random(7, "times");
  std::vector<std::int64_t> times;
  for (int i = 0; i < 5000; ++i) {
    times.push_back(static_cast<std::int64_t>(random.below(1'000'000)));
    queue.push(Time::picoseconds(times.back()), 0, 0);
  }
  std::sort(times.begin(), times.end());
  for (const std::int64_t expected : times) {
    ASSERT_FALSE(queue.empty());
    EXPECT_EQ(queue.pop().time_ps, expected);
    EXPECT_EQ(queue.now().ps(), expected);
  }
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.popped(), 5000U);
}

TEST(EventQueue, OrdersEqualTimesByKindThenTargetThenValue) {
  std::vector<Event> events;
  for (std::uint32_t kind = 0; kind < 4; ++kind) {
    for (std::uint32_t target = 0; target < 10; ++target) {
      for (std::uint32_t value = 0; value < 3; ++value) {
        events.push_back({5000, kind << Event::kTargetBits | target, value});
      }
    }
  }
  std::vector<std::size_t> order(events.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i * 37 % order.size();
  EventQueue queue;
  for (const std::size_t i : order) {
    queue.push(5_ns, events[i].kind(), events[i].target(), events[i].value);
  }
  for (const Event& expected : events) {
    const Event event = queue.pop();
    EXPECT_EQ(event.kind_and_target, expected.kind_and_target);
    EXPECT_EQ(event.value, expected.value);
  }
}

/// Holds `pending` events and replaces each that leaves by one at a random distance; every event
/// must leave in the order of a plain ordered set.
void expect_the_order_of_a_set(std::size_t pending, std::int64_t reach, std::int64_t rounding) {
  using Key = std::tuple<std::int64_t, std::uint32_t, std::uint32_t>;
  std::multiset<Key> set;
  EventQueue queue;
  base::RandomStream random(13, "set");
  const auto add = [&] {
    std::int64_t ahead = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(reach)));
    if (random.below(100) == 0) ahead *= 1000;  // a timer
    const std::int64_t at = (queue.now().ps() + ahead + rounding) / rounding * rounding;
    const auto target = static_cast<std::uint32_t>(random.below(1000));
    queue.push(Time::picoseconds(at), 1, target, 7);
    set.emplace(at, 1U << Event::kTargetBits | target, 7U);
  };
  for (std::size_t i = 0; i < pending; ++i) add();
  for (int i = 0; i < 60000; ++i) {
    ASSERT_EQ(queue.next().time_ps, std::get<0>(*set.begin()));
    const Event event = queue.pop();
    ASSERT_EQ(Key(event.time_ps, event.kind_and_target, event.value), *set.begin());
    set.erase(set.begin());
    add();
    ASSERT_EQ(queue.size(), pending);
  }
}

TEST(EventQueue, LeavesInTheOrderOfASetWhenEventsAreDense) {
  expect_the_order_of_a_set(3000, 1'000'000, 1);
}
TEST(EventQueue, LeavesInTheOrderOfASetWhenEventsAreSparse) {
  expect_the_order_of_a_set(3, 1'000'000'000, 1);
}
TEST(EventQueue, LeavesInTheOrderOfASetWhenManyShareAnInstant) {
  expect_the_order_of_a_set(500, 1'000'000, 250'000);
}
TEST(EventQueue, LeavesInTheOrderOfASetWhenAllShareFewInstants) {
  expect_the_order_of_a_set(20000, 100, 100);
}

// Windows: what comes before a bound leaves in order, and what is pushed then lies behind it.
TEST(EventQueue, GivesWhatComesBeforeABoundAndNoMore) {
  using Key = std::tuple<std::int64_t, std::uint32_t, std::uint32_t>;
  const auto key = [](const Event& e) { return Key(e.time_ps, e.kind_and_target, e.value); };
  EventQueue queue;
  std::multiset<Key> set;
  base::RandomStream random(17, "windows");
  std::int64_t begin = 0;
  for (int window = 0; window < 3000; ++window) {
    for (std::uint64_t n = random.below(20); n > 0; --n) {
      const std::uint64_t reach = random.below(50) == 0 ? 100'000'000 : 20'000;
      const auto at = Time::picoseconds(begin + static_cast<std::int64_t>(random.below(reach)));
      const Event event = Event::make(at, 1, static_cast<std::uint32_t>(random.below(5)));
      queue.push(event);
      set.insert(key(event));
    }
    const std::int64_t end = begin + static_cast<std::int64_t>(random.below(10'000));
    const Event bound =
        Event::make(Time::picoseconds(end), static_cast<std::uint8_t>(window % 3), 2);
    Event event;
    while (queue.pop_before(bound, event)) {
      ASSERT_EQ(key(event), *set.begin());
      ASSERT_LT(key(event), key(bound));
      set.erase(set.begin());
    }
    if (!set.empty()) {
      ASSERT_GE(*set.begin(), key(bound));
      ASSERT_EQ(key(queue.next()), *set.begin());
    }
    ASSERT_EQ(queue.size(), set.size());
    begin = end;
    queue.set_now(Time::picoseconds(begin));
  }
}

TEST(EventQueue, StaysOrderedWhilePushesAndPopsMix) {
  EventQueue queue;
  base::RandomStream random(11, "mix");
  Time last;
  queue.push(1_ns, 0, 0);
  for (int i = 0; i < 20000 && !queue.empty(); ++i) {
    const Event event = queue.pop();
    EXPECT_GE(event.time(), last);
    last = event.time();
    const std::uint64_t children = queue.size() > 200 ? random.below(2) : 1 + random.below(2);
    for (std::uint64_t c = 0; c < children; ++c) {
      queue.push(last + Time::picoseconds(static_cast<std::int64_t>(random.below(1000))), 0, 0);
    }
  }
}

}  // namespace
}  // namespace fabricast::engine
