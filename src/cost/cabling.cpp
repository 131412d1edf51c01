#include "cost/cabling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "cost/prices.h"

namespace fabricast::cost {
namespace {

/// The caller knows the file that the key stands in.
base::Error refuse(std::string key, const std::string& found, const std::string& allowed) {
  return base::input_error({.file = {}, .line = 0, .column = 0, .key = std::move(key)}, found,
                           allowed);
}

/// The catalogue rate that carries a link: the lowest not below it. 0 when there is none.
double cable_rate(const catalog::Catalog& catalog, catalog::LinkLayer layer, double link_gbps) {
  double rate = 0;
  for (const catalog::Cable& cable : catalog.cables()) {
    if (cable.link_layer != layer || cable.gbps < link_gbps) continue;
    if (rate == 0 || cable.gbps < rate) rate = cable.gbps;
  }
  return rate;
}

const char* spoken_name(catalog::LinkLayer layer) {
  return layer == catalog::LinkLayer::kInfiniBand ? "InfiniBand" : "Ethernet";
}

const catalog::Cable& cheapest_cable(const catalog::Catalog& catalog, catalog::LinkLayer layer,
                                     base::Rate link, double metres, const std::string& currency) {
  const double rate = cable_rate(catalog, layer, link.gbps());
  const catalog::Cable* best = nullptr;
  double best_price = 0;
  double longest = 0;
  for (const catalog::Cable& cable : catalog.cables()) {
    if (cable.link_layer != layer || cable.gbps != rate) continue;
    longest = std::max(longest, cable.max_m);
    if (cable.max_m < metres) continue;
    const double price = price_in(catalog, cable.id, currency);
    if (best == nullptr || price < best_price) {
      best = &cable;
      best_price = price;
    }
  }
  if (best != nullptr) return *best;
  if (rate == 0) {
    throw refuse(
        "cluster.nic_gbps", "links of " + base::to_string(link),
        fmt::format("a rate that an {} cable of the catalogue carries", spoken_name(layer)));
  }
  throw refuse("cluster.topology.cable_m", fmt::format("{} m", metres),
               fmt::format("at most {} m, the reach of the longest {} cable for {}", longest,
                           spoken_name(layer), base::to_string(link)));
}

/// Of a plan that leaves it to their power.
int nodes_per_rack(const catalog::Catalog& catalog, const BuildInputs& inputs) {
  const double overhead = parameter_or(catalog, "server-overhead-pct", 0);
  const double node_w =
      inputs.fabric->spec().gpus_per_node * inputs.gpu.power_w * (1 + overhead / 100);
  return std::max(1, static_cast<int>(std::floor(inputs.racks->kw * 1000 / node_w)));
}

/// Lanes that a switch port is split into.
int lanes(const fabric::Fabric& fabric, const fabric::Device& device, const fabric::Port& port) {
  if (device.kind == fabric::DeviceKind::kAdapter) return 1;
  for (const int split : {2, 4}) {
    if (port.rate * split == fabric.spec().switch_rate) return split;
  }
  return 1;
}

}  // namespace

Cabling::Cabling(const catalog::Catalog& catalog, const BuildInputs& inputs)
    : catalog_(catalog), inputs_(inputs) {
  if (inputs.racks) {
    fabric::RackSpec spec = *inputs.racks;
    if (spec.nodes_per_rack == 0) spec.nodes_per_rack = nodes_per_rack(catalog, inputs);
    plan_.emplace(*inputs.fabric, spec);
  }
  count_links();
}

double Cabling::length_m(fabric::PortId port) const {
  if (!plan_) return inputs_.fabric->spec().cable_m;
  const fabric::Port& near = inputs_.fabric->port(port);
  return plan_->length_m(near.device, inputs_.fabric->port(near.peer).device);
}

const catalog::Cable& Cabling::cable(base::Rate link, double metres) {
  const catalog::Cable*& chosen = chosen_[{link.bps(), metres}];
  if (chosen == nullptr) {
    chosen = &cheapest_cable(catalog_, inputs_.network_switch.link_layer, link, metres,
                             inputs_.currency);
  }
  return *chosen;
}

void Cabling::count(const char* what, base::Rate link, double metres, std::int64_t cables,
                    std::span<const fabric::PortId> ports) {
  if (cables == 0) return;
  const catalog::Cable& chosen = cable(link, metres);
  for (const fabric::PortId port : ports) of_port_[port.index()] = {&chosen, metres};
  const auto same = std::ranges::find_if(counts_, [&](const CableCount& c) {
    return c.cable == &chosen && std::string_view(c.what) == what;
  });
  CableCount& entry =
      same == counts_.end() ? counts_.emplace_back(CableCount{what, &chosen, 0, 0}) : *same;
  entry.count += cables;
  entry.longest_m = std::max(entry.longest_m, metres);
}

void Cabling::count_links() {
  const fabric::Fabric& fabric = *inputs_.fabric;
  const fabric::Sizing& sizing = fabric.sizing();
  const base::Rate nic = fabric.spec().nic_rate;
  const base::Rate uplink = sizing.uplink_rate * sizing.uplink_split;
  const char* const ends =
      sizing.tiers == 0 ? "cables between adapters" : "cables from adapters to leaves";
  of_port_.resize(fabric.ports().size());
  double longest = plan_ ? 0 : fabric.spec().cable_m;
  std::int64_t ended = 0;
  for (int i = 0; i < fabric.endpoints(); ++i) {
    const fabric::PortId port = fabric.endpoint_port(fabric::EndpointId(i));
    const fabric::PortId far = fabric.port(port).peer;
    // Of a cable between two adapters one end is enough.
    if (sizing.tiers == 0 && far.index() < port.index()) continue;
    const double metres = length_m(port);
    longest = std::max(longest, metres);
    count(ends, nic, metres, 1, std::array{port, far});
    ++ended;
  }
  count(ends, nic, longest, sizing.endpoint_cables - ended, {});  // for management
  for (const fabric::Device& device : fabric.devices()) {
    if (device.kind == fabric::DeviceKind::kSwitch) count_uplinks(device, uplink);
  }
}

void Cabling::count_uplinks(const fabric::Device& device, base::Rate uplink) {
  const fabric::Fabric& fabric = *inputs_.fabric;
  const bool leaf = device.tier == 1;
  const int lanes_of_one = leaf ? fabric.sizing().uplink_split : 1;
  // A split port is one cable, as long as its longest lane asks for.
  double metres = 0;
  std::vector<fabric::PortId> ends;
  for (std::uint32_t n = 0; n < device.port_count; ++n) {
    const fabric::PortId port(device.first_port + n);
    const fabric::PortId far = fabric.port(port).peer;
    if (fabric.device(fabric.port(far).device).tier <= device.tier) continue;
    metres = std::max(metres, length_m(port));
    ends.push_back(port);
    ends.push_back(far);
    if (static_cast<int>(ends.size()) < 2 * lanes_of_one) continue;
    count(leaf ? "cables from leaves to spines" : "cables from spines to cores", uplink, metres, 1,
          ends);
    metres = 0;
    ends.clear();
  }
}

std::vector<CableRun> Cabling::runs() const {
  const fabric::Fabric& fabric = *inputs_.fabric;
  // Numbers as they stand on the box: a port that is split has lanes.
  std::vector<std::string> names(fabric.ports().size());
  for (const fabric::Device& device : fabric.devices()) {
    int number = 0;
    int lane = 0;
    int split = 1;  // of the port that is being filled
    for (std::uint32_t n = 0; n < device.port_count; ++n) {
      const int wanted = lanes(fabric, device, fabric.ports()[device.first_port + n]);
      if (lane == 0 || wanted != split) {
        ++number;
        lane = 0;
        split = wanted;
      }
      names[device.first_port + n] =
          split == 1 ? std::to_string(number) : fmt::format("{}/{}", number, lane + 1);
      lane = (lane + 1) % split;
    }
  }
  std::vector<CableRun> runs;
  for (std::size_t i = 0; i < fabric.ports().size(); ++i) {
    const fabric::PortId id(static_cast<std::uint32_t>(i));
    const fabric::Port& port = fabric.port(id);
    if (port.peer.index() < i) continue;
    const fabric::Device& device = fabric.device(port.device);
    const fabric::Device& peer = fabric.device(fabric.port(port.peer).device);
    const auto& [cable, metres] = of_port_[i];
    runs.push_back({device.name, names[i], peer.name, names[port.peer.index()], metres, cable->id});
  }
  return runs;
}

std::vector<CableRun> cable_map(const catalog::Catalog& catalog, const BuildInputs& inputs) {
  return Cabling(catalog, inputs).runs();
}

}  // namespace fabricast::cost
