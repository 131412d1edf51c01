#include "packet/receive_window.h"

#include <gtest/gtest.h>

namespace fabricast::packet {
namespace {

using Outcome = ReceiveWindow::Outcome;

TEST(ReceiveWindow, ClosesAHoleAndJumpsOverWhatWaitsBehindIt) {
  ReceiveWindow window;
  window.initialise(128);
  EXPECT_EQ(window.receive(0), Outcome::kInOrder);
  EXPECT_EQ(window.receive(2), Outcome::kOutOfOrder);
  EXPECT_EQ(window.receive(3), Outcome::kOutOfOrder);
  EXPECT_EQ(window.expected(), 1U);
  EXPECT_EQ(window.receive(1), Outcome::kInOrder);
  EXPECT_EQ(window.expected(), 4U);
}

TEST(ReceiveWindow, TellsDuplicatesBeforeAndBehindTheHole) {
  ReceiveWindow window;
  window.initialise(64);
  window.receive(0);
  window.receive(5);
  EXPECT_EQ(window.receive(0), Outcome::kDuplicate);
  EXPECT_EQ(window.receive(5), Outcome::kDuplicate);
}

TEST(ReceiveWindow, RefusesWhatLiesBeyondItsMemory) {
  ReceiveWindow window;
  window.initialise(64);
  EXPECT_EQ(window.receive(64), Outcome::kBeyond);
  EXPECT_EQ(window.receive(63), Outcome::kOutOfOrder);
}

TEST(ReceiveWindow, HoldsWhatLiesBehindAGapUntilItIsPassed) {
  ReceiveWindow window;
  window.initialise(64);
  window.receive(3);
  window.receive(70);  // beyond: not remembered
  EXPECT_TRUE(window.holds(3));
  EXPECT_FALSE(window.holds(2));
  EXPECT_FALSE(window.holds(70));
  window.advance(5);
  EXPECT_EQ(window.expected(), 5U);
  EXPECT_FALSE(window.holds(3 + 64)) << "its place is free for another";
}

TEST(ReceiveWindow, SlidesForever) {
  ReceiveWindow window;
  window.initialise(64);
  for (std::uint32_t i = 0; i < 10'000; i += 2) {
    EXPECT_EQ(window.receive(i + 1), Outcome::kOutOfOrder);
    EXPECT_EQ(window.receive(i), Outcome::kInOrder);
    EXPECT_EQ(window.expected(), i + 2);
  }
}

}  // namespace
}  // namespace fabricast::packet
