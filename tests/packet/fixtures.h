#pragma once
// Small fabrics and plain profiles with round numbers, so that expected values can be worked out by
// hand.

#include <memory>
#include <utility>
#include <vector>

#include "fabric/fabric.h"
#include "packet/packet_network.h"

namespace fabricast::packet::testing {

using base::Bytes;
using base::Rank;
using base::Rate;
using base::Time;
using namespace base::literals;
using catalog::FabricKind;
using catalog::FabricProfile;

inline FabricProfile common_profile() {
  FabricProfile p;
  p.link.mtu = 4096_B;
  p.link.phy = 100_ns;
  p.switching.latency = 300_ns;
  p.host.send_overhead = 400_ns;
  p.host.receive_overhead = 200_ns;
  p.transport.ack_every = 1;
  p.transport.timeout_exponent = 10;  // 4.2 ms
  return p;
}

inline FabricProfile infiniband() {
  FabricProfile p = common_profile();
  p.id = p.name = "infiniband";
  p.kind = FabricKind::kInfiniBand;
  p.link.header = 30_B;
  p.link.ack = 30_B;
  p.paths.routing = catalog::Routing::kStatic;
  p.credits.vl_buffer = 64_KiB;
  return p;
}

inline FabricProfile roce() {
  FabricProfile p = common_profile();
  p.id = p.name = "roce-v2";
  p.kind = FabricKind::kRoceV2;
  p.link.header = 82_B;
  p.link.ack = 86_B;
  p.paths.routing = catalog::Routing::kEcmp;
  p.switching.buffer = Bytes(16'000'000);
  p.pfc.enabled = true;
  p.pfc.alpha = 0.125;
  p.pfc.xon_offset = 8_KiB;
  p.ecn.enabled = true;
  p.ecn.kmin = Bytes(150'000);
  p.ecn.kmax = Bytes(1'500'000);
  p.ecn.pmax = 0.1;
  p.congestion.control = catalog::RdmaCongestionControl::kDcqcn;
  p.dcqcn.g = 1.0 / 256;
  p.dcqcn.alpha_timer = 55_us;
  p.dcqcn.increase_timer = 55_us;
  p.dcqcn.cnp_interval = 50_us;
  p.dcqcn.decrease_interval = 4_us;
  p.dcqcn.byte_counter = Bytes(10'000'000);
  p.dcqcn.fast_recovery_steps = 5;
  p.dcqcn.additive_increase = 40_mbps;
  p.dcqcn.hyper_increase = 400_mbps;
  p.dcqcn.minimum_rate = 100_mbps;
  return p;
}

/// DCQCN as in its paper (Zhu et al., SIGCOMM 2015): packets of 1 KB, switches of 12 MB, Kmin 5 KB,
/// Kmax 200 KB; the paper's Pmax is 1 %.
inline FabricProfile dcqcn_paper(double pmax = 0.01) {
  FabricProfile p = roce();
  p.link.mtu = 1024_B;
  p.switching.buffer = Bytes(12'000'000);
  p.ecn.kmin = Bytes(5'000);
  p.ecn.kmax = Bytes(200'000);
  p.ecn.pmax = pmax;
  return p;
}

inline FabricProfile tcp() {
  FabricProfile p = common_profile();
  p.id = p.name = "tcp";
  p.kind = FabricKind::kTcp;
  p.link.mtu = 8948_B;
  p.link.header = 90_B;
  p.link.ack = 90_B;
  p.paths.routing = catalog::Routing::kEcmp;
  p.switching.buffer = Bytes(16'000'000);
  p.transport.ack_every = 2;
  p.ecn.kmin = p.ecn.kmax = Bytes(200'000);
  p.ecn.pmax = 1;
  p.tcp.initial_window = 10;
  p.tcp.receive_window = Bytes(6'000'000);
  p.tcp.minimum_rto = 200_ms;
  p.tcp.streams_per_connection = 1;
  p.tcp.cores_per_nic = 1;
  p.tcp.cpu_per_packet = 800_ns;
  p.tcp.cpu_ns_per_byte = 0.1;
  p.tcp.interrupt_delay = 10_us;
  p.tcp.queue_alpha = 1;
  return p;
}

inline fabric::TopologySpec topology(fabric::TopologyKind kind, int nodes) {
  fabric::TopologySpec spec;
  spec.kind = kind;
  spec.nodes = nodes;
  spec.gpus_per_node = 1;
  spec.nics_per_node = 1;
  spec.nic_rate = 200_gbps;
  spec.switch_ports = 36;
  spec.switch_rate = 200_gbps;
  spec.cable_m = 10;
  spec.cable_ns_per_m = 5;  // 50 ns
  return spec;
}

inline std::shared_ptr<const fabric::Fabric> one_switch(int nodes) {
  return std::make_shared<const fabric::Fabric>(
      fabric::build(topology(fabric::TopologyKind::kSingleSwitch, nodes)));
}

/// Leaves of `per_leaf` nodes with as many uplinks.
inline std::shared_ptr<const fabric::Fabric> leaf_spine(int nodes, int per_leaf) {
  fabric::TopologySpec spec = topology(fabric::TopologyKind::kLeafSpine, nodes);
  spec.switch_ports = 2 * per_leaf;
  spec.nodes_per_leaf = per_leaf;
  return std::make_shared<const fabric::Fabric>(fabric::build(spec));
}

inline std::unique_ptr<PacketNetwork> network_on(std::shared_ptr<const fabric::Fabric> fabric,
                                                 const FabricProfile& profile,
                                                 std::uint64_t seed = 1,
                                                 const Faults& faults = {}) {
  return make_network(std::move(fabric), profile, {3600_gbps, 1_us}, seed, faults);
}

struct Flow {
  std::uint32_t from;
  std::uint32_t to;
  Bytes size;
  unsigned traffic_class = 0;
};

/// Sends every flow at time 0 and returns when each was delivered.
inline std::vector<Time> completion_times(network::Network& network,
                                          const std::vector<Flow>& flows) {
  std::vector<Time> done(flows.size());
  for (std::size_t i = 0; i < flows.size(); ++i) {
    network::SendOptions options;
    options.traffic_class = flows[i].traffic_class;
    network.send(Rank(flows[i].from), Rank(flows[i].to), flows[i].size, options,
                 [&done, i](Time now) { done[i] = now; });
  }
  network.run();
  return done;
}

/// Many to one: nodes 1..senders send `size` each to node 0.
inline std::vector<Flow> incast(std::uint32_t senders, Bytes size) {
  std::vector<Flow> flows;
  for (std::uint32_t i = 1; i <= senders; ++i) flows.push_back({i, 0, size});
  return flows;
}

}  // namespace fabricast::packet::testing
