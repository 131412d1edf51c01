#include "base/parallel.h"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"

namespace fabricast::base {
namespace {

TEST(ParallelFor, visits_every_index_once_whatever_the_threads) {
  for (const int threads : {0, 1, 2, 7}) {
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{100'000}}) {
      std::vector<std::atomic<int>> visits(n);
      parallel_for(n, threads, [&](std::size_t i) { ++visits[i]; });
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(visits[i], 1) << i << " of " << n;
    }
  }
}

TEST(ParallelFor, rethrows_the_error_of_the_lowest_index) {
  for (const int threads : {1, 4}) {
    std::string message;
    try {
      parallel_for(1000, threads, [](std::size_t i) {
        // The lower the index, the later it throws.
        if (i == 5) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        if (i >= 5) throw failure("item " + std::to_string(i));
      });
    } catch (const Error& error) {
      message = error.what();
    }
    EXPECT_EQ(message, "item 5");
  }
}

TEST(ParallelFor, lets_the_other_items_end_before_it_throws) {
  for (const int threads : {1, 4}) {
    std::atomic<int> ended = 0;
    EXPECT_THROW(parallel_for(1000, threads,
                              [&](std::size_t i) {
                                if (i == 0) throw failure("first");
                                ++ended;
                              }),
                 Error);
    EXPECT_EQ(ended, 999);
  }
}

TEST(ParallelFor, never_runs_more_items_at_once_than_threads) {
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  parallel_for(64, 2, [&](std::size_t) {
    const int now = ++running;
    int seen = most;
    while (now > seen && !most.compare_exchange_weak(seen, now)) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --running;
  });
  EXPECT_LE(most, 2);
}

TEST(ParallelFor, may_be_called_from_within_an_item) {
  std::vector<std::atomic<int>> visits(64);
  parallel_for(8, 2, [&](std::size_t i) {
    parallel_for(8, 2, [&, i](std::size_t j) { ++visits[i * 8 + j]; });
  });
  for (const auto& count : visits) EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace fabricast::base
