#pragma once
// Random lossless scenarios for the fast and the naive engine.

#include <gtest/gtest.h>

#include "naive_engine.h"

namespace fabricast::packet::testing {

struct Case {
  std::shared_ptr<const fabric::Fabric> fabric;
  FabricProfile profile;
  std::vector<NaiveEngine::Job> jobs;
};

inline std::shared_ptr<const fabric::Fabric> random_fabric(base::RandomStream& random, int& nodes) {
  const auto per_leaf = static_cast<int>(2 + random.below(4));
  switch (random.below(3)) {
    case 0:
      nodes = 2 + static_cast<int>(random.below(6));
      return one_switch(nodes);
    case 1:
      nodes =
          per_leaf + 1 + static_cast<int>(random.below(2 * static_cast<std::uint64_t>(per_leaf)));
      return leaf_spine(nodes, per_leaf);
    default: {
      fabric::TopologySpec spec = topology(fabric::TopologyKind::kFatTree, 16);
      spec.switch_ports = 4;
      nodes = spec.nodes;
      return std::make_shared<const fabric::Fabric>(fabric::build(spec));
    }
  }
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
  p.paths.qps_per_connection = static_cast<int>(1 + random.below(3));
  p.transport.timeout_exponent = 20;  // a timer that never fires here
  p.transport.ack_every = static_cast<int>(1 + random.below(4));
  p.congestion.control = catalog::RdmaCongestionControl::kNone;
  p.ecn.enabled = random.below(2) == 0;
  p.ecn.kmin = 8_KiB;
  p.ecn.kmax = 200_KiB;
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
  p.switching.buffer = Bytes(900'000 + static_cast<std::int64_t>(random.below(300'000)));
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
    made.jobs.push_back(job);
  }
  return made;
}

/// What the cases have met, so that a test can say that they were worth playing.
struct Met {
  std::uint64_t pause_frames = 0;
  std::uint64_t marked = 0;
  std::uint64_t credit_stalls = 0;  ///< cases with any
};

/// Both engines agree on case `number`: every time and every counter.
inline void expect_agreement(std::uint64_t number, Met& met) {
  SCOPED_TRACE("case " + std::to_string(number));
  const Case c = random_case(number);
  NaiveEngine naive(c.fabric, c.profile, number);
  const std::vector<Time> expected = naive.run(c.jobs);

  std::vector<Time> done(c.jobs.size());
  const auto network = network_on(c.fabric, c.profile, number);
  for (std::size_t i = 0; i < c.jobs.size(); ++i) {
    const NaiveEngine::Job& job = c.jobs[i];
    network->at(job.start, [&, i](Time) {
      network->send(Rank(job.from), Rank(job.to), job.size, {.traffic_class = job.traffic_class},
                    [&done, i](Time now) { done[i] = now; });
    });
  }
  network->run();
  for (std::size_t i = 0; i < done.size(); ++i) EXPECT_EQ(done[i].ps(), expected[i].ps()) << i;
  const network::Counters counters = network->counters();
  EXPECT_EQ(counters.packet_hops, naive.packet_hops);
  EXPECT_EQ(counters.data_packets, naive.data_packets);
  EXPECT_EQ(counters.ecn_marked_packets, naive.marked);
  EXPECT_EQ(counters.pause_frames, naive.pause_frames);
  EXPECT_EQ(counters.max_queue_bytes, naive.max_queue);
  met.pause_frames += counters.pause_frames;
  met.marked += counters.ecn_marked_packets;
  met.credit_stalls += counters.credit_stalled > Time() ? 1 : 0;
}

/// Cases 1 to `count`; stops at the first disagreement.
inline void expect_agreement_on(std::uint64_t count) {
  Met met;
  for (std::uint64_t number = 1; number <= count && !::testing::Test::HasFailure(); ++number) {
    expect_agreement(number, met);
  }
  EXPECT_GT(met.pause_frames, count / 10);
  EXPECT_GT(met.marked, count / 2);
  EXPECT_GT(met.credit_stalls, count / 10);
}

}  // namespace fabricast::packet::testing
