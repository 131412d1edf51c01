#include "flow/flow_network.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/random.h"

namespace fabricast::flow {

using base::Bytes;
using base::Rank;
using base::Time;
using catalog::FabricKind;
using fabric::EndpointId;
using fabric::PortId;

namespace {

// A millionth of a picosecond: what rounding adds to an end that is on the picosecond.
constexpr double kRounding = 1e-6;
constexpr Time kInstant = Time::picoseconds(1);
// Picoseconds: 53 days from now.
constexpr double kNever = 0x1p62;

/// Payload over everything that a full packet occupies on the wire.
double goodput_of(const catalog::FabricProfile& profile) {
  double header = static_cast<double>(profile.link.header.count());
  if (profile.congestion.control == catalog::RdmaCongestionControl::kHpcc) {
    header += static_cast<double>(profile.hpcc.int_header.count());
  }
  const auto mtu = static_cast<double>(profile.link.mtu.count());
  return mtu / (mtu + header) * profile.link.rate_efficiency;
}

/// Core time of a byte on one side (docs/models/packet.md, "Hosts").
double core_seconds_per_byte(const catalog::FabricProfile& profile) {
  return profile.tcp.cpu_per_packet.s() / static_cast<double>(profile.link.mtu.count()) +
         profile.tcp.cpu_ns_per_byte * 1e-9;
}

}  // namespace

FlowNetwork::FlowNetwork(std::shared_ptr<const fabric::Fabric> fabric,
                         const catalog::FabricProfile& profile, network::NodeLinkSpec node_links,
                         std::shared_ptr<const Behaviour> behaviour, std::uint64_t seed,
                         std::vector<LinkFault> faults, double load)
    : fabric_(std::move(fabric)),
      profile_(profile),
      packet_time_(base::transmission_time(profile.link.mtu + profile.link.header,
                                           fabric_->spec().nic_rate)),
      behaviour_(std::move(behaviour)),
      seed_(seed),
      goodput_(goodput_of(profile) * (1 - load)),
      paths_(*fabric_, profile_, goodput_, sharing_),
      node_links_(fabric_->gpus(), node_links),
      inside_(node_links),
      connections_(static_cast<std::size_t>(fabric_->gpus())),
      adapters_(static_cast<std::size_t>(fabric_->endpoints())),
      faults_(std::move(faults)),
      fault_active_(faults_.size(), 0) {
  const auto perfect = [](double share) { return share >= 1; };
  if (!std::ranges::all_of(behaviour_->efficiency, perfect)) {
    sharing_.set_efficiency(behaviour_->efficiency);
  }
  sharing_.set_victim(behaviour_->victim);
  build_hosts();
  for (std::uint32_t i = 0; i < faults_.size(); ++i) {
    if (faults_[i].settled) {
      fault_active_[i] = 1;
      apply_rate(faults_[i].port);
      continue;
    }
    events_.push(faults_[i].at, kFault, i, kBegins);
    if (faults_[i].duration > Time()) {
      events_.push(faults_[i].at + faults_[i].duration, kFault, i, kEnds);
    }
  }
  if (std::ranges::any_of(fault_active_, [](std::uint8_t on) { return on != 0; })) reroute();
}

void FlowNetwork::build_hosts() {
  if (profile_.kind == FabricKind::kTcp) {
    const std::size_t cores =
        adapters_.size() * static_cast<std::size_t>(profile_.tcp.cores_per_nic);
    for (std::size_t i = 0; i < cores; ++i) cores_.push_back(sharing_.add_link(1));
  }
  const fabric::HostLinks& host = fabric_->spec().host;
  if (host.ways.empty()) return;
  for (int node = 0; node < fabric_->spec().nodes; ++node) {
    for (const fabric::HostLink& link : host.links) {
      host_links_.push_back(sharing_.add_link(static_cast<double>(link.rate.bps()) / 8));
    }
  }
}

std::uint32_t FlowNetwork::connection(Rank src, Rank dst, const network::SendOptions& options) {
  if (options.traffic_class >= static_cast<unsigned>(profile_.classes.count)) {
    throw base::failure("a message of a traffic class that the fabric does not have");
  }
  const std::uint64_t key = network::connection_key(src, dst, options);
  const auto [entry, added] =
      connections_[src.index()].try_emplace(key, static_cast<std::uint32_t>(streams_.size()));
  if (added) {
    for (int i = 0; i < network::flows_per_connection(profile_); ++i) {
      open_stream(fabric_->endpoint_of(src).index(), fabric_->endpoint_of(dst).index(),
                  network::flow_hash(seed_, key, i, options.traffic_class));
    }
  }
  return *entry;
}

FlowNetwork::Stream FlowNetwork::stream_between(std::uint32_t source, std::uint32_t destination,
                                                std::uint64_t hash) {
  Stream stream;
  stream.hash = hash;
  stream.source = source;
  stream.destination = destination;
  if (!cores_.empty()) {
    const auto per_nic = static_cast<std::uint32_t>(profile_.tcp.cores_per_nic);
    stream.source_core = source * per_nic + adapters_[source].streams++ % per_nic;
    stream.destination_core = destination * per_nic + adapters_[destination].streams++ % per_nic;
  }
  return stream;
}

void FlowNetwork::open_stream(std::uint32_t source, std::uint32_t destination, std::uint64_t hash) {
  const auto index = static_cast<std::uint32_t>(streams_.size());
  streams_.push_back(stream_between(source, destination, hash));
  Stream& stream = streams_.back();
  int links = 0;
  stream.flow = flow_over(stream, links);
  stream.path = &behaviour_->path(links);
  turns_.push_back(0);
  stream_of_.resize(stream.flow + std::size_t{1});
  stream_of_[stream.flow] = index;
}

// Congestion treats sources unequally; the queue pairs of one adapter have equal turns.
double FlowNetwork::weight_of(std::uint32_t source) const {
  const std::uint64_t draw = base::mix64(seed_ ^ base::hash_name("weight") ^ base::mix64(source));
  const double unit = static_cast<double>(draw >> 11) * 0x1p-53;
  return 1 + behaviour_->spread * (2 * unit - 1);
}

/// `links`: those of its path.
std::uint32_t FlowNetwork::flow_over(const Stream& stream, int& links) {
  crossings_.clear();
  links = cross(stream, 1, crossings_);
  FlowSpec spec;
  spec.crossings = crossings_;
  spec.path = static_cast<std::uint32_t>(links);
  spec.source = stream.source;
  spec.weight = weight_of(stream.source);
  const double rate = behaviour_->path(links).rate;
  if (rate > 0) spec.cap = rate;
  return sharing_.add_flow(spec);
}

/// Adds all that a stream crosses, with `share` of its rate; returns the links of its path.
int FlowNetwork::cross(const Stream& stream, double share, std::vector<Crossing>& crossings) {
  const int links = paths_.cross(EndpointId(stream.source), EndpointId(stream.destination),
                                 stream.hash, {0, share}, crossings);
  add_acknowledgements(stream, share, crossings);
  add_hosts(stream, share, crossings);
  return links;
}

/// The rate of a flow that has all its links to itself.
double FlowNetwork::alone(std::span<const Crossing> crossings) const {
  double rate = kNoCap;
  for (const Crossing& crossing : crossings) {
    if (crossing.follows || crossing.share <= 0) continue;
    rate = std::min(rate, sharing_.capacity(crossing.link) / crossing.share);
  }
  return rate;
}

// Acknowledgements take their part of the way back.
void FlowNetwork::add_acknowledgements(const Stream& stream, double share,
                                       std::vector<Crossing>& crossings) {
  const auto every = static_cast<double>(profile_.transport.ack_every);
  const double part = static_cast<double>(profile_.link.ack.count()) * goodput_ /
                      (every * static_cast<double>(profile_.link.mtu.count()));
  if (part <= 0) return;
  paths_.cross(EndpointId(stream.destination), EndpointId(stream.source), base::mix64(stream.hash),
               {0, share * part, true}, crossings);
}

void FlowNetwork::add_hosts(const Stream& stream, double share,
                            std::vector<Crossing>& crossings) const {
  if (!cores_.empty()) {
    const double seconds = share * core_seconds_per_byte(profile_);
    crossings.push_back({cores_[stream.source_core], seconds});
    crossings.push_back({cores_[stream.destination_core], seconds});
  }
  const fabric::HostLinks& host = fabric_->spec().host;
  if (host.ways.empty()) return;
  const auto add = [&](std::uint32_t endpoint, bool sends) {
    const std::size_t node = endpoint / host.ways.size();
    const fabric::HostWay& way = host.ways[endpoint % host.ways.size()];
    for (const fabric::HostCrossing& c : sends ? way.send : way.receive) {
      crossings.push_back({host_links_[node * host.links.size() + c.link], share * c.bytes});
    }
  };
  add(stream.source, true);
  add(stream.destination, false);
}

void FlowNetwork::send(Rank src, Rank dst, Bytes size, const network::SendOptions& options,
                       network::Callback on_complete) {
  const std::uint32_t message = outstanding_.open_message(size, std::move(on_complete));
  if (fabric_->node_of(src) == fabric_->node_of(dst)) {
    const auto [at, crossing] = node_links_.leave(src, dst, size, options, message, now());
    events_.push(at, kNodePort, crossing);
    return;
  }
  const std::uint32_t first = connection(src, dst, options);
  const Time start = start_of_message(streams_[first].source, size);
  const bool tcp = profile_.kind == FabricKind::kTcp;
  const network::Shares shares(profile_, size.count());
  outstanding_.message(message).transfers_left = static_cast<std::uint32_t>(shares.parts());
  const auto flows = static_cast<std::uint32_t>(network::flows_per_connection(profile_));
  for (std::int64_t i = 0; i < shares.parts(); ++i) {
    const std::uint32_t turn =
        shares.in_turn() ? turns_[first]++ % flows : static_cast<std::uint32_t>(i);
    post(first + turn, shares.bytes(i), message, options.completion, start);
  }
  cpu_busy_s_ += tcp ? 2 * core_seconds_per_byte(profile_) * static_cast<double>(size.count())
                     : 2 * static_cast<double>(shares.parts()) * profile_.host.cpu_per_message.s();
}

// An adapter starts at most message_rate messages per microsecond.
Time FlowNetwork::start_of_message(std::uint32_t endpoint, Bytes size) {
  const fabric::HostLinks& host = fabric_->spec().host;
  Adapter& adapter = adapters_[endpoint];
  const Time start =
      std::max(now() + profile_.host.send_overhead + host.send_latency + host.copy_time(size),
               adapter.next_message);
  adapter.next_message = start;
  if (profile_.host.message_rate_mps > 0) {
    adapter.next_message +=
        Time::picoseconds(static_cast<std::int64_t>(1e6 / profile_.host.message_rate_mps));
  }
  return start;
}

// What a new connection takes longer falls to its first bytes.
void FlowNetwork::post(std::uint32_t index, std::int64_t bytes, std::uint32_t message,
                       network::Completion completion, Time start) {
  Stream& stream = streams_[index];
  const auto before = static_cast<double>(stream.posted);
  stream.posted += bytes;
  const Curve& ramp = stream.path->ramp;
  const double late =
      ramp.at(static_cast<double>(stream.posted)) - (before > 0 ? ramp.at(before) : 0);
  const std::uint32_t transfer = transfers_.allocate();
  transfers_[transfer] = {bytes, Time::seconds(std::max(0.0, late)), index, message, completion};
  events_.push(start, kStart, transfer);
}

void FlowNetwork::on_start(std::uint32_t transfer) {
  const std::uint32_t index = transfers_[transfer].stream;
  Stream& stream = streams_[index];
  const bool idle = stream.first == kNone;
  (idle ? stream.first : transfers_[stream.last].next) = transfer;
  stream.last = transfer;
  if (!idle) return;
  if (stream.bulk) {
    drain(index);
    return;
  }
  transfers_[transfer].ramp += turn_of(adapters_[stream.source], transfers_[transfer].message);
  ++adapters_[stream.source].busy;
  begin(index);
}

// An adapter serves its queue pairs packet by packet in turn: a message that comes last waits until
// all others have had theirs. This is what lets messages that began together part, and fill each
// other's pauses.
Time FlowNetwork::turn_of(Adapter& adapter, std::uint32_t message) const {
  if (adapter.message != message || adapter.message_at != now()) {
    adapter.message = message;
    adapter.message_at = now();
    adapter.busy_before = adapter.busy;
  }
  const int before = adapter.busy_before;
  return profile_.kind == FabricKind::kTcp || before == 0 ? Time() : packet_time_ * (before + 1);
}

// The first transfer that waits may drain, at once or when the connection has got so far.
void FlowNetwork::begin(std::uint32_t index) {
  Stream& stream = streams_[index];
  const Time ramp = transfers_[stream.first].ramp;
  if (ramp == Time()) {
    drain(index);
    return;
  }
  if (sharing_.active(stream.flow)) sharing_.stop(stream.flow);
  stream.rate = 0;
  ends_.clear(index);
  events_.push(now() + ramp, kBegun, index);
}

void FlowNetwork::drain(std::uint32_t index) {
  Stream& stream = streams_[index];
  stream.left = static_cast<double>(transfers_[stream.first].bytes);
  stream.since = now();
  if (sharing_.active(stream.flow)) {
    schedule_end(index);
    return;
  }
  sharing_.start(stream.flow);
}

void FlowNetwork::on_drained(std::uint32_t index) {
  Stream& stream = streams_[index];
  const std::uint32_t done = stream.first;
  const Transfer transfer = transfers_[done];
  stream.first = transfer.next;
  transfers_.release(done);
  ++drained_;
  deliver(transfer, stream);
  if (stream.first == kNone) {
    sharing_.stop(stream.flow);
    stream.rate = 0;
    if (!stream.bulk) --adapters_[stream.source].busy;
  } else {
    begin(index);
  }
}

void FlowNetwork::deliver(const Transfer& transfer, const Stream& stream) {
  if (--outstanding_.message(transfer.message).transfers_left > 0) return;
  const fabric::HostLinks& host = fabric_->spec().host;
  const Bytes whole(outstanding_.message(transfer.message).bytes);
  double late = stream.path->latency.at(static_cast<double>(transfer.bytes));
  if (stream.bulk) {
    late = bulks_.at(static_cast<std::uint32_t>(&stream - streams_.data())).late(now());
  } else if (transfer.completion == network::Completion::kAcknowledged) {
    late += stream.path->acknowledgement;
  } else {
    late += (host.receive_latency + host.copy_time(whole)).s();
  }
  events_.push(now() + Time::seconds(std::max(0.0, late)), kDelivered, transfer.message);
}

void FlowNetwork::schedule_end(std::uint32_t index) {
  const Stream& stream = streams_[index];
  const double ps = std::ceil(std::max(0.0, stream.left) / stream.rate * 1e12 - kRounding);
  if (ps < kNever) {
    ends_.set(index, now().ps() + static_cast<std::int64_t>(std::max(0.0, ps)));
  } else {
    ends_.clear(index);  // a link of its path is down, and rounding leaves it nothing
  }
}

// New rates for all that the changes of this instant reach.
void FlowNetwork::share() {
  for (const std::uint32_t flow : sharing_.solve()) {
    const std::uint32_t index = stream_of_[flow];
    Stream& stream = streams_[index];
    if (stream.flow != flow || stream.first == kNone) continue;
    stream.left -= (now() - stream.since).s() * stream.rate;
    stream.since = now();
    stream.rate = sharing_.rate(flow);
    schedule_end(index);
  }
}

// The whole is one flow that crosses what every edge crosses. In step it is no faster than its mean
// edge alone: chunk over the time that the chunk takes from hand to hand.
void FlowNetwork::carry(const network::Bulk& bulk, network::Callback on_complete) {
  double most = 0;
  double sum = 0;
  for (const network::Bulk::Edge& edge : bulk.edges) {
    most = std::max(most, edge.bytes);
    sum += edge.bytes;
  }
  std::vector<Crossing> crossings;
  ChunkTime chunk;
  for (const network::Bulk::Edge& edge : bulk.edges) {
    const ChunkTime time = cross_edge(edge, bulk, edge.bytes / most, crossings);
    chunk.wire += time.wire / static_cast<double>(bulk.edges.size());
    chunk.besides += time.besides / static_cast<double>(bulk.edges.size());
  }
  BulkEnd end;
  end.tail_s = chunk.besides + bulk.overhead.s();
  end.fill_s = bulk.fill * (chunk.wire + end.tail_s);
  end.bytes = most;
  end.begun = now();
  FlowSpec spec;
  spec.crossings = crossings;
  spec.source = ~static_cast<std::uint32_t>(streams_.size());
  // On a link that all its queue pairs cross it has as many turns as they.
  spec.weight = network::flows_per_connection(profile_);
  if (bulk.lockstep) {
    spec.cap = end.cap =
        most / bulk.steps / std::max(chunk.wire, (chunk.wire + end.tail_s) / bulk.ahead);
  }

  const auto index = static_cast<std::uint32_t>(streams_.size());
  Stream& stream = streams_.emplace_back();
  stream.bulk = true;
  stream.flow = sharing_.add_flow(spec);
  turns_.push_back(0);
  stream_of_.resize(stream.flow + std::size_t{1});
  stream_of_[stream.flow] = index;
  stream.path = &no_path_;
  bulks_.emplace(index, end);
  const std::uint32_t message = outstanding_.open_message(Bytes::from(sum), std::move(on_complete));
  post(index, std::max<std::int64_t>(1, Bytes::from(most).count()), message,
       network::Completion::kDelivered, now());
}

double FlowNetwork::BulkEnd::late(Time now) const {
  const double seconds = (now - begun).s();
  const double used = seconds > 0 ? std::min(1.0, bytes / seconds / cap) : 0;
  return fill_s + tail_s * (1 - used);
}

FlowNetwork::ChunkTime FlowNetwork::cross_edge(const network::Bulk::Edge& edge,
                                               const network::Bulk& bulk, double share,
                                               std::vector<Crossing>& crossings) {
  const double chunk = edge.bytes / bulk.steps;
  if (fabric_->node_of(edge.from) == fabric_->node_of(edge.to)) {
    return cross_node(edge, chunk, share, crossings);
  }
  const network::SendOptions options{bulk.channel};
  const std::uint64_t key = network::connection_key(edge.from, edge.to, options);
  const int flows = network::flows_per_connection(profile_);
  const std::size_t before = crossings.size();
  int links = 0;
  for (int i = 0; i < flows; ++i) {
    const Stream stream =
        stream_between(fabric_->endpoint_of(edge.from).index(),
                       fabric_->endpoint_of(edge.to).index(), network::flow_hash(seed_, key, i, 0));
    links = cross(stream, share / flows, crossings);
  }
  const PathBehaviour& path = behaviour_->path(links);
  double rate = alone(std::span(crossings).subspan(before)) * share;
  if (path.rate > 0) rate = std::min(rate, path.rate * flows);
  const network::Shares shares(profile_, std::max<std::int64_t>(1, std::llround(chunk)));
  const fabric::HostLinks& host = fabric_->spec().host;
  const Time ends = profile_.host.send_overhead + host.send_latency + host.receive_latency +
                    2 * host.copy_time(Bytes::from(chunk));
  return {chunk / rate, ends.s() + path.latency.at(static_cast<double>(shares.bytes(0)))};
}

FlowNetwork::ChunkTime FlowNetwork::cross_node(const network::Bulk::Edge& edge, double chunk,
                                               double share, std::vector<Crossing>& crossings) {
  const double rate = static_cast<double>(inside_.rate.bps()) / 8;
  if (gpu_links_.empty()) {
    for (int i = 0; i < 2 * fabric_->gpus(); ++i) gpu_links_.push_back(sharing_.add_link(rate));
  }
  if (edge.senders > 1 || edge.receivers > 1) share /= inside_.nvls_share;
  crossings.push_back({gpu_links_[2 * edge.from.index()], share / edge.receivers});
  crossings.push_back({gpu_links_[2 * edge.to.index() + 1], share / edge.senders});
  return {chunk / rate, inside_.latency.s()};
}

void FlowNetwork::at(Time at, network::Callback callback) {
  events_.push(at, kTimer, outstanding_.open_timer(std::move(callback)));
}

void FlowNetwork::play(const engine::Event& event) {
  switch (event.kind()) {
    case kStart:
      on_start(event.target());
      break;
    case kBegun:
      drain(event.target());
      break;
    case kNodePort: {
      const auto [at, message] = node_links_.enter(event.target(), now());
      events_.push(at, kDelivered, message);
      break;
    }
    case kDelivered: {
      const network::Callback callback = outstanding_.close_message(event.target());
      if (callback) callback(now());
      break;
    }
    case kTimer: {
      const network::Callback callback = outstanding_.close_timer(event.target());
      callback(now());
      break;
    }
    case kFault:
      on_fault(event.target(), event.value);
      break;
    default:
      reroute();
  }
}

// Of one instant transfers begin, then they end, then messages are complete; when all of that has
// happened, the rates are worked out.
void FlowNetwork::run() {
  stopped_ = false;
  while (!stopped_ && !outstanding_.none()) {
    const Time end = Time::picoseconds(ends_.next());
    const bool shares = sharing_.stale() && end > now();
    engine::Event event;
    if (events_.pop_before(shares ? engine::Event::make(now() + kInstant, 0, 0)
                                  : engine::Event::make(end, kDrained, 0),
                           event)) {
      play(event);
    } else if (shares) {
      share();
    } else if (end < Time::max()) {
      events_.set_now(end);
      for (const std::uint32_t stream : ends_.take()) on_drained(stream);
    } else {
      throw base::failure("deadlock: messages are outstanding and nothing can move");
    }
  }
}

void FlowNetwork::on_fault(std::uint32_t index, std::uint32_t stage) {
  fault_active_[index] = stage == kBegins ? 1 : 0;
  apply_rate(faults_[index].port);
  if (faults_[index].rate_share <= 0) {
    events_.push(now() + profile_.paths.failover, kReroute, 0);
  }
}

// A cable is as bad as the worst of the faults that last.
void FlowNetwork::apply_rate(PortId port) {
  const PortId peer = fabric_->port(port).peer;
  double share = 1;
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    const bool here = faults_[i].port == port || faults_[i].port == peer;
    if (here && fault_active_[i] != 0) share = std::min(share, faults_[i].rate_share);
  }
  paths_.set_rate(port, share);
  paths_.set_rate(peer, share);
}

