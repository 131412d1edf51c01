#include "scenario/pcie.h"

#include <gtest/gtest.h>

namespace fabricast::scenario {
namespace {

TEST(Pcie, rates_follow_from_lanes_and_line_code) {
  // 32 GT/s x 16 lanes x 128/130 = 504.1 Gb/s; 8 GT/s x 16 x 128/130 = 126.0.
  EXPECT_NEAR(pcie_gbps("gen5-x16"), 504.1, 0.05);
  EXPECT_NEAR(pcie_gbps("gen3-x16"), 126.0, 0.05);
  EXPECT_NEAR(pcie_gbps("gen4-x8"), 126.0, 0.05);
}

TEST(Pcie, generation_six_carries_236_of_256_bytes) {
  EXPECT_EQ(pcie_gbps("gen6-x16"), 944);  // 64 x 16 x 236/256
}

}  // namespace
}  // namespace fabricast::scenario
