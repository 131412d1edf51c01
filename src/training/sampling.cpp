#include "training/sampling.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "base/random.h"
#include "base/statistics.h"
#include "collective/run.h"
#include "network/probes.h"

namespace fabricast::training {
namespace {

using base::Bytes;
using base::Time;
using collective::Op;
using network::Counters;
using network::PhaseSamples;

// Two successive doublings that agree within this are steady.
constexpr double kSteady = 0.03;
constexpr std::int64_t kSmallestStart = 1 << 20;
// Beyond, a collective is carried in bulk: so many messages take a tenth of a second.
constexpr double kMostChunksAtFlowLevel = 20'000;
// States of a phase at flow level, where a user wants an answer at once.
constexpr int kStatesAtFlowLevel = 8;
// Assumed: often enough for a percentile within one phase, too seldom to load anything.
constexpr std::int64_t kProbeIntervalUs = 20;

struct Run {
  double seconds = 0;
  double simulated_s = 0;
  Counters counters;
  std::vector<double> latencies_us;
  std::vector<Bytes> sent;  ///< by port
};

std::unique_ptr<collective::Schedule> schedule_of(const Phase& phase,
                                                  const std::vector<base::Rank>& group,
                                                  Bytes size) {
  return phase.one_way ? collective::send_recv_pair(group, size, phase.choice.cutting)
                       : collective::make(phase.op, group, size, phase.choice);
}

/// Every rank reaches the phase when its own compute is done.
std::vector<Time> starts(const Phase& phase, int ranks, const SamplingSpec& spec,
                         std::uint64_t state) {
  base::RandomStream random(spec.seed, "skew/" + phase.name, state);
  std::vector<double> offsets(static_cast<std::size_t>(ranks));
  for (double& offset : offsets) offset = random.normal() * spec.variation * phase.preceding_s;
  const double earliest = *std::min_element(offsets.begin(), offsets.end());
  std::vector<Time> result;
  for (const double offset : offsets) result.push_back(Time::seconds(offset - earliest));
  return result;
}

Run simulate(const Phase& phase, const fabric::Fabric& fabric, const network::Factory& factory,
             const SamplingSpec& spec, Bytes size, std::uint64_t state) {
  const auto net = factory(spec.seed);
  const std::uint64_t stream =
      base::mix64(spec.seed ^ base::mix64(base::hash_name(phase.name) + state));
  std::vector<std::unique_ptr<network::BackgroundTraffic>> background;
  std::unique_ptr<network::LatencyProbe> probe;
  if (!phase.inside_nodes && !(spec.flow && mean_background(fabric))) {
    for (std::size_t i = 0; i < spec.background.size(); ++i) {
      background.push_back(std::make_unique<network::BackgroundTraffic>(
          *net, fabric, spec.background[i], base::mix64(stream + i)));
    }
    if (spec.probe) {
      probe = std::make_unique<network::LatencyProbe>(
          *net, fabric, Time::picoseconds(kProbeIntervalUs * 1'000'000), stream);
    }
  }
  std::vector<std::unique_ptr<collective::Schedule>> schedules;
  for (const auto& group : phase.groups) schedules.push_back(schedule_of(phase, group, size));
  collective::RunOptions options = phase.run;
  options.start =
      starts(phase, phase.inside_nodes ? fabric.spec().gpus_per_node : fabric.gpus(), spec, state);
  if (spec.flow) options.most_chunks = kMostChunksAtFlowLevel;
  Run run;
  run.seconds = collective::run(*net, schedules, options).s();
  run.simulated_s = net->now().s();
  run.counters = net->counters();
  run.sent = net->sent_by_port();
  if (probe) run.latencies_us = probe->latencies_us();
  return run;
}

/// The smallest size whose doubling shows the steady rate: one loop of a collective, one window of
/// a pair, and at least 1 MiB per rank.
Bytes first_size(const Phase& phase) {
  const auto n = static_cast<std::int64_t>(phase.groups[0].size());
  const collective::Cutting& cutting = phase.choice.cutting;
  const Bytes chunks = cutting.slice * static_cast<std::int64_t>(cutting.slices) *
                       static_cast<std::int64_t>(cutting.channels);
  const Bytes loop = phase.op == Op::kSendRecv ? chunks * phase.choice.slots : chunks * n;
  return std::max(loop, Bytes(kSmallestStart));
}

/// What every state simulated: one size when the phase runs whole, else growing ones, of which the
/// last two give the rate to extrapolate with.
struct Ladder {
  std::vector<Bytes> sizes;
  std::vector<std::vector<Run>> runs;  ///< per size, per state
  double disagreement = 0;             ///< of the last two marginal times per byte, relative
};

/// Extra time of each state from one size of the ladder to the next.
std::vector<double> increments(const Ladder& ladder, std::size_t to) {
  std::vector<double> result;
  for (std::size_t k = 0; k < ladder.runs[to].size(); ++k) {
    result.push_back(ladder.runs[to][k].seconds - ladder.runs[to - 1][k].seconds);
  }
  return result;
}

/// Mean marginal time per byte over the states.
double slope(const Ladder& ladder, std::size_t to) {
  const Bytes step = ladder.sizes[to] - ladder.sizes[to - 1];
  return base::mean(increments(ladder, to)) / static_cast<double>(step.count());
}

// In bulk skew alone tells states apart, and hardly.
int states_of(const SamplingSpec& spec, const fabric::Fabric& fabric) {
  if (!spec.flow) return spec.states;
  return mean_background(fabric) ? 1 : std::min(spec.states, kStatesAtFlowLevel);
}

/// Doubles the size until the mean marginal rates of two successive doublings agree, less than half
/// would be saved, or the next run would cost too much.
Ladder climb(const Phase& phase, const fabric::Fabric& fabric, const network::Factory& factory,
             const SamplingSpec& spec) {
  Ladder ladder;
  const auto run = [&](Bytes size) {
    std::vector<Run> states(static_cast<std::size_t>(states_of(spec, fabric)));
    base::parallel_for(states.size(), spec.threads, [&](std::size_t k) {
      states[k] = simulate(phase, fabric, factory, spec, size, k);
      if (spec.progress != nullptr) {
        spec.progress->note(phase.name + ", state " + std::to_string(k + 1) + " at " +
                            base::to_string(size));
      }
    });
    ladder.sizes.push_back(size);
    ladder.runs.push_back(std::move(states));
  };
  const Bytes first = first_size(phase);
  if (!spec.whole && !spec.flow && phase.size > first * 4) {
    run(first);
    run(first * 2);
    for (Bytes size = first * 4; size * 3 <= phase.size; size = size * 2) {
      run(size);
      const std::size_t last = ladder.sizes.size() - 1;
      const double before = slope(ladder, last - 1);
      ladder.disagreement = before > 0 ? std::abs(slope(ladder, last) / before - 1) : 1;
      if (ladder.disagreement <= kSteady ||
          ladder.runs[last][0].counters.packet_hops * 2 > spec.hops_per_run) {
        return ladder;
      }
    }
  }
  ladder = {};
  run(phase.size);
  return ladder;
}

/// The rest of the transfer is q further pieces like the one between the two largest sizes: q times
/// their mean, and, the pieces being independent, sqrt(q) times a state's own deviation from it.
/// The stated error is that of the pieces' mean: twice its standard error over the states, or the
/// disagreement between the last two pieces where that is larger.
void extrapolate(const Phase& phase, const Ladder& ladder, PhaseSamples& samples) {
  const std::size_t last = ladder.sizes.size() - 1;
  const Bytes piece = ladder.sizes[last] - ladder.sizes[last - 1];
  const double q = (phase.size - ladder.sizes[last]) / piece;
  const std::vector<double> pieces = increments(ladder, last);
  const double mean = std::max(0.0, base::mean(pieces));
  double total = 0;
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    const double rest = q * mean + std::sqrt(q) * (pieces[k] - mean);
    samples.seconds.push_back(ladder.runs[last][k].seconds + std::max(0.0, rest));
    total += samples.seconds.back();
  }
  const auto states = static_cast<double>(pieces.size());
  const double standard_error =
      mean > 0 ? base::standard_deviation(pieces) / std::sqrt(states) / mean : 0;
  samples.extrapolated = true;
  samples.extrapolation_error =
      std::max(2 * standard_error, ladder.disagreement) * q * mean * states / total;
}

/// Of the largest size that was simulated, on average over the states.
std::optional<PhaseSamples::LinkLoad> busiest_link(const std::vector<Run>& states,
                                                   const fabric::Fabric& fabric) {
  std::optional<PhaseSamples::LinkLoad> busiest;
  for (std::size_t i = 0; i < states[0].sent.size() && i < fabric.ports().size(); ++i) {
    const fabric::PortId port(static_cast<std::uint32_t>(i));
    double utilisation = 0;
    for (const Run& run : states) {
      const double busy = base::transmission_time(run.sent[i], fabric.port(port).rate).s();
      utilisation += busy / run.simulated_s / static_cast<double>(states.size());
    }
    if (utilisation > 0 && (!busiest || utilisation > busiest->utilisation)) {
      busiest = {port, utilisation};
    }
  }
  return busiest;
}

}  // namespace

