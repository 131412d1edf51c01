#include "serving/scheduler.h"

#include <gtest/gtest.h>

#include "bench.h"

namespace fabricast::serving {
namespace {

/// A scheduler and its requests, batch by batch.
class Rank {
 public:
  explicit Rank(const scenario::ServingSpec& spec, std::int64_t blocks = 1'000)
      : scheduler_({spec.engine, blocks, spec.prefix_cached, 0, false}, jobs_) {}

  std::uint32_t add(int input, int output) {
    const std::uint32_t index = jobs_.allocate();
    jobs_[index].request.input = input;
    jobs_[index].request.output = output;
    jobs_[index].known = input;
    scheduler_.enqueue(index);
    return index;
  }
  const Batch& schedule() {
    scheduler_.schedule({}, batch_);
    return batch_;
  }
  const Scheduler::Finished& complete() {
    scheduler_.complete(batch_, finished_);
    return finished_;
  }
  Job& job(std::uint32_t index) { return jobs_[index]; }
  Scheduler& scheduler() { return scheduler_; }

 private:
  Jobs jobs_;
  Scheduler scheduler_;
  Batch batch_;
  Scheduler::Finished finished_;
};

TEST(Scheduler, a_request_takes_one_batch_per_token) {
  Rank rank(test::service_spec());
  const std::uint32_t job = rank.add(100, 3);
  EXPECT_EQ(rank.schedule().tokens, 100);
  EXPECT_EQ(rank.complete().first, std::vector{job});
  for (int token = 2; token <= 3; ++token) {
    EXPECT_EQ(rank.schedule().tokens, 1);
    EXPECT_EQ(rank.complete().done.size(), token == 3 ? 1U : 0U);
  }
  EXPECT_TRUE(rank.schedule().parts.empty());
  EXPECT_EQ(rank.scheduler().cache().in_use(), 0);
}

TEST(Scheduler, prompts_are_cut_to_what_generation_leaves_of_a_batch) {
  scenario::ServingSpec spec = test::service_spec();
  spec.engine.max_num_batched_tokens = 100;
  Rank rank(spec);
  rank.add(50, 10);
  EXPECT_EQ(rank.schedule().tokens, 50);
  rank.complete();
  const std::uint32_t longer = rank.add(250, 10);
  const Batch& batch = rank.schedule();
  EXPECT_EQ(batch.tokens, 100);
  EXPECT_EQ(batch.decodes.sequences, 1);
  ASSERT_EQ(batch.prompts.size(), 1U);
  EXPECT_EQ(batch.prompts[0].queries, 99);
  rank.complete();
  EXPECT_EQ(rank.schedule().prompts[0].keys, 198);
  EXPECT_TRUE(rank.complete().first.empty());
  EXPECT_EQ(rank.schedule().prompts[0].queries, 52);
  EXPECT_EQ(rank.complete().first, std::vector{longer});
}

// TensorRT-LLM's in-flight batching: the sequence that runs, and prompts that still fit whole.
TEST(Scheduler, without_chunks_takes_prompts_whole_beside_generation) {
  scenario::ServingSpec spec = test::service_spec();
  spec.engine.chunked_prefill = false;
  spec.engine.max_num_batched_tokens = 100;
  Rank rank(spec);
  rank.add(60, 10);
  rank.schedule();
  rank.complete();
  rank.add(60, 10);
  rank.add(60, 10);
  EXPECT_EQ(rank.schedule().tokens, 61);  // the second would not fit whole
}

// SGLang without --enable-mixed-chunk: nobody generates until all prompts have been worked on.
TEST(Scheduler, works_on_prompts_first_where_batches_are_not_mixed) {
  scenario::ServingSpec spec = test::service_spec();
  spec.engine.mixed_batches = false;
  spec.engine.max_num_batched_tokens = 100;
  Rank rank(spec);
  rank.add(60, 10);
  rank.schedule();
  rank.complete();
  rank.add(60, 10);
  rank.add(60, 10);
  EXPECT_EQ(rank.schedule().tokens, 100);  // the second is cut
  rank.complete();
  EXPECT_EQ(rank.schedule().tokens, 20);
  rank.complete();
  EXPECT_EQ(rank.schedule().decodes.sequences, 3);
}

TEST(Scheduler, holds_no_more_sequences_than_it_may) {
  scenario::ServingSpec spec = test::service_spec();
  spec.engine.max_num_seqs = 3;
  Rank rank(spec);
  for (int i = 0; i < 5; ++i) rank.add(10, 2);
  EXPECT_EQ(rank.schedule().parts.size(), 3U);
  EXPECT_EQ(rank.scheduler().waiting(), 2U);
}

TEST(Scheduler, the_last_to_come_makes_room_and_starts_over) {
  scenario::ServingSpec spec = test::service_spec();
  // Each prompt fills two blocks to the last token; five blocks, so that one can grow.
  Rank rank(spec, 5);
  const std::uint32_t first = rank.add(32, 20);
  const std::uint32_t second = rank.add(32, 20);
  rank.schedule();
  rank.complete();
  EXPECT_EQ(rank.schedule().parts.size(), 1U);
  EXPECT_EQ(rank.scheduler().preemptions(), 1);
  EXPECT_EQ(rank.job(second).preemptions, 1);
  EXPECT_EQ(rank.job(second).computed, 0);
  EXPECT_EQ(rank.job(second).known, 33);  // its first token is not lost
  EXPECT_EQ(rank.job(first).preemptions, 0);
  int batches = 0;
  std::size_t done = 0;
  while (done < 2 && batches++ < 100) {
    done += rank.complete().done.size();
    rank.schedule();
  }
  EXPECT_EQ(done, 2U);
  EXPECT_EQ(rank.scheduler().cache().in_use(), 0);
}

TEST(Scheduler, a_prompt_that_others_share_is_computed_once) {
  scenario::ServingSpec spec = test::service_spec();
  spec.prefix_cached = 96;
  Rank rank(spec);
  rank.add(100, 1);
  EXPECT_EQ(rank.schedule().tokens, 100);
  rank.complete();
  rank.add(100, 1);
  const Batch& batch = rank.schedule();
  EXPECT_EQ(batch.tokens, 4);
  EXPECT_EQ(batch.prompts[0].keys, 100);
  rank.complete();
  EXPECT_EQ(rank.scheduler().cache().in_use(), 0);
}

TEST(Scheduler, of_a_prompt_that_is_cached_whole_the_last_token_is_computed) {
  scenario::ServingSpec spec = test::service_spec();
  spec.prefix_cached = 96;
  Rank rank(spec);
  rank.add(96, 1);
  rank.schedule();
  rank.complete();
  rank.add(96, 1);
  EXPECT_EQ(rank.schedule().tokens, 1);
}

TEST(Scheduler, finds_what_a_trace_says_is_the_same) {
  scenario::ServingSpec spec = test::service_spec();
  Rank rank(spec, 10'000);
  scenario::TracedRequest one{0, 1'200, 1, {11, 12, 13}};
  scenario::TracedRequest two{0, 1'200, 1, {11, 12, 99}};
  const std::uint32_t a = rank.add(1'200, 1);
  rank.job(a).request.traced = &one;
  EXPECT_EQ(rank.schedule().tokens, 1'200);
  rank.complete();
  const std::uint32_t b = rank.add(1'200, 1);
  rank.job(b).request.traced = &two;
  EXPECT_EQ(rank.schedule().tokens, 1'200 - 2 * scenario::kTracedBlock);
  rank.complete();
  EXPECT_EQ(rank.job(b).cached, 2 * scenario::kTracedBlock);
}

}  // namespace
}  // namespace fabricast::serving
