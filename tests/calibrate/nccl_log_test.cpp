// Logs of nccl-tests and rccl-tests in the forms that their versions print (src/common.cu,
// src/util.cu), and what NCCL_DEBUG=INFO adds to them.

#include <string>

#include <gtest/gtest.h>

#include "base/error.h"
#include "calibrate/log.h"

namespace fabricast::calibrate {
namespace {

constexpr const char* kHeader =
    "#                                                              out-of-place                "
    "       in-place          \n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     "
    "time   algbw   busbw #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            "
    "(us)  (GB/s)  (GB/s)       \n";
constexpr const char* kSmall =
    "           8             2     float     sum      -1    24.70    0.00    0.00      0"
    "    24.65    0.00    0.00      0\n";
constexpr const char* kLarge =
    "  4294967296    1073741824     float     sum      -1    11469  374.47  702.13      0"
    "    11435  375.61  704.27      0\n";

std::string devices(int ranks, int per_node) {
  std::string text = "# Using devices\n";
  for (int rank = 0; rank < ranks; ++rank) {
    text += "#  Rank " + std::to_string(rank) + " Group  0 Pid  100 on node" +
            std::to_string(rank / per_node) + " device  " + std::to_string(rank % per_node) +
            " [0000:8f:00] NVIDIA H100 80GB HBM3\n";
  }
  return text;
}

TEST(NcclLog, a_run_says_its_operation_ranks_nodes_and_average) {
  const Log log = parse_log(
      "# nccl-tests version 2.17.9 nccl-headers=22903 nccl-library=22903\n"
      "# Collective test starting: all_reduce_perf\n"
      "# nThread 1 nGpus 1 minBytes 8 maxBytes 4294967296 step: 2(factor) warmup iters: 5 iters: "
      "20 "
      "agg iters: 1 validation: 1 graph: 0\n#\n" +
          devices(16, 8) + "#\n" + kHeader + kSmall + kLarge +
          "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 351.065 \n#\n"
          "# Collective test concluded: all_reduce_perf\n",
      "log");
  EXPECT_EQ(log.tool, Tool::kNcclTests);
  EXPECT_EQ(log.unknown, 0);
  ASSERT_EQ(log.runs.size(), 1U);
  const LogRun& run = log.runs[0];
  EXPECT_EQ(run.op, "all_reduce");
  EXPECT_EQ(run.version, "2.17.9");
  EXPECT_EQ(run.nccl.version, "2.29.3");
  EXPECT_EQ(run.ranks, 16);
  EXPECT_EQ(run.nodes, 2);
  EXPECT_EQ(run.gpus_per_node, 8);
  EXPECT_EQ(run.devices, std::vector<std::string>{"NVIDIA H100 80GB HBM3"});
  EXPECT_DOUBLE_EQ(run.avg_busbw_gb_per_s.value(), 351.065);
  ASSERT_EQ(run.rows.size(), 2U);
  EXPECT_EQ(run.rows[1].size->count(), 4294967296);
  EXPECT_DOUBLE_EQ(run.rows[1].out_of_place->time_us.value(), 11469);
  EXPECT_DOUBLE_EQ(run.rows[1].out_of_place->busbw_gb_per_s.value(), 702.13);
  EXPECT_DOUBLE_EQ(run.rows[1].in_place->algbw_gb_per_s.value(), 375.61);
  EXPECT_EQ(run.rows[1].in_place->wrong, 0);
}

TEST(NcclLog, older_versions_print_no_root_and_no_count_of_errors) {
  const Log log = parse_log(
      "#       size         count    type   redop     time   algbw   busbw  error     time   algbw"
      "   busbw  error\n"
      "           0             0   float     sum    35.20    0.00    0.00    N/A    34.05    0.00"
      "    0.00    N/A\n"
      "     4194304       1048576   float     sum    112.0   37.44   65.52    N/A    110.2   38.06"
      "   66.60    N/A\n"
      // all-to-all has no operation
      "        1024            32   float            36.07    0.03    0.02  0e+00    35.77    0.03"
      "    0.03    N/A\n",
      "log");
  ASSERT_EQ(log.runs[0].rows.size(), 3U);
  EXPECT_EQ(log.unknown, 0);
  EXPECT_EQ(log.runs[0].rows[0].size->count(), 0);
  EXPECT_DOUBLE_EQ(log.runs[0].rows[1].out_of_place->time_us.value(), 112.0);
  EXPECT_DOUBLE_EQ(log.runs[0].rows[1].in_place->time_us.value(), 110.2);
  EXPECT_FALSE(log.runs[0].rows[1].in_place->wrong);
  EXPECT_EQ(log.runs[0].rows[2].out_of_place->wrong, 0);
}

TEST(NcclLog, rows_are_read_without_a_header) {
  const std::string body =
      // root and two halves, no root, two halves without #wrong, root and those, one half
      "  1024   256  float  sum  -1  36.07  0.03  0.02  0  35.77  0.03  0.03  0\n"
      "  2048   512  float  sum  36.08  0.03  0.02  0  35.77  0.03  0.03  0\n"
      "  4096   512  float  sum  36.09  0.03  0.02  35.77  0.03  0.03\n"
      "  8192   512  float  sum  -1  36.10  0.03  0.02  35.77  0.03  0.03\n"
      " 16384   512  half   none  36.11  0.03  0.02  0\n"
      " 32768   512  half   none  -1  36.12  0.03  0.02\n"
      " 65536   512  half   none  0  36.13  0.03  0.02  0\n";
  const Log log = parse_log(body, "log");
  EXPECT_EQ(log.unknown, 0);
  const std::vector<LogRow>& rows = log.runs.at(0).rows;
  ASSERT_EQ(rows.size(), 7U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_DOUBLE_EQ(rows[i].out_of_place->time_us.value(), 36.07 + 0.01 * static_cast<double>(i));
    EXPECT_EQ(rows[i].in_place.has_value(), i < 4) << i;
  }
}

TEST(NcclLog, a_header_without_wrong_has_halves_of_three) {
  const Log log = parse_log(
      "#       size         count      type   redop    root     time   algbw   busbw     time   "
      "algbw   busbw\n"
      "     4194304       1048576     float     sum      -1    112.0   37.44   65.52    110.2   "
      "38.06"
      "   66.60\n",
      "log");
  const LogRow& row = log.runs.at(0).rows.at(0);
  EXPECT_DOUBLE_EQ(row.out_of_place->time_us.value(), 112.0);
  EXPECT_DOUBLE_EQ(row.in_place->time_us.value(), 110.2);
  EXPECT_FALSE(row.out_of_place->wrong);
}

TEST(NcclLog, a_half_that_is_left_blank_is_told_by_its_columns) {
  const std::string blank(32, ' ');  // writeBenchMarkLineNullBody
  const Log log = parse_log(
      std::string(kHeader) + "        1024           256     float     sum      -1" + blank +
          "    24.65    0.04    0.08      0\n" +
          "        2048           512     float     sum      -1    24.66    0.04    0.08      0\n",
      "log");
  ASSERT_EQ(log.runs.at(0).rows.size(), 2U);
  EXPECT_FALSE(log.runs[0].rows[0].out_of_place);
  EXPECT_DOUBLE_EQ(log.runs[0].rows[0].in_place->time_us.value(), 24.65);
  EXPECT_DOUBLE_EQ(log.runs[0].rows[1].out_of_place->time_us.value(), 24.66);
  EXPECT_DOUBLE_EQ(time_us(log.runs[0].rows[0]).value(), 24.65);
}

TEST(NcclLog, cpu_time_is_not_the_time_of_the_collective) {
  const Log log = parse_log(
      "#       size         count      type   redop    root  cputime   algbw   busbw #wrong  "
      "cputime   algbw   busbw #wrong\n" +
          std::string(kLarge),
      "log");
  const LogRow& row = log.runs.at(0).rows.at(0);
  EXPECT_FALSE(row.out_of_place->time_us);
  EXPECT_DOUBLE_EQ(row.out_of_place->busbw_gb_per_s.value(), 702.13);
}

TEST(NcclLog, large_values_come_in_scientific_notation_and_small_ones_with_commas) {
  const Log log = parse_log(
      "  4294967296    1073741824     float     sum      -1  1.2e+07    0.36    0.67      0"
      "  1.3e+07    0.33    0.62      0\n"
      "        1024           256     float     sum      -1    24,65    0,04    0,08      0"
      "    24,66    0,04    0,08      0\n",
      "log");
  EXPECT_DOUBLE_EQ(log.runs.at(0).rows.at(0).out_of_place->time_us.value(), 1.2e7);
  EXPECT_DOUBLE_EQ(log.runs.at(0).rows.at(1).in_place->time_us.value(), 24.66);
}

TEST(NcclLog, timestamps_after_a_row_are_passed_over) {
  std::string row(kLarge);
  row.insert(row.size() - 1, "  2026-01-31 10:11:12");
  const Log log = parse_log(kHeader + row, "log");
  EXPECT_DOUBLE_EQ(log.runs.at(0).rows.at(0).in_place->time_us.value(), 11435);
}

TEST(NcclLog, several_runs_follow_one_another) {
  const std::string table = devices(4, 2) + "#\n" + kHeader + kSmall;
  const Log log = parse_log("# Collective test starting: all_gather_perf\n" + table +
                                "# Avg bus bandwidth    : 1.5\n" +
                                "# Collective test concluded: all_gather_perf\n" +
                                "# Collective test starting: alltoall_perf\n" + table + kSmall +
                                "# Avg bus bandwidth    : 2.5\n",
                            "log");
  ASSERT_EQ(log.runs.size(), 2U);
  EXPECT_EQ(log.runs[0].op, "all_gather");
  EXPECT_EQ(log.runs[1].op, "alltoall");
  EXPECT_EQ(log.runs[1].rows.size(), 2U);
  EXPECT_DOUBLE_EQ(log.runs[1].avg_busbw_gb_per_s.value(), 2.5);
  EXPECT_EQ(log.runs[1].ranks, 4);
}

TEST(NcclLog, a_command_line_names_the_operation_of_older_versions) {
  const std::string start = "# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor)\n";
  const Log log = parse_log("+ mpirun -np 2 ./build/reduce_scatter_perf -b 8\n" + start + kHeader +
                                kSmall + "$ ./sendrecv_perf_mpi -b 8\n" + start + kHeader + kSmall,
                            "log");
  ASSERT_EQ(log.runs.size(), 2U);
  EXPECT_EQ(log.runs[0].op, "reduce_scatter");
  EXPECT_EQ(log.runs[1].op, "sendrecv");
  EXPECT_EQ(log.unknown, 0);
}

TEST(NcclLog, prefixes_of_mpirun_are_taken_off) {
  std::string text;
  for (const std::string& line :
       {std::string("# nThread 1 nGpus 1 minBytes 8\n"), std::string(kSmall)}) {
    text += "[1,0]<stdout>:" + line;
  }
  const Log log = parse_log(text, "log");
  EXPECT_EQ(log.unknown, 0);
  EXPECT_DOUBLE_EQ(log.runs.at(0).rows.at(0).out_of_place->time_us.value(), 24.70);
}

TEST(NcclLog, a_list_of_ranks_that_was_cut_is_not_believed) {
  // busbw / algbw of 16 ranks is 2 * 15 / 16 = 1.875 (doc/PERFORMANCE.md).
  const Log log = parse_log(devices(2, 1) + kHeader + kLarge, "log");
  EXPECT_FALSE(log.runs.at(0).ranks);
  EXPECT_FALSE(log.runs.at(0).nodes);
  EXPECT_EQ(parse_log(devices(16, 8) + kHeader + kLarge, "log").runs.at(0).ranks, 16);
}

TEST(NcclLog, rccl_tests_is_told_by_its_own_line_its_library_or_its_gpus) {
  for (const char* sign :
       {"rccl-tests: Version develop:a52452e\n", "RCCL version : 2.22.3-develop:1234567\n",
        "# Using devices\n#  Rank  0 Group  0 Pid 1 on n0 device  0 [0000:11:00] AMD Instinct "
        "MI300X\n"}) {
    EXPECT_EQ(parse_log(std::string(sign) + kSmall, "log").tool, Tool::kRcclTests) << sign;
  }
}

TEST(NcclLog, messages_of_nccl_are_collected_as_facts) {
  const std::string at = "hostA:574691:574714 [0] ";
  const Log log = parse_log(
      devices(2, 1) + at + "NCCL INFO NCCL version 2.26.2+cuda12.8\n" + at +
          "NCCL INFO NCCL_ALGO set by environment to RING\n" + at +
          "NCCL INFO NET/IB : Using [0]mlx5_5:1/RoCE [1]mlx5_6:1/RoCE [RO]; OOB "
          "eno7np0:10.0.0.1<0>\n" +
          at + "NCCL INFO Using network IB\n" + at +
          "NCCL INFO comm 0x1 rank 0 nRanks 2 nNodes 2 localRanks 1 localRank 0 MNNVL 0\n" + at +
          "NCCL INFO NVLS multicast support is not available on dev 0\n" + at +
          "NCCL INFO 2 coll channels, 2 collnet channels, 1 nvls channels, 2 p2p channels, 2 p2p "
          "channels per peer\n" +
          kHeader + kSmall + at + "NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/1\n" +
          at + "NCCL INFO Channel 01/0 : 0[0] -> 1[0] [send] via NET/IB/0(1)/GDRDMA\n" + at +
          "NCCL INFO Channel 01/0 : 0[0] -> 1[0] via P2P/CUMEM\n" + at +
          "NCCL INFO Connected all rings, use ring PXN 0 GDR 0\n" + at +
          "NCCL INFO Launch mode Parallel\n" + "\n[2026-01-31 10:11:12] " + at +
          "misc/socket.cc:537 NCCL WARN connection refused\n" + kSmall,
      "log");
  EXPECT_EQ(log.unknown, 0);
  ASSERT_EQ(log.runs.size(), 1U);
  EXPECT_EQ(log.runs[0].rows.size(), 2U);
  const NcclFacts& facts = log.runs[0].nccl;
  EXPECT_EQ(facts.version, "2.26.2+cuda12.8");
  EXPECT_EQ(facts.networks, std::vector<std::string>{"IB"});
  EXPECT_EQ(facts.adapters, (std::vector<std::string>{"mlx5_5:1/RoCE", "mlx5_6:1/RoCE"}));
  EXPECT_EQ(facts.environment, std::vector<std::string>{"NCCL_ALGO=RING"});
  EXPECT_EQ(facts.channels_via,
            (std::map<std::string, int>{{"NET/IB", 1}, {"NET/IB/GDRDMA", 1}, {"P2P/CUMEM", 1}}));
  EXPECT_EQ(facts.gpudirect, false);
  EXPECT_EQ(facts.nvls, false);
  EXPECT_EQ(facts.coll_channels, 2);
  EXPECT_EQ(facts.nvls_channels, 1);
  EXPECT_EQ(facts.ranks, 2);
  EXPECT_EQ(facts.nodes, 2);
  EXPECT_EQ(facts.warning_count, 1);
  EXPECT_EQ(facts.warnings, std::vector<std::string>{"connection refused"});
}

TEST(NcclLog, a_log_of_nccl_alone_is_facts_without_rows) {
  const Log log = parse_log(
      "n0:1:2 [0] NCCL INFO Using network Socket\n"
      "n0:1:2 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/Socket/0\n",
      "log");
  EXPECT_TRUE(log.runs.at(0).rows.empty());
  EXPECT_EQ(log.runs[0].nccl.channels_via.at("NET/Socket"), 1);
}

TEST(NcclLog, a_row_that_a_message_breaks_is_put_together) {
  const Log log = parse_log(
      std::string(kHeader) +
          "        1024           256     float     sum      -1hostA:1:2 [0] NCCL INFO Launch mode "
          "Parallel\n    24.65    0.04    0.08      0    24.66    0.04    0.08      0\n",
      "log");
  EXPECT_EQ(log.unknown, 0);
  ASSERT_EQ(log.runs.at(0).rows.size(), 1U);
  EXPECT_DOUBLE_EQ(log.runs[0].rows[0].in_place->time_us.value(), 24.66);
}

TEST(NcclLog, a_last_row_that_was_cut_is_unknown) {
  const std::string row(kLarge);
  const Log log = parse_log(kHeader + std::string(kSmall) + row.substr(0, 110), "log");
  EXPECT_EQ(log.runs.at(0).rows.size(), 1U);
  EXPECT_EQ(log.unknown, 1);
  EXPECT_EQ(log.first_unknown.at(0).number, 5);
}

}  // namespace
}  // namespace fabricast::calibrate
