#include <sstream>

#include <gtest/gtest.h>

#include "base/table.h"
#include "report/report.h"
#include "sample.h"

namespace fabricast::report {
namespace {

std::string rendered(bool chinese, Sample s = sample()) {
  return terminal(ready(s), {.chinese = chinese, .stats = true});
}

/// The line of the table that begins with `label`.
std::string line_of(const std::string& text, const std::string& label) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  " + label)) return line;
  }
  return {};
}

int widest_line(const std::string& text) {
  int widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    widest = std::max(widest, base::display_width(line));
  }
  return widest;
}

TEST(Terminal, fits_80_cells_in_both_languages) {
  EXPECT_LE(widest_line(rendered(false)), 80);
  EXPECT_LE(widest_line(rendered(true)), 80);
}

TEST(Terminal, fits_80_cells_however_long_and_many_the_names) {
  Sample s = sample();
  for (int i = 0; i < 5; ++i) {
    s.comparison.outcomes.push_back(s.comparison.outcomes.front());
    s.comparison.outcomes.back().name = "a-name-that-goes-on-and-on-" + std::to_string(i);
  }
  EXPECT_LE(widest_line(rendered(false, s)), 80);
  EXPECT_LE(widest_line(rendered(true, s)), 80);
}

TEST(Terminal, names_every_number_with_its_unit) {
  const std::string line = line_of(rendered(false), "latency, idle");
  EXPECT_NE(line.find(" us "), std::string::npos) << line;
  EXPECT_NE(line.find("1.23"), std::string::npos) << line;
}

TEST(Terminal, leaves_out_kinds_of_communication_that_no_fabric_waits_for) {
  const std::string text = rendered(false);
  EXPECT_FALSE(line_of(text, "  waiting for tp").empty());
  EXPECT_TRUE(line_of(text, "  waiting for ep").empty());
}

TEST(Terminal, leaves_out_the_network_of_a_single_node) {
  Sample s = sample();
  s.scenario.cluster.topology.nodes = 1;
  EXPECT_TRUE(line_of(rendered(false, s), "latency, idle").empty());
}

TEST(Terminal, shows_the_run_in_hours_when_it_lasts_half_a_day) {
  const std::string line = line_of(rendered(false), "whole run");
  EXPECT_NE(line.find(" h "), std::string::npos) << line;
  EXPECT_NE(line.find("12.0"), std::string::npos) << line;
}

TEST(Terminal, shows_a_run_of_a_minute_and_a_half_in_seconds_as_the_reasons_do) {
  Sample s = sample();
  for (auto& outcome : s.comparison.outcomes) outcome.training.days = 81.4 / 86400;
  s.comparison.verdict =
      advice::verdict(s.scenario, s.comparison.outcomes, s.comparison.verdict.house);
  const std::string text = rendered(false, s);
  const std::string line = line_of(text, "whole run");
  EXPECT_NE(line.find(" s "), std::string::npos) << line;
  EXPECT_NE(line.find("81.4"), std::string::npos) << line;
  EXPECT_NE(text.find("81.4 s"), std::string::npos) << text;
  EXPECT_EQ(text.find(" min"), std::string::npos) << text;
}

TEST(Terminal, states_both_voices_the_rule_and_what_to_try_next) {
  const std::string text = rendered(false);
  EXPECT_NE(text.find("House rules choose: infiniband"), std::string::npos);
  EXPECT_NE(text.find("above-16"), std::string::npos);
  EXPECT_NE(text.find("4.2(1)"), std::string::npos);
  EXPECT_NE(text.find("The evidence chooses: roce-v2"), std::string::npos);
  EXPECT_NE(text.find("roce-v2, if it is so."), std::string::npos);
  EXPECT_NE(text.find("Next: Try another seed."), std::string::npos);
}

TEST(Terminal, counts_one_node_in_the_singular_and_names_no_topology_for_it) {
  Sample s = sample();
  s.scenario.cluster.topology.nodes = 1;
  const std::string text = rendered(false, s);
  EXPECT_NE(text.find(", 1 node with 4 x 200 Gb/s\n"), std::string::npos) << text;
  EXPECT_NE(rendered(false).find(", 2 nodes with "), std::string::npos);
}

TEST(Terminal, speaks_chinese_when_asked) {
  const std::string text = rendered(true);
  EXPECT_NE(text.find("规则的选择：infiniband"), std::string::npos);
  EXPECT_NE(text.find("超过 16 卡优先 InfiniBand。"), std::string::npos);
  EXPECT_EQ(text.find("House rules"), std::string::npos);
}

TEST(Terminal, admits_the_error_of_extrapolated_transfers) {
  EXPECT_NE(rendered(false).find("within 2.00 %"), std::string::npos);
}

}  // namespace
}  // namespace fabricast::report
