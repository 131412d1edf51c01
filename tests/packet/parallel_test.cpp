// One network on several threads: the same to the last bit as on one.

#include <gtest/gtest.h>

#include "packet/partition.h"
#include "random_traffic.h"

namespace fabricast::packet::testing {
namespace {

/// Everything that a run can tell.
struct Record {
  int threads = 1;
  std::vector<std::int64_t> done_ps;
  std::vector<std::int64_t> counters;
  std::vector<std::int64_t> links;
  std::string error;
};

void expect_equal(const Record& one, const Record& several) {
  EXPECT_EQ(one.error, several.error);
  EXPECT_EQ(one.done_ps, several.done_ps);
  EXPECT_EQ(one.counters, several.counters);
  EXPECT_EQ(one.links, several.links);
}

void note(Record& record, const PacketNetwork& network) {
  const network::Counters c = network.counters();
  for (const std::uint64_t count :
       {c.events, c.packet_hops, c.data_packets, c.retransmitted_packets, c.dropped_packets,
        c.ecn_marked_packets, c.cnps, c.pause_frames, c.timeouts, c.lifetime_discards}) {
    record.counters.push_back(static_cast<std::int64_t>(count));
  }
  for (const std::int64_t amount :
       {c.bytes_sent, c.bytes_delivered, c.paused.ps(), c.credit_stalled.ps(), c.cpu_busy.ps(),
        c.max_queue_bytes, static_cast<std::int64_t>(c.cores)}) {
    record.counters.push_back(amount);
  }
  for (const LinkUse& link : network.links()) {
    for (const std::int64_t amount :
         {link.sent.count(), link.queued.count(), link.max_queued.count(), link.paused.ps(),
          link.stalled.ps()}) {
      record.links.push_back(amount);
    }
  }
}

/// Flows that start at their instant, and each of them, complete, one more from a host that may be
/// anywhere; what the network looks like is noted on the way.
Record play(const RandomScenario& s, std::uint64_t seed, int threads) {
  Record record;
  record.done_ps.resize(2 * s.flows.size());
  const auto network =
      make_network(s.fabric, s.profile, {3600_gbps, 1_us}, seed, s.faults, threads);
  record.threads = network->threads();
  const auto hosts = static_cast<std::uint32_t>(s.fabric->endpoints());
  const auto options = [&](std::size_t i) {
    network::SendOptions o;
    o.traffic_class = s.flows[i].traffic_class;
    o.completion =
        i % 2 == 0 ? network::Completion::kAcknowledged : network::Completion::kDelivered;
    return o;
  };
  const auto then = [&](std::size_t i, Time now) {
    record.done_ps[i] = now.ps();
    if (i % 4 == 0) note(record, *network);
    const std::uint32_t from = (s.flows[i].to + static_cast<std::uint32_t>(i)) % hosts;
    network->send(Rank(from), Rank((from + 1) % hosts), s.flows[i].size, options(i),
                  [&, i](Time at) { record.done_ps[s.flows.size() + i] = at.ps(); });
  };
  for (std::size_t i = 0; i < s.flows.size(); ++i) {
    network->at(s.starts[i], [&, i](Time) {
      network->send(Rank(s.flows[i].from), Rank(s.flows[i].to), s.flows[i].size, options(i),
                    [&, i](Time now) { then(i, now); });
    });
  }
  try {
    network->run();
  } catch (const base::Error& error) {
    record.error = error.message();
  }
  note(record, *network);
  return record;
}

RandomScenario parallel_scenario(FabricKind kind, std::uint64_t number) {
  RandomScenario s = random_scenario(kind, number, false);
  if (number % 3 == 0 && kind != FabricKind::kTcp) {
    s.profile.host.send_overhead = s.profile.host.receive_overhead = Time();
  }
  if (number % 5 == 0 && s.profile.congestion.control != catalog::RdmaCongestionControl::kHpcc) {
    s.faults.drop_probability = 0.002;
    s.profile.transport.timeout_exponent = 6;
  }
  if (number % 4 == 1) s.profile.transport.recovery = catalog::LossRecovery::kSelectiveRepeat;
  return s;
}

void expect_same_on_several_threads(FabricKind kind) {
  int shared = 0;
  for (std::uint64_t number = 1; number <= 60 && !::testing::Test::HasFailure(); ++number) {
    SCOPED_TRACE("scenario " + std::to_string(number));
    const RandomScenario s = parallel_scenario(kind, number);
    const Record one = play(s, number, 1);
    const Record two = play(s, number, 2);
    expect_equal(one, two);
    expect_equal(one, play(s, number, 3));
    shared += two.threads == 2 ? 1 : 0;
  }
  EXPECT_GT(shared, 20);  // the others have a single switch
}

TEST(Parallel, infiniband_is_the_same_on_several_threads) {
  expect_same_on_several_threads(FabricKind::kInfiniBand);
}
TEST(Parallel, roce_is_the_same_on_several_threads) {
  expect_same_on_several_threads(FabricKind::kRoceV2);
}
TEST(Parallel, tcp_is_the_same_on_several_threads) {
  expect_same_on_several_threads(FabricKind::kTcp);
}

// Enough at once that the threads do take turns.
TEST(Parallel, a_busy_fat_tree_is_the_same_on_several_threads) {
  for (const FabricKind kind : {FabricKind::kInfiniBand, FabricKind::kRoceV2, FabricKind::kTcp}) {
    RandomScenario s;
    s.fabric = fat_tree(54, 3);
    s.profile = kind == FabricKind::kInfiniBand ? infiniband()
                : kind == FabricKind::kRoceV2   ? roce()
                                                : tcp();
    s.profile.host.receive_overhead = kind == FabricKind::kTcp ? 200_ns : 0_ns;
    for (std::uint32_t h = 0; h < 54; ++h) {
      s.flows.push_back({h, (h + 27) % 54, 100'000_B});
      s.flows.push_back({h, (h * 7 + 5) % 54 == h ? (h + 1) % 54 : (h * 7 + 5) % 54, 30'000_B});
      s.starts.resize(s.flows.size());
    }
    SCOPED_TRACE(catalog::name_of(kind));
    const Record one = play(s, 1, 1);
    EXPECT_EQ(one.error, "");
    expect_equal(one, play(s, 1, 2));
    const Record four = play(s, 1, 4);
    expect_equal(one, four);
    EXPECT_EQ(four.threads, 4);
  }
}

TEST(Parallel, an_error_is_the_same_on_several_threads) {
  RandomScenario s = random_scenario(FabricKind::kRoceV2, 1, false);
  s.fabric = leaf_spine(8, 2);
  s.flows = {{0, 2, 1_MiB}};
  s.starts = {Time()};
  s.faults.drop_probability = 1;  // nothing gets through
  const Record one = play(s, 1, 1);
  EXPECT_NE(one.error.find("gave up"), std::string::npos) << one.error;
  expect_equal(one, play(s, 1, 2));
}

TEST(Partition, keeps_pods_together_and_cuts_at_the_cores) {
  const auto fabric = fat_tree(54, 3);
  const Partition two = partition(*fabric, 2, 100_ns);
  ASSERT_EQ(two.parts, 2U);
  std::vector<int> hosts(2);
  for (const fabric::Port& port : fabric->ports()) {
    const fabric::Device& from = fabric->device(port.device);
    const fabric::DeviceId other = fabric->port(port.peer).device;
    if (from.tier == 0) {
      ++hosts[two.of(port.device)];
      EXPECT_EQ(two.of(port.device), two.of(other));
    }
    if (two.of(port.device) != two.of(other)) {
      EXPECT_GE(std::max(from.tier, fabric->device(other).tier), 2);
    }
  }
  EXPECT_EQ(hosts[0], 27);
  EXPECT_EQ(hosts[1], 27);
  EXPECT_EQ(two.lookahead, 150_ns);  // 10 m of cable and the PHYs
}

TEST(Partition, has_one_part_where_there_is_one_leaf) {
  EXPECT_EQ(partition(*one_switch(8), 4, 100_ns).parts, 1U);
}

}  // namespace
}  // namespace fabricast::packet::testing
