#pragma once
// What the tests of this room price: the catalogue as it ships, and fabrics of plain numbers.

#include "catalog/catalog.h"
#include "cost/cost.h"

namespace fabricast::cost::testing {

/// A copy, for a test to change.
inline catalog::Catalog shipped() {
  static const auto catalog = catalog::Catalog::load(FABRICAST_SOURCE_DIR "/catalog");
  return catalog;
}

/// One GPU per adapter; adapters of 400 Gb/s.
inline fabric::TopologySpec spec_of(fabric::TopologyKind kind, int nodes, int nics, int ports,
                                    double port_gbps = 400) {
  fabric::TopologySpec spec;
  spec.kind = kind;
  spec.nodes = nodes;
  spec.gpus_per_node = nics;
  spec.nics_per_node = nics;
  spec.nic_rate = base::Rate::gigabits_per_second(400);
  spec.switch_ports = ports;
  spec.switch_rate = base::Rate::gigabits_per_second(port_gbps);
  return spec;
}

/// H100 and ConnectX-7 on a switch of InfiniBand, or on one of Ethernet (sn5600).
inline BuildInputs inputs_of(const catalog::Catalog& known, const fabric::Fabric& fabric,
                             const char* network_switch = "qm9700") {
  BuildInputs inputs;
  inputs.fabric = &fabric;
  inputs.gpu = known.gpu("h100-sxm-80gb");
  inputs.adapter = known.adapter("connectx-7-400g");
  inputs.network_switch = known.network_switch(network_switch);
  return inputs;
}

}  // namespace fabricast::cost::testing
