// sockperf (src/client.cpp) and iperf3's text (src/iperf_locale.c).

#include <gtest/gtest.h>

#include "calibrate/log.h"

namespace fabricast::calibrate {
namespace {

TEST(SockperfLog, percentiles_of_a_ping_pong) {
  const Log log = parse_log(
      "$ sockperf ping-pong -i 10.0.0.2 --tcp -m 64 -t 10\n"
      "sockperf: == version #3.10-no.git == \n"
      "sockperf[CLIENT] send on:\n"
      "[ 0] IP = 10.0.0.2   PORT = 11111 # TCP\n"
      "sockperf: Warmup stage (sending a few dummy messages)...\n"
      "sockperf: [Total Run] RunTime=10.000 sec; Warm up time=400 msec; SentMessages=59986; "
      "ReceivedMessages=59985\n"
      "sockperf: ========= Printing statistics for Server No: 0\n"
      "sockperf: ====> avg-latency=83.147 (std-dev=8.246, mean-ad=4.603)\n"
      "sockperf: # dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0\n"
      "sockperf: \x1b[2;35mSummary: Latency is 83.147 usec\x1b[0m\n"
      "sockperf: Total 57400 observations; each percentile contains 574.00 observations\n"
      "sockperf: ---> <MAX> observation = 1245.549\n"
      "sockperf: ---> percentile 99.999 =  625.001\n"
      "sockperf: ---> percentile 99.900 =  108.442\n"
      "sockperf: ---> percentile 99.000 =   98.909\n"
      "sockperf: ---> percentile 50.000 =   81.171\n"
      "sockperf: ---> <MIN> observation =   67.035\n",
      "log");
  EXPECT_EQ(log.tool, Tool::kSockperf);
  EXPECT_EQ(log.unknown, 0);
  ASSERT_EQ(log.runs.size(), 1U);
  EXPECT_EQ(log.runs[0].op, "ping-pong");
  EXPECT_EQ(log.runs[0].version, "3.10-no.git");
  EXPECT_FALSE(log.runs[0].round_trip);
  ASSERT_EQ(log.runs[0].rows.size(), 1U);
  const LogRow& row = log.runs[0].rows[0];
  EXPECT_EQ(row.size->count(), 64);
  EXPECT_DOUBLE_EQ(row.latency.avg_us.value(), 83.147);
  EXPECT_DOUBLE_EQ(row.latency.typical_us.value(), 81.171);
  EXPECT_DOUBLE_EQ(row.latency.p99_us.value(), 98.909);
  EXPECT_DOUBLE_EQ(row.latency.p999_us.value(), 108.442);
  EXPECT_DOUBLE_EQ(row.latency.max_us.value(), 1245.549);
  EXPECT_DOUBLE_EQ(row.latency.min_us.value(), 67.035);
}

TEST(SockperfLog, under_load_with_full_round_trips) {
  const Log log = parse_log(
      "sockperf ul -i 10.0.0.2 --mps=100000 --full-rtt\n"
      "sockperf: ========= Printing statistics for Server No: 0\n"
      "sockperf: ====> avg-rtt=27.1\n"
      "sockperf: Summary: Round trip is 27.100 usec\n"
      "sockperf: ---> percentile 99.000 =   41.000\n",
      "log");
  EXPECT_EQ(log.runs.at(0).op, "under-load");
  EXPECT_TRUE(log.runs[0].round_trip);
  EXPECT_DOUBLE_EQ(log.runs[0].rows.at(0).latency.avg_us.value(), 27.1);
}

TEST(SockperfLog, throughput_in_mebibytes) {
  // 312849 messages of 1472 bytes a second are 460.5 MB/s = 439.18 MiB/s.
  const Log log = parse_log(
      "sockperf: NOTE: test was performed, using msg-size=1472. For getting maximum throughput\n"
      "sockperf: Summary: Message Rate is 312849 [msg/sec]\n"
      "sockperf: Summary: BandWidth is 439.180 MBps (3513.441 Mbps)\n",
      "log");
  const LogRow& row = log.runs.at(0).rows.at(0);
  EXPECT_EQ(log.runs[0].op, "throughput");
  EXPECT_EQ(row.size->count(), 1472);
  EXPECT_DOUBLE_EQ(row.messages_per_s.value(), 312849);
  EXPECT_NEAR(row.bandwidth_gb_per_s.value(), 312849 * 1472e-9, 1e-5);
}

TEST(Iperf3Log, the_receiver_counts_and_the_sender_retransmits) {
  const Log log = parse_log(
      "Connecting to host 10.0.0.2, port 5201\n"
      "[  5] local 10.0.0.1 port 42176 connected to 10.0.0.2 port 5201\n"
      "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"
      "[  5]   0.00-1.00   sec  1.10 GBytes  9.42 Gbits/sec    0   1.50 MBytes\n"
      "- - - - - - - - - - - - - - - - - - - - - - - - -\n"
      "[ ID] Interval           Transfer     Bitrate         Retr\n"
      "[  5]   0.00-10.00  sec  11.0 GBytes  9.42 Gbits/sec   12             sender\n"
      "[  5]   0.00-10.04  sec  10.9 GBytes  9.38 Gbits/sec                  receiver\n"
      "CPU Utilization: local/sender 31.5% (0.5%u/31.0%s), remote/receiver 45.6% (1.0%u/44.6%s)\n"
      "\niperf Done.\n",
      "log");
  EXPECT_EQ(log.tool, Tool::kIperf3);
  EXPECT_EQ(log.unknown, 0);
  EXPECT_EQ(log.runs.at(0).op, "tcp");
  EXPECT_EQ(log.runs[0].streams, 1);
  ASSERT_EQ(log.runs[0].rows.size(), 1U);
  EXPECT_DOUBLE_EQ(log.runs[0].rows[0].bandwidth_gb_per_s.value(), 9.38 / 8);
  EXPECT_EQ(log.runs[0].rows[0].retransmits, 12);
  EXPECT_DOUBLE_EQ(log.runs[0].rows[0].cpu_pct.value(), 31.5);
}

TEST(Iperf3Log, several_streams_are_summed_and_both_directions_are_kept) {
  const Log log = parse_log(
      "Connecting to host 10.0.0.2, port 5201\n"
      "[  5] local 10.0.0.1 port 1 connected to 10.0.0.2 port 5201\n"
      "[  7] local 10.0.0.1 port 2 connected to 10.0.0.2 port 5201\n"
      "[  9] local 10.0.0.1 port 3 connected to 10.0.0.2 port 5201\n"
      "[ 11] local 10.0.0.1 port 4 connected to 10.0.0.2 port 5201\n"
      "[ ID][Role] Interval           Transfer     Bitrate         Retr\n"
      "[  5][TX-C]   0.00-10.00  sec  5.0 GBytes  4.0 Gbits/sec    3             sender\n"
      "[  5][TX-C]   0.00-10.00  sec  5.0 GBytes  4.0 Gbits/sec                  receiver\n"
      "[SUM][TX-C]   0.00-10.00  sec  10.0 GBytes  8.2 Gbits/sec    7             sender\n"
      "[SUM][TX-C]   0.00-10.00  sec  10.0 GBytes  8.0 Gbits/sec                  receiver\n"
      "[SUM][RX-C]   0.00-10.00  sec  10.0 GBytes  900 Mbits/sec    9             sender\n"
      "[SUM][RX-C]   0.00-10.00  sec  10.0 GBytes  800 Mbits/sec                  receiver\n",
      "log");
  const LogRun& run = log.runs.at(0);
  EXPECT_TRUE(run.bidirectional);
  EXPECT_EQ(run.streams, 2);
  ASSERT_EQ(run.rows.size(), 2U);
  EXPECT_DOUBLE_EQ(run.rows[0].bandwidth_gb_per_s.value(), 1.0);
  EXPECT_EQ(run.rows[0].retransmits, 7);
  EXPECT_DOUBLE_EQ(run.rows[1].bandwidth_gb_per_s.value(), 0.1);
}

TEST(Iperf3Log, datagrams_and_runs_that_follow_one_another) {
  const Log log = parse_log(
      "Connecting to host 10.0.0.2, port 5201\n"
      "[  5]   0.00-10.00  sec  1.25 GBytes  1.07 Gbits/sec  0.000 ms  0/917431 (0%)  sender\n"
      "[  5]   0.00-10.00  sec  1.24 GBytes  1.06 Gbits/sec  0.013 ms  12/917431 (0.0013%)  "
      "receiver\n"
      "Connecting to host 10.0.0.3, port 5201\n"
      "[  5]   0.00-10.00  sec  1.25 GBytes   119 MBytes/sec    1             sender\n",
      "log");
  ASSERT_EQ(log.runs.size(), 2U);
  EXPECT_EQ(log.runs[0].op, "udp");
  EXPECT_DOUBLE_EQ(log.runs[0].rows.at(0).bandwidth_gb_per_s.value(), 1.06 / 8);
  EXPECT_EQ(log.runs[1].op, "tcp");
  EXPECT_DOUBLE_EQ(log.runs[1].rows.at(0).bandwidth_gb_per_s.value(), 119 * 1048576e-9);
}

}  // namespace
}  // namespace fabricast::calibrate
