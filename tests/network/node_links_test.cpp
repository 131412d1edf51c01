#include "network/node_links.h"

#include <gtest/gtest.h>

namespace fabricast::network {
namespace {

using namespace base::literals;
using base::Rank;

// 80 Gb/s is 100 ps a byte: 1,000 B take 100 ns.
constexpr NodeLinkSpec kSpec{80_gbps, 1_us};

TEST(NodeLinks, AMessageTakesItsTransmissionTimeAndOneLatency) {
  NodeLinks links(8, kSpec);
  EXPECT_EQ(links.send(Rank(0), Rank(1), 1000_B, 5_us), 6_us + 100_ns);
}

TEST(NodeLinks, MessagesOfOneSenderFollowEachOther) {
  NodeLinks links(8, kSpec);
  links.send(Rank(0), Rank(1), 1000_B, 0_us);
  EXPECT_EQ(links.send(Rank(0), Rank(2), 1000_B, 0_us), 1_us + 200_ns);
}

TEST(NodeLinks, MessagesToOneReceiverFollowEachOther) {
  NodeLinks links(8, kSpec);
  links.send(Rank(0), Rank(2), 1000_B, 0_us);
  EXPECT_EQ(links.send(Rank(1), Rank(2), 1000_B, 0_us), 1_us + 200_ns);
}

TEST(NodeLinks, BothDirectionsOfAPortAreIndependent) {
  NodeLinks links(8, kSpec);
  links.send(Rank(0), Rank(1), 1000_B, 0_us);
  EXPECT_EQ(links.send(Rank(1), Rank(0), 1000_B, 0_us), 1_us + 100_ns);
}

TEST(NodeLinks, PairsThatShareNoPortDoNotWait) {
  NodeLinks links(8, kSpec);
  links.send(Rank(0), Rank(1), 1000_B, 0_us);
  EXPECT_EQ(links.send(Rank(2), Rank(3), 1000_B, 0_us), 1_us + 100_ns);
}

TEST(NodeLinks, AnIdlePortKeepsNothingOfThePast) {
  NodeLinks links(8, kSpec);
  links.send(Rank(0), Rank(1), 1000_B, 0_us);
  EXPECT_EQ(links.send(Rank(0), Rank(1), 1000_B, 10_us), 11_us + 100_ns);
}

}  // namespace
}  // namespace fabricast::network
