#pragma once
// Work that is independent item by item, spread over threads. The result never depends on the
// number of threads: each item writes only to a slot of its own.

#include <cstddef>
#include <functional>

namespace fabricast::base {

/// Calls body(i) once for every i in [0, n) on at most `threads` threads (0: all cores). An
/// exception of any item is rethrown here after the others have ended (that of the lowest index).
void parallel_for(std::size_t n, int threads, const std::function<void(std::size_t)>& body);

}  // namespace fabricast::base
