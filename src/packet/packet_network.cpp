#include "packet/packet_network.h"

#include <algorithm>

#include "base/error.h"
#include "packet/engine.h"
#include "packet/parallel_network.h"

namespace fabricast::packet {

namespace {

template <FabricKind K>
std::unique_ptr<PacketNetwork> make(std::shared_ptr<const fabric::Fabric> fabric,
                                    const catalog::FabricProfile& profile,
                                    network::NodeLinkSpec node_links, std::uint64_t seed,
                                    const Faults& faults, int threads) {
  const auto engine = [&] {
    return std::make_unique<Engine<K>>(fabric, profile, node_links, seed, faults);
  };
  if (threads <= 1) return engine();
  constexpr int kMostParts = 64;
  const auto parts = static_cast<unsigned>(std::min(threads, kMostParts));
  auto shares = std::make_shared<const Partition>(partition(*fabric, parts, profile.link.phy));
  if (!ParallelNetwork<K>::can_share(*fabric, *shares, profile, faults)) return engine();
  std::vector<std::unique_ptr<Engine<K>>> engines(shares->parts);
  std::generate(engines.begin(), engines.end(), engine);
  return std::make_unique<ParallelNetwork<K>>(std::move(fabric), std::move(shares), node_links,
                                              std::move(engines));
}

}  // namespace

// What is too long for the switches goes in pieces; each claims them anew when the one before is
// complete.
std::vector<base::Bytes> PacketNetwork::sent_by_port() const {
  std::vector<base::Bytes> sent;
  for (const LinkUse& link : links()) sent.push_back(link.sent);
  return sent;
}

void PacketNetwork::reduce(network::ReductionGroup group, base::Rank rank, base::Bytes size,
                           const network::Callback& on_complete) {
  const base::Bytes piece = std::min(size, largest_reduction());
  if (piece == size) {
    reduce_once(group, rank, size, on_complete);
    return;
  }
  reduce_once(group, rank, piece,
              [this, group, rank, rest = size - piece, done = on_complete](base::Time) {
                reduce(group, rank, rest, done);
              });
}

std::unique_ptr<PacketNetwork> make_network(std::shared_ptr<const fabric::Fabric> fabric,
                                            const catalog::FabricProfile& profile,
                                            network::NodeLinkSpec node_links, std::uint64_t seed,
                                            const Faults& faults, int threads) {
  switch (profile.kind) {
    case FabricKind::kInfiniBand:
      return make<FabricKind::kInfiniBand>(std::move(fabric), profile, node_links, seed, faults,
                                           threads);
    case FabricKind::kRoceV1:  // the same adapters and switches under other headers
    case FabricKind::kRoceV2:
      return make<FabricKind::kRoceV2>(std::move(fabric), profile, node_links, seed, faults,
                                       threads);
    case FabricKind::kTcp:
      return make<FabricKind::kTcp>(std::move(fabric), profile, node_links, seed, faults, threads);
  }
  throw base::failure("unknown kind of fabric");
}

std::string routing_fallback(const fabric::Fabric& fabric, const catalog::FabricProfile& profile) {
  if (profile.kind != FabricKind::kInfiniBand || fabric.sizing().tiers < 2)
    return {};  // one switch has one way, whatever engine
  const auto tables = network::forwarding_tables(fabric, profile.paths, {});
  return tables == nullptr ? std::string() : tables->fallback();
}

network::Factory factory(std::shared_ptr<const fabric::Fabric> fabric,
                         const catalog::FabricProfile& profile, network::NodeLinkSpec node_links,
                         const Faults& faults) {
  return [fabric = std::move(fabric), profile, node_links, faults](std::uint64_t seed) {
    return make_network(fabric, profile, node_links, seed, faults);
  };
}

}  // namespace fabricast::packet
