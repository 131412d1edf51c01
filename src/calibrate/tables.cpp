#include "calibrate/tables.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/error.h"
#include "base/read_file.h"

namespace fabricast::calibrate {

namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;

struct Line {
  int number = 0;  ///< in the file, from 1
  std::string_view text;
};

/// Those that are not blank.
std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) lines.push_back({number, line});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

// RFC 4180: a quoted cell may hold commas, and a quote as two; line breaks in cells are not read.
Table::Row Table::row_of(int number, std::string_view line) {
  Row row{number, {""}, {1}};
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      row.cells.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      row.cells.emplace_back();
      row.columns.push_back(static_cast<int>(i) + 2);
    } else {
      row.cells.back() += c;
    }
  }
  return row;
}

Table::Table(const std::string& path) : path_(path) {
  const std::string text = base::read_file(path, kMostBytes);
  for (const Line& line : lines_of(text)) {
    Row row = row_of(line.number, line.text);
    if (header_.empty()) {
      header_ = std::move(row.cells);
      continue;
    }
    if (row.cells.size() != header_.size()) {
      throw base::input_error({path, line.number, 1, ""}, fmt::format("{} cells", row.cells.size()),
                              fmt::format("{}, as the header has", header_.size()));
    }
    rows_.push_back(std::move(row));
  }
  if (rows_.empty()) {
    throw base::input_error({path, 0, 0, ""}, "a table without rows", "a header and rows");
  }
}

bool Table::has(std::string_view column) const {
  return std::ranges::find(header_, column) != header_.end();
}

base::Location Table::place(std::size_t row, std::string_view column) const {
  return {path_, rows_[row].line, rows_[row].columns[column_of(column)], std::string(column)};
}

std::size_t Table::column_of(std::string_view name) const {
  const auto found = std::ranges::find(header_, name);
  if (found == header_.end()) {
    throw base::input_error({path_, 1, 1, std::string(name)}, "a table without this column",
                            base::one_of(header_), base::near_miss(name, header_));
  }
  return static_cast<std::size_t>(found - header_.begin());
}

const std::string& Table::text(std::size_t row, std::string_view column) const {
  return rows_[row].cells[column_of(column)];
}

double Table::number(std::size_t row, std::string_view column, double least) const {
  const std::string& cell = text(row, column);
  double value = -1;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || !(value >= least)) {
    throw base::input_error(place(row, column), base::quote(cell),
                            fmt::format("a number from {}", least));
  }
  return value;
}

int Table::count(std::size_t row, std::string_view column) const {
  constexpr int kMost = 1'000'000'000;
  const std::string& cell = text(row, column);
  int value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || value < 1 || value > kMost) {
    throw base::input_error(place(row, column), base::quote(cell),
                            fmt::format("a whole number from 1 to {}", kMost));
  }
  return value;
}

std::optional<int> Table::count_if_any(std::size_t row, std::string_view column) const {
  if (!has(column)) return std::nullopt;
  const std::string& cell = text(row, column);
  if (cell.empty() || cell == "n/a") return std::nullopt;
  return count(row, column);
}

std::vector<MeasuredGemm> read_gemms(const std::string& path, std::string_view dtype) {
  const Table table(path);
  std::vector<MeasuredGemm> gemms;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    if (table.text(i, "dtype") != dtype) continue;
    gemms.push_back(
        {{.m = table.number(i, "m", 1), .n = table.number(i, "n", 1), .k = table.number(i, "k", 1)},
         table.number(i, "latency_us", 1e-3) * 1e-6});
  }
  return gemms;
}

std::vector<MeasuredAttention> read_attention(const std::string& path) {
  const Table table(path);
  std::vector<MeasuredAttention> kernels;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    if (table.text(i, "attn_dtype") != "bfloat16" || table.text(i, "kv_dtype") != "bfloat16") {
      continue;
    }
    const double queries = table.number(i, "isl", 1);
    const double dim = table.number(i, "head_dim", 1);
    kernels.push_back({{.batch = table.number(i, "batch", 1),
                        .queries = queries,
                        .keys = queries + table.number(i, "step"),
                        .heads = table.number(i, "q_heads", 1),
                        .kv_heads = table.number(i, "kv_heads", 1),
                        .head_dim = dim,
                        .value_dim = dim},
                       table.number(i, "latency_us", 1e-3) * 1e-6});
  }
  return kernels;
}

std::vector<MeasuredDecode> read_decode(const std::string& path, double memory_gb_per_s) {
  const Table table(path);
  std::vector<MeasuredDecode> kernels;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    if (table.text(i, "kv_dtype") != "bfloat16") continue;
    const MeasuredDecode row = {{.batch = table.number(i, "batch", 1),
                                 .context = table.number(i, "isl", 1) + table.number(i, "step"),
                                 .kv_heads = table.number(i, "kv_heads", 1),
                                 .bytes_per_token = 2 * 2 * table.number(i, "head_dim", 1)},
                                table.number(i, "latency_us", 1e-3) * 1e-6};
    const model::DecodeShape& shape = row.shape;
    const double bytes = shape.batch * shape.context * shape.kv_heads * shape.bytes_per_token;
    if (table.number(i, "q_heads", 1) != shape.kv_heads) continue;
    if (bytes / row.s > memory_gb_per_s * 1e9) continue;
    kernels.push_back(row);
  }
  return kernels;
}

}  // namespace fabricast::calibrate
