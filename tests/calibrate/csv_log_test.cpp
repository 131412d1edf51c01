// Tables with named columns.

#include <gtest/gtest.h>

#include "base/error.h"
#include "calibrate/csv_columns.h"
#include "calibrate/log.h"

namespace fabricast::calibrate {
namespace {

TEST(CsvColumns, units_are_part_of_the_names) {
  const auto factor = [](const char* name, Quantity quantity) {
    const CsvColumn column = csv_column(name);
    EXPECT_EQ(column.quantity, quantity) << name;
    return column.factor;
  };
  EXPECT_DOUBLE_EQ(factor("bandwidth_gbps", Quantity::kBandwidth), 0.125);
  EXPECT_DOUBLE_EQ(factor("busbw_GBps", Quantity::kBusbw), 1);
  EXPECT_DOUBLE_EQ(factor("BW average[Gb/sec]", Quantity::kBandwidth), 0.125);
  EXPECT_DOUBLE_EQ(factor("BW average[MiB/sec]", Quantity::kBandwidth), 1048576e-9);
  EXPECT_DOUBLE_EQ(factor("Bandwidth (MB/s)", Quantity::kBandwidth), 1e-3);
  EXPECT_DOUBLE_EQ(factor("lat_us", Quantity::kLatency), 1);
  EXPECT_DOUBLE_EQ(factor("latency_p99_ms", Quantity::kLatencyP99), 1e3);
  EXPECT_DOUBLE_EQ(factor("avg_latency (ns)", Quantity::kLatencyAvg), 1e-3);
  EXPECT_DOUBLE_EQ(factor("size_KiB", Quantity::kSize), 1024);
  EXPECT_DOUBLE_EQ(factor("#bytes", Quantity::kSize), 1);
  EXPECT_DOUBLE_EQ(factor("MsgRate[Mpps]", Quantity::kMessages), 1e6);
  EXPECT_DOUBLE_EQ(factor("time", Quantity::kTime), 1);
}

TEST(CsvColumns, what_could_be_either_is_not_understood) {
  for (const char* name :
       {"bandwidth_gb_s", "largest_size_bytes", "bandwidth_us", "link_Gbps", "", "_"}) {
    EXPECT_EQ(csv_column(name).quantity, Quantity::kNone) << name;
  }
}

TEST(CsvLog, rows_become_runs_by_what_tells_them_apart) {
  const Log log = parse_log(
      "collective,num_gpus,nodes,size_bytes,time_us,busbw_GBps,source\n"
      "allreduce,16,2,1024,30.5,0.06,\"a, \"\"b\"\"\"\n"
      "alltoall,16,2,1024,40.5,0.02,b\n"
      "allreduce,16,2,2048,31.5,0.12,a\n",
      "log");
  EXPECT_EQ(log.tool, Tool::kCsv);
  EXPECT_EQ(log.unknown, 0);
  EXPECT_EQ(log.unknown_columns, std::vector<std::string>{"source"});
  ASSERT_EQ(log.runs.size(), 2U);
  EXPECT_EQ(log.runs[0].op, "allreduce");
  EXPECT_EQ(log.runs[0].ranks, 16);
  EXPECT_EQ(log.runs[0].gpus_per_node, 8);
  ASSERT_EQ(log.runs[0].rows.size(), 2U);
  EXPECT_EQ(log.runs[0].rows[1].size->count(), 2048);
  EXPECT_EQ(log.runs[0].rows[1].line, 4);
  EXPECT_DOUBLE_EQ(log.runs[0].rows[1].out_of_place->time_us.value(), 31.5);
  EXPECT_DOUBLE_EQ(log.runs[0].rows[1].out_of_place->busbw_gb_per_s.value(), 0.12);
}

TEST(CsvLog, semicolons_go_with_decimal_commas) {
  const Log log = parse_log("size;latency_us;bandwidth_gbps\n1024;1,55;96,8\n", "log");
  const LogRow& row = log.runs.at(0).rows.at(0);
  EXPECT_DOUBLE_EQ(row.latency.typical_us.value(), 1.55);
  EXPECT_DOUBLE_EQ(row.bandwidth_gb_per_s.value(), 12.1);
}

TEST(CsvLog, columns_named_after_tests_are_runs_of_their_own) {
  const Log log = parse_log(
      "size_bytes,ib_send_bw_MBps,ib_write_bw_MBps,mode\n2,10,40,bidirectional "
      "(-b)\n4,,80,bidirectional (-b)\n",
      "log");
  ASSERT_EQ(log.runs.size(), 2U);
  EXPECT_EQ(log.runs[0].op, "ib_send_bw");
  EXPECT_EQ(log.runs[0].rows.size(), 1U);
  EXPECT_TRUE(log.runs[0].bidirectional);
  EXPECT_EQ(log.runs[1].op, "ib_write_bw");
  EXPECT_DOUBLE_EQ(log.runs[1].rows.at(1).bandwidth_gb_per_s.value(), 0.08);
}

TEST(CsvLog, a_flag_says_which_rows_are_in_place) {
  const Log log = parse_log("size,inPlace,time,algBw,busBw\n1024,0,30,1,2\n1024,1,31,1,2\n", "log");
  EXPECT_DOUBLE_EQ(log.runs.at(0).rows.at(0).out_of_place->time_us.value(), 30);
  EXPECT_FALSE(log.runs[0].rows.at(1).out_of_place);
  EXPECT_DOUBLE_EQ(log.runs[0].rows[1].in_place->time_us.value(), 31);
}

TEST(CsvLog, rows_of_another_length_and_without_a_value_are_unknown) {
  const Log log = parse_log("size,time_us\n8,1.5\n16\n32,-\n64,2.5,1\n128,3.5\n", "log");
  EXPECT_EQ(log.runs.at(0).rows.size(), 2U);
  EXPECT_EQ(log.unknown, 3);
  EXPECT_EQ(log.first_unknown.at(0).number, 3);
}

TEST(CsvLog, a_table_without_a_measurement_is_none) {
  EXPECT_THROW(parse_log("file,tool,source\na,b,c\n", "log"), base::Error);
}

}  // namespace
}  // namespace fabricast::calibrate
