#pragma once
// A table for terminals: columns align whatever the script (a Chinese character is two cells wide,
// a combining mark none), numbers to the right, text to the left.

#include <string>
#include <string_view>
#include <vector>

namespace fabricast::base {

/// Cells that `text` (UTF-8) takes on a terminal: wide East Asian characters 2, combining marks 0
/// (Unicode Standard Annex 11). Invalid bytes count 1.
int display_width(std::string_view text);

/// True when `text` is well-formed UTF-8 (RFC 3629); else sets `offset` to the first bad byte.
bool valid_utf8(std::string_view text, std::size_t* offset = nullptr);

class Table {
 public:
  enum class Align { kLeft, kRight };

  /// The first column is left-aligned, the others right-aligned, unless `align` says otherwise.
  explicit Table(std::vector<std::string> header, std::vector<Align> align = {});

  /// PRECONDITION: as many cells as the header has.
  void row(std::vector<std::string> cells);
  /// A line of its own across the table, between groups of rows.
  void section(std::string title);
  /// Lines end in '\n'; no trailing spaces.
  std::string text() const;

 private:
  struct Line {
    bool is_section = false;
    std::vector<std::string> cells;
  };
  std::vector<std::string> header_;
  std::vector<Align> align_;
  std::vector<Line> lines_;
};

}  // namespace fabricast::base
