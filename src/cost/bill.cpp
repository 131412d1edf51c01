#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "cost/cabling.h"
#include "cost/cost.h"
#include "cost/prices.h"

namespace fabricast::cost {
namespace {

// A switch's own subnet manager serves fabrics of up to about this many nodes (NVIDIA QM8700 data
// sheet, recalled); larger ones have two servers for it, one of them standing by.
constexpr int kOnboardSubnetManagerNodes = 2000;
constexpr int kSubnetManagers = 2;

// A node's host and its baseboard controller.
constexpr int kManagedPortsPerNode = 2;
constexpr int kManagementSwitchPorts = 48;

/// Network equipment: a price of 0 and no spares where it is there already.
class BillWriter {
 public:
  BillWriter(const catalog::Catalog& catalog, const BuildInputs& inputs)
      : catalog_(catalog), inputs_(inputs) {
    bill_.currency = inputs.currency;
  }

  Bill write() && {
    const Cabling cabling(catalog_, inputs_);
    bill_.racks = cabling.racks();
    add_switches();
    add(Part::kAdapter, inputs_.adapter.id, "network adapters", fabric().endpoints(),
        inputs_.adapter.power_w);
    add_cables(cabling);
    add_spares();
    add_subnet_managers();
    add_management();
    if (cabling.racks() > 0) add_priced(Part::kRack, "rack", "racks", cabling.racks(), 0);
    const double overhead = parameter_or(catalog_, "server-overhead-pct", 0);
    add(Part::kGpu, inputs_.gpu.id, "GPUs, each with its share of a server", fabric().gpus(),
        inputs_.gpu.power_w * (1 + overhead / 100));
    return repriced(catalog_, std::move(bill_));
  }

 private:
  const fabric::Fabric& fabric() const { return *inputs_.fabric; }

  BomLine* add(Part part, const std::string& item, std::string what, std::int64_t count,
               double power_w) {
    if (count == 0) return nullptr;
    BomLine line;
    line.item = item;
    line.what = std::move(what);
    line.count = count;
    line.unit_power_w = power_w;
    line.part = part;
    bill_.lines.push_back(std::move(line));
    return &bill_.lines.back();
  }

  /// Of what a price list need not have.
  void add_priced(Part part, const char* item, const char* what, std::int64_t count,
                  double power_w) {
    if (has_price(catalog_, item)) add(part, item, what, count, power_w);
  }

  std::int64_t switches() const {
    return std::ranges::count(fabric().devices(), fabric::DeviceKind::kSwitch,
                              &fabric::Device::kind);
  }

  void add_switches() {
    const fabric::Sizing& sizing = fabric().sizing();
    const char* what = sizing.cores > 0    ? "leaf, spine and core switches"
                       : sizing.spines > 0 ? "leaf and spine switches"
                                           : "switches";
    BomLine* line = add(Part::kSwitch, inputs_.network_switch.id, what, switches(),
                        inputs_.network_switch.power_w);
    if (line != nullptr) line->owned = inputs_.owned;
  }

  void add_cables(const Cabling& cabling) {
    for (const CableCount& count : cabling.counts()) {
      BomLine* line = add(Part::kCable, count.cable->id, count.what, count.count,
                          2 * count.cable->power_w_per_end);
      if (line == nullptr) continue;
      line->longest_m = count.longest_m;
      line->owned = inputs_.owned;
    }
  }

  void add_spares() {
    const std::map<Part, const char*> shares = {{Part::kSwitch, "spare-switch-pct"},
                                                {Part::kAdapter, "spare-adapter-pct"},
                                                {Part::kCable, "spare-cable-pct"}};
    std::vector<std::pair<std::string, std::pair<Part, std::int64_t>>> items;
    for (const BomLine& line : bill_.lines) {
      if (line.owned) continue;
      const auto same = std::ranges::find(items, line.item, &decltype(items)::value_type::first);
      if (same == items.end()) {
        items.push_back({line.item, {line.part, line.count}});
      } else {
        same->second.second += line.count;
      }
    }
    for (const auto& [item, what] : items) {
      const double share = parameter_or(catalog_, shares.at(what.first), 0) / 100;
      add(Part::kSpare, item, "spares on the shelf",
          std::llround(static_cast<double>(what.second) * share), 0);
    }
  }

  void add_subnet_managers() {
    if (inputs_.network_switch.link_layer != catalog::LinkLayer::kInfiniBand) return;
    if (fabric().spec().nodes <= kOnboardSubnetManagerNodes) return;
    add_priced(Part::kSubnetManager, "management-server",
               "servers of the subnet manager, one standing by", kSubnetManagers, 0);
  }

  void add_management() {
    const std::int64_t managed =
        static_cast<std::int64_t>(fabric().spec().nodes) * kManagedPortsPerNode + switches();
    const std::int64_t boxes = (managed + kManagementSwitchPorts - 1) / kManagementSwitchPorts;
    add_priced(Part::kManagement, "management-switch", "switches of the management network, 1GbE",
               boxes, parameter_or(catalog_, "management-switch-w", 0));
    add_priced(Part::kManagement, "management-cable", "cables of the management network", managed,
               0);
  }

  const catalog::Catalog& catalog_;
  const BuildInputs& inputs_;
  Bill bill_;
};

}  // namespace

std::string_view name_of(Part part) {
  switch (part) {
    case Part::kSwitch:
      return "switch";
    case Part::kAdapter:
      return "adapter";
    case Part::kCable:
      return "cable";
    case Part::kSpare:
      return "spare";
    case Part::kSubnetManager:
      return "subnet-manager";
    case Part::kManagement:
      return "management";
    case Part::kRack:
      return "rack";
    case Part::kGpu:
      return "gpu";
  }
  return "";
}

bool is_network(Part part) {
  return part != Part::kManagement && part != Part::kRack && part != Part::kGpu;
}

Bill repriced(const catalog::Catalog& catalog, Bill bill) {
  bill.network_capex = bill.gpu_capex = bill.other_capex = bill.power_kw = 0;
  for (BomLine& line : bill.lines) {
    line.unit_price = line.owned ? 0 : price_in(catalog, line.item, bill.currency);
    const auto count = static_cast<double>(line.count);
    double& capex = line.part == Part::kGpu ? bill.gpu_capex
                    : is_network(line.part) ? bill.network_capex
                                            : bill.other_capex;
    capex += count * line.unit_price;
    bill.power_kw += count * line.unit_power_w / 1000;
  }
  bill.capex = bill.network_capex + bill.gpu_capex + bill.other_capex;
  return bill;
}

Bill bill_of_materials(const catalog::Catalog& catalog, const BuildInputs& inputs) {
  if (inputs.fabric == nullptr) throw base::failure("a bill of materials needs a fabric");
  return BillWriter(catalog, inputs).write();
}

}  // namespace fabricast::cost
