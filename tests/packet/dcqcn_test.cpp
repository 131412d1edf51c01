// Expected values follow the equations of Zhu et al., SIGCOMM 2015, section 5 (equations 1-4).

#include "packet/dcqcn.h"

#include <cmath>

#include <gtest/gtest.h>

#include "fixtures.h"

namespace fabricast::packet {
namespace {

using namespace testing;

class Dcqcn : public ::testing::Test {
 protected:
  void SetUp() override { sender_.initialise(p_, {100_gbps, 10_us}); }
  const FabricProfile::Dcqcn p_ = roce().dcqcn;
  DcqcnSender sender_;
};

TEST_F(Dcqcn, StartsAtLineRateWithoutATimer) {
  EXPECT_FALSE(sender_.limited());
  EXPECT_DOUBLE_EQ(sender_.rate_bps(), 100e9);
}

TEST_F(Dcqcn, HalvesTheRateOnTheFirstNotificationSinceAlphaIsOne) {
  sender_.on_cnp(p_, 10_us);
  EXPECT_TRUE(sender_.limited());
  EXPECT_DOUBLE_EQ(sender_.rate_bps(), 50e9);
  EXPECT_DOUBLE_EQ(sender_.target_bps(), 100e9);
  EXPECT_DOUBLE_EQ(sender_.alpha(p_, 10_us), 1.0);  // (1 - g) * 1 + g
}

TEST_F(Dcqcn, DecaysAlphaOncePerTimerWithoutNotification) {
  sender_.on_cnp(p_, 0_us);
  EXPECT_DOUBLE_EQ(sender_.alpha(p_, 54_us), 1.0);
  EXPECT_NEAR(sender_.alpha(p_, 55_us), 255.0 / 256, 1e-12);
  EXPECT_NEAR(sender_.alpha(p_, 164_us), std::pow(255.0 / 256, 2), 1e-12);
}

TEST_F(Dcqcn, CutsByHalfOfAlpha) {
  sender_.on_cnp(p_, 0_us);
  for (int i = 1; i <= 3; ++i) sender_.on_deadline(p_, 55_us * i);
  const double rate = sender_.rate_bps();
  const double alpha = sender_.alpha(p_, 170_us);
  sender_.on_cnp(p_, 170_us);
  EXPECT_NEAR(sender_.rate_bps(), rate * (1 - alpha / 2), 1);
  EXPECT_NEAR(sender_.target_bps(), rate, 1);
  EXPECT_NEAR(sender_.alpha(p_, 170_us), alpha * 255 / 256 + 1.0 / 256, 1e-12);
}

TEST_F(Dcqcn, HalvesTheGapToTheTargetInEachStepOfFastRecovery) {
  sender_.on_cnp(p_, 0_us);
  double expected = 50e9;
  for (int i = 1; i <= 5; ++i) {
    sender_.on_deadline(p_, 55_us * i);
    expected = (expected + 100e9) / 2;
    EXPECT_DOUBLE_EQ(sender_.rate_bps(), expected);
    EXPECT_DOUBLE_EQ(sender_.target_bps(), 100e9);
  }
}

// Two cuts bring the target below the line rate, so that additive increase can be seen.
TEST_F(Dcqcn, RaisesTheTargetAdditivelyAfterFiveSteps) {
  sender_.on_cnp(p_, 0_us);
  sender_.on_cnp(p_, 10_us);
  EXPECT_DOUBLE_EQ(sender_.target_bps(), 50e9);
  for (int i = 1; i <= 5; ++i) sender_.on_deadline(p_, 10_us + 55_us * i);
  EXPECT_DOUBLE_EQ(sender_.target_bps(), 50e9);
  sender_.on_deadline(p_, 10_us + 55_us * 6);
  EXPECT_DOUBLE_EQ(sender_.target_bps(), 50e9 + 40e6);
}

TEST_F(Dcqcn, GoesToHyperIncreaseOnlyWhenTimerAndBytesAreBothBeyondFastRecovery) {
  sender_.on_cnp(p_, 0_us);
  sender_.on_cnp(p_, 10_us);
  for (int i = 1; i <= 6; ++i) sender_.on_deadline(p_, 10_us + 55_us * i);
  for (int i = 1; i <= 5; ++i) sender_.on_sent(p_, 10'000'000);
  // Timer stage 6: additive increases at timer 6 and at byte stages 1 to 5.
  EXPECT_DOUBLE_EQ(sender_.target_bps(), 50e9 + 6 * 40e6);
  sender_.on_sent(p_, 10'000'000);  // byte stage 6: both beyond 5, i = 1
  EXPECT_DOUBLE_EQ(sender_.target_bps(), 50e9 + 6 * 40e6 + 400e6);
}

// ns-3's sender (rdma-hw.cc): fast recovery, one additive increase, then hyper increase by one
// step.
TEST_F(Dcqcn, WithoutAByteCounterIsLedThroughAllStagesByTheTimer) {
  FabricProfile::Dcqcn p = p_;
  p.byte_counter = 0_B;
  sender_.on_cnp(p, 0_us);
  sender_.on_cnp(p, 10_us);
  sender_.on_sent(p, 1'000'000'000);
  EXPECT_DOUBLE_EQ(sender_.rate_bps(), 25e9);
  for (int i = 1; i <= 5; ++i) sender_.on_deadline(p, 10_us + 55_us * i);
  EXPECT_DOUBLE_EQ(sender_.target_bps(), 50e9);
  for (int i = 6; i <= 8; ++i) sender_.on_deadline(p, 10_us + 55_us * i);
  EXPECT_DOUBLE_EQ(sender_.target_bps(), 50e9 + 40e6 + 2 * 400e6);
}

TEST_F(Dcqcn, IgnoresNotificationsCloserThanTheDecreaseInterval) {
  sender_.on_cnp(p_, 10_us);
  sender_.on_cnp(p_, 13_us);
  EXPECT_DOUBLE_EQ(sender_.rate_bps(), 50e9);
  sender_.on_cnp(p_, 14_us);
  EXPECT_DOUBLE_EQ(sender_.rate_bps(), 25e9);
}

// A flow that was left alone long enough starts its next recovery gently.
TEST_F(Dcqcn, CutsLittleAfterALongTimeWithoutNotification) {
  sender_.on_cnp(p_, 0_us);
  for (int i = 1; i <= 12; ++i) sender_.on_deadline(p_, 55_us * i);
  ASSERT_FALSE(sender_.limited());
  sender_.on_cnp(p_, 55_us * 512);
  EXPECT_NEAR(sender_.rate_bps(), 100e9 * (1 - std::pow(255.0 / 256, 512) / 2), 1e6);
}

TEST_F(Dcqcn, WithoutClampingKeepsTheTargetThroughABurstOfNotifications) {
  FabricProfile::Dcqcn p = p_;
  p.clamp_target = false;
  sender_.on_cnp(p, 0_us);
  sender_.on_cnp(p, 10_us);
  EXPECT_DOUBLE_EQ(sender_.target_bps(), 100e9);
  EXPECT_DOUBLE_EQ(sender_.rate_bps(), 25e9);
  sender_.on_deadline(p, 65_us);
  const double rate = sender_.rate_bps();
  sender_.on_cnp(p, 70_us);
  EXPECT_DOUBLE_EQ(sender_.target_bps(), rate) << "a timed increase came in between";
}

TEST_F(Dcqcn, NeverFallsBelowTheMinimumRate) {
  for (int i = 0; i < 40; ++i) sender_.on_cnp(p_, 50_us * (i + 1));
  EXPECT_DOUBLE_EQ(sender_.rate_bps(), 100e6);
}

TEST_F(Dcqcn, DropsTheLimiterWhenTheLineRateIsReachedAgain) {
  sender_.on_cnp(p_, 0_us);
  for (int i = 1; i <= 12; ++i) sender_.on_deadline(p_, 55_us * i);
  EXPECT_FALSE(sender_.limited());
  EXPECT_DOUBLE_EQ(sender_.rate_bps(), 100e9);
}

}  // namespace
}  // namespace fabricast::packet
