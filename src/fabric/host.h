#pragma once
// What lies between the GPUs of a node and its adapters, as far as it can hold payload back: slots,
// uplinks of PCIe switches, host memory, the link between the sockets. A link is one direction of a
// wire and shared by the adapters whose payload crosses it. Like the rest of this room it is counts
// and rates; the scenario works them out (docs/models/host.md), the packet engine plays them.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace fabricast::fabric {

enum class HostLinkKind : std::uint8_t { kSlot, kUplink, kMemory, kSockets };
/// "slot", "uplink", "memory", "sockets".
std::string_view name_of(HostLinkKind kind);

struct HostLink {
  HostLinkKind kind = HostLinkKind::kSlot;
  base::Rate rate;  ///< of everything that crosses it, headers included
};

/// For each byte of payload `bytes` cross link number `link` of the node.
struct HostCrossing {
  std::uint32_t link = 0;
  double bytes = 0;
};

/// What the payload of one adapter crosses.
struct HostWay {
  std::vector<HostCrossing> send;
  std::vector<HostCrossing> receive;
};

struct HostLinks {
  std::vector<HostLink> links;  ///< of one node; all nodes are alike
  std::vector<HostWay> ways;    ///< one per adapter of a node, or none: hosts hold nothing back
  /// Of an adapter and class: what may wait for the host until PFC pauses, or packets drop.
  base::Bytes receive_buffer;
  base::Time send_latency;     ///< beyond that of an adapter beside its GPU
  base::Time receive_latency;  ///< the same
  /// Staging: a message waits until its first `copy_chunk` lies in host memory, and its receiver
  /// for the last one to reach the GPU. No staging where the chunk is 0.
  base::Bytes copy_chunk;
  base::Rate copy_rate;
  base::Time copy_latency;  ///< of one copy, whatever its size

  /// What staging adds to a message at either end.
  base::Time copy_time(base::Bytes message) const;
};

/// What one adapter gets, payload per direction, when all adapters of a node send and receive.
struct HostLimit {
  base::Rate rate;
  HostLinkKind link = HostLinkKind::kSlot;  ///< what holds it
};
/// None where hosts hold nothing back.
std::optional<HostLimit> limit(const HostLinks& host);

/// A digest of everything, for the phase cache.
std::uint64_t digest(const HostLinks& host);

}  // namespace fabricast::fabric
