#include "packet/credits.h"

#include <gtest/gtest.h>

namespace fabricast::packet {
namespace {

TEST(Credits, CountBlocksOf64Bytes) {
  EXPECT_EQ(credit_blocks(1), 1U);
  EXPECT_EQ(credit_blocks(64), 1U);
  EXPECT_EQ(credit_blocks(65), 2U);
  EXPECT_EQ(credit_blocks(4096 + 30), 65U);
}

TEST(Credits, AllowExactlyTheAdvertisedBlocks) {
  CreditSender sender;
  sender.initialise(100);
  EXPECT_TRUE(sender.may_send(100));
  EXPECT_FALSE(sender.may_send(101));
  sender.sent(60);
  EXPECT_EQ(sender.available(), 40U);
  EXPECT_TRUE(sender.may_send(40));
  EXPECT_FALSE(sender.may_send(41));
}

// IBTA Volume 1, 7.9.4: the counters are 12 bits wide and compared modulo 4096.
TEST(Credits, SurviveTheWrapOfTheirTwelveBitCounters) {
  CreditSender sender;
  CreditReceiver receiver;
  receiver.initialise(1024, 65);
  sender.initialise(1024);
  std::uint32_t sent = 0;
  for (int i = 0; i < 1000; ++i) {  // 65,000 blocks: the counters wrap 15 times
    ASSERT_TRUE(sender.may_send(65)) << "packet " << i;
    sender.sent(65);
    sent += 65;
    ASSERT_TRUE(receiver.received(65));
    ASSERT_TRUE(receiver.freed(65));
    sender.update(receiver.advertise());
    EXPECT_EQ(sender.available(), 1024U);
  }
  EXPECT_GT(sent, 15 * kCreditModulus);
}

TEST(Credits, AdvertiseOnlyWhatIsFree) {
  CreditReceiver receiver;
  receiver.initialise(130, 65);
  CreditSender sender;
  sender.initialise(130);
  sender.sent(65);
  ASSERT_TRUE(receiver.received(65));
  sender.sent(65);
  ASSERT_TRUE(receiver.received(65));
  EXPECT_FALSE(sender.may_send(1));
  ASSERT_TRUE(receiver.freed(65));
  sender.update(receiver.advertise());
  EXPECT_EQ(sender.available(), 65U);
}

TEST(Credits, ReportAReceiverThatIsOverrun) {
  CreditReceiver receiver;
  receiver.initialise(100, 50);
  EXPECT_TRUE(receiver.received(100));
  EXPECT_FALSE(receiver.received(1));
}

}  // namespace
}  // namespace fabricast::packet
