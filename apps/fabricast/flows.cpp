// The bare network, for researchers: flows in, completion times, and from the packet engine
// counters and queue traces, out.

#include "network/flows.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/progress.h"
#include "collective/choice.h"
#include "commands.h"
#include "faults.h"
#include "flow_level.h"
#include "packet/packet_network.h"
#include "report/flows.h"
#include "scenario/flows.h"
#include "scenario/scenario.h"

namespace fabricast::apps {
namespace {

struct FlowsFlags {
  std::string flows;
  std::string system;
  std::string csv;
  std::string trace;
  double trace_every_us = 10;
  CommonFlags common;
};

/// A fault that no flow could meet has changed nothing, which the user should know.
void note_late_faults(const scenario::ValidScenario& system, base::Time end) {
  for (std::size_t i = 0; i < system.faults.size(); ++i) {
    if (base::Time::seconds(system.faults[i].at_ms * 1e-3) < end) continue;
    const std::string where = system.where(fmt::format("faults[{}]", i)).text();
    std::fprintf(stderr, "%s: note: begins after %g ms, when all flows are complete (%.6g ms)\n",
                 where.c_str(), system.faults[i].at_ms, end.s() * 1e3);
  }
}

std::vector<network::Flow> flows_of(const std::vector<scenario::FlowSpec>& specs) {
  std::vector<network::Flow> flows;
  for (const scenario::FlowSpec& spec : specs) {
    flows.push_back({base::Rank(spec.src), base::Rank(spec.dst), spec.size, spec.start,
                     spec.traffic_class, spec.depends_on});
  }
  return flows;
}

/// Looks at every link again and again until all flows are complete: what is queued, and how busy
/// the link has been since the last look.
class Trace {
 public:
  Trace(packet::PacketNetwork& network, const fabric::Fabric& fabric, double every_us)
      : network_(network),
        fabric_(fabric),
        every_(base::Time::seconds(every_us * 1e-6)),
        sent_(fabric.ports().size()) {
    next();
  }
  void stop() { stopped_ = true; }
  const std::string& text() const { return text_; }

 private:
  void next() {
    network_.at(network_.now() + every_, [this](base::Time now) {
      if (stopped_) return;
      sample(now);
      next();
    });
  }

  void sample(base::Time now) {
    for (const packet::LinkUse& link : network_.links()) {
      const std::size_t i = link.port.index();
      const base::Bytes moved = link.sent - sent_[i];
      sent_[i] = link.sent;
      if (moved.count() == 0 && link.queued.count() == 0) continue;
      const double share = base::transmission_time(moved, fabric_.port(link.port).rate) / every_;
      text_ += fmt::format("{:.3f},{},{},{:.2f}\n", now.us(), fabric_.port_name(link.port),
                           link.queued.count(), 100 * share);
    }
  }

