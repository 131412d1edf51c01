#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

#include "fabric/forwarding.h"

namespace fabricast::fabric {

/// The tables of one fabric that have been asked for; those of the whole fabric are kept, of
/// damaged ones the latest few.
class ForwardingCache {
 public:
  std::shared_ptr<const ForwardingTables> get(const Fabric& fabric, RoutingEngine engine,
                                              std::vector<PortId> failed) {
    const std::lock_guard lock(mutex_);  // whoever comes second waits and finds the tables there
    for (const Entry& entry : entries_) {
      if (entry.engine == engine && entry.failed == failed) return entry.tables;
    }
    auto tables = std::make_shared<const ForwardingTables>(forwarding(fabric, engine, failed));
    entries_.push_back({engine, std::move(failed), tables});
    const auto damaged = [](const Entry& entry) { return !entry.failed.empty(); };
    if (std::ranges::count_if(entries_, damaged) > kDamaged) {
      entries_.erase(std::ranges::find_if(entries_, damaged));
    }
    return tables;
  }

 private:
  static constexpr std::ptrdiff_t kDamaged = 8;
  struct Entry {
    RoutingEngine engine;
    std::vector<PortId> failed;
    std::shared_ptr<const ForwardingTables> tables;
  };
  std::mutex mutex_;
  std::deque<Entry> entries_;
};

std::shared_ptr<ForwardingCache> make_forwarding_cache() {
  return std::make_shared<ForwardingCache>();
}

std::shared_ptr<const ForwardingTables> shared_forwarding(const Fabric& fabric,
                                                          RoutingEngine engine,
                                                          std::span<const PortId> failed) {
  // One port names a cable, so that equal damage has equal tables.
  std::vector<PortId> cables;
  for (const PortId port : failed) {
    const PortId peer = fabric.port(port).peer;
    cables.push_back(peer.index() < port.index() ? peer : port);
  }
  const auto index = [](PortId port) { return port.index(); };
  std::ranges::sort(cables, {}, index);
  const auto repeated = std::ranges::unique(cables, {}, index);
  cables.erase(repeated.begin(), repeated.end());
  return fabric.forwarding_->get(fabric, engine, std::move(cables));
}

}  // namespace fabricast::fabric
