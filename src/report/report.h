#pragma once
// The faces of one result: a table for a terminal and JSON for programs (docs/result.schema.json).

#include <string>
#include <vector>

#include "advice/advice.h"

namespace fabricast::report {

struct Comparison {
  const scenario::ValidScenario* scenario = nullptr;
  std::vector<advice::Outcome> outcomes;
  advice::Verdict verdict;
  double peak_rss_mb = 0;
};

struct TerminalOptions {
  bool chinese = false;
  bool stats = false;
};

/// At most 80 cells wide.
std::string terminal(const Comparison& comparison, const TerminalOptions& options);
/// Ends in a newline. Keys as in docs/result.schema.json.
std::string json(const Comparison& comparison);

/// `fabricast catalog`, `fabricast catalog KIND`, `fabricast catalog KIND ID`.
/// Throws base::Error (input) on an unknown kind or id.
std::string catalog_table(const catalog::Catalog& catalog, const std::string& category,
                          const std::string& id);

}  // namespace fabricast::report
