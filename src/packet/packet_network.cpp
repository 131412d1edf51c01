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
                                                               node_links, seed, faults);
    case FabricKind::kRoceV2:
      return std::make_unique<Engine<FabricKind::kRoceV2>>(std::move(fabric), profile, node_links,
                                                           seed, faults);
    case FabricKind::kTcp:
      return std::make_unique<Engine<FabricKind::kTcp>>(std::move(fabric), profile, node_links,
                                                        seed, faults);
  }
  throw base::failure("unknown kind of fabric");
}

network::Factory factory(std::shared_ptr<const fabric::Fabric> fabric,
                         const catalog::FabricProfile& profile, network::NodeLinkSpec node_links) {
  return [fabric = std::move(fabric), profile, node_links](std::uint64_t seed) {
    return make_network(fabric, profile, node_links, seed);
  };
}

}  // namespace fabricast::packet
