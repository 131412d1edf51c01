#include "flow/calibrate.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "fabric/custom.h"
#include "flow/flow_network.h"

namespace fabricast::flow {
namespace {

using base::Bytes;
using base::Rank;
using base::Time;
using fabric::EndpointId;
using fabric::PortId;
using network::Completion;
using namespace base::literals;

constexpr std::uint64_t kSeed = 1;
// Message sizes whose times are learnt; between them the times lie on lines.
constexpr std::int64_t kSizes[] = {1,        256,      1 << 10,  2 << 10,   4 << 10,   8 << 10,
                                   16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10,
                                   1 << 20,  2 << 20,  4 << 20,  8 << 20,   16 << 20};
// A connection that has sent so much sends as fast as it will.
constexpr Bytes kWarmUp{64 << 20};
constexpr Time kSettle = 5_ms;
// Sources that meet; between them efficiency lies on lines.
constexpr int kSources[] = {2, 4, 8, 16};
// As long as what a collective sends at once; a longer message meets DCQCN's first slow-down, which
// is no lasting loss (docs/models/flow.md).
constexpr Bytes kMeeting{2 << 20};
// A victim's message is as long as buffers need to fill.
constexpr Bytes kVictim{16 << 20};
constexpr int kOthers = 4;
// A victim that takes so much longer than alone is one.
constexpr double kUnharmed = 0.05;
// A transfer slower than sharing says by more than this has a cap of its own.
constexpr double kSlower = 0.005;

struct Link {
  base::Rate rate;
  double metres = 0;
};

/// The links of a path, adapter to adapter.
using Chain = std::vector<Link>;

Chain chain_of(const fabric::Fabric& fabric, EndpointId from, EndpointId to) {
  const double ns_per_m = fabric.spec().cable_ns_per_m;
  Chain chain;
  PortId port = fabric.endpoint_port(from);
  for (;;) {
    const fabric::Port& link = fabric.port(port);
    chain.push_back({link.rate, static_cast<double>(link.delay.ps()) * 1e-3 / ns_per_m});
    const fabric::DeviceId next = fabric.port(link.peer).device;
    if (fabric.device(next).kind == fabric::DeviceKind::kAdapter) return chain;
    const auto ports = fabric.next_hops(next, to);
    if (ports.empty()) return {};
    port = ports.front();
  }
}

/// One path of every length that leads from the first adapter.
std::vector<Chain> chains_of(const fabric::Fabric& fabric) {
  std::vector<Chain> chains;
  const auto tiers = static_cast<std::size_t>(std::max(1, fabric.sizing().tiers));
  for (int e = fabric.spec().nics_per_node; e < fabric.endpoints(); ++e) {
    Chain chain = chain_of(fabric, EndpointId(0), EndpointId(static_cast<std::uint32_t>(e)));
    const auto same = [&](const Chain& known) { return known.size() == chain.size(); };
    if (chain.empty() || std::ranges::any_of(chains, same)) continue;
    chains.push_back(std::move(chain));
    if (chains.size() == tiers) break;
  }
  return chains;
}

/// Two adapters at the ends of such a path.
std::shared_ptr<const fabric::Fabric> laid_out(const Chain& chain, double ns_per_m) {
  if (chain.size() == 1) {
    fabric::TopologySpec spec;
    spec.kind = fabric::TopologyKind::kDirect;
    spec.nodes = 2;
    spec.gpus_per_node = spec.nics_per_node = 1;
    spec.nic_rate = chain.front().rate;
    spec.cable_m = chain.front().metres;
    spec.cable_ns_per_m = ns_per_m;
    return std::make_shared<const fabric::Fabric>(fabric::build(spec));
  }
  fabric::CustomSpec spec;
  const int switches = static_cast<int>(chain.size()) - 1;
  for (int i = 0; i < switches; ++i) {
    spec.switches.push_back({fmt::format("switch{}", i), 1 + std::min(i, switches - 1 - i)});
    if (i > 0) {
      const Link& link = chain[static_cast<std::size_t>(i)];
      spec.cables.push_back({i - 1, i, link.rate, link.metres});
    }
  }
  spec.adapters = {0, switches - 1};
  spec.nic_rate = chain.front().rate;
  spec.adapter_cable_m = chain.front().metres;
  spec.cable_ns_per_m = ns_per_m;
  return std::make_shared<const fabric::Fabric>(fabric::custom(spec));
}

/// So many adapters on one switch.
std::shared_ptr<const fabric::Fabric> star(int adapters, const Link& link, double ns_per_m) {
  fabric::CustomSpec spec;
  spec.switches.push_back({"switch0", 1});
  spec.adapters.assign(static_cast<std::size_t>(adapters), 0);
  spec.nic_rate = link.rate;
  spec.adapter_cable_m = link.metres;
  spec.cable_ns_per_m = ns_per_m;
  return std::make_shared<const fabric::Fabric>(fabric::custom(spec));
}

/// Both levels, with the same questions.
class Twins {
 public:
  Twins(const catalog::FabricProfile& profile, const PacketNetworks& packets)
      : profile_(profile), packets_(packets), plain_(std::make_shared<Behaviour>()) {
    plain_->paths.push_back({});
  }

