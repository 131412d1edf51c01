#pragma once
// Who simulates what when several engines share a network: the devices of a fabric in parts of
// about equal work, cut at links with as much delay as there is.

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "fabric/fabric.h"

namespace fabricast::packet {

struct Partition {
  unsigned parts = 1;
  std::vector<std::uint8_t> part_of;  ///< by device
  base::Time
      lookahead;  ///< least propagation of a link between two parts; Time::max(): none is cut

  unsigned of(fabric::DeviceId device) const { return part_of[device.index()]; }
};

/// At most `parts` (<= 255) parts. An adapter is in the part of its switch; leaves are shared out
/// in their order, by the adapters below them, so that pods stay together; a switch above goes
/// where most of its cables lead, and between equals to the part with fewer ports. `phy` is added
/// to the delay of every cable. One part where there are fewer leaves than two.
Partition partition(const fabric::Fabric& fabric, unsigned parts, base::Time phy);

}  // namespace fabricast::packet
