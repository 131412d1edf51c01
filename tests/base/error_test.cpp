#include "base/error.h"

#include <string>

#include <gtest/gtest.h>

namespace fabricast::base {
namespace {

TEST(Location, reads_as_compilers_write_it) {
  EXPECT_EQ((Location{"a.yaml", 3, 7, "cluster.gpus"}.text()), "a.yaml:3:7: cluster.gpus");
}

TEST(Location, leaves_out_what_is_unknown) {
  EXPECT_EQ((Location{"a.yaml", 0, 0, ""}.text()), "a.yaml");
  EXPECT_EQ((Location{"", 0, 0, "seed"}.text()), "seed");
  EXPECT_EQ((Location{"a.yaml", 3, 0, ""}.text()), "a.yaml:3");
  EXPECT_EQ(Location{}.text(), "");
}

TEST(InputError, has_the_form_that_the_reference_fixes) {
  const Error error = input_error({"a.yaml", 9, 12, "fabrics[1]"}, "the text `roec-v2`",
                                  "`infiniband` or `roce-v2`", "roce-v2");
  EXPECT_STREQ(error.what(),
               "a.yaml:9:12: fabrics[1]: found the text `roec-v2`; allowed `infiniband` or "
               "`roce-v2`; did you mean `roce-v2`?");
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
}

TEST(InputError, asks_nothing_without_a_near_miss) {
  EXPECT_STREQ(input_error({}, "a list", "text").what(), "found a list; allowed text");
}

TEST(InputError, keeps_its_message_apart_from_the_place) {
  EXPECT_EQ(input_error({"a.yaml", 1, 1, ""}, "too large").message(), "too large");
}

TEST(InputError, holds_nothing_that_acts_on_a_terminal) {
  const Error error = input_error({"a\x1b.yaml", 1, 1, "k\x07"}, "\x1b]0;title\x07", "text\n");
  EXPECT_STREQ(error.what(),
               "a\\x1b.yaml:1:1: k\\x07: found \\x1b]0;title\\x07; allowed text\\x0a");
}

TEST(Printable, escapes_what_would_act_and_keeps_the_rest) {
  EXPECT_EQ(printable("网 é ~"), "网 é ~");
  EXPECT_EQ(printable("\x7f\t"), "\\x7f\\x09");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");  // C1: CSI
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b"),
            "a\\xe2\\x80\\xae"
            "b");  // right to left from here
  EXPECT_EQ(printable("caf\xe9 \xff"), "caf\\xe9 \\xff");
}

TEST(Quote, is_short_and_ends_at_a_character) {
  EXPECT_EQ(quote("roce"), "`roce`");
  EXPECT_EQ(quote(std::string(100, 'x')), "`" + std::string(60, 'x') + "...`");
  EXPECT_EQ(quote(std::string(59, 'x') + "网"), "`" + std::string(59, 'x') + "...`");
}

TEST(Failure, is_told_apart_from_bad_input) {
  EXPECT_EQ(failure("no catalogue").kind(), ErrorKind::kFailure);
  EXPECT_STREQ(failure("no catalogue").what(), "no catalogue");
}

TEST(NearMiss, counts_swapped_neighbours_as_one_slip) {
  EXPECT_EQ(near_miss("roec-v2", {"infiniband", "roce-v2", "tcp"}), "roce-v2");
  // "ab" -> "ba" is one swap; as two substitutions it would exceed a third of three letters.
  EXPECT_EQ(near_miss("tpc", {"tcp", "rail-only"}), "tcp");
  EXPECT_EQ(near_miss("h100sxm", {"h100-sxm-80gb", "h200-sxm"}), "h100-sxm-80gb");
}

TEST(NearMiss, is_silent_beyond_a_third_of_the_word) {
  EXPECT_EQ(near_miss("quantum", {"infiniband", "roce-v2", "tcp"}), "");
  EXPECT_EQ(near_miss("xy", {"tp", "pp"}), "");
}

TEST(NearMiss, prefers_the_closest_candidate) {
  EXPECT_EQ(near_miss("llama3-7b", {"llama3-405b", "llama3-70b", "llama3-8b"}), "llama3-70b");
}

TEST(NearMiss, completes_a_unique_prefix_only) {
  EXPECT_EQ(near_miss("h100", {"h100-sxm-80gb", "a100-sxm-80gb"}), "h100-sxm-80gb");
  EXPECT_EQ(near_miss("llama2", {"llama2-7b-and-more", "llama2-70b-and-more"}), "");
}

TEST(NearMiss, does_not_search_for_words_of_absurd_length) {
  const std::string word(100'000, 'x');
  EXPECT_EQ(near_miss(word, {word}), "");
}

TEST(OneOf, joins_with_commas_and_a_final_or) {
  EXPECT_EQ(one_of({"a"}), "`a`");
  EXPECT_EQ(one_of({"a", "b"}), "`a` or `b`");
  EXPECT_EQ(one_of({"a", "b", "c"}), "`a`, `b` or `c`");
}

}  // namespace
}  // namespace fabricast::base
