#include "collective/run.h"

#include <algorithm>

namespace fabricast::collective {
namespace {

using base::Bytes;
using base::Time;

/// Chunks of one connection that the receiver has not consumed yet.
struct Connection {
  std::uint32_t to = kNobody;
  int unconsumed = 0;
};

/// One (group, position, channel).
struct Lane {
  std::uint64_t index = 0;  ///< the step it is in
  Step step;
  bool started = false;
  bool sent = false;      ///< the send of this step has been posted
  bool reducing = false;  ///< the chunk of this step has arrived and is being reduced or copied
  std::vector<std::uint64_t> arrived;   ///< steps whose chunk waits in a slot
  std::vector<Connection> connections;  ///< outgoing, few
};

class Runner {
 public:
  Runner(network::Network& network, const std::vector<std::unique_ptr<Schedule>>& schedules,
         const RunOptions& options)
      : network_(network), schedules_(schedules), options_(options) {
    for (const auto& schedule : schedules_) {
      first_lane_.push_back(lanes_.size());
      lanes_.resize(lanes_.size() + schedule->group().size() * schedule->channels());
    }
  }

  Time run() {
    const Time begin = network_.now();
    Time latest = begin;
    for (std::size_t g = 0; g < schedules_.size(); ++g) {
      const Schedule& schedule = *schedules_[g];
      for (std::uint32_t p = 0; p < schedule.group().size(); ++p) {
        const Time start = begin + start_of(schedule.group()[p]);
        latest = std::max(latest, start);
        for (std::uint32_t c = 0; c < schedule.channels(); ++c) {
          if (schedule.steps(c) == 0) continue;
          ++unfinished_;
          network_.at(start, [this, g, p, c](Time) { start_lane(g, p, c); });
        }
      }
    }
    if (unfinished_ == 0) return Time();
    network_.run();
    return std::max(finished_at_, latest) - latest;
  }

 private:
  Time start_of(base::Rank rank) const {
    return options_.start.empty() ? Time() : options_.start[rank.index()];
  }
  Lane& lane(std::size_t g, std::uint32_t position, std::uint32_t channel) {
    return lanes_[first_lane_[g] + std::size_t{position} * schedules_[g]->channels() + channel];
  }
  static Connection& connection(Lane& lane, std::uint32_t to) {
    for (Connection& c : lane.connections) {
      if (c.to == to) return c;
    }
    // A connection that is drained can be reused for another peer, which keeps the list short.
    for (Connection& c : lane.connections) {
      if (c.unconsumed == 0) return c = {to, 0};
    }
    return lane.connections.emplace_back(Connection{to, 0});
  }

  void start_lane(std::size_t g, std::uint32_t p, std::uint32_t c) {
    Lane& self = lane(g, p, c);
    self.started = true;
    self.step = schedules_[g]->step(p, c, 0);
    advance(g, p, c);
  }

  /// Does what the lane can do now: post the send, take the arrived chunk, go to the next step.
  void advance(std::size_t g, std::uint32_t p, std::uint32_t c) {
    Lane& self = lane(g, p, c);
    while (self.started && !self.reducing) {
      if (!self.sent && !post_send(g, p, c, self)) return;
      if (self.step.receive.count() > 0) {
        const auto it = std::find(self.arrived.begin(), self.arrived.end(), self.index);
        if (it == self.arrived.end()) return;
        self.arrived.erase(it);
        Time work = options_.step_overhead;
        if (self.step.reduce) {
          work += base::transmission_time(self.step.receive, options_.reduce_rate);
        }
        if (work > Time()) {
          self.reducing = true;
          network_.at(network_.now() + work, [this, g, p, c](Time) {
            lane(g, p, c).reducing = false;
            consume(g, p, c);
            advance(g, p, c);
          });
          return;
        }
        consume(g, p, c);
      } else if (!next(g, p, c, self)) {
        return;
      }
    }
  }

