#pragma once
// Inside the cost room: which cable each link of a fabric takes.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cost/cost.h"

namespace fabricast::cost {

/// Cables of one kind that join the same two tiers.
struct CableCount {
  const char* what = "";  ///< "cables from adapters to leaves"
  const catalog::Cable* cable = nullptr;
  std::int64_t count = 0;
  double longest_m = 0;
};

class Cabling {
 public:
  /// PRECONDITION: all of `inputs` outlives it. Throws base::Error (input) where no cable of the
  /// catalogue carries a link or reaches.
  Cabling(const catalog::Catalog& catalog, const BuildInputs& inputs);

  /// Tier by tier from the adapters up, short ones first.
  const std::vector<CableCount>& counts() const { return counts_; }
  int racks() const { return plan_ ? plan_->racks() : 0; }
  std::vector<CableRun> runs() const;

 private:
  double length_m(fabric::PortId port) const;
  const catalog::Cable& cable(base::Rate link, double metres);
  /// `ports` are the ends of the cables, where they have any on the fabric.
  void count(const char* what, base::Rate link, double metres, std::int64_t cables,
             std::span<const fabric::PortId> ports);
  void count_links();
  void count_uplinks(const fabric::Device& device, base::Rate uplink);

  const catalog::Catalog& catalog_;
  const BuildInputs& inputs_;
  std::optional<fabric::RackPlan> plan_;
  std::map<std::pair<std::int64_t, double>, const catalog::Cable*> chosen_;  ///< by rate and length
  std::vector<CableCount> counts_;
  std::vector<std::pair<const catalog::Cable*, double>> of_port_;  ///< with its length, by port
};

}  // namespace fabricast::cost
