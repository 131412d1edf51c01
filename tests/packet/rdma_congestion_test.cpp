#include "packet/rdma_congestion.h"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "fixtures.h"
#include "timely.h"

namespace fabricast::packet {
namespace {

using namespace testing;

std::string contents(const std::string& path) {
  std::ifstream file(FABRICAST_SOURCE_DIR + ("/" + path));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

RdmaAck after(Time rtt) {
  RdmaAck ack;
  ack.rtt = rtt;
  return ack;
}

TEST(RdmaDoor, WithoutControlLetsEverythingPass) {
  RdmaCongestion door;
  door.initialise(0, roce(), {100_gbps, 10_us});
  door.on_cnp(roce(), 1_us);
  EXPECT_FALSE(door.active());
  EXPECT_FALSE(door.limited());
  EXPECT_EQ(door.window_bytes(), kNoWindow);
  EXPECT_EQ(door.deadline(), Time::max());
}

TEST(RdmaDoor, HandsEveryHookToTheControlThatTheProfileNames) {
  const FabricProfile profile = roce();
  RdmaCongestion door;
  door.initialise(static_cast<std::size_t>(catalog::RdmaCongestionControl::kDcqcn), profile,
                  {100_gbps, 10_us});
  ASSERT_TRUE(door.active());
  EXPECT_EQ(door.deadline(), Time::max());
  door.on_cnp(profile, 1_us);
  EXPECT_DOUBLE_EQ(door.rate_bps(), 50e9);
  EXPECT_EQ(door.deadline(), 56_us);
  door.on_deadline(profile, 56_us);
  EXPECT_DOUBLE_EQ(door.rate_bps(), 75e9);
  EXPECT_DOUBLE_EQ(door.as<DcqcnSender>().target_bps(), 100e9);
}

TEST(RdmaDoor, TakesAControlOfOneFile) {
  RdmaDoor<RdmaControl, Timely> door;
  door.initialise(1, roce(), {100_gbps, 10_us});
  door.on_ack(roce(), after(200_us));
  EXPECT_DOUBLE_EQ(door.rate_bps(), 100e9 * (1 - 0.8 * 0.5));
  door.on_ack(roce(), after(50_us));
  EXPECT_DOUBLE_EQ(door.rate_bps(), 60e9);
  for (int i = 0; i < 40; ++i) door.on_ack(roce(), after(5_us));
  EXPECT_FALSE(door.limited());
}

TEST(HowTo, ShowsTheExampleThatThisTestCompiles) {
  const std::string page = contents("docs/how-to/add-a-congestion-control.md");
  ASSERT_FALSE(page.empty());
  EXPECT_NE(page.find("```cpp\n" + contents("tests/packet/timely.h") + "```"), std::string::npos);
}

}  // namespace
}  // namespace fabricast::packet
