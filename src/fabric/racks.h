#pragma once
// Where the devices of a fabric stand, and hence how long its cables are (docs/models/sizing.md,
// section 8).

#include <vector>

#include "fabric/fabric.h"

namespace fabricast::fabric {

/// Racks in rows. Nodes fill racks one after the other; switches stand in racks of their own, in
/// the middle, but for a cluster of one rack with room for them. Defaults are assumptions.
struct RackSpec {
  int nodes_per_rack = 0;  ///< 0, until somebody knows what a node draws: as many as `kw` allows
  double kw = 40;          ///< that a rack of nodes may draw
  int switches_per_rack = 16;
  int racks_per_row = 16;
  double pitch_m = 0.6;   ///< from rack to rack of a row
  double row_m = 3;       ///< from row to row
  double in_rack_m = 2;   ///< a cable that stays in its rack
  double overhead_m = 3;  ///< more of one that leaves it: up to the tray and down again
};

class RackPlan {
 public:
  /// Throws base::Error (failure) on a plan without room, or without `nodes_per_rack`.
  RackPlan(const Fabric& fabric, const RackSpec& spec);

  int racks() const { return racks_; }
  int node_racks() const { return node_racks_; }
  int rack_of(DeviceId device) const { return rack_[device.index()]; }
  /// Of the cable between two devices, in metres to the centimetre: within a rack, else along the
  /// rows.
  double length_m(DeviceId a, DeviceId b) const;

 private:
  RackSpec spec_;
  int racks_ = 0;
  int node_racks_ = 0;
  std::vector<int> rack_;  ///< by device
};

}  // namespace fabricast::fabric
