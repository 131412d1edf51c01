#include "calibrate/log.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/read_file.h"
#include "calibrate/readers.h"

namespace fabricast::calibrate {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20;
constexpr std::size_t kShownLines = 8;
constexpr std::size_t kShownBytes = 120;
constexpr int kMostBrokenDocuments = 16;
constexpr std::string_view kRead =
    "output of nccl-tests, rccl-tests, perftest, the OSU or Intel MPI benchmarks, sockperf or "
    "iperf3, or a table (CSV) with columns such as size, time_us, busbw, latency_us, "
    "bandwidth_gbps";

/// The readers of one log, and what it has come to.
class Reading {
 public:
  explicit Reading(const std::string& name) { log_.name = name; }

  Log all(const std::vector<Line>& lines, std::string_view text) {
    log_.lines = static_cast<int>(lines.size());
    std::size_t next = 0;
    while (next < lines.size()) next = step(lines, next, text);
    iperf3_.finish(scan_);
    log_.runs = std::move(scan_.runs);
    return std::move(log_);
  }

 private:
  /// Reads from a line; returns the next one.
  std::size_t step(const std::vector<Line>& lines, std::size_t at, std::string_view text) {
    const Line& line = lines[at];
    if (trim(line.text).starts_with('{') && broken_ < kMostBrokenDocuments) {
      const auto begin = static_cast<std::size_t>(line.text.data() - text.data());
      const std::size_t length = read_json(text.substr(begin), line, scan_);
      if (length > 0) return past(lines, at, begin + length, text);
      ++broken_;
    }
    if (scan_.runs.empty() && is_csv_header(line.text)) {
      const auto strange = read_csv(lines, at, scan_, log_.unknown_columns);
      for (const Line& other : strange) none(other);
      return lines.size();
    }
    count(line, take(line));
    return at + 1;
  }

  static std::size_t past(const std::vector<Line>& lines, std::size_t at, std::size_t offset,
                          std::string_view text) {
    while (at < lines.size() &&
           static_cast<std::size_t>(lines[at].text.data() - text.data()) < offset) {
      ++at;
    }
    return at;
  }

  Taken take(const Line& line) {
    if (line.text.size() > kLongestLine) return Taken::kNo;
    const Taken taken = offer(line);
    if (taken != Taken::kNo) return taken;
    Line bare = line;
    bare.text = without_prefix(line.text);
    return bare.text.size() == line.text.size() ? Taken::kNo : offer(bare);
  }

  Taken offer(const Line& line) {
    Taken taken = nccl_.take(line, scan_);
    if (taken == Taken::kNo) taken = perftest_.take(line, scan_);
    if (taken == Taken::kNo) taken = osu_.take(line, scan_);
    if (taken == Taken::kNo) taken = imb_.take(line, scan_);
    if (taken == Taken::kNo) taken = sockperf_.take(line, scan_);
    if (taken == Taken::kNo) taken = iperf3_.take(line, scan_);
    return taken;
  }

  void count(const Line& line, Taken taken) {
    if (taken == Taken::kRead) return;
    if (taken == Taken::kNoise) {
      ++log_.noise;
    } else {
      none(line);
    }
  }

  /// A line of no reader: blank, drawn, a comment, or unknown.
  void none(const Line& line) {
    const std::string_view bare = trim(without_prefix(line.text));
    if (bare.starts_with('#') || bare.find_first_not_of("-=*_.~+ \t") == std::string_view::npos) {
      ++log_.noise;
      return;
    }
    ++log_.unknown;
    if (log_.first_unknown.size() < kShownLines) {
      log_.first_unknown.push_back(
          {line.number, base::printable(trim(line.text).substr(0, kShownBytes))});
    }
  }

  Log log_;
  Scan scan_;
  int broken_ = 0;
  NcclTestsReader nccl_;
  PerftestReader perftest_;
  OsuReader osu_;
  ImbReader imb_;
  SockperfReader sockperf_;
  Iperf3Reader iperf3_;
};

/// Hosts give nodes, nodes and ranks give GPUs per node.
void complete(LogRun& run) {
  if (run.nccl.ranks && (!run.ranks || *run.ranks < *run.nccl.ranks)) run.ranks = run.nccl.ranks;
  if (!run.nodes && run.nccl.nodes) run.nodes = run.nccl.nodes;
  if (!run.nodes && run.ranks && !run.hosts.empty()) {
    run.nodes = static_cast<int>(run.hosts.size());
  }
  const bool gpus =
      run.tool == Tool::kNcclTests || run.tool == Tool::kRcclTests || run.tool == Tool::kCsv;
  if (gpus && run.nodes && run.ranks && *run.ranks % *run.nodes == 0) {
    run.gpus_per_node = *run.ranks / *run.nodes;
  }
}

std::string found_in(const Log& log) {
  std::string found = "no measurements";
  if (!log.runs.empty()) {
    found = fmt::format("a header of {} without a row", name_of(log.runs.front().tool));
  }
  if (!log.first_unknown.empty()) {
    found +=
        fmt::format(" ({} lines are not understood, first line {}: {})", log.unknown,
                    log.first_unknown.front().number, base::quote(log.first_unknown.front().text));
  }
  return found;
}

}  // namespace

std::string_view name_of(Tool tool) {
  switch (tool) {
    case Tool::kNcclTests:
      return "nccl-tests";
    case Tool::kRcclTests:
      return "rccl-tests";
    case Tool::kPerftest:
      return "perftest";
    case Tool::kOsu:
      return "osu";
    case Tool::kImb:
      return "imb";
    case Tool::kSockperf:
      return "sockperf";
    case Tool::kIperf3:
      return "iperf3";
    case Tool::kCsv:
      return "csv";
  }
  return "";
}

std::optional<double> time_us(const LogRow& row) {
  if (row.out_of_place && row.out_of_place->time_us) return row.out_of_place->time_us;
  if (row.in_place && row.in_place->time_us) return row.in_place->time_us;
  return row.latency.typical_us ? row.latency.typical_us : row.latency.avg_us;
}

LogRun& Scan::begin(Tool tool, const Line& line) {
  LogRun run;
  run.tool = tool;
  run.line = line.number;
  runs.push_back(std::move(run));
  table = tool;
  return runs.back();
}

LogRun* Scan::last(Tool tool) {
  return !runs.empty() && runs.back().tool == tool ? &runs.back() : nullptr;
}

Log parse_log(std::string_view text, const std::string& name) {
  const std::string cleaned = clean(text);
  Log log = Reading(name).all(lines_of(cleaned), cleaned);
  bool told = false;
  for (LogRun& run : log.runs) {
    complete(run);
    told = told || !run.rows.empty() || any(run.nccl);
  }
  if (!told) throw base::input_error({name, 0, 0, ""}, found_in(log), kRead);
  const auto measured =
      std::ranges::find_if(log.runs, [](const LogRun& r) { return !r.rows.empty(); });
  log.tool = measured != log.runs.end() ? measured->tool : log.runs.front().tool;
  return log;
}

Log read_log(const std::string& path) {
  return parse_log(base::read_file(path, kMostBytes), path);
}

}  // namespace fabricast::calibrate
