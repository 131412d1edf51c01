// Logs of nccl-tests in the forms that its versions print.

#include "calibrate/nccl_log.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace fabricast::calibrate {
namespace {

TEST(NcclLog, reads_rows_with_a_root) {
  const auto rows = parse_nccl_log(
      "# nThread 1 nGpus 1 minBytes 8\n"
      "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
      "           8             2     float     sum      -1    24.70    0.00    0.00      0"
      "    24.65    0.00    0.00      0\n"
      "  4294967296    1073741824     float     sum      -1    11469  374.47  743.09      0"
      "    11435  375.61  745.36      0\n"
      "# Avg bus bandwidth    : 688.487\n");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].size.count(), 8);
  EXPECT_DOUBLE_EQ(rows[0].time_us, 24.70);
  EXPECT_DOUBLE_EQ(rows[0].in_place_time_us, 24.65);
  EXPECT_DOUBLE_EQ(rows[1].time_us, 11469);
}

TEST(NcclLog, reads_rows_of_older_versions_without_one) {
  const auto rows = parse_nccl_log(
      "           0             0   float     sum    35.20    0.00    0.00    N/A    34.05    0.00"
      "    0.00    N/A\n"
      "     4194304       1048576   float     sum    112.0   37.44   65.52    N/A    110.2   38.06"
      "   66.60    N/A\n");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].size.count(), 4194304);
  EXPECT_DOUBLE_EQ(rows[0].time_us, 112.0);
  EXPECT_DOUBLE_EQ(rows[0].in_place_time_us, 110.2);
}

TEST(NcclLog, reads_rows_without_a_reduction) {
  const auto rows = parse_nccl_log(
      "        1024            32   float    36.07    0.03    0.02      0    35.77    0.03    0.03"
      "    N/A\n");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_DOUBLE_EQ(rows[0].time_us, 36.07);
}

TEST(NcclLog, passes_over_what_is_no_row) {
  EXPECT_TRUE(
      parse_nccl_log("host:1:1 [0] NCCL INFO Launch mode Parallel\n# Out of bounds\n\n").empty());
}

TEST(NcclLog, names_of_operations_are_those_that_people_use) {
  using collective::Op;
  EXPECT_EQ(op_named("allreduce"), Op::kAllReduce);
  EXPECT_EQ(op_named("all_gather_perf"), Op::kAllGather);
  EXPECT_EQ(op_named("nccl_alltoall_h100_2n.txt"), Op::kAllToAll);
  EXPECT_THROW(op_named("nccl.txt"), base::Error);
}

}  // namespace
}  // namespace fabricast::calibrate
