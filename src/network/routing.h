#pragma once
// Which way a connection goes and how its messages lie on it: what the packet engine and the flow
// level have to agree on, so that the same queue pairs meet on the same links at both.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include "base/random.h"
#include "catalog/fabric_profile.h"
#include "fabric/forwarding.h"
#include "network/network.h"

namespace fabricast::network {

/// Names the connection of two ranks on a channel and traffic class, below 2^64.
inline std::uint64_t connection_key(base::Rank src, base::Rank dst, const SendOptions& options) {
  return (static_cast<std::uint64_t>(options.traffic_class) << 61) |
         (static_cast<std::uint64_t>(src.index()) << 40) |
         (static_cast<std::uint64_t>(dst.index()) << 16) | options.channel;
}

/// The 5-tuple hash of queue pair (or socket) number `index` of a connection.
inline std::uint64_t flow_hash(std::uint64_t seed, std::uint64_t connection_key, int index,
                               unsigned traffic_class) {
  const std::uint64_t pair = base::mix64(connection_key * 64 + static_cast<std::uint64_t>(index));
  return base::mix64(base::mix64(seed ^ base::hash_name("ecmp")) ^ pair ^
                     traffic_class * 0x9e3779b97f4a7c15ULL);  // its bits left the product
}

/// A flow's hash at one switch; salted, so that two tiers do not choose alike.
inline std::uint64_t switch_hash(std::uint64_t flow_hash, std::uint32_t device) {
  return base::mix64(flow_hash ^ base::mix64(device));
}

/// Queue pairs (or sockets) of a connection.
inline int flows_per_connection(const catalog::FabricProfile& profile) {
  return profile.kind == catalog::FabricKind::kTcp ? profile.tcp.streams_per_connection
                                                   : profile.paths.qps_per_connection;
}

/// How a message lies on the flows of its connection.
class Shares {
 public:
  /// The sockets of TCP each carry a part of every message. Queue pairs take messages in turn, or
  /// each its part of every message (NCCL_IB_SPLIT_DATA_ON_QPS), which NCCL aligns to 128 bytes.
  Shares(const catalog::FabricProfile& profile, std::int64_t message) : message_(message) {
    constexpr std::int64_t kAlignment = 128;
    const std::int64_t flows = flows_per_connection(profile);
    in_turn_ = profile.kind != catalog::FabricKind::kTcp && !profile.paths.split_messages;
    if (profile.kind == catalog::FabricKind::kTcp) {
      parts_ = flows < message ? flows : message;
    } else {
      part_ = in_turn_ ? message
                       : ((message + flows - 1) / flows + kAlignment - 1) / kAlignment * kAlignment;
      parts_ = (message + part_ - 1) / part_;
    }
  }
  /// True when the whole message goes to the flow whose turn it is.
  bool in_turn() const { return in_turn_; }
  std::int64_t parts() const { return parts_; }
  std::int64_t bytes(std::int64_t part) const {
    if (part_ == 0) return message_ * (part + 1) / parts_ - message_ * part / parts_;
    return part_ < message_ - part * part_ ? part_ : message_ - part * part_;
  }

 private:
  std::int64_t message_;
  std::int64_t part_ = 0;  ///< 0: equal parts
  std::int64_t parts_ = 1;
  bool in_turn_ = false;
};

/// What the subnet manager, or the spanning tree, makes of the fabric without the cables of
/// `failed`; none where switches choose among paths, or next hops are part of the fabric. An
/// operator who asks for ftree names its roots, so that a tree that lacks cables stays one.
std::shared_ptr<const fabric::ForwardingTables> forwarding_tables(
    const fabric::Fabric& fabric, const catalog::FabricProfile::Paths& paths,
    std::span<const fabric::PortId> failed);

/// Where the next hops of a flow that has no table lead: by its hash where switches spread flows,
/// else the first, among those that `leads_on` accepts. None when it accepts none.
template <class LeadsOn>
fabric::PortId pick_next_hop(std::span<const fabric::PortId> choices, catalog::Routing routing,
                             std::uint64_t hash, std::uint32_t device, const LeadsOn& leads_on) {
  const auto count =
      static_cast<std::uint64_t>(std::count_if(choices.begin(), choices.end(), leads_on));
  if (count == 0) return fabric::PortId::none();
  const bool spread = routing == catalog::Routing::kEcmp || routing == catalog::Routing::kAdaptive;
  auto pick = spread ? switch_hash(hash, device) % count : 0;
  for (const fabric::PortId port : choices) {
    if (leads_on(port) && pick-- == 0) return port;
  }
  return fabric::PortId::none();
}

}  // namespace fabricast::network
