#include <algorithm>

#include <fmt/format.h>

#include "scenario/sections.h"

namespace fabricast::scenario {

namespace {

using base::yaml::Fields;
using fabric::TopologyKind;

constexpr TopologyKind kTopologies[] = {TopologyKind::kLeafSpine,     TopologyKind::kSingleSwitch,
                                        TopologyKind::kRailOptimised, TopologyKind::kRailOnly,
                                        TopologyKind::kFatTree,       TopologyKind::kDragonflyPlus,
                                        TopologyKind::kDirect};

constexpr const char* kUsualServer = "dual-xeon";

constexpr int kMostPerNode = 1024;  // the largest NVLink domain on sale has 72 GPUs

int count(Fields& fields, std::string_view key, int most) {
  return static_cast<int>(fields.integer(key, 1, most));
}

int count(Fields& fields, std::string_view key, int most, int fallback) {
  return static_cast<int>(fields.integer(key, 1, most, fallback));
}

/// What PCIe allows as MaxPayloadSize.
constexpr int kPayloads[] = {128, 256, 512, 1024, 2048, 4096};

int max_payload(Fields& fields, int fallback) {
  if (!fields.has("max_payload_b")) return fallback;
  const auto bytes = static_cast<int>(fields.integer("max_payload_b", 1, 4096));
  if (std::ranges::find(kPayloads, bytes) == std::end(kPayloads)) {
    throw base::input_error(fields.where("max_payload_b"), fmt::format("the number {}", bytes),
                            "128, 256, 512, 1024, 2048 or 4096");
  }
  return bytes;
}

/// The hosts of a scenario that says nothing of them.
HostSpec usual_host(const catalog::Catalog& catalog) {
  HostSpec host;
  host.slot = catalog.slot(host.pcie);
  host.server = catalog.host(kUsualServer);
  return host;
}

HostSpec read_host(Fields fields, const catalog::Catalog& catalog) {
  HostSpec host = usual_host(catalog);
  std::vector<std::string> slots;
  for (const catalog::Slot& slot : catalog.slots()) slots.push_back(slot.id);
  if (fields.has("pcie")) host.pcie = slots[fields.choice("pcie", slots)];
  host.slot = catalog.slot(host.pcie);
  if (fields.has("server")) {
    host.server = catalog.host(fields.text("server"), fields.where("server"));
  }
  host.server.max_payload_b = max_payload(fields, host.server.max_payload_b);
  host.gpudirect = fields.boolean("gpudirect", host.gpudirect);
  host.acs = fields.boolean("acs", host.acs);
  host.nic_affinity = static_cast<NicAffinity>(
      fields.choice("nic_affinity", {"pix", "pxb", "phb", "node", "sys"}, 0));
  if (host.nic_affinity == NicAffinity::kSys && host.server.sockets < 2) {
    throw base::input_error(fields.where("nic_affinity"),
                            fmt::format("`sys` on `{}`, which has one socket", host.server.id),
                            "`pix`, `pxb`, `phb` or `node`");
  }
  fields.finish();
  return host;
}

void read_topology(Fields fields, fabric::TopologySpec& spec) {
  std::vector<std::string> names;
  for (const TopologyKind kind : kTopologies) names.emplace_back(fabric::name_of(kind));
  spec.kind = kTopologies[fields.choice("kind", names, 0)];
  spec.oversubscription = fields.number("oversubscription", 1, 64, spec.oversubscription);
  // Single-mode optics end at 10 km.
  spec.cable_m = fields.number("cable_m", 0.1, 10'000, spec.cable_m);
  if (fields.has("nodes_per_leaf")) spec.nodes_per_leaf = count(fields, "nodes_per_leaf", 10'000);
  if (fields.has("scalable_unit_nodes")) {
    spec.scalable_unit_nodes = count(fields, "scalable_unit_nodes", 10'000);
  }
  spec.management_ports = static_cast<int>(fields.integer("management_ports", 0, 10'000, 0));
  fields.finish();
}

fabric::RackSpec read_racks(Fields fields) {
  fabric::RackSpec plan;
  const bool counted = fields.has("nodes_per_rack");
  if (counted) plan.nodes_per_rack = count(fields, "nodes_per_rack", 1000);
  plan.kw = fields.number("kw", 1, 10'000, plan.kw);
  if (counted && fields.has("kw")) {
    throw base::input_error(fields.where("kw"), "a power and `nodes_per_rack`",
                            "one of the two: the nodes of a rack follow from its power");
  }
  plan.switches_per_rack = count(fields, "switches_per_rack", 1000, plan.switches_per_rack);
  plan.racks_per_row = count(fields, "racks_per_row", 10'000, plan.racks_per_row);
  plan.pitch_m = fields.number("pitch_m", 0.1, 100, plan.pitch_m);
  plan.row_m = fields.number("row_m", 0.1, 1000, plan.row_m);
  plan.in_rack_m = fields.number("in_rack_m", 0.1, 100, plan.in_rack_m);
  plan.overhead_m = fields.number("overhead_m", 0, 1000, plan.overhead_m);
  fields.finish();
  return plan;
}

}  // namespace

ClusterSpec read_cluster(Fields fields, const Context& context) {
  ClusterSpec cluster;
  fabric::TopologySpec& topology = cluster.topology;
  const std::string gpu = fields.text("gpu");
  cluster.gpus = count(fields, "gpus", kMostGpus);
  topology.gpus_per_node = count(fields, "gpus_per_node", kMostPerNode, 8);
  topology.nics_per_node = count(fields, "nics_per_node", kMostPerNode, topology.gpus_per_node);
  topology.nic_rate = base::Rate::gigabits_per_second(fields.number("nic_gbps", 1, 10'000));
  const auto* host = fields.optional("host");
  cluster.host =
      host == nullptr ? usual_host(context.catalog) : read_host(Fields(*host), context.catalog);
  if (const auto* node = fields.optional("topology")) read_topology(Fields(*node), topology);
  if (const auto* node = fields.optional("racks")) cluster.racks = read_racks(Fields(*node));
  fields.finish();

  cluster.gpu = context.catalog.gpu(gpu, fields.where("gpu"));
  // Written so that the sum cannot overflow; a last node may be partial.
  topology.nodes = (cluster.gpus - 1) / topology.gpus_per_node + 1;
  return cluster;
}

void check_cluster(const ClusterSpec& cluster, const Context& context) {
  const int gpus = cluster.topology.gpus_per_node;
  const int nics = cluster.topology.nics_per_node;
  if (gpus % nics == 0 || nics % gpus == 0) return;
  throw base::input_error(
      context.where("cluster.nics_per_node"), fmt::format("{} adapters for {} GPUs", nics, gpus),
      fmt::format("a divisor or a multiple of `gpus_per_node` ({}), so that they share evenly",
                  gpus));
}

}  // namespace fabricast::scenario
