#include <algorithm>

#include "calibrate/readers.h"

namespace fabricast::calibrate {
namespace {

constexpr std::size_t kMostSummaries = 4096;

/// GB/s of one unit: bits count in thousands, bytes in 1024 (src/units.c).
std::optional<double> unit_of(std::string_view word) {
  constexpr double kKib = 1024;
  if (word == "bits/sec") return 1e-9 / 8;
  if (word == "Kbits/sec") return 1e-6 / 8;
  if (word == "Mbits/sec") return 1e-3 / 8;
  if (word == "Gbits/sec") return 1.0 / 8;
  if (word == "Tbits/sec") return 1e3 / 8;
  if (word == "Bytes/sec") return 1e-9;
  if (word == "KBytes/sec") return kKib * 1e-9;
  if (word == "MBytes/sec") return kKib * kKib * 1e-9;
  if (word == "GBytes/sec") return kKib * kKib * kKib * 1e-9;
  return std::nullopt;
}

/// "[SUM][TX-C]" at the beginning: the stream, the role, and what follows.
struct Bracketed {
  std::string_view stream;
  std::string_view role;
  std::string_view rest;
};

std::optional<Bracketed> bracketed(std::string_view text) {
  text = trim(text);
  const std::size_t close = text.find(']');
  if (!text.starts_with('[') || close == std::string_view::npos || close > 16) return std::nullopt;
  Bracketed found{trim(text.substr(1, close - 1)), {}, text.substr(close + 1)};
  if (found.rest.starts_with('[')) {
    const std::size_t end = found.rest.find(']');
    if (end == std::string_view::npos || end > 16) return std::nullopt;
    found.role = found.rest.substr(0, end + 1);
    found.rest.remove_prefix(end + 1);
  }
  const bool sum = found.stream == "SUM" || found.stream == "ID";
  return sum || count_of(found.stream) ? std::optional(found) : std::nullopt;
}

}  // namespace

/// "0.00-10.00  sec   109 GBytes  94.0 Gbits/sec  123  sender" after the brackets.
Taken Iperf3Reader::interval(std::string_view text, const Line& line, Scan& scan) {
  const auto parts = bracketed(text);
  if (!parts) return Taken::kNo;
  if (parts->stream == "ID") return Taken::kNoise;
  if (has(parts->rest, " connected to ") || has(parts->rest, " connected with ")) {
    if (scan.last(Tool::kIperf3) == nullptr) scan.begin(Tool::kIperf3, line);
    ++connected_;
    return Taken::kNoise;
  }
  const auto words = words_of(parts->rest);
  const auto rate = std::ranges::find_if(words, [](auto w) { return unit_of(w).has_value(); });
  if (words.size() < 5 || !has(words[0], "-") || rate == words.end() || rate == words.begin()) {
    return Taken::kNo;
  }
  const auto value = scaled(number(*(rate - 1)), *unit_of(*rate));
  if (!value) return Taken::kNo;
  const bool receiver = words.back() == "receiver";
  if (!receiver && words.back() != "sender") return Taken::kNoise;
  if (scan.last(Tool::kIperf3) == nullptr) scan.begin(Tool::kIperf3, line);
  Summary summary;
  summary.role = parts->role;
  summary.stream = parts->stream;
  summary.receiver = receiver;
  summary.row.line = line.number;
  summary.row.bandwidth_gb_per_s = measured(value);
  if (rate + 1 != words.end()) summary.row.retransmits = whole(*(rate + 1));
  LogRun& run = scan.runs.back();
  if (has(parts->rest, " ms ")) {
    run.op = "udp";
    summary.row.retransmits.reset();
  }
  if (summaries_.size() < kMostSummaries) summaries_.push_back(summary);
  return Taken::kRead;
}

/// The summaries of one direction: those of the receiver, with the sender's retransmits.
void Iperf3Reader::rows_of(const std::string& role, LogRun& run) const {
  const bool summed =
      std::ranges::any_of(summaries_, [](const Summary& s) { return s.stream == "SUM"; });
  const auto counts = [&](const Summary& s) {
    return s.role == role && (!summed || s.stream == "SUM");
  };
  const bool received =
      std::ranges::any_of(summaries_, [&](const Summary& s) { return counts(s) && s.receiver; });
  std::optional<std::int64_t> retransmits;
  for (const Summary& summary : summaries_) {
    if (!counts(summary)) continue;
    if (!summary.receiver && !retransmits) retransmits = summary.row.retransmits;
    if (summary.receiver != received || !summary.row.bandwidth_gb_per_s) continue;
    run.rows.push_back(summary.row);
    run.rows.back().retransmits = retransmits;
    run.rows.back().cpu_pct = cpu_pct_;
  }
}

void Iperf3Reader::finish(Scan& scan) {
  const auto last = std::find_if(scan.runs.rbegin(), scan.runs.rend(), [](const LogRun& run) {
    return run.tool == Tool::kIperf3 && run.rows.empty();
  });
  if (last != scan.runs.rend() && !summaries_.empty()) {
    LogRun& run = *last;
    if (run.op.empty()) run.op = "tcp";
    int directions = 0;
    for (const std::string_view role : {"", "[TX-C]", "[RX-C]", "[TX-S]", "[RX-S]"}) {
      const std::size_t before = run.rows.size();
      rows_of(std::string(role), run);
      directions += run.rows.size() > before ? 1 : 0;
    }
    if (!run.streams && directions > 0 && connected_ >= directions) {
      run.streams = connected_ / directions;
    }
    run.bidirectional = directions > 1;
  }
  summaries_.clear();
  cpu_pct_.reset();
  connected_ = 0;
}

Taken Iperf3Reader::take(const Line& line, Scan& scan) {
  const std::string_view text = trim(line.text);
  if (text.starts_with("Connecting to host ") || text.starts_with("Accepted connection from ")) {
    finish(scan);
    scan.begin(Tool::kIperf3, line);
    return Taken::kRead;
  }
  const Taken read = interval(text, line, scan);
  if (read != Taken::kNo) return read;
  LogRun* run = scan.last(Tool::kIperf3);
  if (run == nullptr) {
    const bool server = text.starts_with("Server listening on ") || text.starts_with("iperf 3.");
    return server ? Taken::kNoise : Taken::kNo;
  }
  if (const auto test = after(text, "Starting Test: protocol: ")) {
    run->op = test->starts_with("UDP") ? "udp" : "tcp";
    if (const auto streams = after(*test, ",")) run->streams = count_of(*streams);
    return Taken::kRead;
  }
  if (text.starts_with("CPU Utilization:")) {
    const auto own = after(text, "local/");
    const auto words = own ? words_of(*own) : std::vector<std::string_view>();
    if (words.size() > 1 && words[1].ends_with('%')) {
      cpu_pct_ = measured(number(words[1].substr(0, words[1].size() - 1)));
    }
    return Taken::kRead;
  }
  for (const std::string_view known :
       {"iperf Done.", "iperf 3.", "Server listening on ", "Control connection MSS",
        "Time:", "Cookie:", "TCP MSS:", "Test Complete.", "snd_tcp_congestion",
        "rcv_tcp_congestion", "Linux ", "Reverse mode,", "Target Bitrate:"}) {
    if (text.starts_with(known)) return Taken::kNoise;
  }
  return Taken::kNo;
}

}  // namespace fabricast::calibrate
