#include "calibrate/lines.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

namespace fabricast::calibrate {
namespace {

constexpr std::size_t kMostItems = 4096;

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Past an ANSI sequence that begins at `at`: CSI up to its final byte, OSC up to BEL or the end of
/// the line, anything else two characters.
std::size_t past_escape(std::string_view text, std::size_t at) {
  std::size_t i = at + 1;
  if (i >= text.size()) return i;
  const char kind = text[i++];
  if (kind == '[') {
    while (i < text.size() && text[i] != '\n' && (text[i] < '@' || text[i] > '~')) ++i;
    return i < text.size() && text[i] != '\n' ? i + 1 : i;
  }
  if (kind == ']') {
    while (i < text.size() && text[i] != '\n' && text[i] != '\a') ++i;
    return i < text.size() && text[i] == '\a' ? i + 1 : i;
  }
  return kind == '\n' ? i - 1 : i;
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

/// "[1,0]<stdout>:" at the beginning; 0 where there is none.
std::size_t mpirun_prefix(std::string_view text) {
  if (text.empty() || text[0] != '[') return 0;
  const std::size_t close = text.find("]<std");
  if (close == std::string_view::npos || close > 24) return 0;
  const std::size_t colon = text.find(':', close);
  return colon == std::string_view::npos || colon > close + 12 ? 0 : colon + 1;
}

/// "2026-01-31T10:11:12Z ", "[2026-01-31 10:11:12] ".
std::size_t time_prefix(std::string_view text) {
  const std::size_t begin = !text.empty() && text[0] == '[' ? 1 : 0;
  if (text.size() < begin + 20 || text[begin + 4] != '-' || text[begin + 7] != '-' ||
      text[begin + 13] != ':' || text[begin + 16] != ':') {
    return 0;
  }
  const std::size_t end = text.find(begin == 1 ? ']' : ' ', begin + 19);
  return end == std::string_view::npos || end > begin + 40 ? 0 : end + 1;
}

/// "3: ", "worker-0: ", "[0] ".
std::size_t rank_prefix(std::string_view text) {
  if (text.size() > 3 && text[0] == '[') {
    const std::size_t close = text.find("] ");
    if (close != std::string_view::npos && close < 8 && all_digits(text.substr(1, close - 1))) {
      return close + 2;
    }
    return 0;
  }
  const std::size_t colon = text.find(": ");
  if (colon == std::string_view::npos || colon == 0 || colon > 64) return 0;
  const auto named = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
  };
  return std::ranges::all_of(text.substr(0, colon), named) ? colon + 2 : 0;
}

/// Commas as a reader of English and one of German mean them; see `number`.
std::string without_commas(std::string_view text) {
  const std::size_t comma = text.rfind(',');
  const std::size_t point = text.rfind('.');
  const bool decimal =
      text.find(',') == comma && (point == std::string_view::npos || point < comma);
  std::string plain;
  for (const char c : text) {
    if (c == ',') {
      if (decimal) plain += '.';
    } else if (c != '.' || !decimal) {
      plain += c;
    }
  }
  return plain;
}

}  // namespace

std::string clean(std::string_view text) {
  std::string cleaned;
  cleaned.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\x1b') {
      i = past_escape(text, i);
      continue;
    }
    if (c == '\r') {
      // UTF-16 has a NUL between the two.
      std::size_t next = i + 1;
      while (next < text.size() && text[next] == '\0') ++next;
      if (next >= text.size() || text[next] != '\n') cleaned += '\n';
    } else if (c == '\n' || c == '\t' || (byte >= 0x20 && byte != 0x7f)) {
      cleaned += c;
    }
    ++i;
  }
  for (const std::string_view mark : {"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"}) {
    if (cleaned.starts_with(mark)) cleaned.erase(0, mark.size());
  }
  for (std::size_t i = 0; (i = cleaned.find("\xc2\xa0", i)) != std::string::npos;) {
    cleaned[i] = cleaned[i + 1] = ' ';  // a no-break space, as web pages have it
  }
  return cleaned;
}

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const bool cut = end == std::string_view::npos;
    lines.push_back({static_cast<int>(lines.size()) + 1,
                     text.substr(begin, cut ? std::string_view::npos : end - begin), cut});
    begin = cut ? text.size() : end + 1;
  }
  return lines;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::optional<std::string_view> after(std::string_view text, std::string_view key) {
  const std::size_t found = text.find(key);
  if (found == std::string_view::npos) return std::nullopt;
  return trim(text.substr(found + key.size()));
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < text.size();) {
    while (i < text.size() && is_blank(text[i])) ++i;
    const std::size_t begin = i;
    while (i < text.size() && !is_blank(text[i])) ++i;
    if (i > begin) words.push_back(text.substr(begin, i - begin));
  }
  return words;
}

