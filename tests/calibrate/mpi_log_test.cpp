// OSU micro-benchmarks (c/util/osu_util_mpi.c) and Intel MPI benchmarks (src_c/IMB_output.c).

#include <string>

#include <gtest/gtest.h>

#include "calibrate/log.h"

namespace fabricast::calibrate {
namespace {

TEST(OsuLog, titles_name_the_tests) {
  const std::pair<const char*, const char*> tests[] = {
      {"OSU MPI Latency Test v5.3.2", "osu_latency"},
      {"OSU MPI-CUDA Bandwidth Test v7.5", "osu_bw"},
      {"OSU MPI Bi-Directional Bandwidth Test v7.5", "osu_bibw"},
      {"OSU MPI Multi Latency Test v7.5", "osu_multi_lat"},
      {"OSU MPI Allreduce Latency Test v7.5", "osu_allreduce"},
      {"OSU MPI-ROCM All-to-All Personalized Exchange Latency Test v7.5", "osu_alltoall"},
      {"OSU MPI Broadcast Latency Test v7.5", "osu_bcast"},
      {"OSU MPI Reduce_scatter Latency Test v7.5", "osu_reduce_scatter"},
      {"OSU MPI Non-blocking Allreduce Latency Test v7.5", "osu_iallreduce"},
      {"OSU MPI_Put Latency Test v7.5", "osu_put_latency"},
  };
  for (const auto& [title, op] : tests) {
    const Log log =
        parse_log("# " + std::string(title) + "\n# Size  Latency (us)\n8  1.55\n", "log");
    EXPECT_EQ(log.tool, Tool::kOsu);
    EXPECT_EQ(log.runs.at(0).op, op) << title;
    EXPECT_EQ(log.runs[0].bidirectional, log.runs[0].op == "osu_bibw");
  }
}

TEST(OsuLog, latencies_and_full_columns) {
  const Log log = parse_log(
      "\n# OSU MPI Allreduce Latency Test v7.5\n# Datatype: MPI_INT.\n"
      "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations        "
      "Validation P50 Tail Lat(us) P95 Tail Lat(us) P99 Tail Lat(us)\n"
      "4                      11.69             10.01             12.5        1000              "
      "Pass"
      "             11.5             12.1             12.4\n",
      "log");
  EXPECT_EQ(log.unknown, 0);
  EXPECT_EQ(log.runs.at(0).version, "7.5");
  const LogRow& row = log.runs[0].rows.at(0);
  EXPECT_EQ(row.size->count(), 4);
  EXPECT_DOUBLE_EQ(row.latency.avg_us.value(), 11.69);
  EXPECT_DOUBLE_EQ(row.latency.min_us.value(), 10.01);
  EXPECT_DOUBLE_EQ(row.latency.max_us.value(), 12.5);
  EXPECT_DOUBLE_EQ(row.latency.typical_us.value(), 11.5);
  EXPECT_DOUBLE_EQ(row.latency.p99_us.value(), 12.4);
}

TEST(OsuLog, megabytes_are_decimal_and_pairs_are_two_ranks) {
  const Log log = parse_log(
      "# OSU MPI Multiple Bandwidth / Message Rate Test v5.6\n# [ pairs: 4 ] [ window size: 64 ]\n"
      "# Size                  MB/s        Messages/s\n"
      "4096                23982.18        5855024.41\n",
      "log");
  EXPECT_EQ(log.runs.at(0).op, "osu_mbw_mr");
  EXPECT_EQ(log.runs[0].ranks, 8);
  EXPECT_DOUBLE_EQ(log.runs[0].rows.at(0).bandwidth_gb_per_s.value(), 23.98218);
  EXPECT_DOUBLE_EQ(log.runs[0].rows[0].messages_per_s.value(), 5855024.41);
}

TEST(OsuLog, a_barrier_has_no_size_and_a_non_blocking_test_its_pure_time) {
  const Log barrier =
      parse_log("# OSU MPI Barrier Latency Test v7.5\n# Avg Latency(us)\n      4.21\n", "log");
  EXPECT_FALSE(barrier.runs.at(0).rows.at(0).size);
  EXPECT_DOUBLE_EQ(time_us(barrier.runs[0].rows[0]).value(), 4.21);
  const Log nbc = parse_log(
      "# OSU MPI Non-blocking Allreduce Latency Test v7.5\n"
      "# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait\n\n"
      "# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)\n"
      "8                      30.10             15.00             14.20              5.10\n",
      "log");
  EXPECT_EQ(nbc.unknown, 0);
  EXPECT_DOUBLE_EQ(time_us(nbc.runs.at(0).rows.at(0)).value(), 14.20);
}

TEST(OsuLog, a_cut_last_row_is_unknown) {
  const Log log =
      parse_log("# OSU MPI Latency Test v7.5\n# Size  Latency (us)\n8  1.55\n16  351.2", "log");
  EXPECT_EQ(log.runs.at(0).rows.size(), 1U);
  EXPECT_EQ(log.unknown, 1);
}

TEST(ImbLog, pingpong_has_half_a_round_trip_and_decimal_megabytes) {
  const Log log = parse_log(
      "#----------------\n# Benchmarking PingPong \n# #processes = 2 \n#----------------\n"
      "       #bytes #repetitions      t[usec]   Mbytes/sec\n"
      "            0         1000         1.66         0.00\n"
      "    268435456            1     21983.36     12210.85\n",
      "log");
  EXPECT_EQ(log.tool, Tool::kImb);
  EXPECT_EQ(log.unknown, 0);
  EXPECT_EQ(log.runs.at(0).op, "PingPong");
  EXPECT_EQ(log.runs[0].ranks, 2);
  ASSERT_EQ(log.runs[0].rows.size(), 2U);
  EXPECT_DOUBLE_EQ(log.runs[0].rows[0].latency.avg_us.value(), 1.66);
  EXPECT_FALSE(log.runs[0].rows[0].bandwidth_gb_per_s);
  EXPECT_DOUBLE_EQ(log.runs[0].rows[1].bandwidth_gb_per_s.value(), 12.21085);
}

TEST(ImbLog, older_versions_print_mebibytes_which_size_over_time_shows) {
  // 4194304 bytes in 1000 us are 4194.3 MB/s and 4000 MiB/s; Sendrecv counts both directions.
  const Log log = parse_log(
      "# Benchmarking PingPong\n       #bytes #repetitions      t[usec]   Mbytes/sec\n"
      "      4194304           10      1000.00      4000.00\n"
      "# Benchmarking Sendrecv\n"
      "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec\n"
      "      4194304           10       999.00      1000.00       999.50      8000.00\n",
      "log");
  EXPECT_NEAR(log.runs.at(0).rows.at(0).bandwidth_gb_per_s.value(), 4.194304, 1e-9);
  EXPECT_NEAR(log.runs.at(1).rows.at(0).bandwidth_gb_per_s.value(), 8.388608, 1e-9);
  EXPECT_TRUE(log.runs[1].bidirectional);
}

TEST(ImbLog, collectives_groups_and_barriers) {
  const Log log = parse_log(
      "#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part\n# List of Benchmarks to run:\n"
      "# Benchmarking Allreduce \n# #processes = 4 \n# ( 4 additional processes waiting in "
      "MPI_Barrier)\n"
      "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
      "            4         1000         3.10         3.60         3.40\n"
      "         8192            1 out-of-mem.; needed X=   8.001 GB; use flag \"-mem X\"\n"
      "# Benchmarking Multi-PingPong \n"
      "        Group       #bytes #repetitions      t[usec]   Mbytes/sec\n"
      "            0            4         1000         1.70         2.35\n"
      "# Benchmarking Barrier \n #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
      "         1000         2.10         2.60         2.40\n"
      "# All processes entering MPI_Finalize\n",
      "log");
  EXPECT_EQ(log.unknown, 0);
  ASSERT_EQ(log.runs.size(), 3U);
  EXPECT_EQ(log.runs[0].op, "Allreduce");
  EXPECT_EQ(log.runs[0].ranks, 4);
  EXPECT_DOUBLE_EQ(log.runs[0].rows.at(0).latency.max_us.value(), 3.60);
  EXPECT_DOUBLE_EQ(time_us(log.runs[0].rows[0]).value(), 3.40);
  EXPECT_EQ(log.runs[1].rows.at(0).size->count(), 4);
  EXPECT_FALSE(log.runs[2].rows.at(0).size);
}

}  // namespace
}  // namespace fabricast::calibrate
