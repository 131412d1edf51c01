// Services that reduce to queues of which theory knows the waiting time.

#include <gtest/gtest.h>

#include "bench.h"

namespace fabricast::serving {
namespace {

using scenario::LengthSpec;
using test::Bench;

constexpr std::int64_t kRequests = 100'000;

/// One request at a time.
scenario::ServingSpec one_at_a_time() {
  scenario::ServingSpec spec = test::service_spec();
  spec.engine.max_num_seqs = 1;
  spec.balancer = scenario::Balancer::kQueue;
  return spec;
}

RunSpec poisson(double rate, std::int64_t requests = kRequests) {
  RunSpec run;
  run.arrivals = Arrivals::kPoisson;
  run.rate = rate;
  run.requests = requests;
  run.warm_up = requests / 20;
  return run;
}

struct Moments {
  double mean = 0;
  double square = 0;
  double wait = 0;
};

/// Of the time in service, and the mean wait before it.
Moments moments(const std::vector<RequestRecord>& records) {
  Moments m;
  const auto n = static_cast<double>(records.size());
  for (const RequestRecord& r : records) {
    const double service = r.last_token_s - r.scheduled_s;
    m.mean += service / n;
    m.square += service * service / n;
    m.wait += (r.scheduled_s - r.arrival_s) / n;
  }
  return m;
}

Moments at_rate(Bench& bench, double rate, std::int64_t requests = kRequests) {
  std::vector<RequestRecord> records;
  bench.run(poisson(rate, requests), &records);
  return moments(records);
}

/// Of requests that hardly ever meet.
double service_s(Bench& bench) {
  return at_rate(bench, 1e-2, 20'000).mean;
}

TEST(Queueing, fixed_work_waits_as_in_m_d_1) {
  Bench bench(one_at_a_time());
  const double service = service_s(bench);
  for (const double load : {0.3, 0.6, 0.8, 0.9}) {
    const Moments m = at_rate(bench, load / service);
    EXPECT_NEAR(m.mean, service, 1e-9);
    // The nearer to saturation, the longer waits hang together and the less a run says.
    EXPECT_NEAR(m.wait / (load * service / (2 * (1 - load))), 1, 0.01 / (1 - load)) << load;
  }
}

TEST(Queueing, exponential_work_waits_as_in_m_m_1) {
  // One token after the other, each in the time of the weights: the length decides.
  scenario::ServingSpec spec = one_at_a_time();
  spec.context = {.mean = 1, .least = 1, .most = 1};
  spec.output = {.kind = LengthSpec::Kind::kExponential, .mean = 60, .least = 1, .most = 10'000};
  Bench bench(spec);
  const double service = service_s(bench);
  for (const double load : {0.4, 0.7}) {
    const Moments m = at_rate(bench, load / service);
    EXPECT_NEAR(m.wait / (load * service / (1 - load)), 1, 0.06) << load;
  }
}

TEST(Queueing, any_work_waits_as_pollaczek_and_khinchine_say) {
  scenario::ServingSpec spec = one_at_a_time();
  spec.context = {.kind = LengthSpec::Kind::kLognormal,
                  .mean = 800,
                  .variation = 1.0,
                  .least = 16,
                  .most = 16'000};
  spec.output = {.kind = LengthSpec::Kind::kUniform, .mean = 50, .least = 1, .most = 99};
  Bench bench(spec);
  const double service = service_s(bench);
  for (const double load : {0.5, 0.8}) {
    const double rate = load / service;
    const Moments m = at_rate(bench, rate);
    const double expected = rate * m.square / (2 * (1 - rate * m.mean));
    EXPECT_NEAR(m.wait / expected, 1, 0.06) << load;
  }
}

TEST(Queueing, several_replicas_behind_one_queue_wait_as_erlang_c_says) {
  scenario::ServingSpec spec = one_at_a_time();
  spec.context = {.mean = 1, .least = 1, .most = 1};
  spec.output = {.kind = LengthSpec::Kind::kExponential, .mean = 60, .least = 1, .most = 10'000};
  constexpr int kServers = 4;
  Bench bench(spec, kServers);
  const double service = service_s(bench);
  const double load = 0.8;
  const Moments m = at_rate(bench, kServers * load / service);
  // Probability of waiting: Erlang 1917.
  const double a = kServers * load;
  double term = 1;
  double sum = 0;
  for (int k = 0; k < kServers; ++k) {
    sum += term;
    term *= a / (k + 1);
  }
  const double waiting = term / (1 - load) / (sum + term / (1 - load));
  const double expected = waiting * service / (kServers * (1 - load));
  EXPECT_NEAR(m.wait / expected, 1, 0.06);
}

TEST(Queueing, requests_in_the_system_are_rate_times_time_in_it) {
  // Little 1961; every run checks it for all requests, here for those that count.
  Bench bench(one_at_a_time());
  const double service = service_s(bench);
  RunSpec run = poisson(0.7 / service);
  run.warm_up = 0;
  const RunResult result = bench.run(run);
  EXPECT_NEAR(result.outstanding / (result.completed_per_s * result.latency.mean()), 1, 0.01);
}

TEST(Queueing, a_saturated_replica_does_one_request_per_service_time) {
  Bench bench(one_at_a_time());
  const double service = service_s(bench);
  RunSpec run;
  run.saturate = true;
  run.requests = 2'000;
  run.warm_up = 10;
  const RunResult result = bench.run(run);
  ASSERT_EQ(result.parts_per_s.size(), 10U);
  for (const double per_s : result.parts_per_s) EXPECT_NEAR(per_s * service, 1, 1e-6);
  EXPECT_NEAR(result.computing, 1, 1e-3);
}

}  // namespace
}  // namespace fabricast::serving
