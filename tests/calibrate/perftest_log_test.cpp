// perftest's output as src/perftest_parameters.h formats it.

#include <string>

#include <gtest/gtest.h>

#include "calibrate/log.h"

namespace fabricast::calibrate {
namespace {

constexpr const char* kRule =
    "------------------------------------------------------------------------------------\n";

std::string parameters(const char* title, const char* connection = "RC") {
  return std::string(kRule) + "                    " + title + "\n" +
         " Dual-port       : OFF\t\tDevice         : mlx5_5\n"
         " Number of qps   : 4\t\tTransport type : IB\n"
         " Connection type : " +
         connection +
         "\t\tUsing SRQ      : OFF\n"
         " PCIe relax order: ON\n"
         " TX depth        : 128\n"
         " CQ Moderation   : 100\n"
         " Mtu             : 4096[B]\n"
         " Link type       : Ethernet\n"
         " Max inline data : 0[B]\n"
         " rdma_cm QPs\t : ON\n"
         " Data ex. method : rdma_cm \tTOS    : 41\n" +
         kRule +
         " local address: LID 0000 QPN 0x0093 PSN 0xbf9bfe\n"
         " GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:00:00:01\n" +
         kRule;
}

constexpr const char* kGbits =
    " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n";
constexpr const char* kMib =
    " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n";

TEST(PerftestLog, bandwidth_in_gbits_is_converted_and_the_header_is_read) {
  const Log log = parse_log(parameters("RDMA_Write BW Test") + kGbits +
                                " 65536      20000            98.11              98.01  \t\t   "
                                "0.186932\n" +
                                kRule,
                            "log");
  EXPECT_EQ(log.tool, Tool::kPerftest);
  EXPECT_EQ(log.unknown, 0);
  const LogRun& run = log.runs.at(0);
  EXPECT_EQ(run.op, "ib_write_bw");
  EXPECT_EQ(run.devices, std::vector<std::string>{"mlx5_5"});
  EXPECT_EQ(run.connection_type, "RC");
  EXPECT_EQ(run.link_type, "Ethernet");
  EXPECT_EQ(run.mtu_b, 4096);
  EXPECT_EQ(run.qps, 4);
  EXPECT_EQ(run.tx_depth, 128);
  EXPECT_FALSE(run.bidirectional);
  const LogRow& row = run.rows.at(0);
  EXPECT_EQ(row.size->count(), 65536);
  EXPECT_DOUBLE_EQ(row.peak_gb_per_s.value(), 98.11 / 8);
  EXPECT_DOUBLE_EQ(row.bandwidth_gb_per_s.value(), 98.01 / 8);
  EXPECT_DOUBLE_EQ(row.messages_per_s.value(), 186932);
}

TEST(PerftestLog, mb_per_s_are_mebibytes) {
  // 0.191744 million messages of 65536 bytes are 12566 MB/s = 11984 MiB/s.
  for (const std::string unit : {"MB/sec", "MiB/sec"}) {
    std::string header(kMib);
    for (std::size_t at = 0; (at = header.find("MB/sec", at)) != std::string::npos;
         at += unit.size()) {
      header.replace(at, 6, unit);
    }
    const Log log = parse_log(parameters("RDMA_Read BW Test") + header +
                                  " 65536      5000             11984.00            11983.99\t\t   "
                                  "0.191744\n",
                              "log");
    EXPECT_EQ(log.runs.at(0).op, "ib_read_bw");
    EXPECT_NEAR(log.runs[0].rows.at(0).bandwidth_gb_per_s.value(), 12.566, 0.001);
  }
}

TEST(PerftestLog, bidirectional_tests_say_so_and_a_peak_of_zero_was_not_measured) {
  const Log log =
      parse_log(parameters("Send Bidirectional BW Test") + kMib +
                    " 65536      279928           0.00               5830.79\t\t   0.093293\n",
                "log");
  EXPECT_EQ(log.runs.at(0).op, "ib_send_bw");
  EXPECT_TRUE(log.runs[0].bidirectional);
  EXPECT_FALSE(log.runs[0].rows.at(0).peak_gb_per_s);
}

TEST(PerftestLog, latencies_come_with_their_percentiles) {
  const Log log = parse_log(
      parameters("Send Latency Test", "UD") +
          " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    "
          "t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] \n"
          " 2       1000          1.65           6.28         1.67     \t       1.70        \t0.28 "
          "  "
          "\t\t3.52    \t\t6.20   \n",
      "log");
  EXPECT_EQ(log.unknown, 0);
  EXPECT_EQ(log.runs.at(0).op, "ib_send_lat");
  EXPECT_EQ(log.runs[0].connection_type, "UD");
  const Latency& latency = log.runs[0].rows.at(0).latency;
  EXPECT_DOUBLE_EQ(latency.min_us.value(), 1.65);
  EXPECT_DOUBLE_EQ(latency.max_us.value(), 6.28);
  EXPECT_DOUBLE_EQ(latency.typical_us.value(), 1.67);
  EXPECT_DOUBLE_EQ(latency.avg_us.value(), 1.70);
  EXPECT_DOUBLE_EQ(latency.p99_us.value(), 3.52);
  EXPECT_DOUBLE_EQ(latency.p999_us.value(), 6.20);
}

TEST(PerftestLog, the_duration_mode_of_latency_tests_has_a_mean_only) {
  const Log log = parse_log(parameters("RDMA_Write Latency Test") +
                                " #bytes        #iterations       t_avg[usec]    tps average\n"
                                " 2             2000000            1.12        892857.14\n",
                            "log");
  EXPECT_EQ(log.runs.at(0).op, "ib_write_lat");
  EXPECT_DOUBLE_EQ(time_us(log.runs[0].rows.at(0)).value(), 1.12);
}

TEST(PerftestLog, columns_of_service_levels_ports_and_cpu_are_placed) {
  const Log qos = parse_log(
      " #bytes    #sl      #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
      " 65536      3           5000           98.11              98.01              0.186932\n",
      "log");
  EXPECT_DOUBLE_EQ(qos.runs.at(0).rows.at(0).bandwidth_gb_per_s.value(), 98.01 / 8);
  const Log cpu = parse_log(
      " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]    "
      "CPU_Util[%]\n"
      " 65536      5000           98.11              98.01              0.186932\t    12.50\n",
      "log");
  EXPECT_DOUBLE_EQ(cpu.runs.at(0).rows.at(0).cpu_pct.value(), 12.5);
}

TEST(PerftestLog, raw_ethernet_is_told_by_its_connection) {
  const Log log = parse_log(parameters("Send BW Test", "RawEth") + kGbits +
                                " 1500       5000             98.11              98.01\t\t   8.1\n",
                            "log");
  EXPECT_EQ(log.runs.at(0).op, "raw_ethernet_bw");
}

TEST(PerftestLog, a_table_without_its_test_takes_the_name_of_the_command) {
  const Log log =
      parse_log(std::string("$ ib_write_bw -d mlx5_0 -a 10.0.0.1\n") + kGbits +
                    " 2          5000           0.045656            0.045526            2.845402\n",
                "log");
  EXPECT_EQ(log.runs.at(0).op, "ib_write_bw");
  EXPECT_EQ(log.unknown, 0);
}

TEST(PerftestLog, sweeps_and_tests_follow_one_another) {
  const std::string row =
      " 2          5000           0.045656            0.045526            2.845402\n";
  const Log log = parse_log(parameters("RDMA_Write BW Test") + kGbits + row + row +
                                parameters("RDMA_Read BW Test") + kGbits + row,
                            "log");
  ASSERT_EQ(log.runs.size(), 2U);
  EXPECT_EQ(log.runs[0].rows.size(), 2U);
  EXPECT_EQ(log.runs[1].op, "ib_read_bw");
}

TEST(PerftestLog, numbers_without_a_header_have_no_unit_and_are_unknown) {
  const Log log = parse_log(
      std::string(kGbits) + " 2          5000           0.04            0.04            2.8\n" +
          "# OSU MPI Latency Test v7.5\n 65536  5000  98.11  98.01  0.186932\n",
      "log");
  EXPECT_EQ(log.unknown, 1);
}

}  // namespace
}  // namespace fabricast::calibrate
