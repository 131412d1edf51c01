#include "base/yaml_text.h"

#include <gtest/gtest.h>

namespace fabricast::base::yaml {
namespace {

std::string flow(const std::string& text) {
  return flow_text(parse(text, "test.yaml"));
}

TEST(FlowText, does_not_depend_on_order_comments_and_layout) {
  EXPECT_EQ(flow("b: [1, x]   # why\na:\n  d: 2\n  c: null\n"), "{a: {c: null, d: 2}, b: [1, x]}");
  EXPECT_EQ(flow("{a: {d: 2, c: ~}, b: [1, x]}"), flow("b:\n- 1\n- x\na: {c: null, d: 2}\n"));
}

TEST(FlowText, tells_a_quoted_number_from_a_number) {
  EXPECT_NE(flow("a: '8'"), flow("a: 8"));
  EXPECT_NE(flow("a: 'null'"), flow("a: null"));
}

TEST(FlowText, reads_back_as_the_same_tree) {
  for (const char* text :
       {"a: 'x: y, [z]'", "'k, 1': '\"\\'", "a: \"line\\nbreak\\ttab\"", "a: '-'", "a: ''",
        "a: 100e6", "a: {}", "a: []", "a: '#no comment'", "a: 机器", "a: x y"}) {
    const std::string once = flow(text);
    EXPECT_EQ(flow(once), once) << text;
    EXPECT_EQ(flow(block_text(parse(text, "test.yaml"))), once) << text;
  }
}

}  // namespace
}  // namespace fabricast::base::yaml
