#pragma once
// The packet engine once more, naively: every packet is an object, every departure and every
// arrival an event in an ordered set, every credit update a packet that arrives. No event is saved,
// nothing is prefetched, nothing lies in a slab. It carries lossless RoCE v2 without rate control
// and InfiniBand, over ECMP, and must agree with the fast engine to the picosecond.
//
// It shares with the fast engine only what has tests of its own: SharedBuffer, Arbiter, the credit
// counters.

#include <algorithm>
#include <cmath>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "fixtures.h"
#include "packet/arbiter.h"
#include "packet/credits.h"
#include "packet/shared_buffer.h"

namespace fabricast::packet::testing {

class NaiveEngine {
 public:
  NaiveEngine(std::shared_ptr<const fabric::Fabric> fabric, const FabricProfile& profile,
              std::uint64_t seed)
      : fabric_(std::move(fabric)), profile_(profile), seed_(seed) {
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
  };

  /// When each job was delivered.
  std::vector<Time> run(const std::vector<Job>& jobs) {
    done_.resize(jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      at(jobs[i].start.ps(), kTimer, static_cast<std::uint32_t>(i), 0,
         [this, i, &jobs] { send(i, jobs[i]); });
    }
    while (!events_.empty() && delivered_ < jobs.size()) {
      const auto first = events_.begin();
      now_ = std::get<0>(first->first);
      const std::function<void()> act = first->second;
      events_.erase(first);
      act();
    }
    return done_;
  }

  std::uint64_t packet_hops = 0;
  std::uint64_t data_packets = 0;
  std::uint64_t marked = 0;
  std::uint64_t pause_frames = 0;
  std::int64_t max_queue = 0;

 private:
  // In the order in which the fast engine takes what happens at one instant. Credits come first: it
  // looks at those that have arrived whenever it wants to send.
  enum Kind { kUpdate, kArrive, kWake, kPause, kResume, kMessageStart, kDelivered, kTimer };

  struct Message {
    std::size_t job = 0;
    std::uint32_t last = 0;  ///< sequence of its last packet
    std::uint32_t last_payload = 0;
  };
  struct QueuePair {
    std::uint32_t number = 0;  ///< in the order in which they were made
    std::uint32_t source = 0;
    std::uint32_t destination = 0;
    unsigned traffic_class = 0;
    std::vector<std::uint32_t> there;
    std::vector<std::uint32_t> back;
    std::uint32_t end = 0;
    std::uint32_t posted = 0;
    std::uint32_t next = 0;
    std::uint32_t expected = 0;
    std::uint32_t unreported = 0;
    bool ready = false;
    std::list<Message> messages;   ///< to be sent
    std::list<Message> receiving;  ///< to be completed
  };
  struct Packet {
    QueuePair* qp = nullptr;
    bool data = true;
    std::int64_t wire = 0;
    std::size_t hop = 0;
    std::uint32_t ingress = 0;
    std::int64_t earliest = 0;
    bool marked = false;
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
    std::vector<std::list<PacketPtr>> queues;
    std::vector<std::int64_t> bytes;
    std::vector<std::list<QueuePair*>> ready;
    std::vector<bool> paused;
    std::vector<CreditSender> credits;
    std::vector<CreditReceiver> receivers;
    Arbiter arbiter;
    std::uint32_t draws = 0;
  };

