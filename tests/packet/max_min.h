#pragma once
// Max-min fair rates, and when flows end that share so.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace fabricast::packet::testing {

/// The links that each flow crosses, by number.
using Routes = std::vector<std::vector<std::size_t>>;

/// Progressive filling (Bertsekas and Gallager, "Data Networks", 6.5.2): all rates grow alike until
/// a link is full; its flows keep what they have, and the others go on. A flow whose `wants` is
/// false gets 0.
inline std::vector<double> max_min(const Routes& routes, const std::vector<double>& capacity,
                                   const std::vector<bool>& wants) {
  std::vector<double> rate(routes.size(), 0);
  std::vector<double> left = capacity;
  std::vector<int> sharers(capacity.size(), 0);
  std::vector<bool> growing = wants;
  for (std::size_t f = 0; f < routes.size(); ++f) {
    for (const std::size_t link : routes[f]) sharers[link] += wants[f] ? 1 : 0;
  }
  while (std::find(growing.begin(), growing.end(), true) != growing.end()) {
    std::size_t full = 0;
    double share = std::numeric_limits<double>::infinity();
    for (std::size_t link = 0; link < left.size(); ++link) {
      if (sharers[link] > 0 && left[link] / sharers[link] < share) {
        share = left[link] / sharers[link];
        full = link;
      }
    }
    for (std::size_t f = 0; f < routes.size(); ++f) {
      const auto& route = routes[f];
      if (!growing[f] || std::find(route.begin(), route.end(), full) == route.end()) continue;
      growing[f] = false;
      rate[f] = share;
      for (const std::size_t link : route) {
        left[link] -= share;
        --sharers[link];
      }
    }
  }
  return rate;
}

inline std::vector<double> max_min(const Routes& routes, const std::vector<double>& capacity) {
  return max_min(routes, capacity, std::vector<bool>(routes.size(), true));
}

/// When flows of `size` each, all from time 0, end: rates are filled anew whenever one is through.
inline std::vector<double> max_min_completions(const Routes& routes,
                                               const std::vector<double>& capacity, double size) {
  std::vector<double> done(routes.size(), 0);
  std::vector<double> left(routes.size(), size);
  std::vector<bool> wants(routes.size(), true);
  double now = 0;
  while (std::find(wants.begin(), wants.end(), true) != wants.end()) {
    const std::vector<double> rate = max_min(routes, capacity, wants);
    double step = std::numeric_limits<double>::infinity();
    for (std::size_t f = 0; f < routes.size(); ++f) {
      if (wants[f]) step = std::min(step, left[f] / rate[f]);
    }
    now += step;
    for (std::size_t f = 0; f < routes.size(); ++f) {
      if (!wants[f]) continue;
      left[f] -= rate[f] * step;
      if (left[f] > 1e-9 * size) continue;
      wants[f] = false;
      done[f] = now;
    }
  }
  return done;
}

}  // namespace fabricast::packet::testing
