#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "calibrate/readers.h"

namespace fabricast::calibrate {
namespace {

enum Column : std::uint8_t {
  kSize,
  kIterations,
  kPeak,
  kAverage,
  kRate,
  kMin,
  kMax,
  kTypical,
  kMean,
  kP99,
  kP999,
  kCpu,
};

// RESULT_FMT and its kin.
constexpr auto kNames = std::to_array<ColumnName>({
    {"#bytes", kSize},
    {"#iterations", kIterations},
    {"#sl", Columns::kOther},
    {"BW peak[MB/sec]", kPeak},
    {"BW peak[MiB/sec]", kPeak},
    {"BW peak[Gb/sec]", kPeak},
    {"BW average[MB/sec]", kAverage},
    {"BW average[MiB/sec]", kAverage},
    {"BW average[Gb/sec]", kAverage},
    {"MsgRate[Mpps]", kRate},
    {"BW Port1[MB/sec]", Columns::kOther},
    {"BW Port1[MiB/sec]", Columns::kOther},
    {"BW Port1[Gb/sec]", Columns::kOther},
    {"BW Port2[MB/sec]", Columns::kOther},
    {"BW Port2[MiB/sec]", Columns::kOther},
    {"BW Port2[Gb/sec]", Columns::kOther},
    {"MsgRate Port1[Mpps]", Columns::kOther},
    {"MsgRate Port2[Mpps]", Columns::kOther},
    {"t_min[usec]", kMin},
    {"t_max[usec]", kMax},
    {"t_typical[usec]", kTypical},
    {"t_avg[usec]", kMean},
    {"t_stdev[usec]", Columns::kOther},
    {"99% percentile[usec]", kP99},
    {"99.9% percentile[usec]", kP999},
    {"tps average", Columns::kOther},
    {"CPU_Util[%]", kCpu},
});

// What perftest and its helpers for GPUs print around a table.
constexpr auto kNoise = std::to_array<std::string_view>({"local address",
                                                         "remote address",
                                                         "GID:",
                                                         "Waiting for client",
                                                         "Please run the same",
                                                         "************",
                                                         "Conflicting CPU frequency",
                                                         "deallocating",
                                                         "destroying",
                                                         "allocated ",
                                                         "allocating",
                                                         "initializing CUDA",
                                                         "creating CUDA",
                                                         "Listing all",
                                                         "CUDA device",
                                                         "Picking device",
                                                         "[pid",
                                                         "making it",
                                                         "cuMemAlloc",
                                                         "Using ",
                                                         "Connected:",
                                                         "Completed:",
                                                         "Total run time",
                                                         "Perftest v",
                                                         "WARNING:",
                                                         "Disabling dynamic",
                                                         "Port number",
                                                         "Requested mtu",
                                                         "Couldn't",
                                                         "Warning:"});

/// "ib_write_bw" of "/usr/bin/ib_write_bw"; empty where the word is no test of perftest.
std::string_view test_of(std::string_view word) {
  word = word.substr(word.find_last_of('/') + 1);
  const bool named = word.starts_with("ib_") || word.starts_with("raw_ethernet_");
  return named && (word.ends_with("_bw") || word.ends_with("_lat")) ? word : std::string_view();
}

/// The value of "Mtu             : 4096[B]": up to a tab or two blanks, where the next key begins.
std::optional<std::string_view> field(std::string_view text, std::string_view key) {
  const auto rest = after(text, key);
  if (!rest || !rest->starts_with(':')) return std::nullopt;
  const std::string_view value = trim(rest->substr(1));
  return trim(value.substr(0, std::min(value.find('\t'), value.find("  "))));
}

std::string op_of(std::string_view text) {
  std::string verb = "send";
  if (has(text, "RDMA_Write")) verb = "write";
  if (has(text, "RDMA_Read")) verb = "read";
  if (has(text, "Atomic")) verb = "atomic";
  return fmt::format("ib_{}_{}", verb, has(text, "BW") ? "bw" : "lat");
}

}  // namespace

/// "RDMA_Write Bidirectional Post List BW Test".
bool PerftestReader::title(std::string_view text, const Line& line, Scan& scan) {
  const std::string_view verb = first_word(text);
  const bool known = verb.starts_with("RDMA_") || verb == "Send" || verb == "Atomic";
  if (!known || !text.ends_with("Test") || !(has(text, "BW") || has(text, "Lat"))) return false;
  LogRun& run = scan.begin(Tool::kPerftest, line);
  run.op = op_of(text);
  run.bidirectional = has(text, "Bidirectional");
  columns_ = {};
  in_header_ = true;
  return true;
}

bool PerftestReader::parameter(std::string_view text, LogRun& run) const {
  if (const auto device = field(text, "Device")) add_new(run.devices, *device);
  if (const auto qps = field(text, "Number of qps")) run.qps = count_of(*qps);
  if (const auto depth = field(text, "TX depth")) run.tx_depth = count_of(*depth);
  if (const auto mtu = field(text, "Mtu")) run.mtu_b = count_of(*mtu);
  if (const auto link = field(text, "Link type")) run.link_type = *link;
  if (const auto connection = field(text, "Connection type")) {
    run.connection_type = *connection;
    if (*connection == "RawEth") {
      run.op = run.op.ends_with("_bw") ? "raw_ethernet_bw" : "raw_ethernet_lat";
    }
  }
  return in_header_ && has(text, ":");
}

bool PerftestReader::row(const Line& line, Scan& scan) {
  LogRun* run = scan.last(Tool::kPerftest);
  if (run == nullptr || columns_.empty() || !columns_.take(line)) return false;
  LogRow row;
  row.line = line.number;
  row.size = bytes_of(columns_.text(kSize));
  if (!row.size || !whole(columns_.text(kIterations))) return false;
  row.peak_gb_per_s = measured(scaled(columns_.at(kPeak), gb_per_s_));
  row.bandwidth_gb_per_s = measured(scaled(columns_.at(kAverage), gb_per_s_));
  row.messages_per_s = measured(scaled(columns_.at(kRate), 1e6));
  row.latency = {measured(columns_.at(kMin)),  measured(columns_.at(kTypical)),
                 measured(columns_.at(kMean)), measured(columns_.at(kMax)),
                 measured(columns_.at(kP99)),  measured(columns_.at(kP999))};
  row.cpu_pct = measured(columns_.at(kCpu));
  if (!row.bandwidth_gb_per_s && !time_us(row)) return false;
  run->rows.push_back(row);
  return true;
}

Taken PerftestReader::take(const Line& line, Scan& scan) {
  const bool open = scan.table == Tool::kPerftest;
  if (open && row(line, scan)) return Taken::kRead;
  const std::string_view text = trim(line.text);
  if (has(text, "#bytes") && has(text, "#iterations")) {
    LogRun* run = scan.last(Tool::kPerftest);
    if (run == nullptr || !run->rows.empty()) run = &scan.begin(Tool::kPerftest, line);
    if (run->op.empty()) run->op = op_;
    columns_ = Columns(text, kNames);
    gb_per_s_ = has(text, "[Gb/sec]") ? kGbPerGbit : kGbPerMib;
    scan.table = Tool::kPerftest;
    in_header_ = false;
    return Taken::kRead;
  }
  if (title(text, line, scan)) return Taken::kRead;
  LogRun* run = scan.last(Tool::kPerftest);
  if (open && run != nullptr && in_header_ && parameter(text, *run)) return Taken::kRead;
  if (open && std::ranges::any_of(kNoise, [&](auto known) { return text.starts_with(known); })) {
    return Taken::kNoise;
  }
  if (!has(text, "_bw") && !has(text, "_lat")) return Taken::kNo;
  for (const std::string_view word : words_of(text)) {
    if (test_of(word).empty()) continue;
    op_ = test_of(word);
    return Taken::kRead;
  }
  return Taken::kNo;
}

}  // namespace fabricast::calibrate
