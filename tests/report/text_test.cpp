#include "report/text.h"

#include <gtest/gtest.h>

#include "base/table.h"

namespace fabricast::report {
namespace {

TEST(Wrap, breaks_at_spaces) {
  EXPECT_EQ(wrap("one two three", 7), (std::vector<std::string>{"one two", "three"}));
}

TEST(Wrap, counts_two_cells_for_a_chinese_character) {
  EXPECT_EQ(wrap("网络架构", 4), (std::vector<std::string>{"网络", "架构"}));
}

TEST(Wrap, never_begins_a_line_with_closing_punctuation) {
  EXPECT_EQ(wrap("网络架构。", 8), (std::vector<std::string>{"网络架", "构。"}));
}

TEST(Wrap, never_ends_a_line_with_opening_punctuation) {
  EXPECT_EQ(wrap("网络（架构", 6), (std::vector<std::string>{"网络", "（架构"}));
}

TEST(Wrap, keeps_a_latin_word_whole_between_chinese_characters) {
  EXPECT_EQ(wrap("选择RoCE网络", 8), (std::vector<std::string>{"选择RoCE", "网络"}));
}

TEST(Wrap, breaks_a_word_that_is_longer_than_the_line) {
  EXPECT_EQ(wrap("abcdefgh", 3), (std::vector<std::string>{"abc", "def", "gh"}));
}

TEST(Shortened, ends_in_an_ellipsis_and_fits) {
  EXPECT_EQ(shortened("abcdef", 4), "abc…");
  EXPECT_LE(base::display_width(shortened("网络架构", 5)), 5);
  EXPECT_EQ(shortened("abc", 4), "abc");
}

}  // namespace
}  // namespace fabricast::report
