#include "base/table.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "base/east_asian_width.h"

namespace fabricast::base {

namespace {

constexpr std::string_view kGap = "  ";

/// A decoded character, or one bad byte (`valid` false, `length` 1).
struct Decoded {
  std::uint32_t code_point = 0;
  std::size_t length = 1;
  bool valid = false;
};

/// Decodes the first character of `text` by the table of RFC 3629, section 4: shortest form only,
/// no surrogates, at most U+10FFFF. PRECONDITION: not empty.
Decoded decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {};

  std::uint32_t code_point = lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return {};
    code_point = code_point << 6 | (byte(i) & 0x3fU);
  }
  const std::uint32_t shortest = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
  const bool surrogate = code_point >= 0xd800 && code_point <= 0xdfff;
  if (code_point < shortest || code_point > 0x10ffff || surrogate) return {};
  return {code_point, length, true};
}

bool contains(std::span<const CodePointRange> ranges, std::uint32_t code_point) {
  const auto* after = std::upper_bound(
      ranges.data(), ranges.data() + ranges.size(), code_point,
      [](std::uint32_t value, const CodePointRange& range) { return value < range.first; });
  return after != ranges.data() && code_point <= (after - 1)->last;
}

int cells(const Decoded& character) {
  if (!character.valid) return 1;
  if (character.code_point < 0x300) return 1;  // below it nothing combines and nothing is wide
  if (contains(kZeroWidthRanges, character.code_point)) return 0;
  return contains(kWideRanges, character.code_point) ? 2 : 1;
}

void append_cell(std::string& line, const std::string& cell, int width, Table::Align align) {
  const auto padding = static_cast<std::size_t>(std::max(0, width - display_width(cell)));
  if (align == Table::Align::kRight) line.append(padding, ' ');
  line += cell;
  if (align == Table::Align::kLeft) line.append(padding, ' ');
}

void finish_line(std::string& text, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  text += line;
  text += '\n';
}

}  // namespace

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const Decoded character = decode(text);
    width += cells(character);
    text.remove_prefix(character.length);
  }
  return width;
}

bool valid_utf8(std::string_view text, std::size_t* offset) {
  std::size_t at = 0;
  while (at < text.size()) {
    const Decoded character = decode(text.substr(at));
    if (!character.valid) {
      if (offset != nullptr) *offset = at;
      return false;
    }
    at += character.length;
  }
  return true;
}

Table::Table(std::vector<std::string> header, std::vector<Align> align)
    : header_(std::move(header)), align_(std::move(align)) {
  while (align_.size() < header_.size()) {
    align_.push_back(align_.empty() ? Align::kLeft : Align::kRight);
  }
}

void Table::row(std::vector<std::string> cells) {
  lines_.push_back({false, std::move(cells)});
}

void Table::section(std::string title) {
  lines_.push_back({true, {std::move(title)}});
}

std::string Table::text() const {
  std::vector<int> widths;
  widths.reserve(header_.size());
  for (const std::string& title : header_) widths.push_back(display_width(title));
  for (const Line& line : lines_) {
    if (line.is_section) continue;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(line.cells[i]));
    }
  }

  std::string result;
  const auto append_row = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (i > 0) line += kGap;
      append_cell(line, cells[i], widths[i], align_[i]);
    }
    finish_line(result, std::move(line));
  };

  append_row(header_);
  std::string rule;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (i > 0) rule += kGap;
    rule.append(static_cast<std::size_t>(widths[i]), '-');
  }
  finish_line(result, std::move(rule));
  for (const Line& line : lines_) {
    if (line.is_section) {
      finish_line(result, line.cells.front());
    } else {
      append_row(line.cells);
    }
  }
  return result;
}

}  // namespace fabricast::base
