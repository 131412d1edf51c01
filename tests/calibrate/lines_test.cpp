#include "calibrate/lines.h"

#include <array>

#include <gtest/gtest.h>

namespace fabricast::calibrate {
namespace {

TEST(Lines, a_comma_alone_is_decimal_and_beside_a_point_groups_digits) {
  EXPECT_DOUBLE_EQ(number("24,70").value(), 24.70);
  EXPECT_DOUBLE_EQ(number("1,245.549").value(), 1245.549);
  EXPECT_DOUBLE_EQ(number("1.245,549").value(), 1245.549);
  EXPECT_DOUBLE_EQ(number("1,048,576").value(), 1048576);
  EXPECT_EQ(whole("1,048,576"), 1048576);
}

TEST(Lines, what_is_no_finite_number_is_none) {
  for (const char* text :
       {"", "-", "N/A", "nan", "inf", "-inf", "1e999", "12x", "0x10", ",", "1..2"}) {
    EXPECT_FALSE(number(text)) << text;
  }
  EXPECT_FALSE(whole("99999999999999999999"));
  EXPECT_FALSE(bytes_of("-8"));
  EXPECT_FALSE(bytes_of("9223372036854775807"));
}

TEST(Lines, cleaning_keeps_the_text_and_drops_colours_controls_and_marks) {
  EXPECT_EQ(clean("\x1b[1;32m ok\x1b[0m\r\n"), " ok\n");
  EXPECT_EQ(clean(std::string_view("a\0b\0\n\0", 6)), "ab\n");
  EXPECT_EQ(clean("\xef\xbb\xbfsize"), "size");
  EXPECT_EQ(clean(std::string_view("\xff\xfe"
                                   "8\0\r\0\n\0",
                                   8)),
            "8\n");
  EXPECT_EQ(clean("10 %\r20 %\n"), "10 %\n20 %\n");
  EXPECT_EQ(clean("\x1b]0;title\a8\x1b[K"), "8");
  EXPECT_EQ(clean("\x1b["), "");
}

TEST(Lines, prefixes_of_launchers_are_taken_off) {
  EXPECT_EQ(without_prefix("[1,0]<stdout>:# nThread 1"), "# nThread 1");
  EXPECT_EQ(without_prefix("0: # nThread 1"), "# nThread 1");
  EXPECT_EQ(without_prefix("worker-0: # nThread 1"), "# nThread 1");
  EXPECT_EQ(without_prefix("2026-01-31T10:11:12.345Z 8 2 float"), "8 2 float");
  EXPECT_EQ(without_prefix("[2026-01-31 10:11:12] [0] text"), " [0] text");
  EXPECT_EQ(without_prefix("no prefix here: none"), "no prefix here: none");
}

TEST(Lines, a_last_row_with_fewer_decimals_than_the_one_before_was_cut) {
  constexpr auto kNames = std::to_array<ColumnName>({{"Size", 0}, {"Latency (us)", 1}});
  Columns columns("# Size          Latency (us)", kNames);
  EXPECT_TRUE(columns.take({1, "8      1.55", false}));
  EXPECT_DOUBLE_EQ(columns.at(1).value(), 1.55);
  EXPECT_FALSE(columns.take({2, "16     351.2", true}));
  EXPECT_TRUE(columns.take({2, "16     351.24", true}));
  EXPECT_FALSE(columns.take({3, "16", false}));
  EXPECT_FALSE(columns.take({3, "ab     1.55", false}));
}

}  // namespace
}  // namespace fabricast::calibrate
