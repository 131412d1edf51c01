#pragma once
// Trees over which switches reduce data on its way (NVIDIA's SHARP; Graham et al., "Scalable
// Hierarchical Aggregation Protocol", COMHPC 2016): adapters below, switches that add up what their
// children send above them, one root. What the aggregation manager lays out.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fabric/fabric.h"

namespace fabricast::packet {

struct ReductionTree {
  static constexpr std::uint32_t kNone = 0xffffffffU;

  struct Child {
    std::uint32_t port = kNone;    ///< of the switch, towards the child
    std::uint32_t member = kNone;  ///< which of the members it is; kNone: a switch
  };
  struct Node {
    std::uint32_t device = kNone;
    std::uint32_t parent = kNone;  ///< port towards it; kNone: the root
    std::vector<Child> children;
  };

  std::vector<Node> nodes;
};

/// The lowest tree over the switches that leads to all `members`, from the first root in the order
/// of devices whose ports are free. `taken` says so of every port; the cable of a taken port is
/// taken. None when there is no such tree, or a member hangs on no switch.
std::optional<ReductionTree> plan_reduction(const fabric::Fabric& fabric,
                                            std::span<const fabric::EndpointId> members,
                                            const std::vector<std::uint8_t>& taken);

}  // namespace fabricast::packet
