#include <algorithm>
#include <set>

#include "base/yaml.h"
#include "shipped.h"

namespace fabricast::catalog {
namespace {

using testing::contains;
using testing::input_error_of;
using testing::shipped;

FabricProfile overridden(const std::string& id, const std::string& yaml) {
  const base::yaml::Node node = base::yaml::parse(yaml, "s.yaml");
  base::yaml::Fields fields(node);
  return with_overrides(shipped().fabric(id), fields);
}

FabricProfile overridden_with_devices(const std::string& id, const std::string& yaml) {
  const base::yaml::Node node = base::yaml::parse(yaml, "s.yaml");
  base::yaml::Fields fields(node);
  return with_overrides(shipped(), shipped().fabric(id), fields);
}

/// Half a round trip of 8 bytes through `switches` switches and 10 m cables, idle, in us: the sum
/// that the head of fabrics.yaml states, serialisation at `gbps`.
double idle_latency_us(const FabricProfile& p, int switches, double cable_m, double gbps) {
  const double serialisation = (8 + static_cast<double>(p.link.header.count())) * 8 / gbps * 1e-3;
  const double link = cable_m * 5e-3 + p.link.phy.us() + serialisation;
  double host = p.host.send_overhead.us() + p.host.receive_overhead.us();
  if (p.kind == FabricKind::kTcp) {
    host += 2 * p.tcp.cpu_per_packet.us() + p.tcp.interrupt_delay.us();
  }
  return host + switches * p.switching.latency.us() + (switches + 1) * link;
}

TEST(Overrides, replace_what_they_name_and_nothing_else) {
  const FabricProfile& before = shipped().fabric("roce-v2");
  const FabricProfile after =
      overridden("roce-v2", "{profile: roce-v2, name: mine, ecn: {kmin_kb: 400}}");
  EXPECT_EQ(after.name, "mine");
  EXPECT_EQ(after.id, "roce-v2");
  EXPECT_EQ(after.ecn.kmin, base::Bytes(400'000));
  for (const ParameterInfo& info : fabric_parameters()) {
    if (info.key == "ecn.kmin_kb") continue;
    EXPECT_DOUBLE_EQ(parameter(after, info.key), parameter(before, info.key)) << info.key;
  }
}

TEST(Overrides, refuse_an_unknown_key_with_the_near_miss) {
  const base::Error error =
      input_error_of([] { overridden("roce-v2", "profile: roce-v2\necn:\n  kmin_kB: 400\n"); });
  EXPECT_TRUE(contains(error, "s.yaml:3:")) << error.what();
  EXPECT_EQ(error.where().key, "ecn.kmin_kB");
  EXPECT_TRUE(contains(error, "did you mean `kmin_kb`?")) << error.what();
}

TEST(Overrides, refuse_an_unknown_group_with_the_near_miss) {
  const base::Error error =
      input_error_of([] { overridden("roce-v2", "{profile: roce-v2, enc: {kmin_kb: 400}}"); });
  EXPECT_TRUE(contains(error, "did you mean `ecn`?")) << error.what();
}

TEST(Overrides, refuse_a_value_out_of_range) {
  const base::Error error =
      input_error_of([] { overridden("roce-v2", "{profile: roce-v2, ecn: {pmax: 1.5}}"); });
  EXPECT_EQ(error.where().key, "ecn.pmax");
  EXPECT_TRUE(contains(error, "from 0 to 1")) << error.what();
}

TEST(Overrides, refuse_a_fraction_of_a_queue_pair) {
  const base::Error error = input_error_of(
      [] { overridden("roce-v2", "{profile: roce-v2, paths: {qps_per_connection: 1.5}}"); });
  EXPECT_EQ(error.where().key, "paths.qps_per_connection");
}

TEST(Overrides, refuse_kmin_above_kmax) {
  const base::Error error = input_error_of(
      [] { overridden("roce-v2", "{profile: roce-v2, ecn: {kmin_kb: 3000, kmax_kb: 2000}}"); });
  EXPECT_EQ(error.where().key, "ecn.kmin_kb");
  EXPECT_EQ(error.where().column, 35);
  EXPECT_NO_THROW(overridden("roce-v2", "{profile: roce-v2, ecn: {kmin_kb: 2000, kmax_kb: 2000}}"));
}

TEST(Overrides, refuse_a_parameter_that_the_kind_of_fabric_does_not_have) {
  const base::Error group =
      input_error_of([] { overridden("tcp", "{profile: tcp, dcqcn: {g: 0.1}}"); });
  EXPECT_TRUE(contains(group, "`tcp` fabrics do not have")) << group.what();
  const base::Error key = input_error_of(
      [] { overridden("infiniband", "{profile: infiniband, switching: {buffer_mb: 32}}"); });
  EXPECT_TRUE(contains(key, "`infiniband` fabrics do not have")) << key.what();
}

TEST(Overrides, refuse_an_unknown_routing_with_the_near_miss) {
  const base::Error error = input_error_of(
      [] { overridden("roce-v2", "{profile: roce-v2, paths: {routing: adaptiv}}"); });
  EXPECT_TRUE(contains(error, "did you mean `adaptive`?")) << error.what();
}

// Path MTUs of the InfiniBand Architecture, Volume 1: 256, 512, 1024, 2048 and 4096 bytes.
TEST(Overrides, refuse_a_path_mtu_that_infiniband_does_not_know) {
  const base::Error error =
      input_error_of([] { overridden("roce-v2", "{profile: roce-v2, link: {mtu_b: 1500}}"); });
  EXPECT_EQ(error.where().key, "link.mtu_b");
  EXPECT_NO_THROW(overridden("roce-v2", "{profile: roce-v2, link: {mtu_b: 1024}}"));
  EXPECT_NO_THROW(overridden("tcp", "{profile: tcp, link: {mtu_b: 1448}}"));
}

// Credits count blocks of 64 bytes (InfiniBand Architecture, Volume 1, section 7.9).
TEST(Overrides, refuse_a_virtual_lane_buffer_that_is_not_whole_credits_or_below_two_packets) {
  EXPECT_NO_THROW(
      overridden("infiniband", "{profile: infiniband, credits: {vl_buffer_kb: 16.384}}"));
  input_error_of(
      [] { overridden("infiniband", "{profile: infiniband, credits: {vl_buffer_kb: 16.4}}"); });
  input_error_of(
      [] { overridden("infiniband", "{profile: infiniband, credits: {vl_buffer_kb: 4.096}}"); });
  input_error_of(
      [] { overridden("infiniband", "{profile: infiniband, credits: {vl_buffer_kb: 262.144}}"); });
}

TEST(Overrides, choose_a_congestion_control_with_one_key) {
  using Control = RdmaCongestionControl;
  const auto control = [](const char* id, const char* yaml) {
    return overridden(id, yaml).congestion.control;
  };
  EXPECT_EQ(control("roce-v2", "{profile: roce-v2}"), Control::kDcqcn) << "as dcqcn.enabled says";
  EXPECT_EQ(control("roce-v2", "{profile: roce-v2, dcqcn: {enabled: false}}"), Control::kNone);
  EXPECT_EQ(control("roce-v2", "{profile: roce-v2, congestion: {control: hpcc}}"), Control::kHpcc);
  EXPECT_EQ(control("infiniband", "{profile: infiniband}"), Control::kNone);
  EXPECT_EQ(control("infiniband", "{profile: infiniband, ibcc: {enabled: true}}"),
            Control::kInfiniBand);
  EXPECT_EQ(parameter(overridden("roce-v2", "{profile: roce-v2, congestion: {control: hpcc}}"),
                      "dcqcn.enabled"),
            0);
}

TEST(Overrides, refuse_parameters_of_a_congestion_control_that_is_off) {
  const base::Error error =
      input_error_of([] { overridden("roce-v2", "{profile: roce-v2, hpcc: {eta: 0.9}}"); });
  EXPECT_EQ(error.where().key, "hpcc.eta");
  EXPECT_TRUE(contains(error, "`congestion: { control: hpcc }`")) << error.what();
  EXPECT_EQ(input_error_of(
                [] { overridden("infiniband", "{profile: infiniband, ibcc: {threshold: 10}}"); })
                .where()
                .key,
            "ibcc.threshold");
  EXPECT_NO_THROW(
      overridden("roce-v2", "{profile: roce-v2, congestion: {control: hpcc}, hpcc: {eta: 0.9}}"));
}

TEST(Overrides, refuse_two_congestion_controls_that_contradict_each_other) {
  const base::Error error = input_error_of([] {
    overridden("roce-v2",
               "{profile: roce-v2, dcqcn: {enabled: true}, congestion: {control: hpcc}}");
  });
  EXPECT_EQ(error.where().key, "dcqcn.enabled");
  EXPECT_TRUE(contains(error, "congestion.control: hpcc")) << error.what();
  EXPECT_NO_THROW(overridden(
      "roce-v2", "{profile: roce-v2, dcqcn: {enabled: false}, congestion: {control: hpcc}}"));
  const base::Error kind = input_error_of(
      [] { overridden("infiniband", "{profile: infiniband, congestion: {control: hpcc}}"); });
  EXPECT_EQ(kind.where().key, "congestion.control");
  EXPECT_TRUE(contains(kind, "`none` or `infiniband`")) << kind.what();
}

TEST(Overrides, refuse_dctcp_on_a_fabric_that_does_not_mark) {
  const base::Error error =
      input_error_of([] { overridden("tcp", "{profile: tcp, tcp: {congestion_control: dctcp}}"); });
  EXPECT_EQ(error.where().key, "tcp.congestion_control");
  EXPECT_NO_THROW(
      overridden("tcp", "{profile: tcp, ecn: {enabled: true}, tcp: {congestion_control: dctcp}}"));
}

// An acknowledgement counts what it reports selectively in 16 bits.
TEST(Overrides, refuse_a_receive_window_beyond_32767_segments) {
  EXPECT_NO_THROW(overridden("tcp", "{profile: tcp, tcp: {receive_window_kb: 293000}}"));
  const base::Error error =
      input_error_of([] { overridden("tcp", "{profile: tcp, tcp: {receive_window_kb: 293300}}"); });
  EXPECT_EQ(error.where().key, "tcp.receive_window_kb");
}

TEST(Overrides, a_new_switch_brings_its_latency_and_buffer) {
  const FabricProfile p = overridden_with_devices("roce-v2", "{profile: roce-v2, switch: sn2700}");
  EXPECT_EQ(p.switch_model, "sn2700");
  EXPECT_DOUBLE_EQ(parameter(p, "switching.latency_ns"), 300);
  EXPECT_DOUBLE_EQ(parameter(p, "switching.buffer_mb"), 16);
}

TEST(Overrides, a_stated_latency_stands_above_that_of_a_new_switch) {
  const FabricProfile p = overridden_with_devices(
      "roce-v2", "{profile: roce-v2, switch: sn2700, switching: {latency_ns: 450}}");
  EXPECT_DOUBLE_EQ(parameter(p, "switching.latency_ns"), 450);
}

TEST(Overrides, refuse_a_device_of_another_link_layer) {
  const base::Error error = input_error_of(
      [] { overridden_with_devices("roce-v2", "{profile: roce-v2, switch: qm9700}"); });
  EXPECT_EQ(error.where().key, "switch");
  input_error_of(
      [] { overridden_with_devices("infiniband", "{profile: infiniband, adapter: intel-e810}"); });
}

TEST(Parameters, are_declared_once_with_a_unit_a_range_and_a_meaning) {
  std::set<std::string> keys;
  for (const ParameterInfo& info : fabric_parameters()) {
    EXPECT_TRUE(keys.insert(info.key).second) << info.key;
    EXPECT_FALSE(info.unit.empty()) << info.key;
    EXPECT_LT(info.min, info.max) << info.key;
    EXPECT_FALSE(info.meaning.empty()) << info.key;
    EXPECT_FALSE(info.kinds.empty()) << info.key;
  }
}

TEST(Parameters, of_every_profile_lie_in_their_range) {
  for (const FabricProfile& p : shipped().fabrics()) {
    for (const ParameterInfo& info : fabric_parameters()) {
      if (std::find(info.kinds.begin(), info.kinds.end(), p.kind) == info.kinds.end()) continue;
      EXPECT_GE(parameter(p, info.key), info.min) << p.id << " " << info.key;
      EXPECT_LE(parameter(p, info.key), info.max) << p.id << " " << info.key;
    }
  }
}

TEST(Parameters, each_changes_the_digest) {
  const FabricProfile& base = shipped().fabric("roce-v2");
  const FabricProfile more_pairs =
      overridden("roce-v2", "{profile: roce-v2, paths: {qps_per_connection: 5}}");
  const FabricProfile renamed = overridden("roce-v2", "{profile: roce-v2, name: other}");
  EXPECT_NE(digest(more_pairs), digest(base));
  EXPECT_EQ(digest(renamed), digest(base));
  EXPECT_NE(digest(shipped().fabric("tcp")), digest(shipped().fabric("article-tcp")));
}

TEST(Profiles, inherit_what_they_do_not_state_with_its_provenance) {
  const auto value = [](const std::string& id, const std::string& key) {
    for (const Entry& entry : shipped().entries()) {
      if (entry.category != "fabrics" || entry.id != id) continue;
      for (const Value& v : entry.values) {
        if (v.key == key) return v;
      }
    }
    ADD_FAILURE() << id << " has no " << key;
    return Value{};
  };
  EXPECT_EQ(value("article-infiniband", "credits.vl_buffer_kb").source,
            value("infiniband", "credits.vl_buffer_kb").source);
  EXPECT_NE(value("article-infiniband", "host.send_overhead_ns").source,
            value("infiniband", "host.send_overhead_ns").source);
  EXPECT_EQ(value("article-roce-v2", "ecn.pmax").text, "0.05");
}

TEST(Profiles, adaptive_routing_comes_with_out_of_order_placement) {
  const FabricProfile& p = shipped().fabric("roce-v2-adaptive");
  EXPECT_EQ(p.paths.routing, Routing::kAdaptive);
  EXPECT_EQ(p.transport.recovery, LossRecovery::kOutOfOrder);
}

// The article: from node to node at 200 Gb/s at most 0.8 us over InfiniBand, 1.8 us over RoCE.
TEST(Profiles, the_articles_node_to_node_latencies_follow_from_their_parts) {
  EXPECT_NEAR(idle_latency_us(shipped().fabric("article-infiniband"), 1, 10, 200), 0.8, 0.02);
  EXPECT_NEAR(idle_latency_us(shipped().fabric("article-roce-v2"), 1, 10, 200), 1.8, 0.02);
}

// IMB PingPong at Oracle over 100G RoCE: 3.03 us across the spine against 1.66 us under one leaf,
// so 1.37 us for two more switches and links (oracle-japan/ocitutorials). 17 m between the tiers.
TEST(Profiles, roce_pays_for_a_spine_what_oracle_measured) {
  const FabricProfile& p = shipped().fabric("roce-v2");
  const double two_more = idle_latency_us(p, 3, 17, 100) - idle_latency_us(p, 1, 17, 100);
  EXPECT_NEAR(two_more, 3.03 - 1.66, 0.02);
}

// Cai et al., SIGCOMM 2021: about 42 Gb/s per core with all optimisations and jumbo frames.
TEST(Profiles, one_core_of_kernel_tcp_moves_what_cai_et_al_measured) {
  const FabricProfile& p = shipped().fabric("tcp");
  const double mss = static_cast<double>(p.link.mtu.count());
  const double ns_per_segment = p.tcp.cpu_per_packet.us() * 1e3 + p.tcp.cpu_ns_per_byte * mss;
  EXPECT_NEAR(mss * 8 / ns_per_segment, 42, 0.5);
}

// Small TCP messages take about 10 us where RDMA takes one or two (University of New Mexico).
TEST(Profiles, small_tcp_messages_take_about_ten_microseconds) {
  EXPECT_NEAR(idle_latency_us(shipped().fabric("tcp"), 1, 10, 100), 10, 1);
}

// RoCE, annex A16: Ethernet framing 8 + 14 + 4 + 12 (IEEE Std 802.3), GRH 40, BTH 12, ICRC 4; an
// acknowledgement has an AETH of 4 besides. RoCE v2 has IPv4 20 and UDP 8 in place of the GRH.
TEST(RoceV1, has_a_grh_where_v2_has_ip_and_udp) {
  const FabricProfile& v1 = shipped().fabric("roce-v1");
  const FabricProfile& v2 = shipped().fabric("roce-v2");
  const std::int64_t framing = 8 + 14 + 4 + 12;
  EXPECT_EQ(v1.link.header.count(), framing + 40 + 12 + 4);
  EXPECT_EQ(v1.link.ack.count(), v1.link.header.count() + 4);
  EXPECT_EQ(v1.link.header - v2.link.header, base::Bytes(40 - 20 - 8));
  EXPECT_EQ(name_of(v1.kind), "roce-v1");
  EXPECT_TRUE(v1.pfc.enabled);
  EXPECT_FALSE(v1.ecn.enabled);
  EXPECT_EQ(v1.congestion.control, RdmaCongestionControl::kNone);
}

// Marks live in the IP header, and CNPs, HPCC's telemetry and UDP's ports need one.
TEST(RoceV1, refuses_what_needs_an_ip_header_at_its_place) {
  const auto refused = [](const std::string& settings) {
    return input_error_of([&] { overridden("roce-v1", "{profile: roce-v1, " + settings + "}"); });
  };
  for (const char* settings : {"ecn: {enabled: true}", "dcqcn: {enabled: true}", "hpcc: {eta: 0.9}",
                               "congestion: {control: dcqcn}"}) {
    const base::Error error = refused(settings);
    EXPECT_TRUE(contains(error, "s.yaml:1:")) << error.what();
    EXPECT_TRUE(contains(error, "`roce-v1` fabrics do not have")) << error.what();
    EXPECT_GT(error.where().column, 19) << settings;
  }
  for (const char* routing : {"ecmp", "adaptive", "static"}) {
    const base::Error error = refused("paths: {routing: " + std::string(routing) + "}");
    EXPECT_EQ(error.where().key, "paths.routing");
    EXPECT_TRUE(contains(error, "allowed `spanning-tree`")) << error.what();
  }
  EXPECT_NO_THROW(overridden("roce-v1", "{profile: roce-v1, pfc: {alpha: 0.5}}"));
}

TEST(SpanningTree, is_for_ethernet) {
  const base::Error error = input_error_of(
      [] { overridden("infiniband", "{profile: infiniband, paths: {routing: spanning-tree}}"); });
  EXPECT_EQ(error.where().key, "paths.routing");
  EXPECT_NO_THROW(overridden("roce-v2", "{profile: roce-v2, paths: {routing: spanning-tree}}"));
  EXPECT_NO_THROW(overridden("tcp", "{profile: tcp, paths: {routing: spanning-tree}}"));
}

}  // namespace
}  // namespace fabricast::catalog
