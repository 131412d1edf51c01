#include "serving/service.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include <fmt/format.h>

#include "base/error.h"
#include "base/random.h"

namespace fabricast::serving {
namespace {

using base::Time;
using scenario::Balancer;

constexpr int kParts = 10;
// Share of the last batches that the chance of meeting another replica's traffic remembers.
constexpr double kDutyMemory = 0.98;
// SGLang's router (sgl-router, balance_abs_threshold and balance_rel_threshold): further apart than
// this, load decides and not the cache.
constexpr std::size_t kFarBehind = 32;
// Little's law is an identity; what is left is rounding.
constexpr double kLittle = 1e-6;

struct Replica {
  enum class State { kOff, kStarting, kReady, kDraining };
  State state = State::kReady;
  const Pool* pool = nullptr;
  int number = 0;  ///< in its pool
  std::vector<Scheduler> ranks;
  std::vector<Time> stage_free;
  Time front_free;  ///< when its front end has read all requests so far
  int in_flight = 0;
  bool kick_due = false;  ///< a look is scheduled for when the first stage is free
  double duty = 0;
  base::RandomStream random{0, "replica"};
  Time there_since;          ///< node is paid for from then on
  Time wanted;               ///< the decision to have it
  std::size_t sending = 0;   ///< jobs whose keys it still holds for another replica
  std::int64_t serving = 0;  ///< jobs from dispatch to departure

  std::size_t outstanding() const { return static_cast<std::size_t>(serving); }
};

struct InFlight {
  std::uint32_t replica = 0;
  std::vector<Batch> ranks;
  Time begin;
  double compute_s = 0;
  double comm_s = 0;
  double host_s = 0;
};

/// A prompt that has been worked on, and waits for room where its answer is generated.
struct Transfer {
  std::uint32_t job = 0;
  std::uint32_t from = 0;
  Held held;
  Time begin;
  int left = 0;  ///< messages
};

class Service {
 public:
  Service(const ServiceSpec& service, const RunSpec& spec, network::Network& network,
          const std::function<void(const RequestRecord&)>& trace)
      : service_(service),
        serving_(*service.serving),
        spec_(spec),
        net_(network),
        trace_(trace),
        source_(*service.serving, spec.arrivals, spec.rate, service.seed) {
    for (const Pool& pool : service_.pools) {
      for (int i = 0; i < pool.deployment.replicas; ++i) add_replica(pool, i);
    }
    const std::size_t front = service_.pools.size() > 1 ? 0 : replicas_.size();
    fronts_ =
        front == 0 ? static_cast<std::size_t>(service_.pools.front().deployment.replicas) : front;
  }

  RunResult run();

 private:
  // Set-up.
  void add_replica(const Pool& pool, int number);
  /// What a service can do is found with all replicas there.
  bool scales() const {
    return serving_.scaling && !spec_.saturate && spec_.arrivals == Arrivals::kAsStated;
  }
  Scheduler::Spec scheduler_spec(const Pool& pool) const;

  // Requests come and go.
  void schedule_arrival();
  void arrive(const Request& request);
  void saturate(std::uint32_t replica);
  std::uint32_t new_job(const Request& request);
  std::size_t choose(const Request& request, std::size_t begin, std::size_t end);
  bool has_room(const Replica& replica) const;
  void drain_queue();
  void place(std::uint32_t job, std::size_t replica);
  void dispatch(std::uint32_t job);
  void depart(std::uint32_t job, Time now);
  void count(const Job& job, Time now);
  void account_outstanding(std::int64_t change);

  // Batches.
  void kick(std::uint32_t replica);
  void start(std::uint32_t replica, std::uint32_t flight);
  void complete(std::uint32_t flight);
  void first_tokens(const std::vector<std::uint32_t>& jobs, Time now);
  double share_in_window(Time begin, Time end) const;

  // Keys and values that move.
  void hand_over(std::uint32_t job, std::uint32_t from);
  void try_transfers();
  void send_keys(std::uint32_t transfer, std::uint32_t to);
  void arrived(std::uint32_t transfer, std::uint32_t to);

  // Replicas that come and go.
  void look();
  void start_replica(std::uint32_t index);
  void load(std::uint32_t index);
  void become_ready(std::uint32_t index);
  void stop_if_empty(Replica& replica);
  void pay(Replica& replica);

  RunResult result();

