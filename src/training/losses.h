#pragma once
// Packets whose loss nothing but the timeout of the connection tells of: so few that no simulation
// of a phase meets one, and so dear that a step may. Equation: docs/models/training.md, "Timeouts".

#include <vector>

#include "catalog/fabric_profile.h"
#include "fabric/fabric.h"
#include "training/plan.h"

namespace fabricast::training {

/// How long the connection waits, seconds: 4.096 us x 2^t (IBTA, section 9.7.6.1.3).
double timeout_s(const catalog::FabricProfile& profile);

/// Expected timeouts of each phase, in what one draw of it stands for: a bucket in all groups of a
/// stage, a transfer between two stages of a replica, a collective in a stage of a replica. Empty
/// when the fabric has none.
std::vector<double> timeouts(const Plan& plan, const fabric::Fabric& fabric,
                             const catalog::FabricProfile& profile);

}  // namespace fabricast::training
