#include "calibrate/fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <nlopt.h>

#include "base/error.h"
#include "base/statistics.h"

namespace fabricast::calibrate {

namespace {

// Errors below 1 % are rounded off, so that the sum has no kinks at every row.
constexpr double kKink = 0.01;
constexpr int kEvaluations = 6000;
// A search from where the last one ended leaves a simplex that has collapsed too early.
constexpr int kSearches = 3;
constexpr double kTolerance = 1e-6;
// Curves with steps have more than one valley: the starts are tried as stated and scaled.
constexpr double kScales[] = {1, 0.5, 2};

struct Problem {
  const std::vector<double>& weights;
  const Ratios& ratios;
};

double loss(unsigned count, const double* x, double*, void* data) {
  const Problem& problem = *static_cast<const Problem*>(data);
  const std::vector<double> ratios = problem.ratios(std::vector<double>(x, x + count));
  double sum = 0;
  double weight = 0;
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    const double error = std::log(ratios[i]);
    sum += problem.weights[i] * std::sqrt(error * error + kKink * kKink);
    weight += problem.weights[i];
  }
  return sum / weight;
}

}  // namespace

std::vector<double> fit(const std::vector<Unknown>& unknowns, const std::vector<double>& weights,
                        const Ratios& ratios) {
  Problem problem{weights, ratios};
  std::vector<double> least;
  std::vector<double> most;
  for (const Unknown& u : unknowns) {
    least.push_back(u.least);
    most.push_back(u.most);
  }
  const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> search(
      nlopt_create(NLOPT_LN_SBPLX, static_cast<unsigned>(unknowns.size())), nlopt_destroy);
  nlopt_set_min_objective(search.get(), loss, &problem);
  nlopt_set_lower_bounds(search.get(), least.data());
  nlopt_set_upper_bounds(search.get(), most.data());
  nlopt_set_ftol_rel(search.get(), kTolerance);
  nlopt_set_maxeval(search.get(), kEvaluations);
  std::vector<double> best;
  double least_loss = std::numeric_limits<double>::infinity();
  for (const double scale : kScales) {
    std::vector<double> x;
    for (const Unknown& u : unknowns) x.push_back(std::clamp(u.start * scale, u.least, u.most));
    double reached = 0;
    for (int i = 0; i < kSearches; ++i) {
      const nlopt_result result = nlopt_optimize(search.get(), x.data(), &reached);
      if (result < 0) {
        throw base::failure(
            fmt::format("the fit ended with NLopt's code {}", static_cast<int>(result)));
      }
    }
    if (reached < least_loss) {
      least_loss = reached;
      best = x;
    }
  }
  return best;
}

FitError error_of(const std::vector<double>& ratios) {
  FitError error;
  error.rows = ratios.size();
  if (ratios.empty()) return error;
  std::vector<double> away;
  for (const double ratio : ratios) away.push_back(100 * std::abs(ratio - 1));
  error.median_pct = base::percentile(away, 50);
  error.p90_pct = base::percentile(away, 90);
  error.bias_pct = 100 * (base::percentile(ratios, 50) - 1);
  return error;
}

}  // namespace fabricast::calibrate
