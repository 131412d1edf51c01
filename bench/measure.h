#pragma once
// What every benchmark needs: a yardstick of the machine, and workloads that do not see each other.

#include <functional>

#include <nlohmann/json.hpp>

namespace fabricast::bench {

/// Seconds of 10^9 dependent multiply-adds through a volatile variable: 1.15 where the peers were
/// measured.
double calibration_s();

/// Runs `workload` in a process of its own and adds its peak memory, `peak_rss_mb`. Throws
/// std::runtime_error when it fails.
nlohmann::json in_a_process(const std::function<nlohmann::json()>& workload);

}  // namespace fabricast::bench
