#pragma once
// The faces of `fabricast bom`: what to buy for each fabric of a scenario.

#include <string>
#include <vector>

#include "report/report.h"

namespace fabricast::report {

struct BomEntry {
  std::string name;  ///< of the fabric
  catalog::FabricKind kind = catalog::FabricKind::kInfiniBand;
  fabric::Sizing sizing;
  cost::Bill bill;
  cost::Bounds bounds;
  std::vector<cost::CableRun> cables;  ///< may be empty
};

struct BomReport {
  const scenario::ValidScenario* scenario = nullptr;
  std::vector<BomEntry> entries;
};

/// At most 80 cells wide.
std::string bom_table(const BomReport& report, bool chinese);
/// Keys as in docs/bom.schema.json.
std::string bom_json(const BomReport& report);
/// A line per item: fabric, part, item, what, count, unit price, total, currency, watts, owned.
std::string bom_csv(const BomReport& report);
/// A line per cable: fabric, device, port, peer, its port, metres, catalogue id.
std::string cables_csv(const BomReport& report);

}  // namespace fabricast::report
