#include "collective/sampling.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "base/random.h"
#include "base/statistics.h"
#include "collective/run.h"

namespace fabricast::collective {
namespace {

using base::Bytes;
using base::Time;
using network::Counters;
using network::PhaseSamples;

// Pieces of a run, shares of its bytes: the first two fifths warm up, the last tenth runs dry.
constexpr std::size_t kPieces = 4;
constexpr double kWarmUp = 0.4;
constexpr double kPieceShare = 0.125;
// Early and late pieces that agree within this are steady.
constexpr double kSteady = 0.03;
constexpr std::int64_t kSmallestLoop = 1 << 20;
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
  Marks marks;
};

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
  if (!phase.inside_nodes && !(spec.flow && spec.mean_background)) {
    for (std::size_t i = 0; i < spec.background.size(); ++i) {
      background.push_back(std::make_unique<network::BackgroundTraffic>(
          *net, fabric, spec.background[i], base::mix64(stream + i)));
    }
    if (spec.probe) {
      probe = std::make_unique<network::LatencyProbe>(
          *net, fabric, Time::picoseconds(kProbeIntervalUs * 1'000'000), stream);
    }
  }
  std::vector<std::unique_ptr<Schedule>> schedules;
  for (const auto& group : phase.groups) schedules.push_back(schedule_of(phase, group, size));
  RunOptions options = phase.run;
  options.start =
      starts(phase, phase.inside_nodes ? fabric.spec().gpus_per_node : fabric.gpus(), spec, state);
  if (spec.flow) options.most_chunks = kMostChunksAtFlowLevel;
  Run run;
  for (std::size_t i = 0; i <= kPieces; ++i) {
    run.marks.shares.push_back(kWarmUp + kPieceShare * static_cast<double>(i));
  }
  if (!spec.whole && !spec.flow) options.marks = &run.marks;
  run.seconds = collective::run(*net, schedules, options).s();
  run.simulated_s = net->now().s();
  run.counters = net->counters();
  run.sent = net->sent_by_port();
  if (probe) run.latencies_us = probe->latencies_us();
  return run;
}

/// The smallest size that may show the steady rate: two and a half loops of a collective, since
/// what a slow link holds up comes round a ring in one, ten windows of a pair, 2.5 MiB at least.
Bytes first_size(const Phase& phase) {
  const auto n = static_cast<std::int64_t>(phase.groups[0].size());
  const Cutting& cutting = phase.choice.cutting;
  const Bytes chunks = cutting.slice * static_cast<std::int64_t>(cutting.slices) *
                       static_cast<std::int64_t>(cutting.channels);
  const Bytes loop = phase.op == Op::kSendRecv ? chunks * phase.choice.slots * 4 : chunks * n;
  return Bytes(std::max(loop, Bytes(kSmallestLoop)).count() * 5 / 2);
}

/// What was simulated, of each size that was tried. The last size counts.
struct Ladder {
  std::vector<Bytes> sizes;
  std::vector<std::vector<Run>> runs;
  double disagreement =
      0;  ///< of the later pieces of the last runs with the earlier ones, relative
};

/// A run's pieces, seconds.
std::vector<double> pieces(const Run& run) {
  std::vector<double> result;
  for (std::size_t i = 0; i < kPieces; ++i) {
    result.push_back((run.marks.at[i + 1] - run.marks.at[i]).s());
  }
  return result;
}

double disagreement(const std::vector<Run>& runs) {
  double early = 0;
  double late = 0;
  for (const Run& run : runs) {
    early += (run.marks.at[kPieces / 2] - run.marks.at[0]).s();
    late += (run.marks.at[kPieces] - run.marks.at[kPieces / 2]).s();
  }
  return early > 0 ? std::abs(late / early - 1) : 1;
}

// In bulk skew alone tells states apart, and hardly.
int states_of(const SamplingSpec& spec, const fabric::Fabric& fabric) {
  if (!spec.flow) return spec.states;
  constexpr int kMostAdapters = 1024;
  return fabric.endpoints() > kMostAdapters ? 1 : std::min(spec.states, kStatesAtFlowLevel);
}

/// Doubles the size until a run's pieces are steady, nothing would be saved, or the next runs would
/// cost too much. A run that is extrapolated gives as many states as it has pieces.
Ladder climb(const Phase& phase, const fabric::Fabric& fabric, const network::Factory& factory,
             const SamplingSpec& spec) {
  Ladder ladder;
  const auto run = [&](Bytes size, std::size_t count) {
    std::vector<Run> runs(count);
    base::parallel_for(count, spec.threads, [&](std::size_t k) {
      runs[k] = simulate(phase, fabric, factory, spec, size, k);
      if (spec.progress != nullptr) {
        spec.progress->note(phase.name + ", state " + std::to_string(k + 1) + " at " +
                            base::to_string(size));
      }
    });
    ladder.sizes.push_back(size);
    ladder.runs.push_back(std::move(runs));
  };
  const auto states = static_cast<std::size_t>(states_of(spec, fabric));
  if (!spec.whole && !spec.flow) {
    for (Bytes size = first_size(phase); size < phase.size; size = size * 2) {
      run(size, (states + kPieces - 1) / kPieces);
      const std::vector<Run>& runs = ladder.runs.back();
      if (runs[0].marks.at.size() <= kPieces) continue;  // a network that carries slices in bulk
      ladder.disagreement = disagreement(runs);
      if (ladder.disagreement <= kSteady ||
          runs[0].counters.packet_hops * 2 > spec.hops_per_run * kPieces) {
        return ladder;
      }
    }
  }
  ladder = {};
  run(phase.size, states);
  return ladder;
}

