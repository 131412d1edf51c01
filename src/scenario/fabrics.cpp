#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "scenario/sections.h"

namespace fabricast::scenario {

namespace {

using base::yaml::Fields;
using base::yaml::Node;
using catalog::FabricKind;
using catalog::LinkLayer;

LinkLayer layer_of(FabricKind kind) {
  return kind == FabricKind::kInfiniBand ? LinkLayer::kInfiniBand : LinkLayer::kEthernet;
}

void check_link_layers(const FabricChoice& choice, const base::Location& where) {
  const LinkLayer layer = layer_of(choice.profile.kind);
  const std::string spoken(catalog::name_of(layer));
  if (choice.network_switch.link_layer != layer) {
    throw base::input_error(
        where,
        fmt::format("the switch `{}`, which does not speak {}", choice.network_switch.id, spoken),
        fmt::format("a switch that speaks {} for {}", spoken, base::quote(choice.profile.name)));
  }
  const auto& layers = choice.adapter.link_layers;
  if (std::find(layers.begin(), layers.end(), layer) == layers.end()) {
    throw base::input_error(
        where, fmt::format("the adapter `{}`, which does not speak {}", choice.adapter.id, spoken),
        fmt::format("an adapter that speaks {} for {}", spoken, base::quote(choice.profile.name)));
  }
}

void check_rate(const FabricChoice& choice, base::Rate nic_rate, const base::Location& where) {
  const auto refuse = [&](const char* what, const std::string& id, double gbps) {
    return base::input_error(where, fmt::format("{} Gb/s", nic_rate.gbps()),
                             fmt::format("at most {} Gb/s, the port rate of the {} `{}` of {}",
                                         gbps, what, id, base::quote(choice.profile.name)));
  };
  if (nic_rate.gbps() > choice.network_switch.port_gbps) {
    throw refuse("switch", choice.network_switch.id, choice.network_switch.port_gbps);
  }
  if (nic_rate.gbps() > choice.adapter.port_gbps) {
    throw refuse("adapter", choice.adapter.id, choice.adapter.port_gbps);
  }
}

/// Fills in the switch as it is sold; sizing splits its ports to the adapters' rate where it must.
void complete_topology(const catalog::Switch& network_switch, fabric::TopologySpec& spec) {
  spec.switch_ports = network_switch.ports;
  spec.switch_rate = base::Rate::gigabits_per_second(network_switch.port_gbps);
  // What NVIDIA's reference designs do (docs/models/sizing.md): Ethernet ports of 400 and 800 Gb/s
  // are split into uplinks of 200 where the spines would not divide; InfiniBand goes to a third
  // tier.
  const bool ethernet = network_switch.link_layer == catalog::LinkLayer::kEthernet;
  spec.max_uplink_split = !ethernet                         ? 1
                          : network_switch.port_gbps >= 800 ? 4
                          : network_switch.port_gbps >= 400 ? 2
                                                            : 1;
}

/// PRECONDITION: the topology is complete.
void check_size(const FabricChoice& choice, const Context& context) {
  // Told apart by require_simulated: there is no sizing rule for it yet.
  if (choice.topology.kind == fabric::TopologyKind::kDragonflyPlus) return;
  try {
    fabric::size(choice.topology);
  } catch (const base::Error& error) {
    if (error.kind() != base::ErrorKind::kInput) throw;
    // The sizing knows the numbers but no file.
    throw base::input_error(context.where("cluster.topology"),
                            fmt::format("a topology that {} cannot be built with: {}",
                                        base::quote(choice.profile.name), error.message()),
                            "another `kind`, fewer GPUs or a switch with more ports");
  }
}

}  // namespace

FabricChoice read_fabric(const Node& node, const Context& context) {
  FabricChoice choice;
  if (node.kind == Node::Kind::kScalar) {
    choice.profile = context.catalog.fabric(base::yaml::text(node), node.where);
    return choice;
  }
  if (node.kind != Node::Kind::kMapping) {
    throw base::input_error(node.where, node.description(),
                            "the id of a fabric profile, or a mapping with `profile`");
  }
  Fields fields(node);
  const std::string id = fields.text("profile");
  choice.owned = fields.boolean("owned", false);
  const catalog::FabricProfile& base = context.catalog.fabric(id, fields.where("profile"));
  choice.profile = catalog::with_overrides(context.catalog, base, fields);
  return choice;
}

std::vector<FabricChoice> read_fabrics(Fields& fields, const Context& context) {
  const Node& node = fields.required("fabrics", "a list of fabric profiles");
  const std::vector<const Node*> items = list(fields, "fabrics");
  if (items.empty()) {
    throw base::input_error(node.where, "an empty list", "at least one fabric");
  }
  std::vector<FabricChoice> result;
  std::map<std::string, int> lines;
  for (const Node* item : items) {
    FabricChoice choice = read_fabric(*item, context);
    const auto [first, inserted] = lines.emplace(choice.profile.name, item->where.line);
    if (!inserted) {
      throw base::input_error(item->where,
                              fmt::format("a second fabric named {} (the first is in line {})",
                                          base::quote(choice.profile.name), first->second),
                              "names that differ: `{profile: ..., name: ...}`");
    }
    result.push_back(std::move(choice));
  }
  return result;
}

void check_fabrics(const ClusterSpec& cluster, const Context& context,
                   std::vector<FabricChoice>& fabrics) {
  for (std::size_t i = 0; i < fabrics.size(); ++i) {
    FabricChoice& choice = fabrics[i];
    const base::Location where =
        context.where(context.places.contains("fabric") ? "fabric" : fmt::format("fabrics[{}]", i));
    choice.network_switch = context.catalog.network_switch(choice.profile.switch_model, where);
    choice.adapter = context.catalog.adapter(choice.profile.adapter_model, where);
    check_link_layers(choice, where);
    check_rate(choice, cluster.topology.nic_rate, context.where("cluster.nic_gbps"));
    choice.topology = cluster.topology;
    complete_topology(choice.network_switch, choice.topology);
    choice.topology.host = host_links(cluster, choice.profile.kind, choice.adapter);
    check_size(choice, context);
  }
}

}  // namespace fabricast::scenario
