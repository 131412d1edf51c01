#include "serving/service.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "serving/service_run.h"

namespace fabricast::serving {
namespace {

using scenario::Balancer;

// SGLang's router (sgl-router, balance_abs_threshold): further apart than this, load decides and
// not the cache.
constexpr std::size_t kFarBehind = 32;
// Little's law is an identity; what is left is rounding.
constexpr double kLittle = 1e-6;

}  // namespace

Scheduler::Spec Service::scheduler_spec(const Pool& pool) const {
  Scheduler::Spec spec;
  spec.engine = serving_.engine;
  spec.cache_blocks = pool.cache_blocks;
  spec.prefix_cached = serving_.prefix_cached;
  spec.window = serving_.model.sliding_window;
  spec.prompts_only = pool.prompts_only;
  return spec;
}

void Service::add_replica(const Pool& pool, int number) {
  Replica replica;
  replica.pool = &pool;
  replica.number = number;
  for (int rank = 0; rank < pool.deployment.shape.dp; ++rank) {
    replica.ranks.emplace_back(scheduler_spec(pool), jobs_);
  }
  replica.stage_free.assign(static_cast<std::size_t>(pool.pace->stages()), Time());
  replica.random = base::RandomStream(service_.seed, "replica", replicas_.size());
  const bool elastic = scales();
  if (elastic && number >= serving_.scaling->min_replicas) replica.state = Replica::State::kOff;
  replicas_.push_back(std::move(replica));
}

void Service::schedule_arrival() {
  const bool enough = spec_.requests > 0 && arrivals_ >= spec_.requests;
  const auto request = enough ? std::nullopt : source_.next();
  if (!request || (spec_.duration_s > 0 && request->arrival_s > spec_.duration_s)) {
    over_ = true;
    if (window_end_ == Time::max()) window_end_ = net_.now();
    return;
  }
  net_.at(std::max(net_.now(), Time::seconds(request->arrival_s)),
          [this, request = *request](Time) {
            arrive(request);
            schedule_arrival();
          });
}

void Service::account_outstanding(std::int64_t change) {
  outstanding_area_ += static_cast<double>(outstanding_) * (net_.now() - outstanding_since_).s();
  outstanding_since_ = net_.now();
  outstanding_ += change;
}

std::uint32_t Service::new_job(const Request& request) {
  for (const Pool& pool : service_.pools) {
    const std::int64_t tokens = std::int64_t{request.input} + request.output;
    const std::int64_t room = pool.cache_blocks * serving_.engine.block_size;
    if (tokens <= room) continue;
    throw base::input_error(
        {{}, 0, 0, "workload.context"},
        fmt::format("a request of {} tokens and an answer of {}", request.input, request.output),
        fmt::format("at most {} together, what a replica's cache holds", room));
  }
  const std::uint32_t index = jobs_.allocate();
  Job& job = jobs_[index];
  job.request = request;
  job.known = request.input;
  job.index = static_cast<std::uint64_t>(arrivals_++);
  job.arrived = net_.now();
  account_outstanding(+1);
  return index;
}

void Service::arrive(const Request& request) {
  const std::uint32_t job = new_job(request);
  if (arrivals_ == spec_.warm_up + 1) window_begin_ = net_.now();
  if (service_.request_s <= 0) {
    dispatch(job);
    return;
  }
  net_.at(net_.now() + Time::seconds(service_.request_s), [this, job](Time) { dispatch(job); });
}

/// Among replicas [begin, end) that are there.
std::size_t Service::choose(const Request& request, std::size_t begin, std::size_t end) {
  const std::size_t count = end - begin;
  std::size_t best = end;
  std::size_t least = end;
  std::size_t most_outstanding = 0;
  int most_cached = -1;
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t i = begin + (next_ + k) % count;
    const Replica& replica = replicas_[i];
    if (replica.state != Replica::State::kReady) continue;
    if (serving_.balancer == Balancer::kRoundRobin) {
      best = i;
      break;
    }
    most_outstanding = std::max(most_outstanding, replica.outstanding());
    if (least == end || replica.outstanding() < replicas_[least].outstanding()) least = i;
    if (serving_.balancer != Balancer::kPrefixAware) continue;
    int cached = 0;
    for (const Scheduler& rank : replica.ranks) cached = std::max(cached, rank.cached(request));
    if (cached > most_cached) {
      most_cached = cached;
      best = i;
    }
  }
  const bool apart = least != end && most_outstanding > replicas_[least].outstanding() + kFarBehind;
  if (best == end || most_cached == 0 || apart) best = least != end ? least : best;
  if (best == end) throw base::failure("a service of which no replica is ready");
  next_ = (best - begin + 1) % count;
  return best;
}

