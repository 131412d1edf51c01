#pragma once
// Following and judging forwarding tables: the way of one message, how many ways share a link, who
// cannot be reached, and whether credits can wait for each other in a circle.

#include <cstdint>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/forwarding.h"

namespace fabricast::fabric {

/// The egress ports from one adapter to another, the sender's own first; empty when the tables do
/// not lead there (or lead in a circle).
std::vector<PortId> route(const Fabric& fabric, const ForwardingTables& tables, EndpointId from,
                          EndpointId to);
/// Links of that route; 0 when there is none.
int path_length(const Fabric& fabric, const ForwardingTables& tables, EndpointId from,
                EndpointId to);

/// Routes over each directed link, by PortId, when every adapter sends to every other once.
std::vector<std::uint64_t> link_loads(const Fabric& fabric, const ForwardingTables& tables);

/// Ordered pairs of different adapters that no route joins.
std::uint64_t unreachable_pairs(const Fabric& fabric, const ForwardingTables& tables);
inline bool all_pairs_reachable(const Fabric& fabric, const ForwardingTables& tables) {
  return unreachable_pairs(fabric, tables) == 0;
}

/// A credit loop: links of which each holds packets that wait for the next, and the last for the
/// first. Empty when there is none, which is what keeps one virtual lane free of deadlock (Dally
/// and Seitz 1987). Only routes between adapters count; a table entry that no adapter's packets
/// meet closes no loop.
std::vector<PortId> credit_loop(const Fabric& fabric, const ForwardingTables& tables);

/// A cycle of a directed graph given by successors; empty when it is acyclic.
std::vector<std::uint32_t> find_cycle(const std::vector<std::vector<std::uint32_t>>& successors);

}  // namespace fabricast::fabric
