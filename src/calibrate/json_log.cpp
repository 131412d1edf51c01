// JSON of nccl-tests (-J, src/util.cu), perftest (--out_json, src/perftest_parameters.c) and iperf3
// (-J, src/iperf_api.c).

#include <algorithm>
#include <cctype>
#include <cmath>

#include <nlohmann/json.hpp>

#include "calibrate/readers.h"

namespace fabricast::calibrate {
namespace {

using nlohmann::json;

constexpr std::size_t kDeepest = 64;

/// Where a document ends, and what would close it if its end is missing.
struct Extent {
  std::size_t size = 0;
  bool whole = false;
  std::string closing;
};

/// Walks brackets outside of strings. A document without its end is cut after the last bracket that
/// closed something, which loses the item that was being written.
Extent extent_of(std::string_view text) {
  Extent extent;
  std::string open;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      open += c == '{' ? '}' : ']';
      if (open.size() > kDeepest) return {};
    } else if (c == '}' || c == ']') {
      if (open.empty() || open.back() != c) return {};
      open.pop_back();
      extent = {i + 1, open.empty(), {open.rbegin(), open.rend()}};
      if (open.empty()) return extent;
    }
  }
  return extent;
}

const json& child(const json& object, const char* key) {
  static const json kNone;
  if (!object.is_object()) return kNone;
  const auto found = object.find(key);
  return found != object.end() ? *found : kNone;
}

std::optional<double> number_at(const json& object, const char* key) {
  const json& value = child(object, key);
  if (!value.is_number()) return std::nullopt;
  const auto number = value.get<double>();
  return std::isfinite(number) && number >= 0 ? std::optional(number) : std::nullopt;
}

