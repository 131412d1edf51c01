#include "base/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace fabricast::base {

double mean(const std::vector<double>& sample) {
  if (sample.empty()) return 0;
  double sum = 0;
  for (const double x : sample) sum += x;
  return sum / static_cast<double>(sample.size());
}

double standard_deviation(const std::vector<double>& sample) {
  if (sample.size() < 2) return 0;
  // Two passes: the one-pass sum of squares loses all digits when sigma is far below the mean.
  const double center = mean(sample);
  double squares = 0;
  for (const double x : sample) squares += (x - center) * (x - center);
  return std::sqrt(squares / static_cast<double>(sample.size() - 1));
}

double percentile(std::vector<double> sample, double percent) {
  const double n = static_cast<double>(sample.size());
  // 99.9 % of 1000 must be rank 999 although 99.9 has no exact binary form.
  constexpr double kRoundingSlack = 1e-9;
  const double rank = std::clamp(std::ceil(percent * n / 100 - kRoundingSlack), 1.0, n);
  const auto nth = sample.begin() + static_cast<std::ptrdiff_t>(rank) - 1;
  std::nth_element(sample.begin(), nth, sample.end());
  return *nth;
}

}  // namespace fabricast::base
