#include "scenario/request_trace.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/error.h"
#include "base/read_file.h"
#include "base/yaml.h"

namespace fabricast::scenario {

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // of the file
constexpr double kMostTokens = 1 << 24;

enum class Clock { kSeconds, kMilliseconds, kDate };
struct ArrivalColumn {
  std::string_view name;
  Clock clock;
};
constexpr std::array<ArrivalColumn, 5> kArrivals = {{{"arrival_s", Clock::kSeconds},
                                                     {"arrival_ms", Clock::kMilliseconds},
                                                     {"timestamp", Clock::kMilliseconds},
                                                     {"Timestamp", Clock::kSeconds},
                                                     {"TIMESTAMP", Clock::kDate}}};
constexpr std::array<std::string_view, 5> kInputs = {
    "input_tokens", "input_length", "prompt_tokens", "ContextTokens", "Request tokens"};
constexpr std::array<std::string_view, 5> kOutputs = {
    "output_tokens", "output_length", "completion_tokens", "GeneratedTokens", "Response tokens"};

/// Names and texts of one line.
using Cells = std::vector<std::pair<std::string, std::string>>;

const std::string* find(const Cells& cells, std::string_view name) {
  const auto found = std::ranges::find(cells, name, &Cells::value_type::first);
  return found == cells.end() ? nullptr : &found->second;
}

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  void csv(int line, std::string_view content) {
    const auto cells = base::csv::split(content);
    if (names_.empty()) {
      names_.assign(cells.begin(), cells.end());
      return;
    }
    if (cells.size() != names_.size()) {
      throw base::input_error(at(line, {}), fmt::format("{} columns", cells.size()),
                              fmt::format("{}, as the first line names", names_.size()));
    }
    Cells row;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      row.emplace_back(names_[i], cells[i]);
    }
    add(line, row, {});
  }

  void json(int line, std::string_view content) {
    const base::yaml::Node node = base::yaml::parse(content, file_);
    if (node.kind != base::yaml::Node::Kind::kMapping) {
      throw base::input_error(at(line, {}), "no JSON object", "an object per line");
    }
    Cells row;
    std::vector<std::uint64_t> blocks;
    for (const auto& [key, value] : node.entries) {
      if (value.kind == base::yaml::Node::Kind::kScalar) row.emplace_back(key, value.scalar);
      if (key != "hash_ids") continue;
      for (const base::yaml::Node& id : value.items) {
        blocks.push_back(whole(line, "hash_ids", id.scalar, 1.8e19));
      }
    }
    add(line, row, std::move(blocks));
  }

  RequestTrace finish() {
    if (trace_.requests.empty()) {
      throw base::input_error(at(0, {}), "no request that was answered", "at least one");
    }
    std::ranges::stable_sort(trace_.requests, {}, &TracedRequest::arrival_s);
    const double first = trace_.requests.front().arrival_s;
    for (TracedRequest& request : trace_.requests) request.arrival_s -= first;
    return std::move(trace_);
  }

 private:
  base::Location at(int line, std::string_view column) const {
    return {file_, line, 0, std::string(column)};
  }

  void add(int line, const Cells& row, std::vector<std::uint64_t> blocks) {
    TracedRequest request;
    request.arrival_s = arrival(line, row);
    request.input_tokens = tokens(line, row, kInputs);
    request.output_tokens = tokens(line, row, kOutputs);
    request.blocks = std::move(blocks);
    if (request.input_tokens == 0 || request.output_tokens == 0) {
      ++trace_.without_answer;
      return;
    }
    trace_.requests.push_back(std::move(request));
  }

  double arrival(int line, const Cells& row) const {
    for (const ArrivalColumn& column : kArrivals) {
      const std::string* cell = find(row, column.name);
      if (cell == nullptr) continue;
      if (column.clock == Clock::kDate) return date(line, column.name, *cell);
      const double value = number(line, column.name, *cell, 0, 1e15);
      return column.clock == Clock::kMilliseconds ? value / 1e3 : value;
    }
    std::vector<std::string> names;
    for (const ArrivalColumn& column : kArrivals) names.emplace_back(column.name);
    throw base::input_error(at(line, {}), "no time of arrival", "a column " + base::one_of(names));
  }

  int tokens(int line, const Cells& row, const std::array<std::string_view, 5>& names) const {
    for (const std::string_view name : names) {
      if (const std::string* cell = find(row, name)) {
        return static_cast<int>(whole(line, name, *cell, kMostTokens));
      }
    }
    throw base::input_error(
        at(line, {}), "no number of tokens",
        "a column " + base::one_of(std::vector<std::string>(names.begin(), names.end())));
  }

  double number(int line, std::string_view column, const std::string& cell, double min,
                double max) const {
    double value = 0;
    const auto [stop, problem] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (problem != std::errc() || stop != cell.data() + cell.size() || !(value >= min) ||
        !(value <= max)) {
      throw base::input_error(at(line, column), cell.empty() ? "nothing" : base::quote(cell),
                              fmt::format("a number from {:g} to {:g}", min, max));
    }
    return value;
  }

  std::uint64_t whole(int line, std::string_view column, const std::string& cell,
                      double max) const {
    const double value = number(line, column, cell, 0, max);
    if (value != std::floor(value)) {
      throw base::input_error(at(line, column), base::quote(cell), "a whole number");
    }
    return static_cast<std::uint64_t>(value);
  }

  /// "2023-11-16 18:17:03.9799600", seconds since 1970.
  double date(int line, std::string_view column, const std::string& cell) const {
    int year = 0;
    unsigned month = 0;
    unsigned day = 0;
    int hour = 0;
    int minute = 0;
    double second = 0;
    // NOLINTNEXTLINE(cert-err34-c): the count of what was read is checked, and ranges below
    const int read = std::sscanf(cell.c_str(), "%d-%u-%u%*[ T]%d:%d:%lf", &year, &month, &day,
                                 &hour, &minute, &second);
    const std::chrono::year_month_day when{std::chrono::year(year), std::chrono::month(month),
                                           std::chrono::day(day)};
    if (read != 6 || !when.ok() || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
        !(second >= 0 && second < 61)) {
      throw base::input_error(at(line, column), base::quote(cell),
                              "a date such as `2023-11-16 18:17:03.98`");
    }
    const auto days = std::chrono::sys_days(when).time_since_epoch().count();
    return static_cast<double>(days) * 86400 + hour * 3600.0 + minute * 60.0 + second;
  }

  std::string file_;
  std::vector<std::string> names_;
  RequestTrace trace_;
};

}  // namespace

double RequestTrace::qps() const {
  const double span = requests.empty() ? 0 : requests.back().arrival_s;
  return span > 0 ? static_cast<double>(requests.size() - 1) / span : 0;
}

RequestTrace parse_request_trace(const std::string& text, const std::string& file_name) {
  Reader reader(file_name);
  base::csv::for_each_line(text, [&](int line, std::string_view content) {
    content.front() == '{' ? reader.json(line, content) : reader.csv(line, content);
  });
  return reader.finish();
}

RequestTrace read_request_trace(const std::string& path) {
  return parse_request_trace(base::read_file(path, kMostBytes), path);
}

}  // namespace fabricast::scenario
