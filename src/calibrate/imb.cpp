#include <array>
#include <cmath>

#include "calibrate/readers.h"

namespace fabricast::calibrate {
namespace {

enum Column : std::uint8_t { kSize, kRepetitions, kTime, kMin, kMax, kAvg, kBandwidth, kMessages };

// IMB_print_header.
constexpr auto kNames = std::to_array<ColumnName>({
    {"Group", Columns::kOther},
    {"#bytes", kSize},
    {"#repetitions", kRepetitions},
    {"t[usec]", kTime},
    {"t_min[usec]", kMin},
    {"t_max[usec]", kMax},
    {"t_avg[usec]", kAvg},
    {"t_pure[usec]", kTime},
    {"t_ovrl[usec]", Columns::kOther},
    {"t_CPU[usec]", Columns::kOther},
    {"overlap[%]", Columns::kOther},
    {"Mbytes/sec", kBandwidth},
    {"Msg/sec", kMessages},
    {"defects", Columns::kOther},
});

/// Older versions count 2^20 bytes: size over time is then 1, 2 or 4 times (Sendrecv and
/// Exchange count both directions) what is printed, and 1.0486 times that otherwise.
double gb_per_s(const Columns& columns, double size, double time) {
  const auto printed = columns.at(kBandwidth);
  if (!printed || *printed < 1 || time < 10 || size < 1) return kGbPerMb;
  const double rate = size / time;  // MB/s
  for (const double directions : {1.0, 2.0, 4.0}) {
    if (std::abs(rate * directions / *printed / (kGbPerMib / kGbPerMb) - 1) < 0.01) {
      return kGbPerMib;
    }
  }
  return kGbPerMb;
}

}  // namespace

bool ImbReader::row(const Line& line, LogRun& run) {
  if (columns_.empty() || !columns_.take(line)) return false;
  LogRow row;
  row.line = line.number;
  if (columns_.has(kSize)) {
    row.size = bytes_of(columns_.text(kSize));
    if (!row.size) return false;
  }
  if (!whole(columns_.text(kRepetitions))) return false;
  row.latency.min_us = measured(columns_.at(kMin));
  row.latency.max_us = measured(columns_.at(kMax));
  row.latency.avg_us = measured(columns_.at(columns_.has(kTime) ? kTime : kAvg));
  row.messages_per_s = measured(columns_.at(kMessages));
  const double slowest = row.latency.max_us.value_or(row.latency.avg_us.value_or(0));
  const double size = row.size ? static_cast<double>(row.size->count()) : 0;
  row.bandwidth_gb_per_s =
      measured(scaled(columns_.at(kBandwidth), gb_per_s(columns_, size, slowest)));
  if (!row.latency.avg_us && !row.bandwidth_gb_per_s) return false;
  run.rows.push_back(row);
  return true;
}

Taken ImbReader::take(const Line& line, Scan& scan) {
  LogRun* run = scan.last(Tool::kImb);
  const bool open = run != nullptr && scan.table == Tool::kImb;
  if (open && row(line, *run)) return Taken::kRead;
  std::string_view text = trim(line.text);
  if (has(text, "#repetitions")) {
    const auto columns = Columns(text, kNames);
    if (!columns.has(kTime) && !columns.has(kAvg) && !columns.has(kBandwidth)) return Taken::kNo;
    if (!open || !run->rows.empty()) scan.begin(Tool::kImb, line);
    columns_ = columns;
    return Taken::kRead;
  }
  // A size that was left out.
  if (open &&
      (has(text, " out-of-mem.") || has(text, " int-overflow.") || has(text, " time-out."))) {
    return Taken::kNoise;
  }
  if (!text.starts_with('#')) return Taken::kNo;
  text = trim(text.substr(1));
  if (const auto name = after(text, "Benchmarking ")) {
    LogRun& begun = scan.begin(Tool::kImb, line);
    begun.op = first_word(*name);
    begun.bidirectional = begun.op == "Sendrecv" || begun.op == "Exchange";
    columns_ = {};
    return Taken::kRead;
  }
  const auto processes = after(text, "#processes = ");
  if (!open || !processes) return Taken::kNo;
  run->ranks = count_of(*processes);
  return Taken::kRead;
}

}  // namespace fabricast::calibrate
