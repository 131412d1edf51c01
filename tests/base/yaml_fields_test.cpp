#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "base/yaml.h"

namespace fabricast::base::yaml {
namespace {

/// Reads `text` as a mapping through `read`; the message it ends with, "accepted" without one.
std::string outcome(const std::string& text, const std::function<void(Fields&)>& read) {
  const Node root = parse(text, "a.yaml");
  try {
    Fields fields(root);
    read(fields);
    fields.finish();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return "accepted";
}

double number_of(const std::string& value, double min = -1e300, double max = 1e300) {
  return number(*parse("k: " + value, "a.yaml").find("k"), min, max);
}

std::int64_t integer_of(const std::string& value) {
  return integer(*parse("k: " + value, "a.yaml").find("k"), INT64_MIN, INT64_MAX);
}

std::string integer_refusal(const std::string& value) {
  return outcome("k: " + value, [](Fields& f) { f.integer("k", 1, 1'000'000); });
}

TEST(YamlNumber, takes_plain_and_exponent_forms) {
  EXPECT_EQ(number_of("5"), 5);
  EXPECT_EQ(number_of("-0.25"), -0.25);
  EXPECT_EQ(number_of("100e6"), 100e6);
  EXPECT_EQ(number_of("+1.5E-3"), 1.5e-3);
  EXPECT_EQ(number_of(".5"), 0.5);
}

TEST(YamlNumber, underflow_is_zero) {
  EXPECT_EQ(number_of("1e-999"), 0);
}

TEST(YamlNumber, refuses_what_is_not_finite) {
  for (const char* value : {".inf", "-.inf", ".nan", "inf", "nan", "1e999", "-1e999"}) {
    EXPECT_THROW(number_of(value), Error) << value;
  }
}

TEST(YamlNumber, refuses_separators_hexadecimal_quotes_and_units) {
  for (const char* value : {"1_000", "0x10", "\"5\"", "200G", "1,5", "+-1", "--1", "1e", "e5"}) {
    EXPECT_THROW(number_of(value), Error) << value;
  }
}

TEST(YamlNumber, refusal_names_range_and_value) {
  EXPECT_EQ(outcome("load: 1.5", [](Fields& f) { f.number("load", 0, 1); }),
            "a.yaml:1:7: load: found the number 1.5; allowed a number from 0 to 1");
}

TEST(YamlInteger, takes_whole_numbers_in_any_form) {
  EXPECT_EQ(integer_of("32"), 32);
  EXPECT_EQ(integer_of("100e6"), 100'000'000);
  EXPECT_EQ(integer_of("1.5e3"), 1500);
  EXPECT_EQ(integer_of("-7"), -7);
  EXPECT_EQ(integer_of("+7"), 7);
}

TEST(YamlInteger, keeps_all_digits_of_64_bits) {
  EXPECT_EQ(integer_of("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(integer_of("9007199254740993"), 9'007'199'254'740'993);  // 2^53 + 1
}

TEST(YamlInteger, refusals_say_what_was_found) {
  const std::string tail = "; allowed a whole number from 1 to 1000000";
  EXPECT_EQ(integer_refusal("-8"), "a.yaml:1:4: k: found the number -8" + tail);
  EXPECT_EQ(integer_refusal("2.5"), "a.yaml:1:4: k: found the number 2.5" + tail);
  EXPECT_EQ(integer_refusal("1e30"), "a.yaml:1:4: k: found the number 1e30" + tail);
  EXPECT_EQ(integer_refusal("99999999999999999999"),
            "a.yaml:1:4: k: found the number 99999999999999999999" + tail);
  EXPECT_EQ(integer_refusal("many"), "a.yaml:1:4: k: found the text `many`" + tail);
  EXPECT_EQ(integer_refusal("1_000"), "a.yaml:1:4: k: found the text `1_000`" + tail);
  EXPECT_EQ(integer_refusal("[1]"), "a.yaml:1:4: k: found a list" + tail);
  EXPECT_EQ(integer_refusal("{a: 1}"), "a.yaml:1:4: k: found a mapping" + tail);
  EXPECT_EQ(integer_refusal("~"), "a.yaml:1:1: k: found nothing" + tail);
  EXPECT_EQ(integer_refusal("\"8\""), "a.yaml:1:4: k: found the text `8`" + tail);
}

TEST(YamlBoolean, is_true_or_false_and_nothing_else) {
  EXPECT_TRUE(boolean(*parse("k: true", "a").find("k")));
  EXPECT_FALSE(boolean(*parse("k: False", "a").find("k")));
  for (const char* value : {"yes", "1", "\"true\"", "on", "~"}) {
    EXPECT_THROW(boolean(*parse(std::string("k: ") + value, "a").find("k")), Error) << value;
  }
}

TEST(YamlText, refuses_emptiness_and_structure) {
  EXPECT_EQ(outcome("k: \"\"", [](Fields& f) { f.text("k"); }),
            "a.yaml:1:4: k: found an empty text; allowed text");
  EXPECT_EQ(outcome("k: [a]", [](Fields& f) { f.text("k"); }),
            "a.yaml:1:4: k: found a list; allowed text");
}

TEST(Description, does_not_let_escapes_reach_the_terminal) {
  EXPECT_EQ(parse("\"\\e[31mred\"", "a").description(), "the text `\\x1b[31mred`");
}

TEST(Description, cuts_long_text_between_characters) {
  std::string text = "x";
  for (int i = 0; i < 40; ++i) text += "网";
  std::string expected = "the text `x";
  for (int i = 0; i < 19; ++i) expected += "网";  // 1 + 19 * 3 = 58 bytes; 60 would split one
  EXPECT_EQ(parse(text, "a").description(), expected + "...`");
}

TEST(Fields, refuses_what_is_no_mapping) {
  EXPECT_EQ(outcome("- 1", [](Fields&) {}), "a.yaml:1:1: found a list; allowed a mapping");
}

TEST(Fields, falls_back_only_when_a_key_is_absent) {
  EXPECT_EQ(outcome("b: 2",
                    [](Fields& f) {
                      EXPECT_EQ(f.integer("a", 1, 9, 7), 7);
                      EXPECT_EQ(f.integer("b", 1, 9, 7), 2);
                    }),
            "accepted");
  EXPECT_EQ(outcome("a:", [](Fields& f) { f.integer("a", 1, 9, 7); }),
            "a.yaml:1:1: a: found nothing; allowed a whole number from 1 to 9");
}

TEST(Fields, names_a_missing_key_at_its_mapping) {
  const Node root = parse("cluster:\n  gpu: a10\n", "a.yaml");
  Fields fields(*root.find("cluster"));
  fields.text("gpu");
  try {
    fields.integer("gpus", 1, 100);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "a.yaml:2:3: cluster.gpus: found nothing (the key is missing); allowed a whole "
                 "number from 1 to 100");
  }
}

TEST(Fields, a_misspelt_required_key_is_pointed_at) {
  EXPECT_EQ(outcome("seed: 1\ngpsu: 32\n", [](Fields& f) { f.integer("gpus", 1, 100); }),
            "a.yaml:1:1: gpus: found nothing (the key is missing); allowed a whole number from 1 "
            "to 100; did you mean it by `gpsu` in line 2?");
}

TEST(Fields, refuses_the_first_unknown_key_with_its_near_miss) {
  EXPECT_EQ(outcome("name: x\nsede: 1\nother: 2\n",
                    [](Fields& f) {
                      f.text("name");
                      f.integer("seed", 0, 9, 1);
                    }),
            "a.yaml:2:7: sede: found an unknown key; allowed `name` or `seed`; did you mean "
            "`seed`?");
}

TEST(Fields, a_choice_is_an_index_and_a_slip_is_suggested) {
  EXPECT_EQ(outcome("k: serving",
                    [](Fields& f) { EXPECT_EQ(f.choice("k", {"training", "serving"}), 1U); }),
            "accepted");
  EXPECT_EQ(outcome("k: trianing", [](Fields& f) { f.choice("k", {"training", "serving"}); }),
            "a.yaml:1:4: k: found the text `trianing`; allowed `training` or `serving`; did you "
            "mean `training`?");
}

TEST(Fields, knows_where_a_key_is_or_would_be) {
  const Node root = parse("a:\n  b: 1\n", "a.yaml");
  const Fields fields(*root.find("a"));
  EXPECT_EQ(fields.where("b").text(), "a.yaml:2:6: a.b");
  EXPECT_EQ(fields.where("c").text(), "a.yaml:2:3: a.c");
}

}  // namespace
}  // namespace fabricast::base::yaml
