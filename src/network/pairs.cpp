#include "network/pairs.h"

#include <cmath>
#include <cstdint>

namespace fabricast::network {
namespace {

// Fraction of the golden ratio: multiples of it modulo 1 fill the unit interval most evenly.
constexpr double kGoldenFraction = 0.61803398874989485;

/// The GPU of `node` at `local`; where the fabric does not join the two (rail-only, direct cables),
/// the one at the sender's own place, whose adapter is on the same rail.
base::Rank reachable(const fabric::Fabric& fabric, base::Rank src, std::uint64_t node,
                     std::uint64_t local) {
  const auto per_node = static_cast<std::uint64_t>(fabric.spec().gpus_per_node);
  const base::Rank wanted(static_cast<std::uint32_t>(node * per_node + local));
  if (fabric.connected(fabric.endpoint_of(src), fabric.endpoint_of(wanted))) return wanted;
  return base::Rank(static_cast<std::uint32_t>(node * per_node + src.index() % per_node));
}

/// The GPU `distance` places after the sender's node, counting round the cluster.
base::Rank at_distance(const fabric::Fabric& fabric, base::Rank src, std::uint64_t distance) {
  const auto per_node = static_cast<std::uint64_t>(fabric.spec().gpus_per_node);
  const auto gpus = static_cast<std::uint64_t>(fabric.gpus());
  const auto node = static_cast<std::uint64_t>(fabric.node_of(src));
  const std::uint64_t dst = ((node + 1) * per_node + distance) % gpus;
  return reachable(fabric, src, dst / per_node, dst % per_node);
}

bool joined(const fabric::Fabric& fabric, base::Rank src, base::Rank dst) {
  return fabric.connected(fabric.endpoint_of(src), fabric.endpoint_of(dst));
}

}  // namespace

std::vector<Pair> cross_node_pairs(const fabric::Fabric& fabric, int max_pairs) {
  const auto gpus = static_cast<std::uint64_t>(fabric.gpus());
  const std::uint64_t others = gpus - static_cast<std::uint64_t>(fabric.spec().gpus_per_node);
  std::vector<Pair> pairs;
  if (others == 0 || max_pairs <= 0) return pairs;
  if (gpus * others <= static_cast<std::uint64_t>(max_pairs)) {
    for (std::uint32_t src = 0; src < gpus; ++src) {
      for (std::uint32_t dst = 0; dst < gpus; ++dst) {
        const Pair pair{base::Rank(src), base::Rank(dst)};
        if (fabric.node_of(pair.src) == fabric.node_of(pair.dst)) continue;
        if (joined(fabric, pair.src, pair.dst)) pairs.push_back(pair);
      }
    }
    return pairs;
  }
  for (std::uint64_t k = 0; k < static_cast<std::uint64_t>(max_pairs); ++k) {
    const base::Rank src(
        static_cast<std::uint32_t>(k * gpus / static_cast<std::uint64_t>(max_pairs)));
    const double turn = static_cast<double>(k) * kGoldenFraction;
    const double place = (turn - std::floor(turn)) * static_cast<double>(others);
    pairs.push_back({src, at_distance(fabric, src, static_cast<std::uint64_t>(place))});
  }
  return pairs;
}

base::Rank random_peer(const fabric::Fabric& fabric, base::Rank src, base::RandomStream& random) {
  const auto others = static_cast<std::uint64_t>(fabric.gpus() - fabric.spec().gpus_per_node);
  return at_distance(fabric, src, random.below(others));
}

}  // namespace fabricast::network
