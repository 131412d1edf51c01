#pragma once
// Clusters for the tests, written out by hand.

#include "fabric/fabric.h"

namespace fabricast::test {

/// Nodes on one switch, each GPU with an adapter of 200 Gb/s.
inline fabric::TopologySpec topology(int nodes, int gpus_per_node) {
  fabric::TopologySpec spec;
  spec.kind = fabric::TopologyKind::kSingleSwitch;
  spec.nodes = nodes;
  spec.gpus_per_node = gpus_per_node;
  spec.nics_per_node = gpus_per_node;
  spec.nic_rate = base::Rate::bits_per_second(200'000'000'000);
  spec.switch_ports = 64;
  spec.switch_rate = spec.nic_rate;
  return spec;
}

}  // namespace fabricast::test
