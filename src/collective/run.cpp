#include "collective/run.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"

namespace fabricast::collective {
namespace {

using base::Bytes;
using base::Time;

using Schedules = std::vector<std::unique_ptr<Schedule>>;

/// A channel's way from one position to another, kept at its receiver. Drained, it serves another
/// sender.
struct Connection {
  std::uint32_t from = kNobody;
  std::uint32_t stream = 0;
  std::uint32_t sent = 0;
  std::uint32_t consumed = 0;
  std::uint64_t arrived = 0;               ///< bit s % 64: part number s waits in a slot
  std::uint32_t waiting_sender = kNobody;  ///< lanes
  std::uint32_t waiting_receiver = kNobody;

  bool has_next() const { return (arrived >> (consumed % 64) & 1) != 0; }
  bool drained() const {
    return sent == consumed && waiting_sender == kNobody && waiting_receiver == kNobody;
  }
};

struct Lane {
  std::uint64_t index = 0;
  std::uint64_t steps = 0;
  Step step;  ///< number `index`, once looked up
  Time free;  ///< when it has copied what it took before
  bool looked_up = false;
  bool running = false;
  bool busy = false;
};

/// Names a lane: a group, a position in it, a lane of that.
struct Place {
  std::uint32_t group;
  std::uint32_t position;
  std::uint32_t lane;
};

/// Notes in `marks` how far the slowest channel has come.
class ProgressMarks {
 public:
  ProgressMarks(const Schedules& schedules, const RunOptions& options)
      : schedules_(schedules), marks_(*options.marks), gpus_per_node_(options.gpus_per_node) {
    measure(true);
    crosses_ = channels_ > 0;
    if (!crosses_) measure(false);
    reached_.assign(marks_.shares.size(), 0);
  }

  /// `part` leaves a position of a group on a channel.
  void sent(std::uint32_t group, std::uint32_t position, std::uint32_t channel, const Part& part,
            Time now) {
    if (crosses_ && !crosses(group, position, part)) return;
    Progress& progress = progress_[first_[group] + channel];
    progress.sent += part.bytes.count();
    while (progress.share < marks_.shares.size() &&
           static_cast<double>(progress.sent) >=
               marks_.shares[progress.share] * static_cast<double>(progress.to_send)) {
      if (++reached_[progress.share++] == channels_) marks_.at.push_back(now);
    }
  }

 private:
  struct Progress {
    std::int64_t to_send = 0;
    std::int64_t sent = 0;
    std::size_t share = 0;  ///< the next to be reached
  };

  bool crosses(std::uint32_t group, std::uint32_t position, const Part& part) const {
    if (part.peer == kSwitches) return true;
    const auto& ranks = schedules_[group]->group();
    const auto node = [this](base::Rank rank) {
      return gpus_per_node_ == 0 ? rank.index() : rank.index() / gpus_per_node_;
    };
    return node(ranks[position]) != node(ranks[part.peer]);
  }
  void measure(bool crossing) {
    progress_.clear();
    first_.clear();
    for (std::uint32_t g = 0; g < schedules_.size(); ++g) {
      first_.push_back(progress_.size());
      progress_.resize(progress_.size() + schedules_[g]->channels());
      measure(g, crossing);
    }
    channels_ = static_cast<std::size_t>(
        std::ranges::count_if(progress_, [](const Progress& p) { return p.to_send > 0; }));
  }
  void measure(std::uint32_t g, bool crossing) {
    const Schedule& schedule = *schedules_[g];
    Step step;
    for (std::uint32_t p = 0; p < schedule.group().size(); ++p) {
      for (std::uint32_t l = 0; l < schedule.lanes(); ++l) {
        Progress& progress = progress_[first_[g] + schedule.channel_of(l)];
        for (std::uint64_t i = 0; i < schedule.steps(p, l); ++i) {
          step.clear();
          schedule.step(p, l, i, step);
          for (const Part& part : step.send) {
            if (!crossing || crosses(g, p, part)) progress.to_send += part.bytes.count();
          }
        }
      }
    }
  }

