// Whole jobs on the textbook network.

#include "training/training.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "../collective/ideal_network.h"
#include "../model/models.h"
#include "jobs.h"

namespace fabricast::training {
namespace {

using namespace base::literals;
using test::IdealNetwork;
using test::IdealSpec;

struct Job {
  scenario::TrainingSpec spec;
  int nodes = 1;
  int gpus_per_node = 8;
  double background = 0;
  double variation_pct = 1;
  IdealSpec network = {.alpha = 3_us, .beta = 200_gbps};
  Options options = {};
};

Result run(const Job& job) {
  auto scenario = test::scenario_of(job.spec, job.nodes, job.gpus_per_node);
  scenario.cluster.gpu.kernel_variation_pct = job.variation_pct;
  if (job.background > 0) scenario.background.emplace_back().load = job.background;
  const auto fabric = fabric::build(scenario.cluster.topology);
  IdealSpec spec = job.network;
  spec.gpus_per_node = static_cast<std::uint32_t>(job.gpus_per_node);
  spec.node_beta = 3600_gbps;
  spec.node_alpha = 1_us;
  const network::Factory factory = [&](std::uint64_t) {
    return std::make_unique<IdealNetwork>(fabric.gpus(), spec);
  };
  scenario::FabricChoice choice;
  choice.topology = scenario.cluster.topology;
  network::PhaseCache cache;
  return simulate(scenario, choice, fabric, {factory, {}, {}}, cache, job.options);
}

Job two_nodes() {
  return {.spec = test::job(model::testing::llama2_7b(), {.tp = 2, .pp = 2, .dp = 4}),
          .nodes = 4,
          .gpus_per_node = 4};
}

TEST(Training, breakdown_sums_to_the_step_time) {
  const Result r = run(two_nodes());
  const Breakdown& b = r.breakdown_s;
  EXPECT_NEAR(b.compute + b.exposed_tp + b.exposed_pp + b.exposed_dp + b.exposed_ep + b.exposed_cp +
                  b.bubble,
              r.step_time_s, 1e-9 * r.step_time_s);
  EXPECT_GT(b.compute, 0);
  EXPECT_GT(b.exposed_tp, 0);
  EXPECT_GT(b.exposed_pp, 0);
  EXPECT_GT(b.exposed_dp, 0);
  EXPECT_GT(b.bubble, 0);
  EXPECT_GT(r.jitter_pct, 0);
}

TEST(Training, metrics_follow_from_the_step_time) {
  const Job job = two_nodes();
  const Result r = run(job);
  const double tokens = 64.0 * 4096;
  EXPECT_NEAR(r.tokens_per_s, tokens / r.step_time_s, 1e-6 * r.tokens_per_s);
  EXPECT_NEAR(r.days, job.spec.tokens / r.tokens_per_s / 86400, 1e-9);
  EXPECT_NEAR(r.gpu_utilisation_pct, 100 * r.breakdown_s.compute / r.step_time_s, 1e-9);
  EXPECT_GE(r.gpu_utilisation_smi_pct, r.gpu_utilisation_pct);
  // Chowdhery et al. 2022, appendix B: model FLOPs over what the GPUs could have done.
  const double flops = model::training_flops_per_token(job.spec.model, 4096) * tokens;
  EXPECT_NEAR(r.mfu_pct, 100 * flops / (r.step_time_s * 16 * 989e12), 1e-9);
}

TEST(Training, counts_the_error_of_a_transfer_by_its_time_on_the_wire) {
  Job job{.spec = test::job(model::testing::llama2_7b(), {.tp = 4, .dp = 2}),
          .nodes = 2,
          .gpus_per_node = 4,
          .background = 0.02,
          .network = {.alpha = 3_us, .beta = 200_gbps, .ranks_per_port = 4, .core = 150_gbps}};
  job.spec.shape.parallelism.zero = 3;
  const Result r = run(job);
  double most = 0;
  for (const PhaseReport& phase : r.phases) most = std::max(most, phase.extrapolation_error);
  ASSERT_GT(most, 0);
  EXPECT_GT(r.extrapolation_error, 0);
  // The transfers between nodes take less than the step.
  EXPECT_LT(r.extrapolation_error, most);
  job.options.resolution = collective::Resolution::kPacket;
  EXPECT_EQ(run(job).extrapolation_error, 0);
}

TEST(Training, without_variation_and_background_there_is_no_jitter) {
  Job job = two_nodes();
  job.variation_pct = 0;
  // What is left is the latency probe's own handful of bytes, at other instants in each state.
  EXPECT_LT(run(job).jitter_pct, 1e-5);
}

TEST(Training, a_job_within_one_node_does_not_feel_the_fabric) {
  Job job{.spec = test::job(model::testing::llama2_7b(), {.tp = 4, .dp = 2})};
  const Result fast = run(job);
  job.network = {.alpha = 80_us, .beta = 10_gbps};
  job.background = 0.3;
  const Result slow = run(job);
  EXPECT_EQ(fast.step_times_s, slow.step_times_s);
  EXPECT_EQ(slow.network.latency_us, 0);
}

TEST(Training, a_slower_network_makes_a_longer_step) {
  Job job = two_nodes();
  const double fast = run(job).step_time_s;
  job.network.beta = 20_gbps;
  EXPECT_GT(run(job).step_time_s, fast);
}

TEST(Training, jitter_grows_with_background_load) {
  Job job = two_nodes();
  job.variation_pct = 0;
  job.background = 0.1;
  const double light = run(job).jitter_pct;
  job.background = 0.5;
  const double heavy = run(job).jitter_pct;
  EXPECT_GT(light, 0);
  EXPECT_GT(heavy, light);
}

TEST(Training, results_do_not_depend_on_the_number_of_threads) {
  Job job = two_nodes();
  job.background = 0.2;
  const Result one = run(job);
  job.options.threads = 2;
  const Result two = run(job);
  EXPECT_EQ(one.step_times_s, two.step_times_s);
  EXPECT_EQ(one.network.latency_loaded_p99_us, two.network.latency_loaded_p99_us);
  EXPECT_EQ(one.counters.packet_hops, two.counters.packet_hops);
}

TEST(Training, an_equal_phase_is_simulated_once) {
  const Job job = two_nodes();
  auto scenario = test::scenario_of(job.spec, job.nodes, job.gpus_per_node);
  const auto fabric = fabric::build(scenario.cluster.topology);
  int networks = 0;
  const network::Factory factory = [&](std::uint64_t) {
    ++networks;
    return std::make_unique<IdealNetwork>(fabric.gpus(), job.network);
  };
  scenario::FabricChoice choice;
  network::PhaseCache cache;
  const Result first = simulate(scenario, choice, fabric, {factory, {}, {}}, cache, {});
  const auto misses = cache.misses();
  const Result second = simulate(scenario, choice, fabric, {factory, {}, {}}, cache, {});
  EXPECT_EQ(cache.misses(), misses);
  EXPECT_EQ(first.step_times_s, second.step_times_s);
  // Another profile is another network; what stays inside nodes is still the same.
  choice.profile.ecn.pmax = 0.5;
  simulate(scenario, choice, fabric, {factory, {}, {}}, cache, {});
  EXPECT_GT(cache.misses(), misses);
  EXPECT_LT(cache.misses(), 2 * misses);
}

}  // namespace
}  // namespace fabricast::training
