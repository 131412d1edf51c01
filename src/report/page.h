#pragma once
// The report for people who decide: one HTML file with everything in it, for `compare` and
// `advise`. What the page shows is described in web/src/result.ts.

#include <string>

#include "report/advise.h"
#include "report/report.h"

namespace fabricast::report {

struct PageOptions {
  bool chinese = false;
  std::string command;  ///< that writes the report again
  /// With the prices that were used; its values become the table of assumptions.
  const catalog::Catalog* catalog = nullptr;
};

std::string html_page(const Comparison& comparison, const PageOptions& options);
std::string html_page(const AdviseReport& report, const PageOptions& options);

}  // namespace fabricast::report
