#pragma once
// Words and numbers for people.

#include <string>
#include <string_view>
#include <vector>

namespace fabricast::report {

inline constexpr int kTerminalWidth = 80;

/// Three significant digits without an exponent; whole numbers with separators from 1000 up:
/// "0.00123", "1.23", "12.3", "123", "12,345". Below 1e-6 it is "0".
std::string number(double value);

/// Breaks `text` (UTF-8) into lines of at most `width` cells, at spaces and between wide characters
/// (never before closing or after opening punctuation); a longer word is broken where the line is
/// full.
std::vector<std::string> wrap(std::string_view text, int width);

/// `text` wrapped to the terminal, every line with `indent` spaces in front; ends in a newline.
std::string paragraph(std::string_view text, int indent, int width = kTerminalWidth);

/// The beginning of `text` that takes at most `width` cells, with an ellipsis when it was cut.
std::string shortened(std::string_view text, int width);

}  // namespace fabricast::report
