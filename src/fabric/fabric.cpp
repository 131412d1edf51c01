#include "fabric/fabric.h"

#include <charconv>

#include <fmt/format.h>

namespace fabricast::fabric {

std::string_view name_of(TopologyKind kind) {
  switch (kind) {
    case TopologyKind::kDirect:
      return "direct";
    case TopologyKind::kSingleSwitch:
      return "single-switch";
    case TopologyKind::kLeafSpine:
      return "leaf-spine";
    case TopologyKind::kRailOptimised:
      return "rail-optimised";
    case TopologyKind::kRailOnly:
      return "rail-only";
    case TopologyKind::kFatTree:
      return "fat-tree";
    case TopologyKind::kCustom:
      return "custom";
    case TopologyKind::kDragonflyPlus:
      break;
  }
  return "dragonfly-plus";
}

std::string Fabric::port_name(PortId id) const {
  const Device& owner = device(port(id).device);
  return fmt::format("{}:{}", owner.name, id.index() - owner.first_port);
}

std::optional<PortId> Fabric::port_named(std::string_view name) const {
  const std::size_t colon = name.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::uint32_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, problem] = std::from_chars(name.data() + colon + 1, end, number);
  if (problem != std::errc() || stop != end) return std::nullopt;
  for (const Device& candidate : devices_) {
    if (candidate.name != name.substr(0, colon)) continue;
    if (number >= candidate.port_count) return std::nullopt;
    return PortId(candidate.first_port + number);
  }
  return std::nullopt;
}

EndpointId Fabric::endpoint_of(base::Rank gpu) const {
  const auto gpus_per_node = static_cast<std::uint32_t>(spec_.gpus_per_node);
  const auto nics = static_cast<std::uint32_t>(spec_.nics_per_node);
  const std::uint32_t node = gpu.index() / gpus_per_node;
  const std::uint32_t local = gpu.index() % gpus_per_node;
  return EndpointId(node * nics + local * nics / gpus_per_node);
}

std::span<const PortId> Fabric::next_hops(DeviceId at, EndpointId destination) const {
  const Device& here = device(at);
  if (here.kind == DeviceKind::kAdapter) {
    // An adapter's port is stored as its peer's peer, which gives it an address to point at.
    return {&port(ports_[here.first_port].peer).peer, 1};
  }
  const std::uint32_t leaf = endpoint_leaf_[destination.index()];
  if (at.index() == leaf) return {&port(endpoint_port(destination)).peer, 1};
  const std::uint32_t group =
      route_group_[static_cast<std::size_t>(at.index()) * leaf_count_ + leaf];
  return {group_ports_.data() + group_begin_[group], group_ports_.data() + group_begin_[group + 1]};
}

bool Fabric::connected(EndpointId from, EndpointId to) const {
  if (from == to) return true;
  const PortId arrived = port(endpoint_port(from)).peer;
  const DeviceId next = port(arrived).device;
  if (device(next).kind == DeviceKind::kAdapter) return arrived == endpoint_port(to);
  return !next_hops(next, to).empty();
}

}  // namespace fabricast::fabric
