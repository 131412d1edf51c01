#include "fabric/custom.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "fabric/forwarding.h"
#include "fabric/routes.h"

namespace fabricast::fabric {
namespace {

using namespace base::literals;

/// Switches in a ring, one adapter each.
CustomSpec ring(int switches) {
  CustomSpec spec;
  spec.nic_rate = 200_gbps;
  for (int i = 0; i < switches; ++i) {
    spec.switches.push_back({std::string("s").append(std::to_string(i)), 1});
    spec.cables.push_back({i, (i + 1) % switches, 200_gbps, 10});
    spec.adapters.push_back(i);
  }
  return spec;
}

std::vector<std::string> next_switches(const Fabric& f, int at, int to) {
  std::vector<std::string> names;
  for (const PortId p : f.next_hops(DeviceId(static_cast<std::uint32_t>(at)),
                                    EndpointId(static_cast<std::uint32_t>(to)))) {
    names.push_back(f.device(f.port(f.port(p).peer).device).name);
  }
  return names;
}

std::string refused_key(const CustomSpec& spec) {
  try {
    custom(spec);
  } catch (const base::Error& error) {
    return error.where().key;
  }
  return "";
}

TEST(Custom, SendsByAllShortestPaths) {
  const Fabric f = custom(ring(4));
  EXPECT_EQ(f.endpoints(), 4);
  EXPECT_FALSE(f.routes_given());
  EXPECT_EQ(next_switches(f, 0, 1), std::vector<std::string>{"s1"});
  EXPECT_EQ(next_switches(f, 0, 2), (std::vector<std::string>{"s1", "s3"}));
  EXPECT_EQ(next_switches(f, 0, 0), std::vector<std::string>{"node0/nic0"});
  EXPECT_TRUE(f.connected(EndpointId(0), EndpointId(2)));
}

TEST(Custom, SendsByTheHopsThatAreGivenWhereTheyAre) {
  CustomSpec spec = ring(3);
  for (int at = 0; at < 3; ++at) spec.next_hops.push_back({at, (at + 2) % 3, (at + 1) % 3});
  const Fabric f = custom(spec);
  EXPECT_TRUE(f.routes_given());
  EXPECT_EQ(next_switches(f, 0, 2), std::vector<std::string>{"s1"});
  EXPECT_EQ(next_switches(f, 1, 2), std::vector<std::string>{"s2"});
}

TEST(Custom, GivesEveryCableItsOwnRateAndLength) {
  CustomSpec spec = ring(3);
  spec.cables[0].rate = 50_gbps;
  spec.cables[0].length_m = 100;  // 500 ns
  const Fabric f = custom(spec);
  const Port& port = f.port(f.next_hops(DeviceId(0), EndpointId(1)).front());
  EXPECT_EQ(port.rate, 50_gbps);
  EXPECT_EQ(port.delay, 500_ns);
  EXPECT_EQ(f.port(port.peer).device, DeviceId(1));
}

TEST(Custom, RefusesWhatCannotBeByItsMember) {
  CustomSpec spec = ring(3);
  spec.adapters.push_back(3);
  EXPECT_EQ(refused_key(spec), "adapters");
  spec = ring(3);
  spec.cables.push_back({1, 1, 200_gbps, 10});
  EXPECT_EQ(refused_key(spec), "cables");
  spec = ring(5);
  spec.next_hops = {{0, 2, 3}};  // no cable
  EXPECT_EQ(refused_key(spec), "next_hops");
  spec.next_hops = {{0, 2, 4}, {4, 2, 0}};  // a circle
  EXPECT_EQ(refused_key(spec), "next_hops");
  spec.next_hops = {{0, 1, 4}};  // 4 reaches 1 by 0: a circle through a shortest path
  EXPECT_EQ(refused_key(spec), "next_hops");
}

// Dally and Seitz 1987: shortest paths on a ring of five close a cycle of channels, since every
// switch sends to the one after next by the next; a root breaks it with up*/down*.
TEST(Custom, ARingHasACreditLoopWithMinHopAndNoneWithUpDown) {
  CustomSpec spec = ring(5);
  spec.switches[0].tier = 2;
  const Fabric f = custom(spec);
  const ForwardingTables shortest = forwarding(f, RoutingEngine::kMinHop);
  EXPECT_EQ(credit_loop(f, shortest).size(), 5U);
  const ForwardingTables tree = forwarding(f, RoutingEngine::kUpDown);
  EXPECT_TRUE(all_pairs_reachable(f, tree));
  EXPECT_TRUE(credit_loop(f, tree).empty());
  EXPECT_EQ(forwarding(f, RoutingEngine::kFatTree).engine(), RoutingEngine::kMinHop);
}

TEST(SharedForwarding, IsFilledOncePerEngineAndDamage) {
  const Fabric f = custom(ring(5));
  const auto whole = shared_forwarding(f, RoutingEngine::kMinHop);
  EXPECT_EQ(shared_forwarding(f, RoutingEngine::kMinHop), whole);
  EXPECT_NE(shared_forwarding(f, RoutingEngine::kUpDown), whole);
  const PortId port = f.next_hops(DeviceId(0), EndpointId(1)).front();
  const std::vector<PortId> either{port};
  const std::vector<PortId> both{f.port(port).peer, port};
  const auto damaged = shared_forwarding(f, RoutingEngine::kMinHop, either);
  EXPECT_EQ(shared_forwarding(f, RoutingEngine::kMinHop, both), damaged);
  EXPECT_EQ(path_length(f, *whole, EndpointId(0), EndpointId(1)), 3);
  EXPECT_EQ(path_length(f, *damaged, EndpointId(0), EndpointId(1)), 6);
  const std::vector<Fabric> copies{f};
  EXPECT_EQ(shared_forwarding(copies.front(), RoutingEngine::kMinHop), whole);
}

TEST(SharedForwarding, KeepsTheTablesOfTheWholeFabricWhateverFails) {
  const Fabric f = custom(ring(12));
  const auto whole = shared_forwarding(f, RoutingEngine::kMinHop);
  for (std::uint32_t at = 0; at < 12; ++at) {
    const std::vector<PortId> one{f.next_hops(DeviceId(at), EndpointId((at + 1) % 12)).front()};
    shared_forwarding(f, RoutingEngine::kMinHop, one);
  }
  EXPECT_EQ(shared_forwarding(f, RoutingEngine::kMinHop), whole);
}

}  // namespace
}  // namespace fabricast::fabric
