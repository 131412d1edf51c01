// Schedules against Megatron-Core's own order, and pipelines with traffic against closed formulas.

#include "training/pipeline.h"

#include <string>

#include <gtest/gtest.h>

#include "training/step.h"

namespace fabricast::training {
namespace {

/// A pipeline of equal stages; times are of a whole stage, its chunks have equal parts.
StepWork interleaved(int stages, int chunks, int micro_batches, double forward = 1,
                     double backward = 2) {
  StepWork work;
  work.micro_batches = micro_batches;
  ChunkWork chunk;
  chunk.forward_s = forward / chunks;
  chunk.backward_s = backward / chunks;
  for (int s = 0; s < stages; ++s) {
    work.stages.push_back({std::vector(static_cast<std::size_t>(chunks), chunk), 0});
  }
  return work;
}

Step first(const StepWork& work, const std::vector<std::vector<double>>& samples = {}) {
  return play(work, samples, 1, 1, 1)[0];
}

/// "F0.1" is the forward of micro-batch 0 through chunk 1.
std::string order(const PipelineShape& shape, int stage) {
  const PassOrder order(shape);
  std::string text;
  for (int i = 0; i < order.passes(); ++i) {
    const Pass pass = order.pass(stage, i);
    if (!text.empty()) text += ' ';
    text += pass.forward ? 'F' : 'B';
    text += std::to_string(pass.micro_batch) + '.' + std::to_string(pass.chunk);
  }
  return text;
}

// megatron/core/pipeline_parallel/schedules.py, forward_backward_pipelining_with_interleaving:
// micro-batches in groups of pp per chunk, chunks backward in the opposite order; warm-up of rank r
// 2 (p - r - 1) + (v - 1) p.
TEST(PassOrder, is_megatrons_with_two_chunks) {
  const PipelineShape shape{2, 2, 4};
  EXPECT_EQ(order(shape, 0),
            "F0.0 F1.0 F0.1 F1.1 F2.0 B0.1 F3.0 B1.1 F2.1 B0.0 F3.1 B1.0 B2.1 B3.1 B2.0 B3.0");
  EXPECT_EQ(order(shape, 1),
            "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 F2.0 B0.0 F3.0 B1.0 F2.1 B2.1 F3.1 B3.1 B2.0 B3.0");
}

TEST(PassOrder, with_one_chunk_is_one_forward_one_backward) {
  const PipelineShape shape{3, 1, 4};
  EXPECT_EQ(order(shape, 0), "F0.0 F1.0 F2.0 B0.0 F3.0 B1.0 B2.0 B3.0");
  EXPECT_EQ(order(shape, 2), "F0.0 B0.0 F1.0 B1.0 F2.0 B2.0 F3.0 B3.0");
}

TEST(PassOrder, does_every_pass_once) {
  for (const PipelineShape shape : {PipelineShape{4, 3, 8}, {2, 5, 2}, {4, 2, 4}, {5, 1, 3}}) {
    for (int s = 0; s < shape.stages; ++s) {
      std::vector<int> done(2 * shape.size(), 0);
      const PassOrder order(shape);
      for (int i = 0; i < order.passes(); ++i) {
        const Pass pass = order.pass(s, i);
        const std::size_t at = shape.at(0, pass.chunk, pass.micro_batch);
        ++done[pass.forward ? at : shape.size() + at];
        // A backward follows its own forward.
        EXPECT_TRUE(pass.forward || done[at] == 1);
      }
      for (std::size_t i = 0; i < shape.at(1, 0, 0); ++i) {
        EXPECT_EQ(done[i], 1);
        EXPECT_EQ(done[shape.size() + i], 1);
      }
    }
  }
}

// Narayanan et al. 2021, section 2.2.2: bubble time fraction (p - 1)/(v m) of the ideal time.
TEST(Interleaving, divides_the_bubble_by_the_number_of_chunks) {
  for (const int p : {2, 4, 8}) {
    for (const int v : {2, 3, 5}) {
      for (const int m : {p, 2 * p, 6 * p}) {
        const Step step = first(interleaved(p, v, m));
        EXPECT_NEAR(step.breakdown.compute, 3.0 * m, 1e-9);
        EXPECT_NEAR(step.breakdown.bubble, 3.0 * (p - 1) / v, 1e-9) << p << ' ' << v << ' ' << m;
      }
    }
  }
}

// overlap_p2p_comm: once the pipeline is full, a transfer lies under the passes of other chunks.
// What is left is what warm-up and flush wait for, whatever the number of micro-batches.
TEST(Interleaving, hides_transfers_once_the_pipeline_is_full) {
  const auto exposed = [](int chunks, int m) {
    StepWork work = interleaved(4, chunks, m);
    work.activations = 0;
    work.activation_gradients = 0;
    return first(work, {{0.02}}).breakdown.exposed_pp;
  };
  EXPECT_NEAR(exposed(2, 64), exposed(2, 32), 1e-9);
  // Plain 1F1B waits for every transfer: on average more with every micro-batch.
  EXPECT_GT(exposed(1, 64), exposed(1, 32) + 0.5);
}

TEST(Interleaving, sends_that_queue_behind_one_another_are_waited_for) {
  // A transfer longer than the passes it could hide under sets the pace of the pipeline.
  StepWork work = interleaved(2, 2, 16);
  work.activations = 0;
  work.activation_gradients = 1;
  const double step = first(work, {{4}, {0}}).seconds;
  // 16 micro-batches x 2 chunks leave the first stage, 4 s each; the last has still to be used.
  EXPECT_GT(step, 32 * 4);
}

StepWork replicated(int micro_batches, int layers, double forward, double backward) {
  StepWork work = interleaved(1, 1, micro_batches, forward, backward);
  work.replicas = 4;
  work.buckets = layers;
  work.gradients = 0;
  work.parameters = 1;
  return work;
}

// PyTorch FSDP: all-gather of layer i + 1 under layer i (prefetch of one, forward and backward),
// reduce-scatter of a layer when its gradients are there, all on one stream; a backward ends when
// its last reduction has. Nothing hides the first gather of a pass nor the last reduction.
TEST(Fsdp, exposes_the_first_gather_and_the_last_reduction_of_every_pass) {
  StepWork work = replicated(3, 10, 10, 30);
  work.sharding = Sharding::kParameters;
  const double gather = 0.25;
  const double reduce = 0.5;
  // Per layer 1 s forward and 3 s backward: both kinds of traffic fit beneath.
  const Step step = first(work, {{reduce}, {gather}});
  EXPECT_NEAR(step.seconds, 3 * (gather + 10 + gather + 30 + reduce), 1e-9);
  EXPECT_NEAR(step.breakdown.exposed_dp, 3 * (2 * gather + reduce), 1e-9);
  EXPECT_NEAR(step.wire.dp, 3 * 10 * (2 * gather + reduce), 1e-9);
}

TEST(Fsdp, is_bound_by_its_gathers_where_layers_are_short) {
  StepWork work = replicated(2, 10, 10, 1000);
  work.sharding = Sharding::kParameters;
  // Forward: ten gathers of 4 s, one after the other, and the last layer. Backward: 100 s a layer.
  const Step step = first(work, {{0}, {4}});
  EXPECT_NEAR(step.seconds, 2 * (10 * 4 + 1 + 4 + 1000), 1e-9);
}

// Kernels above traffic take 1 + slowdown: of each layer as long as the next one's gather takes.
TEST(Fsdp, slows_the_layer_above_a_gather) {
  StepWork work = replicated(1, 10, 10, 0);
  work.sharding = Sharding::kParameters;
  work.gradients.reset();
  work.parameters = 0;
  work.overlap_slowdown = 0.25;
  const double forward = first(work, {{0.5}}).seconds - 10 * 0.5;  // the backward: gathers alone
  EXPECT_NEAR(forward, 0.5 + 10 + 9 * (0.5 - 0.5 / 1.25), 1e-9);
}

// DeepSpeed, runtime/engine.py, allreduce_gradients: "ZeRO stage >= 2 communicates during non
// gradient accumulation boundaries as well"; stage 1 at the boundary alone.
TEST(Zero, reduces_in_every_backward_from_stage_2_on) {
  StepWork work = replicated(4, 10, 10, 20);
  work.parameters.reset();
  const double once = first(work, {{0.5}}).breakdown.exposed_dp;
  EXPECT_NEAR(once, 0.5, 1e-9);
  work.sharding = Sharding::kGradients;
  const Step step = first(work, {{0.5}});
  EXPECT_NEAR(step.breakdown.exposed_dp, 4 * 0.5, 1e-9);
  EXPECT_NEAR(step.wire.dp, 4 * 10 * 0.5, 1e-9);
}

// Each chunk's gradients go out when its own last backward has them: those of the last chunk are
// hidden under the backward of the first.
TEST(Interleaving, reduces_a_chunk_while_others_are_at_work) {
  StepWork work = interleaved(2, 2, 4, 4, 8);
  work.replicas = 2;
  work.buckets = 4;
  work.gradients = 0;
  EXPECT_NEAR(first(work, {{0.5}}).breakdown.exposed_dp, 0.5, 1e-9);
}

TEST(Trace, plays_the_same_step) {
  StepWork work = interleaved(4, 2, 8);
  work.replicas = 2;
  work.variation = 0.02;
  work.buckets = 3;
  work.gradients = 0;
  work.parameters = 1;
  work.activations = 1;
  work.activation_gradients = 1;
  const std::vector<std::vector<double>> samples{{0.1, 0.2}, {0.01, 0.03}};
  const auto steps = play(work, samples, 3, 7, 1);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(trace(work, samples, 7, i).step.seconds, steps[i].seconds);
  }
}

}  // namespace
}  // namespace fabricast::training
