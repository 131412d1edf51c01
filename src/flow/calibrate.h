#pragma once
// Learns from the packet level what sharing alone does not know: each question is played twice on a
// small network made of the fabric's own links, packet by packet and as plain flows, and the
// difference is the answer.

#include <functional>
#include <memory>
#include <string>

#include "catalog/fabric_profile.h"
#include "fabric/fabric.h"
#include "flow/behaviour.h"
#include "network/network.h"

namespace fabricast::flow {

/// Makes a packet network of the profile on a small fabric.
using PacketNetworks = std::function<std::unique_ptr<network::Network>(
    std::shared_ptr<const fabric::Fabric> fabric, std::uint64_t seed)>;

/// Takes some 0.1 to 1 s.
Behaviour calibrate(const fabric::Fabric& fabric, const catalog::FabricProfile& profile,
                    const PacketNetworks& packet_networks);

/// Everything of the fabric and the profile that decides the answer, for a store.
std::string calibration_key(const fabric::Fabric& fabric, const catalog::FabricProfile& profile);

/// As text that reads back to the last bit.
std::string to_text(const Behaviour& behaviour);
/// Throws base::Error (failure) on anything that `to_text` has not written.
Behaviour behaviour_of(const std::string& text);

}  // namespace fabricast::flow
