#pragma once
// The packet engine once more, naively: every packet is an object, every departure and every
// arrival an event in an ordered set, every credit update a packet that arrives. No event is saved,
// nothing is prefetched, nothing lies in a slab. It carries RoCE v2 and InfiniBand over ECMP or
// adaptive routing, with losses and every way of recovery and rate control, and must agree with the
// fast engine to the picosecond.
//
// It shares with the fast engine only what has tests of its own: SharedBuffer, Arbiter, the credit
// counters, and the state machines of congestion control.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "fixtures.h"
#include "network/network.h"
#include "packet/arbiter.h"
#include "packet/credits.h"
#include "packet/ib_congestion.h"
#include "packet/packet.h"
#include "packet/rdma_congestion.h"
#include "packet/shared_buffer.h"

namespace fabricast::packet::testing {

class NaiveEngine {
 public:
  NaiveEngine(std::shared_ptr<const fabric::Fabric> fabric, const FabricProfile& profile,
              std::uint64_t seed, double drop_probability)
      : fabric_(std::move(fabric)),
        profile_(profile),
        seed_(seed),
        drop_probability_(drop_probability) {
    if (controlled_by(catalog::RdmaCongestionControl::kHpcc)) {
      profile_.link.header += profile_.hpcc.int_header;
      profile_.link.ack += profile_.hpcc.int_header;
    }
    const auto ports = fabric_->ports();
    ports_.resize(ports.size());
    for (std::uint32_t p = 0; p < ports.size(); ++p) build_port(p);
    for (std::uint32_t d = 0; d < fabric_->devices().size(); ++d) build_buffer(d);
  }

  struct Job {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    Bytes size;
    Time start;
    unsigned traffic_class = 0;
    network::Completion completion = network::Completion::kDelivered;
  };

  /// When each job was delivered.
  std::vector<Time> run(const std::vector<Job>& jobs) {
    done_.resize(jobs.size());
    parts_left_.resize(jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      at(jobs[i].start.ps(), kTimer, static_cast<std::uint32_t>(i), 0,
         [this, i, &jobs] { send(i, jobs[i]); });
    }
    while (!events_.empty() && delivered_ < jobs.size() && !gave_up) {
      const auto first = events_.begin();
      now_ = std::get<0>(first->first);
      const std::function<void()> act = first->second;
      events_.erase(first);
      act();
    }
    return done_;
  }

  bool gave_up = false;        ///< a queue pair has, and the run ended
  network::Counters counters;  ///< those of packets
  std::uint64_t waits_for_pace = 0;

 private:
  // In the order in which the fast engine takes what happens at one instant. Credits come first: it
  // looks at those that have arrived whenever it wants to send.
  enum Kind {
    kUpdate,
    kArrive,
    kWake,
    kPause,
    kResume,
    kCredit,
    kPaced,
    kControlTimer,
    kRetransmit,
    kMessageStart,
    kDelivered,
    kTimer
  };

