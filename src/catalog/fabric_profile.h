#pragma once
// A fabric profile: the parameters of one way to build and tune a network, as a file of values and
// never as an `if` in the code. Each parameter is declared once, in fabric_profile.cpp, with its
// key, unit and range; that list reads the catalogue, applies a scenario's overrides, and prints.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "base/yaml.h"

namespace fabricast::catalog {

enum class FabricKind { kInfiniBand, kRoceV2, kTcp, kRoceV1 };
/// "infiniband", "roce-v2", "tcp", "roce-v1".
std::string_view name_of(FabricKind kind);

enum class Forwarding { kCutThrough, kStoreAndForward };

enum class Routing {
  kStatic,        ///< destination-based tables, as a subnet manager fills them
  kEcmp,          ///< 5-tuple hash per queue pair, fixed for the life of the connection
  kAdaptive,      ///< the switch picks the least loaded next hop per packet
  kSpanningTree,  ///< one layer-2 domain: every packet follows the one tree (IEEE 802.1D)
};

/// How a subnet manager fills its tables: OpenSM's routing engines (docs/models/forwarding.md).
enum class SubnetRouting { kFatTree, kUpDown, kMinHop };

/// How many streaming trees of SHARP may be active.
enum class SharpStreams { kOnePerSwitch, kOnePerPort };

enum class LossRecovery {
  kGoBackN,
  kSelectiveRepeat,
  kOutOfOrder,  ///< direct placement of out-of-order packets; the partner of adaptive routing
};

/// Traffic classes that a fabric can tell apart: the 8 priorities of IEEE 802.1Q; as many of
/// InfiniBand's 15 data lanes.
inline constexpr int kMaxClasses = 8;

/// How an egress picks among classes that have something to send.
enum class Scheduling {
  kStrict,    ///< the highest class first
  kWeighted,  ///< by weight; with InfiniBand's high-priority table before the other
};

enum class TcpCongestionControl {
  kReno,   ///< RFC 5681
  kCubic,  ///< RFC 9438
  kDctcp,  ///< RFC 8257
};

/// What holds the queue pairs of RoCE v2 and InfiniBand back.
enum class RdmaCongestionControl {
  kNone,
  kDcqcn,       ///< Zhu et al., SIGCOMM 2015 (RoCE v2)
  kHpcc,        ///< Li et al., SIGCOMM 2019 (RoCE v2)
  kInfiniBand,  ///< IBTA Volume 1, annex A10
};

struct FabricProfile {
  std::string id;    ///< catalogue id it was made from: "roce-v2"
  std::string name;  ///< key in results; the scenario's `name`, else the id
  std::string description;
  FabricKind kind = FabricKind::kInfiniBand;
  std::string switch_model;   ///< catalogue id
  std::string adapter_model;  ///< catalogue id

  struct Link {
    base::Bytes mtu;             ///< payload of a full packet (IB/RoCE path MTU, TCP MSS)
    base::Bytes header;          ///< everything else a data packet occupies on the wire
    base::Bytes ack;             ///< an acknowledgement on the wire
    base::Time phy;              ///< PMA/PCS and FEC latency per link
    double rate_efficiency = 1;  ///< usable share of the nominal rate after line coding
    bool retry = false;          ///< InfiniBand's link-level retry of corrupted packets
  } link;

  struct Switching {
    base::Time latency;  ///< pipeline of one switch, port to port
    Forwarding forwarding = Forwarding::kCutThrough;
    base::Bytes buffer;  ///< shared packet buffer of a switch (Ethernet)
  } switching;

  struct Classes {
    int count = 1;  ///< classes in use; a message's class is its priority or service level
    Scheduling scheduling = Scheduling::kWeighted;
    std::array<int, kMaxClasses> weight = {1, 1, 1, 1, 1, 1, 1, 1};  ///< x 64 bytes a turn
    std::array<int, kMaxClasses> high_weight = {};  ///< InfiniBand's high-priority table; 0: absent
    int high_limit = 255;  ///< x 4096 bytes of the high table before the low one; 255: no limit
  } classes;

