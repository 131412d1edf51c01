#include "base/error.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/table.h"

namespace fabricast::base {

namespace {

std::string full_text(const Location& where, const std::string& message) {
  const std::string place = where.text();
  return place.empty() ? message : place + ": " + message;
}

/// Damerau-Levenshtein distance in its "optimal string alignment" form: insertions, deletions,
/// substitutions and swaps of neighbours each cost 1.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substitution});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

constexpr std::size_t kLongestQuote = 60;

/// Bytes at the start of `text` that would act on a terminal, or be drawn over other text; 0: none.
std::size_t acting_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  if (byte(0) < 0x20 || byte(0) == 0x7f) return 1;
  if (byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) <= 0x9f) return 2;  // C1
  // U+2028 to U+202E end a line or set the direction of writing, U+2066 to U+2069 set it too.
  if (byte(0) == 0xe2 && byte(1) == 0x80 && byte(2) >= 0xa8 && byte(2) <= 0xae) return 3;
  if (byte(0) == 0xe2 && byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9) return 3;
  return 0;
}

void append_escaped(std::string& result, std::string_view bytes) {
  for (const char c : bytes) result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
}

/// The same of text that is UTF-8.
void append_printable(std::string& result, std::string_view text) {
  while (!text.empty()) {
    const std::size_t acting = acting_bytes(text);
    if (acting > 0) {
      append_escaped(result, text.substr(0, acting));
    } else {
      result += text[0];
    }
    text.remove_prefix(std::max<std::size_t>(acting, 1));
  }
}

// Names are short; a longer word is no misspelling of one, and the distance is quadratic.
constexpr std::size_t kLongestName = 64;

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  std::size_t bad = 0;
  while (!valid_utf8(text, &bad)) {
    append_printable(result, text.substr(0, bad));
    append_escaped(result, text.substr(bad, 1));
    text.remove_prefix(bad + 1);
  }
  append_printable(result, text);
  return result;
}

std::string quote(std::string_view text) {
  std::size_t end = std::min(text.size(), kLongestQuote);
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) {
    --end;  // not inside a character
  }
  return '`' + printable(text.substr(0, end)) + (end < text.size() ? "...`" : "`");
}

std::string Location::text() const {
  std::string result = printable(file);
  if (line > 0) {
    if (!result.empty()) result += ':';
    result += std::to_string(line);
    if (column > 0) result += ':' + std::to_string(column);
  }
  if (!key.empty()) {
    if (!result.empty()) result += ": ";
    result += printable(key);
  }
  return result;
}

Error::Error(ErrorKind kind, Location where, std::string_view message)
    : kind_(kind),
      where_(std::move(where)),
      message_(printable(message)),
      text_(full_text(where_, message_)) {}

Error input_error(Location where, std::string_view found, std::string_view allowed,
                  std::string_view near_miss) {
  std::string message = "found ";
  message.append(found).append("; allowed ").append(allowed);
  if (!near_miss.empty()) message.append("; did you mean `").append(near_miss).append("`?");
  return {ErrorKind::kInput, std::move(where), message};
}

Error input_error(Location where, std::string_view message) {
  return {ErrorKind::kInput, std::move(where), message};
}

Error failure(std::string_view message) {
  return {ErrorKind::kFailure, {}, message};
}

namespace {

std::string letters_and_digits(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) result += c;
    if (c >= 'A' && c <= 'Z') result += static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

}  // namespace

std::string near_miss(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.empty() || word.size() > kLongestName) return {};
  // The start of one name, punctuation aside, says more than a short distance to another:
  // "h100sxm" means `h100-sxm-80gb` and not `h200-sxm`.
  const std::string start = letters_and_digits(word);
  const std::string* started = nullptr;
  int matches = 0;
  for (const std::string& candidate : candidates) {
    if (start.size() < 3 || !letters_and_digits(candidate).starts_with(start)) continue;
    started = &candidate;
    ++matches;
  }
  if (matches == 1) return *started;

  const std::string* best = nullptr;
  std::size_t best_distance = word.size() / 3 + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestName) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best = &candidate;
      best_distance = distance;
    }
  }
  if (best != nullptr) return *best;

  const std::string* prefixed = nullptr;
  for (const std::string& candidate : candidates) {
    if (!std::string_view(candidate).starts_with(word)) continue;
    if (prefixed != nullptr) return {};
    prefixed = &candidate;
  }
  return prefixed == nullptr ? std::string() : *prefixed;
}

std::string one_of(const std::vector<std::string>& choices) {
  std::string result;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (i > 0) result += i + 1 == choices.size() ? " or " : ", ";
    result += '`' + choices[i] + '`';
  }
  return result;
}

}  // namespace fabricast::base
