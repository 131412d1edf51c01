#include "validation/flow_check.h"

#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/parallel.h"
#include "collective/choice.h"
#include "flow/calibrate.h"
#include "flow/flow_network.h"
#include "packet/packet_network.h"

namespace fabricast::validation {
namespace {

using base::Bytes;
using base::Rank;
using collective::Op;
using namespace base::literals;

constexpr Bytes kSizes[] = {1_MiB, 8_MiB, 64_MiB};
constexpr Op kOps[] = {Op::kAllReduce, Op::kAllGather, Op::kReduceScatter, Op::kAllToAll,
                       Op::kSendRecv};
// NVLink of an H100, as the catalogue has it.
constexpr network::NodeLinkSpec kNodeLinks{2966_gbps, 600_ns, 0.85};
constexpr double kAll = 1e18;  ///< chunks, message by message

struct Topology {
  std::string name;
  fabric::TopologySpec spec;
};

fabric::TopologySpec nodes_of_eight(fabric::TopologyKind kind) {
  fabric::TopologySpec spec;
  spec.kind = kind;
  spec.nodes = 4;
  spec.gpus_per_node = spec.nics_per_node = 8;
  spec.nic_rate = spec.switch_rate = 200_gbps;
  spec.switch_ports = 64;
  return spec;
}

std::vector<Topology> topologies() {
  using Kind = fabric::TopologyKind;
  std::vector<Topology> all;
  all.push_back({"single switch", nodes_of_eight(Kind::kSingleSwitch)});
  all.push_back({"leaf-spine", nodes_of_eight(Kind::kLeafSpine)});
  all.back().spec.nodes_per_leaf = 1;
  all.push_back({"oversubscribed 2:1", all.back().spec});
  all.back().spec.oversubscription = 2;
  all.push_back({"rail-optimised", nodes_of_eight(Kind::kRailOptimised)});
  all.back().spec.scalable_unit_nodes = 4;
  fabric::TopologySpec tree = nodes_of_eight(Kind::kFatTree);
  tree.nodes = 16;
  tree.gpus_per_node = tree.nics_per_node = 1;
  tree.switch_ports = 4;
  all.push_back({"fat-tree", tree});
  return all;
}

/// One fabric as built, with what the flow level has learnt of it.
struct Bench {
  std::string name;
  std::shared_ptr<const fabric::Fabric> fabric;
  catalog::FabricProfile profile;
  std::shared_ptr<const flow::Behaviour> behaviour;
};

Bench bench_of(const Topology& topology, const catalog::FabricProfile& profile) {
  Bench bench;
  bench.name = profile.id + ", " + topology.name;
  bench.fabric = std::make_shared<const fabric::Fabric>(fabric::build(topology.spec));
  bench.profile = profile;
  const auto packets = [&](std::shared_ptr<const fabric::Fabric> fabric, std::uint64_t seed) {
    return packet::make_network(std::move(fabric), profile, kNodeLinks, seed);
  };
  bench.behaviour =
      std::make_shared<const flow::Behaviour>(flow::calibrate(*bench.fabric, profile, packets));
  return bench;
}

/// A node of eight H100 as NCCL sees it.
collective::Machine machine_of(const fabric::TopologySpec& spec) {
  collective::Machine machine;
  machine.gpus_per_node = spec.gpus_per_node;
  machine.nics_per_node = spec.nics_per_node;
  machine.nic_gb_per_s = static_cast<double>(spec.nic_rate.bps()) / 8e9;
  return machine;
}

/// Simulated seconds and wall seconds.
std::pair<double, double> play(network::Network& network, const fabric::Fabric& fabric, Op op,
                               Bytes size, double most_chunks) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<Rank> group;
  for (int r = 0; r < fabric.gpus(); ++r) group.emplace_back(static_cast<std::uint32_t>(r));
  const collective::Machine machine = machine_of(fabric.spec());
  const collective::Choice choice = collective::choose(op, size, group, machine);
  collective::RunOptions options = collective::run_options(group, choice, machine);
  std::vector<std::unique_ptr<collective::Schedule>> schedules;
  schedules.push_back(collective::make(op, group, size, choice));
  options.most_chunks = most_chunks;
  const double seconds = collective::run(network, schedules, options).s();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  return {seconds, wall.count()};
}

FlowCheckRow check(const Bench& bench, Op op, Bytes size, const FlowCheckOptions& options) {
  FlowCheckRow row;
  row.name =
      fmt::format("{}, {} of {}", bench.name, collective::name_of(op), base::to_string(size));
  const auto packets = packet::make_network(bench.fabric, bench.profile, kNodeLinks, options.seed);
  std::tie(row.packet_s, row.packet_wall_s) = play(*packets, *bench.fabric, op, size, kAll);
  flow::FlowNetwork flows(bench.fabric, bench.profile, kNodeLinks, bench.behaviour, options.seed);
  std::tie(row.flow_s, row.flow_wall_s) =
      play(flows, *bench.fabric, op, size, options.in_bulk ? 0 : kAll);
  return row;
}

}  // namespace

double FlowCheckRow::error_pct() const {
  return 100 * std::abs(flow_s - packet_s) / packet_s;
}

std::vector<FlowCheckRow> flow_check(const catalog::Catalog& catalog,
                                     const FlowCheckOptions& options) {
  std::vector<std::string> ids = options.fabrics;
  if (ids.empty()) ids = {"infiniband", "roce-v2", "tcp", "roce-v2-adaptive"};
  std::vector<Bench> benches;
  for (const std::string& id : ids) {
    for (const Topology& topology : topologies()) {
      benches.push_back(bench_of(topology, catalog.fabric(id, {})));
    }
  }
  const std::size_t cases = std::size(kOps) * std::size(kSizes);
  std::vector<FlowCheckRow> rows(benches.size() * cases);
  if (options.progress != nullptr) {
    options.progress->next("flow", static_cast<std::int64_t>(rows.size()));
  }
  base::parallel_for(rows.size(), options.threads, [&](std::size_t i) {
    const Op op = kOps[i % cases / std::size(kSizes)];
    rows[i] = check(benches[i / cases], op, kSizes[i % std::size(kSizes)], options);
    if (options.progress != nullptr) options.progress->advance();
  });
  return rows;
}

}  // namespace fabricast::validation