  struct Host {
    base::Time send_overhead;     ///< post to first bit: doorbell, work-queue fetch, payload DMA
    base::Time receive_overhead;  ///< last bit to visible completion: DMA write, poll
    double message_rate_mps = 0;  ///< messages per microsecond and adapter that a NIC can start
    base::Time cpu_per_message;   ///< RDMA: core time to post or to reap one message, one side
    double rate_share = 1;        ///< share of the port rate that the adapter can feed (PCIe, DMA)
  } host;

  struct Paths {
    Routing routing = Routing::kStatic;
    SubnetRouting engine = SubnetRouting::kFatTree;  ///< of static routing
    int qps_per_connection = 1;                      ///< NCCL_IB_QPS_PER_CONNECTION
    bool split_messages = false;  ///< over all of them: NCCL_IB_SPLIT_DATA_ON_QPS
    /// From the loss of a link until routes avoid it: the routing protocol or subnet manager.
    base::Time failover = base::Time::picoseconds(50'000'000'000);
  } paths;

  struct Transport {
    LossRecovery recovery = LossRecovery::kGoBackN;
    int ack_every = 1;          ///< data packets per acknowledgement (the last of a message always)
    int timeout_exponent = 20;  ///< RC timeout 4.096 us * 2^t
    /// Of 1e9 packets, lost on each link they cross so that nothing but the timeout tells. Training
    /// steps draw them; they are too rare for a packet simulation of milliseconds.
    double timeouts_per_gpacket = 0;
    base::Bytes window;       ///< most unacknowledged bytes of a queue pair; 0: unlimited
    bool acks_first = false;  ///< above every class and past PFC, as congestion notifications
  } transport;

