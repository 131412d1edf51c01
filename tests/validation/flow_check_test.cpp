// The flow level against the packet level: mean error at most 3 %, 90th percentile at most 8 %,
// over collectives x topologies x fabrics.

#include "validation/flow_check.h"

#include <vector>

#include <gtest/gtest.h>

#include "base/statistics.h"

namespace fabricast::validation {
namespace {

const std::vector<FlowCheckRow>& rows() {
  static const std::vector<FlowCheckRow> checked = [] {
    FlowCheckOptions options;
    options.threads = 2;
    return flow_check(catalog::Catalog::load(FABRICAST_SOURCE_DIR "/catalog"), options);
  }();
  return checked;
}

std::vector<double> errors(const std::string& of = "") {
  std::vector<double> result;
  for (const FlowCheckRow& row : rows()) {
    if (row.name.starts_with(of)) result.push_back(row.error_pct());
  }
  return result;
}

TEST(FlowCheck, is_within_3_percent_in_the_mean_and_8_at_the_90th_percentile) {
  EXPECT_LE(base::mean(errors()), 3);
  EXPECT_LE(base::percentile(errors(), 90), 8);
  EXPECT_GE(errors().size(), 300U);
}

// No fabric is carried by the others.
TEST(FlowCheck, is_so_on_every_fabric) {
  for (const char* fabric : {"infiniband,", "roce-v2,", "tcp,", "roce-v2-adaptive,"}) {
    EXPECT_LE(base::mean(errors(fabric)), 3) << fabric;
    EXPECT_LE(base::percentile(errors(fabric), 90), 8) << fabric;
    EXPECT_EQ(errors(fabric).size(), 75U) << fabric;
  }
}

TEST(FlowCheck, gives_the_same_on_one_thread_and_on_two) {
  FlowCheckOptions options;
  options.fabrics = {"tcp"};
  const auto one = flow_check(catalog::Catalog::load(FABRICAST_SOURCE_DIR "/catalog"), options);
  std::size_t i = 0;
  for (const FlowCheckRow& row : rows()) {
    if (!row.name.starts_with("tcp,")) continue;
    EXPECT_EQ(row.flow_s, one[i].flow_s) << row.name;
    EXPECT_EQ(row.packet_s, one[i++].packet_s) << row.name;
  }
}

}  // namespace
}  // namespace fabricast::validation
