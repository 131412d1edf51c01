#pragma once
// The engine itself. `links.h` moves packets between ports, `rdma.h` is the reliable connection at
// the adapters, `tcp.h` the TCP host; each defines the members declared under its heading here.

#include <memory>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "engine/event_queue.h"
#include "packet/flow_state.h"
#include "packet/link.h"
#include "packet/packet_network.h"
#include "packet/shared_buffer.h"

namespace fabricast::packet {

using catalog::FabricKind;

template <FabricKind K>
class Engine final : public network::Network {
  static constexpr bool kCredits = K == FabricKind::kInfiniBand;
  static constexpr bool kEthernet = !kCredits;
  static constexpr bool kTcp = K == FabricKind::kTcp;
  static constexpr bool kRoce = K == FabricKind::kRoceV2;
  using Flow = std::conditional_t<kTcp, TcpConnection, QueuePair>;

 public:
  Engine(std::shared_ptr<const fabric::Fabric> fabric, const catalog::FabricProfile& profile,
         network::NodeLinkSpec node_links, std::uint64_t seed, Faults faults);

  base::Time now() const override { return events_.now(); }
  void send(base::Rank src, base::Rank dst, base::Bytes size, const network::SendOptions& options,
            network::Callback on_complete) override;
  void at(base::Time at, network::Callback callback) override;
  void run() override;
  void stop() override { stopped_ = true; }
  network::Counters counters() const override;

 private:
  enum EventKind : std::uint8_t {
    kArrive,        ///< head of a link's wire has reached the far end; target: egress port
    kWake,          ///< an egress may start again; target: egress port
    kPause,         ///< XOFF takes effect; target: egress port
    kResume,        ///< XON takes effect; target: egress port
    kCredit,        ///< a flow-control packet reaches a stalled sender; target: egress port
    kPaced,         ///< a rate-limited queue pair may send again; target: flow
    kRateTimer,     ///< DCQCN deadline; target: flow
    kRetransmit,    ///< retransmission timer; target: flow
    kDelayedAck,    ///< an acknowledgement has been held back long enough; target: flow
    kCoreDone,      ///< a core has finished its first job; target: core
    kMessageStart,  ///< a message reaches its flow; target: flow, value: packets
    kDelivered,     ///< a message is visible at its destination; target: message
    kTimer,         ///< a caller's timer; target: timer
  };

  // Set-up (engine.h).
  void build_ports();
  void build_buffers();
  std::uint32_t connection(base::Rank src, base::Rank dst, std::uint32_t channel);
  std::uint32_t make_flow(std::uint32_t source, std::uint32_t destination, std::uint64_t hash);
  std::uint32_t make_path(std::uint32_t source, std::uint32_t destination, std::uint64_t hash);
  base::Error no_route(std::uint32_t source, std::uint32_t destination) const;
  void add_transfer(std::uint32_t flow, std::int64_t bytes, std::uint32_t message,
                    network::Completion completion, base::Time at);
  void dispatch(const engine::Event& event);

  // Messages on flows (engine.h).
  void on_message_start(std::uint32_t flow, std::uint32_t packets);
  void on_delivered(std::uint32_t message);
  std::uint32_t payload_of(Flow& flow, std::uint32_t sequence);
  void complete_transfers(Flow& flow, std::uint32_t expected);
  void complete_transfer(std::uint32_t message);
  void forget_acknowledged(Flow& flow, std::uint32_t unacked);
  void arm_timer(std::uint32_t index, base::Time timeout);

  // Links and switches (links.h).
  void try_start(std::uint32_t port);
  void transmit(std::uint32_t port, PacketIndex packet);
  void wake_at(std::uint32_t port, std::int64_t at_ps);
  void enqueue(std::uint32_t port, PacketIndex packet);
  void on_arrive(std::uint32_t port);
  void forward(PacketIndex packet, std::uint32_t ingress_link);
  std::uint32_t next_port(const Packet& packet, std::uint32_t device) const;
  void leave_switch(const PortState& port, const Packet& packet);
  void send_pause(std::uint32_t ingress, bool xoff);
  void free_credits(std::uint32_t ingress, std::int64_t bytes);
  std::int64_t send_link_control(std::uint32_t port, std::int64_t bytes);
  void read_credit_updates(std::uint32_t port);
  void await_credits(std::uint32_t port);
  bool take_credits(std::uint32_t port, std::int64_t bytes);
  void on_host(PacketIndex packet);
  SharedBuffer& buffer_of(std::uint32_t device) { return buffers_[device]; }
  std::size_t local_port(std::uint32_t port) const { return ports_[port].local; }

  // Reliable connections (rdma.h).
  void mark_ready(std::uint32_t index);
  bool has_work(const QueuePair& qp) const;
  PacketIndex pull(std::uint32_t port);
  void on_data(PacketIndex packet);
  void on_ack(PacketIndex packet);
  void on_cnp(std::uint32_t index);
  void schedule_pace(std::uint32_t index);
  void on_paced(std::uint32_t index);
  void on_rate_timer(std::uint32_t index);
  void on_retransmit_timer(std::uint32_t index);
  void rewind(QueuePair& qp, std::uint32_t sequence);
  void reply(std::uint32_t index, PacketType type, std::uint32_t sequence);
  void schedule_rate_timer(std::uint32_t index);

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
  std::vector<SharedBuffer> buffers_;         ///< of the switches, which are the first devices
  std::vector<CreditUpdate> credit_updates_;  ///< a ring per port
  std::size_t credit_ring_ = 0;               ///< entries of one ring
  std::vector<Flow> flows_;
  std::vector<Adapter> adapters_;
  std::vector<Core> cores_;
  std::vector<std::uint32_t> paths_;
  /// (src, dst, channel) -> first flow of the connection.
  std::unordered_map<std::uint64_t, std::uint32_t> connections_;
  std::vector<std::uint32_t> connection_turn_;  ///< per flow: next flow of its connection to use
  Slab<Transfer> transfers_;
  Slab<Message> messages_;
  Slab<network::Callback> timers_;
  base::RandomStream marking_;
  base::RandomStream errors_;
  network::Counters counters_;
  std::uint64_t outstanding_ = 0;
  bool stopped_ = false;
  base::Time timeout_;  ///< of an RC queue pair
};

}  // namespace fabricast::packet

#include "packet/engine_impl.h"
#include "packet/links.h"
#include "packet/rdma.h"
#include "packet/tcp.h"
