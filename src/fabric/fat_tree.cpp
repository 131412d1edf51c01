// OpenSM's fat-tree engine. Switches are ranked by their distance from the roots and indexed by a
// tuple, as in Petrini and Vanneschi's k-ary n-trees; adapters are routed leaf by leaf in the order
// of the index. The way to an adapter is laid from its leaf upwards by the port group that fewest
// adapters use yet, and from every switch so reached downwards to all others (Zahavi et al. 2009,
// "Optimized InfiniBand fat-tree routing for shift all-to-all communication patterns").
//
// Fabrics here link neighbouring tiers only, so there are no links between switches of one rank.

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fabric/subnet.h"

namespace fabricast::fabric {
namespace {

constexpr unsigned kUnranked = 0xffffffff;
constexpr unsigned kMaxRanks = 8;
constexpr std::uint16_t kUnreached = 0xffff;

/// Where a switch stands in the tree: its rank, then one digit per rank below the root.
using Index = std::array<std::uint8_t, kMaxRanks>;

struct Cable {
  std::uint16_t local = 0;   ///< port of the switch that owns the group
  std::uint16_t remote = 0;  ///< port of its neighbour
  std::uint32_t routes = 0;
};

/// All cables to one neighbour. `routes` counts adapters: of an upward group those reached from the
/// neighbour by it, of a downward group those the neighbour reaches by it.
struct PortGroup {
  std::uint32_t neighbour = 0;
  std::uint32_t routes = 0;
  std::vector<Cable> cables;

  Cable& least_used() { return *std::ranges::min_element(cables, {}, &Cable::routes); }
};

constexpr Index unindexed() {
  Index index{};
  index.fill(0xff);
  return index;
}

struct Node {
  unsigned rank = kUnranked;
  bool indexed = false;
  Index index = unindexed();  ///< behind all others until it is found
  std::vector<PortGroup> up;
  std::vector<PortGroup> down;
  bool up_changed = false;  ///< counters of the groups changed since they were sorted
  bool down_changed = false;
};

class FatTree {
 public:
  FatTree(const Subnet& subnet, bool roots_given)
      : subnet_(&subnet), roots_given_(roots_given), nodes_(subnet.switches()) {}

  /// Discovers the tree; returns why it is none, empty when it is one.
  std::string recognise() {
    std::string why = rank();
    if (!why.empty()) return why;
    collect_groups();
    why = find_leaves();
    if (!why.empty()) return why;
    why = assign_indices();
    return why.empty() && !roots_given_ ? compare_with_first_of_rank() : why;
  }

  void route(Table& table) {
    hops_.resize(subnet_->switches());
    std::size_t most = 0;
    for (const std::uint32_t leaf : leaves_) most = std::max(most, subnet_->adapters(leaf).size());
    std::vector<std::uint16_t> dummy(subnet_->switches());
    for (const std::uint32_t leaf : leaves_) {
      const auto adapters = subnet_->adapters(leaf);
      for (const Subnet::Adapter& adapter : adapters) {
        row_ = table.row(adapter.endpoint);
        row_[leaf] = subnet_->local(leaf, adapter.port);
        route_from(leaf);
      }
      // Missing adapters are routed too, so that a leaf with fewer does not shift the others.
      for (std::size_t i = adapters.size(); i < most; ++i) {
        std::ranges::fill(dummy, kNoLocalPort);
        row_ = dummy;
        route_from(leaf);
      }
    }
  }

 private:
  std::string name(std::uint32_t at) const { return subnet_->fabric().devices()[at].name; }

  template <class Visit>
  void for_each_link(std::uint32_t at, Visit visit) const {
    for (std::uint32_t p = subnet_->first_port(at); p < subnet_->end_port(at); ++p) {
      if (subnet_->neighbour(p) != Subnet::kNone) visit(p, subnet_->neighbour(p));
    }
  }

