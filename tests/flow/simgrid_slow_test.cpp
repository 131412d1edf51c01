// SimGrid's max-min solver as an independent oracle: a thousand and more flows over a leaf-spine of
// 128 hosts, each on the path that our hashes give it, end at the same instants.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <simgrid/s4u.hpp>

#include "base/random.h"
#include "flow/flow_network.h"

namespace fabricast::flow {
namespace {

namespace sg4 = simgrid::s4u;
using base::Bytes;
using base::Rank;
using base::Time;
using namespace base::literals;

constexpr std::uint32_t kHosts = 128;
constexpr std::size_t kFlows = 1500;

struct Flow {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::int64_t bytes = 0;
  double start_s = 0;
};

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
std::vector<Flow> random_flows() {
  base::RandomStream random(1, "simgrid");
  std::set<std::pair<std::uint32_t, std::uint32_t>> taken;
  std::vector<Flow> flows;
  while (flows.size() < kFlows) {
    Flow flow;
    flow.from = static_cast<std::uint32_t>(random.below(kHosts));
    flow.to = static_cast<std::uint32_t>(random.below(kHosts));
    if (flow.from == flow.to || !taken.emplace(flow.from, flow.to).second) continue;
    flow.bytes = 1'000'000 + static_cast<std::int64_t>(random.below(50'000'000));
    flow.start_s = random.below(3) == 0 ? 0 : 5e-3 * random.uniform();
    flows.push_back(flow);
  }
  return flows;
}

std::vector<double> ours(const std::vector<Flow>& flows) {
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

/// Links and routes as ours, port by port.
void lay_out(const std::vector<Flow>& flows, std::vector<sg4::Host*>& hosts) {
  const auto fabric = leaf_spine();
  const catalog::FabricProfile profile = pure_sharing();
  Sharing sharing;
  Paths paths(*fabric, profile, 1, sharing);
  sg4::NetZone* zone = sg4::create_full_zone("fabric");
  for (std::uint32_t h = 0; h < kHosts; ++h) {
    hosts.push_back(zone->create_host("host" + std::to_string(h), 1e9)->seal());
  }
  std::map<std::uint32_t, sg4::Link*> links;
  for (const Flow& flow : flows) {
    const std::uint64_t key = network::connection_key(Rank(flow.from), Rank(flow.to), {0});
    const Path path = paths.path(fabric::EndpointId(flow.from), fabric::EndpointId(flow.to),
                                 network::flow_hash(1, key, 0, 0));
    std::vector<sg4::LinkInRoute> route;
    for (const Crossing& crossing : path.crossings) {
      sg4::Link*& link = links[crossing.link];
      if (link == nullptr) {
        link = zone->create_link("port" + std::to_string(crossing.link),
                                 sharing.capacity(crossing.link));
        link->set_latency(0.0)->seal();
      }
      route.emplace_back(link);
    }
    zone->add_route(hosts[flow.from]->get_netpoint(), hosts[flow.to]->get_netpoint(), nullptr,
                    nullptr, route, false);
  }
  zone->seal();
}

std::vector<double> simgrid(const std::vector<Flow>& flows) {
  std::vector<std::string> arguments = {"test",
                                        "--log=root.thres:critical",
                                        "--cfg=network/TCP-gamma:0",
                                        "--cfg=network/bandwidth-factor:1.0",
                                        "--cfg=network/latency-factor:1.0",
                                        "--cfg=network/weight-S:0",
                                        "--cfg=network/crosstraffic:0",
                                        "--cfg=surf/precision:1e-12",
                                        "--cfg=maxmin/precision:1e-9"};
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  int argc = static_cast<int>(argv.size());
  sg4::Engine engine(&argc, argv.data());
  std::vector<sg4::Host*> hosts;
  lay_out(flows, hosts);
  std::vector<double> ends(flows.size());
  for (std::size_t i = 0; i < flows.size(); ++i) {
    sg4::Actor::create("flow" + std::to_string(i), hosts[flows[i].from], [&, i] {
      sg4::this_actor::sleep_for(flows[i].start_s);
      sg4::Comm::sendto(hosts[flows[i].from], hosts[flows[i].to],
                        static_cast<std::uint64_t>(flows[i].bytes));
      ends[i] = sg4::Engine::get_clock();
    });
  }
  engine.run();
  return ends;
}

TEST(SimGrid, ends_every_flow_when_we_do) {
  const std::vector<Flow> flows = random_flows();
  const std::vector<double> expected = simgrid(flows);
  const std::vector<double> found = ours(flows);
  for (std::size_t i = 0; i < flows.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-6 * expected[i]) << "flow " << i;
  }
}

}  // namespace
}  // namespace fabricast::flow
