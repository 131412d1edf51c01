#include "collective/choice.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/error.h"
#include "collective/double_tree.h"
#include "collective/nccl.h"

namespace fabricast::collective {
namespace {

using base::Bytes;
using base::Time;

// A round of small messages that NCCL's constants for the network contain: half the round trip of a
// verbs write over one switch of InfiniBand (perftest on ConnectX-6 and -7: 1.2 to 1.4 us). What is
// simulated in its place is the fabric's own.
constexpr double kVerbsUs = 1.3;
// NCCL's speeds of search (src/graph/search.cc) lie 4 % below the rates of 200 and 400 Gb/s ports.
constexpr double kNicShare = 0.96;
// A ring's channel copies a little faster with Simple than with LL128, whose lines carry 120 of 128
// bytes.
constexpr double kLineShare = 120.0 / 128;
// Of an all-reduce of serving engines, beside its messages: a kernel with two barriers. vLLM's
// takes 4.2 to 4.6 us for 256 B on two to eight H100 in a CUDA graph (ai-dynamo/aiconfigurator,
// h100_sxm/comm/vllm/0.19.0), of which the messages are 0.6 to 1.2.
constexpr double kDirectUs = 3.4;
// Lanes that drive one SHARP tree copy as fast as as many channels as NCCL gives an adapter.
constexpr double kSharpWidth = nccl::kChannelsPerNic;

const std::vector<std::string_view> kAlgorithmNames = {
    "ring",         "tree",     "nvls",     "nvls-tree", "sharp", "halving-doubling",
    "hierarchical", "one-shot", "two-shot", "p2p"};
const std::vector<std::string_view> kProtocolNames = {"ll", "ll128", "simple"};

std::size_t index_of(Protocol protocol) {
  return static_cast<std::size_t>(protocol);
}

/// Ampere and older, Hopper, Blackwell and newer.
std::size_t architecture_of(const Machine& machine) {
  return machine.compute_capability >= 10 ? 2 : (machine.compute_capability >= 9 ? 1 : 0);
}

std::size_t scale_of(Layout layout) {
  return std::min(layout.nodes, 3U) - 1;
}

/// The group's share of a node's adapters: those beside its GPUs.
double adapters(Layout layout, const Machine& machine) {
  const double share = static_cast<double>(layout.local) / std::max(1, machine.gpus_per_node);
  return std::max(1.0, std::round(share * machine.nics_per_node));
}

int most_channels(Layout layout, const Machine& machine, Algorithm algorithm) {
  if (algorithm == Algorithm::kNvls || algorithm == Algorithm::kNvlsTree) {
    return nccl::kNvlsChannels;
  }
  if (layout.nodes > 1) return nccl::kChannelsPerNic * static_cast<int>(adapters(layout, machine));
  return machine.nvlink_gb_per_s > 0 ? nccl::kNodeChannels : nccl::kPcieChannels;
}

/// All channels together, GB/s: between nodes what the adapters carry, else what a GPU's port does.
double graph_rate(Layout layout, const Machine& machine) {
  const double node = machine.nvlink_gb_per_s > 0 ? machine.nvlink_gb_per_s : machine.pcie_gb_per_s;
  if (layout.nodes == 1) return node;
  return std::min(node, adapters(layout, machine) * machine.nic_gb_per_s * kNicShare);
}

/// SHARP takes from NVSwitches what they have summed, where there are such.
bool in_nvswitches(Algorithm algorithm, Layout layout, const Machine& machine) {
  return algorithm == Algorithm::kNvls || algorithm == Algorithm::kNvlsTree ||
         (algorithm == Algorithm::kSharp && machine.nvls && layout.local > 1);
}

struct Hops {
  double base = 0;
  double inside = 0;
  double between = 0;
};

/// Microseconds of a hop.
Hops hops_of(Algorithm algorithm, Protocol protocol, Layout layout, const Machine& machine) {
  const std::size_t p = index_of(protocol);
  const bool nvlink = machine.nvlink_gb_per_s > 0;
  switch (algorithm) {
    case Algorithm::kTree:
      return {nccl::kTreeBase[p], (nvlink ? nccl::kTreeNvlink : nccl::kTreePcie)[p],
              nccl::kTreeNet[p]};
    case Algorithm::kNvls:
      return {0, nccl::kNvlsNvlink, nccl::kNvlsNet};
    case Algorithm::kNvlsTree:
      return {0, nccl::kNvlsNvlink, nccl::kNvlsTreeNet};
    case Algorithm::kSharp:
      if (in_nvswitches(algorithm, layout, machine)) return {0, nccl::kNvlsNvlink, nccl::kNvlsNet};
      return {0, nccl::kCollNetChainNvlink, nccl::kCollNetChainNet};
    default:
      break;
  }
  Hops hops{nccl::kRingBase[p], (nvlink ? nccl::kRingNvlink : nccl::kRingPcie)[p],
            // With one GPU per node nothing hides the network (ppn == 1).
            layout.local == 1 ? nccl::kTreeNet[p] : nccl::kRingNet[p]};
  if (layout.nodes > 1) {
    const double post = machine.amd ? nccl::kNetPostAmd : nccl::kNetPostIntel;
    hops.inside = std::max(hops.inside, protocol == Protocol::kSimple ? 3 * post : post);
  }
  return hops;
}

/// Bus bandwidth of a ring, GB/s.
double ring_rate(Layout layout, const Machine& machine, Protocol protocol) {
  const double rate = graph_rate(layout, machine);
  const std::size_t scale = scale_of(layout);
  const int channels = most_channels(layout, machine, Algorithm::kRing);
  switch (protocol) {
    case Protocol::kLl: {
      const double most = layout.nodes == 1 ? nccl::kLlInNode[architecture_of(machine)]
                                            : (machine.amd ? nccl::kLlAmd : nccl::kLlIntel)[scale];
      return std::min(most, rate / 2);
    }
    case Protocol::kLl128:
      return std::min(0.92 * rate, channels * nccl::kRingLl128[architecture_of(machine)][scale]);
    default:
      return rate;
  }
}

double tree_rate(Layout layout, const Machine& machine, Protocol protocol) {
  const std::size_t scale = scale_of(layout);
  const std::size_t architecture = architecture_of(machine);
  const int channels = most_channels(layout, machine, Algorithm::kTree);
  double rate = std::min(0.92 * graph_rate(layout, machine),
                         channels * nccl::kTreeSimple[architecture][scale]);
  if (protocol == Protocol::kLl) {
    const double most = layout.nodes == 1 ? nccl::kLlInNode[architecture]
                                          : (machine.amd ? nccl::kLlAmd : nccl::kLlIntel)[scale];
    rate = std::min(rate / 3.8, most);
  }
  if (protocol == Protocol::kLl128) {
    rate = std::min(rate * (layout.nodes == 1 ? 7.0 / 9 : kLineShare),
                    channels * nccl::kTreeLl128[architecture][scale]);
  }
  // From Hopper on a tree reaches its node through one GPU.
  if (architecture >= 1) rate *= 0.85;
  return rate;
}

double nvls_rate(Op op, Layout layout, const Machine& machine, Algorithm algorithm) {
  const std::size_t architecture = architecture_of(machine);
  const double channels = nccl::kNvlsChannels;
  const double local = layout.local;
  double inside = machine.nvlink_gb_per_s / channels * nccl::kNvlsEfficiency[architecture] *
                  (channels - 1) / channels;
  inside *= op == Op::kAllReduce ? 2 : (local - 1) / local;
  double rate = inside;
  if (layout.nodes > 1) {
    const double between = graph_rate(layout, machine) / channels;
    const bool two = layout.nodes == 2 && algorithm == Algorithm::kNvlsTree;
    rate = std::min(inside, (two ? 2 : 1) * between);
  }
  if (algorithm == Algorithm::kNvlsTree) {
    rate = std::min(rate, nccl::kNvlsTreeSimple[architecture][scale_of(layout)]);
  }
  return rate * channels;
}

double log2_floor(std::uint32_t n) {
  return std::bit_width(n) - 1;
}

/// Steps of a ring and those of them that leave the node.
double ring_latency(Op op, Layout layout, const Machine& machine, Protocol protocol) {
  const Hops hops = hops_of(Algorithm::kRing, protocol, layout, machine);
  const double ranks = static_cast<double>(layout.nodes) * layout.local;
  if (op == Op::kBroadcast) {
    const bool net = layout.nodes > 1;
    return hops.base + ranks * (net ? hops.between : hops.inside);
  }
  const double round = op == Op::kAllReduce ? 2 : 1;
  const double between = layout.nodes == 1 ? 0 : round * (layout.nodes - 1);
  return hops.base + (round * (ranks - 1) - between) * hops.inside + between * hops.between;
}

[[noreturn]] void refuse(const std::string& found, const std::string& allowed) {
  throw base::input_error({}, found, allowed);
}

std::vector<Algorithm> offered(Op op, Layout layout, const Machine& machine) {
  if (op == Op::kAllToAll || op == Op::kSendRecv) return {Algorithm::kPointToPoint};
  std::vector<Algorithm> all = {Algorithm::kRing};
  if (op == Op::kBroadcast) return all;
  const bool nvls = machine.nvls && layout.local > 1 && architecture_of(machine) >= 1;
  if (layout.nodes == 1 && nvls) all.push_back(Algorithm::kNvls);
  if (op != Op::kAllReduce) return all;
  all.push_back(Algorithm::kTree);
  if (layout.nodes > 1 && nvls) all.push_back(Algorithm::kNvlsTree);
  if (layout.nodes > 1 && machine.sharp) all.push_back(Algorithm::kSharp);
  return all;
}

/// Offered, or to be had on request.
bool possible(Op op, Layout layout, const Machine& machine, Algorithm algorithm) {
  if (algorithm == Algorithm::kHalvingDoubling) return op == Op::kAllReduce;
  if (algorithm == Algorithm::kOneShot || algorithm == Algorithm::kTwoShot) {
    return op == Op::kAllReduce && layout.nodes == 1 && machine.nvlink_gb_per_s > 0;
  }
  if (algorithm == Algorithm::kHierarchical) {
    return op == Op::kAllReduce && layout.nodes > 1 && layout.local > 1;
  }
  const std::vector<Algorithm> all = offered(op, layout, machine);
  return std::find(all.begin(), all.end(), algorithm) != all.end();
}

std::vector<Protocol> protocols(Algorithm algorithm, const Machine& machine) {
  if (algorithm == Algorithm::kRing || algorithm == Algorithm::kTree) {
    // LL128 relies on stores of 128 bytes that arrive whole: over NVLink they do.
    if (machine.nvlink_gb_per_s > 0) return {Protocol::kLl, Protocol::kLl128, Protocol::kSimple};
    return {Protocol::kLl, Protocol::kSimple};
  }
  if (algorithm == Algorithm::kPointToPoint) return {Protocol::kLl, Protocol::kSimple};
  return {Protocol::kSimple};
}

int channels_for(Op op, Bytes size, Layout layout, const Machine& machine, Algorithm algorithm,
                 Protocol protocol) {
  const int most = most_channels(layout, machine, algorithm);
  if (algorithm == Algorithm::kNvls || algorithm == Algorithm::kNvlsTree) return most;
  const double ranks = static_cast<double>(layout.nodes) * layout.local;
  const auto bytes = static_cast<double>(size.count());
  double worth = nccl::kWorthAChannel[index_of(protocol)];
  if (algorithm == Algorithm::kRing && protocol == Protocol::kLl) worth *= ranks;
  // Traffic per byte: a ring's all_reduce sends each twice, what is gathered counts for all ranks.
  const double traffic = op == Op::kAllReduce ? 2 : 1;
  worth = std::max(worth, nccl::kLeastTraffic / traffic);
  return std::clamp(static_cast<int>(bytes / worth), 1, most);
}

/// Halves the chunk while there would be too few to keep a pipeline of `depth` hops busy
/// (calcCollChunking of src/enqueue.cc).
std::int64_t shrink(std::int64_t chunk, double per_channel, double depth,
                    std::initializer_list<std::pair<double, std::int64_t>> rungs) {
  for (const auto& [chunks, least] : rungs) {
    while (per_channel / static_cast<double>(chunk) < depth * chunks && chunk > least) chunk /= 2;
  }
  return chunk;
}

Bytes slice_of(Bytes size, Layout layout, Algorithm algorithm, Protocol protocol, int channels) {
  const std::int64_t slot = nccl::kSlot[index_of(protocol)];
  const double per_channel = static_cast<double>(size.count()) / channels;
  switch (algorithm) {
    case Algorithm::kRing:
      return Bytes(protocol == Protocol::kSimple ? slot * nccl::kRingSliceSteps : slot);
    case Algorithm::kTree:
    case Algorithm::kSharp: {
      const double depth = layout.local - 1 + log2_floor(layout.nodes);
      if (protocol == Protocol::kSimple) {
        return Bytes(shrink(slot, per_channel, std::max(1.0, depth),
                            {{8, 128 << 10}, {4, 64 << 10}, {1, 32 << 10}}));
      }
      const double steps = 1 + log2_floor(layout.nodes) + 0.1 * layout.local;
      if (protocol == Protocol::kLl128) {
        return Bytes(
            shrink(slot, per_channel, steps / layout.local, {{64, 128 << 10}, {16, 32 << 10}}));
      }
      return Bytes(slot);
    }
    case Algorithm::kNvls:
    case Algorithm::kNvlsTree:
      return Bytes(shrink(nccl::kNvlsChunk, per_channel, layout.local,
                          {{64, 64 << 10}, {8, 32 << 10}, {2, 16 << 10}}));
    default:
      return Bytes(slot);
  }
}

Choice point_to_point(Op op, Bytes size, Layout layout, const Wishes& wishes) {
  Choice choice;
  choice.algorithm = Algorithm::kPointToPoint;
  const std::int64_t message =
      op == Op::kAllToAll ? size.count() / (static_cast<std::int64_t>(layout.nodes) * layout.local)
                          : size.count();
  choice.protocol = wishes.protocol.value_or(message <= nccl::kPairLlThreshold ? Protocol::kLl
                                                                               : Protocol::kSimple);
  choice.cutting.channels = message <= nccl::kPairLlThreshold ? 1 : nccl::kChannelsPerNic;
  choice.cutting.slice = Bytes(choice.protocol == Protocol::kLl ? nccl::kSlot[0]
                               : layout.nodes == 1              ? nccl::kNvlPairChunk
                                                                : nccl::kNetPairChunk);
  return choice;
}

Choice complete(Op op, Bytes size, Layout layout, const Machine& machine, Algorithm algorithm,
                Protocol protocol, const Wishes& wishes) {
  Choice choice;
  choice.algorithm = algorithm;
  choice.protocol = protocol;
  choice.slots = nccl::kSteps;
  int channels = channels_for(op, size, layout, machine, algorithm, protocol);
  if (wishes.channels) channels = *wishes.channels;
  // A tree in the switches carries what one adapter sends, in the order in which it is sent.
  if (algorithm == Algorithm::kSharp) {
    channels =
        in_nvswitches(algorithm, layout, machine)
            ? 1
            : std::min(static_cast<int>(layout.local), static_cast<int>(adapters(layout, machine)));
  }
  // The head of a part takes the sum when it has room for it: offers are not far ahead.
  if (in_nvswitches(algorithm, layout, machine)) choice.slots = 2;
  choice.cutting.channels = static_cast<std::uint32_t>(channels);
  choice.cutting.slice = slice_of(size, layout, algorithm, protocol, channels);
  if (algorithm == Algorithm::kRing && protocol == Protocol::kSimple && op != Op::kBroadcast) {
    choice.cutting.slices = nccl::kRingSlices;
    choice.slots = nccl::kSteps / nccl::kRingSliceSteps;
  }
  return choice;
}

/// GB/s of data that a lane passes on.
double lane_rate(Layout layout, const Choice& choice, const Machine& machine) {
  const std::size_t architecture = architecture_of(machine);
  const std::size_t scale = scale_of(layout);
  const bool tree = choice.algorithm == Algorithm::kTree;
  if (choice.protocol == Protocol::kLl) {
    const double rate = tree ? tree_rate(layout, machine, choice.protocol) / 2
                             : ring_rate(layout, machine, choice.protocol);
    return rate / most_channels(layout, machine, choice.algorithm);
  }
  // Bus bandwidth of a tree is twice what goes up and twice what comes down.
  if (tree) {
    const auto& rates = choice.protocol == Protocol::kLl128 ? nccl::kTreeLl128 : nccl::kTreeSimple;
    return rates[architecture][scale] / 2;
  }
  const double rate = nccl::kRingLl128[architecture][scale];
  if (choice.protocol == Protocol::kLl128) return rate;
  return rate / kLineShare * (choice.algorithm == Algorithm::kSharp ? kSharpWidth : 1);
}

}  // namespace

std::string_view name_of(Algorithm algorithm) {
  return kAlgorithmNames[static_cast<std::size_t>(algorithm)];
}
std::string_view name_of(Protocol protocol) {
  return kProtocolNames[index_of(protocol)];
}
const std::vector<std::string_view>& algorithm_names() {
  return kAlgorithmNames;
}
const std::vector<std::string_view>& protocol_names() {
  return kProtocolNames;
}

Machine machine_of(const catalog::Gpu& gpu, const fabric::TopologySpec& topology,
                   const catalog::FabricProfile& profile, bool amd) {
  Machine machine;
  machine.compute_capability = gpu.compute_capability;
  machine.gpus_per_node = topology.gpus_per_node;
  machine.nics_per_node = topology.nics_per_node;
  machine.nic_gb_per_s = static_cast<double>(topology.nic_rate.bps()) / 8e9;
  machine.nvlink_gb_per_s = gpu.nvlink_usable_gb_per_s;
  machine.pcie_gb_per_s = gpu.pcie_gb_per_s * nccl::kPcieShare;
  machine.node_latency_us = gpu.nvlink_latency_us;
  machine.nvls = gpu.nvls_share > 0;
  machine.sharp = profile.sharp.enabled;
  machine.amd = amd;
  const bool rails = topology.kind == fabric::TopologyKind::kRailOptimised ||
                     topology.kind == fabric::TopologyKind::kRailOnly;
  machine.pxn = rails && topology.nics_per_node == topology.gpus_per_node;
  return machine;
}

network::NodeLinkSpec node_links(const catalog::Gpu& gpu) {
  const double gb_per_s =
      gpu.nvlink_gb_per_s > 0 ? gpu.nvlink_usable_gb_per_s : gpu.pcie_gb_per_s * nccl::kPcieShare;
  network::NodeLinkSpec spec{base::Rate::gigabits_per_second(gb_per_s * 8),
                             base::Time::seconds(gpu.nvlink_latency_us * 1e-6)};
  if (gpu.nvls_share > 0) spec.nvls_share = gpu.nvls_share;
  return spec;
}

std::optional<double> estimate_us(Op op, Bytes size, Layout layout, const Machine& machine,
                                  Algorithm algorithm, Protocol protocol) {
  const double ranks = static_cast<double>(layout.nodes) * layout.local;
  const auto bytes = static_cast<double>(size.count());
  const double steps = op == Op::kAllReduce   ? 2 * (ranks - 1)
                       : op == Op::kBroadcast ? ranks
                                              : ranks - 1;
  const Hops hops = hops_of(algorithm, protocol, layout, machine);
  const double depth = log2_floor(layout.nodes);
  switch (algorithm) {
    case Algorithm::kRing: {
      double latency = ring_latency(op, layout, machine, protocol);
      const int channels = most_channels(layout, machine, algorithm);
      // "Plateau effect of ring".
      if (protocol == Protocol::kSimple && layout.nodes > 1 && op == Op::kAllReduce &&
          bytes / (channels * ranks) >= 64) {
        latency *= 1.4;
      }
      return latency + bytes / (1e3 * ring_rate(layout, machine, protocol) * ranks / steps);
    }
    case Algorithm::kTree: {
      double rate = tree_rate(layout, machine, protocol) / 2;
      const auto magnitude =
          static_cast<int>(std::bit_width(static_cast<std::uint64_t>(size.count()) >> 6)) - 1;
      if (magnitude >= 0 && magnitude < 23) {
        rate *= nccl::kTreeCorrection[index_of(protocol)][static_cast<std::size_t>(magnitude)];
      }
      return hops.base + 2 * ((layout.local - 1) * hops.inside + depth * hops.between) +
             bytes / (1e3 * rate);
    }
    case Algorithm::kNvls:
    case Algorithm::kNvlsTree: {
      double rate = nvls_rate(op, layout, machine, algorithm);
      if (op == Op::kAllReduce) rate *= ranks / steps;
      return hops.inside + 2 * depth * hops.between + bytes / (1e3 * rate);
    }
    case Algorithm::kSharp:
      if (in_nvswitches(algorithm, layout, machine)) {
        const double rate = nvls_rate(op, layout, machine, algorithm) * ranks / steps;
        return hops.inside + hops.between + bytes / (1e3 * rate);
      }
      return 2 * (layout.local - 1) * hops.inside + hops.between +
             bytes / (1e3 * graph_rate(layout, machine) / 2);
    default:
      return std::nullopt;
  }
}

Choice choose(Op op, Bytes size, const std::vector<base::Rank>& group, const Machine& machine,
              const Wishes& wishes) {
  const auto per_node = static_cast<std::uint32_t>(machine.gpus_per_node);
  const Layout layout = layout_of(group, per_node);
  if (wishes.algorithm && !possible(op, layout, machine, *wishes.algorithm)) {
    std::string names;
    for (const std::string_view name : kAlgorithmNames) {
      const auto i = static_cast<std::size_t>(&name - kAlgorithmNames.data());
      if (!possible(op, layout, machine, static_cast<Algorithm>(i))) continue;
      names += (names.empty() ? "" : ", ") + std::string(name);
    }
    refuse(fmt::format("the algorithm {} for {} over {} nodes of {} GPUs",
                       name_of(*wishes.algorithm), name_of(op), layout.nodes, layout.local),
           names);
  }
  const auto finish = [&](Choice choice) {
    choice.cutting.gpus_per_node = per_node;
    return choice;
  };
  if (op == Op::kAllToAll || op == Op::kSendRecv) {
    Choice choice = point_to_point(op, size, layout, wishes);
    if (wishes.channels) choice.cutting.channels = static_cast<std::uint32_t>(*wishes.channels);
    return finish(choice);
  }
  const std::vector<Algorithm> algorithms =
      wishes.algorithm ? std::vector{*wishes.algorithm} : offered(op, layout, machine);
  std::optional<Choice> best;
  for (const Algorithm algorithm : algorithms) {
    for (const Protocol protocol : protocols(algorithm, machine)) {
      if (wishes.protocol && protocol != *wishes.protocol) continue;
      const double us = estimate_us(op, size, layout, machine, algorithm, protocol).value_or(0);
      if (best && us >= best->estimate_us) continue;
      best = complete(op, size, layout, machine, algorithm, protocol, wishes);
      best->estimate_us = us;
    }
  }
  if (!best) {
    refuse(fmt::format("the protocol {}", name_of(*wishes.protocol)),
           wishes.algorithm ? fmt::format("simple with {}", name_of(*wishes.algorithm))
                            : "simple or ll");
  }
  return finish(*best);
}

std::unique_ptr<Schedule> make(Op op, std::vector<base::Rank> group, Bytes size,
                               const Choice& choice) {
  switch (choice.algorithm) {
    case Algorithm::kTree:
      return tree(std::move(group), size, choice.cutting);
    case Algorithm::kNvls:
    case Algorithm::kNvlsTree:
      return nvls(op, std::move(group), size, choice.cutting);
    case Algorithm::kSharp:
      return choice.cutting.channels == 1 &&
                     layout_of(group, choice.cutting.gpus_per_node).local > 1
                 ? nvls(op, std::move(group), size, choice.cutting, true)
                 : tree(std::move(group), size, choice.cutting, true);
    case Algorithm::kHalvingDoubling:
      return halving_doubling(std::move(group), size, choice.cutting);
    case Algorithm::kHierarchical:
      return hierarchical(std::move(group), size, choice.cutting);
    case Algorithm::kOneShot:
    case Algorithm::kTwoShot:
      return direct_all_reduce(std::move(group), size, choice.algorithm == Algorithm::kTwoShot);
    case Algorithm::kPointToPoint:
      return op == Op::kAllToAll ? pairwise_all_to_all(std::move(group), size, choice.cutting)
                                 : send_recv_ring(std::move(group), size, choice.cutting);
    case Algorithm::kRing:
      break;
  }
  return ring(op, std::move(group), size, choice.cutting);
}

RunOptions run_options(const std::vector<base::Rank>& group, const Choice& choice,
                       const Machine& machine) {
  const Layout layout = layout_of(group, choice.cutting.gpus_per_node);
  const auto us = [](double value) { return Time::seconds(std::max(0.0, value) * 1e-6); };
  const Hops hops = hops_of(choice.algorithm, choice.protocol, layout, machine);
  RunOptions options;
  options.slots = choice.slots;
  options.gpus_per_node = choice.cutting.gpus_per_node;
  if (choice.algorithm == Algorithm::kOneShot || choice.algorithm == Algorithm::kTwoShot) {
    options.launch = us(kDirectUs);
    return options;
  }
  options.wire = nccl::kWire[index_of(choice.protocol)];
  options.pxn = machine.pxn && choice.algorithm == Algorithm::kPointToPoint;
  options.line_by_line = choice.protocol != Protocol::kSimple;
  options.copy_rate = base::Rate::gigabits_per_second(8 * lane_rate(layout, choice, machine));
  options.net_delay = us(hops.between - kVerbsUs);
  if (in_nvswitches(choice.algorithm, layout, machine)) {
    // NCCL's 25 us are for the whole of it: a call and two hops.
    options.launch = us(nccl::kNvlsNvlink - 2 * machine.node_latency_us);
    return options;
  }
  options.launch = us(hops.base);
  options.node_delay = us(hops.inside - machine.node_latency_us);
  return options;
}

}  // namespace fabricast::collective
