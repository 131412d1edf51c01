#pragma once
// The engine itself. `links.h` moves packets between ports, `rdma.h` is the reliable connection at
// the adapters, `tcp.h` the TCP host; each defines the members declared under its heading here.

#include <memory>
#include <queue>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "base/slab.h"
#include "engine/event_queue.h"
#include "fabric/forwarding.h"
#include "network/outstanding.h"
#include "network/routing.h"
#include "packet/arbiter.h"
#include "packet/crossing.h"
#include "packet/faults.h"
#include "packet/flow_state.h"
#include "packet/link.h"
#include "packet/packet_network.h"
#include "packet/partition.h"
#include "packet/reduction_tree.h"
#include "packet/shared_buffer.h"

namespace fabricast::packet {

using catalog::FabricKind;

template <FabricKind K>
class ParallelNetwork;

template <FabricKind K>
class Engine final : public PacketNetwork {
  friend class ParallelNetwork<K>;
  static constexpr bool kCredits = K == FabricKind::kInfiniBand;
  static constexpr bool kEthernet = !kCredits;
  static constexpr bool kTcp = K == FabricKind::kTcp;
  static constexpr bool kRoce = K == FabricKind::kRoceV2;
  using Flow = std::conditional_t<kTcp, TcpConnection, QueuePair>;

 public:
  Engine(std::shared_ptr<const fabric::Fabric> fabric, const catalog::FabricProfile& profile,
         network::NodeLinkSpec node_links, std::uint64_t seed, Faults faults);

  base::Time now() const override { return events_.now(); }
  std::optional<network::ReductionGroup> claim_reduction(
      std::span<const base::Rank> ranks) override;
  void release_reduction(network::ReductionGroup group) override;
  void send(base::Rank src, base::Rank dst, base::Bytes size, const network::SendOptions& options,
            network::Callback on_complete) override;
  void at(base::Time at, network::Callback callback) override;
  void run() override;
  void stop() override { stopped_ = true; }
  network::Counters counters() const override;
  std::vector<LinkUse> links() const override;
  /// What is wrong with the books (queues, buffers, credits) at this instant; empty when nothing
  /// is.
  std::string audit() const;

 private:
  enum EventKind : std::uint8_t {
    kArrive,  ///< head of a link's wire has reached the far end; target: egress port
    kWake,    ///< an egress may start again; target: egress port
    kPause,   ///< XOFF takes effect; target: egress port, value: `frame_of`
    kResume,  ///< XON takes effect; target: egress port, value: `frame_of`
    kCredit,  ///< a flow-control packet reaches a stalled sender; target: egress port, value: class
    kPaced,   ///< a rate-limited queue pair may send again; target: flow
    kControlTimer,  ///< deadline of a congestion control; target: flow
    kRetransmit,    ///< retransmission timer; target: flow
    kDelayedAck,    ///< an acknowledgement has been held back long enough; target: flow
    kCoreDone,      ///< a core has finished its first job; target: core
    kMessageStart,  ///< a message reaches its flow; target: flow, value: packets
    kNodePort,      ///< a message inside a node reaches its receiver's port; target: crossing
    kDelivered,     ///< a message is visible at its destination; target: message
    kFault,         ///< target: of the schedule, value: FaultStage
    kWatchdog,      ///< PFC's watchdog looks at a queue; target: egress port, value: class
    kLifetime,      ///< a head may have waited too long; target: egress port, value: class
    kCrossed,       ///< a packet has crossed from its adapter into the host; target: endpoint
    kTimer,         ///< a caller's timer; target: timer
  };

  enum FaultStage : std::uint32_t { kFaultBegins, kFaultEnds, kReroute };
  /// Which faults a path heeds.
  enum class Known { kNothing, kWhatRoutingKnows };
  /// What the faults that last have made of a cable.
  struct CableState {
    bool down = false;
    bool storm = false;
    double rate = 1;    ///< share of the nominal one
    double feed = 1;    ///< share that the adapter at its end keeps up with
    double errors = 0;  ///< per bit
  };