PhaseSamples::Extrapolated to_extrapolate(const Ladder& ladder) {
  const Bytes size = ladder.sizes.back();
  PhaseSamples::Extrapolated result{size,
                                    {},
                                    Bytes::from(kPieceShare * static_cast<double>(size.count())),
                                    {},
                                    ladder.disagreement};
  for (const Run& run : ladder.runs.back()) {
    for (const double piece : pieces(run)) {
      result.seconds.push_back(run.seconds);
      result.pieces.push_back(piece);
    }
  }
  return result;
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

network::NetworkMetrics loaded_metrics(const std::vector<const PhaseSamples*>& phases,
                                       const fabric::Fabric& fabric, Counters& counters) {
  Counters sum;
  double simulated = 0;
  std::vector<double> latencies;
  for (const PhaseSamples* samples : phases) {
    add_counters(sum, samples->counters);
    simulated += samples->simulated_s;
    latencies.insert(latencies.end(), samples->probe_latencies_us.begin(),
                     samples->probe_latencies_us.end());
  }
  network::NetworkMetrics metrics;
  if (!latencies.empty()) {
    metrics.latency_loaded_p50_us = base::percentile(latencies, 50);
    metrics.latency_loaded_p99_us = base::percentile(latencies, 99);
  }
  const auto percent = [](double part, double whole) { return whole > 0 ? 100 * part / whole : 0; };
  const auto packets = static_cast<double>(sum.data_packets);
  metrics.pfc_pause_pct =
      percent(sum.paused.s(), static_cast<double>(fabric.ports().size()) * simulated);
  metrics.ecn_marked_pct = percent(static_cast<double>(sum.ecn_marked_packets), packets);
  metrics.retransmitted_pct = percent(static_cast<double>(sum.retransmitted_packets), packets);
  metrics.dropped_packets = static_cast<double>(sum.dropped_packets);
  metrics.host_cpu_pct = percent(sum.cpu_busy.s(), sum.cores * simulated);
  counters = sum;
  return metrics;
}

// What the first two sizes of the ladder send between nodes, or all of it where that is less;
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
  const double factor = busbw_factor(phase.op, static_cast<int>(group.size()));
  const double whole = static_cast<double>(phase.size.count());
  const double ladder = 3.0 * static_cast<double>(first_size(phase).count()) / kPieces;
  return (spec.whole ? whole : std::min(whole, ladder)) * factor * senders *
         static_cast<double>(phase.groups.size()) / kPacket * kHopsPerPacket * spec.states;
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
  if (ladder.sizes.back() < phase.size) {
    samples.extrapolated = to_extrapolate(ladder);
    return at_size(std::move(samples), phase.size);
  }
  for (const Run& run : ladder.runs[0]) samples.seconds.push_back(run.seconds);
  return samples;
}

bool alike(const Phase& one, const Phase& other) {
  const auto half_of_a_ring = [](const Phase& phase) {
    return (phase.op == Op::kAllGather || phase.op == Op::kReduceScatter) &&
           phase.choice.algorithm == Algorithm::kRing;
  };
  const Cutting& a = one.choice.cutting;
  const Cutting& b = other.choice.cutting;
  return half_of_a_ring(one) && half_of_a_ring(other) && one.groups == other.groups &&
         one.choice.protocol == other.choice.protocol && one.choice.slots == other.choice.slots &&
         a.channels == b.channels && a.slice == b.slice && a.slices == b.slices &&
         a.gpus_per_node == b.gpus_per_node && one.run.copy_rate == other.run.copy_rate &&
         one.run.pxn == other.run.pxn;
}

// The rest of the transfer is q further pieces: q times their mean, and, the pieces being
// independent, sqrt(q) times a state's own deviation from it. The stated error is that of the
// pieces' mean: twice its standard error, or the disagreement between early and late ones where
// that is larger.
PhaseSamples at_size(PhaseSamples samples, Bytes size) {
  const PhaseSamples::Extrapolated& from = *samples.extrapolated;
  const double q = (size - from.size) / from.piece;
  const double mean = base::mean(from.pieces);
  double total = 0;
  samples.seconds.clear();
  for (std::size_t k = 0; k < from.pieces.size(); ++k) {
    const double rest = q * mean + std::sqrt(q) * (from.pieces[k] - mean);
    samples.seconds.push_back(from.seconds[k] + std::max(0.0, rest));
    total += samples.seconds.back();
  }
  const auto states = static_cast<double>(from.pieces.size());
  const double standard_error =
      mean > 0 ? base::standard_deviation(from.pieces) / std::sqrt(states) / mean : 0;
  samples.extrapolation_error =
      std::max(2 * standard_error, from.disagreement) * q * mean * states / total;
  return samples;
}

}  // namespace fabricast::collective
