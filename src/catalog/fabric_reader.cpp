#include "catalog/fabric_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "catalog/fabric_parameters.h"

namespace fabricast::catalog {

namespace {

using base::yaml::Fields;
using base::yaml::Node;

/// A profile as far as the file says it, before the switch fills in.
struct Draft {
  FabricProfile profile;
  std::map<std::string, Value> stated;  ///< by parameter key, and "switch" and "adapter"
};

const std::vector<std::string>& kind_names() {
  static const std::vector<std::string> names = {"infiniband", "roce-v2", "tcp", "roce-v1"};
  return names;
}

void read_device(Draft& draft, const ValueReader& values, Fields& fields, const std::string& key,
                 std::string FabricProfile::* member) {
  const Node* node = fields.optional(key);
  if (node == nullptr) return;
  const ReadValue read = values.read(key, *node);
  draft.profile.*member = base::yaml::text(*read.node);
  draft.stated[key] = read.value;
}

void read_parameters(Draft& draft, const ValueReader& values, Fields& fields) {
  std::map<std::string, std::vector<const FabricParameter*>> groups;
  for (const FabricParameter& p : fabric_parameter_table()) {
    if (p.applies_to(draft.profile.kind)) groups[std::string(p.group())].push_back(&p);
  }
  for (const auto& [group, parameters] : groups) {
    const Node* node = fields.optional(group);
    if (node == nullptr) continue;
    Fields members(*node);
    for (const FabricParameter* p : parameters) {
      const Node* value = members.optional(p->name());
      if (value == nullptr) continue;
      const ReadValue read = values.read(p->info.key, *value);
      p->read(draft.profile, *read.node);
      draft.stated[p->info.key] = read.value;
    }
    members.finish();
  }
}

/// PRECONDITION: the drafts hold the entries before this one.
Draft start(Fields& fields, const std::map<std::string, Draft>& drafts) {
  const Node* extends = fields.optional("extends");
  if (extends == nullptr) {
    Draft draft;
    draft.profile.kind = static_cast<FabricKind>(fields.choice("fabric", kind_names()));
    return draft;
  }
  const std::string base_id = base::yaml::text(*extends);
  const auto found = drafts.find(base_id);
  if (found != drafts.end()) return found->second;
  std::vector<std::string> ids;
  for (const auto& [id, draft] : drafts) ids.push_back(id);
  throw base::input_error(extends->where, extends->description(),
                          ids.empty() ? "a profile further up" : base::one_of(ids),
                          base::near_miss(base_id, ids));
}

/// The value of a switch's entry, under the key that the profile has for it.
Value from_switch(const std::vector<Entry>& entries, const std::string& id,
                  std::string_view switch_key, std::string profile_key) {
  for (const Entry& entry : entries) {
    if (entry.category != "switches" || entry.id != id) continue;
    for (const Value& value : entry.values) {
      if (value.key != switch_key) continue;
      Value result = value;
      result.key = std::move(profile_key);
      return result;
    }
  }
  throw base::failure(fmt::format("the switch `{}` has no `{}`", id, switch_key));
}

void complete_from_devices(Draft& draft, const Catalog& devices, const std::vector<Entry>& entries,
                           const base::Location& where) {
  FabricProfile& p = draft.profile;
  for (const char* key : {"switch", "adapter"}) {
    if (!draft.stated.contains(key)) {
      throw base::input_error(where, fmt::format("a profile without `{}`", key), "a catalogue id");
    }
  }
  const Switch& sw = devices.network_switch(p.switch_model, where);
  const Adapter& adapter = devices.adapter(p.adapter_model, where);
  const LinkLayer layer =
      p.kind == FabricKind::kInfiniBand ? LinkLayer::kInfiniBand : LinkLayer::kEthernet;
  if (sw.link_layer != layer || std::find(adapter.link_layers.begin(), adapter.link_layers.end(),
                                          layer) == adapter.link_layers.end()) {
    throw base::input_error(where, fmt::format("`{}` with `{}`", sw.id, adapter.id),
                            fmt::format("devices with {} ports", name_of(layer)));
  }
  p.switch_model = sw.id;
  p.adapter_model = adapter.id;
  if (!draft.stated.contains("switching.latency_ns")) {
    p.switching.latency = base::Time::seconds(sw.latency_ns * 1e-9);
    draft.stated["switching.latency_ns"] =
        from_switch(entries, sw.id, "latency_ns", "switching.latency_ns");
  }
  if (layer == LinkLayer::kEthernet && !draft.stated.contains("switching.buffer_mb")) {
    p.switching.buffer = base::Bytes::from(sw.buffer_mb * 1e6);
    draft.stated["switching.buffer_mb"] =
        from_switch(entries, sw.id, "buffer_mb", "switching.buffer_mb");
  }
}

void require_all(const Draft& draft, const base::Location& where) {
  for (const FabricParameter& p : fabric_parameter_table()) {
    if (p.optional || !p.applies_to(draft.profile.kind) || draft.stated.contains(p.info.key)) {
      continue;
    }
    base::Location place = where;
    place.key += '.';
    place.key += p.info.key;
    throw base::input_error(
        place, "nothing (the value is missing)",
        fmt::format("a value with kind and source, from {} to {}", p.info.min, p.info.max));
  }
}

Entry entry_of(const Draft& draft) {
  Entry entry{"fabrics", draft.profile.id, draft.profile.description, {}};
  entry.values.push_back(draft.stated.at("switch"));
  entry.values.push_back(draft.stated.at("adapter"));
  for (const FabricParameter& p : fabric_parameter_table()) {
    const auto found = draft.stated.find(p.info.key);
    if (found != draft.stated.end()) entry.values.push_back(found->second);
  }
  return entry;
}

}  // namespace

ReadFabrics read_fabrics(const CatalogFile& file, const Catalog& devices,
                         const std::vector<Entry>& device_entries) {
  ReadFabrics result;
  std::map<std::string, Draft> drafts;
  for (const auto& [id, node] : file.entries()) {
    Fields fields(node);
    Draft draft = start(fields, drafts);
    draft.profile.id = id;
    draft.profile.name = id;
    draft.profile.description = fields.text("name");
    const ValueReader values(file, fields);
    read_device(draft, values, fields, "switch", &FabricProfile::switch_model);
    read_device(draft, values, fields, "adapter", &FabricProfile::adapter_model);
    read_parameters(draft, values, fields);
    fields.finish();
    drafts.emplace(id, draft);

    complete_from_devices(draft, devices, device_entries, node.where);
    require_all(draft, node.where);
    check(draft.profile, node);
    result.profiles.push_back(draft.profile);
    result.entries.push_back(entry_of(draft));
  }
  return result;
}

}  // namespace fabricast::catalog