void add_counters(Counters& sum, const Counters& more) {
  sum.events += more.events;
  sum.packet_hops += more.packet_hops;
  sum.data_packets += more.data_packets;
  sum.retransmitted_packets += more.retransmitted_packets;
  sum.dropped_packets += more.dropped_packets;
  sum.ecn_marked_packets += more.ecn_marked_packets;
  sum.cnps += more.cnps;
  sum.pause_frames += more.pause_frames;
  sum.timeouts += more.timeouts;
  sum.bytes_sent += more.bytes_sent;
  sum.bytes_delivered += more.bytes_delivered;
  sum.paused += more.paused;
  sum.credit_stalled += more.credit_stalled;
  sum.cpu_busy += more.cpu_busy;
  sum.cores = std::max(sum.cores, more.cores);
  sum.max_queue_bytes = std::max(sum.max_queue_bytes, more.max_queue_bytes);
}

Phase of_all_gpus(Op op, Bytes size, const fabric::Fabric& fabric,
                  const collective::Machine& machine, const collective::Wishes& wishes) {
  Phase phase;
  phase.name = std::string(collective::name_of(op));
  phase.op = op;
  phase.size = size;
  auto& group = phase.groups.emplace_back();
  for (int r = 0; r < fabric.gpus(); ++r) group.emplace_back(static_cast<std::uint32_t>(r));
  phase.choice = collective::choose(op, size, group, machine, wishes);
  phase.run = collective::run_options(group, phase.choice, machine);
  phase.inside_nodes = fabric.spec().nodes == 1;
  return phase;
}