  std::unique_ptr<network::Network> packet(
      const std::shared_ptr<const fabric::Fabric>& fabric) const {
    return packets_(fabric, kSeed);
  }
  std::unique_ptr<network::Network> flow(
      const std::shared_ptr<const fabric::Fabric>& fabric) const {
    return std::make_unique<FlowNetwork>(fabric, profile_, network::NodeLinkSpec{1_gbps, {}},
                                         plain_, kSeed);
  }
  const catalog::FabricProfile& profile() const { return profile_; }

 private:
  const catalog::FabricProfile& profile_;
  const PacketNetworks& packets_;
  std::shared_ptr<Behaviour> plain_;
};

/// Messages from the first adapter to the second, one after the other with a rest between: over one
/// connection that has sent enough, or each over its own.
class OneByOne {
 public:
  OneByOne(network::Network& network, bool warm, Completion completion = Completion::kDelivered)
      : network_(network), warm_(warm) {
    options_.completion = completion;
  }

  /// Seconds of each.
  std::vector<double> times(std::span<const std::int64_t> sizes) {
    sizes_ = sizes;
    if (warm_) {
      network_.send(Rank(0), Rank(1), kWarmUp, options_, [this](Time now) { rest(now); });
    } else {
      next();
    }
    network_.run();
    return std::move(seconds_);
  }

 private:
  void rest(Time now) {
    network_.at(now + kSettle, [this](Time) { next(); });
  }
  void next() {
    if (seconds_.size() == sizes_.size()) return;
    const Time start = network_.now();
    const std::int64_t size = sizes_[seconds_.size()];
    if (!warm_) ++options_.channel;
    network_.send(Rank(0), Rank(1), Bytes(size), options_, [this, start](Time now) {
      seconds_.push_back((now - start).s());
      rest(now);
    });
  }

