#include "fabric/custom.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "fabric/builder.h"

namespace fabricast::fabric {

namespace {

constexpr unsigned kUnreached = std::numeric_limits<unsigned>::max();

base::Error wrong(const char* member, std::string_view found, std::string_view allowed) {
  return base::input_error(base::Location{{}, 0, 0, member}, found, allowed);
}

void check(const CustomSpec& spec) {
  const auto count = static_cast<int>(spec.switches.size());
  const auto known = [&](const char* member, int number) {
    if (number < 0 || number >= count) {
      throw wrong(member, fmt::format("switch {}", number), fmt::format("one of {}", count));
    }
  };
  const auto nics = static_cast<std::size_t>(std::max(spec.nics_per_node, 1));
  if (spec.nics_per_node < 1 || spec.gpus_per_node < spec.nics_per_node || spec.adapters.empty() ||
      spec.adapters.size() % nics != 0) {
    throw wrong("adapters", fmt::format("{} adapters", spec.adapters.size()),
                "some whole nodes, each with a GPU for every adapter");
  }
  for (const CustomSpec::Switch& sw : spec.switches) {
    if (sw.tier < 1 || sw.tier > 8) {
      throw wrong("switches", fmt::format("{} of tier {}", sw.name, sw.tier), "tiers 1 to 8");
    }
  }
  for (const int at : spec.adapters) known("adapters", at);
  for (const CustomSpec::Cable& cable : spec.cables) {
    known("cables", cable.a);
    known("cables", cable.b);
    if (cable.a == cable.b) {
      throw wrong("cables", fmt::format("a cable from switch {} to itself", cable.a),
                  "two different switches");
    }
  }
  for (const CustomSpec::NextHop& hop : spec.next_hops) {
    known("next_hops", hop.at);
    known("next_hops", hop.to);
    known("next_hops", hop.via);
  }
}

TopologySpec topology_of(const CustomSpec& spec) {
  TopologySpec t;
  t.kind = TopologyKind::kCustom;
  t.nodes = static_cast<int>(spec.adapters.size()) / spec.nics_per_node;
  t.gpus_per_node = spec.gpus_per_node;
  t.nics_per_node = spec.nics_per_node;
  t.nic_rate = t.switch_rate = spec.nic_rate;
  t.cable_m = spec.adapter_cable_m;
  t.cable_ns_per_m = spec.cable_ns_per_m;
  return t;
}

/// Switches of the first tier are the leaves, of the second the spines, of all others the cores.
Sizing sizing_of(const CustomSpec& spec) {
  Sizing s;
  for (const CustomSpec::Switch& sw : spec.switches) {
    s.tiers = std::max(s.tiers, sw.tier);
    ++(sw.tier <= 1 ? s.leaves : sw.tier == 2 ? s.spines : s.cores);
  }
  s.endpoint_cables = static_cast<std::int64_t>(spec.adapters.size());
  for (const CustomSpec::Cable& cable : spec.cables) {
    const int low = std::min(spec.switches[static_cast<std::size_t>(cable.a)].tier,
                             spec.switches[static_cast<std::size_t>(cable.b)].tier);
    ++(low <= 1 ? s.leaf_spine_cables : s.spine_core_cables);
  }
  return s;
}

class CustomBuilder : private FabricBuilder {
 public:
  explicit CustomBuilder(const CustomSpec& spec)
      : FabricBuilder(topology_of(spec), sizing_of(spec),
                      static_cast<std::uint32_t>(spec.switches.size())),
        custom_(&spec),
        switches_(static_cast<std::uint32_t>(spec.switches.size())) {}

  Fabric build() && {
    add_devices();
    add_cables();
    number_ports();
    route_shortest();
    if (!custom_->next_hops.empty()) route_as_given();
    return take();
  }

 private:
  void add_devices() {
    for (const CustomSpec::Switch& sw : custom_->switches) {
      add_device(DeviceKind::kSwitch, static_cast<unsigned>(sw.tier), sw.name);
    }
    for (std::size_t e = 0; e < custom_->adapters.size(); ++e) {
      const auto nics = static_cast<std::size_t>(custom_->nics_per_node);
      add_device(DeviceKind::kAdapter, 0, fmt::format("node{}/nic{}", e / nics, e % nics));
    }
  }

  base::Time delay_of(double metres) const {
    return base::Time::seconds(metres * custom_->cable_ns_per_m * 1e-9);
  }

