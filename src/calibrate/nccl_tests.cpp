#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "calibrate/readers.h"

namespace fabricast::calibrate {
namespace {

constexpr std::size_t kMostBroken = 256;

bool not_applicable(std::string_view word) {
  return word == "N/A" || word == "n/a";
}

/// "all_reduce" of "./build/all_reduce_perf" or "all_reduce_perf_mpi"; empty where it is none.
std::string_view op_of(std::string_view word) {
  word = word.substr(word.find_last_of('/') + 1);
  if (word.ends_with("_mpi")) word.remove_suffix(4);
  if (!word.ends_with("_perf")) return {};
  return word.substr(0, word.size() - 5);
}

std::size_t end_of(std::string_view text, std::string_view word) {
  return static_cast<std::size_t>(word.data() - text.data()) + word.size();
}

/// rccl-tests says so itself or shows AMD's GPUs or library.
bool is_rccl(std::string_view text) {
  return text.starts_with("rccl-tests") || has(text, "RCCL version") || has(text, "AMD Instinct");
}

/// A list of ranks that somebody cut contradicts the ratio of busbw to algbw, which is 1, (n-1)/n
/// or 2(n-1)/n of n ranks (nccl-tests doc/PERFORMANCE.md).
bool fits(const Placement& row, int ranks) {
  constexpr double kEnough = 10;  // GB/s, of which two decimals are printed
  if (row.algbw_gb_per_s.value_or(0) < kEnough || !row.busbw_gb_per_s) return true;
  const double ratio = *row.busbw_gb_per_s / *row.algbw_gb_per_s;
  const double share = (ranks - 1.0) / ranks;
  const std::array<double, 3> ratios = {1, share, 2 * share};
  return std::ranges::any_of(ratios, [&](double r) { return std::abs(ratio - r) < 0.004; });
}

bool is_matrix(std::string_view text) {
  return std::ranges::count(text, '|') >= 2 &&
         (has(text, "Function") || has(text, "Broadcast") || has(text, "Reduce") ||
          has(text, "Gather") || has(text, "Scatter"));
}

}  // namespace

LogRun& NcclTestsReader::current(const Line& line, Scan& scan) {
  LogRun* run = scan.last(Tool::kNcclTests);
  if (run == nullptr) run = scan.last(Tool::kRcclTests);
  if (run == nullptr) {
    stage_ = Stage::kNone;
    header_ = {};
    run = &scan.begin(Tool::kNcclTests, line);
    run->op = op_;
  }
  return *run;
}

LogRun& NcclTestsReader::at(Stage stage, const Line& line, Scan& scan) {
  LogRun* run = &current(line, scan);
  if (stage <= stage_) {
    header_ = {};
    run = &scan.begin(Tool::kNcclTests, line);
    run->op = op_;
  }
  stage_ = stage;
  scan.table = run->tool;
  return *run;
}

/// "Rank  0 Group  0 Pid 123 on hostA device  0 [0000:8f:00] NVIDIA B200".
bool NcclTestsReader::device(std::string_view text, LogRun& run) {
  if (!text.starts_with("Rank ")) return false;
  const auto words = words_of(text);
  const auto on = std::ranges::find(words, "on");
  if (words.size() < 2 || on == words.end() || on + 1 == words.end()) return false;
  const auto rank = whole(words[1]);
  if (!rank || *rank < 0 || *rank > 10'000'000) return false;
  run.ranks = std::max(run.ranks.value_or(0), static_cast<int>(*rank) + 1);
  add_new(run.hosts, on[1]);
  const auto bus = after(text, "] ");
  if (bus) add_new(run.devices, *bus);
  if (is_rccl(text)) run.tool = Tool::kRcclTests;
  return true;
}

void NcclTestsReader::header(const Line& line) {
  header_ = {};
  header_.known = true;
  std::vector<std::string_view> times;
  int busbw = 0;
  header_.wrong = false;
  for (const std::string_view word : words_of(line.text)) {
    if (word == "time" || word == "cputime") times.push_back(word);
    if (word == "cputime") header_.cpu_time = true;
    if (word == "busbw") ++busbw;
    if (word == "root") header_.root = true;
    if (word == "#wrong" || word == "error" || word == "wrong") header_.wrong = true;
  }
  header_.placements = std::clamp(busbw, 1, 2);
  if (times.size() > 1) header_.in_place_from = end_of(line.text, times[1]);
  header_.in_place_only =
      header_.placements == 1 && has(above_, "in-place") && !has(above_, "out-of-place");
}

/// What a run says of itself; `text` has no leading `#`.
Taken NcclTestsReader::about_run(std::string_view text, const Line& line, Scan& scan) {
  if (const auto version = after(text, "nccl-tests version ")) {
    LogRun& run = at(Stage::kVersion, line, scan);
    run.version = first_word(*version);
    const auto library = after(text, "nccl-library=");
    if (library && run.nccl.version.empty()) {
      run.nccl.version = nccl_version(count_of(*library).value_or(0));
    }
    return Taken::kRead;
  }
  if (const auto name = after(text, "Collective test starting: ")) {
    op_ = op_of(first_word(*name));
    at(Stage::kStart, line, scan).op = op_;
    return Taken::kRead;
  }
  if (text.starts_with("nThread ") && has(text, "nGpus")) {
    at(Stage::kThreads, line, scan);
    return Taken::kRead;
  }
  if (text.starts_with("rccl-tests")) {
    LogRun& run = current(line, scan);
    run.tool = Tool::kRcclTests;
    const auto version = after(text, "Version ");
    if (version) run.version = first_word(*version);
    return Taken::kRead;
  }
  if (text.starts_with("Using devices")) {
    at(Stage::kDevices, line, scan);
    return Taken::kRead;
  }
  if (const auto average = after(text, "Avg bus bandwidth")) {
    const auto value = after(*average, ":");
    LogRun& run = current(line, scan);
    if (value) run.avg_busbw_gb_per_s = measured(number(first_word(*value)));
    stage_ = Stage::kDone;
    return Taken::kRead;
  }
  if (const auto name = after(text, "Collective test concluded: ")) {
    LogRun& run = current(line, scan);
    if (run.op.empty()) run.op = op_of(first_word(*name));
    op_.clear();
    stage_ = Stage::kDone;
    return Taken::kRead;
  }
  return Taken::kNo;
}

/// A line of NCCL, alone or in the middle of a row whose rest is on the next line.
Taken NcclTestsReader::nccl(const Line& line, Scan& scan) {
  std::size_t at = std::string_view::npos;
  for (const std::string_view mark : {" NCCL INFO ", " NCCL WARN ", " NCCL TRACE "}) {
    at = std::min(at, line.text.find(mark));
  }
  const bool plain = line.text.starts_with("NCCL version") || line.text.starts_with("RCCL version");
  if (at == std::string_view::npos && !plain) {
    const bool amd = line.text.starts_with("HIP version") ||
                     line.text.starts_with("ROCm version") ||
                     line.text.starts_with("Librccl path") || line.text.starts_with("Hostname  ");
    return amd || is_matrix(line.text) ? Taken::kNoise : Taken::kNo;
  }
  LogRun& run = current(line, scan);
  if (is_rccl(line.text)) run.tool = Tool::kRcclTests;
  const auto words = words_of(line.text.substr(0, at));
  if (!plain && words.size() > 3 && whole(words[0]) && whole(words[1]) && !whole(words[2])) {
    // "  8  2  float  sum  -1host:12:34 [0] NCCL INFO ...": the host begins where the root ends.
    const std::size_t first = static_cast<std::size_t>(words[2].data() - line.text.data());
    std::size_t end = line.text.find_first_of("-0123456789", first + words[2].size());
    if (end != std::string_view::npos) {
      ++end;
      while (end < at && std::isdigit(static_cast<unsigned char>(line.text[end])) != 0) ++end;
      if (end < kMostBroken) half_ = line.text.substr(0, end);
    }
  }
  return take_nccl_message(plain ? line.text : line.text.substr(at + 1), run.nccl);
}

std::optional<Placement> NcclTestsReader::placement(const std::vector<std::string_view>& words,
                                                    std::size_t at, bool wrong) const {
  Placement half;
  const auto time = number(words[at]);
  const auto algbw = number(words[at + 1]);
  const auto busbw = number(words[at + 2]);
  if (!time || !algbw || !busbw || *time < 0 || *algbw < 0 || *busbw < 0) return std::nullopt;
  if (!header_.cpu_time) half.time_us = measured(time);
  half.algbw_gb_per_s = algbw;
  half.busbw_gb_per_s = busbw;
  if (!wrong || not_applicable(words[at + 3])) return half;
  const auto count = number(words[at + 3]);
  if (!count || *count < 0 || *count > 9e18) return std::nullopt;
  half.wrong = static_cast<std::int64_t>(*count);
  return half;
}

/// The numbers after type and operation: [root] and one or two halves of three or four.
bool NcclTestsReader::values(const std::vector<std::string_view>& words, LogRow& row) const {
  std::size_t first = 3;
  while (first < words.size() && !number(words[first]) && !not_applicable(words[first])) ++first;
  const std::size_t count = words.size() - first;
  bool wrong = header_.wrong;
  bool root = header_.root;
  if (!header_.known) {
    // Four may be a root and three; a root is a whole number, often -1, and a time is not.
    const bool led = count > 0 && whole(words[first]) && (words[first].starts_with('-'));
    root = count == 9 || count == 5 || count == 7 || (count == 4 && led);
    wrong = (count - (root ? 1 : 0)) % 4 == 0;
  }
  const std::size_t size = wrong ? 4 : 3;
  const std::size_t begin = first + (root ? 1 : 0);
  if (begin >= words.size()) return false;
  const std::size_t halves = (words.size() - begin) / size;
  if ((words.size() - begin) % size != 0 || halves == 0 || halves > 2) return false;
  if (header_.known && halves > static_cast<std::size_t>(header_.placements)) return false;
  auto one = placement(words, begin, wrong);
  if (!one) return false;
  if (halves == 2) {
    row.out_of_place = one;
    row.in_place = placement(words, begin + size, wrong);
    return row.in_place.has_value();
  }
  (half_in_place_ ? row.in_place : row.out_of_place) = one;
  return true;
}

bool NcclTestsReader::row(std::string_view text, const Line& line, Scan& scan) {
  std::vector<std::string_view> words = words_of(text);
  if (words.size() < 6 || words.size() > 24) return false;
  const auto size = bytes_of(words[0]);
  const auto count = whole(words[1]);
  if (!size || !count || *count < 0 || number(words[2])) return false;
  if (std::isalpha(static_cast<unsigned char>(words[2].front())) == 0) return false;
  // A column of dates and times may follow (-S).
  if (has(words.back(), ":") && words.size() > 8) words.resize(words.size() - 2);
  LogRow row;
  row.line = line.number;
  row.size = *size;
  half_in_place_ = header_.in_place_only || (header_.placements == 2 && header_.in_place_from > 0 &&
                                             end_of(text, words.back()) > header_.in_place_from);
  if (!values(words, row)) return false;
  LogRun& run = current(line, scan);
  const Placement& any = row.out_of_place ? *row.out_of_place : *row.in_place;
  if (run.ranks && !fits(any, *run.ranks)) {
    run.ranks.reset();
    run.hosts.clear();
  }
  stage_ = std::max(stage_, Stage::kTable);
  scan.table = run.tool;
  run.rows.push_back(row);
  return true;
}

Taken NcclTestsReader::take(const Line& line, Scan& scan) {
  const Taken said = nccl(line, scan);
  if (said != Taken::kNo) return said;
  if (row(line.text, line, scan)) {
    half_.clear();
    return Taken::kRead;
  }
  if (!half_.empty() && number(first_word(line.text))) {
    joined_ = half_ + ' ' + std::string(line.text);
    half_.clear();
    if (row(joined_, line, scan)) return Taken::kRead;
  }
  std::string_view text = trim(line.text);
  const bool comment = text.starts_with('#');
  if (comment) text = trim(text.substr(1));
  if (has(text, "busbw") && has(text, "algbw") && has(text, "size") && has(text, "count")) {
    at(Stage::kTable, line, scan);
    header(line);
    return Taken::kRead;
  }
  if (has(text, "out-of-place") || (comment && has(text, "in-place"))) {
    above_ = text;
    return Taken::kNoise;
  }
  if (stage_ == Stage::kDevices && device(text, current(line, scan))) return Taken::kRead;
  const Taken about = about_run(text, line, scan);
  if (about != Taken::kNo) return about;
  return !comment && command(text, scan) ? Taken::kRead : Taken::kNo;
}

/// A command line that a shell echoed names the test.
bool NcclTestsReader::command(std::string_view text, Scan& scan) {
  if (!has(text, "_perf")) return false;
  for (const std::string_view word : words_of(text)) {
    if (op_of(word).empty()) continue;
    op_ = op_of(word);
    LogRun* run = scan.last(Tool::kNcclTests);
    if (run != nullptr && run->rows.empty() && run->op.empty()) run->op = op_;
    return true;
  }
  return false;
}

}  // namespace fabricast::calibrate
