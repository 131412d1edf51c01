#include "simgrid.h"

#include <string>

#include <simgrid/s4u.hpp>

namespace fabricast::flow::test {
namespace {

namespace sg4 = simgrid::s4u;

std::vector<sg4::Host*> lay_out(std::uint32_t count,
                                const std::map<std::uint32_t, double>& capacity,
                                const std::vector<RoutedFlow>& flows) {
  sg4::NetZone* zone = sg4::create_full_zone("fabric");
  std::vector<sg4::Host*> hosts;
  for (std::uint32_t h = 0; h < count; ++h) {
    hosts.push_back(zone->create_host("host" + std::to_string(h), 1e9)->seal());
  }
  std::map<std::uint32_t, sg4::Link*> links;
  for (const auto& [number, bytes_per_s] : capacity) {
    links[number] = zone->create_link("link" + std::to_string(number), bytes_per_s);
    links[number]->set_latency(0.0)->seal();
  }
  for (const RoutedFlow& flow : flows) {
    std::vector<sg4::LinkInRoute> route;
    for (const std::uint32_t link : flow.links) route.emplace_back(links.at(link));
    zone->add_route(hosts[flow.from]->get_netpoint(), hosts[flow.to]->get_netpoint(), nullptr,
                    nullptr, route, false);
  }
  zone->seal();
  return hosts;
}

}  // namespace

std::vector<double> simgrid(std::uint32_t hosts, const std::map<std::uint32_t, double>& capacity,
                            const std::vector<RoutedFlow>& flows) {
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
  const std::vector<sg4::Host*> places = lay_out(hosts, capacity, flows);
  std::vector<double> ends(flows.size());
  for (std::size_t i = 0; i < flows.size(); ++i) {
    sg4::Actor::create("flow" + std::to_string(i), places[flows[i].from], [&, i] {
      sg4::this_actor::sleep_for(flows[i].start_s);
      sg4::Comm::sendto(places[flows[i].from], places[flows[i].to],
                        static_cast<std::uint64_t>(flows[i].bytes));
      ends[i] = sg4::Engine::get_clock();
    });
  }
  engine.run();
  return ends;
}

}  // namespace fabricast::flow::test
