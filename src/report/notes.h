#pragma once
// What has to be known to read the table right, below it: how far extrapolation may be off, what
// the topology came out as, what shares its hardware, how full the memory is.

#include <string>

#include "report/report.h"

namespace fabricast::report {

/// That hosts, and not the network, are the bottleneck: what an adapter gets of its port, and what
/// holds it. `slot` is that of the adapters; `names` the fabrics it is so on, or empty.
std::string host_note(const fabric::HostLimit& limit, base::Rate port, const std::string& slot,
                      const std::string& names, bool chinese);

/// Paragraphs of at most 80 cells, each ending in a newline; empty when there is nothing to say.
std::string notes(const Comparison& comparison, bool chinese);

}  // namespace fabricast::report
