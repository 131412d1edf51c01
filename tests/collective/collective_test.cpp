// Schedules on the textbook network, against the alpha-beta formulas of Thakur, Rabenseifner and
// Gropp (2005) and nccl-tests' PERFORMANCE.md.

#include <map>
#include <numeric>

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

/// A run without the cost of reduction, as the alpha-beta model has it.
Time run_on(IdealNetwork& network, const std::vector<std::unique_ptr<Schedule>>& schedules,
            RunOptions options = {}) {
  options.reduce_rate = base::Rate::bits_per_second(9'000'000'000'000'000'000);
  return run(network, schedules, options);
}

TEST(Ring, all_reduce_of_one_chunk_per_step_takes_2_n_minus_1_times_alpha_plus_s_over_n_beta) {
  const std::uint32_t n = 8;
  const Bytes size = 8_MiB;
  IdealNetwork network(n, kPlain);
  const auto schedule = one(ring(Op::kAllReduce, ranks(n), size, {.channels = 1, .chunk = 1_MiB}));
  const Time step = kPlain.alpha + base::transmission_time(size / n, kPlain.beta);
  EXPECT_NEAR(run_on(network, schedule).us(), (2 * (n - 1) * step).us(), 0.01);
}

TEST(Ring, reduce_scatter_and_all_gather_take_n_minus_1_steps) {
  const std::uint32_t n = 4;
  const Time step = kPlain.alpha + base::transmission_time(1_MiB, kPlain.beta);
  for (const Op op : {Op::kReduceScatter, Op::kAllGather}) {
    IdealNetwork network(n, kPlain);
    const auto schedule = one(ring(op, ranks(n), 4_MiB, {.channels = 1, .chunk = 1_MiB}));
    EXPECT_NEAR(run_on(network, schedule).us(), (3 * step).us(), 0.01) << name_of(op);
  }
}

TEST(Ring, every_rank_sends_exactly_2_n_minus_1_over_n_of_the_buffer) {
  const std::uint32_t n = 6;
  const Bytes size(6 * 2 * 1'000'000);
  IdealNetwork network(n, kPlain);
  run_on(network, one(ring(Op::kAllReduce, ranks(n), size, {.channels = 2, .chunk = 96_KiB})));
  for (std::uint32_t r = 0; r < n; ++r) EXPECT_EQ(network.sent_by(r), 2 * 5 * size.count() / 6);
}

TEST(Ring, sizes_that_divide_by_nothing_add_up_to_the_last_byte) {
  // All ranks together send 2(n - 1) times the buffer, whatever the cut.
  for (const std::int64_t size : {1, 3, 7, 1000, 1'234'567}) {
    for (const std::uint32_t n : {2U, 3U, 7U}) {
      IdealNetwork network(static_cast<int>(n), kPlain);
      const auto schedule =
          one(ring(Op::kAllReduce, ranks(n), Bytes(size), {.channels = 3, .chunk = Bytes(4001)}));
      run_on(network, schedule);
      EXPECT_EQ(network.counters().bytes_sent, 2 * (n - 1) * size) << size << " on " << n;
    }
  }
}

