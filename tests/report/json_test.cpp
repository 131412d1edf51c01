#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/report.h"
#include "sample.h"

namespace fabricast::report {
namespace {

nlohmann::ordered_json parsed(Sample s = sample()) {
  return nlohmann::ordered_json::parse(json(ready(s)));
}

TEST(Json, carries_the_fabrics_in_the_order_of_the_scenario) {
  std::vector<std::string> names;
  const auto result = parsed();
  for (const auto& [name, fabric] : result["fabrics"].items()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"infiniband", "roce-v2", "tcp"}));
}

// nccl-tests, PERFORMANCE.md: algbw = size / time; busbw of all_reduce = algbw * 2 (n - 1) / n.
TEST(Json, reports_bandwidths_as_nccl_tests_defines_them) {
  const auto phase = parsed()["fabrics"]["tcp"]["collectives"][0];
  EXPECT_DOUBLE_EQ(phase["algbw_GBps"], 1.0 / 0.1);
  EXPECT_DOUBLE_EQ(phase["busbw_GBps"], 1.0 / 0.1 * 2 * 3 / 4);
  EXPECT_DOUBLE_EQ(phase["time_us"], 100'000);
}

TEST(Json, has_no_network_object_for_a_single_node) {
  Sample s = sample();
  s.scenario.cluster.topology.nodes = 1;
  EXPECT_FALSE(parsed(s)["fabrics"]["tcp"].contains("network"));
}

TEST(Json, refuses_a_number_that_is_not_finite) {
  Sample s = sample();
  s.comparison.outcomes[0].training.mfu_pct = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(json(ready(s)), base::Error);
}

TEST(Json, keeps_what_may_differ_between_two_runs_inside_stats) {
  Sample slow = sample();
  slow.comparison.peak_rss_mb = 99;
  for (auto& outcome : slow.comparison.outcomes) outcome.wall_s = 1234;
  auto a = parsed();
  auto b = parsed(slow);
  EXPECT_NE(a, b);
  for (auto* result : {&a, &b}) {
    for (auto& fabric : (*result)["fabrics"]) fabric.erase("stats");
  }
  EXPECT_EQ(a, b);
}

TEST(Json, divides_events_by_wall_time) {
  EXPECT_DOUBLE_EQ(parsed()["fabrics"]["tcp"]["stats"]["events_per_s"], 500);
}

TEST(Json, names_the_deciding_rule_first) {
  const auto verdict = parsed()["verdict"];
  EXPECT_EQ(verdict["house"]["rules"][0], "above-16");
  EXPECT_EQ(verdict["choice"], "roce-v2");
  EXPECT_EQ(verdict["flips"][0]["at"], 1000000);
  EXPECT_EQ(verdict["flips"][0]["unit"], "CNY");
}

}  // namespace
}  // namespace fabricast::report
