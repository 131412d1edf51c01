#pragma once
// What max-min sharing does not know of a fabric: how long a message takes beyond its bytes over
// the rate, and what flows that meet lose of a link, and how unequal their shares are. All of it
// comes from runs of the packet level (calibrate.h), nothing is typed in.

#include <cstdint>
#include <span>
#include <vector>

#include "base/units.h"

namespace fabricast::flow {

/// Time by message size: straight lines between points.
struct Curve {
  struct Point {
    double bytes = 0;
    double seconds = 0;
  };
  std::vector<Point> points;  ///< by size

  /// Beyond the ends: the value at the end. 0 without points.
  double at(double bytes) const;
};

/// Of paths of one length, on an idle network.
struct PathBehaviour {
  int links = 0;
  Curve latency;  ///< from `send` to delivery, less size / rate, over a connection that is warm
  Curve ramp;  ///< of all the bytes that a connection has sent: what they took longer, being first
  double acknowledgement = 0;  ///< seconds from delivery to the sender's knowing
  double rate = 0;             ///< bytes per second of one long transfer
};

struct Behaviour {
  std::vector<PathBehaviour> paths;  ///< one for each length that the fabric has
  /// Share of a link's goodput that n sources which fill it get together: entry n - 1.
  std::vector<double> efficiency;
  /// Weights of flows that meet lie from 1 - spread to 1 + spread.
  double spread = 0;
  /// Who shares a link with a flow that congestion further on holds back gets at most so many times
  /// its rate: 1 where pauses or missing credits hold all that is behind. 0: as much as there is.
  double victim = 0;

  /// That of the nearest length. PRECONDITION: there is one.
  const PathBehaviour& path(int links) const;
};

}  // namespace fabricast::flow
