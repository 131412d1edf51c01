// InfiniBand Architecture, Volume 1, annex A10.

#include "packet/ib_congestion.h"

#include <gtest/gtest.h>

#include "endless.h"

namespace fabricast::packet {
namespace {

using namespace testing;
using Control = catalog::RdmaCongestionControl;

FabricProfile with_control() {
  FabricProfile p = infiniband();
  p.congestion.control = Control::kInfiniBand;
  return p;
}

class IbSource : public ::testing::Test {
 protected:
  void SetUp() override {
    p_.ccti_increase = 2;
    p_.ccti_limit = 5;
    p_.ccti_timer = 100;  // 102.4 us
    p_.cct_step = 0.5;
    source_.initialise(p_, {200_gbps, 2_us});
  }
  FabricProfile::Ibcc p_;
  IbCongestion source_;
};

TEST_F(IbSource, RaisesItsIndexByCctiIncreaseUpToCctiLimit) {
  EXPECT_FALSE(source_.limited());
  source_.on_cnp(p_, 1_us);
  EXPECT_EQ(source_.index(), 2);
  source_.on_ack(p_, {.now = 2_us, .rtt = {}, .echo = true, .hops = {}});
  EXPECT_EQ(source_.index(), 4);
  source_.on_ack(p_, {.now = 3_us, .rtt = {}, .echo = false, .hops = {}});
  EXPECT_EQ(source_.index(), 4);
  source_.on_cnp(p_, 4_us);
  EXPECT_EQ(source_.index(), 5);
}

// Entry i of the table is i x step: after a packet of time t the next one waits i x step x t.
TEST_F(IbSource, DelaysPacketsByTheEntryOfItsTable) {
  source_.on_cnp(p_, 0_us);
  EXPECT_DOUBLE_EQ(source_.rate_bps(), 200e9 / (1 + 2 * 0.5));
  source_.on_cnp(p_, 0_us);
  EXPECT_DOUBLE_EQ(source_.rate_bps(), 200e9 / (1 + 4 * 0.5));
}

TEST_F(IbSource, LowersItsIndexByOneEachTimerDownToTheMinimum) {
  source_.on_cnp(p_, 10_us);
  EXPECT_EQ(source_.deadline(), 10_us + 102'400_ns);
  source_.on_deadline(p_, 112_us);
  EXPECT_EQ(source_.index(), 2) << "0.4 us early";
  source_.on_deadline(p_, source_.deadline());
  EXPECT_EQ(source_.index(), 1);
  EXPECT_EQ(source_.deadline(), 10_us + 204'800_ns);
  source_.on_deadline(p_, source_.deadline());
  EXPECT_EQ(source_.index(), 0);
  EXPECT_FALSE(source_.limited());
  EXPECT_EQ(source_.deadline(), Time::max());
}

class Marker : public ::testing::Test {
 protected:
  bool mark(std::int64_t queued, bool credits, bool to_adapter, std::int64_t bytes = 4126) {
    return marker_.mark(profile_, {queued, credits, to_adapter}, bytes);
  }
  void SetUp() override { profile_.ibcc.marking_rate = 0; }
  FabricProfile profile_ = with_control();  // 64 KiB per lane
  FecnMarker marker_;
};

// Threshold 15 is the lowest queue, 1 the highest, 0 none at all.
TEST_F(Marker, MarksAboveItsThreshold) {
  EXPECT_FALSE(mark(4096, true, true));
  EXPECT_TRUE(mark(4097, true, true));
  profile_.ibcc.threshold = 8;
  EXPECT_FALSE(mark(32'768, true, true));
  EXPECT_TRUE(mark(32'769, true, true));
  profile_.ibcc.threshold = 0;
  EXPECT_FALSE(mark(1'000'000, true, true));
}

TEST_F(Marker, MarksAtARootAndNotAtAVictimWithoutCredits) {
  EXPECT_TRUE(mark(50'000, true, false));
  EXPECT_FALSE(mark(50'000, false, false));
  EXPECT_FALSE(mark(50'000, false, true));
  profile_.ibcc.victim_mask = true;
  EXPECT_TRUE(mark(50'000, false, true)) << "the adapter itself may be what is slow";
  EXPECT_FALSE(mark(50'000, false, false));
}

TEST_F(Marker, LeavesMarkingRatePacketsBetweenTwoMarks) {
  profile_.ibcc.marking_rate = 3;
  int marked = 0;
  for (int i = 0; i < 40; ++i) marked += mark(50'000, true, true) ? 1 : 0;
  EXPECT_EQ(marked, 10);
}

TEST_F(Marker, SparesShortPackets) {
  profile_.ibcc.packet_size = 16;  // 1 KiB
  EXPECT_FALSE(mark(50'000, true, true, 1023));
  EXPECT_TRUE(mark(50'000, true, true, 1024));
}

/// What the pairs of the tree deliver once it has settled, Gb/s.
std::vector<double> tree_rates(const FabricProfile& profile) {
  Endless flows(network_on(leaf_spine(32, 8), profile), congestion_tree_with_a_victim());
  flows.rates(30_ms);
  return flows.rates(20_ms);
}

// Gran et al., "First Experiences with Congestion Control in InfiniBand Hardware", IPDPS 2010: a
// flow that only shares a way with the contributors to a hot spot is held to their pace by
// head-of-line blocking, and gets most of its bandwidth back with congestion control. Its fair
// share here is 150 Gb/s, and the hot port carries 198.5 of payload: the victim has to get 70 % of
// its share back (138 Gb/s seen), the hot port may lose 20 % (186 Gb/s seen).
TEST(IbCongestionControl, GivesAVictimOfHeadOfLineBlockingMostOfItsBandwidthBack) {
  const std::vector<double> without = tree_rates(infiniband());
  EXPECT_NEAR(without.back() / without.front(), 1.0, 0.1) << "the pace of its neighbours";
  EXPECT_LT(without.back(), 20);
  const std::vector<double> with = tree_rates(with_control());
  EXPECT_GT(with.back(), 0.7 * 150);
  EXPECT_GT(sum(with) - with.back(), 0.8 * 198.5);
}

// The same paper, and Gran et al., CCGrid 2011: without congestion control those next to the hot
// spot take more of it than those that come from far. Jain's index rises from below 0.6 to above
// 0.85.
TEST(IbCongestionControl, EvensOutTheParkingLot) {
  const auto index = [](const FabricProfile& profile) {
    std::vector<double> rates = tree_rates(profile);
    rates.pop_back();
    return jain(rates);
  };
  EXPECT_LT(index(infiniband()), 0.6);
  EXPECT_GT(index(with_control()), 0.85);
}

// The index falls by one every CCTI_Timer: after CCTI_Limit of them nothing is left of an incast.
TEST(IbCongestionControl, ReturnsToLineRateWhenTheIncastIsOver) {
  const FabricProfile profile = with_control();
  Endless flows(network_on(one_switch(9), profile), many_to_one(8));
  flows.rates(5_ms);
  for (std::size_t i = 1; i < 8; ++i) flows.stop(i);
  const Time drained = base::transmission_time(256_KiB * 64, 200_gbps) * 2;
  flows.rates(drained);
  EXPECT_LT(flows.rates(1_ms).front(), 150) << "still held";
  flows.rates(Time::picoseconds(1'024'000) * profile.ibcc.ccti_timer * profile.ibcc.ccti_limit);
  EXPECT_NEAR(flows.rates(2_ms).front(), 200.0 * 4096 / 4126, 2);
}

// A BECN goes with an acknowledgement that is due, else in a CNP of its own.
TEST(IbCongestionControl, SendsACnpOnlyWhereNoAcknowledgementIsDue) {
  for (const int every : {1, 16}) {
    FabricProfile profile = with_control();
    profile.transport.ack_every = every;
    auto network = network_on(one_switch(9), profile);
    completion_times(*network, incast(8, 4_MiB));
    EXPECT_GT(network->counters().ecn_marked_packets, 0U);
    EXPECT_EQ(network->counters().cnps > 0, every == 16);
    EXPECT_EQ(network->counters().dropped_packets, 0U);
  }
}

TEST(IbCongestionControl, IsOffUnlessAskedFor) {
  auto network = network_on(one_switch(9), infiniband());
  completion_times(*network, incast(8, 4_MiB));
  EXPECT_EQ(network->counters().ecn_marked_packets, 0U);
}

}  // namespace
}  // namespace fabricast::packet
