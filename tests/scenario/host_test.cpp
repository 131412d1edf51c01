// Host settings as links that payload crosses. Bytes on a PCIe link per byte of payload, by the
// model of Neugebauer et al., SIGCOMM 2018, with packets of 256 bytes and requests for 512:
//   write 1 + 24/256, completion 1 + 20/256, request 24/512.

#include "fabric/host.h"

#include <gtest/gtest.h>

#include "examples.h"

namespace fabricast::scenario {
namespace {

using testing::accepted;
using testing::changed;
using testing::full_example;
using testing::not_simulated;
using testing::refusal;

constexpr double kWrite = 1 + 24.0 / 256;
constexpr double kCompletion = 1 + 20.0 / 256;
constexpr double kRequest = 24.0 / 512;
// The same in packets of 64 bytes, which Intel's root complex makes of peer-to-peer traffic.
constexpr double kPeerWrite = 1 + 24.0 / 64;
constexpr double kPeerCompletion = 1 + 20.0 / 64;

/// Gb/s for packets of 16 lanes: 128/130 coding and 57.88 of 62.96 left by the data link layer.
double packets_gbps(double gigatransfers) {
  return gigatransfers * 16 * 128 / 130 * 0.9193;
}

/// Of fabric number `fabric` with these host settings in place of the example's.
fabric::HostLinks links(const std::string& host, const std::string& nic_gbps = "200",
                        std::size_t fabric = 0) {
  const std::string text =
      changed(changed(full_example(), "nic_gbps: 200", "nic_gbps: " + nic_gbps),
              "{ pcie: gen5-x16, gpudirect: true, acs: false, nic_affinity: pix }", host);
  EXPECT_EQ(not_simulated(text), "accepted") << host;
  return accepted(text).fabrics[fabric].topology.host;
}

double limit_gbps(const fabric::HostLinks& host) {
  const auto least = fabric::limit(host);
  return least ? least->rate.gbps() : 0;
}

TEST(Host, Defaults_hold_nothing_back) {
  EXPECT_EQ(fabric::digest(links("{}")), fabric::digest({}));
  EXPECT_TRUE(links("{}").ways.empty());
}

// What is sold together fits: 100 Gb/s in Gen 3, 200 in Gen 4, 400 in Gen 5, 800 in Gen 6, x16.
TEST(Host, A_slot_of_its_adapters_generation_suffices) {
  EXPECT_TRUE(links("{pcie: gen3-x16}", "100").ways.empty());
  EXPECT_TRUE(links("{pcie: gen4-x16}", "200").ways.empty());
  EXPECT_TRUE(links("{pcie: gen5-x16}", "400").ways.empty());
  EXPECT_TRUE(links("{pcie: gen5-x8}", "200").ways.empty());
}

TEST(Host, A_slower_slot_is_shared_by_writes_and_the_requests_of_reads) {
  const fabric::HostLinks host = links("{pcie: gen4-x16}", "400");
  ASSERT_EQ(host.ways.size(), 8U);
  EXPECT_EQ(host.links.size(), 16U) << "each adapter has a slot of its own, two directions";
  EXPECT_NEAR(limit_gbps(host), packets_gbps(16) / (kWrite + kRequest), 0.01);  // 203 Gb/s
  EXPECT_EQ(fabric::limit(host)->link, fabric::HostLinkKind::kSlot);
  EXPECT_EQ(host.send_latency, base::Time());
  EXPECT_EQ(host.receive_buffer.count(), 130'944);
}

// 64 GT/s in flits, 236 bytes of 256 for packets; headers of 16 and 12 bytes alone.
TEST(Host, Generation_six_has_no_framing_around_packets) {
  const catalog::Slot& slot = testing::known().slot("gen6-x16");
  EXPECT_DOUBLE_EQ(slot.packets_gbps(16), 64.0 * 16 * 236 / 256);
  EXPECT_EQ(slot.write_overhead_b, 16);
}

TEST(Host, Small_packets_waste_a_slot) {
  const fabric::HostLinks host = links("{max_payload_b: 128}", "400");
  EXPECT_NEAR(limit_gbps(host), packets_gbps(32) / (1 + 24.0 / 128 + kRequest), 0.01);
  EXPECT_TRUE(links("{max_payload_b: 512}", "400").ways.empty());
}

// NVIDIA/nccl issues 700 and 949: about half of 200 Gb/s with ACS on A100 servers of Gen 4. With
// one adapter to a switch both directions pass its uplink, up and down again.
TEST(Host, Acs_sends_both_directions_up_and_down_the_uplink) {
  const std::string a100 =
      changed(changed(full_example(), "nics_per_node: 8", "nics_per_node: 4"),
              "{ pcie: gen5-x16, gpudirect: true, acs: false,", "{ pcie: gen4-x16, acs: true,");
  const auto host_of = [](const std::string& text) {
    return accepted(text).fabrics[1].topology.host;
  };
  const double xeon = limit_gbps(host_of(a100));
  const double epyc =
      limit_gbps(host_of(changed(a100, "acs: true", "acs: true, server: dual-epyc")));
  EXPECT_NEAR(xeon, packets_gbps(16) / (kPeerCompletion + kPeerWrite + kRequest), 0.01);
  EXPECT_NEAR(epyc, packets_gbps(16) / (kCompletion + kWrite + kRequest), 0.01);
  // 80 Gb/s of 200 (700) and 27 of 48 GB/s (949) were measured.
  EXPECT_NEAR(xeon / 200, 0.42, 0.01);
  EXPECT_NEAR(epyc / 196, 0.53, 0.01);
}

TEST(Host, Adapters_under_one_switch_share_its_uplink) {
  const fabric::HostLinks host = links("{acs: true}");
  EXPECT_EQ(fabric::limit(host)->link, fabric::HostLinkKind::kUplink);
  EXPECT_NEAR(limit_gbps(host), packets_gbps(32) / (2 * (kPeerCompletion + kPeerWrite + kRequest)),
              0.01);
  EXPECT_EQ(host.links.size(), 8U) << "four switches, up and down";
  EXPECT_EQ(host.ways[0].send[0].link, host.ways[1].send[0].link);
  EXPECT_NE(host.ways[1].send[0].link, host.ways[2].send[0].link);
  // One more way through the switch and one through the root complex; a read goes there and back.
  EXPECT_EQ(host.receive_latency.ps(), 115'000 + 270'000);
  EXPECT_EQ(host.send_latency, host.receive_latency * 2);
}

// NVIDIA/nccl issue 465: 6 GB/s of 12 over 100 Gb/s without GPUDirect; the adapter and its GPU are
// under one switch. The copy to memory and the adapter's read pass the uplink, in either direction.
TEST(Host, Without_gpudirect_every_byte_passes_the_uplink_twice) {
  const std::string text = changed(changed(full_example(), "nics_per_node: 8", "nics_per_node: 4"),
                                   "nic_gbps: 200", "nic_gbps: 100");
  const std::string slow =
      changed(text, "{ pcie: gen5-x16, gpudirect: true,", "{ pcie: gen3-x16, gpudirect: false,");
  const fabric::HostLinks host = accepted(slow).fabrics[0].topology.host;
  const double expected = packets_gbps(8) / (2 * (kWrite + kRequest));
  EXPECT_NEAR(limit_gbps(host), expected, 0.01);
  EXPECT_NEAR(expected / 8, 6.3, 0.1);
  EXPECT_EQ(host.copy_chunk.count(), 512 << 10);
  EXPECT_NEAR(host.copy_rate.gbps(), packets_gbps(8) / kWrite, 0.01);
  // 1 us and the bytes of one chunk at most.
  const double chunk_us = 8.0 * (512 << 10) / host.copy_rate.gbps() * 1e-3;
  EXPECT_NEAR(host.copy_time(base::Bytes(8 << 20)).us(), 1 + chunk_us, 1e-3);
  EXPECT_NEAR(host.copy_time(base::Bytes(0)).us(), 1, 1e-6);
  EXPECT_EQ(host.send_latency, base::Time());
}

TEST(Host, Memory_serves_a_write_and_a_read_for_each_staged_byte) {
  // Beyond the switches only the copy passes the uplink; 4 adapters to a socket of 307.2 GB/s, of
  // which 80 % can be used.
  const fabric::HostLinks host = links("{gpudirect: false, nic_affinity: phb}", "400");
  double memory = 0;
  for (const fabric::HostLink& link : host.links) {
    if (link.kind == fabric::HostLinkKind::kMemory) memory = link.rate.gbps();
  }
  EXPECT_NEAR(memory, 8 * 307.2 * 0.8, 0.01);
  EXPECT_NEAR(limit_gbps(host), memory / (4 * (2 + 2)), 0.01);
  EXPECT_EQ(fabric::limit(host)->link, fabric::HostLinkKind::kMemory);
}

TEST(Host, Distance_costs_latency_and_a_read_goes_there_and_back) {
  const auto latency_ns = [](const std::string& affinity) {
    const fabric::HostLinks host = links("{nic_affinity: " + affinity + "}", "100");
    EXPECT_EQ(host.send_latency, host.receive_latency * 2) << affinity;
    return host.receive_latency.ps() / 1000;
  };
  EXPECT_EQ(latency_ns("pix"), 0);
  EXPECT_EQ(latency_ns("pxb"), 115);
  EXPECT_EQ(latency_ns("phb"), 270);
  EXPECT_EQ(latency_ns("node"), 270 + 25);
  EXPECT_EQ(latency_ns("sys"), 270 + 50);
}

// NCCL's SRP_QPI_BW: 22 GB/s per direction. Eight adapters send and receive across it, four of the
// sends and four of the receives in each direction.
TEST(Host, The_other_socket_is_reached_over_one_link) {
  const fabric::HostLinks host = links("{nic_affinity: sys}");
  EXPECT_EQ(fabric::limit(host)->link, fabric::HostLinkKind::kSockets);
  EXPECT_NEAR(limit_gbps(host), 8 * 22.0 / 8, 0.01);
  EXPECT_NE(host.ways[0].send.back().link, host.ways[0].receive.back().link);
  EXPECT_EQ(host.ways[0].send.back().link, host.ways[7].receive.back().link);
}

// The kernel's TCP passes host memory whatever the GPU can do; its profile has that in its figures.
TEST(Host, Tcp_knows_the_slot_and_the_sockets_alone) {
  const std::size_t tcp = 2;
  EXPECT_TRUE(links("{gpudirect: false, acs: true}", "200", tcp).ways.empty());
  EXPECT_EQ(links("{gpudirect: false, acs: true}", "200", tcp).copy_chunk, base::Bytes());
  EXPECT_EQ(links("{nic_affinity: phb}", "200", tcp).send_latency, base::Time());
  EXPECT_EQ(links("{nic_affinity: sys}", "200", tcp).receive_latency.ps(), 50'000);
  EXPECT_NEAR(limit_gbps(links("{pcie: gen4-x16}", "400", tcp)),
              packets_gbps(16) / (kWrite + kRequest), 0.01);
}

TEST(Host, Refuses_what_no_host_has) {
  const auto host = [](const std::string& settings) {
    return changed("{ pcie: gen5-x16, gpudirect: true, acs: false, nic_affinity: pix }", settings);
  };
  EXPECT_EQ(refusal(host("{ max_payload_b: 300 }")),
            "job.yaml:8:26: cluster.host.max_payload_b: found the number 300; allowed 128, 256, "
            "512, 1024, 2048 or 4096");
  EXPECT_EQ(refusal(host("{ server: dual-xenon }")),
            "job.yaml:8:19: cluster.host.server: found unknown host `dual-xenon`; allowed "
            "`dual-xeon` or `dual-epyc`; did you mean `dual-xeon`?");
  EXPECT_EQ(refusal(host("{ nic_affinity: nod }")),
            "job.yaml:8:25: cluster.host.nic_affinity: found the text `nod`; allowed `pix`, `pxb`, "
            "`phb`, `node` or `sys`; did you mean `node`?");
}

TEST(Host, Tells_that_nccl_stages_beyond_pxb) {
  const auto told = [](const std::string& affinity) {
    return notes(accepted(changed("nic_affinity: pix", "nic_affinity: " + affinity)));
  };
  EXPECT_TRUE(told("pxb").empty());
  ASSERT_EQ(told("sys").size(), 1U);
  EXPECT_EQ(
      told("sys")[0],
      "job.yaml:8:70: cluster.host.nic_affinity: note: with adapters beyond `pxb` NCCL stages "
      "through host memory unless NCCL_NET_GDR_LEVEL is raised; `gpudirect: false` shows "
      "that");
}

}  // namespace
}  // namespace fabricast::scenario
