#include "validation/behaviours.h"

#include "collective/choice.h"
#include "flow/flow_network.h"
#include "packet/packet_network.h"

namespace fabricast::validation {

std::shared_ptr<const flow::Behaviour> Behaviours::of(const fabric::Fabric& fabric,
                                                      const catalog::FabricProfile& profile,
                                                      const flow::PacketNetworks& packets) {
  const std::lock_guard lock(mutex_);
  auto& known = known_[flow::calibration_key(fabric, profile)];
  if (!known) {
    known = std::make_shared<const flow::Behaviour>(flow::calibrate(fabric, profile, packets));
  }
  return known;
}

collective::Networks networks_of(const scenario::ValidScenario& job,
                                 const std::shared_ptr<const fabric::Fabric>& fabric,
                                 Behaviours& behaviours) {
  const scenario::FabricChoice& choice = job.fabrics.front();
  const network::NodeLinkSpec inside = collective::node_links(job.cluster.gpu);
  collective::Networks networks;
  networks.packet = packet::factory(fabric, choice.profile, inside);
  networks.node = packet::factory(
      std::make_shared<const fabric::Fabric>(fabric::build(fabric::one_node(choice.topology))),
      choice.profile, inside);
  networks.flow = [&choice, &behaviours, fabric, inside](double load) {
    const auto packets = [&](std::shared_ptr<const fabric::Fabric> small, std::uint64_t seed) {
      return packet::make_network(std::move(small), choice.profile, inside, seed);
    };
    return flow::factory(fabric, choice.profile, inside,
                         behaviours.of(*fabric, choice.profile, packets), {}, load);
  };
  return networks;
}

}  // namespace fabricast::validation
