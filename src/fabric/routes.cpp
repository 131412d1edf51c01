#include "fabric/routes.h"

#include <algorithm>
#include <utility>

namespace fabricast::fabric {

namespace {

/// More switches than any loop-free route crosses.
constexpr int kMaxHops = 64;

bool is_switch(const Fabric& fabric, std::uint32_t device) {
  return fabric.devices()[device].kind == DeviceKind::kSwitch;
}

/// All routes to one destination at a time. They form a tree towards it: `visit` gets every switch
/// that carries traffic, those farther away first, with its egress and the number of sources.
class RoutesTo {
 public:
  RoutesTo(const Fabric& fabric, const ForwardingTables& tables)
      : fabric_(&fabric), tables_(&tables) {
    while (switches_ < fabric.devices().size() && is_switch(fabric, switches_)) ++switches_;
    sources_.resize(switches_);
    inputs_.resize(switches_);
    next_.resize(switches_);
    sources_at_.resize(switches_);
    for (int e = 0; e < fabric.endpoints(); ++e) {
      const EndpointId endpoint(static_cast<std::uint32_t>(e));
      if (!tables.attached(endpoint)) continue;
      const std::uint32_t entry = entry_of(endpoint);
      if (entry < switches_) ++sources_at_[entry];
    }
  }

  std::uint32_t switches() const { return switches_; }

  /// The device at the other end of an adapter's cable.
  std::uint32_t entry_of(EndpointId endpoint) const {
    return fabric_->port(fabric_->port(fabric_->endpoint_port(endpoint)).peer).device.index();
  }

  template <class Visit>
  void walk(EndpointId destination, Visit visit) {
    start(destination);
    for (std::size_t i = 0; i < ready_.size(); ++i) {
      const std::uint32_t at = ready_[i];
      const PortId egress = tables_->egress(DeviceId(at), destination);
      if (!egress.valid()) continue;
      if (sources_[at] > 0) visit(at, egress, sources_[at]);
      const std::uint32_t next = next_[at];
      if (next >= switches_) continue;
      sources_[next] += sources_[at];
      if (--inputs_[next] == 0) ready_.push_back(next);
    }
  }

 private:
  /// Counts the switches that feed each switch, of those that carry traffic.
  void start(EndpointId destination) {
    sources_ = sources_at_;
    const std::uint32_t own = entry_of(destination);
    if (tables_->attached(destination) && own < switches_) --sources_[own];
    std::ranges::fill(inputs_, 0);
    for (std::uint32_t at = 0; at < switches_; ++at) {
      const PortId egress = tables_->egress(DeviceId(at), destination);
      next_[at] = egress.valid() ? fabric_->port(fabric_->port(egress).peer).device.index()
                                 : static_cast<std::uint32_t>(fabric_->devices().size());
      if (next_[at] < switches_) ++inputs_[next_[at]];
    }
    ready_.clear();
    for (std::uint32_t at = 0; at < switches_; ++at) {
      if (inputs_[at] == 0) ready_.push_back(at);
    }
  }

  const Fabric* fabric_;
  const ForwardingTables* tables_;
  std::uint32_t switches_ = 0;
  std::vector<std::uint32_t> sources_at_;  ///< adapters of each switch
  std::vector<std::uint32_t> sources_;     ///< whose packets pass a switch
  std::vector<std::uint32_t> inputs_;      ///< switches not yet visited that forward to it
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> ready_;
};

EndpointId endpoint(int index) {
  return EndpointId(static_cast<std::uint32_t>(index));
}

/// The links that packets wait for next, per link between switches that holds them.
class Dependencies {
 public:
  explicit Dependencies(const Fabric& fabric) : fabric_(&fabric), begin_(fabric.ports().size()) {
    std::size_t words = 0;
    for (std::uint32_t p = 0; p < begin_.size(); ++p) {
      begin_[p] = words;
      words += (beyond(p).port_count + 63) / 64;
    }
    bits_.resize(words);
  }

  void add(PortId held, PortId awaited) {
    const std::uint32_t local = awaited.index() - beyond(held.index()).first_port;
    bits_[begin_[held.index()] + local / 64] |= std::uint64_t{1} << (local % 64);
  }

  std::vector<std::vector<std::uint32_t>> successors() const {
    std::vector<std::vector<std::uint32_t>> all(begin_.size());
    for (std::uint32_t p = 0; p < begin_.size(); ++p) {
      const Device& next = beyond(p);
      for (std::uint32_t local = 0; local < next.port_count; ++local) {
        const std::uint64_t word = bits_[begin_[p] + local / 64];
        if ((word >> (local % 64) & 1) != 0) all[p].push_back(next.first_port + local);
      }
    }
    return all;
  }

 private:
  const Device& beyond(std::uint32_t port) const {
    return fabric_->device(fabric_->port(fabric_->port(PortId(port)).peer).device);
  }

