#include "catalog/fabric_parameters.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <type_traits>

#include <fmt/format.h>

#include "base/random.h"
#include "catalog/value_reader.h"

namespace fabricast::catalog {

namespace {

using Profile = FabricProfile;
using Kinds = std::vector<FabricKind>;

const Kinds kInfiniBandOnly = {FabricKind::kInfiniBand};
const Kinds kRoce = {FabricKind::kRoceV2, FabricKind::kRoceV1};
const Kinds kTcpOnly = {FabricKind::kTcp};
const Kinds kRdma = {FabricKind::kInfiniBand, FabricKind::kRoceV2, FabricKind::kRoceV1};
const Kinds kEthernet = {FabricKind::kRoceV2, FabricKind::kTcp, FabricKind::kRoceV1};
const Kinds kAll = {FabricKind::kInfiniBand, FabricKind::kRoceV2, FabricKind::kTcp,
                    FabricKind::kRoceV1};
// RoCE v1 has no IP header to mark, and so none of what answers to marks.
const Kinds kRoceV2Only = {FabricKind::kRoceV2};
const Kinds kRdmaControlled = {FabricKind::kInfiniBand, FabricKind::kRoceV2};
const Kinds kMarking = {FabricKind::kRoceV2, FabricKind::kTcp};

/// How many of the member's own unit (byte, second, bit per second, 1) make one of `unit`.
double factor_of(std::string_view unit) {
  static constexpr std::array<std::pair<std::string_view, double>, 9> kFactors = {{
      {"1", 1},
      {"B", 1},
      {"kB", 1e3},
      {"MB", 1e6},
      {"ns", 1e-9},
      {"us", 1e-6},
      {"ms", 1e-3},
      {"Mb/s", 1e6},
      {"ns/B", 1},
  }};
  for (const auto& [name, factor] : kFactors) {
    if (name == unit) return factor;
  }
  throw base::failure(fmt::format("the unit `{}` is not known to the fabric parameters", unit));
}

double in_unit(base::Bytes member, double factor) {
  return static_cast<double>(member.count()) / factor;
}
double in_unit(base::Time member, double factor) {
  return static_cast<double>(member.ps()) / (factor * 1e12);
}
double in_unit(base::Rate member, double factor) {
  return static_cast<double>(member.bps()) / factor;
}
template <class T>
double in_unit(T member, double factor) {
  return static_cast<double>(member) / factor;
}

void assign(base::Bytes& member, double value, double factor) {
  member = base::Bytes::from(value * factor);
}
void assign(base::Time& member, double value, double factor) {
  member = base::Time::seconds(value * factor);
}
void assign(base::Rate& member, double value, double factor) {
  member = base::Rate::gigabits_per_second(value * factor * 1e-9);
}
template <class T>
void assign(T& member, double value, double) {
  if constexpr (std::is_enum_v<T>) {
    member = static_cast<T>(static_cast<int>(value));
  } else {
    member = static_cast<T>(value);
  }
}

template <class Group, class Member>
FabricParameter quantity(std::string key, Group Profile::* group, Member Group::* member,
                         std::string unit, double min, double max, const Kinds& kinds,
                         std::string meaning) {
  const double factor = factor_of(unit);
  FabricParameter p;
  p.info = {std::move(key), std::move(unit), min, max, std::move(meaning), {}, kinds};
  p.whole = std::is_same_v<Member, int>;
  p.get = [=](const Profile& profile) { return in_unit((profile.*group).*member, factor); };
  p.set = [=](Profile& profile, double value) { assign((profile.*group).*member, value, factor); };
  return p;
}

template <class Group>
FabricParameter flag(std::string key, Group Profile::* group, bool Group::* member,
                     const Kinds& kinds, std::string meaning) {
  FabricParameter p = quantity(std::move(key), group, member, "1", 0, 1, kinds, std::move(meaning));
  p.info.unit = "flag";
  p.whole = true;
  return p;
}

template <class Group, class Enum>
FabricParameter choice(std::string key, Group Profile::* group, Enum Group::* member,
                       std::vector<std::string> choices, const Kinds& kinds, std::string meaning) {
  const auto last = static_cast<double>(choices.size() - 1);
  FabricParameter p =
      quantity(std::move(key), group, member, "1", 0, last, kinds, std::move(meaning));
  p.info.unit = "choice";
  p.info.choices = std::move(choices);
  p.whole = true;
  return p;
}

/// A mechanism that is off unless it is stated.
FabricParameter optional(FabricParameter parameter) {
  parameter.optional = true;
  return parameter;
}

void append(std::vector<FabricParameter>& table, std::vector<FabricParameter> more) {
  table.insert(table.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
}

std::vector<FabricParameter> link_and_switch() {
  using Link = Profile::Link;
  using Switching = Profile::Switching;
  const auto link = &Profile::link;
  const auto sw = &Profile::switching;
  return {
      quantity("link.mtu_b", link, &Link::mtu, "B", 256, 65000, kAll,
               "payload of a full packet: path MTU of InfiniBand and RoCE, MSS of TCP"),
      quantity("link.header_b", link, &Link::header, "B", 8, 500, kAll,
               "everything else that a data packet occupies on the wire"),
      quantity("link.ack_b", link, &Link::ack, "B", 8, 500, kAll, "an acknowledgement on the wire"),
      quantity("link.phy_ns", link, &Link::phy, "ns", 0, 10000, kAll,
               "SerDes, PCS and FEC latency of one link, both ends"),
      quantity("link.rate_efficiency", link, &Link::rate_efficiency, "1", 0.5, 1, kAll,
               "usable share of the nominal rate after line coding"),
      quantity("switching.latency_ns", sw, &Switching::latency, "ns", 1, 100000, kAll,
               "pipeline of one switch, port to port"),
      choice("switching.forwarding", sw, &Switching::forwarding,
             {"cut-through", "store-and-forward"}, kAll, "when a switch may start to send on"),
      quantity("switching.buffer_mb", sw, &Switching::buffer, "MB", 0.1, 100000, kEthernet,
               "shared packet buffer of a switch"),
  };
}

std::vector<FabricParameter> host_and_paths() {
  using Host = Profile::Host;
  using Paths = Profile::Paths;
  const auto host = &Profile::host;
  const auto paths = &Profile::paths;
  return {
      quantity("host.send_overhead_ns", host, &Host::send_overhead, "ns", 0, 1e6, kAll,
               "post to first bit: doorbell, work-queue fetch, payload DMA; for TCP the system "
               "call and the driver, without the per-segment and per-byte costs"),
      quantity(
          "host.receive_overhead_ns", host, &Host::receive_overhead, "ns", 0, 1e6, kAll,
          "last bit to visible completion: DMA write, poll; for TCP the wake-up of the reader"),
      quantity("host.message_rate_mps", host, &Host::message_rate_mps, "1", 0.1, 10000, kAll,
               "messages per microsecond that an adapter can start"),
      quantity("host.cpu_per_message_ns", host, &Host::cpu_per_message, "ns", 0, 1e6, kRdma,
               "core time to post or to reap one message, one side"),
      quantity("host.rate_share", host, &Host::rate_share, "1", 0.01, 1, kAll,
               "share of the port rate that the adapter can feed"),
      choice("paths.routing", paths, &Paths::routing,
             {"static", "ecmp", "adaptive", "spanning-tree"}, kAll,
             "how a switch picks among equally short paths; `spanning-tree`: one layer-2 domain, "
             "which has one path"),
      optional(choice("paths.engine", paths, &Paths::engine, {"ftree", "updn", "minhop"},
                      kInfiniBandOnly,
                      "how the subnet manager fills the tables of static routing: OpenSM's routing "
                      "engines")),
      quantity("paths.qps_per_connection", paths, &Paths::qps_per_connection, "1", 1, 128, kRdma,
               "queue pairs that one connection of ranks is spread over"),
      optional(flag("paths.split_messages", paths, &Paths::split_messages, kRdma,
                    "every message is split over the queue pairs of its connection; off: they take "
                    "messages in turn")),
  };
}

std::vector<FabricParameter> transport() {
  using Transport = Profile::Transport;
  const auto t = &Profile::transport;
  return {
      choice("transport.recovery", t, &Transport::recovery,
             {"go-back-n", "selective-repeat", "out-of-order"}, kRdma,
             "what is sent again after a loss, and whether packets may overtake"),
      quantity("transport.ack_every", t, &Transport::ack_every, "1", 1, 1024, kAll,
               "data packets per acknowledgement; the last of a message always has one"),
      quantity("transport.timeout_exponent", t, &Transport::timeout_exponent, "1", 0, 31, kRdma,
               "t of the timeout 4.096 us x 2^t of a reliable connection"),
      optional(quantity("transport.timeouts_per_gpacket", t, &Transport::timeouts_per_gpacket, "1",
                        0, 1e6, kRdma,
                        "of 1e9 packets, lost on each link they cross so that only the timeout "
                        "finds out; training steps draw them")),
      quantity("transport.window_kb", t, &Transport::window, "kB", 0, 1e6, kRdma,
               "most unacknowledged bytes of a queue pair; 0: unlimited"),
      optional(flag("transport.acks_first", t, &Transport::acks_first, kRoce,
                    "acknowledgements go above every class and past PFC, with the congestion "
                    "notifications; off: in the class of their data")),
  };
}

std::vector<FabricParameter> ethernet() {
  using Pfc = Profile::Pfc;
  using Ecn = Profile::Ecn;
  const auto pfc = &Profile::pfc;
  const auto ecn = &Profile::ecn;
  return {
      flag("pfc.enabled", pfc, &Pfc::enabled, kRoce, "priority flow control, IEEE 802.1Qbb"),
      quantity("pfc.alpha", pfc, &Pfc::alpha, "1", 1.0 / 256, 256, kRoce,
               "XOFF trigger as a multiple of the free shared pool, per ingress and priority"),
      quantity("pfc.xon_offset_kb", pfc, &Pfc::xon_offset, "kB", 0, 1e5, kRoce,
               "XON this far below the trigger"),
      flag("pfc.headroom_computed", pfc, &Pfc::headroom_computed, kRoce,
           "headroom from rate, cable length and MTU; else `pfc.headroom_kb`"),
      quantity("pfc.headroom_kb", pfc, &Pfc::headroom, "kB", 0, 1e5, kRoce,
               "headroom per ingress port and lossless priority when it is not computed"),
      flag("ecn.enabled", ecn, &Ecn::enabled, kMarking,
           "explicit congestion notification: switches mark, and the ends of TCP heed it"),
      quantity("ecn.kmin_kb", ecn, &Ecn::kmin, "kB", 0, 1e5, kMarking,
               "egress queue at which marking begins"),
      quantity("ecn.kmax_kb", ecn, &Ecn::kmax, "kB", 0, 1e5, kMarking,
               "egress queue above which every packet is marked"),
      quantity("ecn.pmax", ecn, &Ecn::pmax, "1", 0, 1, kMarking,
               "marking probability just below kmax"),
  };
}

/// One member of an array: `classes.weight_3`.
FabricParameter element(std::string key, std::array<int, kMaxClasses> Profile::Classes::* array,
                        std::size_t i, double max, const Kinds& kinds, std::string meaning) {
  FabricParameter p;
  p.info = {fmt::format("{}_{}", key, i), "1", 0, max, std::move(meaning), {}, kinds};
  p.whole = true;
  p.optional = true;
  p.get = [=](const Profile& profile) { return static_cast<double>((profile.classes.*array)[i]); };
  p.set = [=](Profile& profile, double value) {
    (profile.classes.*array)[i] = static_cast<int>(value);
  };
  return p;
}

/// Most fabrics have one class; these need not be stated.
std::vector<FabricParameter> classes() {
  using Classes = Profile::Classes;
  const auto c = &Profile::classes;
  std::vector<FabricParameter> table = {
      optional(quantity("classes.count", c, &Classes::count, "1", 1, kMaxClasses, kAll,
                        "traffic classes in use: priorities of Ethernet, service levels on virtual "
                        "lanes of InfiniBand")),
      optional(choice("classes.scheduling", c, &Classes::scheduling, {"strict", "weighted"}, kAll,
                      "how an egress picks among classes: the highest first, or by weight")),
      optional(quantity("classes.high_limit", c, &Classes::high_limit, "1", 0, 255, kInfiniBandOnly,
                        "HighPriLimit: x 4096 bytes of the high-priority table before the low one "
                        "has its turn; 255: no limit")),
      optional(quantity("pfc.lossless_classes", &Profile::pfc, &Profile::Pfc::lossless_classes, "1",
                        1, kMaxClasses, kRoce,
                        "classes, from 0 upwards, that PFC pauses; the others drop")),
      optional(flag("pfc.watchdog", &Profile::pfc, &Profile::Pfc::watchdog, kRoce,
                    "a queue that stays paused is emptied and drops until the pauses end")),
      optional(quantity("pfc.watchdog_detect_ms", &Profile::pfc, &Profile::Pfc::watchdog_detect,
                        "ms", 0.001, 1e5, kRoce, "paused for this long is a storm")),
      optional(quantity("pfc.watchdog_restore_ms", &Profile::pfc, &Profile::Pfc::watchdog_restore,
                        "ms", 0.001, 1e5, kRoce, "without pauses for this long it is over")),
      optional(quantity("paths.failover_ms", &Profile::paths, &Profile::Paths::failover, "ms", 0,
                        1e6, kAll,
                        "from the loss of a link until routes avoid it: the routing protocol, or "
                        "the subnet manager")),
      optional(flag("link.retry", &Profile::link, &Profile::Link::retry, kInfiniBandOnly,
                    "link-level retry of corrupted packets")),
      optional(quantity("credits.hoq_lifetime_exponent", &Profile::credits,
                        &Profile::Credits::hoq_lifetime_exponent, "1", 0, 20, kInfiniBandOnly,
                        "n of 4.096 us x 2^n, which a packet may wait at the head of a switch's "
                        "queue; 20: for ever")),
  };
  for (std::size_t i = 0; i < kMaxClasses; ++i) {
    table.push_back(element("classes.weight", &Classes::weight, i, 255, kAll,
                            "turn of this class, x 64 bytes; InfiniBand's low-priority table"));
  }
  for (std::size_t i = 0; i < kMaxClasses; ++i) {
    table.push_back(element("classes.high_weight", &Classes::high_weight, i, 255, kInfiniBandOnly,
                            "turn in InfiniBand's high-priority table; 0: not in it"));
  }
  return table;
}

/// `key`: one of the congestion controls as a flag. Off means none, unless another was chosen.
FabricParameter control_flag(std::string key, RdmaCongestionControl control, const Kinds& kinds,
                             std::string meaning) {
  FabricParameter p;
  p.info = {std::move(key), "flag", 0, 1, std::move(meaning), {}, kinds};
  p.whole = true;
  p.get = [=](const Profile& profile) { return profile.congestion.control == control ? 1.0 : 0.0; };
  p.set = [=](Profile& profile, double value) {
    RdmaCongestionControl& chosen = profile.congestion.control;
    if (value != 0) {
      chosen = control;
    } else if (chosen == control) {
      chosen = RdmaCongestionControl::kNone;
    }
  };
  return p;
}

std::vector<FabricParameter> dcqcn() {
  using Dcqcn = Profile::Dcqcn;
  const auto d = &Profile::dcqcn;
  return {
      control_flag("dcqcn.enabled", RdmaCongestionControl::kDcqcn, kRoceV2Only,
                   "DCQCN at the adapters: the same as `congestion.control: dcqcn`"),
      quantity("dcqcn.g", d, &Dcqcn::g, "1", 1e-5, 1, kRoceV2Only, "gain of alpha's average"),
      quantity("dcqcn.alpha_timer_us", d, &Dcqcn::alpha_timer, "us", 0.1, 1e6, kRoceV2Only,
               "alpha decays after this long without a CNP"),
      quantity("dcqcn.increase_timer_us", d, &Dcqcn::increase_timer, "us", 0.1, 1e6, kRoceV2Only,
               "period of the rate increase by time"),
      quantity("dcqcn.cnp_interval_us", d, &Dcqcn::cnp_interval, "us", 0, 1e6, kRoceV2Only,
               "least time between two CNPs of a flow, at the receiver"),
      quantity("dcqcn.decrease_interval_us", d, &Dcqcn::decrease_interval, "us", 0, 1e6,
               kRoceV2Only, "least time between two rate cuts, at the sender"),
      quantity("dcqcn.byte_counter_kb", d, &Dcqcn::byte_counter, "kB", 0, 1e7, kRoceV2Only,
               "bytes between two rate increases by volume; 0: by time alone"),
      quantity("dcqcn.fast_recovery_steps", d, &Dcqcn::fast_recovery_steps, "1", 1, 100,
               kRoceV2Only, "increases that halve the gap to the target before it is raised"),
      flag("dcqcn.clamp_target", d, &Dcqcn::clamp_target, kRoceV2Only,
           "every rate cut moves the target rate; off: only after a timed increase"),
      quantity("dcqcn.additive_increase_mbps", d, &Dcqcn::additive_increase, "Mb/s", 0.1, 1e6,
               kRoceV2Only, "raise of the target in additive increase"),
      quantity("dcqcn.hyper_increase_mbps", d, &Dcqcn::hyper_increase, "Mb/s", 0.1, 1e6,
               kRoceV2Only, "raise of the target in hyper increase"),
      quantity("dcqcn.minimum_rate_mbps", d, &Dcqcn::minimum_rate, "Mb/s", 0.1, 1e6, kRoceV2Only,
               "lowest rate of a flow"),
  };
}

std::vector<FabricParameter> congestion_control() {
  return {
      optional(choice("congestion.control", &Profile::congestion, &Profile::Congestion::control,
                      {"none", "dcqcn", "hpcc", "infiniband"}, kRdmaControlled,
                      "what holds a queue pair's rate or window back: `dcqcn` or `hpcc` on RoCE, "
                      "`infiniband` there; where it is not stated, `dcqcn.enabled` or "
                      "`ibcc.enabled` decides")),
  };
}

std::vector<FabricParameter> hpcc() {
  using Hpcc = Profile::Hpcc;
  const auto h = &Profile::hpcc;
  return {
      optional(quantity("hpcc.eta", h, &Hpcc::eta, "1", 0.1, 1, kRoceV2Only,
                        "utilisation of the busiest link that HPCC aims at")),
      optional(quantity("hpcc.max_stage", h, &Hpcc::max_stage, "1", 0, 100, kRoceV2Only,
                        "additive increases before a multiplicative one")),
      optional(quantity("hpcc.additive_increase_b", h, &Hpcc::additive_increase, "B", 0, 1e6,
                        kRoceV2Only, "W_AI, by which a window grows at each update")),
      optional(quantity("hpcc.base_rtt_us", h, &Hpcc::base_rtt, "us", 0, 1e6, kRoceV2Only,
                        "T, the round trip without queues; 0: that of each flow's own path")),
      optional(quantity("hpcc.int_header_b", h, &Hpcc::int_header, "B", 0, 500, kRoceV2Only,
                        "telemetry on every data packet and acknowledgement")),
      optional(quantity("hpcc.minimum_rate_mbps", h, &Hpcc::minimum_rate, "Mb/s", 0.1, 1e6,
                        kRoceV2Only, "lowest rate of a flow")),
  };
}

std::vector<FabricParameter> infiniband_congestion_control() {
  using Ibcc = Profile::Ibcc;
  const auto cc = &Profile::ibcc;
  return {
      optional(
          control_flag("ibcc.enabled", RdmaCongestionControl::kInfiniBand, kInfiniBandOnly,
                       "InfiniBand's congestion control, annex A10: FECN, BECN, CCT; the same as "
                       "`congestion.control: infiniband`")),
      optional(quantity("ibcc.threshold", cc, &Ibcc::threshold, "1", 0, 15, kInfiniBandOnly,
                        "egress queue at which a switch marks: (16 - threshold)/16 of "
                        "`credits.vl_buffer_kb`; 0: never")),
      optional(quantity("ibcc.marking_rate", cc, &Ibcc::marking_rate, "1", 0, 65535,
                        kInfiniBandOnly, "packets that could be marked between two that are")),
      optional(quantity("ibcc.packet_size", cc, &Ibcc::packet_size, "1", 0, 255, kInfiniBandOnly,
                        "packets below this many blocks of 64 bytes are not marked")),
      optional(flag("ibcc.victim_mask", cc, &Ibcc::victim_mask, kInfiniBandOnly,
                    "switch ports to adapters mark although they lack credits, as where the "
                    "adapter itself is slow")),
      optional(quantity("ibcc.ccti_increase", cc, &Ibcc::ccti_increase, "1", 1, 255,
                        kInfiniBandOnly, "steps that a BECN moves a queue pair's index up")),
      optional(quantity("ibcc.ccti_limit", cc, &Ibcc::ccti_limit, "1", 1, 16383, kInfiniBandOnly,
                        "highest index of the congestion control table")),
      optional(quantity("ibcc.ccti_minimum", cc, &Ibcc::ccti_minimum, "1", 0, 16383,
                        kInfiniBandOnly, "index that the timer stops at")),
      optional(quantity("ibcc.ccti_timer", cc, &Ibcc::ccti_timer, "1", 1, 65535, kInfiniBandOnly,
                        "x 1.024 us, after which the index falls by one")),
      optional(quantity("ibcc.cct_step", cc, &Ibcc::cct_step, "1", 0.001, 100, kInfiniBandOnly,
                        "entry i of the table delays the next packet by i x this x the time of "
                        "the last one")),
  };
}

std::vector<FabricParameter> sharp() {
  using Sharp = Profile::Sharp;
  const auto s = &Profile::sharp;
  return {
      optional(flag("sharp.enabled", s, &Sharp::enabled, kInfiniBandOnly,
                    "switches reduce data on its way: SHARP, streaming aggregation")),
      optional(choice("sharp.streams", s, &Sharp::streams, {"one-per-switch", "one-per-port"},
                      kInfiniBandOnly,
                      "trees that may be active at once: one to a switch (Quantum) or to a port "
                      "(Quantum-2)")),
      optional(quantity("sharp.latency_ns", s, &Sharp::latency, "ns", 0, 100000, kInfiniBandOnly,
                        "what a reduction adds to a switch's latency")),
      optional(quantity("sharp.buffer_kb", s, &Sharp::buffer, "kB", 1, 1e5, kInfiniBandOnly,
                        "reduction buffer of a switch per child of a tree: what a member may have "
                        "under way")),
      optional(quantity("sharp.largest_message_mb", s, &Sharp::largest_message, "MB", 0.001, 1e6,
                        kInfiniBandOnly,
                        "longer messages are reduced in pieces, one after the other")),
  };
}

std::vector<FabricParameter> credits() {
  return {
      quantity("credits.vl_buffer_kb", &Profile::credits, &Profile::Credits::vl_buffer, "kB", 1,
               131.072, kInfiniBandOnly,
               "receive buffer per port and virtual lane; credits count 64-byte blocks and can "
               "advertise at most 2048 of them"),
  };
}

std::vector<FabricParameter> tcp_hosts() {
  using Tcp = Profile::Tcp;
  const auto tcp = &Profile::tcp;
  return {
      choice("tcp.congestion_control", tcp, &Tcp::congestion_control, {"reno", "cubic", "dctcp"},
             kTcpOnly, "how the sender's window grows and shrinks"),
      flag("tcp.sack", tcp, &Tcp::sack, kTcpOnly,
           "selective acknowledgements, RFC 2018 and RFC 6675; off: NewReno"),
      quantity("tcp.initial_window", tcp, &Tcp::initial_window, "1", 1, 1000, kTcpOnly,
               "first congestion window, segments"),
      quantity("tcp.receive_window_kb", tcp, &Tcp::receive_window, "kB", 4, 1e7, kTcpOnly,
               "most unread bytes of a connection"),
      quantity("tcp.minimum_rto_ms", tcp, &Tcp::minimum_rto, "ms", 0.01, 10000, kTcpOnly,
               "floor of the retransmission timer"),
      quantity("tcp.streams_per_connection", tcp, &Tcp::streams_per_connection, "1", 1, 128,
               kTcpOnly, "sockets that one connection of ranks is spread over"),
      quantity("tcp.cores_per_nic", tcp, &Tcp::cores_per_nic, "1", 1, 256, kTcpOnly,
               "cores that run the stack and the copies for one adapter"),
      quantity("tcp.cpu_per_packet_ns", tcp, &Tcp::cpu_per_packet, "ns", 0, 100000, kTcpOnly,
               "core time per segment on one side, with segmentation offload amortised"),
      quantity("tcp.cpu_ns_per_byte", tcp, &Tcp::cpu_ns_per_byte, "ns/B", 0, 100, kTcpOnly,
               "core time per byte on one side: copies and checksums"),
      quantity("tcp.interrupt_delay_us", tcp, &Tcp::interrupt_delay, "us", 0, 10000, kTcpOnly,
               "interrupt moderation and wake-up when the receiver is idle"),
      quantity("tcp.queue_alpha", tcp, &Tcp::queue_alpha, "1", 1.0 / 256, 256, kTcpOnly,
               "tail-drop limit of an egress queue as a multiple of the free shared pool"),
  };
}

std::vector<FabricParameter> make_table() {
  std::vector<FabricParameter> table = link_and_switch();
  append(table, host_and_paths());
  append(table, transport());
  append(table, ethernet());
  append(table, classes());
  append(table, dcqcn());
  append(table, congestion_control());
  append(table, hpcc());
  append(table, credits());
  append(table, infiniband_congestion_control());
  append(table, sharp());
  append(table, tcp_hosts());
  return table;
}

}  // namespace

std::string_view name_of(FabricKind kind) {
  switch (kind) {
    case FabricKind::kRoceV2:
      return "roce-v2";
    case FabricKind::kTcp:
      return "tcp";
    case FabricKind::kRoceV1:
      return "roce-v1";
    case FabricKind::kInfiniBand:
      break;
  }
  return "infiniband";
}

std::string_view FabricParameter::group() const {
  return std::string_view(info.key).substr(0, info.key.find('.'));
}

std::string_view FabricParameter::name() const {
  return std::string_view(info.key).substr(info.key.find('.') + 1);
}

bool FabricParameter::applies_to(FabricKind kind) const {
  return applies(info, kind);
}

void FabricParameter::read(FabricProfile& profile, const base::yaml::Node& node) const {
  if (info.unit == "flag") {
    set(profile, base::yaml::boolean(node) ? 1 : 0);
  } else if (info.unit == "choice") {
    set(profile, static_cast<double>(choose(node, info.choices)));
  } else if (whole) {
    set(profile, static_cast<double>(base::yaml::integer(node, static_cast<std::int64_t>(info.min),
                                                         static_cast<std::int64_t>(info.max))));
  } else {
    set(profile, base::yaml::number(node, info.min, info.max));
  }
}

const std::vector<FabricParameter>& fabric_parameter_table() {
  static const std::vector<FabricParameter> table = make_table();
  return table;
}

const std::vector<ParameterInfo>& fabric_parameters() {
  static const std::vector<ParameterInfo> infos = [] {
    std::vector<ParameterInfo> result;
    for (const FabricParameter& p : fabric_parameter_table()) result.push_back(p.info);
    return result;
  }();
  return infos;
}

double parameter(const FabricProfile& profile, std::string_view key) {
  for (const FabricParameter& p : fabric_parameter_table()) {
    if (p.info.key == key) return p.get(profile);
  }
  throw base::failure(fmt::format("no fabric parameter is called `{}`", key));
}

std::string parameter_text(const FabricProfile& profile, const ParameterInfo& info) {
  const double value = parameter(profile, info.key);
  if (info.unit == "flag") return value != 0 ? "true" : "false";
  if (info.unit == "choice") return info.choices[static_cast<std::size_t>(value)];
  return fmt::format("{:.10g}", value);
}

bool applies(const ParameterInfo& info, FabricKind kind) {
  return std::find(info.kinds.begin(), info.kinds.end(), kind) != info.kinds.end();
}

std::uint64_t digest(const FabricProfile& profile) {
  std::uint64_t h = base::hash_name(name_of(profile.kind));
  for (const FabricParameter& p : fabric_parameter_table()) {
    h = base::mix64(h ^ base::hash_name(p.info.key));
    h = base::mix64(h ^ std::bit_cast<std::uint64_t>(p.get(profile)));
  }
  return h;
}

}  // namespace fabricast::catalog
