// What the flow level learns of the packet level is checked against formulas in tests/validation;
// here, that it is kept to the last bit and told apart.

#include "flow/calibrate.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace fabricast::flow {
namespace {

TEST(Curve, is_straight_between_its_points_and_level_beyond) {
  Curve curve;
  curve.points = {{10, 1}, {20, 3}};
  EXPECT_EQ(curve.at(1), 1);
  EXPECT_EQ(curve.at(15), 2);
  EXPECT_EQ(curve.at(100), 3);
  EXPECT_EQ(Curve().at(5), 0);
}

TEST(Behaviour, comes_back_from_its_text_to_the_last_bit) {
  Behaviour b;
  b.spread = 0.1;
  b.victim = 1.5;
  b.efficiency = {1, 1.0 / 3};
  b.paths.push_back({4, {{{1, 1e-6 / 3}, {7, 2e-6}}}, {}, 1.0 / 7, 24e9});
  const Behaviour back = behaviour_of(to_text(b));
  EXPECT_EQ(to_text(back), to_text(b));
  EXPECT_EQ(back.efficiency[1], 1.0 / 3);
  EXPECT_EQ(back.paths.front().latency.at(1), 1e-6 / 3);
}

TEST(Behaviour, that_is_cut_short_is_refused) {
  EXPECT_THROW(behaviour_of("0.1 1 2 1"), base::Error);
}

}  // namespace
}  // namespace fabricast::flow
