// `fabricast collective`: one operation over sizes, in nccl-tests' columns.

#include "report/collective.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/statistics.h"
#include "collective/sampling.h"
#include "commands.h"
#include "fabric/fabric.h"
#include "faults.h"
#include "flow_level.h"
#include "packet/packet_network.h"
#include "scenario/scenario.h"

namespace fabricast::apps {
namespace {

using base::Bytes;
using collective::Op;

// Of one size, beyond which `auto` takes flows: some ten seconds on a core.
constexpr double kMostPacketHops = 1e8;
// Ladders of long transfers keep to as many.
constexpr std::uint64_t kHopsPerRun = 20'000'000;

struct CollectiveFlags {
  CommonFlags common;
  std::string system;
  std::string op = "all_reduce";
  std::string sizes = "8:16G";
  std::string algorithm;
  std::string protocol;
  int channels = 0;
};

[[noreturn]] void refuse(const char* flag, const std::string& found, const std::string& allowed) {
  throw base::input_error({"", 0, 0, flag}, found, allowed);
}

constexpr const char* kSizesAllowed =
    "bytes as `8:16G`, `1M:1G:4` or `64K` (K, M, G: powers of 1024)";

std::int64_t size_of(const std::string& text, const std::string& whole) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  std::string suffix(rest, static_cast<std::size_t>(end - rest));
  for (char& c : suffix) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const std::size_t power = std::string("KMGT").find(suffix);
  const bool known = suffix.empty() || (suffix.size() == 1 && power != std::string::npos);
  constexpr std::int64_t kMost = std::int64_t{1} << 44;
  if (error != std::errc() || !known || value < 1 || value > kMost) {
    refuse("--sizes", base::quote(whole), kSizesAllowed);
  }
  if (!suffix.empty()) value <<= 10 * (power + 1);
  if (value > kMost) refuse("--sizes", base::quote(whole), "at most 16T");
  return value;
}

/// MIN[:MAX[:FACTOR]].
std::vector<Bytes> sizes_of(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ':') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (parts.size() > 3) refuse("--sizes", base::quote(text), kSizesAllowed);
  const std::int64_t first = size_of(parts[0], text);
  const std::int64_t last = parts.size() > 1 ? size_of(parts[1], text) : first;
  const std::int64_t factor = parts.size() > 2 ? size_of(parts[2], text) : 2;
  if (last < first || factor < 2) refuse("--sizes", base::quote(text), kSizesAllowed);
  std::vector<Bytes> sizes;
  for (std::int64_t size = first; size <= last; size *= factor) sizes.emplace_back(size);
  return sizes;
}

template <typename Enum>
std::optional<Enum> named(const char* flag, const std::string& text,
                          const std::vector<std::string_view>& names) {
  if (text.empty()) return std::nullopt;
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<Enum>(found - names.begin());
  const std::vector<std::string> all(names.begin(), names.end());
  refuse(flag, base::quote(text), base::one_of(all));
}

Op op_of(const std::string& text) {
  std::vector<std::string> names;
  for (const Op op : {Op::kAllReduce, Op::kAllGather, Op::kReduceScatter, Op::kAllToAll,
                      Op::kSendRecv, Op::kBroadcast}) {
    names.emplace_back(collective::name_of(op));
    if (text == names.back()) return op;
  }
  refuse("--op", base::quote(text), base::one_of(names));
}

/// nccl-tests gives every rank whole lines of 16 bytes where each has a part.
Bytes in_whole_parts(Op op, Bytes size, int ranks) {
  if (op != Op::kAllGather && op != Op::kReduceScatter && op != Op::kAllToAll) return size;
  const std::int64_t line = 16 * ranks;
  return Bytes(size.count() / line * line);
}

struct Bench {
  const CollectiveFlags& flags;
  const scenario::ValidScenario& system;
  std::shared_ptr<const fabric::Fabric> fabric;
  collective::Machine machine;
  collective::Wishes wishes;
  Op op;
  network::Factory packets;
  network::Factory node;
  std::function<network::Factory(double)> flows;
};

report::CollectiveRow row_of(const Bench& bench, Bytes size) {
  const collective::Phase phase =
      collective::of_all_gpus(bench.op, size, *bench.fabric, bench.machine, bench.wishes);
  collective::SamplingSpec spec;
  spec.states = bench.system.background.empty() ? 1 : 16;
  spec.seed = bench.system.seed;
  spec.whole = bench.flags.common.resolution == Resolution::kPacket;
  spec.hops_per_run = kHopsPerRun;
  const int per_node = bench.fabric->spec().gpus_per_node;
  const bool large = !phase.inside_nodes && bench.flows &&
                     collective::packet_hops(phase, spec, per_node) > kMostPacketHops;
  spec.flow = bench.flags.common.resolution == Resolution::kFlow ||
              (bench.flags.common.resolution == Resolution::kAuto && large);
  spec.flow = spec.flow && !phase.inside_nodes;
  const network::PhaseSamples samples = collective::sample(
      phase, *bench.fabric,
      phase.inside_nodes ? bench.node : (spec.flow ? bench.flows(0) : bench.packets), spec);
  report::CollectiveRow row;
  row.size = size;
  row.algorithm = phase.choice.algorithm;
  row.protocol = phase.choice.protocol;
  row.channels = phase.choice.cutting.channels;
  row.time_us = base::mean(samples.seconds) * 1e6;
  row.flow = spec.flow;
  row.extrapolation_error = samples.extrapolation_error;
  return row;
}

