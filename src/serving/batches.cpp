#include <algorithm>

#include "serving/service_run.h"

namespace fabricast::serving {
namespace {

// Share of the last batches that the chance of meeting another replica's traffic remembers.
constexpr double kDutyMemory = 0.98;

}  // namespace

void Service::kick(std::uint32_t index) {
  Replica& replica = replicas_[index];
  if (replica.kick_due || replica.in_flight >= replica.pool->pace->stages()) return;
  if (replica.stage_free[0] > net_.now()) {
    replica.kick_due = true;
    net_.at(replica.stage_free[0], [this, index](Time) {
      replicas_[index].kick_due = false;
      kick(index);
    });
    return;
  }
  if (spec_.saturate) saturate(index);
  const std::uint32_t flight = flights_.allocate();
  InFlight& f = flights_[flight];
  f.ranks.resize(replica.ranks.size());
  bool any = false;
  for (std::size_t rank = 0; rank < replica.ranks.size(); ++rank) {
    replica.ranks[rank].schedule(net_.now(), f.ranks[rank]);
    any = any || !f.ranks[rank].parts.empty();
  }
  if (!any) {
    flights_.release(flight);
    return;
  }
  f.replica = index;
  start(index, flight);
}

// A batch passes from stage to stage as each becomes free.
void Service::start(std::uint32_t index, std::uint32_t flight) {
  Replica& replica = replicas_[index];
  InFlight& f = flights_[flight];
  replica.pool->pace->take(f.ranks, replica.duty, replica.random, taken_);
  f.begin = net_.now();
  f.compute_s = taken_.compute_s;
  f.comm_s = taken_.comm_s;
  f.host_s = taken_.host_s;
  result_.timeouts += taken_.timeouts;
  replica.duty = kDutyMemory * replica.duty +
                 (1 - kDutyMemory) * std::min(1.0, taken_.comm_s / taken_.total_s);
  Time at = net_.now();
  for (std::size_t stage = 0; stage < taken_.stage_s.size(); ++stage) {
    const Time begin = std::max(at, replica.stage_free[stage]);
    replica.stage_free[stage] = begin + Time::seconds(taken_.stage_s[stage]);
    at = replica.stage_free[stage] + Time::seconds(taken_.hop_s[stage]);
  }
  ++replica.in_flight;
  net_.at(at, [this, flight](Time) { complete(flight); });
  if (replica.in_flight < replica.pool->pace->stages()) kick(index);
}

double Service::share_in_window(Time begin, Time end) const {
  const Time from = std::max(begin, window_begin_);
  const Time to = std::min(end, window_end_);
  return to > from && end > begin ? (to - from) / (end - begin) : 0;
}

void Service::first_tokens(const std::vector<std::uint32_t>& jobs, Time now) {
  for (const std::uint32_t index : jobs) jobs_[index].first = now;
}

void Service::complete(std::uint32_t flight) {
  InFlight f = std::move(flights_[flight]);
  flights_.release(flight);
  const Time now = net_.now();
  Replica& replica = replicas_[f.replica];
  --replica.in_flight;
  const double share = share_in_window(f.begin, now);
  compute_s_ += share * f.compute_s;
  comm_s_ += share * f.comm_s;
  host_s_ += share * f.host_s;
  ++result_.batches;
  for (std::size_t rank = 0; rank < f.ranks.size(); ++rank) {
    Scheduler& scheduler = replica.ranks[rank];
    sequences_ +=
        static_cast<double>(f.ranks[rank].parts.size()) / static_cast<double>(f.ranks.size());
    result_.cache_in_use =
        std::max(result_.cache_in_use, static_cast<double>(scheduler.cache().in_use()) /
                                           static_cast<double>(scheduler.cache().capacity()));
    scheduler.complete(f.ranks[rank], finished_);
    first_tokens(finished_.first, now);
    const std::vector<std::uint32_t> done = finished_.done;
    for (const std::uint32_t job : done) {
      if (replica.pool->prompts_only) {
        hand_over(job, f.replica);
      } else {
        depart(job, now);
      }
    }
  }
  if (!waiting_transfers_.empty()) try_transfers();
  kick(f.replica);
}

}  // namespace fabricast::serving