bool Service::has_room(const Replica& replica) const {
  return replica.outstanding() <
         static_cast<std::size_t>(serving_.engine.max_num_seqs) * replica.ranks.size();
}

void Service::dispatch(std::uint32_t job) {
  if (serving_.balancer == Balancer::kQueue) {
    queue_.push_back(job);
    drain_queue();
  } else {
    place(job, choose(jobs_[job].request, 0, fronts_));
  }
}

void Service::drain_queue() {
  while (!queue_.empty()) {
    const std::uint32_t job = queue_.front();
    const std::size_t chosen = choose(jobs_[job].request, 0, fronts_);
    if (!has_room(replicas_[chosen])) return;
    queue_.pop_front();
    place(job, chosen);
  }
}

void Service::place(std::uint32_t index, std::size_t chosen) {
  Job& job = jobs_[index];
  Replica& replica = replicas_[chosen];
  job.replica = static_cast<int>(chosen);
  ++replica.serving;
  const auto queue = [this, index, chosen](Time) {
    auto& ranks = replicas_[chosen].ranks;
    std::ranges::min_element(ranks, {}, &Scheduler::outstanding)->enqueue(index);
    kick(static_cast<std::uint32_t>(chosen));
  };
  if (serving_.engine.request_us <= 0) {
    queue(net_.now());
    return;
  }
  replica.front_free =
      std::max(replica.front_free, net_.now()) + Time::seconds(serving_.engine.request_us * 1e-6);
  net_.at(replica.front_free, queue);
}

void Service::saturate(std::uint32_t index) {
  Replica& replica = replicas_[index];
  if (index >= fronts_) return;
  const double at_once = sequences_at_once(*replica.pool, serving_);
  const auto began = net_.now() == Time() && replica.in_flight == 0
                         ? static_cast<std::size_t>(at_once)
                         : std::size_t{0};
  for (Scheduler& rank : replica.ranks) {
    while (rank.waiting() < static_cast<std::size_t>(serving_.engine.max_num_seqs)) {
      const std::uint32_t job = new_job(source_.next().value());
      // Those that begin together are found at any point of their answer, as in a service that has
      // been at work for ever.
      if (rank.outstanding() < began) {
        Request& request = jobs_[job].request;
        request.output =
            1 + static_cast<int>(replica.random.below(static_cast<std::uint64_t>(request.output)));
      }
      jobs_[job].replica = static_cast<int>(index);
      ++replica.serving;
      rank.enqueue(job);
    }
  }
}

void Service::count(const Job& job, Time now) {
  const Time done = now + Time::seconds(service_.response_s);
  const double latency = (done - job.arrived).s();
  const double ttft = (job.first + Time::seconds(service_.response_s) - job.arrived).s();
  const int rest = job.request.output - 1;
  const double tpot = rest > 0 ? (now - job.first).s() / rest : 0;
  result_.latency.add(latency);
  result_.ttft.add(ttft);
  if (rest > 0) result_.tpot.add(tpot);
  result_.queue.add((job.scheduled - job.arrived).s());
  ++result_.requests;
  const double measured = serving_.slo_metric == scenario::SloMetric::kTtft   ? ttft
                          : serving_.slo_metric == scenario::SloMetric::kTpot ? tpot
                                                                              : latency;
  const bool met = measured * 1e3 <= serving_.slo_ms;
  result_.met += met ? 1 : 0;
  const std::int64_t expected = std::max<std::int64_t>(1, spec_.requests - spec_.warm_up);
  const auto part = static_cast<std::size_t>(
      std::min<std::int64_t>(kParts - 1, (result_.requests - 1) * kParts / expected));
  ++part_counted_[part];
  part_missed_[part] += met ? 0 : 1;
  input_tokens_ += job.request.input;
  cached_tokens_ += job.cached;
  output_tokens_ += job.request.output;
}

void Service::depart(std::uint32_t index, Time now) {
  Job& job = jobs_[index];
  Replica& replica = replicas_[static_cast<std::size_t>(job.replica)];
  --replica.serving;
  latencies_ += (now - job.arrived).s();
  account_outstanding(-1);
  if (spec_.saturate) done_times_.push_back(now);
  if (job.index >= static_cast<std::uint64_t>(spec_.warm_up)) {
    count(job, now);
    if (trace_) {
      trace_({job.index, job.request.input, job.request.output, job.cached, job.replica,
              job.preemptions, job.arrived.s(), job.scheduled.s(),
              job.first.s() + service_.response_s, now.s() + service_.response_s});
    }
  }
  jobs_.release(index);
  drain_queue();
  if (replica.state == Replica::State::kDraining) stop_if_empty(replica);
  if (spec_.saturate) {
    if (spec_.requests > 0 && static_cast<std::int64_t>(done_times_.size()) >= spec_.requests) {
      window_end_ = now;
      net_.stop();
    }
  } else if (serving_.arrival == scenario::ArrivalKind::kClosed &&
             spec_.arrivals == Arrivals::kAsStated && !over_) {
    const bool enough = (spec_.requests > 0 && arrivals_ >= spec_.requests) ||
                        (spec_.duration_s > 0 && now.s() > spec_.duration_s);
    if (enough) {
      over_ = true;
      window_end_ = now;
    } else {
      net_.at(now, [this](Time) { arrive(source_.next().value()); });
    }
  }
}

