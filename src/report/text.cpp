#include "report/text.h"

#include <algorithm>

#include "base/table.h"

namespace fabricast::report {

namespace {

/// Bytes of the UTF-8 character that starts `text`. PRECONDITION: not empty.
std::size_t character_length(std::string_view text) {
  std::size_t length = 1;
  while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xc0U) == 0x80U) {
    ++length;
  }
  return length;
}

/// The longest beginning of `text` of at most `width` cells, at least one character.
std::string prefix(std::string_view text, int width) {
  std::size_t end = character_length(text);
  while (end < text.size()) {
    const std::size_t next = end + character_length(text.substr(end));
    if (base::display_width(text.substr(0, next)) > width) break;
    end = next;
  }
  return std::string(text.substr(0, end));
}

/// Punctuation that must not begin a line in Chinese typography.
bool closes(std::string_view character) {
  static constexpr std::string_view kClosing[] = {"，", "。", "；", "：", "、", "）", "」",
                                                  "》", "！", "？", "”",  "’",  "％", "."};
  return std::ranges::find(kClosing, character) != std::end(kClosing);
}

/// Punctuation that must not end a line.
bool opens(std::string_view text) {
  static constexpr std::string_view kOpening[] = {"（", "「", "《", "“", "‘"};
  return std::ranges::any_of(kOpening, [&](std::string_view mark) { return text.ends_with(mark); });
}

/// What stays together on a line: a word, or one wide character with the punctuation around it.
struct Piece {
  std::string text;
  bool space_before = false;
};

std::vector<Piece> pieces_of(std::string_view text) {
  std::vector<Piece> pieces;
  bool space = false;
  bool inside_word = false;
  while (!text.empty()) {
    const std::string_view character = text.substr(0, character_length(text));
    text.remove_prefix(character.size());
    if (character == " " || character == "\n") {
      space = true;
      inside_word = false;
      continue;
    }
    const bool wide = base::display_width(character) == 2;
    const bool joins = !pieces.empty() && !space &&
                       (closes(character) || opens(pieces.back().text) || (inside_word && !wide));
    if (joins) {
      pieces.back().text += character;
    } else {
      pieces.push_back({std::string(character), space});
    }
    inside_word = !wide;
    space = false;
  }
  return pieces;
}

}  // namespace

std::vector<std::string> wrap(std::string_view text, int width) {
  std::vector<std::string> lines;
  std::string line;
  const auto finish = [&] {
    lines.push_back(std::move(line));
    line.clear();
  };
  for (Piece& piece : pieces_of(text)) {
    const std::string gap = piece.space_before && !line.empty() ? " " : "";
    if (base::display_width(line + gap + piece.text) <= width) {
      line += gap + piece.text;
      continue;
    }
    if (!line.empty()) finish();
    while (base::display_width(piece.text) > width) {
      line = prefix(piece.text, width);
      piece.text.erase(0, line.size());
      finish();
    }
    line = piece.text;
  }
  if (!line.empty() || lines.empty()) finish();
  return lines;
}

std::string paragraph(std::string_view text, int indent, int width) {
  std::string result;
  for (const std::string& line : wrap(text, width - indent)) {
    result.append(static_cast<std::size_t>(indent), ' ');
    result += line;
    result += '\n';
  }
  return result;
}

std::string shortened(std::string_view text, int width) {
  if (base::display_width(text) <= width) return std::string(text);
  return prefix(text, width - 1) + "…";
}

std::string recompute_text(model::Recompute recompute, bool chinese) {
  switch (recompute) {
    case model::Recompute::kNone:
      break;
    case model::Recompute::kSelective:
      return chinese ? "，选择性重算" : ", selective recompute";
    case model::Recompute::kFull:
      return chinese ? "，重算激活" : ", recompute";
  }
  return "";
}

}  // namespace fabricast::report
