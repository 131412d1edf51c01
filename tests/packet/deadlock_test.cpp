// A ring of switches whose packets all go two switches clockwise: every link's packets wait for the
// next link's buffer, the textbook cyclic dependency (Dally and Seitz 1987; for PFC: Hu et al.,
// "Deadlocks in Datacenter Networks", HotNets 2016).

#include <string>

#include <gtest/gtest.h>

#include "base/error.h"
#include "fabric/custom.h"
#include "fixtures.h"

namespace fabricast::packet {
namespace {

using namespace testing;

/// Adapters at each switch of a ring; with given hops packets go round clockwise.
std::shared_ptr<const fabric::Fabric> ring(int switches, bool clockwise, std::size_t adapters = 2) {
  fabric::CustomSpec spec;
  spec.nic_rate = 200_gbps;
  for (int i = 0; i < switches; ++i) {
    spec.switches.push_back({std::string("s").append(std::to_string(i)), i == 0 ? 2 : 1});
    spec.cables.push_back({i, (i + 1) % switches, 200_gbps, 10});
    spec.adapters.insert(spec.adapters.end(), adapters, i);
    if (!clockwise) continue;
    for (int to = 2; to < switches; ++to) {
      spec.next_hops.push_back({i, (i + to) % switches, (i + 1) % switches});
    }
  }
  return std::make_shared<const fabric::Fabric>(fabric::custom(spec));
}

/// Every adapter to its counterpart two switches on.
std::vector<Flow> two_on(std::uint32_t switches, Bytes size) {
  std::vector<Flow> flows;
  for (std::uint32_t i = 0; i < 2 * switches; ++i)
    flows.push_back({i, (i + 4) % (2 * switches), size});
  return flows;
}

FabricProfile priority_paused() {
  FabricProfile p = roce();
  p.ecn.enabled = false;
  p.congestion.control = catalog::RdmaCongestionControl::kNone;
  p.switching.buffer = Bytes(400'000);
  p.transport.timeout_exponent = 8;  // 1 ms
  return p;
}

std::string error_of(network::Network& network, const std::vector<Flow>& flows) {
  try {
    completion_times(network, flows);
  } catch (const base::Error& error) {
    return error.message();
  }
  return "";
}

/// The message names the cycle, each port once and the first again at its end.
void expect_cycle(const std::string& message, int switches) {
  EXPECT_NE(message.find("cyclic buffer dependency"), std::string::npos) << message;
  for (int i = 0; i < switches; ++i) {
    // Ports 0 and 1 are adapters; the cable to the next switch is the first of those added, but
    // for the last switch, whose cable to the one before it came earlier.
    std::string port("s");
    port.append(std::to_string(i)).append(i == 0 ? ":2 waits for" : ":3 waits for");
    EXPECT_NE(message.find(port), std::string::npos) << port << " in: " << message;
  }
}

/// On one thread and on two.
void expect_deadlock(int switches, const FabricProfile& profile) {
  for (const int threads : {1, 2}) {
    const auto network =
        make_network(ring(switches, true), profile, {3600_gbps, 1_us}, 1, {}, threads);
    expect_cycle(error_of(*network, two_on(static_cast<std::uint32_t>(switches), 4_MiB)), switches);
  }
}

TEST(Deadlock, OfPfcIsReportedWithItsCycle) {
  for (const int n : {3, 4}) expect_deadlock(n, priority_paused());
}

TEST(Deadlock, OfCreditsIsReportedWithItsCycle) {
  FabricProfile p = infiniband();
  p.transport.timeout_exponent = 8;
  for (const int n : {3, 4}) expect_deadlock(n, p);
}

// The same from tables that OpenSM fills: minhop on a ring of five has one shortest path to the
// switch after next, and every switch takes it.
TEST(Deadlock, FollowsFromMinHopOnARingAndNotFromUpDown) {
  FabricProfile p = infiniband();
  p.transport.timeout_exponent = 8;
  p.paths.engine = catalog::SubnetRouting::kMinHop;
  auto network = network_on(ring(5, false), p);
  expect_cycle(error_of(*network, two_on(5, 4_MiB)), 5);
  p.paths.engine = catalog::SubnetRouting::kUpDown;
  auto tree = network_on(ring(5, false), p);
  EXPECT_EQ(error_of(*tree, two_on(5, 4_MiB)), "");
  EXPECT_EQ(tree->counters().dropped_packets, 0U);
}

/// One adapter per switch sends 1 MiB two switches on, each 10 us after the one before it: enough
/// to fill the ring, and each time that it is freed some get through before it is full again.
/// (Started at once, with two adapters per switch, it is full before the first packet has arrived,
/// every time anew, and retries are used up: what breaks a deadlock does not take its cause away.)
network::Counters counters_after_staggered_starts(const FabricProfile& p, int switches) {
  auto network = network_on(ring(switches, true, 1), p);
  for (int i = 0; i < switches; ++i) {
    network->at(10_us * i, [&, i](Time) {
      const auto from = static_cast<std::uint32_t>(i);
      const auto to = static_cast<std::uint32_t>((i + 2) % switches);
      network->send(Rank(from), Rank(to), 1_MiB, {}, {});
    });
  }
  network->run();
  EXPECT_EQ(network->counters().bytes_delivered, switches * (1_MiB).count());
  return network->counters();
}

TEST(Deadlock, OfPfcIsBrokenByTheWatchdog) {
  FabricProfile p = priority_paused();
  p.pfc.watchdog_detect = 100_us;
  p.pfc.watchdog_restore = 100_us;
  EXPECT_THROW(counters_after_staggered_starts(p, 3), base::Error);
  p.pfc.watchdog = true;
  EXPECT_GT(counters_after_staggered_starts(p, 3).watchdog_trips, 0U);
}

TEST(Deadlock, OfCreditsIsBrokenByTheHoqLifetime) {
  FabricProfile p = infiniband();
  p.transport.timeout_exponent = 8;
  for (const int n : {3, 4}) {
    p.credits.hoq_lifetime_exponent = 20;
    EXPECT_THROW(counters_after_staggered_starts(p, n), base::Error);
    p.credits.hoq_lifetime_exponent = 4;  // 66 us
    EXPECT_GT(counters_after_staggered_starts(p, n).lifetime_discards, 0U);
  }
}

// Two classes on one ring: the one whose packets stand still is named, though the other flows.
TEST(Deadlock, IsAMatterOfOneClass) {
  FabricProfile p = priority_paused();
  p.classes.count = p.pfc.lossless_classes = 2;
  p.switching.buffer = Bytes(600'000);
  auto network = network_on(ring(4, true), p);
  std::vector<Flow> flows = two_on(4, 4_MiB);
  for (std::uint32_t i = 0; i < 8; ++i) flows.push_back({i, (i + 2) % 8, 1_MiB, 1});
  Time last;
  std::size_t arrived = 0;
  for (const Flow& flow : flows) {
    network::SendOptions options;
    options.traffic_class = flow.traffic_class;
    network->send(Rank(flow.from), Rank(flow.to), flow.size, options, [&](Time now) {
      last = now;
      ++arrived;
    });
  }
  EXPECT_THROW(network->run(), base::Error);
  EXPECT_GE(arrived, 8U) << "the other class goes one switch on, and arrives";
}

}  // namespace
}  // namespace fabricast::packet
