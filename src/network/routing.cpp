#include "network/routing.h"

namespace fabricast::network {

namespace {

fabric::RoutingEngine routing_engine(const catalog::FabricProfile::Paths& paths, bool damaged) {
  if (paths.routing == catalog::Routing::kSpanningTree) return fabric::RoutingEngine::kSpanningTree;
  switch (paths.engine) {
    case catalog::SubnetRouting::kUpDown:
      return fabric::RoutingEngine::kUpDown;
    case catalog::SubnetRouting::kMinHop:
      return fabric::RoutingEngine::kMinHop;
    case catalog::SubnetRouting::kFatTree:
      break;
  }
  return damaged ? fabric::RoutingEngine::kFatTreeRoots : fabric::RoutingEngine::kFatTree;
}

}  // namespace

std::shared_ptr<const fabric::ForwardingTables> forwarding_tables(
    const fabric::Fabric& fabric, const catalog::FabricProfile::Paths& paths,
    std::span<const fabric::PortId> failed) {
  const bool one_path = paths.routing == catalog::Routing::kStatic ||
                        paths.routing == catalog::Routing::kSpanningTree;
  if (!one_path || fabric.routes_given()) return nullptr;
  return fabric::shared_forwarding(fabric, routing_engine(paths, !failed.empty()), failed);
}

}  // namespace fabricast::network