  bool credits() const { return profile_.kind == FabricKind::kInfiniBand; }
  std::size_t classes() const { return static_cast<std::size_t>(profile_.classes.count); }
  std::size_t lossless() const {
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

  // The queue pairs of a pair and class, made when they are first used.
  QueuePair& queue_pair(const Job& job) {
    const std::uint64_t key = static_cast<std::uint64_t>(job.traffic_class) << 61 |
                              static_cast<std::uint64_t>(job.from) << 40 |
                              static_cast<std::uint64_t>(job.to) << 16;
    auto& made = connections_[key];
    for (int i = static_cast<int>(made.size()); i < profile_.paths.qps_per_connection; ++i) {
      const std::uint64_t pair = base::mix64(key * 64 + static_cast<std::uint64_t>(i));
      const std::uint64_t hash = base::mix64(base::mix64(seed_ ^ base::hash_name("ecmp")) ^ pair ^
                                             job.traffic_class * 0x9e3779b97f4a7c15ULL);
      auto qp = std::make_unique<QueuePair>();
      qp->number = queue_pairs_++;
      qp->source = job.from;
      qp->destination = job.to;
      qp->traffic_class = job.traffic_class;
      qp->there = path(job.from, job.to, hash);
      qp->back = path(job.to, job.from, base::mix64(hash));
      made.push_back(std::move(qp));
    }
    return *made[turn_[key]++ % made.size()];
  }

  void send(std::size_t index, const Job& job) {
    QueuePair& qp = queue_pair(job);
    const std::int64_t mtu = profile_.link.mtu.count();
    const std::int64_t packets = (job.size.count() + mtu - 1) / mtu;
    qp.end += static_cast<std::uint32_t>(packets);
    const Message message{index, qp.end - 1,
                          static_cast<std::uint32_t>(job.size.count() - (packets - 1) * mtu)};
    qp.messages.push_back(message);
    qp.receiving.push_back(message);
    at(now_ + profile_.host.send_overhead.ps(), kMessageStart, qp.number, 0, [this, &qp, packets] {
      qp.posted += static_cast<std::uint32_t>(packets);
      if (qp.ready) return;
      qp.ready = true;
      ports_[qp.there.front()].ready[qp.traffic_class].push_back(&qp);
      try_start(qp.there.front());
    });
  }

  void wake(std::uint32_t index, std::int64_t time) {
    at(time, kWake, index, 0, [this, index] { try_start(index); });
  }

  void try_start(std::uint32_t index) {
    Port& port = ports_[index];
    if (port.busy_until > now_) {
      wake(index, port.busy_until);
      return;
    }
    unsigned eligible = 0;
    for (unsigned c = 0; c < classes(); ++c) {
      const bool something = !port.queues[c].empty() || !port.ready[c].empty();
      if (something && !port.paused[c]) eligible |= 1U << c;
    }
    while (eligible != 0) {
      const unsigned c = classes() > 1 ? port.arbiter.choose(profile_.classes, eligible) : 0;
      eligible &= ~(1U << c);
      if (const PacketPtr packet = take(index, c)) {
        if (classes() > 1) port.arbiter.served(profile_.classes, c, packet->wire);
        transmit(index, packet);
        return;
      }
    }
  }

  bool may_go(Port& port, std::size_t c, std::int64_t wire) {
    if (!credits()) return true;
    if (!port.credits[c].may_send(credit_blocks(wire))) return false;
    port.credits[c].sent(credit_blocks(wire));
    return true;
  }

  PacketPtr take(std::uint32_t index, std::size_t c) {
    Port& port = ports_[index];
    if (!port.queues[c].empty()) {
      const PacketPtr head = port.queues[c].front();
      if (head->earliest > now_) {
        wake(index, head->earliest);
        return nullptr;
      }
      if (!may_go(port, c, head->wire)) return nullptr;
      port.queues[c].pop_front();
      port.bytes[c] -= head->wire;
      return head;
    }
    QueuePair& qp = *port.ready[c].front();
    const Message message = qp.messages.front();
    const bool last = qp.next == message.last;
    const std::int64_t payload = last ? message.last_payload : profile_.link.mtu.count();
    auto packet = std::make_shared<Packet>();
    packet->qp = &qp;
    packet->wire = payload + profile_.link.header.count();
    if (!may_go(port, c, packet->wire)) return nullptr;
    port.ready[c].pop_front();
    ++data_packets;
    ++qp.next;
    if (last) qp.messages.pop_front();
    qp.ready = qp.next < qp.posted;
    if (qp.ready) port.ready[c].push_back(&qp);
    return packet;
  }

  void transmit(std::uint32_t index, const PacketPtr& packet) {
    Port& port = ports_[index];
    if (port.from_switch) leave(*packet);
    const std::int64_t whole = serialisation(port, packet->wire);
    const bool head_counts =
        port.to_switch && profile_.switching.forwarding == catalog::Forwarding::kCutThrough;
    const std::int64_t in =
        head_counts ? serialisation(port, std::min<std::int64_t>(packet->wire, 64)) : whole;
    port.busy_until = now_ + whole;
    ++packet_hops;
    wake(index, port.busy_until);
    at(now_ + in + port.propagation + port.pipeline, kArrive, index, 0,
       [this, index, packet] { arrive(index, packet); });
  }

  void leave(const Packet& packet) {
    const std::size_t c = packet.qp->traffic_class;
    if (credits()) {
      give_back(packet.ingress, c, packet.wire);
      return;
    }
    SharedBuffer& buffer = buffers_.at(ports_[packet.ingress].device);
    if (c >= lossless()) {
      buffer.release_lossy(packet.wire);
      return;
    }
    buffer.release(place(packet.ingress, c), packet.wire);
    if (buffer.resume_due(place(packet.ingress, c))) pause(packet.ingress, c, false);
  }

  std::int64_t link_control(std::uint32_t index, std::int64_t bytes) {
    Port& port = ports_[index];
    port.busy_until = std::max(now_, port.busy_until) + serialisation(port, bytes);
    return port.busy_until + port.propagation;
  }

  void give_back(std::uint32_t ingress, std::size_t c, std::int64_t wire) {
    CreditReceiver& receiver = ports_[ingress].receivers[c];
    if (!receiver.freed(credit_blocks(wire))) return;
    const std::uint32_t sender = ports_[ingress].peer;
    const std::int64_t arrival = link_control(ingress, kFlowControlPacketBytes);
    const std::uint32_t limit = receiver.advertise();
    at(arrival, kUpdate, sender, 0, [this, sender, c, limit, arrival] {
      ports_[sender].credits[c].update(limit);
      wake(sender, arrival);
    });
  }

  void pause(std::uint32_t ingress, std::size_t c, bool xoff) {
    const std::uint32_t sender = ports_[ingress].peer;
    if (xoff) ++pause_frames;
    at(link_control(ingress, kPauseFrameBytes), xoff ? kPause : kResume, sender,
       static_cast<std::uint32_t>(c), [this, sender, c, xoff] {
         ports_[sender].paused[c] = xoff;
         if (!xoff) try_start(sender);
       });
  }

  double draw(std::uint32_t port) {
    const std::uint64_t salt = base::mix64(seed_ ^ base::hash_name("draws"));
    const std::uint64_t number = static_cast<std::uint64_t>(port) << 32 | ports_[port].draws++;
    return static_cast<double>(base::mix64(salt ^ base::mix64(number)) >> 11) * 0x1p-53;
  }

  void arrive(std::uint32_t index, const PacketPtr& packet) {
    const Port& in = ports_[index];
    const std::size_t c = packet->qp->traffic_class;
    ++packet->hop;
    packet->ingress = in.peer;
    if (credits()) {
      ASSERT_TRUE(ports_[in.peer].receivers[c].received(credit_blocks(packet->wire)));
    }
    if (!in.to_switch) {
      if (credits()) give_back(in.peer, c, packet->wire);
      at_host(*packet);
      return;
    }
    const auto& ports = packet->data ? packet->qp->there : packet->qp->back;
    const std::uint32_t egress = ports[packet->hop];
    packet->earliest = now_;
    if (ports_[egress].q16 < in.q16 &&
        profile_.switching.forwarding == catalog::Forwarding::kCutThrough) {
      packet->earliest += serialisation(in, packet->wire) -
                          serialisation(in, std::min<std::int64_t>(packet->wire, 64));
    }
    if (!credits()) admit(*packet, in.peer, egress);
    enqueue(egress, packet);
  }

  void admit(Packet& packet, std::uint32_t ingress, std::uint32_t egress) {
    SharedBuffer& buffer = buffers_.at(ports_[ingress].device);
    const std::size_t c = packet.qp->traffic_class;
    const std::int64_t queued = ports_[egress].bytes[c];
    if (c < lossless()) {
      ASSERT_TRUE(buffer.admit(place(ingress, c), packet.wire));
      if (buffer.pause_due(place(ingress, c))) pause(ingress, c, true);
    } else {
      ASSERT_TRUE(buffer.admit_lossy(packet.wire, queued)) << "this engine cannot send again";
    }
    if (profile_.ecn.enabled && packet.data && !packet.marked) {
      const double p = marking_probability(profile_.ecn, queued);
      packet.marked = p > 0 && draw(egress) < p;
    }
  }

  void enqueue(std::uint32_t index, const PacketPtr& packet) {
    Port& port = ports_[index];
    const std::size_t c = packet->qp->traffic_class;
    port.queues[c].push_back(packet);
    port.bytes[c] += packet->wire;
    max_queue = std::max(max_queue, port.bytes[c]);
    try_start(index);
  }

  void at_host(const Packet& packet) {
    if (!packet.data) return;
    QueuePair& qp = *packet.qp;
    if (packet.marked) ++marked;
    ++qp.expected;
    ++qp.unreported;
    bool message_done = false;
    while (!qp.receiving.empty() && qp.receiving.front().last < qp.expected) {
      const std::size_t job = qp.receiving.front().job;
      qp.receiving.pop_front();
      message_done = true;
      at(now_ + profile_.host.receive_overhead.ps(), kDelivered, static_cast<std::uint32_t>(job), 0,
         [this, job] {
           done_[job] = Time::picoseconds(now_);
           ++delivered_;
         });
    }
    if (!message_done && qp.unreported < static_cast<std::uint32_t>(profile_.transport.ack_every)) {
      return;
    }
    qp.unreported = 0;
    auto ack = std::make_shared<Packet>();
    ack->qp = &qp;
    ack->data = false;
    ack->wire = profile_.link.ack.count();
    ack->earliest = now_;
    enqueue(qp.back.front(), ack);
  }

  std::shared_ptr<const fabric::Fabric> fabric_;
  FabricProfile profile_;
  std::uint64_t seed_;
  std::int64_t now_ = 0;
  std::uint64_t order_ = 0;
  std::map<std::tuple<std::int64_t, int, std::uint32_t, std::uint32_t, std::uint64_t>,
           std::function<void()>>
      events_;
  std::uint32_t queue_pairs_ = 0;
  std::vector<Port> ports_;
  std::map<std::uint32_t, SharedBuffer> buffers_;
  std::map<std::uint64_t, std::vector<std::unique_ptr<QueuePair>>> connections_;
  std::map<std::uint64_t, std::size_t> turn_;
  std::vector<Time> done_;
  std::size_t delivered_ = 0;
};

}  // namespace fabricast::packet::testing
