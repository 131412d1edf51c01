#include "scenario/flows.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "examples.h"

namespace fabricast::scenario {
namespace {

const std::string kHeader = "id,src,dst,bytes,start_us,priority,depends_on\n";

std::vector<FlowSpec> parse_lines(const std::string& text) {
  return parse_flows(text, "f.csv", {.gpus = 8, .traffic_classes = 2});
}

std::string refusal_of(const std::string& text) {
  try {
    parse_lines(text);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::ErrorKind::kInput);
    return error.what();
  }
  return "accepted";
}

TEST(Flows, are_read_in_any_order_of_columns_with_comments_and_spaces) {
  const auto flows = parse_lines(
      "# incast\n\nbytes , id,dst,src,start_us,depends_on,priority\r\n1e6, a ,0,1,2.5,,1\r\n"
      "10,b,1,0,0,a,\n");
  ASSERT_EQ(flows.size(), 2U);
  EXPECT_EQ(flows[0].id, "a");
  EXPECT_EQ(flows[0].src, 1U);
  EXPECT_EQ(flows[0].dst, 0U);
  EXPECT_EQ(flows[0].size, base::Bytes(1'000'000));
  EXPECT_EQ(flows[0].start, base::Time::picoseconds(2'500'000));
  EXPECT_EQ(flows[0].traffic_class, 1U);
  EXPECT_EQ(flows[0].depends_on, FlowSpec::kNoFlow);
  EXPECT_EQ(flows[1].depends_on, 0U);
  EXPECT_EQ(flows[1].traffic_class, 0U);
}

TEST(Flows, may_leave_the_last_columns_out) {
  EXPECT_EQ(parse_lines("id,src,dst,bytes,start_us\n1,0,1,10,0\n").size(), 1U);
}

TEST(Flows, may_depend_on_one_that_follows) {
  EXPECT_EQ(parse_lines(kHeader + "a,0,1,10,0,0,b\nb,0,1,10,0,0,\n").front().depends_on, 1U);
}

TEST(Flows, are_refused_with_line_and_column) {
  EXPECT_EQ(refusal_of(kHeader + "a,0,8,10,0,0,\n"),
            "f.csv:2: dst: found `8`; allowed a whole number from 0 to 7 (the GPUs of the system, "
            "`cluster.gpus`)");
  EXPECT_EQ(refusal_of(kHeader + "a,0,1,10,0,2,\n"),
            "f.csv:2: priority: found `2`; allowed a whole number from 0 to 1 (the traffic classes "
            "of the fabric, `classes.count`)");
  EXPECT_EQ(refusal_of(kHeader + "a,3,3,10,0,0,\n"),
            "f.csv:2: dst: found the GPU that sends; allowed another one");
  EXPECT_EQ(refusal_of("id,src,dst,bytes,start\n"),
            "f.csv:1: found the column `start`; allowed `id`, `src`, `dst`, `bytes`, `start_us`, "
            "`priority` or `depends_on`; did you mean `start_us`?");
  EXPECT_EQ(refusal_of("id,src,dst,bytes\n1,0,1,5\n"),
            "f.csv:1: start_us: found not one column of this name; allowed a first line "
            "`id,src,dst,bytes,start_us[,priority,depends_on]`");
}

TEST(Flows, are_refused_when_a_number_is_none_or_out_of_range) {
  for (const char* bytes : {"", "0", "-1", "x", "nan", "inf", "1e300", "1 000", "0x10"}) {
    EXPECT_NE(refusal_of(kHeader + "a,0,1," + bytes + ",0,0,\n").find("f.csv:2: bytes: found"),
              std::string::npos)
        << bytes;
  }
}

TEST(Flows, have_whole_bytes) {
  EXPECT_EQ(refusal_of(kHeader + "a,0,1,5.5,0,0,\n"),
            "f.csv:2: bytes: found the number 5.5; allowed a whole number of bytes");
}

TEST(Flows, are_refused_when_ids_or_dependencies_do_not_fit) {
  EXPECT_EQ(refusal_of(kHeader + "a,0,1,1,0,0,\na,1,0,1,0,0,\n"),
            "f.csv:3: id: found a second flow `a`; allowed ids that differ");
  EXPECT_EQ(refusal_of(kHeader + "a,0,1,1,0,0,b\n"),
            "f.csv:2: depends_on: found the flow `b`; allowed an id of this file");
  EXPECT_NE(refusal_of(kHeader + "a,0,1,1,0,0,a\n").find("in a circle"), std::string::npos);
  EXPECT_NE(refusal_of(kHeader + "a,0,1,1,0,0,b\nb,0,1,1,0,0,c\nc,0,1,1,0,0,a\n").find("circle"),
            std::string::npos);
}

TEST(Flows, are_refused_when_there_are_none_or_a_line_is_short) {
  EXPECT_EQ(refusal_of(""), "f.csv: found no flows; allowed at least one");
  EXPECT_EQ(refusal_of(kHeader + "a,0,1\n"),
            "f.csv:2: found 3 columns; allowed 7, as the first line names");
}

}  // namespace
}  // namespace fabricast::scenario