RunResult Service::run() {
  if (spec_.saturate) {
    window_begin_ = Time();
    for (std::size_t i = 0; i < fronts_; ++i) {
      net_.at(Time(), [this, i](Time) { kick(static_cast<std::uint32_t>(i)); });
    }
  } else if (serving_.arrival == scenario::ArrivalKind::kClosed &&
             spec_.arrivals == Arrivals::kAsStated) {
    net_.at(Time(), [this](Time) {
      for (int i = 0; i < serving_.concurrency; ++i) arrive(source_.next().value());
    });
  } else {
    schedule_arrival();
  }
  if (scales()) net_.at(Time(), [this](Time) { look(); });
  net_.run();
  return result();
}

RunResult Service::result() {
  const Time end = net_.now();
  account_outstanding(0);
  if (!spec_.saturate) {
    if (outstanding_ != 0) throw base::failure("a service that ended with requests in it");
    const double difference = std::abs(outstanding_area_ - latencies_);
    if (difference > kLittle * std::max(1e-9, latencies_)) {
      throw base::failure(
          fmt::format("Little's law does not hold: {:.9g} request-seconds in the "
                      "system, {:.9g} in requests",
                      outstanding_area_, latencies_));
    }
  }
  for (Replica& replica : replicas_) {
    if (replica.state != Replica::State::kOff) pay(replica);
    for (const Scheduler& rank : replica.ranks) result_.preemptions += rank.preemptions();
  }
  const double span = end.s();
  const Time from = std::min(window_begin_, end);
  result_.window_s = (std::min(window_end_, end) - from).s();
  const auto per_s = [&](double amount) {
    return result_.window_s > 0 ? amount / result_.window_s : 0;
  };
  result_.completed_per_s = per_s(static_cast<double>(result_.requests));
  result_.input_per_s = per_s(input_tokens_);
  result_.output_per_s = per_s(output_tokens_);
  if (there_s_ > 0) {
    result_.computing = compute_s_ / there_s_;
    result_.communicating = comm_s_ / there_s_;
    result_.host = host_s_ / there_s_;
  }
  result_.outstanding = span > 0 ? outstanding_area_ / span : 0;
  result_.replicas = span > 0 ? replica_area_ / span : static_cast<double>(replicas_.size());
  result_.batch = result_.batches > 0 ? sequences_ / static_cast<double>(result_.batches) : 0;
  result_.cached = input_tokens_ > 0 ? cached_tokens_ / input_tokens_ : 0;
  if (sent_ > 0) result_.transfer_s /= static_cast<double>(sent_);
  if (cold_starts_ > 0) result_.cold_start_s = cold_s_ / cold_starts_;
  for (std::size_t part = 0; part < part_counted_.size(); ++part) {
    if (part_counted_[part] == 0) continue;
    result_.violations.push_back(static_cast<double>(part_missed_[part]) /
                                 static_cast<double>(part_counted_[part]));
  }
  const std::size_t skipped = static_cast<std::size_t>(spec_.warm_up);
  if (spec_.saturate && done_times_.size() > skipped + kParts) {
    const std::size_t each = (done_times_.size() - skipped - 1) / kParts;
    for (std::size_t part = 0; part < kParts; ++part) {
      const Time a = done_times_[skipped + part * each];
      const Time b = done_times_[skipped + (part + 1) * each];
      if (b > a) result_.parts_per_s.push_back(static_cast<double>(each) / (b - a).s());
    }
  }
  return std::move(result_);
}

double sequences_at_once(const Pool& pool, const scenario::ServingSpec& serving) {
  const double tokens = serving.context.mean - serving.prefix_cached + serving.output.mean;
  const double room = static_cast<double>(pool.cache_blocks) * serving.engine.block_size;
  return std::clamp(std::floor(room / tokens), 1.0, 1.0 * serving.engine.max_num_seqs);
}

RunResult run(const ServiceSpec& service, const RunSpec& spec, network::Network& network,
              const std::function<void(const RequestRecord&)>& trace) {
  return Service(service, spec, network, trace).run();
}

}  // namespace fabricast::serving
