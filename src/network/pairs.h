#pragma once
// Which GPUs talk across nodes when traffic stands for nobody in particular: probes and background.

#include <vector>

#include "base/id.h"
#include "base/random.h"
#include "fabric/fabric.h"

namespace fabricast::network {

struct Pair {
  base::Rank src;
  base::Rank dst;
};

/// Ordered pairs of GPUs of different nodes that can reach each other over the fabric: all of them
/// when they are at most `max_pairs`, else `max_pairs` spread evenly over senders and over the
/// distance between sender and receiver. Empty when the fabric has one node.
std::vector<Pair> cross_node_pairs(const fabric::Fabric& fabric, int max_pairs);

/// A random GPU of another node that `src` can reach. PRECONDITION: the fabric has at least two
/// nodes.
base::Rank random_peer(const fabric::Fabric& fabric, base::Rank src, base::RandomStream& random);

}  // namespace fabricast::network
