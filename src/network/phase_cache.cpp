#include "network/phase_cache.h"

namespace fabricast::network {

const PhaseSamples& PhaseCache::get(const std::string& key,
                                    const std::function<PhaseSamples()>& simulate) {
  Entry* entry = nullptr;
  {
    const std::lock_guard lock(mutex_);
    entry = &entries_[key];
  }
  const std::lock_guard simulating(entry->mutex);
  const bool found = entry->ready;
  if (!found) {
    entry->samples = simulate();
    entry->ready = true;
  }
  const std::lock_guard lock(mutex_);
  ++(found ? hits_ : misses_);
  return entry->samples;
}

std::size_t PhaseCache::hits() const {
  const std::lock_guard lock(mutex_);
  return hits_;
}

std::size_t PhaseCache::misses() const {
  const std::lock_guard lock(mutex_);
  return misses_;
}

}  // namespace fabricast::network
