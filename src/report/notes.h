#pragma once
// What has to be known to read the table right, below it: how far extrapolation may be off, what
// the topology came out as, what shares its hardware, how full the memory is.

#include <string>

#include "report/report.h"

namespace fabricast::report {

/// Paragraphs of at most 80 cells, each ending in a newline; empty when there is nothing to say.
std::string notes(const Comparison& comparison, bool chinese);

}  // namespace fabricast::report
