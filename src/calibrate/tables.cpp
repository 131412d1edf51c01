#include "calibrate/tables.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/error.h"
#include "base/read_file.h"

namespace fabricast::calibrate {

namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// RFC 4180: a quoted cell may hold commas, and a quote as two; line breaks in cells are not read.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

int line_of(std::size_t row) {
  return static_cast<int>(row) + 2;  // after the header, counted from 1
}

}  // namespace

Table::Table(const std::string& path) : path_(path) {
  for (const std::string& line : lines_of(base::read_file(path, kMostBytes))) {
    std::vector<std::string> cells = cells_of(line);
    if (header_.empty()) {
      header_ = std::move(cells);
      continue;
    }
    if (cells.size() != header_.size()) {
      throw base::input_error({path, line_of(rows_.size()), 1, ""},
                              fmt::format("{} cells", cells.size()),
                              fmt::format("{}, as the header has", header_.size()));
    }
    rows_.push_back(std::move(cells));
  }
  if (rows_.empty()) {
    throw base::input_error({path, 0, 0, ""}, "a table without rows", "a header and rows");
  }
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
  return rows_[row][column_of(column)];
}

double Table::number(std::size_t row, std::string_view column, double least) const {
  const std::string& cell = text(row, column);
  double value = -1;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || !(value >= least)) {
    throw base::input_error({path_, line_of(row), 1, std::string(column)}, base::quote(cell),
                            fmt::format("a number from {}", least));
  }
  return value;
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
