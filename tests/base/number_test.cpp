#include "base/number.h"

#include <gtest/gtest.h>

namespace fabricast::base {
namespace {

TEST(Number, keeps_three_significant_digits) {
  EXPECT_EQ(number(1.2345), "1.23");
  EXPECT_EQ(number(12.345), "12.3");
  EXPECT_EQ(number(123.45), "123");
  EXPECT_EQ(number(0.0012345), "0.00123");
}

TEST(Number, does_not_gain_a_digit_when_it_rounds_up_to_a_power_of_ten) {
  EXPECT_EQ(number(9.996), "10.0");
  EXPECT_EQ(number(99.96), "100");
  EXPECT_EQ(number(999.7), "1,000");
}

TEST(Number, separates_thousands) {
  EXPECT_EQ(number(1234567), "1,234,567");
  EXPECT_EQ(number(-1234), "-1,234");
}

TEST(Number, says_zero_plainly) {
  EXPECT_EQ(number(0), "0");
}

TEST(DistinctNumbers, take_the_digits_that_tell_them_apart) {
  EXPECT_EQ(distinct_numbers(44.71, 42.2).first, "44.7");
  EXPECT_EQ(distinct_numbers(44.71, 44.73).first, "44.71");
  EXPECT_EQ(distinct_numbers(44.71, 44.73).second, "44.73");
}

TEST(DistinctNumbers, that_are_equal_come_out_alike) {
  const NumberPair pair = distinct_numbers(2, 2);
  EXPECT_EQ(pair.first, pair.second);
}

}  // namespace
}  // namespace fabricast::base