// The routing protocol has converged: streams take the paths that are there. One without any keeps
// its old one and waits.
void FlowNetwork::reroute() {
  std::vector<PortId> failed;
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    if (fault_active_[i] != 0 && faults_[i].rate_share <= 0) failed.push_back(faults_[i].port);
  }
  paths_.avoid(failed);
  for (std::uint32_t index = 0; index < streams_.size(); ++index) {
    Stream& stream = streams_[index];
    if (stream.bulk) continue;
    std::uint32_t flow = 0;
    int links = 0;
    try {
      flow = flow_over(stream, links);
    } catch (const base::Error&) {
      continue;
    }
    const bool active = sharing_.active(stream.flow);
    if (active) sharing_.stop(stream.flow);
    stream.flow = flow;
    stream_of_.resize(flow + std::size_t{1});
    stream_of_[flow] = index;
    if (active) sharing_.start(flow);
  }
}

network::Counters FlowNetwork::counters() const {
  network::Counters counters;
  counters.events = events_.popped() + drained_;
  counters.bytes_sent = outstanding_.bytes_sent();
  counters.bytes_delivered = outstanding_.bytes_delivered();
  counters.cpu_busy = Time::seconds(cpu_busy_s_);
  counters.cores = static_cast<int>(std::max(cores_.size(), adapters_.size()));
  return counters;
}

network::Factory factory(std::shared_ptr<const fabric::Fabric> fabric,
                         const catalog::FabricProfile& profile, network::NodeLinkSpec node_links,
                         std::shared_ptr<const Behaviour> behaviour,
                         const std::vector<LinkFault>& faults, double load) {
  return [=, fabric = std::move(fabric), behaviour = std::move(behaviour)](std::uint64_t seed) {
    return std::make_unique<FlowNetwork>(fabric, profile, node_links, behaviour, seed, faults,
                                         load);
  };
}

}  // namespace fabricast::flow
