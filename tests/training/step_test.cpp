// The step as a composition: pipelines, overlap and attribution against closed formulas.

#include "training/step.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/statistics.h"

namespace fabricast::training {
namespace {

StepWork plain(int stages, int micro_batches, double forward = 1, double backward = 2) {
  StepWork work;
  work.micro_batches = micro_batches;
  for (int s = 0; s < stages; ++s) {
    ChunkWork chunk;
    chunk.forward_s = forward;
    chunk.backward_s = backward;
    work.stages.push_back({{chunk}, 0});
  }
  return work;
}

double sum(const Breakdown& b) {
  return b.compute + b.exposed_tp + b.exposed_pp + b.exposed_dp + b.exposed_ep + b.exposed_cp +
         b.bubble;
}

Step first(const StepWork& work, const std::vector<std::vector<double>>& samples = {}) {
  return play(work, samples, 1, 1, 1)[0];
}

TEST(Pipeline, one_forward_one_backward_takes_m_plus_p_minus_1_slots) {
  // Narayanan et al. 2021, section 2.2.1.
  for (const int p : {1, 2, 4, 7}) {
    for (const int m : {1, 3, 8, 20}) {
      EXPECT_DOUBLE_EQ(first(plain(p, m)).seconds, (m + p - 1) * 3.0) << p << " x " << m;
    }
  }
}

TEST(Pipeline, bubble_is_p_minus_1_over_m_of_the_ideal_time) {
  // The same section: bubble time fraction (p - 1)/m.
  const Step step = first(plain(4, 16));
  EXPECT_DOUBLE_EQ(step.breakdown.compute, 16 * 3.0);
  EXPECT_DOUBLE_EQ(step.breakdown.bubble, 3.0 / 16 * 48);
}

TEST(Pipeline, transfers_lengthen_the_critical_path) {
  // Two stages, one micro-batch: forward, transfer, forward, backward, transfer, backward.
  StepWork work = plain(2, 1);
  work.activations = 0;
  work.activation_gradients = 1;
  const Step step = first(work, {{0.25}, {0.5}});
  EXPECT_DOUBLE_EQ(step.seconds, 1 + 0.25 + 1 + 2 + 0.5 + 2);
  EXPECT_DOUBLE_EQ(step.breakdown.exposed_pp, 0.75);
}

TEST(Pipeline, collectives_within_a_pass_add_to_it) {
  StepWork work = plain(1, 5);
  work.stages[0].chunks[0].forward.push_back({0, 4, 0, CommKind::kTp});
  work.stages[0].chunks[0].backward.push_back({0, 4, 0.05, CommKind::kCp});
  const Step step = first(work, {{0.1}});
  EXPECT_NEAR(step.breakdown.exposed_tp, 5 * 4 * 0.1, 1e-12);
  EXPECT_NEAR(step.breakdown.exposed_cp, 5 * 4 * 0.05, 1e-12);
  EXPECT_NEAR(step.seconds, 15 + 2 + 1, 1e-12);
}

StepWork data_parallel(double backward) {
  StepWork work = plain(1, 4, 1, backward);
  work.replicas = 4;
  work.buckets = 10;
  work.gradients = 0;
  return work;
}

TEST(Overlap, long_backward_exposes_one_bucket) {
  // The last bucket is ready when the backward ends: one bucket is always exposed.
  const Step step = first(data_parallel(10), {{0.5}});
  EXPECT_NEAR(step.breakdown.exposed_dp, 0.5, 1e-12);
}

TEST(Overlap, short_backward_exposes_all_but_the_first_chunk) {
  // Buckets follow one another from the end of the first of ten chunks: 10 x 5 - 0.9 x 2.
  const Step step = first(data_parallel(2), {{5}});
  EXPECT_NEAR(step.breakdown.exposed_dp, 10 * 5 - 0.9 * 2, 1e-12);
}

TEST(Overlap, parameters_that_arrive_late_hold_the_first_forward) {
  StepWork work = plain(1, 4, 1, 2);
  work.replicas = 2;
  work.buckets = 4;
  work.parameters = 0;
  // Gathers end at 2, 4, 6, 8; the last quarter of the forward follows.
  EXPECT_NEAR(first(work, {{2}}).breakdown.exposed_dp, 8 + 0.25 - 1, 1e-12);
  // Fast gathers hold only the first quarter.
  EXPECT_NEAR(first(work, {{0.1}}).breakdown.exposed_dp, 0.1, 1e-12);
}

TEST(Overlap, later_stages_gather_while_the_pipeline_fills) {
  StepWork work = plain(2, 4, 1, 2);
  work.replicas = 2;
  work.buckets = 1;
  work.parameters = 0;
  work.stages[0].chunks[0].bucket_share = 1e-9;
  // The second stage's parameters arrive at 1, just when its first input does.
  EXPECT_NEAR(first(work, {{1}}).breakdown.exposed_dp, 0, 1e-6);
}

TEST(Overlap, traffic_slows_the_compute_above_it) {
  StepWork work = data_parallel(10);
  work.overlap_slowdown = 0.2;
  // Each bucket of 0.5 is on the wire under the next of nine pieces, which gets 0.5 / 1.2 done.
  EXPECT_NEAR(first(work, {{0.5}}).breakdown.exposed_dp, 0.5 + 9 * (0.5 - 0.5 / 1.2), 1e-12);
}

StepWork noisy() {
  StepWork work = plain(3, 6);
  work.replicas = 2;
  work.group = 4;
  work.variation = 0.02;
  work.buckets = 3;
  work.overlap_slowdown = 0.1;
  work.activations = 0;
  work.activation_gradients = 0;
  work.gradients = 1;
  work.parameters = 1;
  work.stages[1].chunks[0].bucket_share = 0.7;
  for (StageWork& stage : work.stages) {
    stage.optimizer_s = 0.3;
    stage.chunks[0].forward.push_back({2, 40, 0, CommKind::kTp});
    stage.chunks[0].backward.push_back({2, 3, 0.01, CommKind::kEp});
  }
  return work;
}
const std::vector<std::vector<double>> kNoisySamples{
    {0.1, 0.12, 0.2}, {0.3, 0.5, 1.5}, {0.01, 0.011, 0.02}};

TEST(Breakdown, sums_to_the_step_time_and_no_part_is_negative) {
  for (const Step& step : play(noisy(), kNoisySamples, 50, 3, 1)) {
    EXPECT_NEAR(sum(step.breakdown), step.seconds, 1e-9 * step.seconds);
    const Breakdown& b = step.breakdown;
    for (const double part : {b.compute, b.exposed_tp, b.exposed_pp, b.exposed_dp, b.exposed_ep,
                              b.exposed_cp, b.bubble}) {
      EXPECT_GE(part, 0);
    }
  }
}

TEST(Jitter, is_zero_without_any_variation) {
  StepWork work = noisy();
  work.variation = 0;
  const auto steps = play(work, {{0.1}, {0.3}, {0.01}}, 20, 1, 1);
  for (const Step& step : steps) EXPECT_EQ(step.seconds, steps[0].seconds);
}

TEST(Jitter, of_one_gpu_is_its_own_variation) {
  StepWork work = plain(1, 1);
  work.variation = 0.02;
  std::vector<double> seconds;
  for (const Step& step : play(work, {}, 4000, 5, 1)) seconds.push_back(step.seconds);
  // Standard error of sigma over n draws: sigma / sqrt(2n); four of them.
  EXPECT_NEAR(base::standard_deviation(seconds) / base::mean(seconds), 0.02,
              4 * 0.02 / std::sqrt(8000.0));
}

TEST(Jitter, groups_wait_for_their_slowest_gpu) {
  // The mean of the largest of 8 standard normals is 1.4236 (Harter 1961, table of order
  // statistics).
  StepWork work = plain(1, 1);
  work.group = 8;
  work.variation = 0.01;
  std::vector<double> seconds;
  for (const Step& step : play(work, {}, 4000, 5, 1)) seconds.push_back(step.seconds);
  EXPECT_NEAR(base::mean(seconds), 3 * (1 + 0.01 * 1.4236), 3 * 0.01 * 0.05);
}

// A GPU that is slower for good holds up its group, and through it everyone; it adds no jitter.
TEST(Stragglers, set_the_pace_of_all) {
  StepWork work = plain(1, 4);
  work.group = 2;
  work.replicas = 4;
  work.gradients = 0;
  const auto seconds = [&] { return play(work, {{0}}, 20, 1, 1); };
  const double alike = seconds()[0].seconds;
  work.pace.assign(8, 1.0);
  work.pace[5] = 1.25;
  for (const Step& step : seconds()) {
    EXPECT_NEAR(step.seconds, 1.25 * alike, 1e-9);
    // Its peer waits as tp, the other replicas as dp: 3/4 of the GPUs, and 1/2 of the last quarter.
    EXPECT_NEAR(step.breakdown.exposed_dp, 0.25 * alike * 3 / 4, 1e-9);
    EXPECT_NEAR(step.breakdown.exposed_tp, 0.25 * alike / 8, 1e-9);
  }
}

TEST(Jitter, grows_with_the_spread_of_communication) {
  const auto jitter = [](double spread) {
    StepWork work = data_parallel(2);
    std::vector<double> seconds;
    for (const Step& step : play(work, {{1 - spread, 1, 1 + spread}}, 300, 1, 1)) {
      seconds.push_back(step.seconds);
    }
    return base::standard_deviation(seconds) / base::mean(seconds);
  };
  EXPECT_LT(jitter(0.05), jitter(0.2));
  EXPECT_LT(jitter(0.2), jitter(0.6));
}

TEST(Play, does_not_depend_on_the_number_of_threads) {
  const auto one = play(noisy(), kNoisySamples, 64, 9, 1);
  const auto two = play(noisy(), kNoisySamples, 64, 9, 2);
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].seconds, two[i].seconds);
    EXPECT_EQ(one[i].breakdown.exposed_dp, two[i].breakdown.exposed_dp);
  }
}

