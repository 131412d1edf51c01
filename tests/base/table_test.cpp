#include "base/table.h"

#include <gtest/gtest.h>

namespace fabricast::base {
namespace {

TEST(DisplayWidth, of_latin_text_is_its_length) {
  EXPECT_EQ(display_width("busbw GB/s"), 10);
  EXPECT_EQ(display_width("µs"), 2);
}

TEST(DisplayWidth, of_chinese_and_fullwidth_is_two_cells_a_character) {
  EXPECT_EQ(display_width("训练"), 4);
  EXPECT_EQ(display_width("延迟（us）"), 10);  // the brackets are fullwidth forms
  EXPECT_EQ(display_width("한국"), 4);
  EXPECT_EQ(display_width("\U00020000"), 2);  // an ideograph beyond the basic plane
}

TEST(DisplayWidth, of_combining_marks_is_nothing) {
  EXPECT_EQ(display_width("e\u0301"), 1);
  EXPECT_EQ(display_width("\u200b"), 0);
}

TEST(DisplayWidth, of_neighbours_of_the_ranges_is_one) {
  EXPECT_EQ(display_width("\u00ad\u02ff"), 2);
  EXPECT_EQ(display_width("\u0370"), 1);  // just above the combining diacritical marks
  EXPECT_EQ(display_width("\uff61"), 1);  // halfwidth form, just above the fullwidth ones
}

TEST(DisplayWidth, of_a_bad_byte_is_one) {
  EXPECT_EQ(display_width("a\xff\xe8\xae"
                          "b"),
            5);
}

TEST(ValidUtf8, accepts_one_to_four_bytes) {
  EXPECT_TRUE(valid_utf8("a\u00e9\u8bad\U0001f600"));
  EXPECT_TRUE(valid_utf8(""));
}

TEST(ValidUtf8, names_the_first_bad_byte) {
  std::size_t offset = 0;
  EXPECT_FALSE(
      valid_utf8("ab\xff"
                 "c\xff",
                 &offset));
  EXPECT_EQ(offset, 2U);
}

TEST(ValidUtf8, refuses_what_rfc_3629_forbids) {
  EXPECT_FALSE(valid_utf8("\xc0\xaf"));          // overlong '/'
  EXPECT_FALSE(valid_utf8("\xe0\x80\xaf"));      // the same in three bytes
  EXPECT_FALSE(valid_utf8("\xf0\x80\x80\xaf"));  // and in four
  EXPECT_FALSE(valid_utf8("\xed\xa0\x80"));      // a surrogate
  EXPECT_FALSE(valid_utf8("\xf4\x90\x80\x80"));  // U+110000
  EXPECT_FALSE(valid_utf8("\xe8\xae"));          // cut off
  EXPECT_FALSE(valid_utf8("\x80"));              // a continuation without a lead
}

TEST(Table, aligns_text_left_and_numbers_right) {
  Table table({"fabric", "us"});
  table.row({"infiniband", "1.2"});
  table.row({"tcp", "25.0"});
  EXPECT_EQ(table.text(),
            "fabric        us\n"
            "----------  ----\n"
            "infiniband   1.2\n"
            "tcp         25.0\n");
}

TEST(Table, aligns_whatever_the_script) {
  Table table({"网络", "延迟"});
  table.row({"tcp", "25.0"});
  table.row({"无限带宽", "1"});
  EXPECT_EQ(table.text(),
            "网络      延迟\n"
            "--------  ----\n"
            "tcp       25.0\n"
            "无限带宽     1\n");
}

TEST(Table, sections_do_not_widen_columns) {
  Table table({"a", "b"});
  table.section("a title that is wider than both");
  table.row({"x", "1"});
  EXPECT_EQ(table.text(),
            "a  b\n"
            "-  -\n"
            "a title that is wider than both\n"
            "x  1\n");
}

TEST(Table, leaves_no_trailing_spaces) {
  Table table({"key", "text"}, {Table::Align::kLeft, Table::Align::kLeft});
  table.row({"k", ""});
  table.row({"", "longer text"});
  EXPECT_EQ(table.text().find(" \n"), std::string::npos);
}

}  // namespace
}  // namespace fabricast::base
