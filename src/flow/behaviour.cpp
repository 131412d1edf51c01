#include "flow/behaviour.h"

#include <algorithm>
#include <cstdlib>

namespace fabricast::flow {

double Curve::at(double bytes) const {
  if (points.empty()) return 0;
  const auto above = std::ranges::lower_bound(points, bytes, {}, &Point::bytes);
  if (above == points.begin()) return points.front().seconds;
  if (above == points.end()) return points.back().seconds;
  const Point& low = *(above - 1);
  const double part = (bytes - low.bytes) / (above->bytes - low.bytes);
  return low.seconds + part * (above->seconds - low.seconds);
}

const PathBehaviour& Behaviour::path(int links) const {
  return *std::ranges::min_element(
      paths, {}, [&](const PathBehaviour& p) { return std::abs(p.links - links); });
}

}  // namespace fabricast::flow
