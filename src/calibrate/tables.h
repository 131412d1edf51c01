#pragma once
// Measured kernel times as tables: CSV with a header line, one kernel a row, microseconds.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model/kernels.h"

namespace fabricast::calibrate {

/// A table with named columns; cells are text.
class Table {
 public:
  /// Throws base::Error (input) on a file that cannot be read, a row of another length than the
  /// header, or no rows.
  explicit Table(const std::string& path);

  std::size_t rows() const { return rows_.size(); }
  bool has(std::string_view column) const;
  /// Throws base::Error (input) when the file has no such column.
  const std::string& text(std::size_t row, std::string_view column) const;
  /// Throws base::Error (input) on what is no positive number, or no number from `least`.
  double number(std::size_t row, std::string_view column, double least = 0) const;
  /// Throws base::Error (input) on what is no whole number from 1.
  int count(std::size_t row, std::string_view column) const;
  /// The same; none where the cell is empty or "n/a", or the table has no such column.
  std::optional<int> count_if_any(std::size_t row, std::string_view column) const;
  /// Where a cell stands.
  base::Location place(std::size_t row, std::string_view column) const;

 private:
  struct Row {
    int line = 0;
    std::vector<std::string> cells;
    std::vector<int> columns;  ///< where each begins, from 1
  };
  static Row row_of(int number, std::string_view line);
  std::size_t column_of(std::string_view name) const;
  std::string path_;
  std::vector<std::string> header_;
  std::vector<Row> rows_;
};

struct MeasuredGemm {
  model::GemmShape shape;
  double s = 0;
};
/// Columns dtype, m, n, k, latency_us; the rows of one dtype.
std::vector<MeasuredGemm> read_gemms(const std::string& path, std::string_view dtype);

struct MeasuredAttention {
  model::AttentionShape shape;
  double s = 0;
};
/// Columns attn_dtype, kv_dtype, batch, isl, step, q_heads, kv_heads, head_dim, latency_us; the
/// rows in bf16 throughout.
std::vector<MeasuredAttention> read_attention(const std::string& path);

struct MeasuredDecode {
  model::DecodeShape shape;
  double s = 0;
};
/// The same columns, `isl + step` tokens cached. Left out is what contradicts itself: rows whose
/// keys and values, read once, would take more than `memory_gb_per_s`, and grouped heads, whose
/// rows in the table at hand read half of what they must.
std::vector<MeasuredDecode> read_decode(const std::string& path, double memory_gb_per_s);

}  // namespace fabricast::calibrate
