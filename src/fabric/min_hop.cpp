// Shortest paths, and shortest paths that never turn up again, balanced by counting.
//
// Per destination switch a search gives every port of every other switch a number of hops. A switch
// forwards each adapter of that destination by the port of least hops over which the fewest
// adapters are routed yet; the lowest port number breaks ties (osm_switch_recommend_path).
// Destinations come by switch, most adapters first, then by port (sort_ports_by_switch_load).

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "fabric/subnet.h"

namespace fabricast::fabric {
namespace {

using Hops = std::uint16_t;
constexpr Hops kUnreached = std::numeric_limits<Hops>::max();

/// Hops from every switch to one destination switch: the least, and by each port.
struct HopMatrix {
  std::vector<Hops> least;  ///< by switch
  std::vector<Hops> by_port;

  explicit HopMatrix(const Subnet& subnet)
      : least(subnet.switches()), by_port(subnet.switch_ports()) {}

  void start_at(std::uint32_t destination) {
    std::ranges::fill(least, kUnreached);
    std::ranges::fill(by_port, kUnreached);
    least[destination] = 0;
  }

  /// Notes that switch `at` reaches the destination by `port` in `hops`; true when that is news.
  bool offer(std::uint32_t at, std::uint32_t port, int hops) {
    const auto value = static_cast<Hops>(hops);
    if (value >= by_port[port]) return false;
    by_port[port] = value;
    least[at] = std::min(least[at], value);
    return true;
  }
};

/// Breadth first from the destination over all links.
class AnyPath {
 public:
  explicit AnyPath(const Subnet& subnet) : subnet_(&subnet) {}

  void search(std::uint32_t destination, HopMatrix& hops) {
    hops.start_at(destination);
    queue_.assign(1, destination);
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      const std::uint32_t at = queue_[i];
      for (std::uint32_t p = subnet_->first_port(at); p < subnet_->end_port(at); ++p) {
        const std::uint32_t next = subnet_->neighbour(p);
        if (next == Subnet::kNone) continue;
        if (hops.least[next] == kUnreached) queue_.push_back(next);
        hops.offer(next, subnet_->peer(p), hops.least[at] + 1);
      }
    }
  }

 private:
  const Subnet* subnet_;
  std::vector<std::uint32_t> queue_;
};

/// Breadth first from the destination over steps that do not go up after one down. A path of the
/// packets is such a walk backwards, which is one again. A switch keeps the direction by which it
/// was queued last (updn_bfs_by_node).
class UpDownPath {
 public:
  explicit UpDownPath(const Subnet& subnet)
      : subnet_(&subnet),
        rank_(subnet.switches(), kUnranked),
        goes_down_(subnet.switches()),
        queued_(subnet.switches()) {
    rank_from_top_tier();
  }

  void search(std::uint32_t destination, HopMatrix& hops) {
    hops.start_at(destination);
    goes_down_[destination] = 0;
    queue_.assign(1, destination);
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      const std::uint32_t at = queue_[i];
      queued_[at] = 0;
      const bool came_down = goes_down_[at] != 0;
      for (std::uint32_t p = subnet_->first_port(at); p < subnet_->end_port(at); ++p) {
        const std::uint32_t next = subnet_->neighbour(p);
        if (next == Subnet::kNone) continue;
        const bool step_down = down(at, next);
        if (came_down && !step_down) continue;
        if (!hops.offer(next, subnet_->peer(p), hops.least[at] + 1)) continue;
        if (queued_[next] != 0) continue;
        goes_down_[next] = step_down ? 1 : 0;
        queued_[next] = 1;
        queue_.push_back(next);
      }
    }
  }

 private:
  static constexpr unsigned kUnranked = 0xffffffff;

  /// Rank 0 are the discovered switches of the highest tier; the rest by distance from them.
  void rank_from_top_tier() {
    queue_ = subnet_->top_tier();
    for (const std::uint32_t root : queue_) rank_[root] = 0;
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      const std::uint32_t at = queue_[i];
      for (std::uint32_t p = subnet_->first_port(at); p < subnet_->end_port(at); ++p) {
        const std::uint32_t next = subnet_->neighbour(p);
        if (next == Subnet::kNone || rank_[next] <= rank_[at] + 1) continue;
        rank_[next] = rank_[at] + 1;
        queue_.push_back(next);
      }
    }
  }

  /// Between switches of one rank the higher number counts as up; between roots both ways do.
  bool down(std::uint32_t from, std::uint32_t to) const {
    if (rank_[from] != rank_[to]) return rank_[from] < rank_[to];
    return rank_[from] != 0 && from <= to;
  }

  const Subnet* subnet_;
  std::vector<unsigned> rank_;
  std::vector<std::uint8_t> goes_down_;
  std::vector<std::uint8_t> queued_;
  std::vector<std::uint32_t> queue_;
};

std::vector<std::uint32_t> most_adapters_first(const Subnet& subnet) {
  std::vector<std::uint32_t> order(subnet.switches());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::uint32_t at) { return subnet.adapters(at).size(); });
  return order;
}

/// Counts the adapters routed by each port and picks the port that has fewest.
class Balance {
 public:
  Balance(const Subnet& subnet, Table& table)
      : subnet_(&subnet), table_(&table), routes_(subnet.switch_ports()) {}

  /// Routes the adapters of `destination` at switch `at`, which is another switch.
  void spread(const HopMatrix& hops, std::uint32_t destination, std::uint32_t at) {
    if (hops.least[at] == kUnreached) return;
    shortest_.clear();
    for (std::uint32_t p = subnet_->first_port(at); p < subnet_->end_port(at); ++p) {
      if (hops.by_port[p] == hops.least[at]) shortest_.push_back(p);
    }
    for (const Subnet::Adapter& adapter : subnet_->adapters(destination)) {
      assign(adapter, at,
             *std::ranges::min_element(shortest_, {}, [&](std::uint32_t p) { return routes_[p]; }));
    }
  }

  /// Routes the adapters of a switch to their own ports.
  void deliver(std::uint32_t at) {
    for (const Subnet::Adapter& adapter : subnet_->adapters(at)) assign(adapter, at, adapter.port);
  }

 private:
  void assign(const Subnet::Adapter& adapter, std::uint32_t at, std::uint32_t port) {
    ++routes_[port];
    table_->row(adapter.endpoint)[at] = subnet_->local(at, port);
  }

  const Subnet* subnet_;
  Table* table_;
  std::vector<std::uint32_t> routes_;
  std::vector<std::uint32_t> shortest_;
};

template <class Search>
void route(const Subnet& subnet, Search search, Table& table) {
  HopMatrix hops(subnet);
  Balance balance(subnet, table);
  for (const std::uint32_t destination : most_adapters_first(subnet)) {
    if (subnet.adapters(destination).empty()) break;
    search.search(destination, hops);
    for (std::uint32_t at = 0; at < subnet.switches(); ++at) {
      if (at != destination) balance.spread(hops, destination, at);
    }
    balance.deliver(destination);
  }
}

}  // namespace

void route_min_hop(const Subnet& subnet, Table& table) {
  route(subnet, AnyPath(subnet), table);
}

void route_up_down(const Subnet& subnet, Table& table) {
  route(subnet, UpDownPath(subnet), table);
}

}  // namespace fabricast::fabric
