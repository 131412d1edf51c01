#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "fabric/builder.h"
#include "fabric/layout.h"

namespace fabricast::fabric {

/// Direct cables, one switch, rails and trees.
class TreeBuilder : private FabricBuilder {
 public:
  TreeBuilder(const TopologySpec& spec, const Sizing& sizing)
      : FabricBuilder(spec, sizing, static_cast<std::uint32_t>(sizing.leaves)),
        cable_delay_(base::Time::seconds(spec.cable_m * spec.cable_ns_per_m * 1e-9)) {}

  Fabric build() && {
    add_devices();
    cable_endpoints();
    cable_spines();
    cable_cores();
    number_ports();
    route_all();
    return take();
  }

 private:
  int pods() const { return sizing().tiers == 3 ? sizing().pods : 1; }
  int spines_per_pod() const { return sizing().spines / pods(); }
  int pod_of_leaf(int leaf) const {
    return sizing().tiers == 3 ? leaf / sizing().leaves_per_pod : 0;
  }
  std::uint32_t leaf_device(int leaf) const { return static_cast<std::uint32_t>(leaf); }
  std::uint32_t spine_device(int spine) const {
    return static_cast<std::uint32_t>(sizing().leaves + spine);
  }
  std::uint32_t core_device(int core) const {
    return static_cast<std::uint32_t>(sizing().leaves + sizing().spines + core);
  }
  std::uint32_t switches() const { return core_device(sizing().cores); }
  std::uint32_t adapter_device(int endpoint) const {
    return switches() + static_cast<std::uint32_t>(endpoint);
  }

  void add_link(std::uint32_t a, std::uint32_t b, base::Rate rate) {
    add_cable({a, b, rate, cable_delay_});
  }

  void add_devices() {
    for (int i = 0; i < sizing().leaves; ++i) {
      add_device(DeviceKind::kSwitch, 1, fmt::format("leaf{}", i));
    }
    for (int i = 0; i < sizing().spines; ++i) {
      add_device(DeviceKind::kSwitch, 2, fmt::format("spine{}", i));
    }
    for (int i = 0; i < sizing().cores; ++i) {
      add_device(DeviceKind::kSwitch, 3, fmt::format("core{}", i));
    }
    for (int node = 0; node < spec().nodes; ++node) {
      for (int nic = 0; nic < spec().nics_per_node; ++nic) {
        add_device(DeviceKind::kAdapter, 0, fmt::format("node{}/nic{}", node, nic));
      }
    }
  }

  void cable_endpoints() {
    const int nics = spec().nics_per_node;
    if (spec().kind == TopologyKind::kDirect) {
      for (int nic = 0; nic < nics; ++nic) {
        add_link(adapter_device(nic), adapter_device(nics + nic), spec().nic_rate);
      }
      return;
    }
    for (int node = 0; node < spec().nodes; ++node) {
      for (int nic = 0; nic < nics; ++nic) {
        const int leaf = leaf_of(spec(), sizing(), node, nic);
        set_leaf(leaf_device(leaf));
        add_link(leaf_device(leaf), adapter_device(node * nics + nic), spec().nic_rate);
      }
    }
  }

  /// Uplink i of a leaf goes to spine i mod s of its pod, so parallel links are spread evenly.
  void cable_spines() {
    if (sizing().spines == 0) return;
    for (int leaf = 0; leaf < sizing().leaves; ++leaf) {
      const int first = pod_of_leaf(leaf) * spines_per_pod();
      for (int i = 0; i < sizing().up_ports; ++i) {
        add_link(leaf_device(leaf), spine_device(first + i % spines_per_pod()),
                 sizing().uplink_rate);
      }
    }
  }

  /// Spine j of each pod shares core group j with its counterparts in the other pods.
  void cable_cores() {
    const int groups = spines_per_pod();
    if (sizing().cores == 0 || groups == 0) return;  // fewer than three tiers
    const int per_group = sizing().cores / groups;
    for (int spine = 0; spine < sizing().spines; ++spine) {
      const int first = spine % groups * per_group;
      for (int i = 0; i < sizing().spine_up_ports; ++i) {
        add_link(spine_device(spine), core_device(first + i % per_group), sizing().uplink_rate);
      }
    }
  }

  bool goes_up(std::uint32_t from, std::uint32_t to) const {
    return devices()[to].tier > devices()[from].tier;
  }

  void route_all() {
    start_routes();
    for (int leaf = 0; leaf < sizing().leaves; ++leaf) route_leaf(leaf);
    for (int spine = 0; spine < sizing().spines; ++spine) route_spine(spine);
    for (int core = 0; core < sizing().cores; ++core) route_core(core);
  }

  /// Every spine of the pod reaches every leaf in equally few hops, so all uplinks serve.
  void route_leaf(int leaf) {
    const std::uint32_t self = leaf_device(leaf);
    if (sizing().spines == 0) return;
    const std::uint32_t up =
        add_group_to(self, [&](std::uint32_t peer) { return goes_up(self, peer); });
    for (int to = 0; to < sizing().leaves; ++to) {
      if (to != leaf) route(self, leaf_device(to)) = up;
    }
  }

  /// Down to the leaves of the own pod, up to the cores for the others.
  void route_spine(int spine) {
    const std::uint32_t self = spine_device(spine);
    const int pod = spine / spines_per_pod();
    const std::uint32_t up = sizing().cores == 0 ? 0 : add_group_to(self, [&](std::uint32_t peer) {
      return goes_up(self, peer);
    });
    const Device& owner = devices()[self];
    // The ports of one leaf lie next to each other, since leaves are cabled one after the other.
    std::uint32_t p = owner.first_port;
    const std::uint32_t end = owner.first_port + owner.port_count;
    for (int to = 0; to < sizing().leaves; ++to) {
      if (pod_of_leaf(to) != pod) {
        route(self, leaf_device(to)) = up;
        continue;
      }
      std::vector<std::uint32_t> down;
      while (p < end && peer_device(p) == leaf_device(to)) down.push_back(p++);
      if (down.empty()) {
        throw base::failure(fmt::format("{} has no link to leaf{}", owner.name, to));
      }
      route(self, leaf_device(to)) = add_group(down);
    }
  }

  /// A core meets exactly one spine of each pod.
  void route_core(int core) {
    const std::uint32_t self = core_device(core);
    const int per_group = sizing().cores / spines_per_pod();
    std::vector<std::uint32_t> by_pod;
    for (int pod = 0; pod < pods(); ++pod) {
      const std::uint32_t spine = spine_device(pod * spines_per_pod() + core / per_group);
      by_pod.push_back(add_group_to(self, [&](std::uint32_t peer) { return peer == spine; }));
    }
    for (int to = 0; to < sizing().leaves; ++to) {
      route(self, leaf_device(to)) = by_pod[static_cast<std::size_t>(pod_of_leaf(to))];
    }
  }

  base::Time cable_delay_;
};

Fabric build(const TopologySpec& spec) {
  return TreeBuilder(spec, size(spec)).build();
}

TopologySpec one_node(TopologySpec spec) {
  spec.kind = TopologyKind::kSingleSwitch;
  spec.nodes = 1;
  spec.management_ports = 0;
  return spec;
}

}  // namespace fabricast::fabric
