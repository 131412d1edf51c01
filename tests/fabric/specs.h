#pragma once
// What the tests of this room build fabrics from.

#include "fabric/fabric.h"

namespace fabricast::fabric {

/// One GPU per adapter, adapters and switch ports of 100 Gb/s.
inline TopologySpec spec_of(TopologyKind kind, int nodes, int nics, int ports) {
  using namespace base::literals;
  TopologySpec spec;
  spec.kind = kind;
  spec.nodes = nodes;
  spec.gpus_per_node = nics;
  spec.nics_per_node = nics;
  spec.nic_rate = 100_gbps;
  spec.switch_ports = ports;
  spec.switch_rate = 100_gbps;
  return spec;
}

inline EndpointId endpoint(int index) {
  return EndpointId(static_cast<std::uint32_t>(index));
}

}  // namespace fabricast::fabric
