#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "cost/cost.h"
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

struct PricedCable {
  const catalog::Cable* cable = nullptr;
  double price = 0;
};

PricedCable cheapest_cable(const catalog::Catalog& catalog, catalog::LinkLayer layer,
                           base::Rate link, double metres, const std::string& currency) {
  const double rate = cable_rate(catalog, layer, link.gbps());
  PricedCable best;
  double longest = 0;
  for (const catalog::Cable& cable : catalog.cables()) {
    if (cable.link_layer != layer || cable.gbps != rate) continue;
    longest = std::max(longest, cable.max_m);
    if (cable.max_m < metres) continue;
    const double price = price_in(catalog, cable.id, currency);
    if (best.cable == nullptr || price < best.price) best = {&cable, price};
  }
  if (best.cable != nullptr) return best;
  if (rate == 0) {
    throw refuse(
        "cluster.nic_gbps", "links of " + base::to_string(link),
        fmt::format("a rate that an {} cable of the catalogue carries", spoken_name(layer)));
  }
  throw refuse("cluster.topology.cable_m", fmt::format("{} m", metres),
               fmt::format("at most {} m, the reach of the longest {} cable for {}", longest,
                           spoken_name(layer), base::to_string(link)));
}

class BillWriter {
 public:
  BillWriter(const catalog::Catalog& catalog, const BuildInputs& inputs)
      : catalog_(catalog), inputs_(inputs) {
    bill_.currency = inputs.currency;
  }

  Bill write() && {
    add_switches();
    add_adapters();
    add_cables();
    for (const BomLine& line : bill_.lines) {
      bill_.network_capex += static_cast<double>(line.count) * line.unit_price;
    }
    add_gpus();
    bill_.capex = bill_.network_capex + bill_.gpu_capex;
    for (const BomLine& line : bill_.lines) {
      bill_.power_kw += static_cast<double>(line.count) * line.unit_power_w / 1000;
    }
    return std::move(bill_);
  }

 private:
  const fabric::Fabric& fabric() const { return *inputs_.fabric; }

  void add(Part part, std::string item, std::string what, std::int64_t count, double price,
           double power_w) {
    if (count == 0) return;
    bill_.lines.push_back({std::move(item), std::move(what), count, price, power_w, part});
  }

  double price_of(const std::string& id) const { return price_in(catalog_, id, inputs_.currency); }

  void add_switches() {
    const auto switches =
        std::ranges::count(fabric().devices(), fabric::DeviceKind::kSwitch, &fabric::Device::kind);
    if (switches == 0) return;
    const fabric::Sizing& sizing = fabric().sizing();
    const char* what = sizing.cores > 0    ? "leaf, spine and core switches"
                       : sizing.spines > 0 ? "leaf and spine switches"
                                           : "switches";
    add(Part::kSwitch, inputs_.network_switch.id, what, switches,
        price_of(inputs_.network_switch.id), inputs_.network_switch.power_w);
  }

  void add_adapters() {
    add(Part::kAdapter, inputs_.adapter.id, "network adapters", fabric().endpoints(),
        price_of(inputs_.adapter.id), inputs_.adapter.power_w);
  }

  void add_tier(const char* what, std::int64_t count, base::Rate rate) {
    if (count == 0) return;
    const PricedCable chosen = cheapest_cable(catalog_, inputs_.network_switch.link_layer, rate,
                                              fabric().spec().cable_m, inputs_.currency);
    add(Part::kCable, chosen.cable->id, what, count, chosen.price,
        2 * chosen.cable->power_w_per_end);
  }

  void add_cables() {
    const fabric::Sizing& sizing = fabric().sizing();
    const base::Rate nic = fabric().spec().nic_rate;
    const base::Rate uplink = sizing.uplink_rate * sizing.uplink_split;
    add_tier(sizing.tiers == 0 ? "cables between adapters" : "cables from adapters to leaves",
             sizing.endpoint_cables, nic);
    add_tier("cables from leaves to spines", sizing.leaf_spine_cables, uplink);
    add_tier("cables from spines to cores", sizing.spine_core_cables, uplink);
  }

  void add_gpus() {
    const double price = price_of(inputs_.gpu.id);
    const double overhead = parameter_or(catalog_, "server-overhead-pct", 0);
    add(Part::kGpu, inputs_.gpu.id, "GPUs, each with its share of a server", fabric().gpus(), price,
        inputs_.gpu.power_w * (1 + overhead / 100));
    bill_.gpu_capex = static_cast<double>(fabric().gpus()) * price;
  }

  const catalog::Catalog& catalog_;
  const BuildInputs& inputs_;
  Bill bill_;
};

}  // namespace

Bill bill_of_materials(const catalog::Catalog& catalog, const BuildInputs& inputs) {
  if (inputs.fabric == nullptr) throw base::failure("a bill of materials needs a fabric");
  return BillWriter(catalog, inputs).write();
}

}  // namespace fabricast::cost
