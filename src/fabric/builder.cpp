#include "fabric/builder.h"

#include "fabric/forwarding.h"

namespace fabricast::fabric {

FabricBuilder::FabricBuilder(const TopologySpec& spec, const Sizing& sizing, std::uint32_t leaves) {
  fabric_.spec_ = spec;
  fabric_.sizing_ = sizing;
  fabric_.leaf_count_ = leaves;
  fabric_.forwarding_ = make_forwarding_cache();
}

void FabricBuilder::add_device(DeviceKind kind, unsigned tier, std::string name) {
  Device device;
  device.kind = kind;
  device.tier = static_cast<std::uint8_t>(tier);
  device.name = std::move(name);
  fabric_.devices_.push_back(std::move(device));
}

void FabricBuilder::number_ports() {
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
  for (const Cable& cable : cables_) {
    const PortId a(cursor[cable.a]++);
    const PortId b(cursor[cable.b]++);
    fabric_.ports_[a.index()] = {DeviceId(cable.a), b, cable.rate, cable.delay};
    fabric_.ports_[b.index()] = {DeviceId(cable.b), a, cable.rate, cable.delay};
  }
  for (const Device& device : devices) {
    if (device.kind == DeviceKind::kAdapter) {
      fabric_.endpoint_ports_.emplace_back(device.first_port);
    }
  }
}

void FabricBuilder::start_routes() {
  fabric_.group_begin_ = {0, 0};  // group 0 is empty: unreachable
  std::size_t switches = 0;
  for (const Device& device : devices()) switches += device.kind == DeviceKind::kSwitch ? 1 : 0;
  fabric_.route_group_.assign(switches * fabric_.leaf_count_, 0);
}

std::uint32_t FabricBuilder::add_group(const std::vector<std::uint32_t>& ports) {
  for (const std::uint32_t port : ports) fabric_.group_ports_.emplace_back(port);
  fabric_.group_begin_.push_back(static_cast<std::uint32_t>(fabric_.group_ports_.size()));
  return static_cast<std::uint32_t>(fabric_.group_begin_.size() - 2);
}

}  // namespace fabricast::fabric
