// `./dev bench`, its second half: what max-min sharing takes. All-to-all, every pair of hosts at
// once, over a leaf-spine without oversubscription, where switches spread packets and where they
// hash flows; and ring all-reduces that are carried in bulk.

#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "collective/run.h"
#include "flow/flow_network.h"
#include "measure.h"

namespace {

using namespace fabricast;
using namespace fabricast::base::literals;
using base::Bytes;
using base::Rank;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr int kPerLeaf = 32;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Sharing alone, as SimGrid would be asked for it: the hosts of TCP, which know no turns, with
/// cores that take no time.
catalog::FabricProfile sharing_alone(catalog::Routing routing) {
  catalog::FabricProfile profile;
  profile.kind = catalog::FabricKind::kTcp;
  profile.link.mtu = 1000_B;
  profile.paths.routing = routing;
  return profile;
}

/// Queue pairs that take their turns, with acknowledgements on the way back.
catalog::FabricProfile queue_pairs() {
  catalog::FabricProfile profile;
  profile.kind = catalog::FabricKind::kRoceV2;
  profile.link.mtu = 4096_B;
  profile.link.header = 64_B;
  profile.link.ack = 64_B;
  profile.transport.ack_every = 4;
  profile.paths.routing = catalog::Routing::kEcmp;
  return profile;
}

std::shared_ptr<const fabric::Fabric> leaf_spine(int hosts) {
  fabric::TopologySpec spec;
  spec.kind = fabric::TopologyKind::kLeafSpine;
  spec.nodes = hosts;
  spec.gpus_per_node = spec.nics_per_node = 1;
  spec.nic_rate = spec.switch_rate = 100_gbps;
  spec.switch_ports = 2 * kPerLeaf;
  spec.nodes_per_leaf = kPerLeaf;
  return std::make_shared<const fabric::Fabric>(fabric::build(spec));
}

/// Nodes of eight GPUs and as many adapters below three tiers.
std::shared_ptr<const fabric::Fabric> fat_tree(int gpus) {
  fabric::TopologySpec spec;
  spec.kind = fabric::TopologyKind::kFatTree;
  spec.gpus_per_node = spec.nics_per_node = 8;
  spec.nodes = gpus / spec.gpus_per_node;
  spec.nic_rate = spec.switch_rate = 400_gbps;
  spec.switch_ports = 128;
  return std::make_shared<const fabric::Fabric>(fabric::build(spec));
}

flow::FlowNetwork network_on(std::shared_ptr<const fabric::Fabric> fabric,
                             const catalog::FabricProfile& profile) {
  auto behaviour = std::make_shared<flow::Behaviour>();
  behaviour->paths.push_back({});
  return {std::move(fabric), profile, {3600_gbps, 1_us}, behaviour, 1};
}

/// 1 MB from everyone to everyone else. `wall_s` is from the first send to the last completion.
json all_to_all(int hosts, const catalog::FabricProfile& profile) {
  auto network = network_on(leaf_spine(hosts), profile);
  const auto begin = Clock::now();
  const auto n = static_cast<std::uint32_t>(hosts);
  std::uint64_t complete = 0;
  for (std::uint32_t src = 0; src < n; ++src) {
    for (std::uint32_t shift = 1; shift < n; ++shift) {
      network.send(Rank(src), Rank((src + shift) % n), 1'000'000_B, {},
                   [&complete](base::Time) { ++complete; });
    }
  }
  network.run();
  return {{"wall_s", seconds_since(begin)},
          {"flows", complete},
          {"rates", network.sharing().work()},
          {"last_us", network.now().us()}};
}

/// All-reduce of 1 GB for each rank over eight rings.
json ring(int ranks) {
  const auto fabric = fat_tree(ranks);
  auto network = network_on(fabric, queue_pairs());
  std::vector<Rank> group;
  for (int r = 0; r < ranks; ++r) group.emplace_back(static_cast<std::uint32_t>(r));
  collective::Cutting cutting;
  cutting.channels = cutting.gpus_per_node = 8;
  collective::RunOptions options;
  options.gpus_per_node = 8;
  options.most_chunks = 0;
  std::vector<std::unique_ptr<collective::Schedule>> schedules;
  schedules.push_back(
      collective::ring(collective::Op::kAllReduce, group, 1'000'000'000_B, cutting));
  const auto begin = Clock::now();
  const base::Time took = collective::run(network, schedules, options);
  return {{"wall_s", seconds_since(begin)},
          {"edges", 8 * ranks},
          {"rates", network.sharing().work()},
          {"last_us", took.us()}};
}

void print(const std::string& name, const json& w) {
  std::cout << fmt::format(
      "{:<16} run {:8.4f} s  {:>9} {}  {:>10} rates  {:7.1f} MB  last {:.2f} us\n", name,
      w.at("wall_s").get<double>(), w.value("flows", w.value("edges", 0)),
      w.contains("flows") ? "flows" : "edges", w.at("rates").get<std::uint64_t>(),
      w.at("peak_rss_mb").get<double>(), w.at("last_us").get<double>());
}

using Workloads = std::vector<std::pair<std::string, std::function<json()>>>;

Workloads workloads() {
  const auto spread = sharing_alone(catalog::Routing::kAdaptive);
  const auto hashed = sharing_alone(catalog::Routing::kEcmp);
  Workloads all;
  for (const int hosts : {64, 128, 256, 512, 1024}) {
    all.emplace_back(fmt::format("a2a_{}", hosts), [=] { return all_to_all(hosts, spread); });
  }
  for (const int hosts : {64, 128, 256}) {
    all.emplace_back(fmt::format("a2a_ecmp_{}", hosts), [=] { return all_to_all(hosts, hashed); });
  }
  all.emplace_back("a2a_turns_64", [=] { return all_to_all(64, queue_pairs()); });
  for (const int ranks : {1024, 4096, 16384, 65536, 131072}) {
    all.emplace_back(fmt::format("ring_{}", ranks), [=] { return ring(ranks); });
  }
  return all;
}

/// What the packet engine's half has left there, with ours.
void add_to(const std::string& file, const json& result) {
  json all = json::object();
  if (std::ifstream before(file); before) all = json::parse(before, nullptr, false);
  if (!all.is_object()) all = json::object();
  all.update(result);
  std::ofstream(file) << all.dump(2) << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  std::string file;
  std::string only;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) == "--json") file = argv[i + 1];
    if (std::string(argv[i]) == "--only") only = argv[i + 1];
  }
  json result = json::object();
  for (const auto& [name, workload] : workloads()) {
    if (!only.empty() && name != only) continue;
    result[name] = bench::in_a_process(workload);
    print(name, result[name]);
  }
  if (!file.empty()) add_to(file, result);
  return 0;
}
