// SimGrid's max-min solver as an independent oracle: a thousand and more flows over a leaf-spine of
// 128 hosts, each on the path that our hashes give it, end at the same instants.

#include <map>
#include <memory>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "flow/flow_network.h"
#include "simgrid.h"

namespace fabricast::flow {
namespace {

using base::Bytes;
using base::Rank;
using base::Time;
using test::RoutedFlow;
using namespace base::literals;

constexpr std::uint32_t kHosts = 128;
constexpr std::size_t kFlows = 1500;

/// 16 leaves of 8 hosts under 4 spines, so that uplinks are fought for.
std::shared_ptr<const fabric::Fabric> leaf_spine() {
  fabric::TopologySpec spec;
  spec.kind = fabric::TopologyKind::kLeafSpine;
  spec.nodes = kHosts;
  spec.gpus_per_node = spec.nics_per_node = 1;
  spec.nic_rate = spec.switch_rate = 100_gbps;
  spec.switch_ports = 32;
  spec.nodes_per_leaf = 8;
  spec.oversubscription = 2;
  return std::make_shared<const fabric::Fabric>(fabric::build(spec));
}

catalog::FabricProfile pure_sharing() {
  catalog::FabricProfile p;
  p.kind = catalog::FabricKind::kTcp;  // whose cores take no time, and which knows no turns
  p.link.mtu = 1000_B;
  p.paths.routing = catalog::Routing::kEcmp;
  return p;
}

/// Every pair of hosts at most once, since SimGrid knows one route between two.
std::vector<RoutedFlow> random_flows() {
  base::RandomStream random(1, "simgrid");
  std::set<std::pair<std::uint32_t, std::uint32_t>> taken;
  std::vector<RoutedFlow> flows;
  while (flows.size() < kFlows) {
    RoutedFlow flow;
    flow.from = static_cast<std::uint32_t>(random.below(kHosts));
    flow.to = static_cast<std::uint32_t>(random.below(kHosts));
    if (flow.from == flow.to || !taken.emplace(flow.from, flow.to).second) continue;
    flow.bytes = 1'000'000 + static_cast<std::int64_t>(random.below(50'000'000));
    flow.start_s = random.below(3) == 0 ? 0 : 5e-3 * random.uniform();
    flows.push_back(flow);
  }
  return flows;
}

std::vector<double> ours(const std::vector<RoutedFlow>& flows) {
  auto behaviour = std::make_shared<Behaviour>();
  behaviour->paths.push_back({});
  FlowNetwork network(leaf_spine(), pure_sharing(), {3600_gbps, {}}, behaviour, 1);
  std::vector<double> ends(flows.size());
  for (std::size_t i = 0; i < flows.size(); ++i) {
    network.at(Time::seconds(flows[i].start_s), [&, i](Time) {
      network.send(Rank(flows[i].from), Rank(flows[i].to), Bytes(flows[i].bytes), {0},
                   [&, i](Time now) { ends[i] = now.s(); });
    });
  }
  network.run();
  return ends;
}

/// Gives every flow the path that it has here; returns the capacity of the links.
std::map<std::uint32_t, double> route(std::vector<RoutedFlow>& flows) {
  const auto fabric = leaf_spine();
  const catalog::FabricProfile profile = pure_sharing();
  Sharing sharing;
  Paths paths(*fabric, profile, 1, sharing);
  std::map<std::uint32_t, double> capacity;
  for (RoutedFlow& flow : flows) {
    const std::uint64_t key = network::connection_key(Rank(flow.from), Rank(flow.to), {0});
    const Path path = paths.path(fabric::EndpointId(flow.from), fabric::EndpointId(flow.to),
                                 network::flow_hash(1, key, 0, 0));
    for (const Crossing& crossing : path.crossings) {
      flow.links.push_back(crossing.link);
      capacity[crossing.link] = sharing.capacity(crossing.link);
    }
  }
  return capacity;
}

TEST(SimGrid, ends_every_flow_when_we_do) {
  std::vector<RoutedFlow> flows = random_flows();
  const auto capacity = route(flows);
  const std::vector<double> expected = test::simgrid(kHosts, capacity, flows);
  const std::vector<double> found = ours(flows);
  for (std::size_t i = 0; i < flows.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-6 * expected[i]) << "flow " << i;
  }
}

}  // namespace
}  // namespace fabricast::flow
