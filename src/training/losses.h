#pragma once
// Timeouts of a step's phases (collective/losses.h), as its playback draws them.

#include <vector>

#include "catalog/fabric_profile.h"
#include "fabric/fabric.h"
#include "training/plan.h"

namespace fabricast::training {

/// Expected timeouts of each phase, in what one draw of it stands for: a bucket in all groups of a
/// stage, a transfer between two stages of a replica, a collective in a stage of a replica. Empty
/// when the fabric has none.
std::vector<double> timeouts(const Plan& plan, const fabric::Fabric& fabric,
                             const catalog::FabricProfile& profile);

}  // namespace fabricast::training
