#pragma once
// One run of a service: its replicas, what is on its way, what has been counted. Private to this
// room: service.cpp has requests and the whole, batches.cpp the replicas at work, transfers.cpp
// keys and values that move, scaling.cpp replicas that come and go.

#include <deque>
#include <functional>
#include <vector>

#include "base/random.h"
#include "base/slab.h"
#include "serving/service.h"

namespace fabricast::serving {

using base::Time;

/// Parts of a run that its error is judged by.
inline constexpr int kParts = 10;

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

/// One run.
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
  void grow(int missing);
  void shrink();
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

}  // namespace fabricast::serving