  /// Ranks by distance from `queue`, whose switches have rank 0; returns the highest rank.
  unsigned rank_from(std::vector<std::uint32_t> queue) {
    unsigned highest = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const unsigned next_rank = nodes_[queue[i]].rank + 1;
      for_each_link(queue[i], [&](std::uint32_t, std::uint32_t next) {
        if (nodes_[next].rank <= next_rank) return;
        nodes_[next].rank = highest = next_rank;
        queue.push_back(next);
      });
    }
    return highest;
  }

  /// Roots that nobody names are the switches farthest from all adapters.
  std::vector<std::uint32_t> farthest_from_adapters() {
    std::vector<std::uint32_t> start;
    for (std::uint32_t at = 0; at < subnet_->switches(); ++at) {
      if (subnet_->adapters(at).empty()) continue;
      nodes_[at].rank = 0;
      start.push_back(at);
    }
    const unsigned farthest = rank_from(std::move(start));
    std::vector<std::uint32_t> found;
    for (std::uint32_t at = 0; at < subnet_->switches(); ++at) {
      if (nodes_[at].rank == farthest) found.push_back(at);
      nodes_[at].rank = kUnranked;
    }
    return found;
  }

  /// Ranks everything by distance from the roots. Leaves have the last rank, or with given roots
  /// that of the first adapter's switch.
  std::string rank() {
    std::vector<std::uint32_t> roots =
        roots_given_ ? subnet_->top_tier() : farthest_from_adapters();
    for (const std::uint32_t root : roots) nodes_[root].rank = 0;
    leaf_rank_ = rank_from(std::move(roots));
    for (std::uint32_t at = 0; at < subnet_->switches(); ++at) {
      if (subnet_->discovered(at) && nodes_[at].rank == kUnranked) {
        return name(at) + " is cut off from the roots";
      }
    }
    if (roots_given_) leaf_rank_ = rank_of_first_adapter();
    if (leaf_rank_ == 0) return "no switch stands above another";
    if (leaf_rank_ >= kMaxRanks) {
      return fmt::format("{} tiers, more than {}", leaf_rank_ + 1, kMaxRanks);
    }
    return {};
  }

  unsigned rank_of_first_adapter() const {
    std::uint32_t first = Subnet::kNone;
    unsigned rank = 0;
    for (std::uint32_t at = 0; at < subnet_->switches(); ++at) {
      for (const Subnet::Adapter& adapter : subnet_->adapters(at)) {
        if (adapter.endpoint >= first) continue;
        first = adapter.endpoint;
        rank = nodes_[at].rank;
      }
    }
    return rank;
  }

  static PortGroup& group_to(std::vector<PortGroup>& groups, std::uint32_t neighbour) {
    const auto found = std::ranges::find(groups, neighbour, &PortGroup::neighbour);
    if (found != groups.end()) return *found;
    groups.push_back({neighbour, 0, {}});
    return groups.back();
  }

  void collect_groups() {
    for (std::uint32_t at = 0; at < subnet_->switches(); ++at) {
      Node& node = nodes_[at];
      for_each_link(at, [&](std::uint32_t port, std::uint32_t next) {
        PortGroup& group = group_to(nodes_[next].rank < node.rank ? node.up : node.down, next);
        group.cables.push_back(
            {subnet_->local(at, port), subnet_->local(next, subnet_->peer(port)), 0});
      });
    }
  }

  std::string find_leaves() {
    for (std::uint32_t at = 0; at < subnet_->switches(); ++at) {
      if (subnet_->adapters(at).empty()) continue;
      if (nodes_[at].rank != leaf_rank_) {
        return fmt::format("{} has adapters at rank {}, the leaves are at rank {}", name(at),
                           nodes_[at].rank, leaf_rank_);
      }
    }
    return {};
  }

  void sort_by_index(std::vector<PortGroup>& groups) const {
    std::ranges::sort(groups, {},
                      [&](const PortGroup& group) { return nodes_[group.neighbour].index; });
  }

