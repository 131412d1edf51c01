#pragma once
// Inside the collective room: the two binary trees over nodes between which NCCL splits a message
// (Sanders, Speck and Traeff 2009; NCCL src/graph/trees.cc). An inner node of one is a leaf of the
// other, so that every node sends and receives about as much.

#include <array>
#include <cstdint>

#include "collective/schedule.h"

namespace fabricast::collective {

struct TreeNode {
  std::uint32_t parent = kNobody;
  std::array<std::uint32_t, 2> children = {kNobody, kNobody};
  /// Which child of its parent it is.
  std::uint32_t turn = 0;
};

/// `node` in tree 0 or 1 over `nodes` nodes. PRECONDITION: node < nodes.
TreeNode tree_node(std::uint32_t nodes, std::uint32_t node, unsigned tree);

/// Levels of such a tree below its root.
unsigned tree_depth(std::uint32_t nodes);

}  // namespace fabricast::collective
