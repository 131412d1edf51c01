#include "fabric/racks.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.h"

namespace fabricast::fabric {
namespace {

// Two units for switches is what a rack of servers has to spare (assumed).
constexpr int kSwitchesAmongNodes = 2;

int ceil_div(int a, int b) {
  return (a + b - 1) / b;
}

}  // namespace

RackPlan::RackPlan(const Fabric& fabric, const RackSpec& spec) : spec_(spec) {
  if (spec.nodes_per_rack < 1 || spec.switches_per_rack < 1 || spec.racks_per_row < 1) {
    throw base::failure("a plan of racks without room for a node, a switch or a rack");
  }
  const auto switches =
      static_cast<int>(std::ranges::count(fabric.devices(), DeviceKind::kSwitch, &Device::kind));
  const int nodes = fabric.spec().nodes;
  node_racks_ = ceil_div(nodes, spec.nodes_per_rack);
  const bool shared = node_racks_ == 1 && switches <= kSwitchesAmongNodes;
  const int switch_racks = shared ? 0 : ceil_div(switches, spec.switches_per_rack);
  racks_ = node_racks_ + switch_racks;
  // Switches stand in the middle, so that no cable crosses more than about half of the hall.
  const int first = node_racks_ / 2;
  const auto rack_of_node = [&](int node) {
    const int rack = node / spec.nodes_per_rack;
    return rack < first ? rack : rack + switch_racks;
  };
  int switch_number = 0;
  int adapter = 0;
  for (const Device& device : fabric.devices()) {
    if (device.kind == DeviceKind::kSwitch) {
      rack_.push_back(shared ? 0 : first + switch_number++ / spec.switches_per_rack);
    } else {
      rack_.push_back(rack_of_node(adapter++ / fabric.spec().nics_per_node));
    }
  }
}

double RackPlan::length_m(DeviceId a, DeviceId b) const {
  const int from = rack_of(a);
  const int to = rack_of(b);
  if (from == to) return spec_.in_rack_m;
  const int columns = std::abs(from % spec_.racks_per_row - to % spec_.racks_per_row);
  const int rows = std::abs(from / spec_.racks_per_row - to / spec_.racks_per_row);
  const double metres = spec_.overhead_m + columns * spec_.pitch_m + rows * spec_.row_m;
  return std::round(metres * 100) / 100;
}

}  // namespace fabricast::fabric