std::optional<std::int64_t> whole_at(const json& object, const char* key) {
  const auto value = number_at(object, key);
  if (!value || *value >= 4e18) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::optional<int> count_at(const json& object, const char* key) {
  const auto value = number_at(object, key);
  if (!value || *value < 1 || *value > 1e9) return std::nullopt;
  return static_cast<int>(*value);
}

std::string text_at(const json& object, const char* key) {
  const json& value = child(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::optional<base::Bytes> bytes_at(const json& object, const char* key) {
  const auto value = whole_at(object, key);
  return value ? std::optional(base::Bytes(*value)) : std::nullopt;
}

std::optional<Placement> placement(const json& half) {
  if (!half.is_object()) return std::nullopt;
  Placement read;
  read.time_us = measured(number_at(half, "time"));
  read.algbw_gb_per_s = number_at(half, "alg_bw");
  read.busbw_gb_per_s = number_at(half, "bus_bw");
  read.wrong = whole_at(half, "nwrong");
  return read.busbw_gb_per_s || read.time_us ? std::optional(read) : std::nullopt;
}

void nccl_devices(const json& config, LogRun& run) {
  const json& devices = child(config, "devices");
  int processes = 0;
  for (const json& device : devices) {
    add_new(run.hosts, text_at(device, "hostname"));
    add_new(run.devices, text_at(device, "device_info"));
    if (text_at(device, "device_info").starts_with("AMD")) run.tool = Tool::kRcclTests;
    ++processes;
  }
  // One device of each process is listed.
  const std::int64_t each = static_cast<std::int64_t>(count_at(config, "nthreads").value_or(1)) *
                            count_at(config, "ngpus").value_or(1);
  if (processes > 0 && each < 1'000'000 / processes) {
    run.ranks = static_cast<int>(processes * each);
  }
}

bool nccl_tests(const json& document, const Line& line, Scan& scan) {
  const json& results = child(document, "results");
  if (!results.is_array() || !document.contains("nccl_version")) return false;
  LogRun& run = scan.begin(Tool::kNcclTests, line);
  run.nccl.version = nccl_version(count_at(document, "nccl_version").value_or(0));
  nccl_devices(child(document, "config"), run);
  const json& args = child(document, "args");
  if (args.is_array() && !args.empty() && args.front().is_string()) {
    std::string program = args.front().get<std::string>();
    program.erase(0, program.find_last_of('/') + 1);
    run.op = program.substr(0, program.rfind("_perf"));
  }
  run.avg_busbw_gb_per_s =
      measured(number_at(child(document, "average_bus_bandwidth"), "bandwidth"));
  for (const json& result : results) {
    LogRow row;
    row.line = line.number;
    row.size = bytes_at(result, "size");
    row.out_of_place = placement(child(result, "out_of_place"));
    row.in_place = placement(child(result, "in_place"));
    if (row.size && (row.out_of_place || row.in_place)) run.rows.push_back(row);
  }
  return true;
}

/// The unit is not in the document: it is what the rate of messages of this size comes to. None
/// where no rate says so.
std::optional<double> perftest_unit(const json& results) {
  const auto rate = measured(number_at(results, "MsgRate"));
  const auto average = measured(number_at(results, "BW_average"));
  const auto size = measured(number_at(results, "MsgSize"));
  if (!rate || !average || !size) return std::nullopt;
  const double gb = *rate * 1e6 * *size * 1e-9 / *average;
  for (const double unit : {kGbPerMib, kGbPerGbit}) {
    if (std::abs(gb / unit - 1) < 0.3) return unit;
  }
  return std::nullopt;
}

std::string perftest_op(const std::string& test) {
  std::string op = "ib_send";
  if (test.starts_with("RDMA_Write")) op = "ib_write";
  if (test.starts_with("RDMA_Read")) op = "ib_read";
  if (test.starts_with("Atomic")) op = "ib_atomic";
  return op + (has(test, "BW") ? "_bw" : "_lat");
}

bool perftest(const json& document, const Line& line, Scan& scan) {
  const json& info = child(document, "test_info");
  const json& results = child(document, "results");
  if (!info.is_object() || !results.is_object()) return false;
  const std::string test = text_at(info, "test");
  LogRun& run = scan.begin(Tool::kPerftest, line);
  run.op = perftest_op(test);
  run.bidirectional = has(test, "Bidirectional");
  add_new(run.devices, text_at(info, "Device"));
  run.link_type = text_at(info, "Link_type");
  run.connection_type = text_at(info, "Connection_type");
  run.mtu_b = count_at(info, "Mtu");
  run.qps = count_at(info, "Number_of_qps");
  run.tx_depth = count_at(info, "TX_depth");
  LogRow row;
  row.line = line.number;
  row.size = bytes_at(results, "MsgSize");
  const double unit = perftest_unit(results).value_or(0);
  row.bandwidth_gb_per_s = measured(scaled(number_at(results, "BW_average"), unit));
  row.peak_gb_per_s = measured(scaled(number_at(results, "BW_peak"), unit));
  row.messages_per_s = measured(scaled(number_at(results, "MsgRate"), 1e6));
  row.latency = {measured(number_at(results, "t_min")),
                 measured(number_at(results, "t_typical")),
                 measured(number_at(results, "t_avg")),
                 measured(number_at(results, "t_max")),
                 measured(number_at(results, "percentile_99")),
                 measured(number_at(results, "percentile_99.9"))};
  row.cpu_pct = measured(number_at(results, "CPU_util"));
  if (row.bandwidth_gb_per_s || row.messages_per_s || time_us(row)) run.rows.push_back(row);
  return true;
}

/// A summary of iperf3: the receiver's, with the sender's retransmits.
void iperf3_direction(const json& end, const char* sent, const char* received, const Line& line,
                      LogRun& run) {
  LogRow row;
  row.line = line.number;
  auto rate = measured(number_at(child(end, received), "bits_per_second"));
  if (!rate) rate = measured(number_at(child(end, sent), "bits_per_second"));
  row.bandwidth_gb_per_s = measured(scaled(rate, 1e-9 / 8));
  row.retransmits = whole_at(child(end, sent), "retransmits");
  row.cpu_pct = measured(number_at(child(end, "cpu_utilization_percent"), "host_total"));
  if (row.bandwidth_gb_per_s) run.rows.push_back(row);
}

bool iperf3(const json& document, const Line& line, Scan& scan) {
  const json& end = child(document, "end");
  const json& test = child(child(document, "start"), "test_start");
  if (!end.is_object() || !child(document, "start").is_object()) return false;
  LogRun& run = scan.begin(Tool::kIperf3, line);
  const std::string version = text_at(child(document, "start"), "version");
  run.version = version.starts_with("iperf ") ? version.substr(6) : version;
  run.op = text_at(test, "protocol") == "UDP" ? "udp" : "tcp";
  run.streams = count_at(test, "num_streams");
  run.bidirectional = end.contains("sum_sent_bidir_reverse");
  const bool datagrams = !end.contains("sum_received") && end.contains("sum");
  iperf3_direction(end, datagrams ? "sum" : "sum_sent", "sum_received", line, run);
  iperf3_direction(end, "sum_sent_bidir_reverse", "sum_received_bidir_reverse", line, run);
  return true;
}

}  // namespace

std::size_t read_json(std::string_view text, const Line& line, Scan& scan) {
  const std::size_t begin = text.find('{');
  if (begin == std::string_view::npos) return 0;
  const Extent extent = extent_of(text.substr(begin));
  if (extent.size == 0) return 0;
  std::string closed(text.substr(begin, extent.size));
  closed += extent.closing;
  const json document = json::parse(closed, nullptr, false);
  if (!document.is_object()) return 0;
  const bool known = nccl_tests(document, line, scan) || perftest(document, line, scan) ||
                     iperf3(document, line, scan);
  if (!known) return 0;
  return extent.whole ? begin + extent.size : text.size();
}

}  // namespace fabricast::calibrate
