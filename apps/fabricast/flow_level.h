#pragma once
// The flow level of a fabric, which learns from the packet level when it is first needed.

#include <functional>
#include <memory>

#include "fabric/fabric.h"
#include "network/network.h"
#include "packet/faults.h"
#include "scenario/scenario.h"

namespace fabricast::apps {

/// Empty where flows do not know the faults: bit errors, a slow adapter, storms, switches without
/// PFC or ECN.
std::function<network::Factory(double load)> flow_level(
    const scenario::ValidScenario& scenario, const scenario::FabricChoice& choice,
    std::shared_ptr<const fabric::Fabric> fabric, const packet::Faults& faults);

}  // namespace fabricast::apps
