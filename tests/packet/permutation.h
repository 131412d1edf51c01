#pragma once
// W1 of bench/workloads.h, looked into: which links ECMP gives to each flow, and how many share.

#include <algorithm>
#include <vector>

#include "fixtures.h"
#include "max_min.h"
#include "workloads.h"

namespace fabricast::packet::testing {

/// Links by port, for each of the 128 flows.
struct PermutationPaths {
  Routes data;
  Routes acknowledgements;
  std::vector<int> flows;    ///< per link
  std::vector<int> streams;  ///< per link, of acknowledgements

  /// Most flows on any link of a flow's path, itself among them.
  int sharers(std::size_t flow) const { return most(flow, flows); }
  /// Most streams of acknowledgements on any link of a flow's path.
  int crossing(std::size_t flow) const { return most(flow, streams); }
  /// Flows that have all their links to themselves.
  std::vector<std::size_t> alone() const {
    std::vector<std::size_t> result;
    for (std::size_t f = 0; f < data.size(); ++f) {
      if (sharers(f) == 1) result.push_back(f);
    }
    return result;
  }

 private:
  int most(std::size_t flow, const std::vector<int>& count) const {
    int highest = 0;
    for (const std::size_t link : data[flow]) highest = std::max(highest, count[link]);
    return highest;
  }
};

/// A queue pair's path depends on the seed and the ranks alone: every flow sends one packet by
/// itself, and what the links have carried tells the way.
inline PermutationPaths permutation_paths(const FabricProfile& profile, std::uint64_t seed) {
  const auto fabric = bench::fat_tree(8, 128);
  const auto network = network_on(fabric, profile, seed);
  const std::uint32_t hosts = 128;
  PermutationPaths paths;
  paths.flows.resize(fabric->ports().size(), 0);
  paths.streams.resize(fabric->ports().size(), 0);
  std::vector<LinkUse> before = network->links();
  for (std::uint32_t h = 0; h < hosts; ++h) {
    network->send(Rank(h), Rank((h + hosts / 2) % hosts), profile.link.mtu,
                  {.completion = network::Completion::kAcknowledged}, {});
    network->run();
    std::vector<LinkUse> after = network->links();
    paths.data.emplace_back();
    paths.acknowledgements.emplace_back();
    for (std::size_t link = 0; link < after.size(); ++link) {
      const Bytes sent = after[link].sent - before[link].sent;
      if (sent == Bytes()) continue;
      const bool is_data = sent > profile.link.mtu;
      (is_data ? paths.data : paths.acknowledgements).back().push_back(link);
      ++(is_data ? paths.flows : paths.streams)[link];
    }
    before = std::move(after);
  }
  return paths;
}

}  // namespace fabricast::packet::testing
