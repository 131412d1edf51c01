#pragma once
// What the built fabric costs: every switch, adapter, cable and transceiver counted once, priced
// from the catalogue, and the share of it that one run uses up.

#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "fabric/fabric.h"

namespace fabricast::cost {

struct BomLine {
  std::string item;   ///< catalogue id
  std::string what;   ///< "leaf and spine switches"
  std::int64_t count = 0;
  double unit_price = 0;  ///< in the bill's currency, the likely price
  double unit_power_w = 0;
};

struct Bill {
  std::string currency;
  std::vector<BomLine> lines;
  double network_capex = 0;
  double gpu_capex = 0;    ///< servers with their GPUs, without adapters
  double capex = 0;
  double power_kw = 0;     ///< whole cluster
};

struct Result {
  std::string currency;
  double network_capex = 0;
  double capex = 0;
  double power_kw = 0;
  double per_hour = 0;             ///< depreciation, energy and operation of the whole cluster
  double per_run = 0;              ///< 0 when the run's length is not known
  double per_million_tokens = 0;
};

struct BuildInputs {
  const fabric::Fabric* fabric = nullptr;
  catalog::Gpu gpu;
  catalog::Adapter adapter;
  catalog::Switch network_switch;
  std::string currency = "CNY";
};

/// Throws base::Error (input) when the catalogue has no price for an item, no cable that reaches, or
/// no exchange rate to `currency`.
Bill bill_of_materials(const catalog::Catalog& catalog, const BuildInputs& inputs);

/// `hours` and `tokens` describe the run (0: unknown).
Result cost_of(const catalog::Catalog& catalog, const Bill& bill, double hours, double tokens);

}  // namespace fabricast::cost