Phase first_node(const Phase& phase, int gpus_per_node) {
  Phase first = phase;
  std::erase_if(first.groups, [&](const auto& group) {
    return group.front().index() >= static_cast<std::uint32_t>(gpus_per_node);
  });
  return first;
}

bool mean_background(const fabric::Fabric& fabric) {
  constexpr int kMostAdapters = 1024;
  return fabric.endpoints() > kMostAdapters;
}

// What the first three sizes of the ladder send between nodes, or all of it where that is less;
// each packet and its acknowledgement cross four links or so.
double packet_hops(const Phase& phase, const SamplingSpec& spec, int gpus_per_node) {
  constexpr double kHopsPerPacket = 8;
  constexpr double kPacket = 4096;
  const auto per_node = static_cast<std::uint32_t>(gpus_per_node);
  const auto& group = phase.groups.front();
  const auto local = static_cast<double>(std::ranges::count_if(group, [&](base::Rank rank) {
    return rank.index() / per_node == group.front().index() / per_node;
  }));
  const auto n = static_cast<double>(group.size());
  const double senders = phase.op == Op::kAllToAll ? n - local : n / local;
  const double factor = collective::busbw_factor(phase.op, static_cast<int>(group.size()));
  const double whole = static_cast<double>(phase.size.count());
  const double ladder = spec.whole ? whole : 7.0 * static_cast<double>(first_size(phase).count());
  return std::min(whole, ladder) * factor * senders * static_cast<double>(phase.groups.size()) /
         kPacket * kHopsPerPacket * spec.states;
}

PhaseSamples sample(const Phase& phase, const fabric::Fabric& fabric,
                    const network::Factory& factory, const SamplingSpec& spec) {
  const Ladder ladder = climb(phase, fabric, factory, spec);
  PhaseSamples samples;
  for (const auto& states : ladder.runs) {
    for (const Run& run : states) {
      add_counters(samples.counters, run.counters);
      samples.simulated_s += run.simulated_s;
      samples.probe_latencies_us.insert(samples.probe_latencies_us.end(), run.latencies_us.begin(),
                                        run.latencies_us.end());
    }
  }
  if (!phase.inside_nodes) samples.busiest = busiest_link(ladder.runs.back(), fabric);
  if (ladder.sizes.size() > 1) {
    extrapolate(phase, ladder, samples);
  } else {
    for (const Run& run : ladder.runs[0]) samples.seconds.push_back(run.seconds);
  }
  return samples;
}

}  // namespace fabricast::training
