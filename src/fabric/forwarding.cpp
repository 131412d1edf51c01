#include "fabric/forwarding.h"

#include <algorithm>
#include <utility>

#include "fabric/subnet.h"

namespace fabricast::fabric {

std::string_view name_of(RoutingEngine engine) {
  switch (engine) {
    case RoutingEngine::kFatTree:
      return "ftree";
    case RoutingEngine::kFatTreeRoots:
      return "ftree-roots";
    case RoutingEngine::kUpDown:
      return "updn";
    case RoutingEngine::kSpanningTree:
      return "spanning-tree";
    case RoutingEngine::kMinHop:
      break;
  }
  return "minhop";
}

Subnet::Subnet(const Fabric& fabric, std::span<const PortId> failed) : fabric_(&fabric) {
  for (const Device& device : fabric.devices()) {
    if (device.kind == DeviceKind::kSwitch) ++switches_;
  }
  for (std::uint32_t at = 0; at < switches_; ++at) {
    first_port_.push_back(fabric.devices()[at].first_port);
  }
  const bool any = switches_ > 0;
  first_port_.push_back(any ? first_port_.back() + fabric.devices()[switches_ - 1].port_count : 0);
  std::vector<std::uint8_t> down(fabric.ports().size());
  for (const PortId port : failed) {
    down[port.index()] = 1;
    down[fabric.port(port).peer.index()] = 1;
  }
  neighbour_.assign(switch_ports(), kNone);
  adapters_.resize(switches_);
  discovered_.resize(switches_);
  attached_.resize(static_cast<std::size_t>(fabric.endpoints()));
  for (std::uint32_t e = 0; e < attached_.size(); ++e) {
    attached_[e] = down[fabric.endpoint_port(EndpointId(e)).index()] == 0 ? 1 : 0;
  }
  for (std::uint32_t port = 0; port < switch_ports(); ++port) {
    if (down[port] != 0) continue;
    const std::uint32_t at = fabric.port(PortId(port)).device.index();
    const std::uint32_t beyond = fabric.port(PortId(peer(port))).device.index();
    discovered_[at] = 1;
    if (beyond < switches_) {
      neighbour_[port] = beyond;
    } else {
      adapters_[at].push_back({beyond - switches_, port});
    }
  }
}

std::vector<std::uint32_t> Subnet::top_tier() const {
  const auto tier = [&](std::uint32_t at) { return fabric_->devices()[at].tier; };
  unsigned top = 0;
  for (std::uint32_t at = 0; at < switches_; ++at) {
    if (discovered(at)) top = std::max<unsigned>(top, tier(at));
  }
  std::vector<std::uint32_t> found;
  for (std::uint32_t at = 0; at < switches_; ++at) {
    if (discovered(at) && tier(at) == top) found.push_back(at);
  }
  return found;
}

ForwardingTables forwarding(const Fabric& fabric, RoutingEngine engine,
                            std::span<const PortId> failed) {
  const Subnet subnet(fabric, failed);
  Table table(subnet);
  ForwardingTables tables;
  tables.engine_ = engine;
  if (engine == RoutingEngine::kFatTree || engine == RoutingEngine::kFatTreeRoots) {
    tables.fallback_ = route_fat_tree(subnet, engine == RoutingEngine::kFatTreeRoots, table);
    if (!tables.fallback_.empty()) tables.engine_ = RoutingEngine::kMinHop;
  }
  if (tables.engine_ == RoutingEngine::kMinHop) route_min_hop(subnet, table);
  if (tables.engine_ == RoutingEngine::kUpDown) route_up_down(subnet, table);
  if (tables.engine_ == RoutingEngine::kSpanningTree) route_spanning_tree(subnet, table);
  tables.switches_ = subnet.switches();
  for (std::uint32_t at = 0; at < subnet.switches(); ++at) {
    tables.first_port_.push_back(subnet.first_port(at));
  }
  for (int e = 0; e < fabric.endpoints(); ++e) {
    tables.attached_.push_back(subnet.attached(static_cast<std::uint32_t>(e)) ? 1 : 0);
  }
  tables.table_ = std::move(table).take();
  return tables;
}

}  // namespace fabricast::fabric
