// Schedules on the textbook network, against the alpha-beta formulas of Thakur, Rabenseifner and
// Gropp (2005) and nccl-tests' PERFORMANCE.md.

#include <map>
#include <numeric>
#include <tuple>

#include <gtest/gtest.h>

#include "collective/run.h"
#include "collective/schedule.h"
#include "ideal_network.h"

namespace fabricast::collective {
namespace {

using namespace base::literals;
using base::Bytes;
using base::Rank;
using base::Time;
using test::IdealNetwork;
using test::IdealSpec;

const IdealSpec kPlain{.alpha = 2_us, .beta = 100_gbps};

std::vector<Rank> ranks(std::uint32_t n, std::uint32_t first = 0, std::uint32_t stride = 1) {
  std::vector<Rank> group;
  for (std::uint32_t i = 0; i < n; ++i) group.emplace_back(first + i * stride);
  return group;
}

std::vector<std::unique_ptr<Schedule>> one(std::unique_ptr<Schedule> schedule) {
  std::vector<std::unique_ptr<Schedule>> all;
  all.push_back(std::move(schedule));
  return all;
}

/// Without the cost of copies, as the alpha-beta model has it.
Time run_on(IdealNetwork& network, const std::vector<std::unique_ptr<Schedule>>& schedules,
            const RunOptions& options = {}) {
  return run(network, schedules, options);
}

Step step_of(const Schedule& schedule, std::uint32_t position, std::uint32_t lane,
             std::uint64_t index) {
  Step step;
  schedule.step(position, lane, index, step);
  return step;
}

TEST(Ring, all_reduce_of_one_chunk_per_step_takes_2_n_minus_1_times_alpha_plus_s_over_n_beta) {
  const std::uint32_t n = 8;
  const Bytes size = 8_MiB;
  IdealNetwork network(n, kPlain);
  const auto schedule = one(ring(Op::kAllReduce, ranks(n), size, {.channels = 1, .slice = 1_MiB}));
  const Time step = kPlain.alpha + base::transmission_time(size / n, kPlain.beta);
  EXPECT_NEAR(run_on(network, schedule).us(), (2 * (n - 1) * step).us(), 0.01);
}

TEST(Ring, reduce_scatter_and_all_gather_take_n_minus_1_steps) {
  const std::uint32_t n = 4;
  const Time step = kPlain.alpha + base::transmission_time(1_MiB, kPlain.beta);
  for (const Op op : {Op::kReduceScatter, Op::kAllGather}) {
    IdealNetwork network(n, kPlain);
    const auto schedule = one(ring(op, ranks(n), 4_MiB, {.channels = 1, .slice = 1_MiB}));
    EXPECT_NEAR(run_on(network, schedule).us(), (3 * step).us(), 0.01) << name_of(op);
  }
}

TEST(Ring, every_rank_sends_exactly_2_n_minus_1_over_n_of_the_buffer) {
  const std::uint32_t n = 6;
  const Bytes size(6 * 2 * 1'000'000);
  IdealNetwork network(n, kPlain);
  run_on(network, one(ring(Op::kAllReduce, ranks(n), size, {.channels = 2, .slice = 96_KiB})));
  for (std::uint32_t r = 0; r < n; ++r) EXPECT_EQ(network.sent_by(r), 2 * 5 * size.count() / 6);
}

TEST(Ring, sizes_that_divide_by_nothing_add_up_to_the_last_byte) {
  // All ranks together send 2(n - 1) times the buffer, whatever the cut.
  for (const std::int64_t size : {1, 3, 7, 1000, 1'234'567}) {
    for (const std::uint32_t n : {2U, 3U, 7U}) {
      IdealNetwork network(static_cast<int>(n), kPlain);
      const auto schedule =
          one(ring(Op::kAllReduce, ranks(n), Bytes(size), {.channels = 3, .slice = Bytes(4001)}));
      run_on(network, schedule);
      EXPECT_EQ(network.counters().bytes_sent, 2 * (n - 1) * size) << size << " on " << n;
    }
  }
}

TEST(Ring, a_step_sends_the_size_that_it_received) {
  const auto schedule = ring(Op::kAllReduce, ranks(5), Bytes(10'007), {.channels = 2});
  const std::uint64_t steps = schedule->steps(3, 1);
  for (std::uint64_t i = 1; i + 1 < steps; ++i) {
    const Step step = step_of(*schedule, 3, 1, i);
    EXPECT_EQ(step.receive[0].bytes, step.send[0].bytes);
  }
  EXPECT_TRUE(step_of(*schedule, 3, 1, 0).receive.empty());
  EXPECT_TRUE(step_of(*schedule, 3, 1, steps - 1).send.empty());
}

TEST(Ring, slices_of_a_chunk_overlap_from_hop_to_hop) {
  // A chunk in two slices: the second is on the wire while the first is one alpha further, so that
  // a hop takes two slices or a slice and alpha, whichever is longer.
  const std::uint32_t n = 8;
  IdealNetwork network(n, kPlain);
  const Bytes slice = 64_KiB;
  const auto schedule = one(
      ring(Op::kAllGather, ranks(n), 2 * n * slice, {.channels = 1, .slice = slice, .slices = 2}));
  const Time wire = base::transmission_time(slice, kPlain.beta);
  const Time hop = std::max(2 * wire, wire + kPlain.alpha);
  const Time last = wire + kPlain.alpha + wire;
  EXPECT_NEAR(run_on(network, schedule).us(), ((n - 2) * hop + last).us(), 0.02);
}

TEST(Ring, a_broadcast_is_a_pipeline_of_chunks) {
  // k chunks over n - 1 hops: the last arrives after k + n - 2 chunk times and n - 1 alphas.
  const std::uint32_t n = 5;
  IdealNetwork network(n, kPlain);
  const auto schedule =
      one(ring(Op::kBroadcast, ranks(n), 8_MiB, {.channels = 1, .slice = 512_KiB}));
  const Time wire = base::transmission_time(512_KiB, kPlain.beta);
  EXPECT_NEAR(run_on(network, schedule).us(), ((16 + n - 2) * wire + (n - 1) * kPlain.alpha).us(),
              0.05);
}

TEST(Ring, channels_leave_a_node_through_all_its_adapters_and_stay_on_their_rail) {
  // Four nodes of eight GPUs: over eight channels each GPU is the last of its node once, and the
  // first GPU of the next node has the same local rank, except where an odd count closes the ring.
  const auto schedule = ring(Op::kAllGather, ranks(32), 1_MiB, {.channels = 8, .gpus_per_node = 8});
  std::vector<int> leaves(32, 0);
  for (std::uint32_t c = 0; c < 8; ++c) {
    for (std::uint32_t p = 0; p < 32; ++p) {
      const std::uint32_t to = step_of(*schedule, p, c, 0).send[0].peer;
      if (to / 8 == p / 8) continue;
      ++leaves[p];
      EXPECT_EQ(to % 8, p % 8);
    }
  }
  EXPECT_EQ(leaves, std::vector<int>(32, 1));
}

TEST(Ring, every_channel_visits_every_rank_once) {
  const auto schedule =
      ring(Op::kAllGather, ranks(24), 1_MiB, {.channels = 11, .gpus_per_node = 8});
  for (std::uint32_t c = 0; c < 11; ++c) {
    std::vector<int> visits(24, 0);
    std::uint32_t at = 0;
    for (int i = 0; i < 24; ++i) {
      ++visits[at];
      at = step_of(*schedule, at, c, 0).send[0].peer;
    }
    EXPECT_EQ(visits, std::vector<int>(24, 1));
    EXPECT_EQ(at, 0U);
  }
}

TEST(Ring, busbw_of_a_long_all_reduce_approaches_the_link_rate) {
  // PERFORMANCE.md: busbw = algbw * 2(n - 1)/n is the rate of the hardware. With two channels in
  // flight a port is never idle but for the first and last steps.
  const std::uint32_t n = 4;
  const Bytes size = 256_MiB;
  IdealNetwork network(n, {.alpha = 1_us, .beta = 200_gbps});
  const Time t = run_on(network, one(ring(Op::kAllReduce, ranks(n), size, {})));
  const double busbw = base::rate_of(size, t).gbps() * busbw_factor(Op::kAllReduce, 4);
  EXPECT_GT(busbw, 0.98 * 200);
  EXPECT_LE(busbw, 200);
}

TEST(BusBandwidth, factors_are_those_of_nccl_tests) {
  EXPECT_DOUBLE_EQ(busbw_factor(Op::kAllReduce, 8), 2.0 * 7 / 8);
  EXPECT_DOUBLE_EQ(busbw_factor(Op::kAllGather, 8), 7.0 / 8);
  EXPECT_DOUBLE_EQ(busbw_factor(Op::kReduceScatter, 8), 7.0 / 8);
  EXPECT_DOUBLE_EQ(busbw_factor(Op::kAllToAll, 8), 7.0 / 8);
  EXPECT_DOUBLE_EQ(busbw_factor(Op::kSendRecv, 8), 1);
  EXPECT_DOUBLE_EQ(busbw_factor(Op::kBroadcast, 8), 1);
}

TEST(AllToAll, every_rank_sends_all_but_its_own_block) {
  const std::uint32_t n = 5;
  const Bytes size(5 * 300'001);
  IdealNetwork network(n, kPlain);
  run_on(network, one(pairwise_all_to_all(ranks(n), size, {.channels = 2, .slice = 64_KiB})));
  for (std::uint32_t r = 0; r < n; ++r) EXPECT_EQ(network.sent_by(r), 4 * 300'001);
}

TEST(AllToAll, rounds_follow_one_another_without_waiting) {
  // Every port sends n - 1 blocks back to back; the last arrives alpha later.
  const std::uint32_t n = 8;
  IdealNetwork network(n, kPlain);
  const auto schedule = one(pairwise_all_to_all(ranks(n), 8_MiB, {.channels = 1, .slice = 1_MiB}));
  const Time expected = 7 * base::transmission_time(1_MiB, kPlain.beta) + kPlain.alpha;
  EXPECT_NEAR(run_on(network, schedule).us(), expected.us(), 0.01);
}

TEST(AllToAll, fewer_bytes_than_ranks_still_arrive) {
  IdealNetwork network(5, kPlain);
  run_on(network, one(pairwise_all_to_all(ranks(5), 3_B, {})));
  // Blocks of 1, 1, 1, 0, 0 bytes: each of the first three is sent by the four others.
  EXPECT_EQ(network.counters().bytes_sent, 12);
}

TEST(SendRecv, a_pair_takes_alpha_plus_size_over_beta) {
  IdealNetwork network(2, kPlain);
  const auto schedule = one(send_recv_pair(ranks(2), 4_MiB, {}));
  const Time expected = kPlain.alpha + base::transmission_time(4_MiB, kPlain.beta);
  EXPECT_NEAR(run_on(network, schedule).us(), expected.us(), 0.01);
  EXPECT_EQ(network.sent_by(0), (4_MiB).count());
  EXPECT_EQ(network.sent_by(1), 0);
}

TEST(SendRecv, a_ring_of_sends_loads_every_port_once) {
  IdealNetwork network(6, kPlain);
  const auto schedule = one(send_recv_ring(ranks(6), 1_MiB, {}));
  const Time expected = kPlain.alpha + base::transmission_time(1_MiB, kPlain.beta);
  EXPECT_NEAR(run_on(network, schedule).us(), expected.us(), 0.01);
}

/// What goes from one rank to another altogether, step by step and in bulk.
using Totals = std::map<std::pair<std::uint32_t, std::uint32_t>, double>;

Totals step_by_step(const Schedule& schedule) {
  Totals totals;
  for (std::uint32_t lane = 0; lane < schedule.lanes(); ++lane) {
    for (std::uint32_t p = 0; p < schedule.group().size(); ++p) {
      for (std::uint64_t i = 0; i < schedule.steps(p, lane); ++i) {
        for (const Part& part : step_of(schedule, p, lane, i).send) {
          totals[{schedule.group()[p].index(), schedule.group()[part.peer].index()}] +=
              static_cast<double>(part.bytes.count());
        }
      }
    }
  }
  return totals;
}

Totals in_bulk(const Schedule& schedule) {
  Totals totals;
  for (std::uint32_t c = 0; c < schedule.channels(); ++c) {
    for (std::uint64_t b = 0; b < schedule.bulks(c); ++b) {
      for (const network::Bulk::Edge& edge : schedule.bulk(c, b).edges) {
        totals[{edge.from.index(), edge.to.index()}] += edge.bytes;
      }
    }
  }
  return totals;
}

struct Kind {
  std::string name;
  std::unique_ptr<Schedule> schedule;
};

/// Every algorithm on a group of several nodes, the size divisible or not.
std::vector<Kind> every_kind(std::uint32_t nodes, Bytes size, std::uint32_t channels = 4) {
  const Cutting cutting{.channels = channels, .slice = 64_KiB, .slices = 2, .gpus_per_node = 4};
  const auto group = ranks(4 * nodes);
  std::vector<Kind> all;
  for (const Op op : {Op::kAllReduce, Op::kAllGather, Op::kReduceScatter, Op::kBroadcast}) {
    all.push_back({"ring " + std::string(name_of(op)), ring(op, group, size, cutting)});
  }
  for (const Op op : {Op::kAllReduce, Op::kAllGather, Op::kReduceScatter}) {
    all.push_back({"nvls " + std::string(name_of(op)), nvls(op, ranks(4), size, cutting)});
  }
  all.push_back({"tree", tree(group, size, cutting)});
  all.push_back({"halving-doubling", halving_doubling(group, size, cutting)});
  all.push_back({"pairwise", pairwise_all_to_all(group, size, cutting)});
  all.push_back({"one-shot", direct_all_reduce(group, size, false)});
  all.push_back({"two-shot", direct_all_reduce(group, size, true)});
  all.push_back({"sendrecv", send_recv_ring(group, size, cutting)});
  all.push_back({"pair", send_recv_pair(ranks(2), size, cutting)});
  if (nodes > 1) {
    all.push_back({"nvls-tree", nvls(Op::kAllReduce, group, size, cutting)});
    all.push_back({"hierarchical", hierarchical(group, size, cutting)});
  }
  return all;
}

TEST(EverySchedule, the_nth_part_that_is_sent_is_the_nth_that_is_received) {
  using Way = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
  for (const std::uint32_t nodes : {1U, 2U, 3U, 5U}) {
    for (const Bytes size : {12_MiB, Bytes(1'234'567), 5_B}) {
      for (const Kind& kind : every_kind(nodes, size)) {
        std::map<Way, std::vector<std::int64_t>> sent;
        std::map<Way, std::vector<std::int64_t>> received;
        const Schedule& s = *kind.schedule;
        for (std::uint32_t lane = 0; lane < s.lanes(); ++lane) {
          const std::uint32_t channel = s.channel_of(lane);
          for (std::uint32_t p = 0; p < s.group().size(); ++p) {
            for (std::uint64_t i = 0; i < s.steps(p, lane); ++i) {
              const Step step = step_of(s, p, lane, i);
              for (const Part& part : step.send) {
                ASSERT_GT(part.bytes.count(), 0) << kind.name;
                sent[{p, part.peer, channel, part.stream}].push_back(part.bytes.count());
              }
              for (const Part& part : step.receive) {
                received[{part.peer, p, channel, part.stream}].push_back(part.bytes.count());
              }
            }
          }
        }
        EXPECT_EQ(sent, received) << kind.name << " on " << nodes << " nodes, " << size.count();
      }
    }
  }
}

TEST(EverySchedule, ends_with_few_slots_and_with_many) {
  for (const int slots : {3, 4, 8}) {
    for (const std::uint32_t nodes : {1U, 3U, 4U}) {
      for (Kind& kind : every_kind(nodes, Bytes(3'000'001))) {
        IdealNetwork network(20, kPlain);
        RunOptions options;
        options.slots = slots;
        const auto schedules = one(std::move(kind.schedule));
        EXPECT_GT(run_on(network, schedules, options), Time()) << kind.name;
        double bytes = 0;
        for (const auto& [pair, sum] : step_by_step(*schedules[0])) bytes += sum;
        EXPECT_EQ(static_cast<double>(network.counters().bytes_sent), bytes) << kind.name;
      }
    }
  }
}

TEST(EverySchedule, an_all_reduce_sends_2_n_minus_1_times_the_buffer) {
  // The least that a sum over n ranks and its distribution need, whatever the algorithm; NVSwitches
  // do the part inside the nodes.
  for (const std::uint32_t nodes : {2U, 3U, 4U, 7U}) {
    const Bytes size(1'000'003);
    for (const Kind& kind : every_kind(nodes, size)) {
      const bool all_reduce = kind.name == "ring all_reduce" || kind.name == "tree" ||
                              kind.name == "two-shot" || kind.name == "halving-doubling" ||
                              kind.name == "hierarchical";
      if (!all_reduce && kind.name != "nvls-tree") continue;
      double bytes = 0;
      for (const auto& [pair, sum] : step_by_step(*kind.schedule)) {
        if (all_reduce || pair.first / 4 != pair.second / 4) bytes += sum;
      }
      const double n = all_reduce ? 4.0 * nodes : nodes;
      EXPECT_EQ(bytes, 2 * (n - 1) * static_cast<double>(size.count())) << kind.name;
    }
  }
}

TEST(Bulk, sends_between_every_pair_what_its_steps_send) {
  for (const std::uint32_t nodes : {2U, 3U}) {
    for (const Kind& kind : every_kind(nodes, 12_MiB)) {
      const Totals steps = step_by_step(*kind.schedule);
      const Totals bulk = in_bulk(*kind.schedule);
      EXPECT_EQ(steps.size(), bulk.size()) << kind.name;
      for (const auto& [pair, bytes] : steps) {
        ASSERT_TRUE(bulk.contains(pair)) << kind.name;
        EXPECT_NEAR(bulk.at(pair), bytes, 1e-6 * bytes)
            << kind.name << ": " << pair.first << " to " << pair.second;
      }
    }
  }
}

TEST(Run, a_sender_is_at_most_slots_chunks_ahead_of_its_receiver) {
  // A window protocol on a path longer than the window: w chunks per chunk time plus alpha, and the
  // last of a window arrives w - 1 chunk times after the first.
  const Bytes chunk = 64_KiB;
  const IdealSpec far{.alpha = 100_us, .beta = 100_gbps};
  const Time wire = base::transmission_time(chunk, far.beta);
  for (const int slots : {1, 2, 4}) {
    IdealNetwork network(2, far);
    RunOptions options;
    options.slots = slots;
    const auto schedule =
        one(send_recv_pair(ranks(2), chunk * 16, {.channels = 1, .slice = chunk}));
    const Time expected = (16 / slots) * (wire + far.alpha) + (slots - 1) * wire;
    EXPECT_NEAR(run_on(network, schedule, options).us(), expected.us(), 0.01) << slots;
  }
}

TEST(Run, duration_counts_from_the_latest_start) {
  IdealNetwork network(2, kPlain);
  RunOptions options;
  options.start = {5_us, 40_us};
  const auto schedule = one(send_recv_pair(ranks(2), 64_KiB, {.channels = 1}));
  // The receiver is late; the chunk has been waiting in its slot.
  EXPECT_EQ(run_on(network, schedule, options), Time());
}

TEST(Run, a_ring_waits_for_its_last_rank) {
  IdealNetwork network(4, kPlain);
  RunOptions options;
  options.start = {0_us, 0_us, 100_us, 0_us};
  const auto schedule = one(ring(Op::kAllReduce, ranks(4), 4_KiB, {.channels = 1}));
  // The late rank still has to pass its own contribution round: n - 1 steps of reduction and n - 1
  // of distribution, less what the others have prepared; never less than n - 1 steps.
  const Time step = kPlain.alpha + base::transmission_time(1_KiB, kPlain.beta);
  EXPECT_GE(run_on(network, schedule, options), 3 * step);
}

TEST(Run, groups_that_share_a_port_take_twice_as_long) {
  IdealSpec shared = kPlain;
  shared.ranks_per_port = 2;
  std::vector<std::unique_ptr<Schedule>> both;
  both.push_back(send_recv_pair({Rank(0), Rank(2)}, 16_MiB, {}));
  both.push_back(send_recv_pair({Rank(1), Rank(3)}, 16_MiB, {}));
  IdealNetwork network(4, shared);
  const Time expected = kPlain.alpha + base::transmission_time(32_MiB, kPlain.beta);
  EXPECT_NEAR(run_on(network, both).us(), expected.us(), 1);
}

TEST(Run, copies_and_overhead_are_paid_once_per_step) {
  IdealNetwork network(4, kPlain);
  RunOptions options;
  options.copy_rate = 800_gbps;
  options.step_overhead = 3_us;
  const auto schedule = one(ring(Op::kAllReduce, ranks(4), 4_MiB, {.channels = 1, .slice = 1_MiB}));
  const Time wire = kPlain.alpha + base::transmission_time(1_MiB, kPlain.beta);
  const Time copy = base::transmission_time(1_MiB, 800_gbps);
  // The first step of a loop only copies and sends, the six others receive.
  EXPECT_EQ(run(network, schedule, options), 6 * (wire + 3_us) + 7 * copy);
}

TEST(Run, delays_are_those_of_the_way_and_the_launch_is_paid_once) {
  IdealNetwork network(4, kPlain);
  RunOptions options;
  options.gpus_per_node = 2;
  options.node_delay = 1_us;
  options.net_delay = 10_us;
  options.launch = 100_us;
  const auto schedule =
      one(ring(Op::kAllGather, ranks(4), 4_B, {.channels = 1, .gpus_per_node = 2}));
  // Of three hops round a ring of two nodes the slowest rank's data take two between nodes.
  const Time wire = kPlain.alpha + base::transmission_time(1_B, kPlain.beta);
  EXPECT_EQ(run(network, schedule, options), 100_us + 3 * wire + 2 * 10_us + 1_us);
}

TEST(Run, the_wire_carries_flags_beside_the_data) {
  IdealNetwork network(2, kPlain);
  RunOptions options;
  options.wire = 2;
  run(network, one(send_recv_pair(ranks(2), 1_MiB, {.channels = 1})), options);
  EXPECT_EQ(network.sent_by(0), (2_MiB).count());
}

TEST(Run, pxn_takes_the_rail_of_the_receiver) {
  // 0 sends to 5: over NVLink to 1, which shares 5's rail, and from there.
  IdealSpec spec = kPlain;
  spec.gpus_per_node = 4;
  spec.node_beta = 2400_gbps;
  IdealNetwork network(8, spec);
  RunOptions options;
  options.gpus_per_node = 4;
  options.pxn = true;
  run(network, one(send_recv_pair({Rank(0), Rank(5)}, 1_MiB, {.channels = 1})), options);
  EXPECT_EQ(network.sent_by(0), (1_MiB).count());
  EXPECT_EQ(network.sent_by(1), (1_MiB).count());
}

TEST(Run, a_collective_of_the_switches_needs_switches_that_reduce) {
  IdealNetwork network(8, kPlain);
  const auto schedule =
      one(tree(ranks(8), 1_MiB, {.channels = 1, .gpus_per_node = 4}, /*sharp=*/true));
  EXPECT_THROW(run(network, schedule, {}), base::Error);
}

}  // namespace
}  // namespace fabricast::collective
