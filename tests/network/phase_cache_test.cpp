#include "network/phase_cache.h"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace fabricast::network {
namespace {

PhaseSamples samples(double seconds) {
  PhaseSamples result;
  result.seconds = {seconds};
  return result;
}

TEST(PhaseCache, SimulatesAKeyOnceAndKeepsWhatItShowed) {
  PhaseCache cache;
  int runs = 0;
  const auto simulate = [&runs] { return samples(++runs); };
  const PhaseSamples& first = cache.get("a", simulate);
  const PhaseSamples& again = cache.get("a", simulate);
  EXPECT_EQ(&first, &again);
  EXPECT_EQ(again.seconds[0], 1);
  EXPECT_EQ(cache.get("b", simulate).seconds[0], 2);
  EXPECT_EQ(cache.hits(), 1U);
  EXPECT_EQ(cache.misses(), 2U);
}

TEST(PhaseCache, ThreadsThatAskForOneKeyShareOneSimulation) {
  PhaseCache cache;
  std::atomic<int> runs = 0;
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const PhaseSamples& found = cache.get("a", [&runs] {
        ++runs;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return samples(42);
      });
      if (found.seconds[0] == 42) ++right;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(right, 8);
  EXPECT_EQ(cache.hits(), 7U);
}

TEST(PhaseCache, DifferentKeysDoNotWaitForEachOther) {
  PhaseCache cache;
  double inner = 0;
  cache.get("outer", [&] {
    inner = cache.get("inner", [] { return samples(1); }).seconds[0];
    return samples(2);
  });
  EXPECT_EQ(inner, 1);
}

TEST(PhaseCache, AFailedSimulationIsTriedAgain) {
  PhaseCache cache;
  EXPECT_THROW(cache.get("a", []() -> PhaseSamples { throw std::runtime_error("deadlock"); }),
               std::runtime_error);
  EXPECT_EQ(cache.get("a", [] { return samples(3); }).seconds[0], 3);
  EXPECT_EQ(cache.misses(), 1U);
}

}  // namespace
}  // namespace fabricast::network