  const Fabric* fabric_;
  std::vector<std::size_t> begin_;  ///< first word of each link
  std::vector<std::uint64_t> bits_;
};

}  // namespace

std::vector<PortId> route(const Fabric& fabric, const ForwardingTables& tables, EndpointId from,
                          EndpointId to) {
  if (from == to || !tables.attached(from) || !tables.attached(to)) return {};
  std::vector<PortId> ports{fabric.endpoint_port(from)};
  for (int hop = 0; hop < kMaxHops; ++hop) {
    const PortId arrived = fabric.port(ports.back()).peer;
    if (arrived == fabric.endpoint_port(to)) return ports;
    const DeviceId at = fabric.port(arrived).device;
    if (!is_switch(fabric, at.index())) return {};
    const PortId egress = tables.egress(at, to);
    if (!egress.valid()) return {};
    ports.push_back(egress);
  }
  return {};
}

int path_length(const Fabric& fabric, const ForwardingTables& tables, EndpointId from,
                EndpointId to) {
  return static_cast<int>(route(fabric, tables, from, to).size());
}

std::vector<std::uint64_t> link_loads(const Fabric& fabric, const ForwardingTables& tables) {
  std::vector<std::uint64_t> loads(fabric.ports().size());
  RoutesTo routes(fabric, tables);
  std::vector<std::uint64_t> sent(fabric.devices().size());  // by each adapter of a switch
  for (int to = 0; to < fabric.endpoints(); ++to) {
    if (!tables.attached(endpoint(to))) continue;
    routes.walk(endpoint(to), [&](std::uint32_t, PortId egress, std::uint32_t sources) {
      loads[egress.index()] += sources;
    });
    for (std::uint32_t at = 0; at < routes.switches(); ++at) {
      if (tables.egress(DeviceId(at), endpoint(to)).valid()) ++sent[at];
    }
  }
  for (int from = 0; from < fabric.endpoints(); ++from) {
    if (!tables.attached(endpoint(from))) continue;
    const std::uint32_t entry = routes.entry_of(endpoint(from));
    const bool direct = entry >= routes.switches();
    // The switch of an adapter knows the way to that adapter too.
    loads[fabric.endpoint_port(endpoint(from)).index()] = direct ? 1 : sent[entry] - 1;
  }
  return loads;
}

std::uint64_t unreachable_pairs(const Fabric& fabric, const ForwardingTables& tables) {
  const auto endpoints = static_cast<std::uint64_t>(fabric.endpoints());
  std::uint64_t reached = 0;
  RoutesTo routes(fabric, tables);
  for (int to = 0; to < fabric.endpoints(); ++to) {
    if (!tables.attached(endpoint(to))) continue;
    if (routes.entry_of(endpoint(to)) >= routes.switches()) ++reached;  // a cable, no switch
    const PortId last = fabric.port(fabric.endpoint_port(endpoint(to))).peer;
    routes.walk(endpoint(to), [&](std::uint32_t, PortId egress, std::uint32_t sources) {
      if (egress == last) reached += sources;
    });
  }
  return endpoints * (endpoints - 1) - reached;
}

std::vector<PortId> credit_loop(const Fabric& fabric, const ForwardingTables& tables) {
  Dependencies dependencies(fabric);
  RoutesTo routes(fabric, tables);
  for (int to = 0; to < fabric.endpoints(); ++to) {
    if (!tables.attached(endpoint(to))) continue;
    routes.walk(endpoint(to), [&](std::uint32_t, PortId egress, std::uint32_t) {
      const DeviceId next = fabric.port(fabric.port(egress).peer).device;
      if (next.index() >= routes.switches()) return;
      const PortId awaited = tables.egress(next, endpoint(to));
      if (awaited.valid()) dependencies.add(egress, awaited);
    });
  }
  std::vector<PortId> loop;
  for (const std::uint32_t link : find_cycle(dependencies.successors())) loop.emplace_back(link);
  return loop;
}

std::vector<std::uint32_t> find_cycle(const std::vector<std::vector<std::uint32_t>>& successors) {
  enum class State : std::uint8_t { kNew, kOnPath, kDone };
  std::vector<State> state(successors.size(), State::kNew);
  struct Step {
    std::uint32_t node;
    std::size_t next;  ///< successor to look at
  };
  std::vector<Step> path;
  for (std::uint32_t start = 0; start < successors.size(); ++start) {
    if (state[start] != State::kNew) continue;
    state[start] = State::kOnPath;
    path.assign(1, {start, 0});
    while (!path.empty()) {
      const std::uint32_t node = path.back().node;
      if (path.back().next == successors[node].size()) {
        state[node] = State::kDone;
        path.pop_back();
        continue;
      }
      const std::uint32_t next = successors[node][path.back().next++];
      if (state[next] == State::kOnPath) {
        std::vector<std::uint32_t> cycle;
        for (auto step = std::ranges::find(path, next, &Step::node); step != path.end(); ++step) {
          cycle.push_back(step->node);
        }
        return cycle;
      }
      if (state[next] == State::kDone) continue;
      state[next] = State::kOnPath;
      path.push_back({next, 0});
    }
  }
  return {};
}

}  // namespace fabricast::fabric