  packet::PacketNetwork& network_;
  const fabric::Fabric& fabric_;
  base::Time every_;
  std::vector<base::Bytes> sent_;
  bool stopped_ = false;
  std::string text_ = "time_us,link,queue_bytes,utilisation_pct\n";
};

std::vector<report::LinkRow> link_rows(const packet::PacketNetwork& network,
                                       const fabric::Fabric& fabric, base::Time end) {
  std::vector<report::LinkRow> rows;
  for (const packet::LinkUse& link : network.links()) {
    if (link.sent.count() == 0) continue;
    rows.push_back({fabric.port_name(link.port),
                    100 * (base::transmission_time(link.sent, fabric.port(link.port).rate) / end),
                    static_cast<double>(link.max_queued.count()) * 1e-3,
                    100 * ((link.paused + link.stalled) / end)});
  }
  return rows;
}

/// As the user said; else as many as pay, which take some 64 adapters each (docs/performance.md).
int threads_for(const CommonFlags& flags, const fabric::Fabric& fabric) {
  constexpr int kAdaptersPerThread = 64;
  const int threads = threads_of(flags);
  return flags.threads != 0 ? threads
                            : std::clamp(fabric.endpoints() / kAdaptersPerThread, 1, threads);
}

/// Who asked for several threads should know why only one is busy.
void note_threads(const CommonFlags& flags, int used) {
  if (flags.threads <= used) return;
  std::fprintf(stderr, "note: this run can be shared out over %d of the %d threads asked for\n",
               used, flags.threads);
}

/// What is asked for must not take the place of what is read, nor of another result.
void check_outputs(const FlowsFlags& flags) {
  const std::vector<std::pair<const char*, std::string>> outputs = {
      {"--json", flags.common.json}, {"--csv", flags.csv}, {"--trace", flags.trace}};
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& [flag, path] = outputs[i];
    check_output(flag, path, {flags.flows, flags.system});
    for (std::size_t j = 0; j < i && !path.empty(); ++j) {
      if (outputs[j].second != path) continue;
      throw base::input_error({path, 0, 0, flag},
                              std::string("the place of `") + outputs[j].first + "`",
                              "a file of its own");
    }
  }
}

/// What the flow level does not know is refused, and not left without an effect.
void check_flow_level(const FlowsFlags& flags, const scenario::ValidScenario& system) {
  const auto refuse = [](const base::Location& where, const std::string& found) {
    throw base::input_error(where, found + " beside `--resolution flow`",
                            "`--resolution packet` with it");
  };
  if (!flags.trace.empty()) refuse({"", 0, 0, "--trace"}, "a trace of queues");
  if (flags.common.threads > 1) {
    refuse({"", 0, 0, "--threads"}, fmt::format("`{}`", flags.common.threads));
  }
  require_flow_level(system);
}

/// Flows share alike, whatever their class.
void check_priorities(const FlowsFlags& flags, const std::vector<scenario::FlowSpec>& specs) {
  for (const scenario::FlowSpec& spec : specs) {
    if (spec.traffic_class == 0) continue;
    throw base::input_error({flags.flows, 0, 0, "priority"},
                            fmt::format("`{}` of {} beside `--resolution flow`", spec.traffic_class,
                                        base::quote(spec.id)),
                            "`--resolution packet` with it, or 0");
  }
}

/// The network of a run, and what makes others like it.
struct Level {
  std::shared_ptr<const fabric::Fabric> fabric;
  std::unique_ptr<network::Network> network;
  packet::PacketNetwork* packets = nullptr;  ///< the same network; null at flow level
  network::Factory make;                     ///< without faults
};

Level level_of(const FlowsFlags& flags, const scenario::ValidScenario& system) {
  const scenario::FabricChoice& choice = system.fabrics.front();
  const network::NodeLinkSpec inside = collective::node_links(system.cluster.gpu);
  Level level;
  level.fabric = std::make_shared<const fabric::Fabric>(fabric::build(choice.topology));
  const packet::Faults faults = faults_of(system, 0, *level.fabric);
  if (flags.common.resolution == Resolution::kFlow) {
    Lessons lessons(nullptr);
    level.network = flow_level(system, choice, level.fabric, faults, &lessons)(0)(system.seed);
    level.make = flow_level(system, choice, level.fabric, {}, &lessons)(0);
    return level;
  }
  auto packets = packet::make_network(level.fabric, choice.profile, inside, system.seed, faults,
                                      threads_for(flags.common, *level.fabric));
  level.packets = packets.get();
  level.network = std::move(packets);
  level.make = packet::factory(level.fabric, choice.profile, inside);
  return level;
}

void say_notes(const FlowsFlags& flags, const scenario::ValidScenario& system, const Level& level) {
  say_notes(system, flags.common);
  if (flags.common.quiet) return;
  note_routing(*level.fabric, system.fabrics.front().profile);
  if (level.packets != nullptr) note_threads(flags.common, level.packets->threads());
}

/// What is known of the run beside its flows.
report::FlowsResult result_of(const scenario::ValidScenario& system, const Level& level) {
  report::FlowsResult result;
  result.system = system.name;
  result.fabric = system.fabrics.front().profile.name;
  result.seed = system.seed;
  result.level = level.packets != nullptr ? report::FlowsLevel::kPacket : report::FlowsLevel::kFlow;
  result.host = fabric::limit(level.fabric->spec().host);
  result.nic_rate = level.fabric->spec().nic_rate;
  result.slot = system.cluster.host.pcie;
  result.counters = level.network->counters();
  return result;
}

void flows(const FlowsFlags& flags) {
  check_outputs(flags);
  const auto known = catalog::Catalog::load(catalog::Catalog::default_directory());
  const auto system = scenario::load_system(flags.system, known, {flags.common.seed});
  scenario::require_simulated_cluster(system);
  scenario::require_no_reduction(system);
  if (flags.common.resolution == Resolution::kFlow) check_flow_level(flags, system);
  const auto specs = scenario::read_flows(
      flags.flows, {system.cluster.gpus, system.fabrics.front().profile.classes.count});
  if (flags.common.resolution == Resolution::kFlow) check_priorities(flags, specs);
  const std::vector<network::Flow> jobs = flows_of(specs);

  Level level;
  try {
    level = level_of(flags, system);
  } catch (const base::Error& error) {
    throw scenario::located(error, system, 0);
  }
  say_notes(flags, system, level);
  std::unique_ptr<Trace> trace;
  if (!flags.trace.empty()) {
    trace = std::make_unique<Trace>(*level.packets, *level.fabric, flags.trace_every_us);
  }
  base::Progress progress("flows", static_cast<std::int64_t>(jobs.size()), !flags.common.quiet);
  std::size_t left = jobs.size();
  const auto begin = std::chrono::steady_clock::now();
  const auto times = network::run_flows(*level.network, jobs, [&](std::size_t) {
    progress.advance();
    if (--left == 0 && trace) trace->stop();
  });
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  const auto ideal = network::ideal_times(level.make, *level.fabric, jobs, system.seed);

  report::FlowsResult result = result_of(system, level);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    result.end = std::max(result.end, times[i].completed);
    result.flows.push_back({specs[i].id, specs[i].src, specs[i].dst, specs[i].size,
                            times[i].started, times[i].completed - times[i].started, ideal[i]});
  }
  if (!flags.common.quiet) note_late_faults(system, result.end);
  if (level.packets != nullptr) {
    result.links = link_rows(*level.packets, *level.fabric, result.end);
  }
  result.wall_s = wall.count();
  result.peak_rss_mb = peak_rss_mb();