  /// Breadth first from the first leaf: a neighbour below varies the digit of its own rank, one
  /// above the digit of the rank it is reached from; each takes the first free value.
  std::string assign_indices() {
    std::set<Index> taken;
    const auto first = static_cast<std::uint32_t>(
        std::ranges::find_if(nodes_, [&](const Node& node) { return is_leaf(node); }) -
        nodes_.begin());
    nodes_[first].index = {static_cast<std::uint8_t>(leaf_rank_)};
    nodes_[first].indexed = true;
    taken.insert(nodes_[first].index);
    std::vector<std::uint32_t> queue{first};
    for (std::size_t i = 0; i < queue.size(); ++i) {
      Node& node = nodes_[queue[i]];
      for (std::vector<PortGroup>* groups : {&node.down, &node.up}) {
        if (groups == &node.down && node.rank >= leaf_rank_) continue;  // nothing stands below
        for (const PortGroup& group : *groups) {
          if (nodes_[group.neighbour].indexed) continue;
          if (!index_neighbour(node, nodes_[group.neighbour], taken)) {
            return "more than 255 switches next to " + name(queue[i]);
          }
          queue.push_back(group.neighbour);
        }
        sort_by_index(*groups);
      }
    }
    return order_leaves();
  }

  bool is_leaf(const Node& node) const {
    return node.rank == leaf_rank_ &&
           !subnet_->adapters(static_cast<std::uint32_t>(&node - nodes_.data())).empty();
  }

  static bool index_neighbour(const Node& from, Node& to, std::set<Index>& taken) {
    Index index = from.index;
    index[0] = static_cast<std::uint8_t>(to.rank);
    const unsigned digit = std::max(from.rank, to.rank);
    for (unsigned value = 0; value < 255; ++value) {
      index[digit] = static_cast<std::uint8_t>(value);
      if (!taken.insert(index).second) continue;
      to.index = index;
      to.indexed = true;
      return true;
    }
    return false;
  }

  /// All switches of the lowest rank from the first with adapters to the last, by index.
  std::string order_leaves() {
    for (std::uint32_t at = 0; at < subnet_->switches(); ++at) {
      if (nodes_[at].rank == leaf_rank_) leaves_.push_back(at);
    }
    std::ranges::sort(leaves_, {}, [&](std::uint32_t at) { return nodes_[at].index; });
    const auto bare = [&](std::uint32_t at) { return subnet_->adapters(at).empty(); };
    while (!leaves_.empty() && bare(leaves_.back())) leaves_.pop_back();
    leaves_.erase(leaves_.begin(), std::ranges::find_if_not(leaves_, bare));
    return leaves_.size() < 2 ? "fewer than two leaves" : "";
  }

  /// A tree is whole when the switches of a rank are alike. As in OpenSM, the first switch of a
  /// rank is the measure, leaves may lack adapters, and of the groups downwards only the first is
  /// measured (fabric_validate_topology).
  std::string compare_with_first_of_rank() const {
    std::vector<const Node*> first(leaf_rank_ + 1);
    for (const Node& node : nodes_) {
      if (node.rank == kUnranked) continue;
      if (first[node.rank] == nullptr) {
        first[node.rank] = &node;
      } else {
        std::string why = difference(*first[node.rank], node);
        if (!why.empty()) return why;
      }
    }
    return {};
  }

  std::string difference(const Node& measure, const Node& node) const {
    const auto named = [&](const char* what, std::size_t found, std::size_t expected) {
      return fmt::format("{} has {} {}, {} has {}", name_of_node(node), found, what,
                         name_of_node(measure), expected);
    };
    const bool above_leaves = node.rank != leaf_rank_;
    if (node.up.size() != measure.up.size()) {
      return named("neighbours above", node.up.size(), measure.up.size());
    }
    if (above_leaves && node.down.size() != measure.down.size()) {
      return named("neighbours below", node.down.size(), measure.down.size());
    }
    for (const PortGroup& group : node.up) {
      const std::size_t expected = measure.up.front().cables.size();
      if (group.cables.size() != expected) {
        return named("cables to a neighbour above", group.cables.size(), expected);
      }
    }
    if (above_leaves && !node.down.empty() &&
        node.down.front().cables.size() != measure.down.front().cables.size()) {
      return named("cables to its first neighbour below", node.down.front().cables.size(),
                   measure.down.front().cables.size());
    }
    return {};
  }

