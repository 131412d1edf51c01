#pragma once
// The faces of `fabricast advise`: the verdict over all networks that could be built.

#include <optional>
#include <string>
#include <vector>

#include "advice/assessment.h"
#include "advice/designs.h"
#include "advice/sensitivity.h"
#include "report/report.h"

namespace fabricast::report {

/// A design that was found, with what it does.
struct DesignReport {
  advice::Candidate candidate;
  std::optional<advice::Outcome> outcome;  ///< none of what cannot be built
  std::optional<advice::Assessment> assessment;
  bool flow = true;  ///< simulated at flow level alone
  bool pareto = false;
  bool chosen = false;
};

/// One step of tuning, on the same hardware.
struct TuningStep {
  std::string name;
  advice::Text text;
  double gain_pct = 0;  ///< of the time, against the step before; below 0 is faster
  advice::Outcome outcome;
};

/// How work grows with GPUs, per kind of fabric; no value where nothing can be built.
struct Scaling {
  std::vector<int> gpus;
  struct Series {
    std::string name;
    std::vector<std::optional<double>> values;
  };
  std::vector<Series> series;
};

struct AdviseReport {
  Comparison comparison;  ///< of the best design of each kind; without outcomes where none does
  /// What was asked, in words, where there is no scenario that can be run.
  std::string subject;
  std::optional<advice::Text> nothing;  ///< why there is no design
  std::vector<DesignReport> designs;    ///< that can be built come first, best first
  std::vector<TuningStep> tuning;
  Scaling scaling;
  std::string rival;  ///< that the sensitivities hold the choice against
  std::vector<advice::Sensitivity> sensitivities;
  std::vector<advice::BreakEven> break_evens;
};

/// At most 80 cells wide and 40 lines.
std::string advise_table(const AdviseReport& report, bool chinese);
/// Keys as in docs/advise.schema.json.
std::string advise_json(const AdviseReport& report);

}  // namespace fabricast::report
