#pragma once
// Random scenarios for the fast and the naive engine.

#include <array>

#include <gtest/gtest.h>

#include "base/error.h"
#include "naive_engine.h"
#include "packet/partition.h"

namespace fabricast::packet::testing {

struct Case {
  std::shared_ptr<const fabric::Fabric> fabric;
  FabricProfile profile;
  std::vector<NaiveEngine::Job> jobs;
  Faults faults;
};

inline std::shared_ptr<const fabric::Fabric> random_fabric(base::RandomStream& random, int& nodes) {
  const auto per_leaf = static_cast<int>(2 + random.below(4));
  fabric::TopologySpec spec;
  switch (random.below(3)) {
    case 0:
      nodes = 2 + static_cast<int>(random.below(6));
      spec = topology(fabric::TopologyKind::kSingleSwitch, nodes);
      break;
    case 1:
      nodes =
          per_leaf + 1 + static_cast<int>(random.below(2 * static_cast<std::uint64_t>(per_leaf)));
      spec = topology(fabric::TopologyKind::kLeafSpine, nodes);
      spec.switch_ports = 2 * per_leaf;
      spec.nodes_per_leaf = per_leaf;
      break;
    default:
      spec = topology(fabric::TopologyKind::kFatTree, 16);
      spec.switch_ports = 4;
      nodes = spec.nodes;
  }
  const std::array<Rate, 4> rates = {200_gbps, 200_gbps, 300_gbps, 400_gbps};
  spec.switch_rate = rates[random.below(rates.size())];  // between switches
  return std::make_shared<const fabric::Fabric>(fabric::build(spec));
}

inline Case random_case(std::uint64_t number) {
  base::RandomStream random(number, "against-the-naive-engine");
  Case made;
  int nodes = 0;
  made.fabric = random_fabric(random, nodes);
  const bool credits = random.below(2) == 0;
  made.profile = credits ? infiniband() : roce();
  FabricProfile& p = made.profile;
  p.paths.routing = catalog::Routing::kEcmp;
  if (random.below(4) == 0) {  // packets overtake each other
    p.paths.routing = catalog::Routing::kAdaptive;
    p.transport.recovery = static_cast<catalog::LossRecovery>(random.below(3));
  }
  p.paths.qps_per_connection = static_cast<int>(1 + random.below(3));
  p.paths.split_messages = random.below(2) == 0;
  p.transport.timeout_exponent = 20;  // a timer that never fires here
  p.transport.ack_every = static_cast<int>(1 + random.below(4));
  p.congestion.control = catalog::RdmaCongestionControl::kNone;
  p.ecn.enabled = random.below(2) == 0;
  p.ecn.kmin = 8_KiB;
  p.ecn.kmax = 200_KiB;
  p.ecn.pmax = random.uniform();
  p.classes.count = static_cast<int>(1 + random.below(3));
  p.classes.scheduling =
      random.below(2) == 0 ? catalog::Scheduling::kStrict : catalog::Scheduling::kWeighted;
  p.classes.weight = {1, 3, 70, 1, 1, 1, 1, 1};
  if (credits && random.below(2) == 0) {
    p.classes.high_weight = {0, 2, 0, 0, 0, 0, 0, 0};
    p.classes.high_limit = static_cast<int>(random.below(4));
  }
  p.pfc.lossless_classes = 3;
  p.pfc.alpha = 1.0 / static_cast<double>(1 << random.below(6));
  p.switching.buffer = Bytes(1'200'000 + static_cast<std::int64_t>(random.below(300'000)));
  p.credits.vl_buffer = Bytes(64 * static_cast<std::int64_t>(130 + random.below(800)));
  if (random.below(2) == 0) p.switching.forwarding = catalog::Forwarding::kStoreAndForward;
  const auto n = static_cast<std::uint64_t>(nodes);
  const std::uint64_t hot = random.below(n);  // half of the jobs go there: an incast
  for (std::uint64_t i = 0; i < 1 + random.below(30); ++i) {
    NaiveEngine::Job job;
    job.to = static_cast<std::uint32_t>(random.below(4) != 0 ? hot : random.below(n));
    job.from = static_cast<std::uint32_t>((job.to + 1 + random.below(n - 1)) % n);
    job.size = Bytes(static_cast<std::int64_t>(1 + random.below(1ULL << (3 + random.below(18)))));
    job.start = Time::picoseconds(static_cast<std::int64_t>(random.below(20)) * 1'000'000);
    job.traffic_class =
        static_cast<unsigned>(random.below(static_cast<std::uint64_t>(p.classes.count)));
    if (random.below(4) == 0) job.completion = network::Completion::kAcknowledged;
    made.jobs.push_back(job);
  }
  return made;
}

/// Packets are lost on the way, or at the tail of a queue without PFC, and recovered.
inline Case random_lossy_case(std::uint64_t number) {
  Case made = random_case(number);
  base::RandomStream random(number, "losses-against-the-naive-engine");
  FabricProfile& p = made.profile;
  if (random.below(4) != 0) made.faults.drop_probability = 0.2 / (1 << random.below(7));
  p.transport.recovery = static_cast<catalog::LossRecovery>(random.below(3));
  p.transport.timeout_exponent = static_cast<int>(random.below(8));  // 4 us to 0.5 ms
  if (random.below(3) == 0)
    p.transport.window = Bytes(static_cast<std::int64_t>(1 + random.below(200'000)));
  p.pfc.enabled = random.below(2) == 0;
  p.pfc.lossless_classes = static_cast<int>(1 + random.below(3));
  if (!p.pfc.enabled)
    p.switching.buffer = Bytes(static_cast<std::int64_t>(20'000 + random.below(500'000)));
  return made;
}

inline Time random_time(base::RandomStream& random, std::uint64_t below_us) {
  return Time::picoseconds(static_cast<std::int64_t>(random.below(below_us * 1'000'000)));
}

inline void draw_dcqcn(base::RandomStream& random, FabricProfile& p) {
  p.congestion.control = catalog::RdmaCongestionControl::kDcqcn;
  p.ecn.enabled = true;
  p.ecn.pmax = random.uniform();
  p.dcqcn.g = 1.0 / static_cast<double>(2ULL << random.below(8));
  p.dcqcn.alpha_timer = 1_us + random_time(random, 50);
  p.dcqcn.increase_timer = 1_us + random_time(random, 50);
  p.dcqcn.cnp_interval = random_time(random, 50);
  p.dcqcn.decrease_interval = random_time(random, 10);
  p.dcqcn.byte_counter = Bytes(static_cast<std::int64_t>(10'000 + random.below(1'000'000)));
  p.dcqcn.fast_recovery_steps = static_cast<int>(1 + random.below(5));
  p.dcqcn.clamp_target = random.below(2) == 0;
  p.dcqcn.additive_increase = Rate::gigabits_per_second(5 * random.uniform());
  p.dcqcn.hyper_increase = Rate::gigabits_per_second(20 * random.uniform());
}

inline void draw_hpcc(base::RandomStream& random, FabricProfile& p) {
  p.congestion.control = catalog::RdmaCongestionControl::kHpcc;
  p.hpcc.eta = 0.5 + 0.5 * random.uniform();
  p.hpcc.max_stage = static_cast<int>(random.below(6));
  p.hpcc.additive_increase = Bytes(static_cast<std::int64_t>(random.below(2000)));
  if (random.below(2) == 0) p.hpcc.base_rtt = 1_us + random_time(random, 10);
}

inline void draw_ib_congestion(base::RandomStream& random, FabricProfile& p) {
  p.congestion.control = catalog::RdmaCongestionControl::kInfiniBand;
  p.ibcc.threshold = static_cast<int>(1 + random.below(15));
  p.ibcc.marking_rate = static_cast<int>(random.below(8));
  p.ibcc.packet_size = static_cast<int>(random.below(3));
  p.ibcc.victim_mask = random.below(2) == 0;
  p.ibcc.ccti_increase = static_cast<int>(1 + random.below(3));
  p.ibcc.ccti_limit = static_cast<int>(1 + random.below(127));
  p.ibcc.ccti_timer = static_cast<int>(1 + random.below(20));
  p.ibcc.cct_step = random.uniform();
}

/// A congestion control at work; losses, too, in half of the cases.
inline Case random_controlled_case(std::uint64_t number) {
  Case made = number / 4 % 2 == 0 ? random_case(number) : random_lossy_case(number);
  base::RandomStream random(number, "control-against-the-naive-engine");
  FabricProfile& p = made.profile;
  for (NaiveEngine::Job& job : made.jobs) job.size = job.size + 100_KiB;
  if (p.kind == FabricKind::kInfiniBand) {
    draw_ib_congestion(random, p);
  } else if (random.below(2) == 0) {
    draw_dcqcn(random, p);
  } else {
    draw_hpcc(random, p);
  }
  return made;
}

/// What a run comes to: times of delivery, and whether a queue pair gave up and ended it.
struct Played {
  std::vector<Time> done;
  bool gave_up = false;
  network::Counters counters;
  std::uint64_t waits_for_pace = 0;  ///< only the naive engine counts them
};

/// What the cases have met, so that a test can say that they were worth playing.
struct Met {
  std::uint64_t pause_frames = 0;
  std::uint64_t marked = 0;
  std::uint64_t retransmitted = 0;
  std::uint64_t credit_stalls = 0;  ///< cases with any; so those below
  std::uint64_t lossy = 0;
  std::uint64_t timed_out = 0;
  std::uint64_t gave_up = 0;
  std::uint64_t notified = 0;
  std::uint64_t paced = 0;
  std::uint64_t shared = 0;  ///< runs on several threads

  void add(const Played& played) {
    const network::Counters& c = played.counters;
    pause_frames += c.pause_frames;
    marked += c.ecn_marked_packets;
    retransmitted += c.retransmitted_packets;
    credit_stalls += c.credit_stalled > Time() ? 1 : 0;
    lossy += c.dropped_packets > 0 ? 1 : 0;
    timed_out += c.timeouts > 0 ? 1 : 0;
    gave_up += played.gave_up ? 1 : 0;
    notified += c.cnps > 0 ? 1 : 0;
  }
};

inline Played play_naively(const Case& c, std::uint64_t seed) {
  NaiveEngine naive(c.fabric, c.profile, seed, c.faults.drop_probability);
  Played played;
  played.done = naive.run(c.jobs);
  played.gave_up = naive.gave_up;
  played.counters = naive.counters;
  played.waits_for_pace = naive.waits_for_pace;
  return played;
}

inline Played play(const Case& c, std::uint64_t seed, int threads) {
  Played played;
  played.done.resize(c.jobs.size());
  const auto network =
      make_network(c.fabric, c.profile, {3600_gbps, 1_us}, seed, c.faults, threads);
  for (std::size_t i = 0; i < c.jobs.size(); ++i) {
    const NaiveEngine::Job& job = c.jobs[i];
    network->at(job.start, [&, i](Time) {
      network::SendOptions options;
      options.traffic_class = job.traffic_class;
      options.completion = job.completion;
      network->send(Rank(job.from), Rank(job.to), job.size, options,
                    [&played, i](Time now) { played.done[i] = now; });
    });
  }
  try {
    network->run();
  } catch (const base::Error& error) {
    EXPECT_NE(error.message().find("gave up"), std::string::npos) << error.message();
    played.gave_up = true;
  }
  played.counters = network->counters();
  return played;
}

/// Every time and every counter is the same.
inline void expect_equal(const Played& fast, const Played& naive) {
  EXPECT_EQ(fast.gave_up, naive.gave_up);
  for (std::size_t i = 0; i < fast.done.size(); ++i) {
    EXPECT_EQ(fast.done[i].ps(), naive.done[i].ps()) << i;
  }
  const network::Counters& a = fast.counters;
  const network::Counters& b = naive.counters;
  EXPECT_EQ(a.packet_hops, b.packet_hops);
  EXPECT_EQ(a.data_packets, b.data_packets);
  EXPECT_EQ(a.retransmitted_packets, b.retransmitted_packets);
  EXPECT_EQ(a.dropped_packets, b.dropped_packets);
  EXPECT_EQ(a.ecn_marked_packets, b.ecn_marked_packets);
  EXPECT_EQ(a.cnps, b.cnps);
  EXPECT_EQ(a.pause_frames, b.pause_frames);
  EXPECT_EQ(a.timeouts, b.timeouts);
  EXPECT_EQ(a.max_queue_bytes, b.max_queue_bytes);
}

using MakeCase = Case (*)(std::uint64_t number);

/// Both engines agree on cases 1 to `count`, which have met what is returned; stops at the first
/// disagreement. Some of the cases are played on several threads, too.
inline Met expect_agreement_on(MakeCase make, std::uint64_t count) {
  Met met;
  for (std::uint64_t number = 1; number <= count && !::testing::Test::HasFailure(); ++number) {
    SCOPED_TRACE("case " + std::to_string(number));
    const Case c = make(number);
    const Played naive = play_naively(c, number);
    const Played fast = play(c, number, 1);
    expect_equal(fast, naive);
    met.add(fast);
    met.paced += naive.waits_for_pace > 0 ? 1 : 0;
    for (int threads = 2; threads <= 3 && number % 4 == 0; ++threads) {
      if (partition(*c.fabric, static_cast<unsigned>(threads), c.profile.link.phy).parts == 1)
        continue;
      SCOPED_TRACE(std::to_string(threads) + " threads");
      Played shared = play(c, number, threads);
      // The others have run a little further when a queue pair gives up.
      if (naive.gave_up) shared.counters = naive.counters;
      expect_equal(shared, naive);
      ++met.shared;
    }
  }
  return met;
}

/// Cases without loss: topologies, classes, arbitration, PFC, marks, credits.
inline void expect_agreement_without_loss(std::uint64_t count) {
  const Met met = expect_agreement_on(random_case, count);
  EXPECT_GT(met.pause_frames, count / 10);
  EXPECT_GT(met.marked, count / 2);
  EXPECT_GT(met.credit_stalls, count / 10);
  EXPECT_GT(met.shared, count / 5);
}

inline void expect_agreement_with_losses(std::uint64_t count) {
  const Met met = expect_agreement_on(random_lossy_case, count);
  EXPECT_GT(met.lossy, count / 2);
  EXPECT_GT(met.retransmitted, count);
  EXPECT_GT(met.timed_out, count / 10);
  EXPECT_GT(met.gave_up, 0U);
  EXPECT_LT(met.gave_up, count / 10);
  EXPECT_GT(met.shared, count / 5);
}

inline void expect_agreement_with_control(std::uint64_t count) {
  const Met met = expect_agreement_on(random_controlled_case, count);
  EXPECT_GT(met.notified, count / 4);
  EXPECT_GT(met.paced, count / 2);
  EXPECT_GT(met.shared, count / 5);
}

}  // namespace fabricast::packet::testing
