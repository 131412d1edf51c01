#include <algorithm>
#include <array>
#include <cctype>

#include "calibrate/readers.h"

namespace fabricast::calibrate {
namespace {

enum Column : std::uint8_t { kSize, kAvg, kMin, kMax, kP50, kP99, kBandwidth, kMessages };

constexpr auto kNames = std::to_array<ColumnName>({
    {"Size", kSize},
    {"Avg Latency(us)", kAvg},
    {"Min Latency(us)", kMin},
    {"Max Latency(us)", kMax},
    {"Latency (us)", kAvg},
    {"Latency(us)", kAvg},
    {"Iterations", Columns::kOther},
    {"Bandwidth (MB/s)", kBandwidth},
    {"Bi-Bandwidth (MB/s)", kBandwidth},
    {"MB/s", kBandwidth},
    {"Messages/s", kMessages},
    {"Message Rate", kMessages},
    {"Overall(us)", Columns::kOther},
    {"Compute(us)", Columns::kOther},
    {"Coll. Init(us)", Columns::kOther},
    {"MPI_Test(us)", Columns::kOther},
    {"MPI_Wait(us)", Columns::kOther},
    {"Pure Comm.(us)", kAvg},
    {"Min Comm.(us)", kMin},
    {"Max Comm.(us)", kMax},
    {"Overlap(%)", Columns::kOther},
    {"Validation", Columns::kOther},
    {"P50 Tail Lat(us)", kP50},
    {"P99 Tail Lat(us)", kP99},
    {"Tail Lat(us)", Columns::kPart},
    {"Tail BW(MB/s)", Columns::kPart},
    {"Transmit Size", Columns::kOther},
});

struct Name {
  std::string_view title;
  std::string_view op;
};

// What the titles of the point-to-point tests are the titles of; others are named by their first
// word.
constexpr auto kTests = std::to_array<Name>({
    {"Latency", "osu_latency"},
    {"Bandwidth", "osu_bw"},
    {"Bi-Directional Bandwidth", "osu_bibw"},
    {"Multiple Bandwidth / Message Rate", "osu_mbw_mr"},
    {"Multi Latency", "osu_multi_lat"},
    {"Multi-threaded Latency", "osu_latency_mt"},
    {"Multi-process Latency", "osu_latency_mp"},
    {"All-to-All Personalized Exchange Latency", "osu_alltoall"},
    {"All-to-Allv Personalized Exchange Latency", "osu_alltoallv"},
    {"Broadcast Latency", "osu_bcast"},
});

/// "osu_allreduce" of "OSU MPI-CUDA Allreduce Latency Test v7.5".
std::string op_of(std::string_view title) {
  title = title.substr(0, title.find(" Test"));
  title = trim(title.substr(std::min(title.find(' '), title.size())));
  const std::string_view library = first_word(title);
  // "MPI", "MPI-CUDA"; one-sided tests have the call there: "MPI_Put-CUDA Latency".
  if (library.starts_with("MPI_")) {
    std::string op = "osu_";
    for (const char c : library.substr(4, library.find('-') - 4)) {
      op += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return op + (has(title, "Bandwidth") ? "_bw" : "_latency");
  }
  title = trim(title.substr(library.size()));
  const bool nonblocking = title.starts_with("Non-blocking ");
  if (nonblocking) title = trim(title.substr(13));
  for (const Name& test : kTests) {
    if (test.title != title) continue;
    std::string op(test.op);
    return nonblocking ? "osu_i" + op.substr(4) : op;
  }
  std::string op = nonblocking ? "osu_i" : "osu_";
  for (const char c : first_word(title)) {
    op += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return op;
}

}  // namespace

bool OsuReader::row(const Line& line, LogRun& run) {
  if (columns_.empty() || !columns_.take(line)) return false;
  LogRow row;
  row.line = line.number;
  if (columns_.has(kSize)) {
    row.size = bytes_of(columns_.text(kSize));
    if (!row.size) return false;
  }
  row.latency.avg_us = measured(columns_.at(kAvg));
  row.latency.min_us = measured(columns_.at(kMin));
  row.latency.max_us = measured(columns_.at(kMax));
  row.latency.typical_us = measured(columns_.at(kP50));
  row.latency.p99_us = measured(columns_.at(kP99));
  row.bandwidth_gb_per_s = measured(scaled(columns_.at(kBandwidth), kGbPerMb));
  row.messages_per_s = measured(columns_.at(kMessages));
  if (!row.latency.avg_us && !row.bandwidth_gb_per_s) return false;
  run.rows.push_back(row);
  return true;
}

Taken OsuReader::take(const Line& line, Scan& scan) {
  LogRun* run = scan.last(Tool::kOsu);
  const bool open = run != nullptr && scan.table == Tool::kOsu;
  if (open && row(line, *run)) return Taken::kRead;
  std::string_view text = trim(line.text);
  if (!text.starts_with('#')) return Taken::kNo;
  text = trim(text.substr(1));
  if (text.starts_with("OSU ")) {
    LogRun& begun = scan.begin(Tool::kOsu, line);
    begun.op = op_of(text);
    begun.bidirectional = begun.op == "osu_bibw";
    const std::string_view version = text.substr(std::min(text.rfind(' ') + 1, text.size()));
    if (version.starts_with('v')) begun.version = version.substr(1);
    columns_ = {};
    return Taken::kRead;
  }
  const auto columns = Columns(text, kNames);
  const bool times = columns.has(kAvg) || columns.has(kBandwidth);
  if (times && (columns.has(kSize) || open)) {
    if (!open || (!run->rows.empty() && !columns_.empty() && columns.has(kSize))) {
      // Another table of the same test, of another data type.
      const std::string op = run != nullptr ? run->op : "";
      scan.begin(Tool::kOsu, line).op = op;
    }
    columns_ = columns;
    return Taken::kRead;
  }
  const auto pairs = after(text, "[ pairs: ");
  if (!open || !pairs) return Taken::kNo;
  const auto count = count_of(*pairs);
  if (count && *count < 1'000'000) run->ranks = 2 * *count;
  return Taken::kRead;
}

}  // namespace fabricast::calibrate
