#pragma once
// Words and numbers for people.

#include <string>
#include <string_view>
#include <vector>

#include "base/number.h"
#include "model/model.h"

namespace fabricast::report {

inline constexpr int kTerminalWidth = 80;

using base::number;

/// Breaks `text` (UTF-8) into lines of at most `width` cells, at spaces and between wide characters
/// (never before closing or after opening punctuation); a longer word is broken where the line is
/// full.
std::vector<std::string> wrap(std::string_view text, int width);

/// `text` wrapped to the terminal, every line with `indent` spaces in front; ends in a newline.
std::string paragraph(std::string_view text, int indent, int width = kTerminalWidth);

/// ", recompute" behind a layout; empty without.
std::string recompute_text(model::Recompute recompute, bool chinese);

/// The beginning of `text` that takes at most `width` cells, with an ellipsis when it was cut.
std::string shortened(std::string_view text, int width);

}  // namespace fabricast::report
