#pragma once
// PCIe slots by the names that a scenario uses. Private to this room.

#include <string>
#include <vector>

namespace fabricast::scenario {

/// "gen3-x16", ..., slowest first.
std::vector<std::string> pcie_slots();

/// Rate of a slot per direction after line coding, Gb/s: GT/s x lanes x 128/130, and 236/256 in the
/// flits of generation 6 (PCI Express Base Specification 5.0 section 4.2.2, 6.0 section 4.2.3).
/// PRECONDITION: `slot` is one of pcie_slots().
double pcie_gbps(const std::string& slot);

}  // namespace fabricast::scenario
