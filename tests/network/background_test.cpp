#include "network/background.h"

#include <cstdlib>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/statistics.h"
#include "fake_network.h"

namespace fabricast::network {
namespace {

using namespace base::literals;
using fabric::TopologyKind;

constexpr BackgroundSpec kTenPercent{0.1, 1_MiB};

void run_until(FakeNetwork& network, base::Time end) {
  network.at(end, [&network](base::Time) { network.stop(); });
  network.run();
}

std::vector<FakeNetwork::Message> traffic(const fabric::Fabric& fabric, BackgroundSpec spec,
                                          std::uint64_t seed, base::Time end) {
  FakeNetwork network(fabric, 1_us);
  const BackgroundTraffic background(network, fabric, spec, seed);
  run_until(network, end);
  return network.messages;
}

// 10 % of 100 Gb/s for 10 s is 12.5 GB, 11,921 messages of 1 MiB; the deviation of a Poisson count
// is its root, 0.92 %. Five of them allowed.
TEST(Background, EveryAdapterOffersItsLoadOnAverage) {
  const auto fabric = small_fabric(2, TopologyKind::kSingleSwitch);
  std::map<std::uint32_t, double> sent;
  for (const auto& m : traffic(fabric, kTenPercent, 7, 10_s)) {
    sent[fabric.endpoint_of(m.src).index()] += static_cast<double>(m.size.count());
  }
  ASSERT_EQ(sent.size(), 8U);
  for (const auto& [adapter, bytes] : sent) EXPECT_NEAR(bytes / 12.5e9, 1, 0.046) << adapter;
}

// Exponential gaps have a standard deviation equal to their mean (Poisson process).
TEST(Background, GapsAreExponential) {
  const auto fabric = small_fabric(2, TopologyKind::kSingleSwitch);
  std::vector<double> gaps;
  base::Time last;
  for (const auto& m : traffic(fabric, kTenPercent, 3, 10_s)) {
    if (fabric.endpoint_of(m.src).index() != 5) continue;
    gaps.push_back((m.posted - last).s());
    last = m.posted;
  }
  EXPECT_NEAR(base::standard_deviation(gaps) / base::mean(gaps), 1, 0.05);
}

TEST(Background, MessagesGoToOtherNodesOnAChannelOfTheirOwn) {
  const auto fabric = small_fabric(4, TopologyKind::kSingleSwitch);
  for (const auto& m : traffic(fabric, kTenPercent, 1, 100_ms)) {
    EXPECT_NE(fabric.node_of(m.src), fabric.node_of(m.dst));
    EXPECT_EQ(m.size, 1_MiB);
    EXPECT_EQ(m.channel, kBackgroundChannel);
  }
}

// Two GPUs share each of two adapters.
TEST(Background, AllGpusNextToAnAdapterSendThroughIt) {
  const auto fabric = small_fabric(2, TopologyKind::kSingleSwitch, 2);
  std::set<base::Rank> senders;
  for (const auto& m : traffic(fabric, kTenPercent, 1, 1_s)) senders.insert(m.src);
  EXPECT_EQ(senders.size(), 8U);
}

TEST(Background, RailsThatDoNotMeetKeepTheirTraffic) {
  const auto fabric = small_fabric(4, TopologyKind::kRailOnly);
  const auto messages = traffic(fabric, kTenPercent, 1, 100_ms);
  EXPECT_GT(messages.size(), 100U);
  for (const auto& m : messages) EXPECT_EQ(m.src.index() % 4, m.dst.index() % 4);
}

TEST(Background, EqualSeedsGiveEqualTrafficAndOthersDoNot) {
  const auto fabric = small_fabric(2, TopologyKind::kSingleSwitch);
  const auto a = traffic(fabric, kTenPercent, 1, 10_ms);
  const auto b = traffic(fabric, kTenPercent, 1, 10_ms);
  const auto c = traffic(fabric, kTenPercent, 2, 10_ms);
  ASSERT_FALSE(a.empty());
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].posted, b[i].posted);
    EXPECT_EQ(a[i].dst, b[i].dst);
  }
  EXPECT_NE(a[0].posted, c[0].posted);
}

