#include "scenario/request_trace.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace fabricast::scenario {
namespace {

std::string refusal(const std::string& text) {
  try {
    parse_request_trace(text, "trace");
  } catch (const base::Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(RequestTrace, reads_csv_by_the_names_of_its_columns) {
  const RequestTrace trace = parse_request_trace(
      "request_id,input_tokens,output_tokens,arrival_s\nb,30,40,2.5\na,10,20,0.5\n", "trace");
  ASSERT_EQ(trace.requests.size(), 2U);
  EXPECT_EQ(trace.requests[0].arrival_s, 0);  // the first begins the clock
  EXPECT_EQ(trace.requests[0].input_tokens, 10);
  EXPECT_EQ(trace.requests[1].arrival_s, 2);
  EXPECT_EQ(trace.requests[1].output_tokens, 40);
  EXPECT_EQ(trace.qps(), 0.5);
}

TEST(RequestTrace, reads_dates_as_azure_writes_them) {
  const RequestTrace trace = parse_request_trace(
      "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 23:59:59.5000000,4808,10\r\n"
      "2023-11-17 00:00:01.2500000,110,27\r\n",
      "trace");
  ASSERT_EQ(trace.requests.size(), 2U);
  EXPECT_NEAR(trace.requests[1].arrival_s, 1.75, 1e-6);
}

TEST(RequestTrace, reads_lines_of_json_with_the_blocks_of_a_prompt) {
  const RequestTrace trace = parse_request_trace(
      "{\"timestamp\": 0, \"input_length\": 6758, \"output_length\": 500, \"hash_ids\": [0, 1]}\n"
      "{\"timestamp\": 3000, \"input_length\": 7322, \"output_length\": 490, \"hash_ids\": [0, "
      "14]}\n",
      "trace");
  ASSERT_EQ(trace.requests.size(), 2U);
  EXPECT_EQ(trace.requests[1].arrival_s, 3);
  EXPECT_EQ(trace.requests[1].blocks, (std::vector<std::uint64_t>{0, 14}));
}

TEST(RequestTrace, leaves_out_requests_without_an_answer_and_counts_them) {
  const RequestTrace trace = parse_request_trace(
      "Timestamp,Model,Request tokens,Response tokens\n5,ChatGPT,472,18\n9,ChatGPT,30,0\n",
      "trace");
  EXPECT_EQ(trace.requests.size(), 1U);
  EXPECT_EQ(trace.without_answer, 1);
}

TEST(RequestTrace, says_where_it_is_wrong) {
  EXPECT_EQ(refusal(""), "trace: found no request that was answered; allowed at least one");
  EXPECT_NE(refusal("a,b\n1,2\n").find("trace:2: found no time of arrival"), std::string::npos);
  EXPECT_NE(refusal("arrival_s,input_tokens\n1,2\n").find("trace:2: found no number of tokens"),
            std::string::npos);
  EXPECT_NE(refusal("arrival_s,input_tokens,output_tokens\n1,2\n").find("found 2 columns"),
            std::string::npos);
  EXPECT_NE(refusal("arrival_s,input_tokens,output_tokens\n1,2.5,3\n")
                .find("trace:2: input_tokens: found `2.5`; allowed a whole number"),
            std::string::npos);
  EXPECT_NE(refusal("arrival_s,input_tokens,output_tokens\n-1,2,3\n").find("arrival_s"),
            std::string::npos);
  EXPECT_NE(refusal("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-13-01 1:1:1,2,3\n")
                .find("a date such as"),
            std::string::npos);
}

}  // namespace
}  // namespace fabricast::scenario
