#pragma once
// The inside of a node: every GPU has one full-duplex port on a non-blocking NVSwitch (or on PCIe
// where the GPU has no NVLink). A message holds its sender's egress and its receiver's ingress for
// size / rate, first come first served, and arrives one latency later. Message by message is exact
// enough here: the switch inside a node does not block, so only the two ports can be contended.

#include <vector>

#include "base/id.h"
#include "base/units.h"

namespace fabricast::network {

struct NodeLinkSpec {
  base::Rate rate;     ///< per GPU and direction
  base::Time latency;  ///< of one message
};

class NodeLinks {
 public:
  /// `gpus` of the whole cluster. PRECONDITION: the rate is above 0.
  NodeLinks(int gpus, NodeLinkSpec spec);

  /// Books a message that is posted at `now`; returns when its last byte is visible.
  /// PRECONDITION: calls come in order of `now`; src and dst are of one node.
  base::Time send(base::Rank src, base::Rank dst, base::Bytes size, base::Time now);

 private:
  NodeLinkSpec spec_;
  std::vector<base::Time> egress_free_;
  std::vector<base::Time> ingress_free_;
};

}  // namespace fabricast::network