  const Schedules& schedules_;
  Marks& marks_;
  std::uint32_t gpus_per_node_;
  bool crosses_ = false;
  std::size_t channels_ = 0;  ///< that have something to send
  std::vector<Progress> progress_;
  std::vector<std::size_t> first_;    ///< of each group, in `progress_`
  std::vector<std::size_t> reached_;  ///< channels, per share
};

class Runner {
 public:
  Runner(network::Network& network, const Schedules& schedules, const RunOptions& options)
      : network_(network), schedules_(schedules), options_(options) {
    for (const auto& schedule : schedules_) {
      first_lane_.push_back(lanes_.size());
      lanes_.resize(lanes_.size() + schedule->group().size() * schedule->lanes());
      first_inbox_.push_back(inboxes_.size());
      inboxes_.resize(inboxes_.size() + schedule->group().size() * schedule->channels());
    }
    claim_reductions();
    if (options_.marks != nullptr) marks_.emplace(schedules, options);
  }
  ~Runner() {
    for (const network::ReductionGroup group : claimed_) network_.release_reduction(group);
  }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  Runner(Runner&&) = delete;
  Runner& operator=(Runner&&) = delete;

  Time run() {
    const Time begin = network_.now();
    Time latest = begin;
    for (std::uint32_t g = 0; g < schedules_.size(); ++g) {
      const Schedule& schedule = *schedules_[g];
      for (std::uint32_t p = 0; p < schedule.group().size(); ++p) {
        const Time start = begin + start_of(schedule.group()[p]);
        latest = std::max(latest, start);
        for (std::uint32_t l = 0; l < schedule.lanes(); ++l) {
          lane({g, p, l}).steps = schedule.steps(p, l);
          if (lane({g, p, l}).steps == 0) continue;
          ++unfinished_;
          network_.at(start + options_.launch, [this, place = Place{g, p, l}](Time) {
            lane(place).running = true;
            advance(place);
          });
        }
      }
    }
    if (unfinished_ == 0) return Time();
    network_.run();
    return std::max(finished_at_, latest) - latest;
  }

 private:
  void claim_reductions() {
    for (const auto& schedule : schedules_) {
      for (const std::vector<base::Rank>& ranks : schedule->reductions()) {
        const auto group = network_.claim_reduction(ranks);
        if (!group) {
          throw base::input_error({}, "a collective that switches reduce",
                                  "SHARP switched on in the fabric, trees left for all groups that "
                                  "run at once, and packets rather than flows");
        }
        claimed_.push_back(*group);
        for (const base::Rank rank : ranks) {
          if (rank.index() >= reduction_of_.size()) reduction_of_.resize(rank.index() + 1);
          reduction_of_[rank.index()] = *group;
        }
      }
    }
  }

  Time start_of(base::Rank rank) const {
    return options_.start.empty() ? Time() : options_.start[rank.index()];
  }
  Lane& lane(Place at) {
    return lanes_[first_lane_[at.group] + std::size_t{at.position} * schedules_[at.group]->lanes() +
                  at.lane];
  }
  std::vector<Connection>& inbox(Place at, std::uint32_t channel) {
    return inboxes_[first_inbox_[at.group] +
                    std::size_t{at.position} * schedules_[at.group]->channels() + channel];
  }
  /// Index into the inbox.
  static std::uint32_t connection(std::vector<Connection>& inbox, std::uint32_t from,
                                  std::uint32_t stream) {
    std::uint32_t free = kNobody;
    for (std::uint32_t i = 0; i < inbox.size(); ++i) {
      if (inbox[i].from == from && inbox[i].stream == stream) return i;
      if (free == kNobody && inbox[i].drained()) free = i;
    }
    if (free == kNobody) {
      free = static_cast<std::uint32_t>(inbox.size());
      inbox.emplace_back();
    }
    inbox[free] = {from, stream};
    return free;
  }
  /// Where a part that is sent from here arrives; what the switches reduce comes back.
  static Place receiver(Place at, const Part& part) {
    return {at.group, part.peer == kSwitches ? at.position : part.peer, 0};
  }

  void advance(Place at) {
    Lane& self = lane(at);
    while (self.running && !self.busy) {
      if (!self.looked_up) {
        self.step.clear();
        schedules_[at.group]->step(at.position, at.lane, self.index, self.step);
        self.looked_up = true;
      }
      if (!ready(at, self)) return;
      const Time done = done_at(self);
      if (done > network_.now()) {
        self.busy = true;
        network_.at(done, [this, at](Time) {
          lane(at).busy = false;
          finish(at);
          advance(at);
        });
        return;
      }
      finish(at);
    }
  }

  /// Every part has arrived and every way has a free slot; else the lane is called when the first
  /// that is missing is there.
  bool ready(Place at, const Lane& self) {
    const std::uint32_t channel = schedules_[at.group]->channel_of(at.lane);
    std::vector<Connection>& mine = inbox(at, channel);
    for (const Part& part : self.step.receive) {
      Connection& from = mine[connection(mine, part.peer, part.stream)];
      if (from.has_next()) continue;
      from.waiting_receiver = at.lane;
      return false;
    }
    for (const Part& part : self.step.send) {
      std::vector<Connection>& theirs = inbox(receiver(at, part), channel);
      Connection& to = theirs[connection(theirs, at.position, part.stream)];
      if (to.sent - to.consumed < static_cast<std::uint32_t>(options_.slots)) continue;
      to.waiting_sender = at.lane;
      return false;
    }
    return true;
  }

