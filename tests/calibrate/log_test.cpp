// What holds for the logs of every tool.

#include "calibrate/log.h"

#include <string>

#include <gtest/gtest.h>

#include "base/error.h"

namespace fabricast::calibrate {
namespace {

constexpr const char* kOsu = "# OSU MPI Latency Test v7.5\n# Size  Latency (us)\n8  1.55\n";

std::string refusal(const std::string& text) {
  try {
    parse_log(text, "some.log");
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::ErrorKind::kInput);
    return error.what();
  }
  return "";
}

TEST(Log, what_has_no_measurement_is_refused_with_what_was_looked_for) {
  const std::string empty = refusal("");
  EXPECT_NE(empty.find("some.log"), std::string::npos);
  EXPECT_NE(empty.find("perftest"), std::string::npos);
  EXPECT_NE(refusal("hello\nworld\n").find("first line 1: `hello`"), std::string::npos);
  EXPECT_NE(refusal("# OSU MPI Latency Test v7.5\n# Size  Latency (us)\n").find("header of osu"),
            std::string::npos);
}

TEST(Log, a_file_that_cannot_be_read_is_refused) {
  EXPECT_THROW(read_log("/nonexistent/log"), base::Error);
}

TEST(Log, every_line_is_counted_and_the_first_unknown_ones_are_shown) {
  std::string text(kOsu);
  for (int i = 0; i < 20; ++i) text += "surprise " + std::to_string(i) + "\n";
  text += "\n# a comment\n-----\n";
  const Log log = parse_log(text, "log");
  EXPECT_EQ(log.lines, 26);
  EXPECT_EQ(log.unknown, 20);
  EXPECT_EQ(log.noise, 3);
  ASSERT_EQ(log.first_unknown.size(), 8U);
  EXPECT_EQ(log.first_unknown[0].number, 4);
  EXPECT_EQ(log.first_unknown[0].text, "surprise 0");
}

TEST(Log, tools_follow_one_another_and_the_first_with_rows_is_the_logs) {
  const Log log = parse_log(std::string(kOsu) +
                                "# Benchmarking PingPong\n #bytes #repetitions t[usec] Mbytes/sec\n"
                                " 8 1000 1.66 4.80\n",
                            "log");
  EXPECT_EQ(log.tool, Tool::kOsu);
  ASSERT_EQ(log.runs.size(), 2U);
  EXPECT_EQ(log.runs[1].tool, Tool::kImb);
  EXPECT_EQ(log.runs[1].line, 4);
}

TEST(Log, ends_of_lines_colours_and_nul_bytes_do_not_matter) {
  const Log plain = parse_log(kOsu, "log");
  std::string dos;
  std::string wide = "\xff\xfe";
  for (const char c : std::string(kOsu)) {
    if (c == '\n') dos += '\r';
    dos += c;
    wide += c;
    wide += '\0';
  }
  for (const std::string& text : {dos, wide, "\x1b[31m" + std::string(kOsu) + "\x1b[0m"}) {
    const Log log = parse_log(text, "log");
    EXPECT_EQ(log.unknown, 0);
    EXPECT_EQ(log.runs.at(0).rows.at(0).latency.avg_us, plain.runs.at(0).rows.at(0).latency.avg_us);
  }
}

TEST(Log, very_long_lines_are_unknown_and_the_rest_is_read) {
  const std::string text = std::string(kOsu) + std::string(1 << 20, '7') + "\n16 1.60\n";
  const Log log = parse_log(text, "log");
  EXPECT_EQ(log.unknown, 1);
  EXPECT_EQ(log.first_unknown.at(0).text.size(), 120U);
  EXPECT_EQ(log.runs.at(0).rows.size(), 2U);
}

TEST(Log, numbers_that_overflow_make_a_line_unknown) {
  const Log log =
      parse_log(std::string(kOsu) + "99999999999999999999 1.55\n16 1e999\n32 1.60\n", "log");
  EXPECT_EQ(log.unknown, 2);
  EXPECT_EQ(log.runs.at(0).rows.size(), 2U);
}

TEST(Log, tools_have_names) {
  EXPECT_EQ(name_of(Tool::kNcclTests), "nccl-tests");
  EXPECT_EQ(name_of(Tool::kIperf3), "iperf3");
}

}  // namespace
}  // namespace fabricast::calibrate
