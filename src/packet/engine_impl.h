#pragma once
// Set-up of the engine, and how messages lie on flows. Included by engine.h only.

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "packet/engine.h"

namespace fabricast::packet {

template <FabricKind K>
Engine<K>::Engine(std::shared_ptr<const fabric::Fabric> fabric,
                  const catalog::FabricProfile& profile, network::NodeLinkSpec node_links,
                  std::uint64_t seed, Faults faults)
    : fabric_(std::move(fabric)),
      profile_(profile),
      seed_(seed),
      faults_(std::move(faults)),
      node_links_(fabric_->gpus(), node_links),
      draw_salt_(base::mix64(seed ^ base::hash_name("draws"))),
      timeout_(base::Time::picoseconds(4'096'000LL << profile.transport.timeout_exponent)) {
  several_classes_ = profile_.classes.count > 1;
  if (kRoce && profile_.pfc.enabled) {
    lossless_classes_ = std::min(profile_.pfc.lossless_classes, profile_.classes.count);
  }
  telemetry_on_ = kRoce && profile_.congestion.control == catalog::RdmaCongestionControl::kHpcc;
  if (telemetry_on_) {
    profile_.link.header += profile_.hpcc.int_header;
    profile_.link.ack += profile_.hpcc.int_header;
  }
  build_ports();
  if (kCredits && profile_.congestion.control == catalog::RdmaCongestionControl::kInfiniBand) {
    markers_.resize(lanes_.size());
  }
  check_faults();
  tables_ = whole_tables_ = network::forwarding_tables(*fabric_, profile_.paths, {});
  if (several_classes_) {
    arbiters_.resize(ports_.size(),
                     Arbiter(kCredits ? Arbiter::Kind::kInfiniBand : Arbiter::Kind::kEthernet));
  }
  if constexpr (kEthernet) build_buffers();
  if (profile_.pfc.watchdog) watches_.resize(ports_.size() * kMaxClasses);
  if (kCredits && profile_.credits.hoq_lifetime_exponent < 20) {
    hoq_lifetime_ps_ = 4'096'000LL << profile_.credits.hoq_lifetime_exponent;
  }
  schedule_faults();
  adapters_.resize(static_cast<std::size_t>(fabric_->endpoints()));
  build_hosts();
  const std::size_t cores_per_nic =
      kTcp ? static_cast<std::size_t>(profile_.tcp.cores_per_nic) : std::size_t{1};
  cores_.resize(adapters_.size() * cores_per_nic);
  begin_settled_faults();
}

template <FabricKind K>
void Engine<K>::build_ports() {
  const auto devices = fabric_->devices();
  const auto ports = fabric_->ports();
  ports_.resize(ports.size());
  const bool cut_through = profile_.switching.forwarding == catalog::Forwarding::kCutThrough;
  for (std::uint32_t i = 0; i < ports.size(); ++i) {
    PortState& port = ports_[i];
    const fabric::Port& other = fabric_->port(ports[i].peer);
    const bool to_switch = fabric_->device(other.device).kind == fabric::DeviceKind::kSwitch;
    const double ps_per_byte =
        8e12 / (static_cast<double>(ports[i].rate.bps()) * profile_.link.rate_efficiency);
    port.ps_per_byte_q16 = std::llround(ps_per_byte * 65536.0);
    port.gap_per_byte_q16 = port.nominal_per_byte_q16 = port.ps_per_byte_q16;
    port.propagation_ps = (ports[i].delay + profile_.link.phy).ps();
    port.pipeline_ps = to_switch ? profile_.switching.latency.ps() : 0;
    port.peer = ports[i].peer.index();
    port.device = ports[i].device.index();
    port.local = i - devices[port.device].first_port;
    port.peer_is_switch = to_switch;
    port.head_arrives = to_switch && cut_through;
  }
  for (std::uint32_t e = 0; e < static_cast<std::uint32_t>(fabric_->endpoints()); ++e) {
    PortState& port = ports_[fabric_->endpoint_port(fabric::EndpointId(e)).index()];
    port.adapter = e;
    port.gap_per_byte_q16 = static_cast<std::int64_t>(static_cast<double>(port.ps_per_byte_q16) /
                                                      profile_.host.rate_share);
  }
  if constexpr (kCredits) {
    const std::uint32_t buffer = credit_blocks(profile_.credits.vl_buffer.count());
    const std::uint32_t packet = credit_blocks((profile_.link.mtu + profile_.link.header).count());
    if (buffer > kMaxCreditBlocks || buffer < 2 * packet) {
      throw base::input_error(base::Location{{}, 0, 0, "credits.vl_buffer_kb"},
                              std::to_string(profile_.credits.vl_buffer.count()) + " bytes",
                              "two full packets to 131072 bytes (2048 blocks of 64)");
    }
    // The sender cannot be further ahead of what it has read than the largest credit limit.
    credit_ring_ = kMaxCreditBlocks / packet + 2;
    lanes_.resize(ports_.size() * static_cast<std::size_t>(profile_.classes.count));
    credit_updates_.resize(lanes_.size() * credit_ring_);
    for (Lane& lane : lanes_) {
      lane.receiver.initialise(buffer, packet);
      lane.sender.initialise(buffer);
    }
  }
}

template <FabricKind K>
void Engine<K>::build_buffers() {
  const auto devices = fabric_->devices();
  for (std::uint32_t d = 0; d < devices.size(); ++d) {
    if (devices[d].kind != fabric::DeviceKind::kSwitch) break;  // adapters are the last devices
    SharedBuffer::Spec spec;
    spec.total = profile_.switching.buffer.count();
    spec.ingress_alpha = profile_.pfc.alpha;
    spec.queue_alpha = profile_.tcp.queue_alpha;
    spec.xon_offset = profile_.pfc.xon_offset.count();
    for (std::uint32_t p = 0; p < devices[d].port_count; ++p) {
      const fabric::Port& port = fabric_->ports()[devices[d].first_port + p];
      const base::Bytes headroom = profile_.pfc.headroom_computed
                                       ? pfc_headroom(profile_, port.rate, port.delay)
                                       : profile_.pfc.headroom;
      spec.headroom.insert(spec.headroom.end(), static_cast<std::size_t>(lossless_classes_),
                           headroom.count());
    }
    for (const Fault& fault : faults_.schedule) {
      if (fabric_->port(fault.port).device.index() != d) continue;
      if (fault.kind == Fault::Kind::kNoPfc) spec.pfc = false;
      if (fault.kind == Fault::Kind::kNoEcn) spec.ecn = false;
    }
    buffers_.emplace_back(std::move(spec));
  }
}

// A path is the egress ports from the source's adapter to the last switch; kNone when none leads
// there.
template <FabricKind K>
std::uint32_t Engine<K>::make_path(std::uint32_t source, std::uint32_t destination,
                                   std::uint64_t hash, Known known) {
  const auto begin = static_cast<std::uint32_t>(paths_.size());
  const std::uint32_t last =
      ports_[fabric_->endpoint_port(fabric::EndpointId(destination)).index()].device;
  std::uint32_t port = fabric_->endpoint_port(fabric::EndpointId(source)).index();
  for (;;) {
    paths_.push_back(port);
    const std::uint32_t device = ports_[ports_[port].peer].device;
    if (device == last) return begin;
    const bool at_switch = fabric_->devices()[device].kind == fabric::DeviceKind::kSwitch;
    port = at_switch ? routed_port(device, destination, hash, known) : kNone;
    if (port == kNone) {
      paths_.resize(begin);
      return kNone;
    }
  }
}

template <FabricKind K>
std::string Engine<K>::name_of(std::uint32_t endpoint) const {
  const fabric::PortId port = fabric_->endpoint_port(fabric::EndpointId(endpoint));
  return fabric_->device(fabric_->port(port).device).name;
}

template <FabricKind K>
base::Error Engine<K>::no_route(std::uint32_t source, std::uint32_t destination) const {
  return base::failure("no route from " + name_of(source) + " to " + name_of(destination) +
                       ": this topology does not join their rails");
}

// The transport of a flow has tried in vain, and ends the run.
template <FabricKind K>
base::Error Engine<K>::gave_up(std::string_view what, const Flow& flow,
                               const std::string& after) const {
  std::string text("a ");
  text.append(what).append(" from ").append(name_of(flow.source));
  text.append(" to ").append(name_of(flow.destination)).append(" gave up after ").append(after);
  text.append(", ").append(std::to_string(now().ps() / 1'000'000)).append(" us into the run");
  return stuck(text + ": its packets do not get through");
}

template <FabricKind K>
std::uint32_t Engine<K>::make_flow(std::uint32_t source, std::uint32_t destination,
                                   std::uint64_t hash, unsigned traffic_class) {
  const auto index = static_cast<std::uint32_t>(flows_.size());
  Flow& flow = flows_.emplace_back();
  flow.traffic_class = traffic_class;
  flow.hash = hash;
  flow.source = source;
  flow.destination = destination;
  flow.source_port = fabric_->endpoint_port(fabric::EndpointId(source)).index();
  flow.destination_port = fabric_->endpoint_port(fabric::EndpointId(destination)).index();
  // A flow that faults leave without a path loses what it sends until they end.
  const auto path = [&](std::uint32_t from, std::uint32_t to, std::uint64_t path_hash) {
    std::uint32_t found = make_path(from, to, path_hash, Known::kWhatRoutingKnows);
    if (found == kNone) found = make_path(from, to, path_hash, Known::kNothing);
    if (found == kNone) throw no_route(from, to);
    return found;
  };
  flow.path = path(source, destination, hash);
  flow.reverse_path = path(destination, source, base::mix64(hash));
  if constexpr (kTcp) {
    initialise_tcp(flow, profile_);
    const auto per_nic = static_cast<std::uint32_t>(profile_.tcp.cores_per_nic);
    flow.source_core = source * per_nic + adapters_[source].flows++ % per_nic;
    flow.destination_core = destination * per_nic + adapters_[destination].flows++ % per_nic;
  } else {
    flow.last_cnp_ps = std::numeric_limits<std::int64_t>::min() / 2;
    if (profile_.transport.recovery != catalog::LossRecovery::kGoBackN) {
      flow.window.initialise(4096);
      flow.reported.held.initialise(4096);
    }
    initialise_control(flow);
  }
  return index;
}

// Queue pairs (or sockets) of a connection are neighbours in flows_.
template <FabricKind K>
std::uint32_t Engine<K>::connection(base::Rank src, base::Rank dst,
                                    const network::SendOptions& options) {
  if (options.traffic_class >= static_cast<unsigned>(profile_.classes.count)) {
    throw base::failure("a message of a traffic class that the fabric does not have");
  }
  const std::uint64_t key = network::connection_key(src, dst, options);
  const auto [entry, added] =
      connections_.try_emplace(key, static_cast<std::uint32_t>(flows_.size()));
  if (added) {
    for (int i = 0; i < network::flows_per_connection(profile_); ++i) {
      make_flow(fabric_->endpoint_of(src).index(), fabric_->endpoint_of(dst).index(),
                network::flow_hash(seed_, key, i, options.traffic_class), options.traffic_class);
      connection_turn_.push_back(0);
    }
  }
  return entry->second;
}

template <FabricKind K>
void Engine<K>::send(base::Rank src, base::Rank dst, base::Bytes size,
                     const network::SendOptions& options, network::Callback on_complete) {
  const std::uint32_t index = outstanding_.open_message(size, std::move(on_complete));
  if (fabric_->node_of(src) == fabric_->node_of(dst)) {
    const auto [at, crossing] = node_links_.leave(src, dst, size, options, index, now());
    events_.push(at, kNodePort, crossing);
    return;
  }
  post(index, src, dst, size, options);
}

// When the first bit of a message may leave. An adapter starts at most message_rate messages per
// microsecond.
template <FabricKind K>
base::Time Engine<K>::start_of_message(Adapter& adapter, base::Bytes size) {
  const fabric::HostLinks& host = fabric_->spec().host;
  const base::Time start =
      std::max(now() + profile_.host.send_overhead + host.send_latency + host.copy_time(size),
               base::Time::picoseconds(adapter.next_message_ps));
  adapter.next_message_ps = start.ps();
  if (profile_.host.message_rate_mps > 0) {
    adapter.next_message_ps += static_cast<std::int64_t>(1e6 / profile_.host.message_rate_mps);
  }
  return start;
}

template <FabricKind K>
void Engine<K>::post(std::uint32_t index, base::Rank src, base::Rank dst, base::Bytes size,
                     const network::SendOptions& options) {
  const std::uint32_t first = connection(src, dst, options);
  const base::Time start = start_of_message(adapters_[flows_[first].source], size);
  const network::Shares shares(profile_, size.count());
  outstanding_.message(index).transfers_left = static_cast<std::uint32_t>(shares.parts());
  for (std::int64_t i = 0; i < shares.parts(); ++i) {
    const std::uint32_t turn =
        shares.in_turn() ? connection_turn_[first]++ %
                               static_cast<std::uint32_t>(profile_.paths.qps_per_connection)
                         : static_cast<std::uint32_t>(i);
    add_transfer(first + turn, shares.bytes(i), index, options.completion, start);
  }
  if constexpr (!kTcp) {
    const Flow& flow = flows_[first];
    const std::int64_t cpu_ps = shares.parts() * profile_.host.cpu_per_message.ps();
    if (mine(flow.source_port)) cores_[flow.source].busy_ps += cpu_ps;
    if (mine(flow.destination_port)) cores_[flow.destination].busy_ps += cpu_ps;
  }
}

template <FabricKind K>
void Engine<K>::add_transfer(std::uint32_t flow_index, std::int64_t bytes, std::uint32_t message,
                             network::Completion completion, base::Time at) {
  Flow& flow = flows_[flow_index];
  if (!mine(flow.source_port) && !mine(flow.destination_port)) return;
  const std::int64_t mtu = profile_.link.mtu.count();
  const auto count = static_cast<std::uint32_t>((bytes + mtu - 1) / mtu);
  const std::uint32_t index = transfers_.allocate();
  Transfer& transfer = transfers_[index];
  transfer.first = flow.end;
  transfer.last = flow.end + count - 1;
  transfer.last_payload = static_cast<std::uint32_t>(bytes - (count - 1) * mtu);
  transfer.message = message;
  transfer.completion = completion;
  flow.end += count;
  if (flow.newest != kNone) transfers_[flow.newest].next = index;
  flow.newest = index;
  if (flow.oldest == kNone) flow.oldest = index;
  if (flow.sending == kNone) flow.sending = index;
  if (flow.receiving == kNone) flow.receiving = index;
  if (mine(flow.source_port)) events_.push(at, kMessageStart, flow_index, count);
}

template <FabricKind K>
void Engine<K>::on_message_start(std::uint32_t index, std::uint32_t packets) {
  Flow& flow = flows_[index];
  if constexpr (kTcp) {
    flow.sender.enqueue(packets);
    pump(index);
  } else {
    flow.posted += packets;
    mark_ready(index);
  }
}

template <FabricKind K>
void Engine<K>::on_delivered(std::uint32_t index) {
  const network::Callback callback = outstanding_.close_message(index);
  if (callback) callback(now());
}

// Payload bytes of a packet of a flow. Transfers are in order of sequence; the cursor moves forward
// as packets are first sent and is put back by `rewind`.
template <FabricKind K>
std::uint32_t Engine<K>::payload_of(Flow& flow, std::uint32_t sequence) {
  if (flow.sending == kNone || transfers_[flow.sending].first > sequence) {
    flow.sending = flow.oldest;
  }
  while (transfers_[flow.sending].last < sequence) flow.sending = transfers_[flow.sending].next;
  const Transfer& transfer = transfers_[flow.sending];
  return sequence == transfer.last ? transfer.last_payload
                                   : static_cast<std::uint32_t>(profile_.link.mtu.count());
}

// Everything before `expected` has arrived: messages that end there become visible.
template <FabricKind K>
void Engine<K>::complete_transfers(Flow& flow, std::uint32_t expected) {
  while (flow.receiving != kNone && transfers_[flow.receiving].last < expected) {
    const Transfer transfer = transfers_[flow.receiving];
    if (transfer.completion == network::Completion::kDelivered) {
      complete_transfer(transfer.message, time_into_host(transfer.message));
    }
    flow.receiving = transfer.next;
    // The sender, who would forget it, is elsewhere.
    if (!mine(flow.source_port)) forget_acknowledged(flow, transfer.last + 1);
  }
}

// From an adapter to a GPU, beyond what an adapter beside it takes.
template <FabricKind K>
base::Time Engine<K>::time_into_host(std::uint32_t message) const {
  const fabric::HostLinks& host = fabric_->spec().host;
  return host.receive_latency + host.copy_time(base::Bytes(outstanding_.message(message).bytes));
}

template <FabricKind K>
void Engine<K>::complete_transfer(std::uint32_t message, base::Time delay) {
  if (--outstanding_.message(message).transfers_left > 0) return;
  const base::Time at = now() + profile_.host.receive_overhead + delay;
  if (partition_ == nullptr) {
    events_.push(at, kDelivered, message);
  } else {
    completed_.push_back({at, message});
  }
}

template <FabricKind K>
void Engine<K>::forget_acknowledged(Flow& flow, std::uint32_t unacked) {
  while (flow.oldest != kNone && transfers_[flow.oldest].last < unacked) {
    const std::uint32_t done = flow.oldest;
    if (transfers_[done].completion == network::Completion::kAcknowledged &&
        mine(flow.source_port)) {
      const std::uint32_t message = transfers_[done].message;
      complete_transfer(message, is_member(flow) ? time_into_host(message) : base::Time());
    }
    flow.oldest = transfers_[done].next;
    if (flow.sending == done) flow.sending = flow.oldest;
    if (flow.newest == done) flow.newest = kNone;
    transfers_.release(done);
  }
}

template <FabricKind K>
void Engine<K>::arm_timer(std::uint32_t index, base::Time timeout) {
  Flow& flow = flows_[index];
  flow.deadline_ps = (now() + timeout).ps();
  if constexpr (kTcp) {  // its timeout shrinks, too: an event that is earlier replaces the one
                         // pending
    if (flow.timer_pending && flow.timer_at_ps <= flow.deadline_ps) return;
    flow.timer_at_ps = flow.deadline_ps;
  } else {
    if (flow.timer_pending) return;  // it will look at the deadline when it fires
  }
  flow.timer_pending = true;
  events_.push(base::Time::picoseconds(flow.deadline_ps), kRetransmit, index);
}

template <FabricKind K>
void Engine<K>::at(base::Time at, network::Callback callback) {
  events_.push(at, kTimer, outstanding_.open_timer(std::move(callback)));
}

template <FabricKind K>
void Engine<K>::run() {
  stopped_ = false;
  while (!stopped_ && !outstanding_.none()) {
    if (events_.empty()) {
      throw stuck("deadlock: messages are outstanding and nothing can move");
    }
    dispatch(events_.pop());
  }
}

template <FabricKind K>
void Engine<K>::dispatch(const engine::Event& event) {
  switch (event.kind()) {
    case kArrive:
      on_arrive(event.target());
      break;
    case kWake:
      if (ports_[event.target()].wake_ps != event.time_ps) break;  // an earlier one came instead
      ports_[event.target()].wake_ps = kNever;
      try_start(event.target());
      break;
    case kPause:
      if (const unsigned c = event.value & 7U; event.value == frame_of(event.target(), c)) {
        on_pause(event.target(), c);
      }
      break;
    case kResume:
      if (const unsigned c = event.value & 7U; event.value == frame_of(event.target(), c)) {
        on_resume(event.target(), c);
      }
      break;
    case kCredit:
      if constexpr (kCredits) on_credit(event.target(), event.value);
      break;
    case kPaced:
      if constexpr (!kTcp) on_paced(event.target());
      break;
    case kControlTimer:
      if constexpr (!kTcp) on_control_timer(event.target());
      break;
    case kRetransmit:
      if constexpr (kTcp) {
        on_tcp_timer(event.target());
      } else {
        on_retransmit_timer(event.target());
      }
      break;
    case kDelayedAck:
      if constexpr (kTcp) on_delayed_ack(event.target());
      break;
    case kCoreDone:
      if constexpr (kTcp) on_core_done(event.target());
      break;
    case kMessageStart:
      on_message_start(event.target(), event.value);
      break;
    case kNodePort: {
      const auto [at, message] = node_links_.enter(event.target(), now());
      events_.push(at, kDelivered, message);
      break;
    }
    case kDelivered:
      on_delivered(event.target());
      break;
    case kFault:
      on_fault(event.target(), event.value);
      break;
    case kWatchdog:
      on_watchdog(event.target(), event.value);
      break;
    case kLifetime:
      on_lifetime(event.target(), event.value);
      break;
    case kCrossed:
      on_crossed(event.target());
      break;
    case kTimer: {
      const network::Callback callback = outstanding_.close_timer(event.target());
      callback(now());
      break;
    }
    default:
      throw base::failure("unknown event");
  }
}

template <FabricKind K>
std::vector<LinkUse> Engine<K>::links() const {
  std::vector<LinkUse> links;
  links.reserve(ports_.size());
  for (std::uint32_t i = 0; i < ports_.size(); ++i) {
    const PortState& port = ports_[i];
    LinkUse& link = links.emplace_back();
    link.port = fabric::PortId(i);
    link.sent = base::Bytes(port.sent_bytes);
    for (const ClassQueue& queue : port.classes) link.queued += base::Bytes(queue.bytes);
    link.max_queued = base::Bytes(port.max_queued_bytes);
    const std::int64_t paused = port.paused != 0 ? now().ps() - port.paused_since_ps : 0;
    const std::int64_t stalled = port.stalled != 0 ? now().ps() - port.stalled_since_ps : 0;
    link.paused = base::Time::picoseconds(port.paused_ps + paused);
    link.stalled = base::Time::picoseconds(port.stalled_ps + stalled);
  }
  return links;
}

template <FabricKind K>
network::Counters Engine<K>::counters() const {
  network::Counters c = counters_;
  c.bytes_sent = outstanding_.bytes_sent();
  c.bytes_delivered = outstanding_.bytes_delivered();
  c.events = events_.popped();
  for (const LinkUse& link : links()) {
    c.paused += link.paused;
    c.credit_stalled += link.stalled;
    c.max_queue_bytes = std::max(c.max_queue_bytes, link.max_queued.count());
  }
  for (const Core& core : cores_) c.cpu_busy += base::Time::picoseconds(core.busy_ps);
  c.cores = static_cast<int>(cores_.size());
  return c;
}

}  // namespace fabricast::packet
