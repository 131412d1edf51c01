#pragma once
// One network on several threads, with the same results to the last bit as on one.
//
// Every engine plays one part of the devices (shard.h), in windows: conservative synchronisation,
// as in Chandy, Misra and Bryant, with a barrier instead of null messages. What an engine does can
// reach another part no sooner than the least propagation of a link between them, the lookahead, so
// that all of them may run that far beyond the earliest pending event without asking; then they
// hand over what crosses. Events leave every queue in one total order of what they are, so that it
// does not matter which engine played them.
//
// What callers do when a message is complete or a timer is due may touch anything: such events stay
// here, and each is played alone, between windows that end before it. A window therefore ends no
// later than a message could be complete, which the packets on the wires to the adapters tell.

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/team.h"
#include "packet/engine.h"

namespace fabricast::packet {

template <FabricKind K>
class ParallelNetwork final : public PacketNetwork {
  using Engine = packet::Engine<K>;

 public:
  /// PRECONDITION: `can_share` the network so; `engines` are fresh, one per part.
  ParallelNetwork(std::shared_ptr<const fabric::Fabric> fabric,
                  std::shared_ptr<const Partition> partition, network::NodeLinkSpec node_links,
                  std::vector<std::unique_ptr<Engine>> engines);

  /// False: one engine has to do. Faults that change a link at both ends at once are not shared,
  /// nor hosts whose adapters share links, nor is a network without any delay between parts, or
  /// between TCP's cores and the reader.
  static bool can_share(const fabric::Fabric& fabric, const Partition& partition,
                        const catalog::FabricProfile& profile, const Faults& faults) {
    const bool completes_at_once = K == FabricKind::kTcp && profile.host.receive_overhead.ps() == 0;
    return partition.parts > 1 && partition.lookahead.ps() > 0 && faults.schedule.empty() &&
           fabric.spec().host.ways.empty() && !completes_at_once;
  }

  base::Time now() const override { return ours_.now(); }
  void send(base::Rank src, base::Rank dst, base::Bytes size, const network::SendOptions& options,
            network::Callback on_complete) override;
  std::optional<network::ReductionGroup> claim_reduction(
      std::span<const base::Rank> ranks) override;
  void release_reduction(network::ReductionGroup group) override;
  void at(base::Time at, network::Callback callback) override;
  void run() override;
  void stop() override { stopped_ = true; }
  network::Counters counters() const override;
  std::vector<LinkUse> links() const override;
  int threads() const override { return static_cast<int>(engines_.size()); }

 private:
  base::Bytes largest_reduction() const override { return engines_.front()->largest_reduction(); }
  void reduce_once(network::ReductionGroup group, base::Rank rank, base::Bytes size,
                   network::Callback on_complete) override;

  /// Windows with fewer events than this are played by one thread: the barriers would cost more.
  static constexpr std::uint64_t kWorthSharing = 100;

  const Engine& engine_of(std::uint32_t port) const {
    return *engines_[partition_->of(fabric_->port(fabric::PortId(port)).device)];
  }
  std::optional<engine::Event> earliest();
  engine::Event end_of_window(const engine::Event& next) const;
  void play_window(const engine::Event& end);
  void play(unsigned part);
  void take_in(unsigned part);
  void rethrow_first_error();
  base::Error stuck(const std::string& what) const;
  void perform(const engine::Event& event);

