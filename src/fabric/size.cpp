#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "fabric/fabric.h"
#include "fabric/layout.h"

namespace fabricast::fabric {
namespace {

// Guards floor and ceil of ratios that are whole numbers but for rounding.
constexpr double kRoundingSlack = 1e-9;
// Bounds that keep the arithmetic in range; the largest chassis of today has 576 ports.
constexpr int kMostPorts = 4096;
constexpr int kMostEndpoints = 1'000'000;

base::Error refuse(std::string_view message) {
  return base::input_error({.file = {}, .line = 0, .column = 0, .key = "cluster.topology"},
                           message);
}

int ceil_div(int a, int b) {
  return (a + b - 1) / b;
}

int floor_of(double x) {
  return static_cast<int>(std::floor(x + kRoundingSlack));
}
int ceil_of(double x) {
  return static_cast<int>(std::ceil(x - kRoundingSlack));
}

/// Smallest divisor s of `links` for which s switches of `ports` ports take `total` links.
std::optional<int> even_switches(int links, std::int64_t ports, std::int64_t total) {
  for (int s = 1; s <= links; ++s) {
    if (links % s == 0 && s * ports >= total) return s;
  }
  return std::nullopt;
}

/// What one leaf offers: its ports divided between endpoints and uplinks, before uplinks are split.
struct Leaf {
  int down_split = 1;  ///< endpoint ports per switch port
  int down_ports = 0;  ///< endpoint ports planned
  int up_ports = 0;    ///< whole switch ports
  int capacity = 0;    ///< endpoint ports on everything that is not an uplink
};

/// A port splits into 2 or 4 that run at the adapters' rate; at any other ratio it stays whole.
int down_split(const TopologySpec& spec) {
  for (const int split : {2, 4}) {
    if (spec.nic_rate * split == spec.switch_rate) return split;
  }
  return 1;
}

void check(const TopologySpec& spec) {
  if (spec.nodes < 1 || spec.gpus_per_node < 1 || spec.nics_per_node < 1) {
    throw refuse(fmt::format("found {} nodes of {} GPUs and {} NICs; each must be at least 1",
                             spec.nodes, spec.gpus_per_node, spec.nics_per_node));
  }
  if (static_cast<std::int64_t>(spec.nodes) * spec.nics_per_node > kMostEndpoints) {
    throw refuse(fmt::format("found {} nodes of {} NICs; at most {} NICs are laid out", spec.nodes,
                             spec.nics_per_node, kMostEndpoints));
  }
  if (spec.nic_rate.bps() <= 0) throw refuse("the rate of the NICs must be above 0");
  if (spec.kind == TopologyKind::kDirect) return;
  if (spec.switch_ports > kMostPorts || spec.scalable_unit_nodes > kMostEndpoints) {
    throw refuse(
        fmt::format("found {} switch ports and {} nodes in a scalable unit; at most {} and "
                    "{} are laid out",
                    spec.switch_ports, spec.scalable_unit_nodes, kMostPorts, kMostEndpoints));
  }
  if (spec.switch_ports < 2 || spec.switch_rate < spec.nic_rate) {
    throw refuse(fmt::format("a switch with {} ports of {} cannot serve NICs of {}",
                             spec.switch_ports, base::to_string(spec.switch_rate),
                             base::to_string(spec.nic_rate)));
  }
  if (!(spec.oversubscription > 0) || !std::isfinite(spec.oversubscription)) {
    throw refuse(
        fmt::format("found an oversubscription of {}; it must be above 0", spec.oversubscription));
  }
  if (spec.nodes_per_leaf < 0 || spec.management_ports < 0 || spec.scalable_unit_nodes < 0) {
    throw refuse(
        "nodes per leaf, management ports and nodes of a scalable unit cannot be negative");
  }
  if (spec.max_uplink_split != 1 && spec.max_uplink_split != 2 && spec.max_uplink_split != 4) {
    throw refuse(
        fmt::format("found an uplink split of {}; allowed 1, 2 or 4", spec.max_uplink_split));
  }
}

std::int64_t endpoint_ports(const TopologySpec& spec) {
  return static_cast<std::int64_t>(spec.nodes) * spec.nics_per_node + spec.management_ports;
}

/// The leaf that is filled: down and up bandwidth in the ratio of the oversubscription.
Leaf filled_leaf(const TopologySpec& spec) {
  Leaf leaf;
  leaf.down_split = down_split(spec);
  // Bandwidth of a down port over that of an up port; 1 when splitting uses a port whole.
  const double share = leaf.down_split * (spec.nic_rate / spec.switch_rate);
  const double o = spec.oversubscription;
  const int down = floor_of(spec.switch_ports * o / (share + o));
  leaf.up_ports = ceil_of(down * share / o);
  leaf.down_ports = down * leaf.down_split;
  leaf.capacity = (spec.switch_ports - leaf.up_ports) * leaf.down_split;
  if (down < 1 || leaf.up_ports < 1) {
    throw refuse(fmt::format("{} ports cannot be divided at an oversubscription of {}",
                             spec.switch_ports, o));
  }
  return leaf;
}

/// A leaf for a stated number of endpoints, with the uplinks that those need.
Leaf planned_leaf(const TopologySpec& spec, int endpoints) {
  Leaf leaf;
  leaf.down_split = down_split(spec);
  leaf.down_ports = endpoints;
  leaf.up_ports = ceil_of(endpoints * (spec.nic_rate / spec.switch_rate) / spec.oversubscription);
  const int down = ceil_div(endpoints, leaf.down_split);
  if (down + leaf.up_ports > spec.switch_ports) {
    throw refuse(
        fmt::format("a leaf for {} endpoints needs {} down and {} up ports; the switch "
                    "has {}",
                    endpoints, down, leaf.up_ports, spec.switch_ports));
  }
  leaf.capacity = (spec.switch_ports - leaf.up_ports) * leaf.down_split;
  return leaf;
}

/// Leaves in whole groups of `group` until every endpoint and management port has a place.
int leaves_for(const TopologySpec& spec, const Leaf& leaf, std::int64_t planned, int group) {
  const std::int64_t per_group = static_cast<std::int64_t>(leaf.capacity) * group;
  const std::int64_t needed = (endpoint_ports(spec) + per_group - 1) / per_group * group;
  const std::int64_t leaves = std::max(planned, needed);
  if (leaves > kMostEndpoints) throw refuse(fmt::format("{} leaves would be needed", leaves));
  return static_cast<int>(leaves);
}

Sizing one_switch(const TopologySpec& spec, int leaves) {
  Sizing sizing;
  sizing.tiers = 1;
  sizing.leaves = leaves;
  sizing.down_ports = spec.switch_ports * down_split(spec);
  sizing.endpoint_cables = endpoint_ports(spec);
  return sizing;
}

Sizing with_leaves(const TopologySpec& spec, const Leaf& leaf, int leaves) {
  Sizing sizing;
  sizing.leaves = leaves;
  sizing.down_ports = leaf.down_ports;
  sizing.up_ports = leaf.up_ports;
  sizing.uplink_rate = spec.switch_rate;
  sizing.endpoint_cables = endpoint_ports(spec);
  sizing.leaf_spine_cables = static_cast<std::int64_t>(leaves) * leaf.up_ports;
  return sizing;
}

/// Two tiers, with the least splitting that makes the spines come out even.
std::optional<Sizing> two_tiers(const TopologySpec& spec, const Leaf& leaf, int leaves) {
  for (int split = 1; split <= spec.max_uplink_split; split *= 2) {
    const int up = leaf.up_ports * split;
    const auto spines = even_switches(up, static_cast<std::int64_t>(spec.switch_ports) * split,
                                      static_cast<std::int64_t>(leaves) * up);
    if (!spines) continue;
    Sizing sizing = with_leaves(spec, leaf, leaves);
    sizing.tiers = 2;
    sizing.spines = *spines;
    sizing.up_ports = up;
    sizing.uplink_split = split;
    sizing.uplink_rate = spec.switch_rate / split;
    return sizing;
  }
  return std::nullopt;
}

/// Three tiers with `pods` pods of whole groups of leaves. Spine j of every pod meets the others at
/// core group j; the rule of even spreading holds at both levels.
std::optional<Sizing> three_tiers(const TopologySpec& spec, const Leaf& leaf, int leaves, int group,
                                  int pods) {
  const int half = spec.switch_ports / 2;
  const int per_pod = ceil_div(leaves / group, pods) * group;
  if (per_pod * (pods - 1) >= leaves && pods > 1) return std::nullopt;  // the last would be empty
  const auto spines =
      even_switches(leaf.up_ports, half, static_cast<std::int64_t>(per_pod) * leaf.up_ports);
  if (!spines) return std::nullopt;
  const int spine_up = per_pod * (leaf.up_ports / *spines);
  const auto cores =
      even_switches(spine_up, spec.switch_ports, static_cast<std::int64_t>(pods) * spine_up);
  if (!cores) return std::nullopt;
  Sizing sizing = with_leaves(spec, leaf, leaves);
  sizing.tiers = 3;
  sizing.pods = pods;
  sizing.leaves_per_pod = per_pod;
  sizing.spines = pods * *spines;
  sizing.cores = *spines * *cores;
  sizing.spine_up_ports = spine_up;
  sizing.spine_core_cables = static_cast<std::int64_t>(sizing.spines) * spine_up;
  return sizing;
}

/// The three-tier design with the fewest switches; among equals, the fewest pods.
Sizing cheapest_three_tiers(const TopologySpec& spec, const Leaf& leaf, int leaves, int group) {
  const int groups = leaves / group;
  std::optional<Sizing> best;
  // One pod would leave the cores nothing to join.
  for (int pods = std::min(2, groups); pods <= std::min(groups, spec.switch_ports); ++pods) {
    const auto candidate = three_tiers(spec, leaf, leaves, group, pods);
    if (!candidate) continue;
    if (!best || candidate->spines + candidate->cores < best->spines + best->cores) {
      best = candidate;
    }
  }
  if (!best) {
    throw refuse(
        fmt::format("{} NICs need {} leaves of {} uplinks; three tiers of {}-port switches "
                    "cannot join so many",
                    spec.nodes * spec.nics_per_node, leaves, leaf.up_ports, spec.switch_ports));
  }
  return *best;
}

Sizing size_direct(const TopologySpec& spec) {
  if (spec.nodes != 2) {
    throw refuse(fmt::format("direct cables join exactly 2 nodes; found {}", spec.nodes));
  }
  if (spec.management_ports != 0) {
    throw refuse("direct cables leave no switch port for management");
  }
  Sizing sizing;
  sizing.endpoint_cables = spec.nics_per_node;
  return sizing;
}

Sizing size_single_switch(const TopologySpec& spec) {
  const Sizing sizing = one_switch(spec, 1);
  if (sizing.endpoint_cables > sizing.down_ports) {
    throw refuse(fmt::format(
        "a single switch has {} ports of {}; {} nodes of {} NICs{} need {}", sizing.down_ports,
        base::to_string(spec.nic_rate), spec.nodes, spec.nics_per_node,
        spec.management_ports > 0 ? fmt::format(" and {} management ports", spec.management_ports)
                                  : std::string(),
        sizing.endpoint_cables));
  }
  return sizing;
}

Sizing size_rail_only(const TopologySpec& spec) {
  const Sizing sizing = one_switch(spec, spec.nics_per_node);
  const auto ports = static_cast<std::int64_t>(sizing.down_ports) * sizing.leaves;
  if (spec.nodes > sizing.down_ports || sizing.endpoint_cables > ports) {
    throw refuse(
        fmt::format("rail-only puts one switch on each rail: {} ports of {} for {} nodes "
                    "and {} management ports on {} rails",
                    sizing.down_ports, base::to_string(spec.nic_rate), spec.nodes,
                    spec.management_ports, sizing.leaves));
  }
  return sizing;
}

Sizing size_rail_optimised(const TopologySpec& spec) {
  const Leaf full = filled_leaf(spec);
  const int unit = unit_nodes(spec, full.down_ports);
  const int leaves_per_rail = ceil_div(unit, full.down_ports);
  const Leaf leaf =
      spec.scalable_unit_nodes > 0 ? planned_leaf(spec, ceil_div(unit, leaves_per_rail)) : full;
  const int rails = spec.nics_per_node;
  // The last unit is cabled whole, as NVIDIA's reference designs do.
  const int leaves = leaves_for(
      spec, leaf, static_cast<std::int64_t>(rails) * leaves_per_rail * ceil_div(spec.nodes, unit),
      rails);
  if (const auto sizing = two_tiers(spec, leaf, leaves)) return *sizing;
  // Whole rail groups share a pod where a spine has the ports for one.
  return cheapest_three_tiers(spec, leaf, leaves, rails <= spec.switch_ports / 2 ? rails : 1);
}

/// Leaf-spine and fat-tree: leaves are filled one after the other.
Sizing size_filled(const TopologySpec& spec) {
  const bool planned = spec.nodes_per_leaf > 0;
  if (spec.kind == TopologyKind::kLeafSpine && (!planned || spec.nodes <= spec.nodes_per_leaf) &&
      endpoint_ports(spec) <= static_cast<std::int64_t>(spec.switch_ports) * down_split(spec)) {
    return one_switch(spec, 1);
  }
  const Leaf leaf =
      planned ? planned_leaf(spec, std::min(spec.nodes_per_leaf, spec.nodes) * spec.nics_per_node)
              : filled_leaf(spec);
  const int endpoints = spec.nodes * spec.nics_per_node;
  const int leaves = leaves_for(
      spec, leaf,
      planned ? ceil_div(spec.nodes, spec.nodes_per_leaf) : ceil_div(endpoints, leaf.down_ports),
      1);
  if (spec.kind == TopologyKind::kLeafSpine) {
    if (const auto sizing = two_tiers(spec, leaf, leaves)) return *sizing;
  }
  return cheapest_three_tiers(spec, leaf, leaves, 1);
}

}  // namespace

int leaf_of(const TopologySpec& spec, const Sizing& sizing, int node, int nic) {
  if (spec.kind == TopologyKind::kRailOnly) return nic;
  if (spec.kind == TopologyKind::kRailOptimised) {
    const int unit = unit_nodes(spec, sizing.down_ports);
    const int leaves_per_rail = ceil_div(unit, sizing.down_ports);
    const int group = node / unit * leaves_per_rail + node % unit / sizing.down_ports;
    return group * spec.nics_per_node + nic;
  }
  if (sizing.leaves == 1) return 0;
  if (spec.nodes_per_leaf > 0) return node / spec.nodes_per_leaf;
  return (node * spec.nics_per_node + nic) / sizing.down_ports;
}

Sizing size(const TopologySpec& spec) {
  check(spec);
  switch (spec.kind) {
    case TopologyKind::kDirect:
      return size_direct(spec);
    case TopologyKind::kSingleSwitch:
      return size_single_switch(spec);
    case TopologyKind::kRailOnly:
      return size_rail_only(spec);
    case TopologyKind::kRailOptimised:
      return size_rail_optimised(spec);
    case TopologyKind::kLeafSpine:
    case TopologyKind::kFatTree:
      return size_filled(spec);
    case TopologyKind::kDragonflyPlus:
    case TopologyKind::kCustom:  // sized by whoever describes it
      break;
  }
  throw refuse(fmt::format("`{}` is not built yet", name_of(spec.kind)));
}

}  // namespace fabricast::fabric