  /// False when the connection has no free slot.
  bool post_send(std::size_t g, std::uint32_t p, std::uint32_t c, Lane& self) {
    if (self.step.send.count() > 0) {
      const std::uint32_t to = self.step.to;
      Connection& link = connection(self, to);
      if (link.unconsumed >= options_.slots) return false;
      ++link.unconsumed;
      const auto& group = schedules_[g]->group();
      const std::uint64_t index = self.index;
      network_.send(group[p], group[to], self.step.send, {c}, [this, g, to, c, index](Time) {
        lane(g, to, c).arrived.push_back(index);
        advance(g, to, c);
      });
    }
    self.sent = true;
    return true;
  }

  /// The chunk of this step leaves its slot: the sender may go on, and so does this lane.
  void consume(std::size_t g, std::uint32_t p, std::uint32_t c) {
    Lane& self = lane(g, p, c);
    const std::uint32_t from = self.step.from;
    --connection(lane(g, from, c), p).unconsumed;
    next(g, p, c, self);
    if (!lane(g, from, c).sent) advance(g, from, c);
  }

  /// False when that was the last step.
  bool next(std::size_t g, std::uint32_t p, std::uint32_t c, Lane& self) {
    self.sent = false;
    if (++self.index == schedules_[g]->steps(c)) {
      self.started = false;
      if (--unfinished_ == 0) {
        finished_at_ = network_.now();
        network_.stop();
      }
      return false;
    }
    self.step = schedules_[g]->step(p, c, self.index);
    return true;
  }

  network::Network& network_;
  const std::vector<std::unique_ptr<Schedule>>& schedules_;
  const RunOptions& options_;
  std::vector<std::size_t> first_lane_;
  std::vector<Lane> lanes_;
  std::size_t unfinished_ = 0;
  Time finished_at_;
};

double chunks(const std::vector<std::unique_ptr<Schedule>>& schedules) {
  double sum = 0;
  for (const auto& schedule : schedules) {
    for (std::uint32_t c = 0; c < schedule->channels(); ++c) {
      sum +=
          static_cast<double>(schedule->steps(c)) * static_cast<double>(schedule->group().size());
    }
  }
  return sum;
}

/// Half of what a rank receives in an all-reduce, and all in a reduce-scatter, is reduced.
Time step_time(const Schedule& schedule, const network::Bulk& bulk, const RunOptions& options) {
  if (bulk.steps < 1 || bulk.edges.empty()) return options.step_overhead;
  const Step step = schedule.step(0, bulk.channel, 0);
  if (!step.reduce) return options.step_overhead;
  const Bytes chunk = Bytes::from(bulk.edges.front().bytes / bulk.steps);
  return options.step_overhead + base::transmission_time(chunk, options.reduce_rate);
}

/// The same collectives, told as what their channels send altogether. A group starts when its last
/// rank does.
class BulkRunner {
 public:
  BulkRunner(network::Network& network, const std::vector<std::unique_ptr<Schedule>>& schedules,
             const RunOptions& options)
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
        network_.at(start, [this, &schedule, c](Time) { begin_bulk(*schedule, c, 0); });
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
    bulk.overhead = step_time(schedule, bulk, options_);
    network_.carry(bulk, [this, &schedule, channel, index](Time now) {
      if (index + 1 < schedule.bulks(channel)) {
        begin_bulk(schedule, channel, index + 1);
      } else if (--unfinished_ == 0) {
        finished_at_ = now;
        network_.stop();
      }
    });
  }

  network::Network& network_;
  const std::vector<std::unique_ptr<Schedule>>& schedules_;
  const RunOptions& options_;
  std::size_t unfinished_ = 0;
  Time finished_at_;
};

}  // namespace

Time run(network::Network& network, const std::vector<std::unique_ptr<Schedule>>& schedules,
         const RunOptions& options) {
  if (network.carries_bulk() && chunks(schedules) > options.most_chunks) {
    return BulkRunner(network, schedules, options).run();
  }
  return Runner(network, schedules, options).run();
}

}  // namespace fabricast::collective
