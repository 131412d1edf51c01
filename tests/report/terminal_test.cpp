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

TEST(Terminal, shows_what_each_network_is_built_of) {
  const std::string text = rendered(false);
  EXPECT_NE(line_of(text, "switches").find(" 2  "), std::string::npos);
  EXPECT_NE(line_of(text, "  model").find("switch-x"), std::string::npos);
  EXPECT_NE(line_of(text, "adapters").find(" 8  "), std::string::npos);
  // 19 cells are too many beside two others.
  EXPECT_NE(text.find(" nic-of-200g"), std::string::npos) << text;
  EXPECT_EQ(text.find("article-nic"), std::string::npos) << text;
  EXPECT_NE(line_of(text, "cables").find(" 12  "), std::string::npos);
}

TEST(Terminal, says_when_one_switch_is_all_that_the_topology_needs) {
  Sample s = sample();
  for (auto& outcome : s.comparison.outcomes) {
    outcome.sizing.tiers = outcome.sizing.leaves = 1;
    outcome.sizing.down_ports = 36;
    outcome.sizing.endpoint_cables = 8;
  }
  s.comparison.outcomes[1].sizing.down_ports = 64;
  const std::string text = rendered(false, s);
  EXPECT_NE(text.find("one switch, 8 of 36 ports of 200 Gb/s used\n(infiniband, tcp)."),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("8 of 64 ports of 200 Gb/s used\n(roce-v2)."), std::string::npos) << text;
  EXPECT_EQ(rendered(false).find("one switch"), std::string::npos);
}

TEST(Terminal, says_where_hosts_are_the_bottleneck_once_for_all_that_are_held_alike) {
  Sample s = sample();
  s.scenario.cluster.host.pcie = "gen3-x16";
  const fabric::HostLimit slot{base::Rate::gigabits_per_second(101.5), fabric::HostLinkKind::kSlot};
  s.comparison.outcomes[0].host = s.comparison.outcomes[1].host = slot;
  s.comparison.outcomes[2].host = {base::Rate::gigabits_per_second(44),
                                   fabric::HostLinkKind::kSockets};
  const std::string text = rendered(false, s);
  EXPECT_NE(
      text.find("(infiniband, roce-v2): when all adapters of a node send\nand receive, each "
                "gets at most 102 of its port's 200 Gb/s each way, its\n`gen3-x16` slot being "
                "full.\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("(tcp): "), std::string::npos) << text;
  EXPECT_LE(widest_line(rendered(true, s)), 80);
  EXPECT_EQ(rendered(false).find("bottleneck"), std::string::npos);
}

TEST(Terminal, says_that_tcp_is_billed_with_hardware_for_rdma) {
  Sample s = sample();
  s.comparison.outcomes[0].bill.lines[1].item = "another";
  const std::string text = rendered(false, s);
  EXPECT_NE(text.find("tcp is billed with the same switches and adapters as roce-v2;"),
            std::string::npos)
      << text;
  for (auto& outcome : s.comparison.outcomes) outcome.bill.lines[1].item = outcome.name;
  EXPECT_EQ(rendered(false, s).find("billed with"), std::string::npos);
}

TEST(Terminal, warns_of_a_layout_that_fills_the_memory) {
  Sample s = sample();
  s.scenario.cluster.gpu.memory_gb = 80;
  for (auto& outcome : s.comparison.outcomes) outcome.training.memory.total_gb = 75.9;
  EXPECT_EQ(rendered(false, s).find("Warning"), std::string::npos);
  for (auto& outcome : s.comparison.outcomes) outcome.training.memory.total_gb = 76.1;
  EXPECT_NE(rendered(false, s).find("fills 95 % of a GPU's memory"), std::string::npos);
  auto& job = std::get<scenario::TrainingSpec>(s.scenario.workload);
  job.alternatives.resize(2);
  job.alternatives[0].memory.total_gb = 76.1;
  job.alternatives[1].memory.total_gb = 40;
  const std::string text = rendered(false, s);
  EXPECT_NE(text.find("Warning: `parallelism: auto`"), std::string::npos) << text;
  EXPECT_NE(text.find("40.0 GB"), std::string::npos) << text;
  EXPECT_LE(widest_line(rendered(true, s)), 80);
}

TEST(Terminal, says_that_the_bubble_has_the_imbalance_of_the_stages_in_it) {
  EXPECT_FALSE(line_of(rendered(false), "  bubble, imbalance").empty());
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

TEST(Terminal, says_what_failures_take_where_it_matters) {
  const auto text = [](double goodput_pct) {
    Sample s = sample();
    training::ReliabilityReport& r = s.comparison.outcomes[0].training.reliability;
    r.goodput_pct = goodput_pct;
    r.mtbf_h = 3;
    r.recovery_s = 600;
    return rendered(false, s);
  };
  EXPECT_EQ(text(99.5).find("checkpoints and failures"), std::string::npos);
  EXPECT_NE(text(90).find("checkpoints and failures"), std::string::npos);
  EXPECT_NE(text(90).find("10 % of it"), std::string::npos);
  EXPECT_NE(text(90).find("in 3.00 h"), std::string::npos);
}

TEST(Terminal, admits_the_error_of_extrapolated_transfers) {
  EXPECT_NE(rendered(false).find("within 2.00 %"), std::string::npos);
}

}  // namespace
}  // namespace fabricast::report
