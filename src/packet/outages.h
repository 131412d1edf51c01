#pragma once
// Faults as the engine plays them: links that go down and come back, routes that avoid them after
// the time that a routing protocol or a subnet manager takes, bit errors and InfiniBand's
// link-level retry, pause storms and PFC's watchdog, packets that outlive their time at the head of
// a queue. Included by engine.h only.

#include <algorithm>
#include <cmath>
#include <string>

#include "packet/engine.h"

namespace fabricast::packet {

template <FabricKind K>
void Engine<K>::schedule_faults() {
  for (std::uint32_t i = 0; i < faults_.schedule.size(); ++i) {
    const Fault& fault = faults_.schedule[i];
    if (fault.kind == Fault::Kind::kNoPfc || fault.kind == Fault::Kind::kNoEcn) continue;
    events_.push(fault.at, kFault, i, kFaultBegins);
    if (fault.duration > base::Time()) {
      events_.push(fault.at + fault.duration, kFault, i, kFaultEnds);
    }
  }
}

template <FabricKind K>
void Engine<K>::on_fault(std::uint32_t index, std::uint32_t stage) {
  const Fault& fault = faults_.schedule[index];
  const std::uint32_t port = fault.port.index();
  const std::uint32_t peer = ports_[port].peer;
  const bool begins = stage == kFaultBegins;
  if (stage == kReroute) {
    reroute();
    return;
  }
  switch (fault.kind) {
    case Fault::Kind::kLinkDown:
      for (const std::uint32_t end : {port, peer}) {
        begins ? take_down(end) : bring_up(end);
      }
      events_.push(now() + profile_.paths.failover, kFault, index, kReroute);
      break;
    case Fault::Kind::kDegraded:
      for (const std::uint32_t end : {port, peer}) {
        set_rate(end, begins ? fault.value : 1, begins ? fault.value : 1);
      }
      break;
    case Fault::Kind::kSlowAdapter:
      for (const std::uint32_t end : {port, peer}) set_rate(end, 1, begins ? fault.value : 1);
      break;
    case Fault::Kind::kBitErrors:
      for (const std::uint32_t end : {port, peer}) {
        ports_[end].log_keep_per_byte = begins ? 8 * std::log1p(-fault.value) : 0;
      }
      break;
    case Fault::Kind::kPauseStorm: {
      // The frames come in time to keep every class paused.
      const std::uint32_t victim = ports_[port].adapter != kNone ? peer : port;
      for (unsigned c = 0; c < static_cast<unsigned>(lossless_classes_); ++c) {
        begins ? on_pause(victim, c) : on_resume(victim, c);
      }
      break;
    }
    case Fault::Kind::kNoPfc:
    case Fault::Kind::kNoEcn:
      break;
  }
}

// `share` of the nominal rate on the wire, packets spaced as at `feed` of it.
template <FabricKind K>
void Engine<K>::set_rate(std::uint32_t index, double share, double feed) {
  PortState& port = ports_[index];
  const double nominal = static_cast<double>(port.nominal_per_byte_q16);
  const double host = port.adapter == kNone ? 1 : profile_.host.rate_share;
  port.ps_per_byte_q16 = std::llround(nominal / share);
  port.gap_per_byte_q16 = std::llround(nominal / std::min(feed, host * share));
}

// Everything on the wire and in the queue is lost; flow control forgets what it knew.
template <FabricKind K>
void Engine<K>::take_down(std::uint32_t index) {
  PortState& port = ports_[index];
  if (port.down) return;
  port.down = true;
  ++ports_down_;
  port.busy_until_ps = kNever;
  port.discarding = 0xff;
  while (!port.wire.empty()) drop(port.wire.pop(packets_));
  while (!port.control.empty()) drop(port.control.pop(packets_));
  for (unsigned c = 0; c < kMaxClasses; ++c) {
    flush(index, c);
    on_resume(index, c);
  }
  if (port.stalled != 0) port.stalled_ps += now().ps() - port.stalled_since_ps;
  port.stalled = 0;
}

template <FabricKind K>
void Engine<K>::bring_up(std::uint32_t index) {
  PortState& port = ports_[index];
  if (!port.down) return;
  port.down = false;
  --ports_down_;
  port.busy_until_ps = now().ps();
  port.discarding = 0;
  if constexpr (kCredits) {
    for (unsigned c = 0; c < static_cast<unsigned>(profile_.classes.count); ++c) {
      Lane& lane = lanes_[lane_of(index, c)];
      lane.updates_begin = lane.updates_end;
      CreditReceiver& receiver = lanes_[lane_of(port.peer, c)].receiver;
      lane.sender = CreditSender();
      lane.sender.initialise(receiver.restart());
    }
  }
  if constexpr (kRoce) {
    if (ports_[port.peer].adapter == kNone) {
      for (unsigned c = 0; c < static_cast<unsigned>(lossless_classes_); ++c) {
        if (buffer_of(ports_[port.peer].device).paused(buffer_place(port.peer, c))) {
          on_pause(index, c);
        }
      }
    }
  }
  try_start(index);
}

// Drops what a class has queued at an egress.
template <FabricKind K>
void Engine<K>::flush(std::uint32_t index, unsigned c) {
  PortState& port = ports_[index];
  ClassQueue& queue = port.classes[c];
  while (!queue.packets.empty()) {
    const PacketIndex packet = queue.packets.pop(packets_);
    queue.bytes -= packets_[packet].wire;
    if (port.adapter == kNone) leave_switch(port, packets_[packet]);
    drop(packet);
  }
  port.queued &= static_cast<ClassMask>(~mask_of(c));
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
  for (PortState& port : ports_) port.avoided = port.down;
  routes_changed_ = true;
  for (Flow& flow : flows_) {
    const auto remade = [&](std::uint32_t from, std::uint32_t to, std::uint64_t hash,
                            std::uint32_t old) {
      const std::size_t end = paths_.size();
      try {
        return make_path(from, to, hash);
      } catch (const base::Error&) {
        paths_.resize(end);
        return old;
      }
    };
    flow.path = remade(flow.source, flow.destination, flow.hash, flow.path);
    flow.reverse_path =
        remade(flow.destination, flow.source, base::mix64(flow.hash), flow.reverse_path);
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

// A packet that has waited for credits at the head of a switch's queue for HOQLife is discarded
// (IBTA Volume 1, section 18.2.5.4), so that a stuck receiver cannot hold the fabric.
template <FabricKind K>
void Engine<K>::on_lifetime(std::uint32_t index, unsigned c) {
  if constexpr (kCredits) {
    PortState& port = ports_[index];
    Lane& lane = lanes_[lane_of(index, c)];
    if ((port.stalled & mask_of(c)) == 0 ||
        lane.stalled_since_ps + hoq_lifetime_ps_ != now().ps()) {
      return;
    }
    ClassQueue& queue = port.classes[c];
    const PacketIndex packet = queue.packets.pop(packets_);
    queue.bytes -= packets_[packet].wire;
    if (queue.packets.empty()) port.queued &= static_cast<ClassMask>(~mask_of(c));
    ++counters_.lifetime_discards;
    leave_switch(port, packets_[packet]);
    drop(packet);
    port.stalled &= static_cast<ClassMask>(~mask_of(c));
    if (port.stalled == 0) port.stalled_ps += now().ps() - port.stalled_since_ps;
    try_start(index);  // stalls anew, with a lifetime of its own, when there is more
  }
}

// Who waits for whom: an egress that is paused or lacks credits waits for room at the far end,
// which the packets that came over it hold in the egress queues there. A cycle of such waits is a
// deadlock. Returns its ports, each waiting for the next; empty when there is none.
template <FabricKind K>
std::vector<std::uint32_t> Engine<K>::waiting_cycle() const {
  enum : std::uint8_t { kUnseen, kOnPath, kDone };
  std::vector<std::uint8_t> state(ports_.size(), kUnseen);
  std::vector<std::uint32_t> path;
  std::vector<std::uint32_t> cycle;
  const auto visit = [&](const auto& self, std::uint32_t index) -> bool {
    const PortState& port = ports_[index];
    if (((port.paused | port.stalled) & port.queued) == 0 || !port.peer_is_switch) return false;
    if (state[index] == kOnPath) {
      cycle.assign(std::find(path.begin(), path.end(), index), path.end());
      return true;
    }
    if (state[index] == kDone) return false;
    state[index] = kOnPath;
    path.push_back(index);
    const fabric::Device& next = fabric_->devices()[ports_[port.peer].device];
    for (std::uint32_t e = next.first_port; e < next.first_port + next.port_count; ++e) {
      bool holds = false;
      for (const ClassQueue& queue : ports_[e].classes) {
        for (PacketIndex i = queue.packets.front(); i != kNone && !holds; i = packets_[i].next) {
          holds = packets_[i].ingress == port.peer;
        }
      }
      if (holds && self(self, e)) return true;
    }
    path.pop_back();
    state[index] = kDone;
    return false;
  };
  for (std::uint32_t i = 0; i < ports_.size() && cycle.empty(); ++i) visit(visit, i);
  return cycle;
}

// `what` went wrong, with the cycle of waits that explains it, where there is one.
template <FabricKind K>
base::Error Engine<K>::stuck(std::string what) const {
  const std::vector<std::uint32_t> cycle = waiting_cycle();
  if (!cycle.empty()) {
    what += "; cyclic buffer dependency: ";
    for (const std::uint32_t port : cycle) {
      what += fabric_->port_name(fabric::PortId(port)) + " waits for ";
    }
    what += fabric_->port_name(fabric::PortId(cycle.front()));
  }
  return base::failure(what);
}

}  // namespace fabricast::packet