  /// When the lane will have copied what its step passes on.
  Time done_at(Lane& self) const {
    const Step& step = self.step;
    Time start = network_.now();
    if (!step.receive.empty()) start += options_.step_overhead;
    if (options_.copy_rate.bps() == 0) return start;
    Bytes most;
    for (const Part& part : step.receive) most = std::max(most, part.bytes);
    for (const Part& part : step.send) most = std::max(most, part.bytes);
    const Time copy = base::transmission_time(most, options_.copy_rate);
    // What has come in line by line has been passed on when the last line is there.
    const bool passed_on = options_.line_by_line && !step.receive.empty();
    self.free = passed_on ? std::max(start, self.free + copy) : start + copy;
    return self.free;
  }

  /// Frees slots, sends, and goes to the next step. Others are called last: they may come back.
  void finish(Place at) {
    Lane& self = lane(at);
    const std::uint32_t channel = schedules_[at.group]->channel_of(at.lane);
    std::vector<Place> waiting;
    for (const Part& part : self.step.receive) {
      std::vector<Connection>& mine = inbox(at, channel);
      Connection& from = mine[connection(mine, part.peer, part.stream)];
      from.arrived &= ~(std::uint64_t{1} << (from.consumed % 64));
      ++from.consumed;
      if (from.waiting_sender == kNobody) continue;
      waiting.push_back({at.group, part.peer, from.waiting_sender});
      from.waiting_sender = kNobody;
    }
    for (const Part& part : self.step.send) send(at, channel, part);
    self.looked_up = false;
    if (++self.index == self.steps) {
      self.running = false;
      if (--unfinished_ == 0) {
        finished_at_ = network_.now();
        network_.stop();
      }
    }
    for (const Place& other : waiting) advance(other);
  }

  void send(Place at, std::uint32_t channel, const Part& part) {
    if (marks_) marks_->sent(at.group, at.position, channel, part, network_.now());
    const Place to = receiver(at, part);
    std::vector<Connection>& theirs = inbox(to, channel);
    const std::uint32_t index = connection(theirs, at.position, part.stream);
    const std::uint32_t number = theirs[index].sent++;
    const auto arrived = [this, to, channel, index, number](Time) {
      arrive(to, channel, index, number);
    };
    const auto& group = schedules_[at.group]->group();
    const base::Rank src = group[at.position];
    const Bytes bytes =
        Bytes::from(std::ceil(static_cast<double>(part.bytes.count()) * options_.wire));
    if (part.peer == kSwitches) {
      network_.reduce(reduction_of_[src.index()], src, bytes, later(options_.net_delay, arrived));
      return;
    }
    const base::Rank dst = group[part.peer];
    network::SendOptions options{channel};
    options.senders = part.senders;
    options.receivers = part.receivers;
    if (src == dst && part.senders == 1 && part.receivers == 1) {
      network_.at(network_.now(), arrived);
    } else if (node_of(src) == node_of(dst)) {
      network_.send(src, dst, bytes, options, later(options_.node_delay, arrived));
    } else {
      cross(src, dst, bytes, options, later(options_.net_delay, arrived));
    }
  }

  /// To another node, with PXN by way of the GPU here that is on the receiver's rail.
  void cross(base::Rank src, base::Rank dst, Bytes bytes, const network::SendOptions& options,
             network::Callback arrived) {
    const base::Rank proxy(options_.pxn ? node_of(src) * options_.gpus_per_node +
                                              dst.index() % options_.gpus_per_node
                                        : src.index());
    if (proxy == src) {
      network_.send(src, dst, bytes, options, std::move(arrived));
      return;
    }
    network_.send(src, proxy, bytes, options,
                  [this, proxy, dst, bytes, options, arrived = std::move(arrived)](Time) {
                    network_.send(proxy, dst, bytes, options, arrived);
                  });
  }

  std::uint32_t node_of(base::Rank rank) const {
    return options_.gpus_per_node == 0 ? rank.index() : rank.index() / options_.gpus_per_node;
  }

  template <typename Arrived>
  network::Callback later(Time delay, Arrived arrived) {
    if (delay == Time()) return arrived;
    return [this, delay, arrived](Time now) { network_.at(now + delay, arrived); };
  }

