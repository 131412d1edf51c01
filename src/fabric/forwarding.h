#pragma once
// Linear forwarding tables as an InfiniBand subnet manager fills them: one egress port per switch
// and destination, whatever the source. `forwarding` takes a Fabric and the cables that are down,
// and fills the tables by the rules of OpenSM 3.3 (docs/models/forwarding.md); "fabric/routes.h"
// follows and judges them.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/fabric.h"

namespace fabricast::fabric {

/// The routing engines of OpenSM (opensm(8), "Routing"), and what bridges do.
enum class RoutingEngine {
  kFatTree,       ///< ftree: destinations counted per port group, tier by tier; whole trees only
  kFatTreeRoots,  ///< ftree told its roots (root_guid_file): trees that lack cables, too
  kUpDown,        ///< updn: shortest paths that never turn up again, roots at the top tier
  kMinHop,        ///< minhop: shortest paths; may close a credit loop
  kSpanningTree,  ///< one tree of links for a layer-2 domain (IEEE 802.1D), its root at the top
};
/// OpenSM's own names: "ftree", "updn", "minhop"; "ftree-roots" for ftree told its roots, and
/// "spanning-tree".
std::string_view name_of(RoutingEngine engine);

class ForwardingTables {
 public:
  /// The engine that filled the tables: minhop where ftree was asked for and could not.
  RoutingEngine engine() const { return engine_; }
  /// Why ftree handed over to minhop; empty when it did not.
  const std::string& fallback() const { return fallback_; }
  /// False for an adapter whose own cable is down: it neither sends nor receives.
  bool attached(EndpointId endpoint) const { return attached_[endpoint.index()] != 0; }

  /// Egress port of switch `at` towards `destination`; PortId::none() when the table has none.
  /// An adapter has its one port.
  /// PRECONDITION: `at` is a switch.
  PortId egress(DeviceId at, EndpointId destination) const {
    const std::uint16_t local = table_[destination.index() * switches_ + at.index()];
    return local == kNoPort ? PortId::none() : PortId(first_port_[at.index()] + local);
  }

 private:
  friend ForwardingTables forwarding(const Fabric& fabric, RoutingEngine engine,
                                     std::span<const PortId> failed);
  static constexpr std::uint16_t kNoPort = 0xffff;

  RoutingEngine engine_ = RoutingEngine::kMinHop;
  std::string fallback_;
  std::size_t switches_ = 0;
  std::vector<std::uint32_t> first_port_;  ///< of each switch
  std::vector<std::uint8_t> attached_;     ///< of each endpoint
  std::vector<std::uint16_t> table_;       ///< local ports; the switches of a destination together
};

/// Fills the tables of every switch. Either port of a cable in `failed` takes the cable down.
/// A destination that an engine's rules cannot reach has no port, never a detour. Takes 2 bytes per
/// switch and endpoint: 42 MB and about a second for 16,384 endpoints on three tiers.
ForwardingTables forwarding(const Fabric& fabric, RoutingEngine engine,
                            std::span<const PortId> failed = {});

/// The same, filled once per fabric, engine and damage and then shared: networks are made often,
/// and from several threads.
std::shared_ptr<const ForwardingTables> shared_forwarding(const Fabric& fabric,
                                                          RoutingEngine engine,
                                                          std::span<const PortId> failed = {});
std::shared_ptr<ForwardingCache> make_forwarding_cache();

}  // namespace fabricast::fabric
