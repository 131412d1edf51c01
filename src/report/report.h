#pragma once
// The faces of one result: a table for a terminal and JSON for programs (docs/result.schema.json).
// Nothing is computed here but sums, units and words.

#include <string>
#include <vector>

#include "advice/advice.h"
#include "advice/claims.h"

namespace fabricast::report {

struct Comparison {
  const scenario::ValidScenario* scenario = nullptr;
  std::vector<advice::Outcome> outcomes;
  advice::Verdict verdict;
  std::vector<advice::Claim> claims;  ///< of the source article; may be empty
  double peak_rss_mb = 0;
};

struct TerminalOptions {
  bool chinese = false;
  bool stats = false;
};

/// At most 80 cells wide; where the fabrics do not fit side by side the table is continued below.
std::string terminal(const Comparison& comparison, const TerminalOptions& options);
/// Ends in a newline. Keys as in docs/result.schema.json.
std::string json(const Comparison& comparison);

/// `fabricast catalog [KIND] [ID]`.
struct CatalogQuery {
  std::string category;  ///< "gpus", "switches", ...; empty: an overview
  std::string id;        ///< empty: all of the category; else an id or an unambiguous beginning
  bool chinese = false;
};

/// At most 80 cells wide. Throws base::Error (input) on an unknown category or id.
std::string catalog_table(const catalog::Catalog& catalog, const CatalogQuery& query);
/// The entries that the query names, every value with its kind and source. Throws as above.
std::string catalog_json(const catalog::Catalog& catalog, const CatalogQuery& query);

}  // namespace fabricast::report
