#pragma once
// Logs that people have, as measurements: one door for the output of nccl-tests, rccl-tests,
// perftest, the OSU and Intel MPI benchmarks, sockperf, iperf3, and for tables (CSV).
//
//   text ─► Lines ─► the reader whose header came last ─► Runs of Rows ─► Log
//
// A tool is recognised by what it prints, never by the name of the file. A line is a measurement,
// something that a tool says about itself, noise (blank lines, comments, chatter that is known), or
// unknown: counted, and the first of them shown.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace fabricast::calibrate {

enum class Tool : std::uint8_t {
  kNcclTests,
  kRcclTests,
  kPerftest,
  kOsu,
  kImb,
  kSockperf,
  kIperf3,
  kCsv,
};

/// "nccl-tests", "rccl-tests", "perftest", "osu", "imb", "sockperf", "iperf3", "csv".
std::string_view name_of(Tool tool);

/// One half of a row of nccl-tests: out of place, or in place.
struct Placement {
  std::optional<double> time_us;  ///< absent where the tool printed CPU time instead (-C)
  std::optional<double> algbw_gb_per_s;
  std::optional<double> busbw_gb_per_s;
  std::optional<std::int64_t> wrong;  ///< absent where results were not checked
};

/// As the tool defines it: half a round trip in ping-pongs (perftest's write and send, OSU, IMB's
/// PingPong, sockperf without --full-rtt), the whole operation in RDMA reads and collectives.
struct Latency {
  std::optional<double> min_us;
  std::optional<double> typical_us;  ///< the median
  std::optional<double> avg_us;
  std::optional<double> max_us;
  std::optional<double> p99_us;
  std::optional<double> p999_us;
};

/// One measurement. Bandwidths are in GB/s, 1e9 bytes per second, whatever the tool prints.
struct LogRow {
  int line = 0;                     ///< from 1; where a JSON document begins
  std::optional<base::Bytes> size;  ///< of a message, or of a collective's buffer
  std::optional<Placement> out_of_place;
  std::optional<Placement> in_place;
  Latency latency;
  std::optional<double> bandwidth_gb_per_s;  ///< mean
  std::optional<double> peak_gb_per_s;
  std::optional<double> messages_per_s;
  std::optional<double> cpu_pct;  ///< of this host
  std::optional<std::int64_t> retransmits;
};

/// The one time of a row: out of place, else in place, else the typical latency, else the mean.
std::optional<double> time_us(const LogRow& row);

/// What NCCL_DEBUG=INFO told of a run, summed over the ranks that printed.
struct NcclFacts {
  std::string version;                ///< "2.26.2+cuda12.8"
  std::vector<std::string> networks;  ///< of `Using network`: "IB", "Socket", "AWS Libfabric"
  std::vector<std::string> adapters;  ///< of `NET/IB : Using`: "mlx5_5:1/RoCE"
  /// How channels cross: "NET/IB", "NET/IB/GDRDMA", "NET/Socket", "P2P/CUMEM", "SHM/direct", ...
  /// with the number of times it was printed.
  std::map<std::string, int> channels_via;
  std::optional<bool> gpudirect;         ///< `GDR 1` or `GDR 0` once rings are connected
  std::optional<bool> nvls;              ///< `NVLS multicast support is [not] available`
  std::optional<int> coll_channels;      ///< the most that a rank printed
  std::optional<int> nvls_channels;      ///< the same
  std::optional<int> ranks;              ///< of the largest communicator
  std::optional<int> nodes;              ///< of the same
  std::vector<std::string> environment;  ///< "NCCL_ALGO=RING", as set by environment
  std::vector<std::string> warnings;     ///< the first different ones
  int warning_count = 0;
};

/// One run of a tool: a sweep of one test. Numbers are absent where the log does not say.
struct LogRun {
  Tool tool = Tool::kCsv;
  int line = 0;         ///< where it begins
  std::string op;       ///< "all_reduce", "ib_write_bw", "osu_latency", "PingPong", "tcp"; or empty
  std::string version;  ///< of the tool
  std::optional<int> ranks;
  std::vector<std::string> hosts;    ///< different ones, in order
  std::optional<int> nodes;          ///< as many as hosts, or as told otherwise
  std::optional<int> gpus_per_node;  ///< where ranks divide evenly over nodes
  std::vector<std::string> devices;  ///< different ones: names of GPUs, or the RDMA device
  std::optional<double> avg_busbw_gb_per_s;
  std::string link_type;        ///< perftest: "IB", "Ethernet"
  std::string connection_type;  ///< perftest: "RC", "UD", ...
  std::optional<int> mtu_b;
  std::optional<int> qps;
  std::optional<int> tx_depth;
  std::optional<int> streams;  ///< iperf3
  bool bidirectional = false;  ///< bandwidths are sums of both directions
  bool round_trip = false;     ///< latencies are of a round trip (sockperf --full-rtt)
  NcclFacts nccl;
  std::vector<LogRow> rows;
};

/// A line that no reader knew.
struct UnknownLine {
  int number = 0;
  std::string text;  ///< printable, its first 120 bytes
};

struct Log {
  std::string name;
  Tool tool = Tool::kCsv;  ///< of the first run with rows
  std::vector<LogRun>
      runs;  ///< in the order of the file; one without rows was announced and not run
  int lines = 0;
  int noise = 0;
  int unknown = 0;
  std::vector<UnknownLine> first_unknown;    ///< at most 8
  std::vector<std::string> unknown_columns;  ///< of a CSV
};

/// `name` appears in errors. Throws base::Error (input) where there is neither a measurement nor
/// what NCCL says of a communicator.
Log parse_log(std::string_view text, const std::string& name);
/// The same from a file of at most 256 MiB. Throws base::Error (input) also when it cannot be read.
Log read_log(const std::string& path);

}  // namespace fabricast::calibrate
