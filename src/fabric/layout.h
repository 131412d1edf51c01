#pragma once
// Which leaf an adapter is cabled to. Sizing and building share it, so that ports are counted by
// the same rule by which they are laid out.

#include "fabric/fabric.h"

namespace fabricast::fabric {

/// True for the kinds whose leaves come in groups of one leaf per rail.
constexpr bool has_rails(TopologyKind kind) {
  return kind == TopologyKind::kRailOptimised || kind == TopologyKind::kRailOnly;
}

/// Nodes of one scalable unit; without a plan, as many as a leaf has down ports.
inline int unit_nodes(const TopologySpec& spec, int down_ports) {
  return spec.scalable_unit_nodes > 0 ? spec.scalable_unit_nodes : down_ports;
}

/// Index of the leaf that NIC `nic` of `node` is cabled to.
/// PRECONDITION: the sizing is of this spec and has leaves.
int leaf_of(const TopologySpec& spec, const Sizing& sizing, int node, int nic);

}  // namespace fabricast::fabric