  if (!flags.csv.empty()) write_result(flags.csv, report::flows_csv(result));
  if (trace) write_result(flags.trace, trace->text());
  publish(flags.common, report::flows_table(result, {flags.common.chinese, flags.common.stats}),
          report::flows_json(result));
}

}  // namespace

void add_flows(CLI::App& program, Chosen& chosen) {
  auto flags = std::make_shared<FlowsFlags>();
  auto* command = program.add_subcommand(
      "flows", "The bare network: flows in, completion times and counters out");
  command
      ->add_option("FLOWS", flags->flows,
                   "Flows (CSV: id,src,dst,bytes,start_us[,priority,depends_on])")
      ->required()
      ->option_text("FILE");
  command->add_option("--system", flags->system, "System file (YAML: `cluster` and one `fabric`)")
      ->required()
      ->type_name("FILE");
  command->add_option("--csv", flags->csv, "Write the flows with fct_us, ideal_us and slowdown")
      ->type_name("FILE");
  auto* trace = command->add_option("--trace", flags->trace,
                                    "Write queue and utilisation of every link over time (CSV)");
  trace->type_name("FILE");
  command
      ->add_option("--trace-every", flags->trace_every_us,
                   "Sampling period of --trace, us (default: 10)")
      ->type_name("US")
      ->check(CLI::Range(0.001, 1e9))
      ->needs(trace);
  add_common_flags(*command, flags->common);
  // They are accepted everywhere and change nothing here.
  hide_flags(*command, {"--html", "--no-cache"});
  command->get_option("--resolution")
      ->description(
          "packet, auto: every packet (default); flow: max-min sharing, which knows neither queues "
          "nor counters");
  command->get_option("--threads")
      ->description("Threads (default: one for every 64 adapters, at most all cores)");
  command->footer(
      "Examples:\n"
      "  fabricast flows examples/flows/incast.csv --system examples/flows/roce-16.yaml\n"
      "  fabricast flows flows.csv --system system.yaml --csv result.csv --trace queues.csv\n"
      "  fabricast flows flows.csv --system system.yaml --json - --seed 7\n"
      "  fabricast flows million.csv --system system.yaml --resolution flow --csv result.csv");
  command->callback([flags, &chosen] { chosen = [flags] { flows(*flags); }; });
}

}  // namespace fabricast::apps