  /// A message that is complete, for whoever knows what to do then.
  struct Completed {
    base::Time at;
    std::uint32_t message = 0;
  };

  /// Who takes part in a reduction, and what its switches hold.
  struct Member {
    base::Rank rank;
    std::uint32_t flow = 0;
  };
  struct Group {
    ReductionTree tree;
    std::vector<Member> members;
    std::vector<std::uint32_t> node_of;  ///< by device
    /// By node, and by sequence modulo the window: children whose packet is there.
    std::vector<std::vector<std::uint16_t>> arrived;
  };

  // Set-up (engine.h).
  void build_ports();
  void build_buffers();
  std::uint32_t connection(base::Rank src, base::Rank dst, const network::SendOptions& options);
  std::uint32_t make_flow(std::uint32_t source, std::uint32_t destination, std::uint64_t hash,
                          unsigned traffic_class);
  void check_faults() const;
  std::uint32_t make_path(std::uint32_t source, std::uint32_t destination, std::uint64_t hash,
                          Known known);
  std::string name_of(std::uint32_t endpoint) const;
  base::Error no_route(std::uint32_t source, std::uint32_t destination) const;
  base::Error gave_up(std::string_view what, const Flow& flow, const std::string& after) const;
  base::Time start_of_message(Adapter& adapter, base::Bytes size);
  base::Time time_into_host(std::uint32_t message) const;
  void post(std::uint32_t message, base::Rank src, base::Rank dst, base::Bytes size,
            const network::SendOptions& options);
  void add_transfer(std::uint32_t flow, std::int64_t bytes, std::uint32_t message,
                    network::Completion completion, base::Time at);
  void dispatch(const engine::Event& event);

  // Messages on flows (engine.h).
  void on_message_start(std::uint32_t flow, std::uint32_t packets);
  void on_delivered(std::uint32_t message);
  std::uint32_t payload_of(Flow& flow, std::uint32_t sequence);
  void complete_transfers(Flow& flow, std::uint32_t expected);
  void complete_transfer(std::uint32_t message, base::Time delay = {});
  void forget_acknowledged(Flow& flow, std::uint32_t unacked);
  void arm_timer(std::uint32_t index, base::Time timeout);

  // As one of several (shard.h).
  void share(std::shared_ptr<const Partition> partition, unsigned part);
  bool mine(const PortState& port) const;
  bool mine(std::uint32_t port) const { return mine(ports_[port]); }
  Crossing& outbox_towards(std::uint32_t port);
  bool crosses(std::uint32_t port, PacketIndex packet);
  bool may_complete(const PortState& port, const Packet& packet) const;
  void run_before(const engine::Event& bound);
  void take_in(Crossing& in);

