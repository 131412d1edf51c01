#pragma once
// Sample statistics, one definition for the whole program.

#include <vector>

namespace fabricast::base {

/// 0 for an empty sample.
double mean(const std::vector<double>& sample);
/// Sample standard deviation (n - 1); 0 for fewer than two values.
double standard_deviation(const std::vector<double>& sample);
/// Nearest-rank percentile, `percent` in (0, 100]; sorts a copy. PRECONDITION: not empty.
double percentile(std::vector<double> sample, double percent);

}  // namespace fabricast::base
