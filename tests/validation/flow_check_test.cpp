// The flow level against the packet level: mean error at most 3 %, 90th percentile at most 8 %,
// over collectives x topologies x fabrics.

#include "validation/flow_check.h"

#include <vector>

#include <gtest/gtest.h>

#include "base/statistics.h"

namespace fabricast::validation {
namespace {

std::vector<FlowCheckRow> rows(const std::vector<std::string>& fabrics, int threads) {
  FlowCheckOptions options;
  options.fabrics = fabrics;
  options.threads = threads;
  return flow_check(catalog::Catalog::load(FABRICAST_SOURCE_DIR "/catalog"), options);
}

void expect_close(const std::string& fabric) {
  std::vector<double> errors;
  for (const FlowCheckRow& row : rows({fabric}, 2)) errors.push_back(row.error_pct());
  EXPECT_LE(base::mean(errors), 3);
  EXPECT_LE(base::percentile(errors, 90), 8);
  EXPECT_EQ(errors.size(), 75U);
}

// No fabric is carried by the others.
TEST(FlowCheck, is_close_on_infiniband) {
  expect_close("infiniband");
}
TEST(FlowCheck, is_close_on_roce) {
  expect_close("roce-v2");
}
TEST(FlowCheck, is_close_on_tcp) {
  expect_close("tcp");
}
TEST(FlowCheck, is_close_under_adaptive_routing) {
  expect_close("roce-v2-adaptive");
}

TEST(FlowCheck, gives_the_same_on_one_thread_and_on_two) {
  const auto one = rows({"tcp"}, 1);
  const auto two = rows({"tcp"}, 2);
  ASSERT_EQ(one.size(), two.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].flow_s, two[i].flow_s) << one[i].name;
    EXPECT_EQ(one[i].packet_s, two[i].packet_s) << one[i].name;
  }
}

}  // namespace
}  // namespace fabricast::validation