  // Links and switches (links.h).
  void try_start(std::uint32_t port);
  void transmit(std::uint32_t port, PacketIndex packet);
  void put_on_wire(std::uint32_t port, PacketIndex packet);
  void wake_at(std::uint32_t port, std::int64_t at_ps);
  void enqueue(std::uint32_t port, PacketIndex packet);
  void on_arrive(std::uint32_t port);
  void forward(PacketIndex packet, std::uint32_t ingress_link);
  std::uint32_t next_port(const Packet& packet, std::uint32_t device) const;
  std::uint32_t choose_port(const Flow& flow, bool forward_direction, std::uint32_t device) const;
  std::uint32_t routed_port(std::uint32_t device, std::uint32_t destination, std::uint64_t hash,
                            Known known) const;
  std::uint32_t least_loaded(const Packet& packet, std::uint32_t device,
                             std::uint32_t destination) const;
  void leave_switch(const PortState& port, const Packet& packet);
  PacketIndex take(std::uint32_t port, unsigned traffic_class);
  PacketIndex take_in_turn(std::uint32_t port, unsigned eligible);
  void drop(PacketIndex packet);
  bool admit(Packet& packet, std::uint32_t ingress, PortState& out);
  void accept_on_lane(std::uint32_t ingress, const Packet& packet);
  void stamp(const PortState& port, PacketIndex packet);
  IntRecord& telemetry_of(PacketIndex packet);
  void mark_at_root(std::uint32_t port, Packet& packet, std::int64_t queued);
  void send_pause(std::uint32_t ingress, unsigned traffic_class, bool xoff);
  void on_pause(std::uint32_t port, unsigned traffic_class);
  void on_resume(std::uint32_t port, unsigned traffic_class);
  void free_credits(std::uint32_t ingress, unsigned traffic_class, std::int64_t bytes);
  std::int64_t send_link_control(std::uint32_t port, std::int64_t bytes);
  void add_credits(std::uint32_t port, unsigned traffic_class, const CreditUpdate& update);
  void read_credit_updates(std::size_t lane);
  void await_credits(std::uint32_t port, unsigned traffic_class);
  void on_credit(std::uint32_t port, unsigned traffic_class);
  void end_stall(PortState& port, unsigned traffic_class);
  bool take_credits(std::uint32_t port, unsigned traffic_class, std::int64_t bytes);
  void on_host(PacketIndex packet);
  SharedBuffer& buffer_of(std::uint32_t device) { return buffers_[device]; }
  /// Classes that PFC keeps from loss.
  bool lossless(unsigned traffic_class) const {
    return kRoce && static_cast<int>(traffic_class) < lossless_classes_;
  }
  /// Place of a port and lossless class in its switch's buffer.
  std::size_t buffer_place(std::uint32_t port, unsigned traffic_class) const {
    return ports_[port].local * static_cast<std::size_t>(lossless_classes_) + traffic_class;
  }
  /// The class of a pause frame, and the outages of its link before it left: one that a link lost
  /// with its cable is not heeded.
  std::uint32_t frame_of(std::uint32_t port, unsigned traffic_class) const {
    return ports_[port].outages << 3 | traffic_class;
  }
  std::size_t lane_of(std::uint32_t port, unsigned traffic_class) const {
    return port * static_cast<std::size_t>(profile_.classes.count) + traffic_class;
  }

  double draw(PortState& port) {
    const std::uint64_t place = static_cast<std::uint64_t>(&port - ports_.data()) << 32;
    return static_cast<double>(base::mix64(draw_salt_ ^ base::mix64(place | port.draws++)) >> 11) *
           0x1p-53;
  }

  // Between adapters and GPUs (host.h).
  void build_hosts();
  std::int64_t cross_host(std::uint32_t endpoint, const std::vector<HostCrossing>& way,
                          std::int64_t payload, std::int64_t from_ps);
  bool fed(std::uint32_t port, unsigned traffic_class);
  void take_payload(std::uint32_t port, const Packet& packet);
  void arrive_at_host(std::uint32_t port, PacketIndex packet);
  void on_crossed(std::uint32_t endpoint);
  void leave_adapter(std::uint32_t port, PacketIndex packet);

  // Faults (outages.h).
  void schedule_faults();
  void begin_settled_faults();
  bool change_cable(std::uint32_t index, bool begins);
  void on_fault(std::uint32_t index, std::uint32_t stage);
  CableState state_of_cable(std::uint32_t port) const;
  void apply(std::uint32_t port, const CableState& state);
  void take_down(std::uint32_t port);
  void bring_up(std::uint32_t port);
  void flush(std::uint32_t port, unsigned traffic_class);
  void discard_head(std::uint32_t port, unsigned traffic_class);
  void restart_credits(std::uint32_t port);
  void note_impairment();
  bool usable(std::uint32_t port, std::uint32_t destination) const;
  void reroute();
  bool corrupts(PortState& port, const Packet& packet);
  void replay(std::uint32_t port);
  void on_watchdog(std::uint32_t port, unsigned traffic_class);
  void watch(std::uint32_t port, unsigned traffic_class, base::Time after);
  void on_lifetime(std::uint32_t port, unsigned traffic_class);
  bool waits(std::uint32_t egress, unsigned traffic_class) const;
  bool holds_from(std::uint32_t egress, unsigned traffic_class, std::uint32_t ingress) const;
  template <class EngineOf>
  static std::vector<std::uint32_t> waiting_cycle(const fabric::Fabric& fabric,
                                                  const EngineOf& engine_of);
  template <class EngineOf>
  static base::Error stuck(std::string what, const fabric::Fabric& fabric,
                           const EngineOf& engine_of);
  base::Error stuck(std::string what) const;

