#pragma once
// SimGrid's max-min solver, with its corrections for TCP off: when flows over links end.

#include <cstdint>
#include <map>
#include <vector>

namespace fabricast::flow::test {

struct RoutedFlow {
  std::uint32_t from = 0;  ///< host; no two flows join the same two in the same direction
  std::uint32_t to = 0;
  std::int64_t bytes = 0;
  double start_s = 0;
  std::vector<std::uint32_t> links;  ///< in order
};

/// Seconds, in the order of the flows; `capacity` of every link in bytes per second. To be called
/// once in a process.
std::vector<double> simgrid(std::uint32_t hosts, const std::map<std::uint32_t, double>& capacity,
                            const std::vector<RoutedFlow>& flows);

}  // namespace fabricast::flow::test
