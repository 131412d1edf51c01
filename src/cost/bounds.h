#pragma once
// What a cost may be while every price stays within its band.

#include "cost/cost.h"

namespace fabricast::cost {

struct Band {
  double low = 0;
  double high = 0;
};

/// Ends of the costs of one cluster. Both have every price at the end of its band that makes the
/// cluster cheapest, or dearest: bounds, not a likely range. Costs of two designs move together, so
/// that their bands overlapping says nothing (see sensitivity in advice).
struct Bounds {
  Band network_capex;
  Band capex;
  Band per_hour;
  /// Ends of what is proportional to `per_hour`.
  Band scaled(double value, double value_per_hour) const {
    const double share = value_per_hour > 0 ? value / value_per_hour : 0;
    return {per_hour.low * share, per_hour.high * share};
  }
};

/// Throws as `cost_of` does.
Bounds bounds_of(const catalog::Catalog& catalog, const Bill& bill);

/// The prices that a bill and its cost depend on, in the order of the catalogue: of what is on it,
/// of currencies, and the general parameters.
std::vector<const catalog::Price*> prices_of(const catalog::Catalog& catalog, const Bill& bill);

}  // namespace fabricast::cost