  // Audit (audit.h).
  std::int64_t waiting_from(std::uint32_t ingress, unsigned traffic_class, std::int64_t unit) const;
  std::string audit_port(std::uint32_t port) const;
  std::string audit_buffer(std::uint32_t device) const;
  std::string audit_lane(std::uint32_t port, unsigned traffic_class) const;
  std::string audit_adapter(std::uint32_t endpoint) const;

  // Reliable connections (rdma.h).
  void mark_ready(std::uint32_t index);
  bool has_work(const QueuePair& qp) const;
  void join_ring(std::uint32_t index);
  void leave_ring(PortState& port, ReadyRing& ring, unsigned traffic_class);
  PacketIndex pull(std::uint32_t port, unsigned traffic_class);
  void sent_under_control(std::uint32_t index, std::uint32_t sequence, std::uint16_t wire);
  bool must_pace(const QueuePair& qp) const;
  std::int64_t pace_due(const QueuePair& qp) const;
  void wait_for_turn(std::uint32_t index);
  void on_data(PacketIndex packet);
  bool arrives_in_order(QueuePair& qp, std::uint32_t sequence, bool* duplicate);
  void notify_source(std::uint32_t index);
  void on_ack(PacketIndex packet);
  void acknowledge_to_control(std::uint32_t index, const Packet& ack, std::uint32_t newly,
                              std::span<const IntHop> hops);
  void on_cnp(std::uint32_t index);
  void schedule_pace(std::uint32_t index);
  void on_paced(std::uint32_t index);
  void on_control_timer(std::uint32_t index);
  void on_retransmit_timer(std::uint32_t index);
  void rewind(QueuePair& qp, std::uint32_t sequence);
  void on_gap(QueuePair& qp, std::uint32_t held);
  void reply(std::uint32_t index, PacketType type, std::uint32_t sequence, bool becn = false,
             std::uint32_t behind = 0);
  void heed_control(std::uint32_t index);
  void schedule_control_timer(std::uint32_t index);
  std::uint32_t window_limit(const QueuePair& qp) const;
  void initialise_control(QueuePair& qp);
  base::Time one_way(std::uint32_t path, std::int64_t bytes) const;

  // Reduction in the network (reduction.h).
  base::Bytes largest_reduction() const override { return profile_.sharp.largest_message; }
  void reduce_once(network::ReductionGroup group, base::Rank rank, base::Bytes size,
                   network::Callback on_complete) override;
  void post_reduction(std::uint32_t message, network::ReductionGroup group, base::Rank rank,
                      base::Bytes size);
  void take_ports(const Group& group, int change);
  std::uint32_t reduction_window() const;
  static bool is_member(const Flow& flow) { return flow.source == flow.destination; }
  std::uint32_t make_member(std::uint32_t group, fabric::EndpointId endpoint);
  void reduce_at(PacketIndex packet, std::uint32_t ingress_link);
  void hand_down(PacketIndex packet, const Group& group, const ReductionTree::Node& node,
                 const PortState& in);
  std::int64_t whole_at(const PortState& in, const Packet& packet) const;
  void on_result(PacketIndex packet);