  void arrive(Place to, std::uint32_t channel, std::uint32_t index, std::uint32_t number) {
    Connection& connection = inbox(to, channel)[index];
    connection.arrived |= std::uint64_t{1} << (number % 64);
    if (connection.waiting_receiver == kNobody) return;
    to.lane = connection.waiting_receiver;
    connection.waiting_receiver = kNobody;
    advance(to);
  }

  network::Network& network_;
  const Schedules& schedules_;
  const RunOptions& options_;
  std::vector<std::size_t> first_lane_;
  std::vector<Lane> lanes_;
  std::vector<std::size_t> first_inbox_;
  std::vector<std::vector<Connection>> inboxes_;  ///< of every position and channel
  std::vector<network::ReductionGroup> claimed_;
  std::vector<network::ReductionGroup> reduction_of_;  ///< by rank
  std::size_t unfinished_ = 0;
  std::optional<ProgressMarks> marks_;
  Time finished_at_;
};

double slices(const Schedules& schedules) {
  double sum = 0;
  for (const auto& schedule : schedules) {
    for (std::uint32_t l = 0; l < schedule->lanes(); ++l) {
      sum += static_cast<double>(schedule->steps(0, l)) *
             static_cast<double>(schedule->group().size());
    }
  }
  return sum;
}

/// The same collectives, told as what their channels send altogether. A group starts when its last
/// rank does.
class BulkRunner {
 public:
  BulkRunner(network::Network& network, const Schedules& schedules, const RunOptions& options)
      : network_(network), schedules_(schedules), options_(options) {}

  Time run() {
    const Time begin = network_.now();
    Time latest = begin;
    for (const auto& schedule : schedules_) {
      const Time start = begin + start_of(*schedule);
      latest = std::max(latest, start);
      for (std::uint32_t c = 0; c < schedule->channels(); ++c) {
        if (schedule->bulks(c) == 0) continue;
        ++unfinished_;
        network_.at(start + options_.launch,
                    [this, &schedule, c](Time) { begin_bulk(*schedule, c, 0); });
      }
    }
    if (unfinished_ > 0) network_.run();
    return std::max(finished_at_, latest) - latest;
  }

 private:
  Time start_of(const Schedule& schedule) const {
    Time start;
    for (const base::Rank rank : schedule.group()) {
      if (!options_.start.empty()) start = std::max(start, options_.start[rank.index()]);
    }
    return start;
  }

  void begin_bulk(const Schedule& schedule, std::uint32_t channel, std::uint64_t index) {
    network::Bulk bulk = schedule.bulk(channel, index);
    bulk.overhead = step_time(bulk);
    for (network::Bulk::Edge& edge : bulk.edges) edge.bytes *= options_.wire;
    network_.carry(bulk, [this, &schedule, channel, index](Time now) {
      if (index + 1 < schedule.bulks(channel)) {
        begin_bulk(schedule, channel, index + 1);
      } else if (--unfinished_ == 0) {
        finished_at_ = now;
        network_.stop();
      }
    });
  }

  /// Beside the network, a step of the mean edge.
  Time step_time(const network::Bulk& bulk) const {
    if (bulk.edges.empty()) return options_.step_overhead;
    const auto crossing = std::ranges::count_if(bulk.edges, [&](const network::Bulk::Edge& edge) {
      return options_.gpus_per_node == 0 ||
             edge.from.index() / options_.gpus_per_node != edge.to.index() / options_.gpus_per_node;
    });
    const double share = static_cast<double>(crossing) / static_cast<double>(bulk.edges.size());
    Time time = options_.step_overhead + Time::seconds(options_.net_delay.s() * share +
                                                       options_.node_delay.s() * (1 - share));
    if (options_.copy_rate.bps() > 0 && !options_.line_by_line) {
      const Bytes slice = Bytes::from(bulk.edges.front().bytes / bulk.steps);
      time += base::transmission_time(slice, options_.copy_rate);
    }
    return time;
  }

  network::Network& network_;
  const Schedules& schedules_;
  const RunOptions& options_;
  std::size_t unfinished_ = 0;
  Time finished_at_;
};

}  // namespace

Time run(network::Network& network, const Schedules& schedules, const RunOptions& options) {
  const bool reduces = std::ranges::any_of(
      schedules, [](const auto& schedule) { return !schedule->reductions().empty(); });
  if (network.carries_bulk() && !reduces && slices(schedules) > options.most_chunks) {
    return BulkRunner(network, schedules, options).run();
  }
  return Runner(network, schedules, options).run();
}

}  // namespace fabricast::collective
