#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "fabric/fabric.h"
#include "fabric/layout.h"

namespace fabricast::fabric {

/// Collects cables as pairs of devices, then numbers the ports device by device. The order in which
/// the cables of a device are added is the order of its ports.
class FabricBuilder {
 public:
  explicit FabricBuilder(const TopologySpec& spec) {
    fabric_.spec_ = spec;
    fabric_.sizing_ = size(spec);
    fabric_.leaf_count_ = static_cast<std::uint32_t>(fabric_.sizing_.leaves);
  }

  Fabric build() && {
    add_devices();
    cable_endpoints();
    cable_spines();
    cable_cores();
    number_ports();
    route();
    return std::move(fabric_);
  }

 private:
  struct Cable {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    base::Rate rate;
  };

  const Sizing& sizing() const { return fabric_.sizing_; }
  const TopologySpec& spec() const { return fabric_.spec_; }
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

  void add_device(DeviceKind kind, std::uint8_t tier, std::string name) {
    Device device;
    device.kind = kind;
    device.tier = tier;
    device.name = std::move(name);
    fabric_.devices_.push_back(std::move(device));
  }

  void add_devices() {
    fabric_.devices_.reserve(switches() + static_cast<std::size_t>(fabric_.endpoints()));
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
        cables_.push_back({adapter_device(nic), adapter_device(nics + nic), spec().nic_rate});
      }
      return;
    }
    fabric_.endpoint_leaf_.reserve(static_cast<std::size_t>(fabric_.endpoints()));
    for (int node = 0; node < spec().nodes; ++node) {
      for (int nic = 0; nic < nics; ++nic) {
        const int leaf = leaf_of(spec(), sizing(), node, nic);
        fabric_.endpoint_leaf_.push_back(leaf_device(leaf));
        cables_.push_back({leaf_device(leaf), adapter_device(node * nics + nic), spec().nic_rate});
      }
    }
  }

  /// Uplink i of a leaf goes to spine i mod s of its pod, so parallel links are spread evenly.
  void cable_spines() {
    if (sizing().spines == 0) return;
    for (int leaf = 0; leaf < sizing().leaves; ++leaf) {
      const int first = pod_of_leaf(leaf) * spines_per_pod();
      for (int i = 0; i < sizing().up_ports; ++i) {
        cables_.push_back(
            {leaf_device(leaf), spine_device(first + i % spines_per_pod()), sizing().uplink_rate});
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
        cables_.push_back(
            {spine_device(spine), core_device(first + i % per_group), sizing().uplink_rate});
      }
    }
  }

  void number_ports() {
    auto& devices = fabric_.devices_;
    for (const Cable& cable : cables_) {
      ++devices[cable.a].port_count;
      ++devices[cable.b].port_count;
    }
    std::uint32_t next = 0;
    for (Device& device : devices) {
      device.first_port = next;
      next += device.port_count;
    }
    fabric_.ports_.resize(next);
    std::vector<std::uint32_t> cursor(devices.size());
    for (std::size_t i = 0; i < devices.size(); ++i) cursor[i] = devices[i].first_port;
    const auto delay = base::Time::seconds(spec().cable_m * spec().cable_ns_per_m * 1e-9);
    for (const Cable& cable : cables_) {
      const PortId a(cursor[cable.a]++);
      const PortId b(cursor[cable.b]++);
      fabric_.ports_[a.index()] = {DeviceId(cable.a), b, cable.rate, delay};
      fabric_.ports_[b.index()] = {DeviceId(cable.b), a, cable.rate, delay};
    }
    for (std::uint32_t i = switches(); i < devices.size(); ++i) {
      fabric_.endpoint_ports_.emplace_back(devices[i].first_port);
    }
  }

  /// Adds the ports of `device` whose peer satisfies `wanted` as one next-hop group, in port order.
  template <class Wanted>
  std::uint32_t add_group(std::uint32_t device, Wanted wanted) {
    const Device& owner = fabric_.devices_[device];
    for (std::uint32_t p = owner.first_port; p < owner.first_port + owner.port_count; ++p) {
      const std::uint32_t peer = fabric_.port(fabric_.ports_[p].peer).device.index();
      if (wanted(peer)) fabric_.group_ports_.emplace_back(p);
    }
    fabric_.group_begin_.push_back(static_cast<std::uint32_t>(fabric_.group_ports_.size()));
    return static_cast<std::uint32_t>(fabric_.group_begin_.size() - 2);
  }

  std::uint32_t& route(std::uint32_t device, int leaf) {
    return fabric_.route_group_[static_cast<std::size_t>(device) * fabric_.leaf_count_ +
                                static_cast<std::size_t>(leaf)];
  }

  bool goes_up(std::uint32_t from, std::uint32_t to) const {
    return fabric_.devices_[to].tier > fabric_.devices_[from].tier;
  }

  void route() {
    // Group 0 is empty: unreachable.
    fabric_.group_begin_ = {0, 0};
    fabric_.route_group_.assign(static_cast<std::size_t>(switches()) * fabric_.leaf_count_, 0);
    for (int leaf = 0; leaf < sizing().leaves; ++leaf) route_leaf(leaf);
    for (int spine = 0; spine < sizing().spines; ++spine) route_spine(spine);
    for (int core = 0; core < sizing().cores; ++core) route_core(core);
  }

  /// Every spine of the pod reaches every leaf in equally few hops, so all uplinks serve.
  void route_leaf(int leaf) {
    const std::uint32_t self = leaf_device(leaf);
    if (sizing().spines == 0) return;
    const std::uint32_t up =
        add_group(self, [&](std::uint32_t peer) { return goes_up(self, peer); });
    for (int to = 0; to < sizing().leaves; ++to) {
      if (to != leaf) route(self, to) = up;
    }
  }

  /// Down to the leaves of the own pod, up to the cores for the others.
  void route_spine(int spine) {
    const std::uint32_t self = spine_device(spine);
    const int pod = spine / spines_per_pod();
    const std::uint32_t up = sizing().cores == 0 ? 0 : add_group(self, [&](std::uint32_t peer) {
      return goes_up(self, peer);
    });
    const Device& owner = fabric_.devices_[self];
    // The ports of one leaf lie next to each other, since leaves are cabled one after the other.
    std::uint32_t p = owner.first_port;
    const std::uint32_t end = owner.first_port + owner.port_count;
    for (int to = 0; to < sizing().leaves; ++to) {
      if (pod_of_leaf(to) != pod) {
        route(self, to) = up;
        continue;
      }
      const std::size_t before = fabric_.group_ports_.size();
      while (p < end && fabric_.port(fabric_.ports_[p].peer).device.index() == leaf_device(to)) {
        fabric_.group_ports_.emplace_back(p++);
      }
      if (fabric_.group_ports_.size() == before) {
        throw base::failure(fmt::format("{} has no link to leaf{}", owner.name, to));
      }
      fabric_.group_begin_.push_back(static_cast<std::uint32_t>(fabric_.group_ports_.size()));
      route(self, to) = static_cast<std::uint32_t>(fabric_.group_begin_.size() - 2);
    }
  }

  /// A core meets exactly one spine of each pod.
  void route_core(int core) {
    const std::uint32_t self = core_device(core);
    const int per_group = sizing().cores / spines_per_pod();
    std::vector<std::uint32_t> by_pod;
    for (int pod = 0; pod < pods(); ++pod) {
      const std::uint32_t spine = spine_device(pod * spines_per_pod() + core / per_group);
      by_pod.push_back(add_group(self, [&](std::uint32_t peer) { return peer == spine; }));
    }
    for (int to = 0; to < sizing().leaves; ++to) {
      route(self, to) = by_pod[static_cast<std::size_t>(pod_of_leaf(to))];
    }
  }

  Fabric fabric_;
  std::vector<Cable> cables_;
};

Fabric build(const TopologySpec& spec) {
  return FabricBuilder(spec).build();
}

}  // namespace fabricast::fabric
