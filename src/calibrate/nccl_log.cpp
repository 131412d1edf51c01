#include "calibrate/nccl_log.h"

#include <array>
#include <charconv>
#include <optional>
#include <sstream>

#include "base/error.h"
#include "base/read_file.h"

namespace fabricast::calibrate {

namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;

std::optional<double> number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// None where the line is no row.
std::optional<NcclRow> row_of(const std::string& line) {
  const std::vector<std::string> words = words_of(line);
  if (words.size() < 7 || !number(words[0]) || !number(words[1]) || number(words[2])) {
    return std::nullopt;
  }
  // size count type [redop] [root] time algbw busbw wrong [time algbw busbw wrong]: what comes
  // after the words is eight numbers, or four, or as many and a root before them.
  std::size_t first = 3;
  while (first < words.size() && !number(words[first])) ++first;
  if ((words.size() - first) % 4 == 1) ++first;
  if (first >= words.size() || (words.size() - first) % 4 != 0) return std::nullopt;
  const auto time = number(words[first]);
  if (!time) return std::nullopt;
  NcclRow row;
  row.size = base::Bytes(static_cast<std::int64_t>(*number(words[0])));
  row.time_us = *time;
  if (words.size() > first + 4) row.in_place_time_us = number(words[first + 4]).value_or(0);
  return row.size.count() > 0 && row.time_us > 0 ? std::optional(row) : std::nullopt;
}

}  // namespace

std::vector<NcclRow> parse_nccl_log(const std::string& text) {
  std::vector<NcclRow> rows;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (const auto row = row_of(line)) rows.push_back(*row);
  }
  return rows;
}

std::vector<NcclRow> read_nccl_log(const std::string& path) {
  return parse_nccl_log(base::read_file(path, kMostBytes));
}

collective::Op op_named(std::string_view text) {
  using collective::Op;
  std::string letters;
  for (const char c : text) {
    if (c != '_' && c != '-') letters += c;
  }
  static constexpr std::array<std::pair<std::string_view, Op>, 6> kOps = {
      {{"allreduce", Op::kAllReduce},
       {"allgather", Op::kAllGather},
       {"reducescatter", Op::kReduceScatter},
       {"alltoall", Op::kAllToAll},
       {"sendrecv", Op::kSendRecv},
       {"broadcast", Op::kBroadcast}}};
  for (const auto& [name, op] : kOps) {
    if (letters.find(name) != std::string::npos) return op;
  }
  throw base::failure("no collective is named in " + std::string(text));
}

}  // namespace fabricast::calibrate
