#pragma once
// Which entries of the catalogue a query names.

#include <string>
#include <vector>

#include "report/report.h"

namespace fabricast::report {

/// Categories in the order of the catalogue, each once.
std::vector<std::string> categories(const catalog::Catalog& catalog);

/// The entries that `query` names, in the order of the catalogue; all of them for an empty query.
/// Throws base::Error (input) on an unknown category, an unknown id or one that begins several.
std::vector<const catalog::Entry*> select(const catalog::Catalog& catalog,
                                          const CatalogQuery& query);

}  // namespace fabricast::report