// The latest of n exponential times has the mean h (1 + 1/2 + ... + 1/n) and the variance
// h^2 (1 + 1/4 + ... + 1/n^2).
TEST(LateHosts, hold_everybody_up_until_the_latest) {
  StepWork work = plain(1, 1);
  work.nodes = 4;
  work.host_delay_s = 0.12;
  std::vector<double> seconds;
  for (const Step& step : play(work, {}, 20'000, 1, 1)) {
    EXPECT_NEAR(sum(step.breakdown), step.seconds, 1e-12);
    EXPECT_DOUBLE_EQ(step.breakdown.bubble, step.late_hosts);
    seconds.push_back(step.seconds);
  }
  const double mean = 0.12 * (1 + 1.0 / 2 + 1.0 / 3 + 1.0 / 4);
  const double sigma = 0.12 * std::sqrt(1 + 1.0 / 4 + 1.0 / 9 + 1.0 / 16);
  EXPECT_NEAR(base::mean(seconds), 3 + mean, 4 * sigma / std::sqrt(20'000.0));
  EXPECT_NEAR(base::standard_deviation(seconds), sigma, 0.03 * sigma);
}

// A Poisson number of timeouts: mean lambda d, variance lambda d^2, beside the transfers.
TEST(Timeouts, lengthen_transfers_by_whole_timeouts) {
  StepWork work = plain(2, 1);
  work.activations = 0;
  work.activation_gradients = 1;
  work.timeouts = {0.3, 0.1};
  work.timeout_s = 0.5;
  std::vector<double> seconds;
  for (const Step& step : play(work, {{0.25}, {0.25}}, 20'000, 1, 1)) {
    const double more = (step.seconds - 6.5) / 0.5;
    EXPECT_NEAR(more, std::round(more), 1e-9);
    EXPECT_NEAR(sum(step.breakdown), step.seconds, 1e-9);
    seconds.push_back(step.seconds);
  }
  EXPECT_NEAR(base::mean(seconds), 6.5 + 0.4 * 0.5, 0.01);
  EXPECT_NEAR(base::standard_deviation(seconds), std::sqrt(0.4) * 0.5, 0.01);
}

}  // namespace
}  // namespace fabricast::training
