#pragma once
// Faults as the engine plays them: links that go down and come back, routes that avoid them after
// the time that a routing protocol or a subnet manager takes, bit errors and InfiniBand's
// link-level retry, pause storms and PFC's watchdog, packets that outlive their time at the head of
// a queue. Included by engine.h only.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fabric/routes.h"
#include "packet/engine.h"

namespace fabricast::packet {

/// OpenSM's `vl_stall_count` and the time that IBTA gives a stalled lane.
inline constexpr int kVlStallCount = 7;
inline constexpr std::int64_t kVlStallLifetimes = 8;

// Whoever makes the schedule is told at once what it cannot mean.
template <FabricKind K>
void Engine<K>::check_faults() const {
  for (const Fault& fault : faults_.schedule) {
    using Kind = Fault::Kind;
    if (fault.port.index() >= ports_.size()) throw base::failure("a fault of a port that is none");
    const PortState& port = ports_[fault.port.index()];
    const std::string where = fabric_->port_name(fault.port);
    const bool at_host = port.adapter != kNone || ports_[port.peer].adapter != kNone;
    if (fault.kind == Kind::kDegraded || fault.kind == Kind::kSlowAdapter) {
      if (!(fault.value > 0 && fault.value <= 1)) {
        throw base::failure("a rate at " + where + " that is not above 0 and up to 1 of nominal");
      }
    } else if (fault.kind == Kind::kBitErrors && !(fault.value >= 0 && fault.value < 1)) {
      throw base::failure("a bit error rate at " + where + " that is not from 0 to below 1");
    }
    if ((fault.kind == Kind::kSlowAdapter || fault.kind == Kind::kPauseStorm) && !at_host) {
      throw base::failure("an adapter's fault at " + where + ", where there is none");
    }
    if ((fault.kind == Kind::kNoPfc || fault.kind == Kind::kNoEcn) && port.adapter != kNone) {
      throw base::failure("a switch's fault at " + where + ", which is an adapter");
    }
  }
}

template <FabricKind K>
void Engine<K>::schedule_faults() {
  fault_active_.assign(faults_.schedule.size(), 0);
  for (std::uint32_t i = 0; i < faults_.schedule.size(); ++i) {
    const Fault& fault = faults_.schedule[i];
    if (fault.kind == Fault::Kind::kNoPfc || fault.kind == Fault::Kind::kNoEcn) continue;
    if (fault.settled) continue;
    events_.push(fault.at, kFault, i, kFaultBegins);
    if (fault.duration > base::Time()) {
      events_.push(fault.at + fault.duration, kFault, i, kFaultEnds);
    }
  }
}

template <FabricKind K>
void Engine<K>::begin_settled_faults() {
  for (std::uint32_t i = 0; i < faults_.schedule.size(); ++i) {
    if (faults_.schedule[i].settled) change_cable(i, true);
  }
  if (impaired_) reroute();
}

// A cable is as bad as the worst of the faults that last.
template <FabricKind K>
typename Engine<K>::CableState Engine<K>::state_of_cable(std::uint32_t port) const {
  CableState state;
  for (std::size_t i = 0; i < faults_.schedule.size(); ++i) {
    const Fault& fault = faults_.schedule[i];
    const std::uint32_t end = fault.port.index();
    if (fault_active_[i] == 0 || (end != port && end != ports_[port].peer)) continue;
    switch (fault.kind) {
      case Fault::Kind::kLinkDown:
        state.down = true;
        break;
      case Fault::Kind::kDegraded:
        state.rate = std::min(state.rate, fault.value);
        break;
      case Fault::Kind::kSlowAdapter:
        state.feed = std::min(state.feed, fault.value);
        break;
      case Fault::Kind::kBitErrors:
        state.errors = std::max(state.errors, fault.value);
        break;
      case Fault::Kind::kPauseStorm:
        state.storm = true;
        break;
      case Fault::Kind::kNoPfc:
      case Fault::Kind::kNoEcn:
        break;
    }
  }
  return state;
}

template <FabricKind K>
void Engine<K>::on_fault(std::uint32_t index, std::uint32_t stage) {
  if (stage == kReroute) {
    reroute();
    return;
  }
  if (change_cable(index, stage == kFaultBegins)) {
    events_.push(now() + profile_.paths.failover, kFault, index, kReroute);
  }
}

// True when the cable has gone down or come back, which routing has yet to learn.
template <FabricKind K>
bool Engine<K>::change_cable(std::uint32_t index, bool begins) {
  fault_active_[index] = begins ? 1 : 0;
  const std::uint32_t port = faults_.schedule[index].port.index();
  const CableState state = state_of_cable(port);
  const bool turned = state.down != ports_[port].down;
  if (turned) state.down ? take_down(port) : bring_up(port);
  for (const std::uint32_t end : {port, ports_[port].peer}) apply(end, state);
  return turned;
}

// What a cable's state means for one end: the rate on the wire, the spacing of packets where an
// adapter does not keep up, errors, and an adapter whose pause frames come in time to keep every
// class paused.
template <FabricKind K>
void Engine<K>::apply(std::uint32_t index, const CableState& state) {
  PortState& port = ports_[index];
  const double nominal = static_cast<double>(port.nominal_per_byte_q16);
  const double host = port.adapter == kNone ? 1 : profile_.host.rate_share;
  port.ps_per_byte_q16 = std::llround(nominal / state.rate);
  port.gap_per_byte_q16 = std::llround(nominal / std::min({state.rate, state.feed, host}));
  port.errors = state.errors > 0;
  port.log_keep_per_byte = 8 * std::log1p(-state.errors);
  if (port.adapter != kNone || (!state.storm && !port.storm)) return;
  port.storm = state.storm;
  for (unsigned c = 0; c < static_cast<unsigned>(lossless_classes_); ++c) {
    state.storm ? on_pause(index, c) : on_resume(index, c);
  }
}

// Everything on the wire and in the queues of both ends is lost; flow control forgets what it knew.
template <FabricKind K>
void Engine<K>::take_down(std::uint32_t index) {
  impaired_ = true;
  for (const std::uint32_t end : {index, ports_[index].peer}) {
    PortState& port = ports_[end];
    port.down = true;
    ++port.outages;
    port.busy_until_ps = kNever;
    port.discarding = 0xff;
  }
  for (const std::uint32_t end : {index, ports_[index].peer}) {
    PortState& port = ports_[end];
    while (!port.wire.empty()) drop(port.wire.pop(packets_));
    while (!port.control.empty()) drop(port.control.pop(packets_));
    for (unsigned c = 0; c < kMaxClasses; ++c) {
      flush(end, c);
      on_resume(end, c);
    }
    if (port.stalled != 0) port.stalled_ps += now().ps() - port.stalled_since_ps;
    port.stalled = 0;
  }
}

template <FabricKind K>
void Engine<K>::bring_up(std::uint32_t index) {
  for (const std::uint32_t end : {index, ports_[index].peer}) {
    PortState& port = ports_[end];
    port.down = false;
    port.busy_until_ps = now().ps();
    port.discarding = 0;
    port.replays = 0;
    if constexpr (kCredits) restart_credits(end);
  }
  note_impairment();
  for (const std::uint32_t end : {index, ports_[index].peer}) {
    if constexpr (kRoce) {
      const PortState& peer = ports_[ports_[end].peer];
      const auto pauses = [&](unsigned c) {
        if (peer.adapter != kNone) return (adapters_[peer.adapter].pausing & mask_of(c)) != 0;
        SharedBuffer& buffer = buffer_of(peer.device);
        return buffer.pfc() && buffer.paused(buffer_place(ports_[end].peer, c));
      };
      for (unsigned c = 0; c < static_cast<unsigned>(lossless_classes_); ++c) {
        if (pauses(c)) on_pause(end, c);
      }
    }
    try_start(end);
  }
}

// Both ends begin to count anew; what still lies in the receiver's buffer is not free.
template <FabricKind K>
void Engine<K>::restart_credits(std::uint32_t index) {
  for (unsigned c = 0; c < static_cast<unsigned>(profile_.classes.count); ++c) {
    Lane& lane = lanes_[lane_of(index, c)];
    lane.updates_begin = lane.updates_end;
    lane.sender = CreditSender();
    lane.sender.initialise(lanes_[lane_of(ports_[index].peer, c)].receiver.restart());
  }
}

template <FabricKind K>
void Engine<K>::note_impairment() {
  const auto any = [&](auto what) { return std::any_of(ports_.begin(), ports_.end(), what); };
  avoiding_ = any([](const PortState& port) { return port.avoided; });
  impaired_ = avoiding_ || any([](const PortState& port) { return port.down; });
}

// Drops what a class has queued at an egress.
template <FabricKind K>
void Engine<K>::flush(std::uint32_t index, unsigned c) {
  while (!ports_[index].classes[c].packets.empty()) discard_head(index, c);
}

template <FabricKind K>
void Engine<K>::discard_head(std::uint32_t index, unsigned c) {
  PortState& port = ports_[index];
  ClassQueue& queue = port.classes[c];
  const PacketIndex packet = queue.packets.pop(packets_);
  queue.bytes -= packets_[packet].wire;
  if (queue.packets.empty()) port.queued &= static_cast<ClassMask>(~mask_of(c));
  if (port.adapter == kNone) leave_switch(port, packets_[packet]);
  drop(packet);
}

// True when a path over live links, as far as routing knows them, leads through `port`.
template <FabricKind K>
bool Engine<K>::usable(std::uint32_t port, std::uint32_t destination) const {
  if (ports_[port].avoided) return false;
  const std::uint32_t device = ports_[ports_[port].peer].device;
  if (fabric_->devices()[device].kind != fabric::DeviceKind::kSwitch) return true;
  const auto next = fabric_->next_hops(fabric::DeviceId(device), fabric::EndpointId(destination));
  return std::any_of(next.begin(), next.end(),
                     [&](fabric::PortId p) { return usable(p.index(), destination); });
}

// The routing protocol has converged: flows take the paths that are there. A flow without any keeps
// its old one and loses what it sends.
template <FabricKind K>
void Engine<K>::reroute() {
  std::vector<fabric::PortId> failed;
  for (std::uint32_t p = 0; p < ports_.size(); ++p) {
    ports_[p].avoided = ports_[p].down;
    if (ports_[p].down) failed.emplace_back(p);
  }
  note_impairment();
  routes_changed_ = true;
  tables_ = network::forwarding_tables(*fabric_, profile_.paths, failed);
  const auto remake = [&](std::uint32_t from, std::uint32_t to, std::uint64_t hash,
                          std::uint32_t& path) {
    const std::uint32_t found = make_path(from, to, hash, Known::kWhatRoutingKnows);
    if (found != kNone) path = found;
  };
  for (Flow& flow : flows_) {
    if (is_member(flow)) continue;  // has no path
    remake(flow.source, flow.destination, flow.hash, flow.path);
    remake(flow.destination, flow.source, base::mix64(flow.hash), flow.reverse_path);
  }
}

template <FabricKind K>
bool Engine<K>::corrupts(PortState& port, const Packet& packet) {
  return draw(port) >= std::exp(port.log_keep_per_byte * packet.wire);
}

// Link-level retry: the receiver asks for the packet again, and for what followed it. Everything on
// the wire arrives one round trip and one packet later.
template <FabricKind K>
void Engine<K>::replay(std::uint32_t index) {
  PortState& port = ports_[index];
  ++counters_.link_retries;
  const std::int64_t delay =
      2 * port.propagation_ps + port.serialisation_ps(packets_[port.wire.front()].wire);
  std::int64_t last = 0;
  for (PacketIndex i = port.wire.front(); i != kNone; i = packets_[i].next) {
    last = packets_[i].time_ps;
    packets_[i].time_ps += delay;
  }
  port.busy_until_ps =
      std::max(port.busy_until_ps, last - port.propagation_ps - port.pipeline_ps) + delay;
  events_.push(base::Time::picoseconds(packets_[port.wire.front()].time_ps), kArrive, index);
}

// PFC watchdog, as SONiC's: a queue of a switch that has been paused for the detection time drops
// what it holds and what comes, until no pause has been seen for the restoration time.
template <FabricKind K>
void Engine<K>::on_watchdog(std::uint32_t index, unsigned c) {
  PortState& port = ports_[index];
  if (port.down) return;
  Watch& watch = watches_[index * kMaxClasses + c];
  const bool paused = (port.paused & mask_of(c)) != 0;
  const bool storm = (port.discarding & mask_of(c)) != 0;
  if (paused && !storm && watch.since_ps + profile_.pfc.watchdog_detect.ps() == now().ps()) {
    ++counters_.watchdog_trips;
    port.discarding |= mask_of(c);
    flush(index, c);
  } else if (!paused && storm &&
             watch.since_ps + profile_.pfc.watchdog_restore.ps() == now().ps()) {
    port.discarding &= static_cast<ClassMask>(~mask_of(c));
  }
}

// The class has been paused, or resumed: the watchdog looks again after its time.
template <FabricKind K>
void Engine<K>::watch(std::uint32_t index, unsigned c, base::Time after) {
  if (!profile_.pfc.watchdog || ports_[index].adapter != kNone) return;
  watches_[index * kMaxClasses + c].since_ps = now().ps();
  events_.push(now() + after, kWatchdog, index, c);
}

// A packet that has waited for credits at the head of a switch's queue for HOQLife is discarded,
// and after VLStallCount in a row the lane discards everything for eight lifetimes (VLStalled; IBTA
// Volume 1, section 18.2.5.4), so that a stuck receiver cannot hold the fabric.
template <FabricKind K>
void Engine<K>::on_lifetime(std::uint32_t index, unsigned c) {
  if constexpr (kCredits) {
    PortState& port = ports_[index];
    Lane& lane = lanes_[lane_of(index, c)];
    if (lane.discards_until_ps == now().ps() && !port.down) {
      port.discarding &= static_cast<ClassMask>(~mask_of(c));
      return;
    }
    if ((port.stalled & mask_of(c)) == 0 ||
        lane.stalled_since_ps + hoq_lifetime_ps_ != now().ps()) {
      return;
    }
    end_stall(port, c);
    ++counters_.lifetime_discards;
    discard_head(index, c);
    if (++lane.expired < kVlStallCount) {
      try_start(index);  // stalls anew, with a lifetime of its own, when there is more
      return;
    }
    lane.expired = 0;
    lane.discards_until_ps = now().ps() + kVlStallLifetimes * hoq_lifetime_ps_;
    port.discarding |= mask_of(c);
    events_.push(base::Time::picoseconds(lane.discards_until_ps), kLifetime, index, c);
    flush(index, c);
  }
}

// True when an egress holds packets of a class that a switch is to take and that may not leave.
template <FabricKind K>
bool Engine<K>::waits(std::uint32_t egress, unsigned c) const {
  const PortState& port = ports_[egress];
  const unsigned held = (port.paused | port.stalled) & port.queued;
  return port.peer_is_switch && (held & mask_of(c)) != 0;
}

// True when an egress has packets of a class that came in by `ingress`.
template <FabricKind K>
bool Engine<K>::holds_from(std::uint32_t egress, unsigned c, std::uint32_t ingress) const {
  PacketIndex i = ports_[egress].classes[c].packets.front();
  while (i != kNone && packets_[i].ingress != ingress) i = packets_[i].next;
  return i != kNone;
}

// Who waits for whom: an egress that is paused or lacks credits waits for room at the far end,
// which the packets of its class that came over it hold in the egress queues there. A cycle of such
// waits is a deadlock. Returns its ports, each waiting for the next; empty when there is none.
// `engine_of` a port is the engine that moves it.
template <FabricKind K>
template <class EngineOf>
std::vector<std::uint32_t> Engine<K>::waiting_cycle(const fabric::Fabric& fabric,
                                                    const EngineOf& engine_of) {
  const auto ports = static_cast<std::uint32_t>(fabric.ports().size());
  std::vector<std::vector<std::uint32_t>> waits_for(ports * std::size_t{kMaxClasses});
  for (std::uint32_t p = 0; p < ports; ++p) {
    const std::uint32_t ingress = fabric.port(fabric::PortId(p)).peer.index();
    const fabric::Device& next = fabric.device(fabric.port(fabric::PortId(ingress)).device);
    for (unsigned c = 0; c < kMaxClasses; ++c) {
      if (!engine_of(p).waits(p, c)) continue;
      for (std::uint32_t e = next.first_port; e < next.first_port + next.port_count; ++e) {
        if (engine_of(e).waits(e, c) && engine_of(e).holds_from(e, c, ingress)) {
          waits_for[p * kMaxClasses + c].push_back(e * kMaxClasses + c);
        }
      }
    }
  }
  std::vector<std::uint32_t> cycle = fabric::find_cycle(waits_for);
  for (std::uint32_t& node : cycle) node /= kMaxClasses;
  return cycle;
}

// `what` went wrong, with the cycle of waits that explains it, where there is one.
template <FabricKind K>
template <class EngineOf>
base::Error Engine<K>::stuck(std::string what, const fabric::Fabric& fabric,
                             const EngineOf& engine_of) {
  const std::vector<std::uint32_t> cycle = waiting_cycle(fabric, engine_of);
  if (!cycle.empty()) {
    what += "; cyclic buffer dependency: ";
    for (const std::uint32_t port : cycle) {
      what += fabric.port_name(fabric::PortId(port)) + " waits for ";
    }
    what += fabric.port_name(fabric::PortId(cycle.front()));
  }
  return base::failure(what);
}

template <FabricKind K>
base::Error Engine<K>::stuck(std::string what) const {
  if (partition_ != nullptr) return base::failure(what);  // who has all parts knows the cycle
  return stuck(std::move(what), *fabric_, [this](std::uint32_t) -> const Engine& { return *this; });
}

}  // namespace fabricast::packet