  // TCP hosts (tcp.h).
  void pump(std::uint32_t index);
  void core_push(std::uint32_t core, PacketIndex packet, bool interrupt);
  void on_core_done(std::uint32_t core);
  std::int64_t cpu_cost_ps(const Packet& packet) const;
  void on_tcp_data(PacketIndex packet);
  void on_tcp_ack(PacketIndex packet);
  void acknowledge(std::uint32_t index);
  void on_tcp_timer(std::uint32_t index);
  void on_delayed_ack(std::uint32_t index);

  std::shared_ptr<const fabric::Fabric> fabric_;
  catalog::FabricProfile profile_;
  std::uint64_t seed_;
  Faults faults_;
  network::NodeLinks node_links_;
  engine::EventQueue events_;
  PacketSlab packets_;
  std::vector<PortState> ports_;
  std::vector<SharedBuffer> buffers_;  ///< of the switches, which are the first devices
  bool several_classes_ = false;
  int lossless_classes_ = 0;
  std::vector<Arbiter> arbiters_;             ///< per port, where there are several classes
  std::vector<Lane> lanes_;                   ///< per port and class (InfiniBand)
  std::vector<CreditUpdate> credit_updates_;  ///< a ring per lane
  std::size_t credit_ring_ = 0;               ///< entries of one ring
  std::vector<FecnMarker> markers_;           ///< per lane, with InfiniBand's congestion control
  bool telemetry_on_ = false;                 ///< switches write into packets (HPCC)
  std::vector<IntRecord> telemetry_;          ///< by packet; empty unless it is on
  IntRecord received_;                        ///< of the data packet that is being received
  std::vector<Flow> flows_;
  std::vector<Adapter> adapters_;
  std::vector<Core> cores_;
  bool host_limits_ = false;                ///< hosts hold payload back
  std::vector<HostWay> host_ways_;          ///< per adapter of a node
  std::size_t host_links_ = 0;              ///< of a node
  std::vector<std::int64_t> host_free_ps_;  ///< per node and link: booked until then
  std::vector<std::uint32_t> paths_;
  /// Of static routing: as the subnet manager filled them last, and with every cable working.
  std::shared_ptr<const fabric::ForwardingTables> tables_;
  std::shared_ptr<const fabric::ForwardingTables> whole_tables_;
  /// (src, dst, channel) -> first flow of the connection.
  std::unordered_map<std::uint64_t, std::uint32_t> connections_;
  std::vector<Group> groups_;                   ///< of reductions
  std::vector<std::uint8_t> taken_by_trees_;    ///< by port
  std::vector<std::uint32_t> connection_turn_;  ///< per flow: next flow of its connection to use
  base::Slab<Transfer> transfers_;
  network::Outstanding outstanding_;
  std::uint64_t draw_salt_;
  std::vector<Watch> watches_;  ///< per port and class, with a watchdog
  std::vector<std::uint8_t> fault_active_;
  bool impaired_ = false;             ///< a port is down or avoided
  bool avoiding_ = false;             ///< a port is avoided
  bool routes_changed_ = false;       ///< since the flows' packets now under way were sent
  std::int64_t hoq_lifetime_ps_ = 0;  ///< 0: none
  network::Counters counters_;
  bool stopped_ = false;
  base::Time timeout_;  ///< of an RC queue pair

  // As one of several; else there is no partition.
  std::shared_ptr<const Partition> partition_;
  unsigned part_ = 0;
  std::vector<Crossing> outboxes_;  ///< by part
  std::vector<Completed> completed_;
  /// Arrivals that may complete a message.
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> completions_due_;
};

}  // namespace fabricast::packet

#include "packet/audit.h"
#include "packet/engine_impl.h"
#include "packet/host.h"
#include "packet/links.h"
#include "packet/outages.h"
#include "packet/rdma.h"
#include "packet/reduction.h"
#include "packet/shard.h"
#include "packet/tcp.h"
