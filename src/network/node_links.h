#pragma once
// The inside of a node: every GPU has one full-duplex port on a non-blocking NVSwitch (or on PCIe
// where the GPU has no NVLink). A message takes its sender's egress and its receiver's ingress for
// size / rate each, first come first served at either, and arrives one latency later. Message by
// message is exact enough here: the switch inside a node does not block, and has a queue for every
// pair of ports, so that a busy receiver does not hold up what its sender has for others.
//
// An NVSwitch can also sum what several GPUs send for one, and hand what one sends to several
// (NVLS): of such messages each takes its share of the port that they have in common.

#include <cstdint>
#include <vector>

#include "base/id.h"
#include "base/slab.h"
#include "base/units.h"
#include "network/network.h"

namespace fabricast::network {

struct NodeLinkSpec {
  base::Rate rate;        ///< per GPU and direction
  base::Time latency;     ///< of one message
  double nvls_share = 1;  ///< of the rate, for what the switch sums or multicasts
};

class NodeLinks {
 public:
  /// A message on its way, and when it is where it goes.
  struct Departure {
    base::Time at;  ///< its head is at the receiver's port: `enter` is due
    std::uint32_t crossing;
  };
  struct Arrival {
    base::Time at;  ///< its last byte is visible
    std::uint32_t message;
  };

  /// `gpus` of the whole cluster. PRECONDITION: the rate is above 0.
  NodeLinks(int gpus, NodeLinkSpec spec);

  /// A message is posted at `now`. PRECONDITION: calls of both come in order of `now`; src and dst
  /// are of one node.
  Departure leave(base::Rank src, base::Rank dst, base::Bytes size, const SendOptions& options,
                  std::uint32_t message, base::Time now);
  /// PRECONDITION: now is `at` of the departure.
  Arrival enter(std::uint32_t crossing, base::Time now);

 private:
  struct Crossing {
    base::Rank dst;
    base::Time left;  ///< its last byte has left the sender's port
    base::Time in;    ///< that the receiver's port needs for it
    std::uint32_t message = 0;
  };

  NodeLinkSpec spec_;
  std::vector<base::Time> egress_free_;
  std::vector<base::Time> ingress_free_;
  base::Slab<Crossing> crossings_;
};

}  // namespace fabricast::network
