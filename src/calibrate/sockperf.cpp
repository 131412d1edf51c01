#include <array>

#include "calibrate/readers.h"

namespace fabricast::calibrate {
namespace {

struct Mode {
  std::string_view word;
  std::string_view op;
};

constexpr auto kModes = std::to_array<Mode>({
    {"pp", "ping-pong"},
    {"ping-pong", "ping-pong"},
    {"ul", "under-load"},
    {"under-load", "under-load"},
    {"tp", "throughput"},
    {"throughput", "throughput"},
});

/// The mode in an echoed command line: "sockperf ul -i 10.0.0.1 --mps=1000"; empty: none.
std::string_view mode_of(std::string_view text) {
  const auto rest = after(text, "sockperf ");
  if (!rest) return {};
  const std::string_view word = first_word(*rest);
  for (const Mode& mode : kModes) {
    if (mode.word == word) return mode.op;
  }
  return {};
}

std::optional<base::Bytes> message_size(std::string_view text) {
  for (const std::string_view key : {"msg-size=", "--msg-size ", " -m "}) {
    const auto rest = after(text, key);
    if (!rest) continue;
    const auto count = count_of(*rest);
    if (count) return base::Bytes(*count);
  }
  return std::nullopt;
}

std::optional<double> value_after(std::string_view text, std::string_view key) {
  const auto rest = after(text, key);
  if (!rest) return std::nullopt;
  std::string_view word = rest->substr(0, rest->find_first_of(" ("));
  return measured(number(word));
}

/// "BandWidth is 439.180 MBps (3513.441 Mbps)": sends * size / 2^20, GBps a thousand of those.
std::optional<double> bandwidth(std::string_view text) {
  const auto rest = after(text, "BandWidth is ");
  if (!rest) return std::nullopt;
  const double unit = has(*rest, "GBps") ? 1000 * kGbPerMib : kGbPerMib;
  return measured(scaled(number(first_word(*rest)), unit));
}

}  // namespace

/// The row that is being read; one per server, or per summary of a throughput test.
LogRow& SockperfReader::row(const Line& line, Scan& scan) {
  LogRun* run = scan.last(Tool::kSockperf);
  if (run == nullptr || scan.table != Tool::kSockperf) {
    run = &scan.begin(Tool::kSockperf, line);
    run->op = op_;
    done_ = true;
  }
  if (done_ || run->rows.empty()) {
    LogRow row;
    row.line = line.number;
    row.size = size_;
    run->rows.push_back(row);
    done_ = false;
  }
  return run->rows.back();
}

/// What is not a statistic is noise; the numbers of a row follow one another.
Taken SockperfReader::statistics(std::string_view text, const Line& line, Scan& scan) {
  if (const auto average = after(text, "====> avg-lat")) {
    const auto value = value_after(*average, "=");
    if (!value) return Taken::kNo;
    LogRow& begun = row(line, scan);
    begun.latency.avg_us = value;
    return Taken::kRead;
  }
  for (const std::string_view key : {"Summary: Latency is", "Summary: Round trip is"}) {
    const auto value = value_after(text, key);
    if (!value) continue;
    row(line, scan).latency.avg_us = value;
    scan.runs.back().round_trip = has(key, "Round trip");
    return Taken::kRead;
  }
  if (const auto rate = value_after(text, "Summary: Message Rate is")) {
    row(line, scan).messages_per_s = rate;
    if (scan.runs.back().op.empty()) scan.runs.back().op = "throughput";
    return Taken::kRead;
  }
  if (const auto rate = bandwidth(text)) {
    row(line, scan).bandwidth_gb_per_s = rate;
    done_ = true;
    return Taken::kRead;
  }
  if (!has(text, "--->")) return Taken::kNoise;
  const auto value = value_after(text, "=");
  if (!value || done_) return Taken::kNo;
  Latency& latency = row(line, scan).latency;
  if (has(text, "<MAX>")) latency.max_us = value;
  if (has(text, "<MIN>")) latency.min_us = value;
  const double percentile = value_after(text, "percentile ").value_or(0);
  if (percentile == 50) latency.typical_us = value;
  if (percentile == 99) latency.p99_us = value;
  if (percentile == 99.9) latency.p999_us = value;
  return Taken::kRead;
}

Taken SockperfReader::take(const Line& line, Scan& scan) {
  const std::string_view text = line.text;
  if (!has(text, "sockperf")) {
    // "[ 0] IP = 10.0.0.1  PORT = 11111 # UDP" under "sockperf[CLIENT] send on:".
    return scan.table == Tool::kSockperf && has(text, "] IP = ") ? Taken::kNoise : Taken::kNo;
  }
  if (const std::string_view mode = mode_of(text); !mode.empty()) {
    op_ = mode;
    size_ = message_size(text);
    done_ = true;
    return Taken::kRead;
  }
  if (const auto version = after(text, "== version #")) {
    LogRun& run = scan.begin(Tool::kSockperf, line);
    run.op = op_;
    run.version = first_word(*version);
    done_ = true;
    return Taken::kRead;
  }
  if (const auto size = message_size(text)) {
    size_ = size;
    return Taken::kRead;
  }
  if (has(text, "sockperf[CLIENT]") || has(text, "sockperf[SERVER]")) return Taken::kNoise;
  const auto said = after(text, "sockperf:");
  if (!said) return Taken::kNo;
  if (has(*said, "[Total Run]") || has(*said, "Printing statistics")) done_ = true;
  if (has(*said, "ERROR")) return Taken::kNo;
  return statistics(*said, line, scan);
}

}  // namespace fabricast::calibrate
