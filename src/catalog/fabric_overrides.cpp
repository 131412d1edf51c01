#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "catalog/catalog.h"
#include "catalog/fabric_parameters.h"

namespace fabricast::catalog {

namespace {

using base::yaml::Node;

/// Why `key` is not a parameter of this kind of fabric.
base::Error unknown_parameter(FabricKind kind, std::string_view group, const std::string& name,
                              const base::Location& where) {
  std::vector<std::string> names;
  for (const FabricParameter& p : fabric_parameter_table()) {
    if (p.group() != group) continue;
    if (p.applies_to(kind)) names.emplace_back(p.name());
    if (p.name() == name && !p.applies_to(kind)) {
      return base::input_error(
          where, fmt::format("a parameter that `{}` fabrics do not have", name_of(kind)),
          "parameters of " + std::string(name_of(kind)));
    }
  }
  return base::input_error(where, "an unknown key", base::one_of(names),
                           base::near_miss(name, names));
}

std::vector<std::string> groups_of(FabricKind kind) {
  std::vector<std::string> groups;
  for (const FabricParameter& p : fabric_parameter_table()) {
    const std::string group(p.group());
    if (p.applies_to(kind) && std::find(groups.begin(), groups.end(), group) == groups.end()) {
      groups.push_back(group);
    }
  }
  return groups;
}

void read_group(FabricProfile& profile, const std::string& group, const Node& node) {
  if (node.kind != Node::Kind::kMapping) {
    throw base::input_error(node.where, node.description(), "a mapping");
  }
  for (const auto& [name, value] : node.entries) {
    const auto& table = fabric_parameter_table();
    const auto found = std::find_if(table.begin(), table.end(), [&](const FabricParameter& p) {
      return p.group() == group && p.name() == name && p.applies_to(profile.kind);
    });
    if (found == table.end()) throw unknown_parameter(profile.kind, group, name, value.where);
    found->read(profile, value);
  }
}

bool is_group(const std::string& key) {
  const auto& table = fabric_parameter_table();
  return std::any_of(table.begin(), table.end(),
                     [&](const FabricParameter& p) { return p.group() == key; });
}

/// Parameters of a control that the fabric does not run would be without effect.
void check_idle_control(const FabricProfile& profile, const Node& node) {
  using Control = RdmaCongestionControl;
  static const std::vector<std::tuple<const char*, const char*, Control>> kControls = {
      {"dcqcn", "dcqcn", Control::kDcqcn},
      {"hpcc", "hpcc", Control::kHpcc},
      {"ibcc", "infiniband", Control::kInfiniBand}};
  for (const auto& [group, name, control] : kControls) {
    const Node* stated = node.find(group);
    if (stated == nullptr || profile.congestion.control == control) continue;
    for (const auto& [key, value] : stated->entries) {
      if (key == "enabled") continue;
      throw base::input_error(
          value.where, "a parameter of a congestion control that is off",
          fmt::format("it together with `congestion: {{ control: {} }}`", name));
    }
  }
}

void apply(FabricProfile& profile, base::yaml::Fields& fields) {
  fields.optional("profile");
  profile.name = fields.name("name", profile.name);
  for (const std::string& group : groups_of(profile.kind)) {
    if (const Node* node = fields.optional(group)) read_group(profile, group, *node);
  }
  for (const auto& [key, node] : fields.node().entries) {
    const auto groups = groups_of(profile.kind);
    if (is_group(key) && std::find(groups.begin(), groups.end(), key) == groups.end()) {
      throw base::input_error(
          node.where,
          fmt::format("parameters that `{}` fabrics do not have", name_of(profile.kind)),
          base::one_of(groups));
    }
  }
  fields.finish();
  check(profile, fields.node());
  check_idle_control(profile, fields.node());
}

}  // namespace

FabricProfile with_overrides(const FabricProfile& profile, base::yaml::Fields& fields) {
  FabricProfile result = profile;
  apply(result, fields);
  return result;
}

FabricProfile with_overrides(const Catalog& catalog, const FabricProfile& profile,
                             base::yaml::Fields& fields) {
  FabricProfile result = profile;
  const LinkLayer layer =
      profile.kind == FabricKind::kInfiniBand ? LinkLayer::kInfiniBand : LinkLayer::kEthernet;
  const auto refuse = [&](std::string_view key, const std::string& device) {
    return base::input_error(fields.where(key), fmt::format("`{}`, which has other ports", device),
                             fmt::format("a device with {} ports", name_of(layer)));
  };
  if (const Node* node = fields.optional("switch")) {
    const Switch& chosen = catalog.network_switch(base::yaml::text(*node), node->where);
    if (chosen.link_layer != layer) throw refuse("switch", chosen.id);
    result.switch_model = chosen.id;
    result.switching.latency = base::Time::seconds(chosen.latency_ns * 1e-9);
    if (layer == LinkLayer::kEthernet) {
      result.switching.buffer = base::Bytes::from(chosen.buffer_mb * 1e6);
    }
  }
  if (const Node* node = fields.optional("adapter")) {
    const Adapter& chosen = catalog.adapter(base::yaml::text(*node), node->where);
    const auto& layers = chosen.link_layers;
    if (std::find(layers.begin(), layers.end(), layer) == layers.end()) {
      throw refuse("adapter", chosen.id);
    }
    result.adapter_model = chosen.id;
  }
  apply(result, fields);
  return result;
}

}  // namespace fabricast::catalog
