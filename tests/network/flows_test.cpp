#include "network/flows.h"

#include <gtest/gtest.h>

#include "fake_network.h"

namespace fabricast::network {
namespace {

using base::Bytes;
using base::Rank;
using base::Time;
using namespace base::literals;

std::shared_ptr<const fabric::Fabric> hosts(int nodes) {
  fabric::TopologySpec spec;
  spec.kind = fabric::TopologyKind::kSingleSwitch;
  spec.nodes = nodes;
  spec.gpus_per_node = 1;
  spec.nics_per_node = 1;
  spec.nic_rate = 200_gbps;
  spec.switch_ports = 36;
  spec.switch_rate = 200_gbps;
  return std::make_shared<const fabric::Fabric>(fabric::build(spec));
}

// 25 bytes a nanosecond and 1 us of latency.
TEST(Flows, StartOnTimeOrAfterTheOneTheyDependOn) {
  const auto fabric = hosts(4);
  FakeNetwork network(*fabric, 1_us);
  const std::vector<Flow> flows = {{Rank(0), Rank(1), Bytes(25'000), 5_us},
                                   {Rank(1), Rank(2), Bytes(50'000), 3_us, 0, 0},
                                   {Rank(2), Rank(3), Bytes(25), {}, 0, 1}};
  std::vector<std::size_t> order;
  const auto times = run_flows(network, flows, [&](std::size_t i) { order.push_back(i); });
  EXPECT_EQ(times[0].started, 5_us);
  EXPECT_EQ(times[0].completed, 7_us);
  EXPECT_EQ(times[1].started, 10_us);
  EXPECT_EQ(times[1].completed, 13_us);
  EXPECT_EQ(times[2].started, 13_us);
  EXPECT_EQ(times[2].completed, 14_us + 1_ns);
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2}));
}

TEST(Flows, HaveConnectionsOfTheirOwn) {
  const auto fabric = hosts(2);
  FakeNetwork network(*fabric, 1_us);
  run_flows(network, {{Rank(0), Rank(1), 1_KiB, {}}, {Rank(0), Rank(1), 1_KiB, {}}});
  ASSERT_EQ(network.messages.size(), 2U);
  EXPECT_NE(network.messages[0].channel, network.messages[1].channel);
}

TEST(Flows, AreIdealAloneWhateverElseIsSent) {
  const auto fabric = hosts(4);
  const Factory make = [&](std::uint64_t) { return std::make_unique<FakeNetwork>(*fabric, 1_us); };
  const std::vector<Flow> flows = {{Rank(0), Rank(1), Bytes(25'000), 5_us},
                                   {Rank(0), Rank(2), Bytes(25'000), 5_us},
                                   {Rank(3), Rank(2), Bytes(250), 0_us, 0, 1}};
  EXPECT_EQ(ideal_times(make, *fabric, flows, 1), (std::vector<Time>{2_us, 2_us, 1_us + 10_ns}));
}

}  // namespace
}  // namespace fabricast::network
