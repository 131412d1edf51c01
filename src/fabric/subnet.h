#pragma once
// What a subnet manager discovers of a Fabric whose cables may be down: the working links between
// switches, and the adapters of each switch in the order of its ports. Shared by the routing
// engines.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fabric/fabric.h"

namespace fabricast::fabric {

constexpr std::uint16_t kNoLocalPort = 0xffff;

class Subnet {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  Subnet(const Fabric& fabric, std::span<const PortId> failed);

  const Fabric& fabric() const { return *fabric_; }
  std::uint32_t switches() const { return switches_; }
  std::uint32_t first_port(std::uint32_t at) const { return first_port_[at]; }
  std::uint32_t end_port(std::uint32_t at) const { return first_port_[at + 1]; }
  /// Ports of all switches; those of adapters are numbered behind them.
  std::uint32_t switch_ports() const { return first_port_[switches_]; }
  /// The switch that a switch port leads to; kNone for an adapter or a cable that is down.
  std::uint32_t neighbour(std::uint32_t port) const { return neighbour_[port]; }
  std::uint32_t peer(std::uint32_t port) const { return fabric_->port(PortId(port)).peer.index(); }
  std::uint16_t local(std::uint32_t at, std::uint32_t port) const {
    return static_cast<std::uint16_t>(port - first_port_[at]);
  }

  struct Adapter {
    std::uint32_t endpoint = 0;
    std::uint32_t port = 0;  ///< of the switch
  };
  /// In port order.
  std::span<const Adapter> adapters(std::uint32_t at) const { return adapters_[at]; }
  bool attached(std::uint32_t endpoint) const { return attached_[endpoint] != 0; }
  /// True for a switch with a working cable; the others are not part of the subnet.
  bool discovered(std::uint32_t at) const { return discovered_[at] != 0; }
  /// The discovered switches of the highest tier: what an operator would name as the roots.
  std::vector<std::uint32_t> top_tier() const;

 private:
  const Fabric* fabric_;
  std::uint32_t switches_ = 0;
  std::vector<std::uint32_t> first_port_;
  std::vector<std::uint32_t> neighbour_;
  std::vector<std::vector<Adapter>> adapters_;
  std::vector<std::uint8_t> attached_;
  std::vector<std::uint8_t> discovered_;
};

/// The tables of all switches for one destination: its row of local ports, one per switch.
class Table {
 public:
  explicit Table(const Subnet& subnet)
      : switches_(subnet.switches()),
        entries_(static_cast<std::size_t>(subnet.fabric().endpoints()) * switches_, kNoLocalPort) {}

  std::span<std::uint16_t> row(std::uint32_t endpoint) {
    return {entries_.data() + endpoint * switches_, switches_};
  }
  std::vector<std::uint16_t> take() && { return std::move(entries_); }

 private:
  std::size_t switches_;
  std::vector<std::uint16_t> entries_;
};

/// OpenSM's minhop and updn: osm_ucast_mgr.c, osm_ucast_updn.c.
void route_min_hop(const Subnet& subnet, Table& table);
void route_up_down(const Subnet& subnet, Table& table);

/// Along one tree: bridges of one layer-2 domain.
void route_spanning_tree(const Subnet& subnet, Table& table);

/// OpenSM's ftree: osm_ucast_ftree.c. Without given roots it finds them and insists on a whole
/// tree. Returns why the subnet is no fat-tree, with the table untouched; empty when it is one and
/// the table is filled.
std::string route_fat_tree(const Subnet& subnet, bool roots_given, Table& table);

}  // namespace fabricast::fabric