  std::shared_ptr<const fabric::Fabric> fabric_;
  std::shared_ptr<const Partition> partition_;
  network::NodeLinks node_links_;
  std::vector<std::unique_ptr<Engine>> engines_;
  engine::EventQueue ours_;  ///< kNodePort, kDelivered and kTimer
  network::Outstanding outstanding_;
  bool stopped_ = false;
  base::Time until_complete_;  ///< least time from the start of a packet to a complete message
  engine::Event end_;          ///< of the window in progress
  std::uint64_t played_ = 0;   ///< events of the last window
  std::vector<std::exception_ptr> errors_;
  std::unique_ptr<base::Team> team_;
};

namespace detail {
inline base::Time sum_or_max(base::Time a, base::Time b) {
  return a > base::Time::max() - b ? base::Time::max() : a + b;
}
}  // namespace detail

template <FabricKind K>
ParallelNetwork<K>::ParallelNetwork(std::shared_ptr<const fabric::Fabric> fabric,
                                    std::shared_ptr<const Partition> partition,
                                    network::NodeLinkSpec node_links,
                                    std::vector<std::unique_ptr<Engine>> engines)
    : fabric_(std::move(fabric)),
      partition_(std::move(partition)),
      node_links_(fabric_->gpus(), node_links),
      engines_(std::move(engines)),
      errors_(engines_.size()) {
  for (unsigned part = 0; part < engines_.size(); ++part) engines_[part]->share(partition_, part);
  const Engine& any = *engines_.front();
  until_complete_ = any.profile_.host.receive_overhead;
  if constexpr (K != FabricKind::kTcp) {
    std::int64_t last_link = kNever;
    for (const PortState& port : any.ports_) {
      if (!port.peer_is_switch) last_link = std::min(last_link, port.propagation_ps);
    }
    until_complete_ += base::Time::picoseconds(last_link);
  }
}

template <FabricKind K>
void ParallelNetwork<K>::send(base::Rank src, base::Rank dst, base::Bytes size,
                              const network::SendOptions& options, network::Callback on_complete) {
  const std::uint32_t index = outstanding_.open_message(size, std::move(on_complete));
  if (fabric_->node_of(src) == fabric_->node_of(dst)) {
    const auto [at, crossing] = node_links_.leave(src, dst, size, options, index, now());
    ours_.push(at, Engine::kNodePort, crossing);
    return;
  }
  for (const auto& engine : engines_) {
    engine->events_.set_now(now());
    engine->outstanding_.follow(index, size);
    engine->post(index, src, dst, size, options);
  }
}

// Every engine claims the same tree.
template <FabricKind K>
std::optional<network::ReductionGroup> ParallelNetwork<K>::claim_reduction(
    std::span<const base::Rank> ranks) {
  std::optional<network::ReductionGroup> group;
  for (const auto& engine : engines_) group = engine->claim_reduction(ranks);
  return group;
}

template <FabricKind K>
void ParallelNetwork<K>::release_reduction(network::ReductionGroup group) {
  for (const auto& engine : engines_) engine->release_reduction(group);
}

template <FabricKind K>
void ParallelNetwork<K>::reduce_once(network::ReductionGroup group, base::Rank rank,
                                     base::Bytes size, network::Callback on_complete) {
  const std::uint32_t index = outstanding_.open_message(size, std::move(on_complete));
  for (const auto& engine : engines_) {
    engine->events_.set_now(now());
    engine->outstanding_.follow(index, size);
    engine->post_reduction(index, group, rank, size);
  }
}

template <FabricKind K>
void ParallelNetwork<K>::at(base::Time at, network::Callback callback) {
  ours_.push(at, Engine::kTimer, outstanding_.open_timer(std::move(callback)));
}

template <FabricKind K>
std::optional<engine::Event> ParallelNetwork<K>::earliest() {
  std::optional<engine::Event> least;
  for (const auto& engine : engines_) {
    if (engine->events_.empty()) continue;
    const engine::Event next = engine->events_.next();
    if (!least || next < *least) least = next;
  }
  return least;
}

template <FabricKind K>
engine::Event ParallelNetwork<K>::end_of_window(const engine::Event& next) const {
  base::Time complete = detail::sum_or_max(next.time(), until_complete_);
  for (const auto& engine : engines_) {
    if (engine->completions_due_.empty()) continue;
    const auto arrival = base::Time::picoseconds(engine->completions_due_.top());
    complete = std::min(complete, arrival + engine->profile_.host.receive_overhead);
  }
  return std::min(engine::Event::make(detail::sum_or_max(next.time(), partition_->lookahead), 0, 0),
                  engine::Event::make(complete, Engine::kDelivered, 0));
}

template <FabricKind K>
void ParallelNetwork<K>::play(unsigned part) {
  try {
    engines_[part]->run_before(end_);
  } catch (...) {
    errors_[part] = std::current_exception();
  }
}

template <FabricKind K>
void ParallelNetwork<K>::take_in(unsigned part) {
  for (const auto& engine : engines_) engines_[part]->take_in(engine->outboxes_[part]);
}

// That of the earliest instant, as on one thread.
template <FabricKind K>
void ParallelNetwork<K>::rethrow_first_error() {
  std::exception_ptr first;
  base::Time when = base::Time::max();
  for (std::size_t part = 0; part < errors_.size(); ++part) {
    if (errors_[part] == nullptr || engines_[part]->now() >= when) continue;
    when = engines_[part]->now();
    first = errors_[part];
  }
  std::fill(errors_.begin(), errors_.end(), nullptr);
  if (first == nullptr) return;
  try {
    std::rethrow_exception(first);
  } catch (const base::Error& error) {
    if (error.kind() != base::ErrorKind::kFailure) throw;
    throw stuck(error.message());
  }
}

template <FabricKind K>
base::Error ParallelNetwork<K>::stuck(const std::string& what) const {
  return Engine::stuck(what, *fabric_,
                       [this](std::uint32_t port) -> const Engine& { return engine_of(port); });
}

template <FabricKind K>
void ParallelNetwork<K>::play_window(const engine::Event& end) {
  const auto popped = [&] {
    std::uint64_t sum = 0;
    for (const auto& engine : engines_) sum += engine->events_.popped();
    return sum;
  };
  const std::uint64_t before = popped();
  const auto parts = static_cast<unsigned>(engines_.size());
  end_ = end;
  if (played_ < kWorthSharing) {
    for (unsigned part = 0; part < parts; ++part) play(part);
    for (unsigned part = 0; part < parts; ++part) take_in(part);
  } else {
    if (team_ == nullptr) {
      team_ = std::make_unique<base::Team>(parts, [this](unsigned part, base::SpinBarrier& all) {
        play(part);
        all.arrive_and_wait();
        take_in(part);
      });
    }
    team_->run();
  }
  played_ = popped() - before;
  rethrow_first_error();
  for (const auto& engine : engines_) {
    for (const auto& [at, message] : engine->completed_) {
      const auto event = engine::Event::make(at, Engine::kDelivered, message);
      if (event < end) throw base::failure("a message that is complete before its time");
      ours_.push(event);
    }
    engine->completed_.clear();
  }
}

template <FabricKind K>
void ParallelNetwork<K>::perform(const engine::Event& event) {
  for (const auto& engine : engines_) engine->events_.set_now(event.time());
  if (event.kind() == Engine::kNodePort) {
    const auto [at, message] = node_links_.enter(event.target(), event.time());
    ours_.push(at, Engine::kDelivered, message);
    return;
  }
  const network::Callback callback = event.kind() == Engine::kTimer
                                         ? outstanding_.close_timer(event.target())
                                         : outstanding_.close_message(event.target());
  if (callback) callback(now());
}

template <FabricKind K>
void ParallelNetwork<K>::run() {
  // Threads that wait by spinning do not outlive the run.
  struct Dismiss {
    std::unique_ptr<base::Team>& team;
    ~Dismiss() { team.reset(); }
  } const dismiss{team_};
  stopped_ = false;
  while (!stopped_ && !outstanding_.none()) {
    const std::optional<engine::Event> next = earliest();
    if (!ours_.empty() && (!next || ours_.next() < *next)) {
      perform(ours_.pop());
    } else if (next) {
      const engine::Event end = end_of_window(*next);
      play_window(ours_.empty() ? end : std::min(end, ours_.next()));
    } else {
      throw stuck("deadlock: messages are outstanding and nothing can move");
    }
  }
}

template <FabricKind K>
network::Counters ParallelNetwork<K>::counters() const {
  network::Counters sum;
  sum.bytes_sent = outstanding_.bytes_sent();
  sum.bytes_delivered = outstanding_.bytes_delivered();
  sum.events = ours_.popped();
  for (const auto& engine : engines_) {
    const network::Counters c = engine->counters();
    sum.events += c.events;
    sum.packet_hops += c.packet_hops;
    sum.data_packets += c.data_packets;
    sum.retransmitted_packets += c.retransmitted_packets;
    sum.dropped_packets += c.dropped_packets;
    sum.ecn_marked_packets += c.ecn_marked_packets;
    sum.cnps += c.cnps;
    sum.pause_frames += c.pause_frames;
    sum.timeouts += c.timeouts;
    sum.link_retries += c.link_retries;
    sum.watchdog_trips += c.watchdog_trips;
    sum.lifetime_discards += c.lifetime_discards;
    sum.paused += c.paused;
    sum.credit_stalled += c.credit_stalled;
    sum.cpu_busy += c.cpu_busy;
    sum.cores = c.cores;
    sum.max_queue_bytes = std::max(sum.max_queue_bytes, c.max_queue_bytes);
  }
  return sum;
}

template <FabricKind K>
std::vector<LinkUse> ParallelNetwork<K>::links() const {
  std::vector<LinkUse> all = engines_.front()->links();
  for (const auto& engine : engines_) {
    const std::vector<LinkUse> theirs = engine->links();
    for (std::uint32_t p = 0; p < all.size(); ++p) {
      if (engine->mine(p)) all[p] = theirs[p];
    }
  }
  return all;
}

}  // namespace fabricast::packet
