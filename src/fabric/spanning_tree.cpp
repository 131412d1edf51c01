// One loop-free tree of links, as bridges agree on it (IEEE Std 802.1D-2004, clause 17). An
// operator gives the root the best priority: the first switch of the highest tier. Every other
// bridge keeps the link that leads to the root at the least cost; of equals the one to the bridge,
// then to the port, of the lowest number. All other links between switches are blocked; parallel
// ones are not aggregated.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "fabric/subnet.h"

namespace fabricast::fabric {
namespace {

using Cost = std::uint64_t;
constexpr Cost kUnreached = std::numeric_limits<Cost>::max();

/// Table 17-3: 20 Tb/s over the rate.
Cost cost_of(const Subnet& subnet, std::uint32_t port) {
  constexpr std::int64_t kReference = 20'000'000'000'000;
  const std::int64_t rate = subnet.fabric().port(PortId(port)).rate.bps();
  return static_cast<Cost>(kReference / rate > 0 ? kReference / rate : 1);
}

class Tree {
 public:
  explicit Tree(const Subnet& subnet)
      : subnet_(&subnet), cost_(subnet.switches(), kUnreached), in_tree_(subnet.switch_ports()) {
    for (const std::uint32_t root : subnet.top_tier()) grow(root);
    // What damage has cut off from the top has a root of its own.
    for (std::uint32_t at = 0; at < subnet.switches(); ++at) grow(at);
    for (std::uint32_t at = 0; at < subnet.switches(); ++at) keep_root_port(at);
  }

  /// True for a switch port whose link is not blocked.
  bool open(std::uint32_t port) const { return in_tree_[port] != 0; }

 private:
  void grow(std::uint32_t root) {
    if (cost_[root] != kUnreached) return;
    using Offer = std::pair<Cost, std::uint32_t>;
    std::priority_queue<Offer, std::vector<Offer>, std::greater<>> offers;
    cost_[root] = 0;
    offers.emplace(0, root);
    while (!offers.empty()) {
      const auto [cost, at] = offers.top();
      offers.pop();
      if (cost != cost_[at]) continue;
      for (std::uint32_t p = subnet_->first_port(at); p < subnet_->end_port(at); ++p) {
        const std::uint32_t next = subnet_->neighbour(p);
        if (next == Subnet::kNone) continue;
        const Cost there = cost + cost_of(*subnet_, subnet_->peer(p));
        if (there >= cost_[next]) continue;
        cost_[next] = there;
        offers.emplace(there, next);
      }
    }
  }

  void keep_root_port(std::uint32_t at) {
    auto best = std::tuple(kUnreached, Subnet::kNone, Subnet::kNone, Subnet::kNone);
    for (std::uint32_t p = subnet_->first_port(at); p < subnet_->end_port(at); ++p) {
      const std::uint32_t next = subnet_->neighbour(p);
      if (next == Subnet::kNone) continue;
      best =
          std::min(best, std::tuple(cost_[next] + cost_of(*subnet_, p), next, subnet_->peer(p), p));
    }
    if (std::get<0>(best) != cost_[at]) return;  // the root itself
    in_tree_[std::get<3>(best)] = 1;
    in_tree_[std::get<2>(best)] = 1;
  }

  const Subnet* subnet_;
  std::vector<Cost> cost_;
  std::vector<std::uint8_t> in_tree_;
};

}  // namespace

void route_spanning_tree(const Subnet& subnet, Table& table) {
  const Tree tree(subnet);
  std::vector<std::uint32_t> reached;
  std::vector<std::uint32_t> towards(subnet.switches());
  for (std::uint32_t to = 0; to < subnet.switches(); ++to) {
    if (subnet.adapters(to).empty()) continue;
    towards.assign(subnet.switches(), Subnet::kNone);
    reached.assign(1, to);
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const std::uint32_t at = reached[i];
      for (std::uint32_t p = subnet.first_port(at); p < subnet.end_port(at); ++p) {
        const std::uint32_t next = subnet.neighbour(p);
        if (next == Subnet::kNone || !tree.open(p)) continue;
        if (next == to || towards[next] != Subnet::kNone) continue;
        towards[next] = subnet.peer(p);
        reached.push_back(next);
      }
    }
    for (const Subnet::Adapter& adapter : subnet.adapters(to)) {
      const auto row = table.row(adapter.endpoint);
      row[to] = subnet.local(to, adapter.port);
      for (std::uint32_t at = 0; at < subnet.switches(); ++at) {
        if (towards[at] != Subnet::kNone) row[at] = subnet.local(at, towards[at]);
      }
    }
  }
}

}  // namespace fabricast::fabric
