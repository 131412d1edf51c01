#pragma once
// What may go wrong in a network, on a schedule. Which wire or switch, when, and for how long.

#include <vector>

#include "base/units.h"
#include "fabric/fabric.h"

namespace fabricast::packet {

struct Fault {
  enum class Kind {
    kLinkDown,     ///< the cable at `port` carries nothing, either way
    kDegraded,     ///< it runs at `value` x its rate
    kBitErrors,    ///< each bit is wrong with probability `value`, either way
    kSlowAdapter,  ///< the adapter at `port` takes and gives `value` x the rate of its port
    kPauseStorm,   ///< the adapter at `port` asks its switch to pause without end (RoCE)
    kNoPfc,  ///< the switch of `port` neither pauses nor lets itself be paused; from the start
    kNoEcn,  ///< the switch of `port` marks nothing; from the start
  };
  Kind kind = Kind::kLinkDown;
  fabric::PortId port;  ///< either end of the cable; of the last two, any port of the switch
  base::Time at;
  base::Time duration;  ///< 0: for good
  /// There before the start, and known: nothing is lost that routes and tables could spare. `at`
  /// and `duration` count for nothing.
  bool settled = false;
  double value = 0;  ///< of faults that overlap on a cable the worst counts
};

struct Faults {
  /// Drops each data packet with this probability when it arrives at a switch.
  double drop_probability = 0;
  std::vector<Fault> schedule;
};

}  // namespace fabricast::packet