  struct Message {  ///< or a queue pair's part of it
    std::size_t job = 0;
    std::uint32_t last = 0;  ///< sequence of its last packet
    network::Completion completion = network::Completion::kDelivered;
  };
  struct QueuePair {
    std::uint32_t number = 0;  ///< in the order in which they were made
    std::uint32_t source = 0;
    std::uint32_t destination = 0;
    unsigned traffic_class = 0;
    std::vector<std::uint32_t> there;
    std::vector<std::uint32_t> back;
    bool ready = false;
    // The sender. All numbers are packets' sequences.
    std::vector<std::int64_t> payloads;
    std::uint32_t posted = 0;
    std::uint32_t next = 0;
    std::uint32_t unacked = 0;
    std::uint32_t highest = 0;  ///< one past the highest ever sent
    std::int64_t deadline = 0;  ///< of the retransmission timer
    int retries = 0;
    std::set<std::uint32_t> reported;  ///< held by the receiver behind a gap
    std::uint32_t lost_before = 0;     ///< what lies before it and is not reported is lost
    std::uint32_t recovery_end = 0;
    std::set<std::uint32_t> resent;  ///< in this recovery
    // Its rate.
    RdmaCongestion control;
    bool paced = false;          ///< waits for its pace, in no ring
    std::int64_t pace = 0;       ///< until then
    std::int64_t sent_at = 0;    ///< the last packet
    std::int64_t sent_wire = 0;  ///< and its length
    Time deadline_of_control = Time::max();
    // The receiver.
    std::uint32_t expected = 0;
    std::set<std::uint32_t> held;  ///< behind a gap
    std::uint32_t unreported = 0;
    bool nak_sent = false;  ///< for this gap
    std::optional<std::int64_t> last_cnp;
    std::list<Message> receiving;
    std::list<Message> unacknowledged;  ///< the sender's
  };
  struct Connection {
    std::vector<std::unique_ptr<QueuePair>> qps;
    std::size_t turn = 0;
  };
  struct Packet {
    QueuePair* qp = nullptr;
    PacketType type = PacketType::kData;
    std::uint32_t sequence = 0;  ///< of a reply: the next one expected
    std::uint32_t held = 0;      ///< of a NAK: the packet that it answers
    std::int64_t wire = 0;
    std::size_t hop = 0;
    std::uint32_t ingress = 0;
    std::int64_t earliest = 0;
    bool marked = false;
    std::vector<IntHop> hops;  ///< telemetry of the switches that it has left
    bool ack_request = false;
  };
  using PacketPtr = std::shared_ptr<Packet>;
  struct Port {
    std::int64_t busy_until = 0;
    std::int64_t q16 = 0;
    std::int64_t propagation = 0;
    std::int64_t pipeline = 0;
    std::uint32_t peer = 0;
    std::uint32_t device = 0;
    bool to_switch = false;
    bool from_switch = false;
    std::int64_t sent = 0;         ///< bytes
    std::list<PacketPtr> control;  ///< CNPs, above every class
    std::vector<std::list<PacketPtr>> queues;
    std::vector<std::int64_t> bytes;
    std::vector<std::list<QueuePair*>> ready;
    std::vector<bool> paused;
    std::vector<CreditSender> credits;
    std::vector<CreditReceiver> receivers;
    std::vector<FecnMarker> markers;
    Arbiter arbiter;
    std::uint32_t draws = 0;
  };

  bool controlled_by(catalog::RdmaCongestionControl control) const {
    return profile_.congestion.control == control;
  }
  bool credits() const { return profile_.kind == FabricKind::kInfiniBand; }
  std::size_t classes() const { return static_cast<std::size_t>(profile_.classes.count); }
  std::size_t lossless() const {
    if (!profile_.pfc.enabled) return 0;
    return static_cast<std::size_t>(
        std::min(profile_.pfc.lossless_classes, profile_.classes.count));
  }

  void build_port(std::uint32_t p) {
    const fabric::Port& cable = fabric_->port(fabric::PortId(p));
    Port& port = ports_[p];
    port.q16 = std::llround(8e12 / static_cast<double>(cable.rate.bps()) * 65536.0);
    port.propagation = (cable.delay + profile_.link.phy).ps();
    port.peer = cable.peer.index();
    port.device = cable.device.index();
    port.from_switch = is_switch(port.device);
    port.to_switch = is_switch(fabric_->port(cable.peer).device.index());
    port.pipeline = port.to_switch ? profile_.switching.latency.ps() : 0;
    port.queues.resize(classes());
    port.bytes.resize(classes());
    port.ready.resize(classes());
    port.paused.resize(classes());
    port.credits.resize(classes());
    port.receivers.resize(classes());
    port.markers.resize(classes());
    port.arbiter = Arbiter(credits() ? Arbiter::Kind::kInfiniBand : Arbiter::Kind::kEthernet);
    for (std::size_t c = 0; c < classes() && credits(); ++c) {
      const std::uint32_t buffer = credit_blocks(profile_.credits.vl_buffer.count());
      port.credits[c].initialise(buffer);
      port.receivers[c].initialise(
          buffer, credit_blocks((profile_.link.mtu + profile_.link.header).count()));
    }
  }

  void build_buffer(std::uint32_t d) {
    const fabric::Device& device = fabric_->devices()[d];
    if (!is_switch(d) || credits()) return;
    SharedBuffer::Spec spec;
    spec.total = profile_.switching.buffer.count();
    spec.ingress_alpha = profile_.pfc.alpha;
    spec.xon_offset = profile_.pfc.xon_offset.count();
    for (std::uint32_t p = 0; p < device.port_count; ++p) {
      const fabric::Port& port = fabric_->ports()[device.first_port + p];
      for (std::size_t c = 0; c < lossless(); ++c) {
        spec.headroom.push_back(pfc_headroom(profile_, port.rate, port.delay).count());
      }
    }
    buffers_.emplace(d, SharedBuffer(std::move(spec)));
  }

  bool is_switch(std::uint32_t device) const {
    return fabric_->devices()[device].kind == fabric::DeviceKind::kSwitch;
  }
  std::size_t place(std::uint32_t port, std::size_t c) const {
    const std::uint32_t first = fabric_->devices()[ports_[port].device].first_port;
    return (port - first) * lossless() + c;
  }