  struct Pfc {
    bool enabled = false;
    double alpha = 0;        ///< XOFF trigger = alpha * free shared pool, per ingress and priority
    base::Bytes xon_offset;  ///< XON this far below the trigger
    bool headroom_computed = true;  ///< by the formula of docs/models/packet.md; else `headroom`
    base::Bytes headroom;           ///< per ingress port and lossless priority
    bool watchdog = false;
    base::Time watchdog_detect = base::Time::picoseconds(200'000'000'000);
    base::Time watchdog_restore = base::Time::picoseconds(200'000'000'000);
    int lossless_classes = 1;  ///< classes 0 to this less one are paused; others drop
  } pfc;

  struct Ecn {
    bool enabled = false;
    base::Bytes kmin;
    base::Bytes kmax;
    double pmax = 0;  ///< 0..1
  } ecn;

  struct Congestion {
    RdmaCongestionControl control = RdmaCongestionControl::kNone;
  } congestion;

  struct Dcqcn {
    double g = 0;
    base::Time alpha_timer;
    base::Time increase_timer;
    base::Time cnp_interval;       ///< least time between two CNPs of a flow, at the receiver
    base::Time decrease_interval;  ///< least time between two rate cuts, at the sender
    base::Bytes byte_counter;      ///< 0: none, the timer alone
    int fast_recovery_steps = 5;
    bool clamp_target = true;  ///< every cut moves the target to the rate before it (the paper);
                               ///< false: only after a timed increase (NVIDIA's default)
    base::Rate additive_increase;
    base::Rate hyper_increase;
    base::Rate minimum_rate;
  } dcqcn;

  struct Hpcc {
    double eta = 0.95;                  ///< target utilisation
    int max_stage = 5;                  ///< additive steps before a multiplicative one
    base::Bytes additive_increase{80};  ///< W_AI, per window update
    base::Time base_rtt;                ///< T; 0: of each flow's own path
    base::Bytes int_header{42};         ///< on every data packet and acknowledgement
    base::Rate minimum_rate = base::Rate::gigabits_per_second(0.1);
  } hpcc;

  struct Ibcc {
    int threshold = 15;     ///< 0: marks nothing; 1 to 15: (16 - threshold)/16 of a lane's buffer
    int marking_rate = 16;  ///< eligible packets between two that are marked
    int packet_size = 0;    ///< x 64 bytes: shorter packets are not marked
    bool victim_mask = false;  ///< ports to adapters mark although they lack credits
    int ccti_increase = 1;     ///< steps of the index for a BECN
    int ccti_limit = 127;      ///< highest index
    int ccti_minimum = 0;      ///< lowest index
    int ccti_timer = 50;       ///< x 1.024 us until the index falls by one
    double cct_step = 0.25;    ///< entry i of the table: a delay of i x this packet times
  } ibcc;

  struct Sharp {
    bool enabled = false;
    SharpStreams streams = SharpStreams::kOnePerPort;
    base::Time latency = base::Time::picoseconds(150'000);  ///< of one reduction, beside the switch
    base::Bytes buffer{256'000};                            ///< a switch's, per child of a tree
    base::Bytes largest_message{1'073'741'792};  ///< longer ones go in pieces, one after the other
  } sharp;

  struct Credits {
    int hoq_lifetime_exponent =
        20;                 ///< 4.096 us x 2^n at the head of a queue; from 20 on: for ever
    base::Bytes vl_buffer;  ///< receive buffer per port and virtual lane, a multiple of 64 bytes
  } credits;

  struct Tcp {
    TcpCongestionControl congestion_control = TcpCongestionControl::kCubic;
    bool sack = true;            ///< RFC 2018 and RFC 6675; false: NewReno, RFC 6582
    int initial_window = 10;     ///< segments (RFC 6928)
    base::Bytes receive_window;  ///< most unread bytes of a connection
    base::Time minimum_rto;
    int streams_per_connection = 1;  ///< sockets that one connection of ranks is spread over
    int cores_per_nic = 1;           ///< cores that run the stack and the copies for one NIC
    base::Time cpu_per_packet;       ///< per segment, one side, with TSO/GRO amortised
    double cpu_ns_per_byte = 0;      ///< copies and checksums, one side
    base::Time interrupt_delay;      ///< moderation, when the receiver is idle
    double queue_alpha = 1;          ///< tail-drop limit = alpha * free pool, per egress queue
  } tcp;
};

/// One declared parameter, for `fabricast catalog`, overrides and tests. kB and MB are decimal.
struct ParameterInfo {
  std::string key;   ///< "ecn.kmin_kb"
  std::string unit;  ///< "kB", "ns", "1", ...; "flag" and "choice" for what is not a number
  double min = 0;
  double max = 0;
  std::string meaning;
  std::vector<std::string> choices;  ///< of a choice, in the order of its numbers
  std::vector<FabricKind> kinds;     ///< the kinds of fabric that have this parameter
};
const std::vector<ParameterInfo>& fabric_parameters();

/// The value of a parameter in its unit; a flag is 0 or 1, a choice the index in `choices`.
/// Throws base::Error (failure) when no parameter has this key.
double parameter(const FabricProfile& profile, std::string_view key);
/// The same as a scenario writes it: "true", "cut-through", "1.5".
std::string parameter_text(const FabricProfile& profile, const ParameterInfo& info);
/// True when this kind of fabric has the parameter.
bool applies(const ParameterInfo& info, FabricKind kind);

/// Applies a scenario's overrides (`{profile: roce-v2, name: mine, ecn: {kmin_kb: 400}}`) to a copy
/// of `profile`; `name` becomes the profile's name, `profile` is the caller's, and nothing else may
/// stand in the mapping. Throws base::Error (input) on an unknown group or key (with the near
/// miss), a parameter that this kind of fabric does not have, a value out of range, or a
/// combination that cannot be built (kmin > kmax, an MTU that InfiniBand does not know, a virtual
/// lane's buffer that is not whole credits or below two packets).
FabricProfile with_overrides(const FabricProfile& profile, base::yaml::Fields& fields);

/// A digest of every parameter, for the phase cache.
std::uint64_t digest(const FabricProfile& profile);

}  // namespace fabricast::catalog
