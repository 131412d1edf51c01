#include "packet/shared_buffer.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "fixtures.h"

namespace fabricast::packet {
namespace {

using namespace testing;

SharedBuffer lossless(std::int64_t total, double alpha, std::int64_t headroom) {
  SharedBuffer::Spec spec;
  spec.total = total;
  spec.ingress_alpha = alpha;
  spec.xon_offset = 1000;
  spec.headroom = {headroom, headroom};
  return SharedBuffer(std::move(spec));
}

// With one ingress at occupancy x and pool P, XOFF is due where x = alpha (P - x), so at
// x = P alpha / (1 + alpha): for alpha = 1 that is half of the pool.
TEST(SharedBuffer, PausesAtAlphaTimesTheFreePool) {
  SharedBuffer buffer = lossless(120'000, 1.0, 10'000);
  ASSERT_EQ(buffer.pool(), 100'000);
  std::int64_t taken = 0;
  while (!buffer.pause_due(0)) {
    ASSERT_TRUE(buffer.admit(0, 1000));
    taken += 1000;
  }
  EXPECT_EQ(taken, 50'000);
}

TEST(SharedBuffer, LetsAnotherIngressTakeLessWhenThePoolIsHalfFull) {
  SharedBuffer buffer = lossless(120'000, 1.0, 10'000);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(buffer.admit(0, 1000));
  std::int64_t taken = 0;
  while (!buffer.pause_due(1)) {
    ASSERT_TRUE(buffer.admit(1, 1000));
    taken += 1000;
  }
  EXPECT_EQ(taken, 25'000);  // x = 100 - 50 - x
}

TEST(SharedBuffer, PutsWhatArrivesAfterThePauseIntoHeadroomAndDropsBeyondIt) {
  SharedBuffer buffer = lossless(120'000, 1.0, 10'000);
  while (!buffer.pause_due(0)) ASSERT_TRUE(buffer.admit(0, 1000));
  const std::int64_t before = buffer.pool_limit();
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(buffer.admit(0, 1000));
  EXPECT_EQ(buffer.pool_limit(), before);  // headroom is not the pool
  EXPECT_FALSE(buffer.admit(0, 1000));
}

TEST(SharedBuffer, ResumesOnlyBelowTheTriggerByTheOffsetAndWithEmptyHeadroom) {
  SharedBuffer buffer = lossless(120'000, 1.0, 10'000);
  while (!buffer.pause_due(0)) ASSERT_TRUE(buffer.admit(0, 1000));
  ASSERT_TRUE(buffer.admit(0, 1000));  // into headroom
  EXPECT_FALSE(buffer.resume_due(0));
  buffer.release(0, 1000);  // headroom empties first
  EXPECT_FALSE(buffer.resume_due(0)) << "50,000 + 1,000 is still above the trigger of 50,000";
  buffer.release(0, 1000);
  EXPECT_TRUE(buffer.resume_due(0)) << "49,000 + 1,000 <= 51,000";
}

TEST(SharedBuffer, DropsTheTailOfALossyQueueAtAlphaTimesFree) {
  SharedBuffer::Spec spec;
  spec.total = 100'000;
  spec.queue_alpha = 1.0;
  SharedBuffer buffer(std::move(spec));
  std::int64_t queued = 0;
  while (buffer.admit_lossy(1000, queued)) queued += 1000;
  // The last admitted packet found queued + 1000 <= 100,000 - queued.
  EXPECT_EQ(queued, 50'000);
}

TEST(SharedBuffer, RefusesHeadroomThatLeavesNoPool) {
  EXPECT_THROW(lossless(20'000, 1.0, 10'000), base::Error);
}

TEST(Ecn, MarksLinearlyBetweenKminAndKmax) {
  const auto ecn = roce().ecn;
  EXPECT_DOUBLE_EQ(marking_probability(ecn, 150'000), 0);
  EXPECT_NEAR(marking_probability(ecn, 825'000), 0.05, 1e-12);
  EXPECT_NEAR(marking_probability(ecn, 1'500'000), 0.1, 1e-12);
  EXPECT_DOUBLE_EQ(marking_probability(ecn, 1'500'001), 1);
}

// DCTCP's marking (SIGCOMM 2010, section 3.1): everything above one threshold.
TEST(Ecn, IsAStepWhereKminIsKmax) {
  auto ecn = roce().ecn;
  ecn.kmax = ecn.kmin;
  EXPECT_DOUBLE_EQ(marking_probability(ecn, 150'000), 0);
  EXPECT_DOUBLE_EQ(marking_probability(ecn, 150'001), 1);
}

// Two cable flights and PHYs, the pipeline and the pause frame at 200 Gb/s (25 bytes per ns), and
// three packets: 25 * (2 * 150 + 300 + 3.36) + 3 * 4178 = 27,618, up to a multiple of 1,024:
// 27,648.
TEST(Headroom, CoversWhatIsOnItsWayWhenThePauseIsDecided) {
  EXPECT_EQ(pfc_headroom(roce(), 200_gbps, 50_ns).count(), 27'648);
}

// The frames of seven other classes may be sent first, 3.36 ns each: 588 bytes more, 28,206.
TEST(Headroom, CoversThePauseFramesOfOtherClasses) {
  FabricProfile p = roce();
  p.classes.count = p.pfc.lossless_classes = 8;
  EXPECT_EQ(pfc_headroom(p, 200_gbps, 50_ns).count(), 28'672);
}

}  // namespace
}  // namespace fabricast::packet
