#pragma once
// Tenants that are given by their scenario: what their job sends is what others meet.

#include <optional>

#include "catalog/catalog.h"
#include "flow_level.h"
#include "scenario/scenario.h"

namespace fabricast::apps {

/// The scenario as fabric `number` meets it: every tenant with a `job` by the load and the bursts
/// that the job puts on its adapters, alone on the same kind of fabric. None where there is no such
/// tenant. `threads` simulate; `lessons` may be null. Throws base::Error (input) at the tenant when
/// its job is no training run, has no fabric of that kind, tenants of its own, or sends nothing.
std::optional<scenario::ValidScenario> with_tenants(const catalog::Catalog& known,
                                                    const scenario::ValidScenario& scenario,
                                                    std::size_t number, int threads,
                                                    Lessons* lessons);

}  // namespace fabricast::apps
