#pragma once
// Least absolute logarithmic error by NLopt's SBPLX (Rowan 1990), from a stated start, without
// derivatives: the curves have steps. The same input gives the same fit.

#include <functional>
#include <string>
#include <vector>

namespace fabricast::calibrate {

/// A coefficient between bounds, and where the search for it starts.
struct Unknown {
  std::string name;
  double least = 0;
  double most = 0;
  double start = 0;
};

/// Predicted over measured time of every row, given the coefficients in the order of the unknowns.
using Ratios = std::function<std::vector<double>(const std::vector<double>&)>;

/// PRECONDITION: as many weights as rows. Throws base::Error (failure) when the search fails.
std::vector<double> fit(const std::vector<Unknown>& unknowns, const std::vector<double>& weights,
                        const Ratios& ratios);

/// How far predictions are off.
struct FitError {
  std::size_t rows = 0;
  double median_pct = 0;  ///< of |predicted / measured - 1|
  double p90_pct = 0;
  double bias_pct = 0;  ///< median of predicted / measured - 1
};
FitError error_of(const std::vector<double>& ratios);

}  // namespace fabricast::calibrate
