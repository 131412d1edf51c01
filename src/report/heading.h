#pragma once
// What a report is about, in two lines or three: the job and the cluster.

#include <string>

#include "scenario/scenario.h"

namespace fabricast::report {

/// Its parts, one line each whatever their width: the job, the cluster.
std::string work_heading(const scenario::ValidScenario& scenario, bool chinese);
std::string cluster_heading(const scenario::ValidScenario& scenario, bool chinese);

/// Paragraphs of at most 80 cells.
std::string heading(const scenario::ValidScenario& scenario, bool chinese);

}  // namespace fabricast::report