  network::Network& network_;
  bool warm_;
  network::SendOptions options_;
  std::span<const std::int64_t> sizes_;
  std::vector<double> seconds_;
};

/// What the first flow of a connection carries of a message.
double share_of(const catalog::FabricProfile& profile, std::int64_t size) {
  return static_cast<double>(network::Shares(profile, size).bytes(0));
}

PathBehaviour path_behaviour(const Chain& chain, double ns_per_m, const Twins& twins) {
  const auto fabric = laid_out(chain, ns_per_m);
  const auto packets = [&](bool warm, Completion completion) {
    return OneByOne(*twins.packet(fabric), warm, completion).times(kSizes);
  };
  const std::vector<double> warm = packets(true, Completion::kDelivered);
  const std::vector<double> cold = packets(false, Completion::kDelivered);
  const std::vector<double> flow = OneByOne(*twins.flow(fabric), false).times(kSizes);
  const std::size_t last = std::size(kSizes) - 1;
  const auto longest = static_cast<double>(kSizes[last] - kSizes[last - 1]);
  const double packet_rate = longest / (warm[last] - warm[last - 1]);
  const double flow_rate = longest / (flow[last] - flow[last - 1]);
  const bool capped = packet_rate < flow_rate * (1 - kSlower);

  PathBehaviour path;
  path.links = static_cast<int>(chain.size());
  path.acknowledgement = packets(false, Completion::kAcknowledged).front() - cold.front();
  if (capped) {
    path.rate =
        packet_rate * share_of(twins.profile(), kSizes[last]) / static_cast<double>(kSizes[last]);
  }
  const double overhead = twins.profile().host.send_overhead.s();
  for (std::size_t i = 0; i <= last; ++i) {
    const double by_rate = static_cast<double>(kSizes[i]) / (capped ? packet_rate : flow_rate);
    const double share = share_of(twins.profile(), kSizes[i]);
    path.latency.points.push_back({share, std::max(0.0, warm[i] - by_rate - overhead)});
    path.ramp.points.push_back({share, std::max(0.0, cold[i] - warm[i])});
  }
  return path;
}

/// Messages of all other adapters to the first, at once: when each is complete.
std::vector<double> meet(network::Network& network, int sources) {
  std::vector<double> ends;
  for (int s = 1; s <= sources; ++s) {
    network.send(Rank(static_cast<std::uint32_t>(s)), Rank(0), kMeeting, {},
                 [&](Time now) { ends.push_back(now.s()); });
  }
  network.run();
  return ends;
}

struct Meeting {
  double efficiency = 1;
  double early = 0;  ///< how much earlier than the last the mean ends, relative
};

Meeting meeting_of(int sources, const Link& link, double ns_per_m, const Twins& twins) {
  const auto fabric = star(sources + 1, link, ns_per_m);
  const std::vector<double> packet = meet(*twins.packet(fabric), sources);
  const std::vector<double> flow = meet(*twins.flow(fabric), sources);
  const double last = *std::ranges::max_element(packet);
  Meeting meeting;
  meeting.efficiency = std::min(1.0, *std::ranges::max_element(flow) / last);
  for (const double end : packet) meeting.early += (1 - end / last) / sources;
  return meeting;
}

/// What a victim gets: its sender and that of a flow that is held share the way to a switch where
/// others fill the held flow's receiver and nobody the victim's.
struct Victim {
  double held_s = 0;  ///< of a message that is held
  double own_s = 0;   ///< of the victim's
};

Victim victim_on(network::Network& network) {
  Victim victim;
  const auto send = [&](std::uint32_t from, std::uint32_t to, double* end) {
    network.send(Rank(from), Rank(to), kVictim, {}, [end](Time now) {
      if (end != nullptr) *end = now.s();
    });
  };
  send(0, 2, &victim.held_s);
  send(1, 3, &victim.own_s);
  for (int other = 0; other < kOthers; ++other) {
    send(4 + static_cast<std::uint32_t>(other), 2, nullptr);
  }
  network.run();
  return victim;
}

/// The share of a victim over that of the flow it shares the way with; 0 when it has all it can
/// use.
double victim_of(const Link& link, double ns_per_m, const Twins& twins) {
  fabric::CustomSpec spec;
  spec.switches = {{"switch0", 1}, {"switch1", 1}};
  spec.cables.push_back({0, 1, link.rate * 2, link.metres});
  spec.adapters = {0, 0, 1, 1};
  spec.adapters.resize(spec.adapters.size() + kOthers, 1);
  spec.nic_rate = link.rate;
  spec.adapter_cable_m = link.metres;
  spec.cable_ns_per_m = ns_per_m;
  const auto fabric = std::make_shared<const fabric::Fabric>(fabric::custom(spec));
  const Victim packet = victim_on(*twins.packet(fabric));
  const Victim flow = victim_on(*twins.flow(fabric));
  if (packet.own_s < flow.own_s * (1 + kUnharmed)) return 0;
  return std::max(1.0, flow.held_s / packet.own_s);
}

// With two flows of weights 1 + a and 1 - a the first ends at 1/(1 + a) of the time that both take,
// so that the mean is early by a / (2 (1 + a)).
double spread_of(double early) {
  constexpr double kMost = 0.9;
  return early >= 0.5 ? kMost : std::min(kMost, 2 * early / (1 - 2 * early));
}

}  // namespace

Behaviour calibrate(const fabric::Fabric& fabric, const catalog::FabricProfile& profile,
                    const PacketNetworks& packet_networks) {
  const double ns_per_m = fabric.spec().cable_ns_per_m;
  const Twins twins(profile, packet_networks);
  Behaviour behaviour;
  const std::vector<Chain> chains = chains_of(fabric);
  for (const Chain& chain : chains) {
    behaviour.paths.push_back(path_behaviour(chain, ns_per_m, twins));
  }
  if (behaviour.paths.empty()) behaviour.paths.push_back({});  // one node, or nobody to reach
  if (chains.empty() || fabric.sizing().tiers == 0) return behaviour;
  behaviour.efficiency = {1};
  double early = 0;
  for (const int sources : kSources) {
    const Meeting meeting = meeting_of(sources, chains.front().front(), ns_per_m, twins);
    const double from = behaviour.efficiency.back();
    const auto known = static_cast<int>(behaviour.efficiency.size());
    for (int n = known + 1; n <= sources; ++n) {
      const double part = static_cast<double>(n - known) / (sources - known);
      behaviour.efficiency.push_back(from + part * (meeting.efficiency - from));
    }
    early += meeting.early / std::size(kSources);
  }
  behaviour.spread = spread_of(early);
  behaviour.victim = victim_of(chains.front().front(), ns_per_m, twins);
  return behaviour;
}

std::string calibration_key(const fabric::Fabric& fabric, const catalog::FabricProfile& profile) {
  std::string key =
      fmt::format("{:016x} {:.17g}", catalog::digest(profile), fabric.spec().cable_ns_per_m);
  for (const Chain& chain : chains_of(fabric)) {
    key += " |";
    for (const Link& link : chain) key += fmt::format(" {} {:.17g}", link.rate.bps(), link.metres);
  }
  return key;
}

namespace {

std::string to_text(const Curve& curve) {
  std::string text = std::to_string(curve.points.size());
  for (const Curve::Point& p : curve.points)
    text += fmt::format(" {:.17g} {:.17g}", p.bytes, p.seconds);
  return text + "\n";
}

template <class T>
T next(std::istream& in) {
  T value{};
  if (!(in >> value)) throw base::failure("a stored calibration that cannot be read");
  return value;
}

Curve curve_of(std::istream& in) {
  Curve curve;
  curve.points.resize(next<std::size_t>(in));
  for (Curve::Point& p : curve.points) p = {next<double>(in), next<double>(in)};
  return curve;
}

}  // namespace

std::string to_text(const Behaviour& behaviour) {
  std::string text = fmt::format("{:.17g} {:.17g} {}", behaviour.spread, behaviour.victim,
                                 behaviour.efficiency.size());
  for (const double e : behaviour.efficiency) text += fmt::format(" {:.17g}", e);
  text += fmt::format("\n{}\n", behaviour.paths.size());
  for (const PathBehaviour& path : behaviour.paths) {
    text += fmt::format("{} {:.17g} {:.17g}\n", path.links, path.acknowledgement, path.rate);
    text += to_text(path.latency) + to_text(path.ramp);
  }
  return text;
}

Behaviour behaviour_of(const std::string& text) {
  std::istringstream in(text);
  Behaviour behaviour;
  behaviour.spread = next<double>(in);
  behaviour.victim = next<double>(in);
  behaviour.efficiency.resize(next<std::size_t>(in));
  for (double& e : behaviour.efficiency) e = next<double>(in);
  behaviour.paths.resize(next<std::size_t>(in));
  for (PathBehaviour& path : behaviour.paths) {
    path.links = next<int>(in);
    path.acknowledgement = next<double>(in);
    path.rate = next<double>(in);
    path.latency = curve_of(in);
    path.ramp = curve_of(in);
  }
  return behaviour;
}

}  // namespace fabricast::flow
