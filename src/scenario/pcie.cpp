#include "scenario/pcie.h"

#include <algorithm>

namespace fabricast::scenario {

namespace {

struct Slot {
  const char* name;
  double gigatransfers;
  int lanes;
  double payload_share;
};

constexpr double kBlockCoding = 128.0 / 130;
constexpr double kFlit = 236.0 / 256;

constexpr Slot kSlots[] = {
    {"gen3-x8", 8, 8, kBlockCoding},  {"gen3-x16", 8, 16, kBlockCoding},
    {"gen4-x8", 16, 8, kBlockCoding}, {"gen4-x16", 16, 16, kBlockCoding},
    {"gen5-x8", 32, 8, kBlockCoding}, {"gen5-x16", 32, 16, kBlockCoding},
    {"gen6-x16", 64, 16, kFlit},
};

}  // namespace

std::vector<std::string> pcie_slots() {
  std::vector<std::string> names;
  for (const Slot& slot : kSlots) names.emplace_back(slot.name);
  return names;
}

double pcie_gbps(const std::string& slot) {
  const auto* found = std::find_if(std::begin(kSlots), std::end(kSlots),
                                   [&](const Slot& s) { return slot == s.name; });
  return found->gigatransfers * found->lanes * found->payload_share;
}

}  // namespace fabricast::scenario
