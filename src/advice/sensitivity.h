#pragma once
// What would change the verdict: every input moved through its band, one at a time, and where the
// choice turns (docs/models/advice.md, section 3).

#include <optional>
#include <string>
#include <vector>

#include "advice/advice.h"

namespace fabricast::advice {

/// How far the choice is ahead of its rival in cost of the work, in percent of the choice's, with
/// one price at the low end of its band, as it is, and at the high end; below 0 it is behind.
struct Sensitivity {
  std::string input;  ///< id of a price
  std::string name;
  std::string unit;
  double low = 0;
  double likely = 0;
  double high = 0;
  double margin_low_pct = 0;
  double margin_likely_pct = 0;
  double margin_high_pct = 0;
  std::optional<double> flip_at;  ///< up to twenty times the likely price; none: at no price
};

/// What moves the margin most comes first; what does not move it is left out.
std::vector<Sensitivity> sensitivities(const catalog::Catalog& catalog, const Outcome& choice,
                                       const Outcome& rival);

/// Two ways to pay for the same, along something that is not known.
struct BreakEven {
  std::string id;
  Text title;
  Text x_name;
  std::string x_unit;
  std::vector<double> x;
  Text y_name;
  std::string y_unit;
  struct Series {
    Text name;
    std::vector<double> values;
  };
  std::vector<Series> series;
  std::optional<double> crossing;
};

/// Owning against renting a GPU-hour over the share of hours that are used, where the catalogue has
/// a rent for the GPU; and the two networks' total cost over the years that the work goes on.
std::vector<BreakEven> break_evens(const catalog::Catalog& catalog, const std::string& gpu_id,
                                   int gpus, const Outcome& choice, const Outcome* rival);

}  // namespace fabricast::advice