  void add_cables() {
    for (std::uint32_t e = 0; e < custom_->adapters.size(); ++e) {
      const auto at = static_cast<std::uint32_t>(custom_->adapters[e]);
      set_leaf(at);
      add_cable({at, switches_ + e, custom_->nic_rate, delay_of(custom_->adapter_cable_m)});
    }
    for (const CustomSpec::Cable& cable : custom_->cables) {
      add_cable({static_cast<std::uint32_t>(cable.a), static_cast<std::uint32_t>(cable.b),
                 cable.rate, delay_of(cable.length_m)});
    }
  }

  template <class Visit>
  void for_each_neighbour(std::uint32_t at, Visit visit) const {
    const Device& owner = devices()[at];
    for (std::uint32_t p = owner.first_port; p < owner.first_port + owner.port_count; ++p) {
      if (peer_device(p) < switches_) visit(peer_device(p));
    }
  }

  /// Links of the shortest path from every switch to one.
  std::vector<unsigned> distances(std::uint32_t to) const {
    std::vector<unsigned> hops(switches_, kUnreached);
    std::vector<std::uint32_t> queue{to};
    hops[to] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const std::uint32_t at = queue[i];
      for_each_neighbour(at, [&](std::uint32_t next) {
        if (hops[next] != kUnreached) return;
        hops[next] = hops[at] + 1;
        queue.push_back(next);
      });
    }
    return hops;
  }

  void route_shortest() {
    start_routes();
    for (std::uint32_t to = 0; to < switches_; ++to) {
      const std::vector<unsigned> hops = distances(to);
      for (std::uint32_t at = 0; at < switches_; ++at) {
        if (at == to || hops[at] == kUnreached) continue;
        route(at, to) = add_group_to(
            at, [&](std::uint32_t peer) { return peer < switches_ && hops[peer] + 1 == hops[at]; });
      }
    }
  }

  void route_as_given() {
    set_routes_given();
    for (const CustomSpec::NextHop& hop : custom_->next_hops) {
      const auto at = static_cast<std::uint32_t>(hop.at);
      const auto via = static_cast<std::uint32_t>(hop.via);
      bool cabled = false;
      for_each_neighbour(at, [&](std::uint32_t next) { cabled = cabled || next == via; });
      if (!cabled || at == static_cast<std::uint32_t>(hop.to)) {
        throw wrong("next_hops", fmt::format("{} via {}", devices()[at].name, devices()[via].name),
                    "two switches with a cable between them, on the way to a third");
      }
      route(at, static_cast<std::uint32_t>(hop.to)) =
          add_group_to(at, [&](std::uint32_t peer) { return peer == via; });
    }
    // What was given may meet shortest paths, and they it: all ways to such a switch are followed.
    for (const CustomSpec::NextHop& hop : custom_->next_hops) {
      std::vector<std::uint8_t> seen(switches_);
      for (std::uint32_t at = 0; at < switches_; ++at) {
        const auto to = static_cast<std::uint32_t>(hop.to);
        if (route(at, to) != 0) expect_arrival(to, at, seen);
      }
    }
  }

  enum : std::uint8_t { kNew, kOnPath, kDone };
  void expect_arrival(std::uint32_t to, std::uint32_t at, std::vector<std::uint8_t>& seen) {
    if (at == to || seen[at] == kDone) return;
    const std::vector<std::uint32_t> next = next_switches(at, to);
    if (seen[at] == kOnPath || next.empty()) {
      throw wrong("next_hops",
                  fmt::format("hops from {} to {} that do not arrive", devices()[at].name,
                              devices()[to].name),
                  "hops that lead on to it and never in a circle");
    }
    seen[at] = kOnPath;
    for (const std::uint32_t n : next) expect_arrival(to, n, seen);
    seen[at] = kDone;
  }

  std::vector<std::uint32_t> next_switches(std::uint32_t at, std::uint32_t to) {
    std::vector<std::uint32_t> found;
    for (const PortId port : group(route(at, to))) found.push_back(peer_device(port.index()));
    return found;
  }

  const CustomSpec* custom_;
  std::uint32_t switches_;
};

}  // namespace

Fabric custom(const CustomSpec& spec) {
  check(spec);
  return CustomBuilder(spec).build();
}

}  // namespace fabricast::fabric
