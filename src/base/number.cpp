#include "base/number.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace fabricast::base {

namespace {

constexpr int kDigits = 3;
constexpr int kMostDigits = 6;

std::string with_separators(double value) {
  std::string digits = fmt::format("{:.0f}", value);
  const int first = value < 0 ? 1 : 0;
  for (int i = static_cast<int>(digits.size()) - 3; i > first; i -= 3) {
    digits.insert(static_cast<std::size_t>(i), 1, ',');
  }
  return digits;
}

/// `number` with more significant digits. PRECONDITION: digits >= 3.
std::string with_digits(double value, int significant) {
  const double size = std::abs(value);
  if (size < 1e-6) return "0";
  if (size >= 999.5) return with_separators(value);
  const int digits = significant - 1 - static_cast<int>(std::floor(std::log10(size)));
  // 9.996 has one digit before the point until it is rounded.
  const int decimals = std::clamp(digits, 0, 8);
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  const bool rounded_up = std::abs(std::stod(text)) >= std::pow(10, significant - decimals);
  return rounded_up && decimals > 0 ? fmt::format("{:.{}f}", value, decimals - 1) : text;
}

}  // namespace

std::string number(double value) {
  return with_digits(value, kDigits);
}

NumberPair distinct_numbers(double first, double second) {
  NumberPair pair;
  for (int digits = kDigits; digits <= kMostDigits; ++digits) {
    pair = {with_digits(first, digits), with_digits(second, digits)};
    if (pair.first != pair.second) break;
  }
  return pair;
}

}  // namespace fabricast::base
