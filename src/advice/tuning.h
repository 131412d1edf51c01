#pragma once
// What of a fabric is tuning and what is hardware, and how a scenario's fabrics are written down.

#include <string>
#include <vector>

#include "advice/advice.h"

namespace fabricast::advice {

/// `profile` on its own switches, adapters and hosts, with the queue pairs, routing, PFC, ECN and
/// DCQCN of the catalogue's tuned profile. PRECONDITION: it is a RoCE v2 profile.
catalog::FabricProfile tuned(const catalog::Catalog& catalog,
                             const catalog::FabricProfile& profile);

/// The same devices and the same value of every parameter; names do not count.
bool same_fabric(const catalog::FabricProfile& a, const catalog::FabricProfile& b);

/// The `fabrics` section of a scenario, as YAML that reads back to the same profiles: each entry is
/// the catalogue's profile and what differs from it. Ends in a newline.
std::string fabrics_yaml(const catalog::Catalog& catalog,
                         const std::vector<catalog::FabricProfile>& profiles);

}  // namespace fabricast::advice
