#include "base/error.h"

#include <algorithm>
#include <utility>

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

// Names are short; a longer word is no misspelling of one, and the distance is quadratic.
constexpr std::size_t kLongestName = 64;

}  // namespace

std::string Location::text() const {
  std::string result = file;
  if (line > 0) {
    if (!result.empty()) result += ':';
    result += std::to_string(line);
    if (column > 0) result += ':' + std::to_string(column);
  }
  if (!key.empty()) {
    if (!result.empty()) result += ": ";
    result += key;
  }
  return result;
}

Error::Error(ErrorKind kind, Location where, std::string message)
    : kind_(kind),
      where_(std::move(where)),
      message_(std::move(message)),
      text_(full_text(where_, message_)) {}

Error input_error(Location where, std::string_view found, std::string_view allowed,
                  std::string_view near_miss) {
  std::string message = "found ";
  message.append(found).append("; allowed ").append(allowed);
  if (!near_miss.empty()) message.append("; did you mean `").append(near_miss).append("`?");
  return {ErrorKind::kInput, std::move(where), std::move(message)};
}

Error input_error(Location where, std::string message) {
  return {ErrorKind::kInput, std::move(where), std::move(message)};
}

Error failure(std::string message) {
  return {ErrorKind::kFailure, {}, std::move(message)};
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
