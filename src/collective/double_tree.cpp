#include "collective/double_tree.h"

#include <bit>

namespace fabricast::collective {
namespace {

// In-order numbering: node 0 is the root and has the middle as its only child; another is on the
// level of its lowest set bit b, its children are b/2 to either side, and its parent has bit b
// cleared and the next one set. Where the right half is cut off, the next smaller one takes its
// place.
TreeNode in_order(std::uint32_t nodes, std::uint32_t node) {
  TreeNode result;
  if (node == 0) {
    if (nodes > 1) result.children[1] = std::bit_floor(nodes - 1);
    return result;
  }
  const std::uint32_t low = node & ~(node - 1);
  result.parent = (node ^ low) | (low << 1);
  if (result.parent >= nodes) result.parent = node ^ low;
  result.turn = node < result.parent ? 0 : 1;
  if (low > 1) {
    result.children[0] = node - low / 2;
    std::uint32_t step = low / 2;
    while (step > 0 && node + step >= nodes) step /= 2;
    if (step > 0) result.children[1] = node + step;
  }
  return result;
}

}  // namespace

// The second tree is the first one seen in a mirror, or shifted by one where the count is odd.
TreeNode tree_node(std::uint32_t nodes, std::uint32_t node, unsigned tree) {
  if (tree == 0) return in_order(nodes, node);
  const bool odd = nodes % 2 == 1;
  const auto there = [&](std::uint32_t i) { return odd ? (i + nodes - 1) % nodes : nodes - 1 - i; };
  const auto back = [&](std::uint32_t i) {
    if (i == kNobody) return i;
    return odd ? (i + 1) % nodes : nodes - 1 - i;
  };
  TreeNode result = in_order(nodes, there(node));
  result.parent = back(result.parent);
  for (std::uint32_t& child : result.children) child = back(child);
  return result;
}

unsigned tree_depth(std::uint32_t nodes) {
  return static_cast<unsigned>(std::bit_width(nodes - 1));
}

}  // namespace fabricast::collective
