#include "packet/reduction_tree.h"

#include <algorithm>

namespace fabricast::packet {

namespace {

constexpr std::uint32_t kNone = ReductionTree::kNone;

class Planner {
 public:
  Planner(const fabric::Fabric& fabric, const std::vector<std::uint8_t>& taken)
      : fabric_(fabric), taken_(taken) {}

  bool free(std::uint32_t port) const { return taken_[port] == 0 && taken_[peer(port)] == 0; }
  std::uint32_t peer(std::uint32_t port) const {
    return fabric_.port(fabric::PortId(port)).peer.index();
  }
  std::uint32_t device_of(std::uint32_t port) const {
    return fabric_.port(fabric::PortId(port)).device.index();
  }
  bool is_switch(std::uint32_t device) const {
    return fabric_.devices()[device].kind == fabric::DeviceKind::kSwitch;
  }

  /// Cables between switches from `from` to every device; kNone where none leads.
  std::vector<std::uint32_t> distances(std::uint32_t from) const {
    std::vector<std::uint32_t> distance(fabric_.devices().size(), kNone);
    std::vector<std::uint32_t> queue{from};
    distance[from] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const fabric::Device& at = fabric_.devices()[queue[i]];
      for (std::uint32_t p = at.first_port; p < at.first_port + at.port_count; ++p) {
        const std::uint32_t next = device_of(peer(p));
        if (!is_switch(next) || distance[next] != kNone) continue;
        distance[next] = distance[queue[i]] + 1;
        queue.push_back(next);
      }
    }
    return distance;
  }

  /// Switches from which all leaves can be reached, those that are nearest to the farthest first.
  std::vector<std::uint32_t> roots(const std::vector<std::uint32_t>& leaves) const {
    std::vector<std::uint32_t> height(fabric_.devices().size(), 0);
    for (const std::uint32_t leaf : leaves) {
      const std::vector<std::uint32_t> distance = distances(leaf);
      for (std::size_t d = 0; d < height.size(); ++d) height[d] = std::max(height[d], distance[d]);
    }
    std::vector<std::uint32_t> roots;
    for (std::uint32_t d = 0; d < height.size(); ++d) {
      if (height[d] != kNone) roots.push_back(d);
    }
    std::stable_sort(roots.begin(), roots.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return height[a] < height[b]; });
    return roots;
  }

  /// A free port towards the root, to a switch of the tree if there is one; kNone.
  std::uint32_t way_up(const ReductionTree& tree, std::uint32_t at,
                       const std::vector<std::uint32_t>& to_root) const {
    const fabric::Device& device = fabric_.devices()[at];
    std::uint32_t best = kNone;
    for (std::uint32_t p = device.first_port; p < device.first_port + device.port_count; ++p) {
      const std::uint32_t next = device_of(peer(p));
      if (!is_switch(next) || to_root[next] + 1 != to_root[at] || !free(p)) continue;
      if (find(tree, next) != kNone) return p;
      if (best == kNone) best = p;
    }
    return best;
  }

  static std::uint32_t find(const ReductionTree& tree, std::uint32_t device) {
    const auto found = std::ranges::find(tree.nodes, device, &ReductionTree::Node::device);
    return found == tree.nodes.end() ? kNone
                                     : static_cast<std::uint32_t>(found - tree.nodes.begin());
  }

  static std::uint32_t node_of(ReductionTree& tree, std::uint32_t device) {
    const std::uint32_t found = find(tree, device);
    if (found != kNone) return found;
    tree.nodes.push_back({device, kNone, {}});
    return static_cast<std::uint32_t>(tree.nodes.size() - 1);
  }

  /// Joins what is in the tree to the root; false when no free port leads there.
  bool join(ReductionTree& tree, std::uint32_t root) const {
    const std::vector<std::uint32_t> to_root = distances(root);
    for (std::uint32_t n = 0; n < tree.nodes.size(); ++n) {  // it grows
      const std::uint32_t at = tree.nodes[n].device;
      if (at == root) continue;
      const std::uint32_t up = way_up(tree, at, to_root);
      if (up == kNone) return false;
      tree.nodes[n].parent = up;
      const std::uint32_t parent = node_of(tree, device_of(peer(up)));
      tree.nodes[parent].children.push_back({peer(up), kNone});
    }
    return true;
  }

 private:
  const fabric::Fabric& fabric_;
  const std::vector<std::uint8_t>& taken_;
};

}  // namespace

std::optional<ReductionTree> plan_reduction(const fabric::Fabric& fabric,
                                            std::span<const fabric::EndpointId> members,
                                            const std::vector<std::uint8_t>& taken) {
  const Planner planner(fabric, taken);
  ReductionTree leaves;
  std::vector<std::uint32_t> devices;
  for (std::uint32_t m = 0; m < members.size(); ++m) {
    const std::uint32_t port = planner.peer(fabric.endpoint_port(members[m]).index());
    const std::uint32_t leaf = planner.device_of(port);
    if (!planner.is_switch(leaf) || !planner.free(port)) return std::nullopt;
    leaves.nodes[Planner::node_of(leaves, leaf)].children.push_back({port, m});
    devices.push_back(leaf);
  }
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  for (const std::uint32_t root : planner.roots(devices)) {
    ReductionTree tree = leaves;
    if (planner.join(tree, root)) return tree;
  }
  return std::nullopt;
}

}  // namespace fabricast::packet
