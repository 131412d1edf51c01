#pragma once
// Packets whose loss nothing but the timeout of the connection tells of: so few that no simulation
// of a phase meets one, and so dear that whoever waits may. Equation: docs/models/training.md,
// "Timeouts".

#include "catalog/fabric_profile.h"
#include "collective/phase.h"

namespace fabricast::collective {

/// How long the connection waits, seconds: 4.096 us x 2^t (IBTA, section 9.7.6.1.3).
double timeout_s(const catalog::FabricProfile& profile);

/// Expected in one run of the phase, all groups; 0 when the fabric has none.
double expected_timeouts(const Phase& phase, const fabric::Fabric& fabric,
                         const catalog::FabricProfile& profile);

}  // namespace fabricast::collective
