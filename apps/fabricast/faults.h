#pragma once
// The faults of a scenario or a system on a fabric as built.

#include <cstddef>

#include "fabric/fabric.h"
#include "packet/faults.h"
#include "scenario/scenario.h"

namespace fabricast::apps {

/// What `flows` plays on its schedule. Throws base::Error (input) at the fault that names no link
/// of `fabric`, that of scenario fabric number `choice`, or that this fabric cannot have.
packet::Faults faults_of(const scenario::ValidScenario& scenario, std::size_t choice,
                         const fabric::Fabric& fabric);

/// What a job has to live with from its first step to its last, on one of several fabrics: those
/// without the mechanism that a fault is of do not have it, of which a note tells on standard error
/// unless `quiet`. Throws as above when no fabric of the scenario has it.
packet::Faults standing_faults_of(const scenario::ValidScenario& scenario, std::size_t choice,
                                  const fabric::Fabric& fabric, bool quiet);

}  // namespace fabricast::apps