std::string_view first_word(std::string_view text) {
  text = trim(text);
  return text.substr(0, text.find_first_of(" \t"));
}

std::string_view without_prefix(std::string_view text) {
  for (const auto prefix : {mpirun_prefix, time_prefix, rank_prefix}) {
    const std::size_t length = prefix(text);
    if (length > 0) text.remove_prefix(length);
  }
  return text;
}

std::optional<double> number(std::string_view text) {
  std::string plain;
  if (text.find(',') != std::string_view::npos) {
    plain = without_commas(text);
    text = plain;
  }
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || std::isalpha(static_cast<unsigned char>(text.front())) != 0) {
    return std::nullopt;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::int64_t> whole(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != ',') digits += c;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<int> count_of(std::string_view text) {
  text = trim(text);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 1) return std::nullopt;
  return value;
}

std::optional<base::Bytes> bytes_of(std::string_view text) {
  const auto value = whole(text);
  if (!value || *value < 0 || *value >= (std::int64_t{1} << 62)) return std::nullopt;
  return base::Bytes(*value);
}

std::optional<double> measured(std::optional<double> value) {
  return value && *value > 0 ? value : std::nullopt;
}

std::optional<double> scaled(std::optional<double> value, double factor) {
  if (value) value = *value * factor;
  return value && std::isfinite(*value) ? value : std::nullopt;
}

void add_new(std::vector<std::string>& items, std::string_view item) {
  if (item.empty() || items.size() >= kMostItems || std::ranges::find(items, item) != items.end()) {
    return;
  }
  items.emplace_back(item);
}

Columns::Columns(std::string_view header, std::span<const ColumnName> names) {
  std::string_view rest = trim(header);
  if (rest.starts_with("# ")) rest = trim(rest.substr(1));
  while (!rest.empty()) {
    const auto known = std::ranges::find_if(
        names, [&](const ColumnName& column) { return rest.starts_with(column.name); });
    const int column = known != names.end() ? known->column : kOther;
    if (column != kPart) columns_.push_back(column);
    rest.remove_prefix(known != names.end() ? known->name.size() : first_word(rest).size());
    rest = trim(rest);
  }
}

bool Columns::has(int column) const {
  return std::ranges::find(columns_, column) != columns_.end();
}

bool Columns::take(const Line& line) {
  cells_ = words_of(line.text);
  if (cells_.empty() || cells_.size() != columns_.size() || !number(cells_.front())) return false;
  const std::size_t point = cells_.back().find_first_of(".,");
  const std::size_t decimals =
      point == std::string_view::npos ? 0 : cells_.back().size() - point - 1;
  if (line.cut && decimals < decimals_) return false;
  decimals_ = decimals;
  return true;
}

std::optional<double> Columns::at(int column) const {
  return number(text(column));
}

std::string_view Columns::text(int column) const {
  const auto found = std::ranges::find(columns_, column);
  const auto index = static_cast<std::size_t>(found - columns_.begin());
  return index < cells_.size() ? cells_[index] : std::string_view();
}

}  // namespace fabricast::calibrate
