#pragma once
// What the readers of logs share: clean lines, words, numbers, and tables under a header.
// Nothing here throws on content, and no time grows faster than the text.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace fabricast::calibrate {

struct Line {
  int number = 0;  ///< from 1
  std::string_view text;
  bool cut = false;  ///< the text ends in it, without a newline
};

/// Lines that are longer are not looked into.
inline constexpr std::size_t kLongestLine = std::size_t{1} << 16;

/// Without what terminals and editors leave: colours (ANSI sequences), NUL and other control
/// characters, byte order marks; every end of a line is a newline, every blank a space or a tab.
std::string clean(std::string_view text);

std::vector<Line> lines_of(std::string_view text);

std::string_view trim(std::string_view text);
bool has(std::string_view text, std::string_view part);
/// What follows `key`, trimmed; none where it is missing.
std::optional<std::string_view> after(std::string_view text, std::string_view key);
std::vector<std::string_view> words_of(std::string_view text);
std::string_view first_word(std::string_view text);
/// Text without what a launcher put before it: `[1,0]<stdout>:` of mpirun, `3: ` of srun, `host: `
/// of pdsh, `[0] ` of Intel MPI, a date and time. The same text where there is nothing such.
std::string_view without_prefix(std::string_view text);

/// A finite number. A comma is a decimal one ("24,70") unless others or a point beside it show
/// that it groups digits ("1,245.5", "1.245,5").
std::optional<double> number(std::string_view text);
/// A whole number; commas group digits.
std::optional<std::int64_t> whole(std::string_view text);
/// A whole number from 1 that fits an int, with what follows its digits left out: "4096[B]".
std::optional<int> count_of(std::string_view text);
/// A number of bytes below 2^62.
std::optional<base::Bytes> bytes_of(std::string_view text);
/// A measured value above 0; tools print 0 where they did not measure.
std::optional<double> measured(std::optional<double> value);
/// `value * factor`; none stays none.
std::optional<double> scaled(std::optional<double> value, double factor);
/// Appends what is not there yet, up to a limit that garbage cannot exceed.
void add_new(std::vector<std::string>& items, std::string_view item);

inline constexpr double kGbPerGbit = 1.0 / 8;
inline constexpr double kGbPerMb = 1e-3;
inline constexpr double kGbPerMib = 1048576e-9;

/// A column by the name that a header prints. Several names may stand for one.
struct ColumnName {
  std::string_view name;
  int column;
};

/// A table whose header names the columns and whose rows have one word in each.
class Columns {
 public:
  static constexpr int kOther = -1;  ///< a column that is passed over
  static constexpr int kPart = -2;   ///< a word that goes on with the column before it

  Columns() = default;
  /// Longer names first where one begins with another.
  Columns(std::string_view header, std::span<const ColumnName> names);

  bool empty() const { return columns_.empty(); }
  bool has(int column) const;
  /// Whether the line has as many words as the table has columns, and a number in the first. A line
  /// that the end of the file cut is none when its last number has fewer decimals than that of the
  /// row before.
  bool take(const Line& line);
  /// Of the line that was taken last.
  std::optional<double> at(int column) const;
  std::string_view text(int column) const;

 private:
  std::vector<int> columns_;
  std::vector<std::string_view> cells_;
  std::size_t decimals_ = 0;
};

}  // namespace fabricast::calibrate