  void at(std::int64_t time, Kind kind, std::uint32_t target, std::uint32_t value,
          std::function<void()> act) {
    events_.emplace(std::tuple(time, static_cast<int>(kind), target, value, order_++),
                    std::move(act));
  }

  std::int64_t serialisation(const Port& port, std::int64_t bytes) const {
    return bytes * port.q16 >> 16;
  }

  std::vector<std::uint32_t> path(std::uint32_t from, std::uint32_t to, std::uint64_t hash) const {
    std::vector<std::uint32_t> ports = {fabric_->endpoint_port(fabric::EndpointId(from)).index()};
    for (;;) {
      const std::uint32_t device = ports_[ports_[ports.back()].peer].device;
      if (!is_switch(device)) return ports;
      const auto choices = fabric_->next_hops(fabric::DeviceId(device), fabric::EndpointId(to));
      const std::uint64_t salted = base::mix64(hash ^ base::mix64(device));
      ports.push_back(choices[salted % choices.size()].index());
    }
  }

  // Links and switches (naive_links.h).
  void wake(std::uint32_t index, std::int64_t time);
  void try_start(std::uint32_t index);
  bool may_go(Port& port, std::size_t c, std::int64_t wire);
  PacketPtr take(std::uint32_t index, std::size_t c);
  void transmit(std::uint32_t index, const PacketPtr& packet);
  void leave(const Packet& packet);
  std::int64_t link_control(std::uint32_t index, std::int64_t bytes);
  void give_back(std::uint32_t ingress, std::size_t c, std::int64_t wire);
  void pause(std::uint32_t ingress, std::size_t c, bool xoff);
  double draw(std::uint32_t port);
  void arrive(std::uint32_t index, const PacketPtr& packet);
  std::uint32_t next_port(const Packet& packet) const;
  bool admit(Packet& packet, std::uint32_t ingress, std::uint32_t egress);
  void enqueue(std::uint32_t index, const PacketPtr& packet);

  // Adapters (naive_rdma.h).
  Connection& connection(const Job& job);
  void send(std::size_t index, const Job& job);
  void post(QueuePair& qp, std::int64_t bytes, Message message);
  void complete_part(std::size_t job);
  static std::optional<std::uint32_t> lost(const QueuePair& qp);
  bool has_work(const QueuePair& qp) const;
  void take_turn(QueuePair& qp);
  void wait_for_turn(QueuePair& qp);
  PacketPtr pull(Port& port, std::size_t c);
  void arm(QueuePair& qp);
  void on_timeout(QueuePair& qp);
  static void begin_recovery(QueuePair& qp);
  void at_host(const Packet& packet);
  void reply(const Packet& to, PacketType type);
  void on_data(const Packet& packet);
  bool acknowledge(const Packet& packet);
  bool complete_messages(QueuePair& qp);
  void on_ack(const Packet& ack);

  // Congestion control (naive_control.h).
  std::int64_t idle_time(const std::vector<std::uint32_t>& path, std::int64_t wire) const;
  void begin_control(QueuePair& qp);
  std::int64_t may_leave_at(const QueuePair& qp) const;
  void wait_for_pace(QueuePair& qp);
  void heed_control(QueuePair& qp);
  void on_cnp(QueuePair& qp);
  bool is_control(const Packet& packet) const;
  void stamp(std::uint32_t index, Packet& packet);
  void mark_at_root(Port& port, Packet& packet);

  std::shared_ptr<const fabric::Fabric> fabric_;
  FabricProfile profile_;
  std::uint64_t seed_;
  double drop_probability_;
  std::int64_t now_ = 0;
  std::uint64_t order_ = 0;
  std::map<std::tuple<std::int64_t, int, std::uint32_t, std::uint32_t, std::uint64_t>,
           std::function<void()>>
      events_;
  std::set<std::pair<std::int64_t, std::uint32_t>> wakes_;  ///< time and port
  std::uint32_t queue_pairs_ = 0;
  std::vector<Port> ports_;
  std::map<std::uint32_t, SharedBuffer> buffers_;
  std::map<std::uint64_t, Connection> connections_;
  std::vector<std::int64_t> parts_left_;  ///< of each job
  std::vector<Time> done_;
  std::size_t delivered_ = 0;
};

}  // namespace fabricast::packet::testing

#include "naive_control.h"
#include "naive_links.h"
#include "naive_rdma.h"
