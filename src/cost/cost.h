#pragma once
// What the built fabric costs: every switch, adapter, cable and transceiver counted once, with its
// spares, priced from the catalogue, and the share of it that one run uses up
// (docs/models/sizing.md).

#include <optional>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "fabric/fabric.h"
#include "fabric/racks.h"

namespace fabricast::cost {

enum class Part {
  kSwitch,
  kAdapter,
  kCable,
  kSpare,          ///< of the three above, on the shelf
  kSubnetManager,  ///< of InfiniBand, where the switches' own does not do
  kManagement,     ///< switches and cables of the network that nodes and switches are managed over
  kRack,
  kGpu,
};
/// "switch", "adapter", "cable", "spare", "subnet-manager", "management", "rack", "gpu".
std::string_view name_of(Part part);
/// True of what is bought for the fabric, and would not be there without it.
bool is_network(Part part);

struct BomLine {
  std::string item;  ///< catalogue id
  std::string what;  ///< "leaf and spine switches"
  std::int64_t count = 0;
  double unit_price = 0;  ///< in the bill's currency, the likely price; a cable with both its ends
  double unit_power_w = 0;  ///< of a cable: of both its ends
  Part part = Part::kSwitch;
  double longest_m = 0;  ///< of cables
  bool owned = false;    ///< it is there already and costs nothing
};

struct Bill {
  std::string currency;
  std::vector<BomLine> lines;
  double network_capex = 0;  ///< of lines that are `is_network`
  double gpu_capex = 0;      ///< servers with their GPUs, without adapters
  double other_capex = 0;    ///< management network and racks
  double capex = 0;
  double power_kw = 0;  ///< whole cluster
  int racks = 0;        ///< 0: the racks were not planned
};

/// What an hour of the whole cluster is made of.
struct PerHour {
  double network = 0;  ///< depreciation of the network, management and racks
  double gpus = 0;     ///< depreciation of servers and GPUs
  double energy = 0;
  double operation = 0;  ///< people, repairs: the share of capex that goes by the year
};

/// What the equipment costs while it is used; equations in docs/models/sizing.md.
struct Result {
  std::string currency;
  double network_capex = 0;
  double capex = 0;
  double power_kw = 0;
  double per_hour = 0;  ///< depreciation, energy and operation of the whole cluster
  double per_run = 0;   ///< 0 when the run's length is not known
  double per_million_tokens = 0;
  PerHour parts;  ///< adds up to `per_hour`
};

struct BuildInputs {
  const fabric::Fabric* fabric = nullptr;
  catalog::Gpu gpu;
  catalog::Adapter adapter;
  catalog::Switch network_switch;
  std::string currency = "CNY";
  std::optional<fabric::RackSpec> racks;  ///< none: every cable is `cable_m` long
  bool owned = false;                     ///< switches and cables are there already
};

/// One cable of the fabric, or one lane of a port that is split.
struct CableRun {
  std::string device;
  std::string port;  ///< number on the switch, "12/2" for the second lane of a split one
  std::string peer;
  std::string peer_port;
  double length_m = 0;
  std::string cable;  ///< catalogue id
};

/// Every switch of the fabric, one adapter per endpoint, every GPU with its share of a server, and
/// cables tier by tier and length by length: of the catalogue's cables of the link layer and of the
/// lowest rate that carries the link, the cheapest that reaches. A split port has one cable, as the
/// sizing counts. Lengths are those of the rack plan, else `cable_m`. Spares, management network,
/// subnet managers and racks follow from rows of prices.yaml of those names, and are left out where
/// it has none. Power is that of the boxes, of both ends of every cable, and of the GPUs; where
/// prices.yaml has `server-overhead-pct`, GPUs take that much more for processors, fans and
/// conversion. Throws base::Error (input) when the catalogue has no price for an item, no cable
/// that reaches, or no exchange rate to `currency`.
Bill bill_of_materials(const catalog::Catalog& catalog, const BuildInputs& inputs);

/// Who is plugged into whom, switches first, in the order of their ports. Management ports are not
/// among them. Throws as above.
std::vector<CableRun> cable_map(const catalog::Catalog& catalog, const BuildInputs& inputs);

/// The same things at other prices: `catalog` may have other ones than the bill was written with.
Bill repriced(const catalog::Catalog& catalog, Bill bill);

/// `hours` and `tokens` describe the run (0: unknown). Reads `depreciation-years`,
/// `operation-pct-per-year`, `pue` and `electricity-kwh` from the prices, and `utilisation-pct`
/// where there is one; without it the hours are hours of ownership (100 %). Throws base::Error
/// (input) when one of the former is missing or out of range.
Result cost_of(const catalog::Catalog& catalog, const Bill& bill, double hours, double tokens);

}  // namespace fabricast::cost