Bench bench_of(const CollectiveFlags& flags, const scenario::ValidScenario& system, Op op,
               Lessons* lessons) {
  const scenario::FabricChoice& choice = system.fabrics.front();
  const network::NodeLinkSpec inside = collective::node_links(system.cluster.gpu);
  auto fabric = std::make_shared<const fabric::Fabric>(fabric::build(choice.topology));
  const packet::Faults faults = faults_of(system, 0, *fabric);
  Bench bench{flags,
              system,
              fabric,
              collective::machine_of(system.cluster.gpu, fabric->spec(), choice.profile,
                                     system.cluster.host.server.amd),
              {},
              op,
              packet::factory(fabric, choice.profile, inside, faults),
              {},
              flow_level(system, choice, fabric, faults, lessons)};
  bench.node = bench.packets;
  bench.wishes.algorithm =
      named<collective::Algorithm>("--algorithm", flags.algorithm, collective::algorithm_names());
  bench.wishes.protocol =
      named<collective::Protocol>("--protocol", flags.protocol, collective::protocol_names());
  if (flags.channels > 0) bench.wishes.channels = flags.channels;
  return bench;
}

void run_collective(const CollectiveFlags& flags) {
  check_output("--json", flags.common.json, {flags.system});
  const Op op = op_of(flags.op);
  const std::vector<Bytes> wanted = sizes_of(flags.sizes);
  const auto known = catalog::Catalog::load(catalog::Catalog::default_directory());
  const auto system = scenario::load_system(flags.system, known, {flags.common.seed});
  scenario::require_simulated_cluster(system);
  if (flags.common.resolution == Resolution::kFlow) require_flow_level(system);
  if (system.cluster.gpus < 2) {
    throw base::input_error(system.where("cluster.gpus"), "one GPU", "2 or more");
  }
  Lessons lessons(nullptr);
  Bench bench = [&] {
    try {
      return bench_of(flags, system, op, &lessons);
    } catch (const base::Error& error) {
      throw scenario::located(error, system, 0);
    }
  }();
  say_notes(system, flags.common);
  if (!flags.common.quiet) note_routing(*bench.fabric, system.fabrics.front().profile);
  std::vector<Bytes> sizes;
  for (const Bytes size : wanted) {
    const Bytes whole = in_whole_parts(op, size, system.cluster.gpus);
    if (whole.count() > 0 && (sizes.empty() || sizes.back() < whole)) sizes.push_back(whole);
  }
  if (sizes.empty()) refuse("--sizes", base::quote(flags.sizes), "16 bytes for every GPU at least");

  try {
    for (const Bytes size : sizes) {
      collective::of_all_gpus(op, size, *bench.fabric, bench.machine, bench.wishes);
    }
  } catch (const base::Error& error) {
    const char* flag = flags.algorithm.empty() ? "--protocol" : "--algorithm";
    throw base::Error(error.kind(), {"", 0, 0, flag}, error.message());
  }

  report::CollectiveResult result;
  result.system = system.name;
  result.fabric = system.fabrics.front().profile.name;
  result.gpu = system.cluster.gpu.name;
  result.op = op;
  result.gpus = system.cluster.gpus;
  result.nodes = bench.fabric->spec().nodes;
  result.seed = system.seed;
  result.rows.resize(sizes.size());
  base::Progress progress("sizes", static_cast<std::int64_t>(sizes.size()), !flags.common.quiet);
  base::parallel_for(sizes.size(), threads_of(flags.common), [&](std::size_t i) {
    result.rows[i] = row_of(bench, sizes[i]);
    progress.advance();
  });
  publish(flags.common, report::collective_table(result), report::collective_json(result));
}

}  // namespace

void add_collective(CLI::App& program, Chosen& chosen) {
  auto flags = std::make_shared<CollectiveFlags>();
  auto* command =
      program.add_subcommand("collective", "One collective over sizes, in nccl-tests' columns");
  command->add_option("--system", flags->system, "System file (YAML: `cluster` and one `fabric`)")
      ->required()
      ->type_name("FILE");
  command
      ->add_option(
          "--op", flags->op,
          "all_reduce (default), all_gather, reduce_scatter, alltoall, sendrecv, broadcast")
      ->type_name("OP");
  command
      ->add_option("--sizes", flags->sizes,
                   "MIN[:MAX[:FACTOR]] in bytes (default: 8:16G, factor 2)")
      ->type_name("SIZES");
  command
      ->add_option(
          "--algorithm", flags->algorithm,
          "ring, tree, nvls, nvls-tree, sharp, halving-doubling, hierarchical, one-shot or "
          "two-shot (default: "
          "NCCL's choice)")
      ->type_name("NAME");
  command->add_option("--protocol", flags->protocol, "ll, ll128 or simple (default: NCCL's choice)")
      ->type_name("NAME");
  command->add_option("--channels", flags->channels, "Channels (default: NCCL's choice)")
      ->type_name("N")
      ->check(CLI::Range(1, 64));
  add_common_flags(*command, flags->common);
  hide_flags(*command, {"--html", "--no-cache", "--stats", "--lang"});
  command->footer(
      "Examples:\n"
      "  fabricast collective --system examples/collective/h100-4x8.yaml --op all_reduce\n"
      "  fabricast collective --system system.yaml --op alltoall --sizes 1M:1G\n"
      "  fabricast collective --system system.yaml --algorithm tree --protocol ll128 --json -");
  command->callback([flags, &chosen] { chosen = [flags] { run_collective(*flags); }; });
}

}  // namespace fabricast::apps
