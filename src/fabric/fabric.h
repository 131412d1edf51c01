#pragma once
// The network as built: devices, ports, cables, and which ports lead to which destination. Static
// and immutable; every simulation of it shares one copy. `TopologySpec` says what is wanted, `size`
// turns it into numbers of switches and cables (docs/models/sizing.md), `build` lays them out.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/units.h"
#include "fabric/host.h"

namespace fabricast::fabric {

using DeviceId = base::Id<struct DeviceTag>;
/// A port; also names the directed link that leaves it.
using PortId = base::Id<struct PortTag>;
/// An adapter port on the fabric: NIC n of node k is endpoint k * nics_per_node + n.
using EndpointId = base::Id<struct EndpointTag>;

enum class TopologyKind {
  kDirect,  ///< two nodes, one cable per NIC pair, no switch
  kSingleSwitch,
  kLeafSpine,      ///< nodes fill leaves one after the other
  kRailOptimised,  ///< NIC i of every node of a scalable unit goes to leaf i of that unit
  kRailOnly,       ///< the same without spines: rails do not meet
  kFatTree,        ///< three levels: leaf, spine (per pod), core
  kDragonflyPlus,  ///< parsed, not built yet
  kCustom,         ///< as "fabric/custom.h" describes it
};
std::string_view name_of(TopologyKind kind);

struct TopologySpec {
  TopologyKind kind = TopologyKind::kLeafSpine;
  int nodes = 0;
  int gpus_per_node = 0;
  int nics_per_node = 0;
  base::Rate nic_rate;
  int switch_ports = 0;      ///< at `switch_rate`
  base::Rate switch_rate;    ///< of one switch port; at least `nic_rate`
  int max_uplink_split = 1;  ///< 1, 2 or 4: parts that one switch port may be split into uplinks
  double oversubscription = 1.0;  ///< bandwidth down over bandwidth up of a leaf
  double cable_m = 10;            ///< every cable, metres
  double cable_ns_per_m = 5;
  int nodes_per_leaf = 0;    ///< rack plan of leaf-spine and fat-tree; 0: leaves are filled
  int management_ports = 0;  ///< leaf ports kept for UFM or a subnet manager, in the whole fabric
  int scalable_unit_nodes = 0;  ///< nodes of a rail group; 0: as many as a leaf has down ports
  HostLinks host;               ///< between the GPUs of every node and its adapters
};

/// Numbers of devices and cables; zero where a layer does not exist.
struct Sizing {
  int tiers = 0;  ///< 0 direct, 1, 2 or 3
  int leaves = 0;
  int spines = 0;
  int cores = 0;
  int pods = 0;                      ///< of three tiers; spines / pods serve leaves_per_pod leaves
  int leaves_per_pod = 0;            ///< the last pod may hold fewer
  int down_ports = 0;                ///< of a leaf, planned for endpoints
  int up_ports = 0;                  ///< of a leaf, after splitting
  int spine_up_ports = 0;            ///< of a spine, towards the cores
  int uplink_split = 1;              ///< 1, 2 or 4: an 800G uplink as 2 x 400G or 4 x 200G
  base::Rate uplink_rate;            ///< of one uplink after splitting
  std::int64_t endpoint_cables = 0;  ///< NICs and management ports
  std::int64_t leaf_spine_cables = 0;  ///< one per whole leaf port, however it is split
  std::int64_t spine_core_cables = 0;
};

/// Sizes a fabric by the divisibility rule: the spine count is the smallest divisor s of a leaf's
/// uplinks with s * ports >= leaves * uplinks; failing that uplinks are split, then a third tier is
/// added. Throws base::Error (input) when no such fabric exists, with the numbers.
Sizing size(const TopologySpec& spec);

enum class DeviceKind : std::uint8_t { kAdapter, kSwitch };

struct Device {
  DeviceKind kind = DeviceKind::kSwitch;
  std::uint8_t tier = 0;  ///< 0 adapter, 1 leaf, 2 spine, 3 core
  std::uint32_t first_port = 0;
  std::uint32_t port_count = 0;
  std::string name;  ///< "leaf0", "spine3", "node2/nic1"
};

struct Port {
  DeviceId device;
  PortId peer;       ///< the port at the other end of the cable
  base::Rate rate;   ///< per direction
  base::Time delay;  ///< propagation through the cable
};

class ForwardingTables;
class ForwardingCache;
enum class RoutingEngine;

class Fabric {
 public:
  const TopologySpec& spec() const { return spec_; }
  const Sizing& sizing() const { return sizing_; }
  std::span<const Device> devices() const { return devices_; }
  std::span<const Port> ports() const { return ports_; }
  const Device& device(DeviceId id) const { return devices_[id.index()]; }
  const Port& port(PortId id) const { return ports_[id.index()]; }
  /// "leaf0:3": device name and port number within it.
  std::string port_name(PortId id) const;
  /// The port of that name; none when there is no such device or port.
  std::optional<PortId> port_named(std::string_view name) const;

  int endpoints() const { return spec_.nodes * spec_.nics_per_node; }
  int gpus() const { return spec_.nodes * spec_.gpus_per_node; }
  int node_of(base::Rank gpu) const { return static_cast<int>(gpu.index()) / spec_.gpus_per_node; }
  /// The adapter next to a GPU: NICs are shared out evenly over the GPUs of a node.
  EndpointId endpoint_of(base::Rank gpu) const;
  /// The adapter's port towards the fabric.
  PortId endpoint_port(EndpointId endpoint) const { return endpoint_ports_[endpoint.index()]; }

  /// Egress ports of `at` (a switch; an adapter has its one port) that lie on a shortest path to
  /// `destination`; the order is the same at every call. Empty when unreachable (rail-only, other
  /// rail).
  std::span<const PortId> next_hops(DeviceId at, EndpointId destination) const;
  /// True when a path leads from one adapter to another (on rail-only, rails do not meet).
  bool connected(EndpointId from, EndpointId to) const;
  /// True when whoever described the fabric said where packets go, too ("fabric/custom.h"): then
  /// `next_hops` need not be shortest, and no routing engine fills tables.
  bool routes_given() const { return routes_given_; }

 private:
  friend class FabricBuilder;
  friend std::shared_ptr<const ForwardingTables> shared_forwarding(const Fabric& fabric,
                                                                   RoutingEngine engine,
                                                                   std::span<const PortId> failed);
  TopologySpec spec_;
  Sizing sizing_;
  std::vector<Device> devices_;
  std::vector<Port> ports_;
  std::vector<PortId> endpoint_ports_;
  // Routing by destination leaf: group index per (switch, leaf), and the ports of each group.
  std::vector<std::uint32_t> endpoint_leaf_;
  std::vector<std::uint32_t> route_group_;
  std::vector<std::uint32_t> group_begin_;
  std::vector<PortId> group_ports_;
  std::uint32_t leaf_count_ = 0;
  bool routes_given_ = false;
  std::shared_ptr<ForwardingCache> forwarding_;  ///< tables filled so far; copies share them
};

/// Lays out the devices, cables and routing tables. Switches come first (leaves, spines, cores),
/// then adapters in the order of their endpoints. Only cabled ports exist; management ports are
/// counted by `size` and carry no endpoint. Throws as `size` does.
Fabric build(const TopologySpec& spec);

/// A node of it alone, for what does not leave it.
TopologySpec one_node(TopologySpec spec);

}  // namespace fabricast::fabric
