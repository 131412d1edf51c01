#pragma once
// Identical communication phases are simulated once per state; the cache keeps the distribution of
// their durations under a digest of everything that decides it (fabric, profile, phase, seed).
// In memory, for one run of the program.

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "network/network.h"

namespace fabricast::network {

/// What the samples of one phase showed.
struct PhaseSamples {
  std::vector<double> seconds;     ///< one duration per state, in the order of the states
  double extrapolation_error = 0;  ///< stated relative error of the extrapolated part; 0: none
  /// Where the phase is longer than what was simulated.
  struct Extrapolated {
    base::Bytes size;             ///< that was simulated
    std::vector<double> seconds;  ///< of it, per state
    base::Bytes piece;            ///< a part of it at the steady rate
    std::vector<double> pieces;   ///< seconds of one, per state
    double disagreement = 0;      ///< of late pieces with early ones, relative
  };
  std::optional<Extrapolated> extrapolated;
  Counters counters;  ///< summed over the simulated states
  std::vector<double> probe_latencies_us;
  double simulated_s = 0;  ///< simulated time summed over the states
  /// The link between nodes that was used most, on average over the states; none where nobody
  /// counted.
  struct LinkLoad {
    fabric::PortId port;
    double utilisation = 0;  ///< of its rate while the phase lasted
  };
  std::optional<LinkLoad> busiest;
};

class PhaseCache {
 public:
  /// Returns the samples under `key`, calling `simulate` if there are none yet. Safe to call from
  /// several threads; equal keys are simulated once, the others wait. What `simulate` throws
  /// reaches its caller, and the next one tries again. The reference lives as long as the cache.
  /// PRECONDITION: `simulate` does not ask for the same key.
  const PhaseSamples& get(const std::string& key, const std::function<PhaseSamples()>& simulate);

  std::size_t hits() const;
  std::size_t misses() const;

 private:
  struct Entry {
    std::mutex mutex;  ///< held while the entry is simulated
    bool ready = false;
    PhaseSamples samples;
  };

  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;
  std::size_t hits_ = 0;
  std::size_t misses_ = 0;
};

}  // namespace fabricast::network
