#include "packet/packet_network.h"

#include "base/error.h"
#include "packet/engine.h"

namespace fabricast::packet {

std::unique_ptr<PacketNetwork> make_network(std::shared_ptr<const fabric::Fabric> fabric,
                                            const catalog::FabricProfile& profile,
                                            network::NodeLinkSpec node_links, std::uint64_t seed,
                                            Faults faults) {
  switch (profile.kind) {
    case FabricKind::kInfiniBand:
      return std::make_unique<Engine<FabricKind::kInfiniBand>>(std::move(fabric), profile,
                                                               node_links, seed, std::move(faults));
    case FabricKind::kRoceV1:  // the same adapters and switches under other headers
    case FabricKind::kRoceV2:
      return std::make_unique<Engine<FabricKind::kRoceV2>>(std::move(fabric), profile, node_links,
                                                           seed, std::move(faults));
    case FabricKind::kTcp:
      return std::make_unique<Engine<FabricKind::kTcp>>(std::move(fabric), profile, node_links,
                                                        seed, std::move(faults));
  }
  throw base::failure("unknown kind of fabric");
}

std::string routing_fallback(const fabric::Fabric& fabric, const catalog::FabricProfile& profile) {
  const bool tables = profile.kind == FabricKind::kInfiniBand && !fabric.routes_given() &&
                      profile.paths.routing == catalog::Routing::kStatic;
  if (!tables || fabric.sizing().tiers < 2) return {};  // one switch has one way, whatever engine
  return fabric::shared_forwarding(fabric, detail::routing_engine(profile.paths, false))
      ->fallback();
}

network::Factory factory(std::shared_ptr<const fabric::Fabric> fabric,
                         const catalog::FabricProfile& profile, network::NodeLinkSpec node_links) {
  return [fabric = std::move(fabric), profile, node_links](std::uint64_t seed) {
    return make_network(fabric, profile, node_links, seed);
  };
}

}  // namespace fabricast::packet
