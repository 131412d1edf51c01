#include "flow/paths.h"

#include <algorithm>

namespace fabricast::flow {

using fabric::DeviceId;
using fabric::DeviceKind;
using fabric::EndpointId;
using fabric::PortId;

namespace {
constexpr std::uint32_t kUnknown = 0xffffffffU;
}

Paths::Paths(const fabric::Fabric& fabric, const catalog::FabricProfile& profile, double goodput,
             Sharing& sharing)
    : fabric_(fabric),
      profile_(profile),
      goodput_(goodput),
      sharing_(sharing),
      tables_(network::forwarding_tables(fabric, profile.paths, {})),
      rate_share_(fabric.ports().size(), 1),
      avoided_(fabric.ports().size(), 0) {
  for (std::uint32_t p = 0; p < fabric.ports().size(); ++p) {
    const DeviceId device = fabric.port(PortId(p)).device;
    sharing.add_link(capacity(PortId(p)), fabric.device(device).kind == DeviceKind::kSwitch);
  }
}

// Bytes of payload per second.
double Paths::capacity(PortId port) const {
  const fabric::Port& link = fabric_.port(port);
  const bool adapter = fabric_.device(link.device).kind == DeviceKind::kAdapter;
  const double fed = adapter ? profile_.host.rate_share : 1;
  return static_cast<double>(link.rate.bps()) / 8 * goodput_ * fed * rate_share_[port.index()];
}

base::Error Paths::no_route(EndpointId from, EndpointId to) const {
  const auto name = [&](EndpointId e) {
    return fabric_.device(fabric_.port(fabric_.endpoint_port(e)).device).name;
  };
  return base::failure("no route from " + name(from) + " to " + name(to) +
                       ": this topology does not join them");
}

Path Paths::path(EndpointId from, EndpointId to, std::uint64_t hash) {
  Path path;
  path.links = cross(from, to, hash, {}, path.crossings);
  return path;
}

int Paths::cross(EndpointId from, EndpointId to, std::uint64_t hash, const Crossing& as,
                 std::vector<Crossing>& crossings) {
  return profile_.paths.routing == catalog::Routing::kAdaptive
             ? spread(from, to, as, crossings)
             : single(from, to, hash, as, crossings);
}

// True when a path over cables that are not avoided leads through `port`.
bool Paths::leads_on(PortId port, EndpointId to) const {
  if (!avoiding_) return true;
  if (avoided_[port.index()] != 0) return false;
  const DeviceId device = fabric_.port(fabric_.port(port).peer).device;
  if (fabric_.device(device).kind != DeviceKind::kSwitch) return true;
  const auto choices = fabric_.next_hops(device, to);
  return std::ranges::any_of(choices, [&](PortId p) { return leads_on(p, to); });
}

PortId Paths::next(DeviceId at, EndpointId to, std::uint64_t hash) const {
  if (tables_ != nullptr) return tables_->egress(at, to);
  return network::pick_next_hop(fabric_.next_hops(at, to), profile_.paths.routing, hash, at.index(),
                                [&](PortId p) { return leads_on(p, to); });
}

int Paths::single(EndpointId from, EndpointId to, std::uint64_t hash, const Crossing& as,
                  std::vector<Crossing>& crossings) const {
  const DeviceId last = fabric_.port(fabric_.endpoint_port(to)).device;
  PortId port = fabric_.endpoint_port(from);
  for (int links = 1;; ++links) {
    crossings.push_back({port.index(), as.share, as.follows});
    const DeviceId device = fabric_.port(fabric_.port(port).peer).device;
    if (device == last) return links;
    const bool at_switch = fabric_.device(device).kind == DeviceKind::kSwitch;
    port = at_switch ? next(device, to, hash) : PortId::none();
    if (!port.valid()) throw no_route(from, to);
  }
}

// All packets between two leaves are spread alike.
int Paths::spread(EndpointId from, EndpointId to, const Crossing& as,
                  std::vector<Crossing>& crossings) {
  const PortId first = fabric_.endpoint_port(from);
  const PortId last = fabric_.port(fabric_.endpoint_port(to)).peer;
  const DeviceId leaf = fabric_.port(fabric_.port(first).peer).device;
  const auto cross_link = [&](std::uint32_t link) {
    crossings.push_back({link, as.share, as.follows});
  };
  cross_link(first.index());
  if (fabric_.device(leaf).kind != DeviceKind::kSwitch) {
    if (leaf != fabric_.port(fabric_.endpoint_port(to)).device) throw no_route(from, to);
    return 1;
  }
  const std::uint64_t between =
      static_cast<std::uint64_t>(leaf.index()) << 32 | fabric_.port(last).device.index();
  std::uint32_t* const known = between_leaves_.try_emplace(between, kUnknown).first;
  if (*known == kUnknown) {
    stages_.push_back(stages(from, to));
    *known = static_cast<std::uint32_t>(stages_.size() - 1);
  }
  for (const std::uint32_t link : stages_[*known]) cross_link(link);
  cross_link(last.index());
  return static_cast<int>(stages_[*known].size()) + 2;
}

// One link per stage between the leaves: all ports that packets for `to` may leave its devices by.
std::vector<std::uint32_t> Paths::stages(EndpointId from, EndpointId to) {
  const DeviceId last = fabric_.port(fabric_.port(fabric_.endpoint_port(to)).peer).device;
  std::vector<std::uint32_t> links;
  std::vector<DeviceId> devices = {
      fabric_.port(fabric_.port(fabric_.endpoint_port(from)).peer).device};
  while (devices.front() != last) {
    std::vector<PortId> ports;
    for (const DeviceId device : devices) {
      if (fabric_.device(device).kind != DeviceKind::kSwitch) throw no_route(from, to);
      for (const PortId port : fabric_.next_hops(device, to)) {
        if (leads_on(port, to)) ports.push_back(port);
      }
    }
    if (ports.empty()) throw no_route(from, to);
    devices.clear();
    for (const PortId port : ports) devices.push_back(fabric_.port(fabric_.port(port).peer).device);
    std::ranges::sort(devices);
    devices.erase(std::ranges::unique(devices).begin(), devices.end());
    links.push_back(link_over(std::move(ports)));
  }
  return links;
}

std::uint32_t Paths::link_over(std::vector<PortId> ports) {
  if (ports.size() == 1) return ports.front().index();
  std::ranges::sort(ports);
  const auto found = bundles_.find(ports);
  if (found != bundles_.end()) return found->second;
  double sum = 0;
  for (const PortId port : ports) sum += capacity(port);
  const std::uint32_t link = sharing_.add_link(sum, true);
  bundles_.emplace(std::move(ports), link);
  return link;
}

void Paths::avoid(std::span<const PortId> failed) {
  std::ranges::fill(avoided_, std::uint8_t{0});
  avoiding_ = !failed.empty();
  for (const PortId port : failed) {
    for (const PortId end : {port, fabric_.port(port).peer}) avoided_[end.index()] = 1;
  }
  between_leaves_.clear();
  stages_.clear();
  tables_ = network::forwarding_tables(fabric_, profile_.paths, failed);
}

void Paths::set_rate(PortId port, double share) {
  rate_share_[port.index()] = share;
  sharing_.set_capacity(port.index(), capacity(port));
  for (const auto& [ports, link] : bundles_) {
    if (!std::ranges::binary_search(ports, port)) continue;
    double sum = 0;
    for (const PortId p : ports) sum += capacity(p);
    sharing_.set_capacity(link, sum);
  }
}

}  // namespace fabricast::flow
