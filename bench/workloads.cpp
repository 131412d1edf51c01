#include "workloads.h"

#include <algorithm>
#include <chrono>

#include "packet/packet_network.h"

namespace fabricast::bench {

namespace {

using base::Bytes;
using base::Rank;
using base::Time;
using namespace base::literals;

std::unique_ptr<network::Network> network_of(const catalog::FabricProfile& profile,
                                             std::shared_ptr<const fabric::Fabric> fabric,
                                             Variant variant) {
  return packet::make_network(std::move(fabric), profile, {3600_gbps, 1_us}, variant.seed, {},
                              variant.threads);
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Outcome run(network::Network& network, std::vector<double> completion_us) {
  const auto begin = std::chrono::steady_clock::now();
  network.run();
  Outcome outcome;
  outcome.wall_s = seconds_since(begin);
  outcome.counters = network.counters();
  outcome.last_us = network.now().us();
  outcome.completion_us = std::move(completion_us);
  return outcome;
}

}  // namespace

std::shared_ptr<const fabric::Fabric> fat_tree(int ports_per_switch, int hosts, base::Rate rate) {
  fabric::TopologySpec spec;
  spec.kind = fabric::TopologyKind::kFatTree;
  spec.nodes = hosts;
  spec.gpus_per_node = 1;
  spec.nics_per_node = 1;
  spec.nic_rate = rate;
  spec.switch_ports = ports_per_switch;
  spec.switch_rate = rate;
  spec.cable_m = 200;
  spec.cable_ns_per_m = 5;
  return std::make_shared<const fabric::Fabric>(fabric::build(spec));
}

catalog::FabricProfile profile(Congestion congestion) {
  catalog::FabricProfile p;
  p.id = p.name = "bench";
  p.kind = catalog::FabricKind::kRoceV2;
  p.link.mtu = 4096_B;
  p.link.header = 64_B;
  p.link.ack = 64_B;
  p.switching.forwarding = catalog::Forwarding::kStoreAndForward;
  p.switching.buffer = Bytes(32'000'000);
  p.paths.routing = catalog::Routing::kEcmp;
  p.transport.ack_every = 1;
  p.pfc.enabled = true;
  p.pfc.alpha = 1.0 / 8;
  p.pfc.xon_offset = 3 * 4160_B;
  p.pfc.headroom_computed = false;
  p.pfc.headroom = Bytes(37'500);
  if (congestion.dcqcn) {
    p.ecn.enabled = true;
    p.congestion.control = catalog::RdmaCongestionControl::kDcqcn;
    p.ecn.kmin = Bytes(400'000);
    p.ecn.kmax = Bytes(1'600'000);
    p.ecn.pmax = 0.2;
    p.dcqcn.g = 1.0 / 256;
    p.dcqcn.alpha_timer = 1_us;
    p.dcqcn.decrease_interval = 4_us;
    p.dcqcn.increase_timer = 300_us;
    p.dcqcn.cnp_interval = 4_us;
    p.dcqcn.byte_counter = 0_B;  // the timer alone
    p.dcqcn.fast_recovery_steps = 1;
    p.dcqcn.additive_increase = 20_mbps;
    p.dcqcn.hyper_increase = 200_mbps;
    p.dcqcn.minimum_rate = 100_mbps;
    p.dcqcn.clamp_target = false;  // CLAMP_TARGET_RATE 0
  }
  return p;
}

catalog::FabricProfile htsim_profile() {
  catalog::FabricProfile p = profile({});
  const double pool = static_cast<double>(p.switching.buffer.count() - 8 * p.pfc.headroom.count());
  p.pfc.alpha = 15 * 4160 / pool;  // of a pool that is hardly used
  return p;
}

catalog::FabricProfile ns3_profile(Congestion congestion) {
  catalog::FabricProfile p = profile(congestion);
  p.link.header = 48_B;
  p.link.ack = 60_B;
  p.pfc.xon_offset = 3_KiB;
  p.transport.acks_first = true;
  return p;
}

Outcome permutation(const catalog::FabricProfile& profile, std::shared_ptr<const fabric::Fabric> on,
                    Bytes bytes, Variant variant) {
  const auto begin = std::chrono::steady_clock::now();
  const auto hosts = static_cast<std::uint32_t>(on->gpus());
  const auto network = network_of(profile, std::move(on), variant);
  const auto done = std::make_shared<std::vector<double>>(hosts);
  for (std::uint32_t h = 0; h < hosts; ++h) {
    network->send(Rank(h), Rank((h + hosts / 2) % hosts), bytes, {.completion = variant.completion},
                  [done, h](Time now) { (*done)[h] = now.us(); });
  }
  const double set_up_s = seconds_since(begin);
  Outcome outcome = run(*network, {});
  outcome.set_up_s = set_up_s;
  outcome.completion_us = *done;
  return outcome;
}

Outcome incast(const catalog::FabricProfile& profile, Bytes bytes, Variant variant) {
  const auto network = network_of(profile, fat_tree(8, 128), variant);
  const auto done = std::make_shared<std::vector<double>>(64);
  for (std::uint32_t i = 0; i < 64; ++i) {
    network->send(Rank(64 + i), Rank(0), bytes, {.completion = variant.completion},
                  [done, i](Time now) { (*done)[i] = now.us(); });
  }
  Outcome outcome = run(*network, {});
  outcome.completion_us = *done;
  return outcome;
}

namespace {

constexpr std::uint32_t kRing = 128;

struct Ring {
  network::Network& network;
  Bytes chunk;
  std::vector<double> step_us;

  void start(std::uint32_t c, std::uint32_t step) {
    if (step == 2 * (kRing - 1)) return;
    const Time begin = network.now();
    network.send(Rank((c + step) % kRing), Rank((c + step + 1) % kRing), chunk,
                 {.completion = network::Completion::kAcknowledged},
                 [this, c, step, begin](Time now) {
                   step_us.push_back((now - begin).us());
                   start(c, step + 1);
                 });
  }
};

}  // namespace

Outcome ring(const catalog::FabricProfile& profile, Bytes chunk) {
  const auto network = network_of(profile, fat_tree(8, 128), {});
  Ring state{*network, chunk, {}};
  for (std::uint32_t c = 0; c < kRing; ++c) state.start(c, 0);
  Outcome outcome = run(*network, {});
  outcome.completion_us = std::move(state.step_us);
  return outcome;
}

}  // namespace fabricast::bench
