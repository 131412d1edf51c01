#pragma once
// What a connection crosses, as links that `Sharing` knows. A port is a link. Where switches spread
// packets over their next hops (adaptive routing), the ports that they spread over are one link, as
// wide as all of them, since no one of them is full before the others.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "catalog/fabric_profile.h"
#include "fabric/fabric.h"
#include "flow/sharing.h"
#include "network/routing.h"

namespace fabricast::flow {

struct Path {
  std::vector<Crossing> crossings;
  int links = 0;  ///< from adapter to adapter
};

class Paths {
 public:
  /// Adds the links of the fabric to `sharing`; port p is link p. `goodput` is what payload has of
  /// a wire. PRECONDITION: all outlive the object, and `sharing` has no links yet.
  Paths(const fabric::Fabric& fabric, const catalog::FabricProfile& profile, double goodput,
        Sharing& sharing);

  /// Between the adapters of two GPUs on different nodes, for a flow of this hash. Throws
  /// base::Error (failure) when the fabric does not join them.
  Path path(fabric::EndpointId from, fabric::EndpointId to, std::uint64_t hash);
  /// The same, added to `crossings` as crossings like `as`; returns the links of the path.
  int cross(fabric::EndpointId from, fabric::EndpointId to, std::uint64_t hash, const Crossing& as,
            std::vector<Crossing>& crossings);

  /// From now on paths avoid these ports and their peers.
  void avoid(std::span<const fabric::PortId> failed);
  /// The links that a port is part of are as wide as its `share` of itself makes them.
  void set_rate(fabric::PortId port, double share);

 private:
  std::uint32_t link_over(std::vector<fabric::PortId> ports);
  bool leads_on(fabric::PortId port, fabric::EndpointId to) const;
  fabric::PortId next(fabric::DeviceId at, fabric::EndpointId to, std::uint64_t hash) const;
  int single(fabric::EndpointId from, fabric::EndpointId to, std::uint64_t hash, const Crossing& as,
             std::vector<Crossing>& crossings) const;
  int spread(fabric::EndpointId from, fabric::EndpointId to, const Crossing& as,
             std::vector<Crossing>& crossings);
  std::vector<std::uint32_t> stages(fabric::EndpointId from, fabric::EndpointId to);
  double capacity(fabric::PortId port) const;
  base::Error no_route(fabric::EndpointId from, fabric::EndpointId to) const;

  const fabric::Fabric& fabric_;
  const catalog::FabricProfile& profile_;
  double goodput_;
  Sharing& sharing_;
  std::shared_ptr<const fabric::ForwardingTables> tables_;
  std::vector<double> rate_share_;     ///< of each port
  std::vector<std::uint8_t> avoided_;  ///< of each port
  bool avoiding_ = false;
  std::map<std::vector<fabric::PortId>, std::uint32_t> bundles_;  ///< ports that are one link
  /// Where packets are spread: the links from one leaf to another, by the two and as they stand in
  /// `stages_`.
  base::FlatMap<std::uint32_t> between_leaves_;
  std::vector<std::vector<std::uint32_t>> stages_;
};

}  // namespace fabricast::flow
