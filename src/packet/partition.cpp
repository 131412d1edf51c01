#include "packet/partition.h"

#include <algorithm>

namespace fabricast::packet {

namespace {

constexpr std::uint8_t kNowhere = 0xff;

class Partitioner {
 public:
  Partitioner(const fabric::Fabric& fabric, unsigned parts) : fabric_(fabric), ports_(parts) {
    part_of_.assign(fabric.devices().size(), kNowhere);
  }

  /// Adapters below each switch; 0 at what is none.
  static std::vector<std::uint32_t> adapters_below(const fabric::Fabric& fabric) {
    std::vector<std::uint32_t> below(fabric.devices().size());
    for (int e = 0; e < fabric.endpoints(); ++e) {
      const fabric::PortId port =
          fabric.endpoint_port(fabric::EndpointId(static_cast<std::uint32_t>(e)));
      const fabric::DeviceId above = fabric.port(fabric.port(port).peer).device;
      if (fabric.device(above).kind == fabric::DeviceKind::kSwitch) ++below[above.index()];
    }
    return below;
  }

  void place_leaves(const std::vector<std::uint32_t>& below) {
    const auto all = static_cast<std::uint64_t>(fabric_.endpoints());
    std::uint64_t before = 0;
    for (std::uint32_t d = 0; d < below.size(); ++d) {
      if (below[d] == 0) continue;
      const std::uint64_t middle = 2 * before + below[d];  // in halves, so that it is whole
      place(d, static_cast<std::uint8_t>(middle * ports_.size() / (2 * all)));
      before += below[d];
    }
  }

  /// Switches next to those that have a place, tier by tier.
  void place_upwards() {
    for (bool placed = true; placed;) {
      std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>> tier;
      for (std::uint32_t d = 0; d < part_of_.size(); ++d) {
        if (part_of_[d] != kNowhere) continue;
        std::vector<std::uint32_t> cables = cables_to_parts(d);
        if (*std::max_element(cables.begin(), cables.end()) > 0) tier.emplace_back(d, cables);
      }
      placed = !tier.empty();
      for (const auto& [device, cables] : tier) place(device, best(cables));
    }
  }

  /// What no cable joins to a leaf.
  void place_rest() {
    for (std::uint32_t d = 0; d < part_of_.size(); ++d) {
      if (part_of_[d] == kNowhere) place(d, 0);
    }
  }

  const std::vector<std::uint8_t>& part_of() const { return part_of_; }

 private:
  fabric::DeviceId peer_device(fabric::PortId port) const {
    return fabric_.port(fabric_.port(port).peer).device;
  }

  void place(std::uint32_t device, std::uint8_t part) {
    part_of_[device] = part;
    ports_[part] += fabric_.devices()[device].port_count;
  }

  std::vector<std::uint32_t> cables_to_parts(std::uint32_t device) const {
    std::vector<std::uint32_t> cables(ports_.size());
    const fabric::Device& d = fabric_.devices()[device];
    for (std::uint32_t p = d.first_port; p < d.first_port + d.port_count; ++p) {
      const std::uint8_t part = part_of_[peer_device(fabric::PortId(p)).index()];
      if (part != kNowhere) ++cables[part];
    }
    return cables;
  }

  std::uint8_t best(const std::vector<std::uint32_t>& cables) const {
    std::size_t best = 0;
    for (std::size_t part = 1; part < cables.size(); ++part) {
      const bool fewer_ports = cables[part] == cables[best] && ports_[part] < ports_[best];
      if (cables[part] > cables[best] || fewer_ports) best = part;
    }
    return static_cast<std::uint8_t>(best);
  }

  const fabric::Fabric& fabric_;
  std::vector<std::uint8_t> part_of_;
  std::vector<std::uint64_t> ports_;  ///< of each part
};

}  // namespace

Partition partition(const fabric::Fabric& fabric, unsigned parts, base::Time phy) {
  const std::vector<std::uint32_t> below = Partitioner::adapters_below(fabric);
  const auto leaves =
      std::count_if(below.begin(), below.end(), [](std::uint32_t n) { return n > 0; });
  Partition result;
  result.parts = std::clamp(parts, 1U, std::max(1U, static_cast<unsigned>(leaves)));
  Partitioner partitioner(fabric, result.parts);
  if (leaves > 0) partitioner.place_leaves(below);
  partitioner.place_upwards();
  partitioner.place_rest();
  result.part_of = partitioner.part_of();
  result.lookahead = base::Time::max();
  for (const fabric::Port& port : fabric.ports()) {
    if (result.of(port.device) == result.of(fabric.port(port.peer).device)) continue;
    result.lookahead = std::min(result.lookahead, port.delay + phy);
  }
  return result;
}

}  // namespace fabricast::packet
