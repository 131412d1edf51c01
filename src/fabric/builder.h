#pragma once
// What all ways to lay out a Fabric share: devices, cables as pairs of devices, the numbering of
// ports, and next-hop groups per switch and destination switch.

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fabric/fabric.h"

namespace fabricast::fabric {

/// Collects cables as pairs of devices, then numbers the ports device by device. The order in which
/// the cables of a device are added is the order of its ports.
class FabricBuilder {
 protected:
  struct Cable {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    base::Rate rate;
    base::Time delay;
  };

  /// `leaves`: the switches that have adapters are among the first so many devices.
  FabricBuilder(const TopologySpec& spec, const Sizing& sizing, std::uint32_t leaves);

  const Sizing& sizing() const { return fabric_.sizing_; }
  const TopologySpec& spec() const { return fabric_.spec_; }
  const std::vector<Device>& devices() const { return fabric_.devices_; }
  const std::vector<Port>& ports() const { return fabric_.ports_; }
  std::uint32_t peer_device(std::uint32_t port) const {
    return fabric_.port(fabric_.ports_[port].peer).device.index();
  }

  void add_device(DeviceKind kind, unsigned tier, std::string name);
  void add_cable(const Cable& cable) { cables_.push_back(cable); }
  /// The next endpoint's switch; not called where endpoints have none.
  void set_leaf(std::uint32_t device) { fabric_.endpoint_leaf_.push_back(device); }
  /// PRECONDITION: all devices and cables are there, switches before adapters.
  void number_ports();

  /// Starts with every destination unreachable.
  void start_routes();
  /// A next-hop group of the ports given, in their order.
  std::uint32_t add_group(const std::vector<std::uint32_t>& ports);
  /// Adds the ports of `device` whose peer satisfies `wanted` as one next-hop group, in port order.
  template <class Wanted>
  std::uint32_t add_group_to(std::uint32_t device, Wanted wanted) {
    std::vector<std::uint32_t> ports;
    const Device& owner = fabric_.devices_[device];
    for (std::uint32_t p = owner.first_port; p < owner.first_port + owner.port_count; ++p) {
      if (wanted(peer_device(p))) ports.push_back(p);
    }
    return add_group(ports);
  }
  /// The next-hop group of `device` towards the adapters of a leaf.
  std::uint32_t& route(std::uint32_t device, std::uint32_t leaf) {
    return fabric_.route_group_[static_cast<std::size_t>(device) * fabric_.leaf_count_ + leaf];
  }
  std::span<const PortId> group(std::uint32_t index) const {
    return std::span(fabric_.group_ports_)
        .subspan(fabric_.group_begin_[index],
                 fabric_.group_begin_[index + 1] - fabric_.group_begin_[index]);
  }
  void set_routes_given() { fabric_.routes_given_ = true; }

  Fabric take() { return std::move(fabric_); }

 private:
  Fabric fabric_;
  std::vector<Cable> cables_;
};

}  // namespace fabricast::fabric