TEST(Background, NothingIsSentWithoutLoadOrWithOneNode) {
  EXPECT_TRUE(traffic(small_fabric(2, TopologyKind::kSingleSwitch), {0, 1_MiB}, 1, 1_s).empty());
  EXPECT_TRUE(traffic(small_fabric(1, TopologyKind::kSingleSwitch), kTenPercent, 1, 1_s).empty());
}

// A fifth of the time at the rate of the port. Of some 2,000 bursts in 10 s the sum has a deviation
// of about 3 %.
TEST(Background, ATenantOffersItsLoadOnAverage) {
  const auto fabric = small_fabric(2, TopologyKind::kSingleSwitch);
  double bytes = 0;
  for (const auto& m : traffic(fabric, {0.2, 1_MiB, 1_ms}, 7, 10_s)) {
    bytes += static_cast<double>(m.size.count());
  }
  // Of a burst of 1 ms 12 messages are sent where 11.92 have room.
  EXPECT_NEAR(bytes / (8 * 0.2 * 125e9 * 12 / 11.92), 1, 0.12);
}

// All adapters begin a burst at once, each to one GPU, and send as long as it lasts.
TEST(Background, ATenantSendsInBurstsOfTheStatedLength) {
  const auto fabric = small_fabric(4, TopologyKind::kSingleSwitch);
  std::map<std::int64_t, std::vector<FakeNetwork::Message>> by_instant;
  for (const auto& m : traffic(fabric, {0.1, 1_MiB, 1_ms}, 1, 1_s)) {
    by_instant[m.posted.ps()].push_back(m);
  }
  ASSERT_GT(by_instant.size(), 100U);
  const base::Time message = base::transmission_time(1_MiB, 100_gbps);
  base::Time begin;
  base::Time last;
  int bursts = 0;
  std::map<std::uint32_t, base::Rank> destinations;
  for (const auto& [at_ps, messages] : by_instant) {
    const auto at = base::Time::picoseconds(at_ps);
    EXPECT_EQ(messages.size(), 16U);                    // one of every adapter
    if (std::abs((at - last - message).ps()) > 1000) {  // a new one: the gap is another
      if (bursts > 1) {
        EXPECT_NEAR((last + message - begin).us(), 12 * message.us(), 1e-3);
      }
      begin = at;
      ++bursts;
      destinations.clear();
    }
    for (const auto& m : messages) {
      EXPECT_EQ(destinations.emplace(m.src.index(), m.dst).first->second, m.dst);
    }
    last = at;
  }
  EXPECT_GT(bursts, 50);
}

// Timers that the network still holds must find their state, and must not go on.
TEST(Background, DestroyingItSilencesItsTimers) {
  const auto fabric = small_fabric(2, TopologyKind::kSingleSwitch);
  FakeNetwork network(fabric, 1_us);
  {
    const BackgroundTraffic background(network, fabric, kTenPercent, 1);
  }
  network.run();
  EXPECT_TRUE(network.messages.empty());
}

TEST(Background, RefusesALoadThatQueuesCannotCarry) {
  const auto fabric = small_fabric(2, TopologyKind::kSingleSwitch);
  FakeNetwork network(fabric, 1_us);
  EXPECT_THROW(BackgroundTraffic(network, fabric, {0.95, 1_MiB}, 1), base::Error);
  EXPECT_THROW(BackgroundTraffic(network, fabric, {-0.1, 1_MiB}, 1), base::Error);
  EXPECT_THROW(BackgroundTraffic(network, fabric, {0.1, 0_B}, 1), base::Error);
}

}  // namespace
}  // namespace fabricast::network
