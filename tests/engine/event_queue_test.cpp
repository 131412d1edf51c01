#include "engine/event_queue.h"

#include <algorithm>
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

TEST(EventQueue, KeepsTheOrderOfInsertionAmongEqualTimes) {
  EventQueue queue;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    queue.push(5_ns, static_cast<std::uint8_t>(255 - i % 256), i, i + 1);
  }
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const Event event = queue.pop();
    EXPECT_EQ(event.target, i);
    EXPECT_EQ(event.value, i + 1);
    EXPECT_EQ(event.kind(), 255 - i % 256);
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
