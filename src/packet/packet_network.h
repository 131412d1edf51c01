#pragma once
// Packets in motion. One engine, compiled once per kind of fabric, so that InfiniBand pays nothing
// for ECN and Ethernet nothing for credits: shared-buffer switches with PFC and ECN and DCQCN
// senders for RoCE v2; credits per link for InfiniBand; windowed TCP with host CPUs and tail drop.
// Mechanisms, equations and sources: docs/models/packet.md.

#include <memory>
#include <string>
#include <vector>

#include "catalog/fabric_profile.h"
#include "network/network.h"
#include "network/node_links.h"
#include "packet/faults.h"

namespace fabricast::packet {

/// What one directed link has carried and suffered since the start.
struct LinkUse {
  fabric::PortId port;  ///< its egress
  base::Bytes sent;     ///< on the wire, headers and gaps included
  base::Bytes queued;   ///< now
  base::Bytes max_queued;
  base::Time paused;   ///< held by PFC
  base::Time stalled;  ///< without credits
};

/// A network that can be looked into.
class PacketNetwork : public network::Network {
 public:
  /// Every port's egress, in the order of the fabric's ports.
  virtual std::vector<LinkUse> links() const = 0;
  /// Threads that share the run; 1 where it could not be shared.
  virtual int threads() const { return 1; }

  std::vector<base::Bytes> sent_by_port() const final;

  void reduce(network::ReductionGroup group, base::Rank rank, base::Bytes size,
              const network::Callback& on_complete) final;

 protected:
  virtual base::Bytes largest_reduction() const = 0;
  virtual void reduce_once(network::ReductionGroup group, base::Rank rank, base::Bytes size,
                           network::Callback on_complete) = 0;
};

/// A fresh, idle network. `fabric` must outlive it (it is shared). Throws base::Error (input) when
/// the profile asks for what cannot be built on this fabric (no shared pool after headroom, a
/// virtual lane's buffer above the credit limit of 128 KiB or below two packets). With several
/// `threads` its devices are shared out, as far as that can be done (parallel_network.h); nothing
/// but the time that a run takes depends on them.
std::unique_ptr<PacketNetwork> make_network(std::shared_ptr<const fabric::Fabric> fabric,
                                            const catalog::FabricProfile& profile,
                                            network::NodeLinkSpec node_links, std::uint64_t seed,
                                            const Faults& faults = {}, int threads = 1);

/// Why the subnet manager falls back to minhop where `paths.engine: ftree` was asked for: what
/// makes a fabric of several tiers no fat-tree to OpenSM. Empty when it does not. Fills the tables.
std::string routing_fallback(const fabric::Fabric& fabric, const catalog::FabricProfile& profile);

/// Makes such networks for one fabric and profile.
network::Factory factory(std::shared_ptr<const fabric::Fabric> fabric,
                         const catalog::FabricProfile& profile, network::NodeLinkSpec node_links,
                         const Faults& faults = {});

}  // namespace fabricast::packet
