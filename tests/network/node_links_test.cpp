#include "network/node_links.h"

#include <map>

#include <gtest/gtest.h>

namespace fabricast::network {
namespace {

using namespace base::literals;
using base::Rank;

/// Posts messages and plays what becomes of them in the order of time.
class Node {
 public:
  explicit Node(NodeLinkSpec spec) : links_(8, spec) {}
  /// Returns the number of the message.
  std::uint32_t post(std::uint32_t src, std::uint32_t dst, base::Bytes size, base::Time now,
                     const SendOptions& options = {}) {
    const auto [at, crossing] =
        links_.leave(Rank(src), Rank(dst), size, options, static_cast<std::uint32_t>(count_), now);
    due_.emplace(std::pair{at, count_}, crossing);
    return static_cast<std::uint32_t>(count_++);
  }
  base::Time arrival(std::uint32_t message) {
    for (const auto& [due, crossing] : due_) {
      const auto [at, arrived] = links_.enter(crossing, due.first);
      arrivals_[arrived] = at;
    }
    due_.clear();
    return arrivals_.at(message);
  }

 private:
  NodeLinks links_;
  int count_ = 0;
  std::map<std::pair<base::Time, int>, std::uint32_t> due_;
  std::map<std::uint32_t, base::Time> arrivals_;
};

// 80 Gb/s is 100 ps a byte: 1,000 B take 100 ns.
constexpr NodeLinkSpec kSpec{80_gbps, 1_us};

TEST(NodeLinks, AMessageTakesItsTransmissionTimeAndOneLatency) {
  Node node(kSpec);
  EXPECT_EQ(node.arrival(node.post(0, 1, 1000_B, 5_us)), 6_us + 100_ns);
}

TEST(NodeLinks, MessagesOfOneSenderFollowEachOther) {
  Node node(kSpec);
  node.post(0, 1, 1000_B, 0_us);
  EXPECT_EQ(node.arrival(node.post(0, 2, 1000_B, 0_us)), 1_us + 200_ns);
}

TEST(NodeLinks, MessagesToOneReceiverFollowEachOther) {
  Node node(kSpec);
  node.post(0, 2, 1000_B, 0_us);
  EXPECT_EQ(node.arrival(node.post(1, 2, 1000_B, 0_us)), 1_us + 200_ns);
}

TEST(NodeLinks, BothDirectionsOfAPortAreIndependent) {
  Node node(kSpec);
  node.post(0, 1, 1000_B, 0_us);
  EXPECT_EQ(node.arrival(node.post(1, 0, 1000_B, 0_us)), 1_us + 100_ns);
}

TEST(NodeLinks, PairsThatShareNoPortDoNotWait) {
  Node node(kSpec);
  node.post(0, 1, 1000_B, 0_us);
  EXPECT_EQ(node.arrival(node.post(2, 3, 1000_B, 0_us)), 1_us + 100_ns);
}

TEST(NodeLinks, AnIdlePortKeepsNothingOfThePast) {
  Node node(kSpec);
  node.post(0, 1, 1000_B, 0_us);
  EXPECT_EQ(node.arrival(node.post(0, 1, 1000_B, 10_us)), 11_us + 100_ns);
}

TEST(NodeLinks, ABusyReceiverDoesNotHoldUpWhatItsSenderHasForOthers) {
  Node node(kSpec);
  node.post(0, 2, 1000_B, 0_us);
  node.post(1, 2, 1000_B, 0_us);
  EXPECT_EQ(node.arrival(node.post(1, 3, 1000_B, 0_us)), 1_us + 200_ns);
}

TEST(NodeLinks, WhatTheSwitchSumsComesInOnce) {
  Node node(kSpec);
  std::uint32_t last = 0;
  for (std::uint32_t g = 0; g < 4; ++g) {
    last = node.post(g, 0, 1000_B, 0_us, {.senders = 4, .receivers = 1});
  }
  EXPECT_EQ(node.arrival(last), 1_us + 100_ns);
}

TEST(NodeLinks, WhatTheSwitchMulticastsGoesOutOnce) {
  Node node(kSpec);
  std::uint32_t last = 0;
  for (std::uint32_t g = 0; g < 4; ++g) {
    last = node.post(0, g, 1000_B, 0_us, {.senders = 1, .receivers = 4});
  }
  EXPECT_EQ(node.arrival(last), 1_us + 75_ns + 100_ns);
  EXPECT_EQ(node.arrival(node.post(0, 5, 1000_B, 0_us)), 1_us + 200_ns);
}

}  // namespace
}  // namespace fabricast::network