TEST(Ring, what_a_rank_sends_its_successor_expects_in_the_same_step) {
  for (const Op op : {Op::kAllReduce, Op::kAllGather, Op::kReduceScatter}) {
    const auto schedule =
        ring(op, ranks(12), Bytes(999'999), {.channels = 5, .chunk = 8_KiB, .gpus_per_node = 4});
    for (std::uint32_t c = 0; c < 5; ++c) {
      for (std::uint64_t i = 0; i < schedule->steps(c); ++i) {
        for (std::uint32_t p = 0; p < 12; ++p) {
          const Step step = schedule->step(p, c, i);
          const Step peer = schedule->step(step.to, c, i);
          ASSERT_EQ(peer.from, p);
          ASSERT_EQ(peer.receive, step.send);
        }
      }
    }
  }
}

TEST(Ring, a_step_sends_the_size_that_the_step_before_received) {
  const auto schedule = ring(Op::kAllReduce, ranks(5), Bytes(10'007), {.channels = 2});
  for (std::uint64_t i = 0; i + 1 < schedule->steps(1); ++i) {
    EXPECT_EQ(schedule->step(3, 1, i).receive, schedule->step(3, 1, i + 1).send);
  }
}

TEST(Ring, channels_leave_a_node_through_all_its_adapters_and_stay_on_their_rail) {
  // Four nodes of eight GPUs: over eight channels each GPU is the last of its node once, and the
  // first GPU of the next node has the same local rank, except where an odd count closes the ring.
  const auto schedule = ring(Op::kAllGather, ranks(32), 1_MiB, {.channels = 8, .gpus_per_node = 8});
  std::vector<int> leaves(32, 0);
  for (std::uint32_t c = 0; c < 8; ++c) {
    for (std::uint32_t p = 0; p < 32; ++p) {
      const std::uint32_t to = schedule->step(p, c, 0).to;
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
      at = schedule->step(at, c, 0).to;
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
}

TEST(AllToAll, every_rank_sends_all_but_its_own_block) {
  const std::uint32_t n = 5;
  const Bytes size(5 * 300'001);
  IdealNetwork network(n, kPlain);
  run_on(network, one(pairwise_all_to_all(ranks(n), size, {.channels = 2, .chunk = 64_KiB})));
  for (std::uint32_t r = 0; r < n; ++r) EXPECT_EQ(network.sent_by(r), 4 * 300'001);
}

TEST(AllToAll, pairwise_exchange_takes_n_minus_1_times_alpha_plus_block_over_beta) {
  const std::uint32_t n = 8;
  IdealNetwork network(n, kPlain);
  const auto schedule = one(pairwise_all_to_all(ranks(n), 8_MiB, {.channels = 1, .chunk = 1_MiB}));
  const Time step = kPlain.alpha + base::transmission_time(1_MiB, kPlain.beta);
  EXPECT_NEAR(run_on(network, schedule).us(), (7 * step).us(), 0.01);
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

/// What every pair of ranks sends each other altogether, step by step and in bulk.
using Totals = std::map<std::pair<std::uint32_t, std::uint32_t>, double>;

Totals step_by_step(const Schedule& schedule) {
  Totals totals;
  for (std::uint32_t c = 0; c < schedule.channels(); ++c) {
    for (std::uint32_t p = 0; p < schedule.group().size(); ++p) {
      for (std::uint64_t i = 0; i < schedule.steps(c); ++i) {
        const Step step = schedule.step(p, c, i);
        if (step.send.count() == 0) continue;
        totals[{schedule.group()[p].index(), schedule.group()[step.to].index()}] +=
            static_cast<double>(step.send.count());
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

std::vector<std::unique_ptr<Schedule>> every_kind() {
  Cutting cutting{.channels = 4, .chunk = 64_KiB, .gpus_per_node = 4};
  std::vector<std::unique_ptr<Schedule>> all;
  for (const Op op : {Op::kAllReduce, Op::kAllGather, Op::kReduceScatter}) {
    all.push_back(ring(op, ranks(12), 12_MiB, cutting));
  }
  all.push_back(pairwise_all_to_all(ranks(12), 12_MiB, cutting));
  all.push_back(send_recv_ring(ranks(12), 3_MiB, cutting));
  all.push_back(send_recv_pair(ranks(2), 3_MiB, cutting));
  return all;
}

TEST(Bulk, sends_between_every_pair_what_its_steps_send) {
  for (const auto& schedule : every_kind()) {
    const Totals steps = step_by_step(*schedule);
    const Totals bulk = in_bulk(*schedule);
    EXPECT_EQ(steps.size(), bulk.size());
    for (const auto& [pair, bytes] : steps) {
      EXPECT_NEAR(bulk.at(pair), bytes, 1e-9 * bytes) << pair.first << " to " << pair.second;
    }
  }
}

TEST(Bulk, takes_as_many_steps_as_the_schedule_has) {
  for (const auto& schedule : every_kind()) {
    double steps = 0;
    for (std::uint64_t b = 0; b < schedule->bulks(0); ++b) steps += schedule->bulk(0, b).steps;
    EXPECT_EQ(steps, static_cast<double>(schedule->steps(0)));
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
        one(send_recv_pair(ranks(2), chunk * 16, {.channels = 1, .chunk = chunk}));
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

TEST(Run, reduction_and_overhead_are_paid_once_per_step) {
  IdealNetwork network(4, kPlain);
  RunOptions options;
  options.reduce_rate = 800_gbps;
  options.step_overhead = 3_us;
  const auto schedule = one(ring(Op::kAllReduce, ranks(4), 4_MiB, {.channels = 1, .chunk = 1_MiB}));
  const Time wire = kPlain.alpha + base::transmission_time(1_MiB, kPlain.beta);
  const Time reduce = base::transmission_time(1_MiB, 800_gbps);
  EXPECT_EQ(run(network, schedule, options), 6 * (wire + 3_us) + 3 * reduce);
}

}  // namespace
}  // namespace fabricast::collective
