#include "network/flows.h"

#include <map>
#include <memory>
#include <tuple>

namespace fabricast::network {

namespace {

/// A flow has a connection of its own, so that none waits behind another. Pairs with more flows
/// than there are channels take them in turn.
std::uint32_t channel_of(std::size_t flow) {
  return static_cast<std::uint32_t>(flow % kBackgroundChannel);
}

/// The flows under way.
class Play {
 public:
  Play(Network& network, const std::vector<Flow>& flows,
       const std::function<void(std::size_t)>& on_complete)
      : network_(network),
        flows_(flows),
        on_complete_(on_complete),
        times_(flows.size()),
        followers_(flows.size()) {}

  std::vector<FlowTimes> run() {
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      if (flows_[i].depends_on == Flow::kNoFlow) {
        begin(i);
      } else {
        followers_[flows_[i].depends_on].push_back(i);
      }
    }
    network_.run();
    return std::move(times_);
  }

 private:
  void begin(std::size_t i) {
    network_.at(network_.now() + flows_[i].start, [this, i](base::Time now) { send(i, now); });
  }

  void send(std::size_t i, base::Time now) {
    const Flow& flow = flows_[i];
    times_[i].started = now;
    network_.send(flow.src, flow.dst, flow.size,
                  {channel_of(i), flow.traffic_class, Completion::kAcknowledged},
                  [this, i](base::Time at) { complete(i, at); });
  }

  void complete(std::size_t i, base::Time now) {
    times_[i].completed = now;
    if (on_complete_) on_complete_(i);
    for (const std::size_t next : followers_[i]) begin(next);
  }

  Network& network_;
  const std::vector<Flow>& flows_;
  const std::function<void(std::size_t)>& on_complete_;
  std::vector<FlowTimes> times_;
  std::vector<std::vector<std::size_t>> followers_;
};

/// Links from one GPU's adapter to the other's; 0 inside a node.
int links_between(const fabric::Fabric& fabric, base::Rank src, base::Rank dst) {
  if (fabric.node_of(src) == fabric.node_of(dst)) return 0;
  const fabric::EndpointId to = fabric.endpoint_of(dst);
  fabric::PortId port = fabric.endpoint_port(fabric.endpoint_of(src));
  for (int links = 1;; ++links) {
    const fabric::DeviceId next = fabric.port(fabric.port(port).peer).device;
    if (fabric.device(next).kind == fabric::DeviceKind::kAdapter) return links;
    const auto ports = fabric.next_hops(next, to);
    if (ports.empty()) return links;  // the network will say that there is no route
    port = ports.front();
  }
}

}  // namespace

std::vector<FlowTimes> run_flows(Network& network, const std::vector<Flow>& flows,
                                 const std::function<void(std::size_t)>& on_complete) {
  return Play(network, flows, on_complete).run();
}

std::vector<base::Time> ideal_times(const Factory& make, const fabric::Fabric& fabric,
                                    const std::vector<Flow>& flows, std::uint64_t seed) {
  std::map<std::tuple<std::int64_t, int, unsigned>, base::Time> known;
  std::vector<base::Time> times;
  for (const Flow& flow : flows) {
    const auto kind = std::tuple(flow.size.count(), links_between(fabric, flow.src, flow.dst),
                                 flow.traffic_class);
    const auto [entry, added] = known.try_emplace(kind);
    if (added) {
      const auto network = make(seed);
      const Flow alone{flow.src, flow.dst, flow.size, {}, flow.traffic_class, Flow::kNoFlow};
      const FlowTimes played = run_flows(*network, {alone}).front();
      entry->second = played.completed - played.started;
    }
    times.push_back(entry->second);
  }
  return times;
}

}  // namespace fabricast::network
