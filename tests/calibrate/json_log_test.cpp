// JSON of nccl-tests -J (src/util.cu), perftest --out_json (src/perftest_parameters.c) and iperf3
// -J.

#include <string>

#include <gtest/gtest.h>

#include "base/error.h"
#include "calibrate/log.h"

namespace fabricast::calibrate {
namespace {

const std::string kNccl =
    R"({"version":1,"start_time":"2026-01-31 10:11:12","args":["./build/all_reduce_perf","-b","8"],)"
    R"("env":["A=b"],"nccl_version":22903,"config":{"nthreads":1,"ngpus":2,"devices":[)"
    R"({"rank":0,"hostname":"n0","device":0,"device_info":"NVIDIA H100"},)"
    R"({"rank":2,"hostname":"n1","device":0,"device_info":"NVIDIA H100"}]},"results":[)"
    R"({"size":8,"count":2,"type":"float","redop":"sum","root":"    -1",)"
    R"("out_of_place":{"time":24.5,"alg_bw":0.0,"bus_bw":0.0,"nwrong":0.0},)"
    R"("in_place":{"time":24.25,"alg_bw":0.0,"bus_bw":0.0,"nwrong":null}},)"
    R"({"size":1024,"count":256,"type":"float","redop":"sum","root":"    -1","out_of_place":null,)"
    R"("in_place":{"time":"nan","alg_bw":0.5,"bus_bw":0.75,"nwrong":null}}],)"
    R"("average_bus_bandwidth":{"bandwidth":1.5,"okay":"unchecked"},"errors":[]})";

TEST(JsonLog, nccl_tests) {
  const Log log = parse_log(kNccl, "log");
  EXPECT_EQ(log.tool, Tool::kNcclTests);
  EXPECT_EQ(log.unknown, 0);
  const LogRun& run = log.runs.at(0);
  EXPECT_EQ(run.op, "all_reduce");
  EXPECT_EQ(run.nccl.version, "2.29.3");
  EXPECT_EQ(run.ranks, 4);  // one GPU of each process is listed
  EXPECT_EQ(run.nodes, 2);
  EXPECT_EQ(run.gpus_per_node, 2);
  EXPECT_DOUBLE_EQ(run.avg_busbw_gb_per_s.value(), 1.5);
  ASSERT_EQ(run.rows.size(), 2U);
  EXPECT_DOUBLE_EQ(run.rows[0].out_of_place->time_us.value(), 24.5);
  EXPECT_EQ(run.rows[0].out_of_place->wrong, 0);
  EXPECT_FALSE(run.rows[0].in_place->wrong);
  EXPECT_FALSE(run.rows[1].out_of_place);
  EXPECT_FALSE(run.rows[1].in_place->time_us);
  EXPECT_DOUBLE_EQ(run.rows[1].in_place->busbw_gb_per_s.value(), 0.75);
}

TEST(JsonLog, a_document_that_was_cut_keeps_its_complete_rows) {
  const std::string cut = kNccl.substr(0, kNccl.find(R"("size":1024)") + 30);
  EXPECT_EQ(parse_log(cut, "log").runs.at(0).rows.size(), 1U);
}

std::string perftest(const std::string& average, const std::string& peak) {
  return R"({
"test_info": {
"test": "RDMA_Write_Bidirectional_BW_Test",
"Dual_port": "OFF",
"Device": "mlx5_0",
"Number_of_qps": 2,
"Connection_type": "RC",
"TX_depth": 128,
"Mtu": 4096,
"Link_type": "IB"
},
"results": {
"MsgSize": 65536,
"n_iterations": 5000,
"BW_peak": )" +
         peak + R"(,
"BW_average": )" +
         average + R"(,
"MsgRate": 0.191744
}
}
)";
}

TEST(JsonLog, perftest_tells_its_unit_by_the_rate_of_messages) {
  // 0.191744 million messages of 65536 bytes: 12.566 GB/s = 100.53 Gb/s = 11984 MiB/s.
  for (const std::string& text : {perftest("11984.00", "12000.00"), perftest("100.53", "100.66")}) {
    const Log log = parse_log(text, "log");
    const LogRun& run = log.runs.at(0);
    EXPECT_EQ(run.op, "ib_write_bw");
    EXPECT_TRUE(run.bidirectional);
    EXPECT_EQ(run.qps, 2);
    EXPECT_EQ(run.mtu_b, 4096);
    EXPECT_EQ(run.link_type, "IB");
    EXPECT_NEAR(run.rows.at(0).bandwidth_gb_per_s.value(), 12.566, 0.001);
    EXPECT_EQ(log.unknown, 0);
  }
}

TEST(JsonLog, documents_that_follow_one_another_are_runs) {
  const Log log =
      parse_log("output of a loop:\n" + perftest("100.53", "0") + perftest("100.53", "0"), "log");
  EXPECT_EQ(log.runs.size(), 2U);
  EXPECT_EQ(log.unknown, 1);
}

TEST(JsonLog, perftest_latencies) {
  const Log log = parse_log(
      R"({"test_info": {"test": "Send_Latency_Test"}, "results": {"MsgSize": 2, "n_iterations": 1000,
"t_min": 1.5, "t_max": 6, "t_typical": 1.625, "t_avg": 1.75, "t_stdev": 0.2, "percentile_99": 3.5,
"percentile_99.9": 5.5}})",
      "log");
  EXPECT_EQ(log.runs.at(0).op, "ib_send_lat");
  EXPECT_DOUBLE_EQ(time_us(log.runs[0].rows.at(0)).value(), 1.625);
  EXPECT_DOUBLE_EQ(log.runs[0].rows[0].latency.p999_us.value(), 5.5);
}

TEST(JsonLog, iperf3) {
  const Log log = parse_log(
      R"({"start": {"version": "iperf 3.12", "test_start": {"protocol": "TCP", "num_streams": 4}},
"intervals": [], "end": {"sum_sent": {"bits_per_second": 9.6e9, "retransmits": 12},
"sum_received": {"bits_per_second": 8e9}, "cpu_utilization_percent": {"host_total": 31.5}}})",
      "log");
  EXPECT_EQ(log.tool, Tool::kIperf3);
  EXPECT_EQ(log.runs.at(0).version, "3.12");
  EXPECT_EQ(log.runs[0].streams, 4);
  EXPECT_DOUBLE_EQ(log.runs[0].rows.at(0).bandwidth_gb_per_s.value(), 1.0);
  EXPECT_EQ(log.runs[0].rows[0].retransmits, 12);
}

TEST(JsonLog, other_documents_and_broken_ones_are_unknown) {
  for (const char* text : {R"({"results": [1, 2]})", "{]}", R"({"a": )", "{", R"({"x": 1e999})"}) {
    EXPECT_THROW(parse_log(text, "log"), base::Error) << text;
  }
  EXPECT_THROW(parse_log(std::string(100000, '{'), "log"), base::Error);
}

}  // namespace
}  // namespace fabricast::calibrate
