#pragma once
// What a report is about, in two lines or three: the job and the cluster.

#include <string>

#include "scenario/scenario.h"

namespace fabricast::report {

/// PRECONDITION: the scenario holds a TrainingSpec.
std::string heading(const scenario::ValidScenario& scenario, bool chinese);

}  // namespace fabricast::report