  const ServiceSpec& service_;
  const scenario::ServingSpec& serving_;
  const RunSpec& spec_;
  network::Network& net_;
  const std::function<void(const RequestRecord&)>& trace_;
  RequestSource source_;
  std::vector<Replica> replicas_;
  std::size_t fronts_ = 0;  ///< the first so many take requests from the balancer
  std::size_t next_ = 0;    ///< of the balancer, where all are alike
  Jobs jobs_;
  base::Slab<InFlight> flights_;
  base::Slab<Transfer> transfers_;
  std::deque<std::uint32_t> waiting_transfers_;
  std::deque<std::uint32_t> queue_;  ///< in front of all replicas
  Pace::Taken taken_;
  Scheduler::Finished finished_;

  std::int64_t arrivals_ = 0;
  bool over_ = false;  ///< nothing comes any more
  std::int64_t outstanding_ = 0;
  Time outstanding_since_;
  double outstanding_area_ = 0;  ///< request-seconds
  double latencies_ = 0;         ///< sum over all requests, counted or not
  Time window_begin_ = Time::max();
  Time window_end_ = Time::max();
  Time last_done_;
  Time first_counted_done_;

  RunResult result_;
  std::vector<std::int64_t> part_missed_ = std::vector<std::int64_t>(kParts, 0);
  std::vector<std::int64_t> part_counted_ = std::vector<std::int64_t>(kParts, 0);
  std::vector<Time> done_times_;  ///< of saturated runs
  double compute_s_ = 0;
  double comm_s_ = 0;
  double host_s_ = 0;
  double there_s_ = 0;  ///< replica-seconds in the window
  double sequences_ = 0;
  double input_tokens_ = 0;
  double cached_tokens_ = 0;
  double output_tokens_ = 0;
  std::int64_t sent_ = 0;
  double cold_s_ = 0;
  int cold_starts_ = 0;
  double replica_area_ = 0;
  Time idle_since_ = Time::max();
};

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

// --- requests ---

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
  if (count == 0) throw base::failure("a service without replicas");
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
  last_done_ = now;
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

// --- batches ---

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

// --- keys and values ---

void Service::hand_over(std::uint32_t index, std::uint32_t from) {
  Job& job = jobs_[index];
  Replica& source = replicas_[from];
  const Held held = Scheduler::hand_over(job);
  if (job.request.output <= 1) {
    source.ranks[0].release(job.request, held);
    depart(index, net_.now());
    return;
  }
  const std::uint32_t transfer = transfers_.allocate();
  transfers_[transfer] = {index, from, held, net_.now(), 0};
  waiting_transfers_.push_back(transfer);
  try_transfers();
}

/// In their order, as long as there is room where answers are generated.
void Service::try_transfers() {
  while (!waiting_transfers_.empty()) {
    const std::uint32_t transfer = waiting_transfers_.front();
    const std::uint32_t index = transfers_[transfer].job;
    const std::size_t to = choose(jobs_[index].request, fronts_, replicas_.size());
    if (!replicas_[to].ranks[0].reserve(index)) return;
    waiting_transfers_.pop_front();
    send_keys(transfer, static_cast<std::uint32_t>(to));
  }
}

// Every GPU sends the heads that it has to the GPUs that are to have them; a latent is whole on
// every one of them.
void Service::send_keys(std::uint32_t transfer, std::uint32_t to) {
  Transfer& t = transfers_[transfer];
  Job& job = jobs_[t.job];
  const Replica& source = replicas_[t.from];
  Replica& target = replicas_[to];
  --replicas_[t.from].serving;
  ++target.serving;
  job.replica = static_cast<int>(to);
  const Deployment& have = source.pool->deployment;
  const Deployment& want = target.pool->deployment;
  const bool latent = serving_.model.kv_lora_rank > 0;
  const int pairs = latent ? want.shape.tp : std::max(have.shape.tp, want.shape.tp);
  model::InferenceShape cut = serving_.shape;
  cut.tp = latent ? 1 : std::min(pairs, serving_.model.kv_heads);
  const double bytes = model::cache_bytes_per_token(serving_.model, cut, 0) * job.request.input;
  t.left = pairs;
  for (int i = 0; i < pairs; ++i) {
    const base::Rank src = have.rank(source.number, 0, 0, i * have.shape.tp / pairs);
    const base::Rank dst = want.rank(target.number, 0, 0, i * want.shape.tp / pairs);
    net_.send(src, dst, base::Bytes::from(std::max(1.0, bytes)), {}, [this, transfer, to](Time) {
      if (--transfers_[transfer].left == 0) arrived(transfer, to);
    });
  }
}

void Service::arrived(std::uint32_t transfer, std::uint32_t to) {
  const Transfer t = transfers_[transfer];
  transfers_.release(transfer);
  Job& job = jobs_[t.job];
  replicas_[t.from].ranks[0].release(job.request, t.held);
  job.computed = job.request.input;
  result_.transfer_s += (net_.now() - t.begin).s();
  ++sent_;
  replicas_[to].ranks[0].arrived_here(t.job);
  kick(to);
  kick(t.from);
}

// --- replicas that come and go ---

void Service::pay(Replica& replica) {
  const Time now = net_.now();
  replica_area_ += (now - replica.there_since).s();
  there_s_ += share_in_window(replica.there_since, now) * (now - replica.there_since).s();
  replica.there_since = now;
}

void Service::look() {
  const scenario::ScalingSpec& scaling = *serving_.scaling;
  if (over_ && outstanding_ == 0) return;
  int there = 0;
  for (const Replica& replica : replicas_) {
    there += replica.state == Replica::State::kReady || replica.state == Replica::State::kStarting
                 ? 1
                 : 0;
  }
  const double wanted = std::ceil(static_cast<double>(outstanding_) / scaling.target_outstanding);
  const int want =
      static_cast<int>(std::clamp(wanted, 1.0 * scaling.min_replicas, 1.0 * scaling.max_replicas));
  if (want > there) {
    idle_since_ = Time::max();
    int missing = want - there;
    for (std::size_t i = 0; i < replicas_.size() && missing > 0; ++i) {
      Replica& replica = replicas_[i];
      if (replica.state == Replica::State::kDraining) {
        replica.state = Replica::State::kReady;  // it is still there
        --missing;
      } else if (replica.state == Replica::State::kOff) {
        start_replica(static_cast<std::uint32_t>(i));
        --missing;
      }
    }
  } else if (want < there) {
    if (idle_since_ == Time::max()) idle_since_ = net_.now();
    if ((net_.now() - idle_since_).s() >= scaling.idle_s) {
      for (std::size_t i = replicas_.size(); i-- > 0;) {
        if (replicas_[i].state != Replica::State::kReady) continue;
        replicas_[i].state = Replica::State::kDraining;
        stop_if_empty(replicas_[i]);
        break;
      }
      idle_since_ = net_.now();
    }
  } else {
    idle_since_ = Time::max();
  }
  net_.at(net_.now() + Time::seconds(scaling.interval_s), [this](Time) { look(); });
}

void Service::start_replica(std::uint32_t index) {
  Replica& replica = replicas_[index];
  replica.state = Replica::State::kStarting;
  replica.wanted = net_.now();
  ++result_.scaled_out;
  net_.at(net_.now() + Time::seconds(serving_.scaling->provision_s), [this, index](Time) {
    replicas_[index].there_since = net_.now();
    load(index);
  });
}

/// The weights come from a replica that has them, GPU by GPU, or from storage or disks at their
/// rate or that of the adapters.
void Service::load(std::uint32_t index) {
  using From = scenario::ScalingSpec::LoadFrom;
  const scenario::ScalingSpec& scaling = *serving_.scaling;
  const Deployment& deployment = replicas_[index].pool->deployment;
  if (scaling.from != From::kPeer) {
    double seconds = service_.weights_gb / scaling.gb_per_s;
    if (scaling.from == From::kStorage && service_.adapter_gb_per_s > 0) {
      seconds = std::max(seconds, service_.weights_gb_per_gpu / service_.adapter_gb_per_s);
    }
    net_.at(net_.now() + Time::seconds(seconds), [this, index](Time) { become_ready(index); });
    return;
  }
  std::size_t from = 0;
  while (replicas_[from].state != Replica::State::kReady) ++from;
  const int gpus = deployment.shape.gpus();
  auto left = std::make_shared<int>(gpus);
  for (int gpu = 0; gpu < gpus; ++gpu) {
    const auto rank = [&](std::size_t replica) {
      return base::Rank(static_cast<std::uint32_t>(deployment.first_gpu +
                                                   replicas_[replica].number * gpus + gpu));
    };
    net_.send(rank(from), rank(index), base::Bytes::from(service_.weights_gb_per_gpu * 1e9), {},
              [this, index, left](Time) {
                if (--*left == 0) become_ready(index);
              });
  }
}

void Service::become_ready(std::uint32_t index) {
  net_.at(net_.now() + Time::seconds(serving_.scaling->warm_up_s), [this, index](Time) {
    Replica& replica = replicas_[index];
    replica.state = Replica::State::kReady;
    cold_s_ += (net_.now() - replica.wanted).s();
    ++cold_starts_;
  });
}

void Service::stop_if_empty(Replica& replica) {
  if (replica.serving > 0) return;
  pay(replica);
  replica.state = Replica::State::kOff;
  ++result_.scaled_in;
}

// --- the whole ---

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

}  // namespace

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
