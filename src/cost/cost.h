#pragma once
// What the built fabric costs: every switch, adapter, cable and transceiver counted once, priced
// from the catalogue, and the share of it that one run uses up.

#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "fabric/fabric.h"

namespace fabricast::cost {

enum class Part { kSwitch, kAdapter, kCable, kGpu };

struct BomLine {
  std::string item;  ///< catalogue id
  std::string what;  ///< "leaf and spine switches"
  std::int64_t count = 0;
  double unit_price = 0;  ///< in the bill's currency, the likely price; a cable with both its ends
  double unit_power_w = 0;  ///< of a cable: of both its ends
  Part part = Part::kSwitch;
};

struct Bill {
  std::string currency;
  std::vector<BomLine> lines;
  double network_capex = 0;
  double gpu_capex = 0;  ///< servers with their GPUs, without adapters
  double capex = 0;
  double power_kw = 0;  ///< whole cluster
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
};

struct BuildInputs {
  const fabric::Fabric* fabric = nullptr;
  catalog::Gpu gpu;
  catalog::Adapter adapter;
  catalog::Switch network_switch;
  std::string currency = "CNY";
};

/// Every switch of the fabric, one adapter per endpoint, every GPU with its share of a server, and
/// cables tier by tier: of the catalogue's cables of the link layer and of the lowest rate that
/// carries the link, the cheapest that reaches `cable_m`. A split port has one cable, as the sizing
/// counts. Power is that of the boxes, of both ends of every cable, and of the GPUs; where
/// prices.yaml has `server-overhead-pct`, GPUs take that much more for processors, fans and
/// conversion. Throws base::Error (input) when the catalogue has no price for an item, no cable
/// that reaches, or no exchange rate to `currency`.
Bill bill_of_materials(const catalog::Catalog& catalog, const BuildInputs& inputs);

/// `hours` and `tokens` describe the run (0: unknown). Reads `depreciation-years`,
/// `operation-pct-per-year`, `pue` and `electricity-kwh` from the prices, and `utilisation-pct`
/// where there is one; without it the hours are hours of ownership (100 %). Throws base::Error
/// (input) when one of the former is missing or out of range.
Result cost_of(const catalog::Catalog& catalog, const Bill& bill, double hours, double tokens);

}  // namespace fabricast::cost