  std::string name_of_node(const Node& node) const {
    return name(static_cast<std::uint32_t>(&node - nodes_.data()));
  }

  void sort_by_use(std::vector<PortGroup>& groups, bool& changed) const {
    if (!changed) return;
    changed = false;
    // Nearly sorted already: few counters moved since the last time.
    const auto less = [&](const PortGroup& a, const PortGroup& b) {
      if (a.routes != b.routes) return a.routes < b.routes;
      return nodes_[a.neighbour].index < nodes_[b.neighbour].index;
    };
    for (std::size_t i = 1; i < groups.size(); ++i) {
      for (std::size_t j = i; j > 0 && less(groups[j], groups[j - 1]); --j) {
        std::swap(groups[j], groups[j - 1]);
      }
    }
  }

  void route_from(std::uint32_t leaf) {
    std::ranges::fill(hops_, kUnreached);
    hops_[leaf] = 1;
    climb(leaf, Subnet::kNone, 1, true);
  }

  void set_route(const PortGroup& group, const Cable& cable, unsigned hops) {
    row_[group.neighbour] = cable.remote;
    hops_[group.neighbour] = static_cast<std::uint16_t>(hops);
  }

  /// Lays the way down to the destination from above `at`: by the least used group, counted, on the
  /// main way; by any other group where the switch above has no way as short.
  void climb(std::uint32_t at, std::uint32_t came_from, unsigned hops, bool main_way) {
    Node& node = nodes_[at];
    descend(at, came_from, hops);
    if (node.rank == 0) return;
    sort_by_use(node.up, node.up_changed);
    for (std::size_t i = 0; i < node.up.size(); ++i) {
      PortGroup& group = node.up[i];
      Cable& cable = group.least_used();
      const bool counted = main_way && i == 0;
      if (counted) {
        ++group.routes;
        ++cable.routes;
        node.up_changed = true;
      }
      const bool closer = hops + 1 < hops_[group.neighbour];
      if (closer) set_route(group, cable, hops + 1);
      if (counted || closer) climb(group.neighbour, at, hops + 1, counted);
    }
  }

  /// Lays the way up to `at` from all below it that have none as short. True when an adapter can
  /// use it; only then is it counted.
  bool descend(std::uint32_t at, std::uint32_t came_from, unsigned hops) {
    Node& node = nodes_[at];
    bool used = !subnet_->adapters(at).empty();
    sort_by_use(node.down, node.down_changed);
    for (PortGroup& group : node.down) {
      if (group.neighbour == came_from || hops + 1 >= hops_[group.neighbour]) continue;
      Cable& cable = group.least_used();
      set_route(group, cable, hops + 1);
      if (!descend(group.neighbour, Subnet::kNone, hops + 1)) continue;
      used = true;
      ++cable.routes;
      ++group.routes;
      node.down_changed = true;
    }
    return used;
  }

  const Subnet* subnet_;
  bool roots_given_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> leaves_;  ///< by index
  unsigned leaf_rank_ = 0;
  std::vector<std::uint16_t> hops_;  ///< of each switch to the destination being routed
  std::span<std::uint16_t> row_;     ///< its table
};

}  // namespace

std::string route_fat_tree(const Subnet& subnet, bool roots_given, Table& table) {
  FatTree tree(subnet, roots_given);
  std::string why = tree.recognise();
  if (why.empty()) tree.route(table);
  return why;
}

}  // namespace fabricast::fabric
