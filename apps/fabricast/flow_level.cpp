#include "flow_level.h"

#include <optional>
#include <utility>
#include <vector>

#include "commands.h"
#include "flow/calibrate.h"
#include "flow/flow_network.h"
#include "packet/packet_network.h"

namespace fabricast::apps {
namespace {

/// None when one of them is beyond flows.
std::optional<std::vector<flow::LinkFault>> link_faults(const packet::Faults& faults) {
  std::vector<flow::LinkFault> result;
  for (const packet::Fault& fault : faults.schedule) {
    const bool down = fault.kind == packet::Fault::Kind::kLinkDown;
    if (!down && fault.kind != packet::Fault::Kind::kDegraded) return std::nullopt;
    result.push_back({fault.port, fault.at, fault.duration, down ? 0 : fault.value, fault.settled});
  }
  return result;
}

}  // namespace

std::function<network::Factory(double load)> flow_level(
    const scenario::ValidScenario& scenario, const scenario::FabricChoice& choice,
    std::shared_ptr<const fabric::Fabric> fabric, const packet::Faults& faults) {
  const auto cables = link_faults(faults);
  if (!cables) return {};
  const network::NodeLinkSpec inside = node_links(scenario.cluster.gpu);
  const catalog::FabricProfile& profile = choice.profile;
  return [=, fabric = std::move(fabric)](double load) {
    const auto packets = [&](std::shared_ptr<const fabric::Fabric> small, std::uint64_t seed) {
      return packet::make_network(std::move(small), profile, inside, seed);
    };
    const auto behaviour =
        std::make_shared<const flow::Behaviour>(flow::calibrate(*fabric, profile, packets));
    return flow::factory(fabric, profile, inside, behaviour, *cables, load);
  };
}

}  // namespace fabricast::apps
