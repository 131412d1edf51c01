// Replicas that share work, hand it on, come and go.

#include <algorithm>

#include <gtest/gtest.h>

#include "bench.h"

namespace fabricast::serving {
namespace {

using test::Bench;

RunSpec requests(std::int64_t count, double rate) {
  RunSpec run;
  run.arrivals = Arrivals::kPoisson;
  run.rate = rate;
  run.requests = count;
  return run;
}

TEST(Service, is_the_same_twice) {
  Bench bench(test::service_spec(), 2);
  const RunResult a = bench.run(requests(2'000, 500));
  const RunResult b = bench.run(requests(2'000, 500));
  EXPECT_EQ(a.latency.mean(), b.latency.mean());
  EXPECT_EQ(a.batches, b.batches);
}

TEST(Service, spreads_requests_evenly_over_replicas_that_are_alike) {
  Bench bench(test::service_spec(), 4);
  std::vector<RequestRecord> records;
  bench.run(requests(4'000, 100), &records);
  for (int replica = 0; replica < 4; ++replica) {
    const auto count = std::ranges::count(records, replica, &RequestRecord::replica);
    EXPECT_NEAR(static_cast<double>(count), 1'000, 60) << replica;
  }
}

TEST(Service, keeps_prompts_together_that_share_a_beginning) {
  scenario::ServingSpec spec = test::service_spec();
  spec.balancer = scenario::Balancer::kPrefixAware;
  spec.arrival = scenario::ArrivalKind::kTrace;
  std::string trace;
  for (int i = 0; i < 400; ++i) {
    trace += "{\"timestamp\": " + std::to_string(100 * i) +
             ", \"input_length\": 1100, \"output_length\": 2, \"hash_ids\": [" +
             std::to_string(i % 4) + ", " + std::to_string(10 + i % 4) + ", " +
             std::to_string(1000 + i) + "]}\n";
  }
  spec.trace = std::make_shared<const scenario::RequestTrace>(
      scenario::parse_request_trace(trace, "trace.jsonl"));
  Bench bench(spec, 4);
  RunSpec run;
  run.requests = 400;
  std::vector<RequestRecord> records;
  const RunResult result = bench.run(run, &records);
  // All but the four first of their kind find 1,024 of their 1,100 tokens.
  EXPECT_NEAR(result.cached, 396.0 / 400 * 1'024 / 1'100, 1e-9);
}

TEST(Service, closed_loops_have_as_many_requests_as_clients) {
  scenario::ServingSpec spec = test::service_spec();
  spec.arrival = scenario::ArrivalKind::kClosed;
  spec.concurrency = 8;
  spec.output = {.mean = 20, .least = 20, .most = 20};
  Bench bench(spec);
  RunSpec run;
  run.requests = 800;
  const RunResult result = bench.run(run);
  EXPECT_EQ(result.requests, 800);
  EXPECT_NEAR(result.outstanding, 8, 0.1);
}

TEST(Service, requests_larger_than_the_cache_are_refused) {
  Bench bench(test::service_spec());
  bench.service().pools[0].cache_blocks = 10;
  try {
    bench.run(requests(1, 1));
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.where().key, "workload.context");
    EXPECT_NE(std::string(error.what()).find("160"), std::string::npos) << error.what();
  }
}

TEST(Service, replicas_come_after_their_cold_start_and_go_when_idle) {
  scenario::ServingSpec spec = test::service_spec();
  spec.output = {.mean = 200, .least = 200, .most = 200};
  spec.engine.max_num_seqs = 8;
  spec.qps = 2;
  spec.profile = {{100, 20}, {300, 1}};
  scenario::ScalingSpec scaling;
  scaling.min_replicas = 1;
  scaling.max_replicas = 4;
  scaling.target_outstanding = 8;
  scaling.interval_s = 1;
  scaling.idle_s = 20;
  scaling.provision_s = 30;
  scaling.warm_up_s = 5;
  scaling.from = scenario::ScalingSpec::LoadFrom::kLocal;
  scaling.gb_per_s = 2;
  spec.scaling = scaling;
  Bench bench(spec, 4);
  bench.service().weights_gb = 10;
  RunSpec run;
  run.duration_s = 600;
  const RunResult result = bench.run(run);
  EXPECT_GE(result.scaled_out, 1);
  EXPECT_EQ(result.scaled_in, result.scaled_out);
  EXPECT_NEAR(result.cold_start_s, 30 + 10 / 2.0 + 5, 1e-6);
  EXPECT_GT(result.replicas, 1);
  EXPECT_LT(result.replicas, 4);
}

TEST(Service, the_only_replica_that_is_ready_stays_while_another_is_coming) {
  scenario::ServingSpec spec = test::service_spec();
  spec.output = {.mean = 200, .least = 200, .most = 200};
  spec.qps = 40;
  spec.profile = {{5, 0.05}};
  scenario::ScalingSpec scaling;
  scaling.max_replicas = 2;
  scaling.target_outstanding = 8;
  scaling.interval_s = 1;
  scaling.idle_s = 2;
  scaling.provision_s = 300;
  scaling.from = scenario::ScalingSpec::LoadFrom::kLocal;
  scaling.gb_per_s = 2;
  spec.scaling = scaling;
  Bench bench(spec, 2);
  RunSpec run;
  run.duration_s = 200;
  std::vector<RequestRecord> records;
  const RunResult result = bench.run(run, &records);
  EXPECT_EQ(result.scaled_out, 1);
  EXPECT_EQ(result.scaled_in, 0);
  for (const RequestRecord& record : records) EXPECT_EQ(record.replica, 0);
}

TEST(Service, generation_on_other_replicas_gets_its_keys_over_the_network) {
  scenario::ServingSpec spec = test::service_spec();
  spec.output = {.mean = 50, .least = 50, .most = 50};
  spec.disaggregation = scenario::DisaggregationSpec{1, 1};
  Bench bench(spec, 2);
  ServiceSpec& service = bench.service();
  service.pools.push_back(service.pools[0]);
  service.pools[0].prompts_only = true;
  service.pools[0].deployment.replicas = service.pools[1].deployment.replicas = 1;
  service.pools[1].deployment.first_gpu = 1;
  std::vector<RequestRecord> records;
  const RunResult result = bench.run(requests(200, 5), &records);
  for (const RequestRecord& record : records) EXPECT_EQ(record.replica, 1);
  // 256 tokens x 16 layers x 2 x 2048 values x 2 bytes.
  const double bytes = 256.0 * 16 * 2 * 2'048 * 2;
  EXPECT_NEAR(result.transfer_s, bytes * 8 / 200e9 + 1e-6, 1e-6);
}

TEST(Service, prompts_wait_where_they_are_while_generation_has_no_room) {
  scenario::ServingSpec spec = test::service_spec();
  spec.output = {.mean = 300, .least = 300, .most = 300};
  spec.engine.max_num_seqs = 2;
  spec.disaggregation = scenario::DisaggregationSpec{1, 1};
  Bench bench(spec, 2);
  ServiceSpec& service = bench.service();
  service.pools.push_back(service.pools[0]);
  service.pools[0].prompts_only = true;
  service.pools[0].deployment.replicas = service.pools[1].deployment.replicas = 1;
  service.pools[1].deployment.first_gpu = 1;
  service.pools[0].cache_blocks = 17 * 4;  // four prompts of 256 tokens and a token each
  RunSpec run = requests(200, 100);
  const RunResult result = bench.run(run);
  EXPECT_EQ(result.requests, 200);
}

}  // namespace
}  // namespace fabricast::serving
