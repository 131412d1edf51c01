#include "serving/scheduler.h"

#include <algorithm>

namespace fabricast::serving {

void Batch::clear() {
  parts.clear();
  prompts.clear();
  decodes = {};
  tokens = 0;
  sampled = 0;
}

Scheduler::Scheduler(const Spec& spec, Jobs& jobs)
    : spec_(spec), jobs_(jobs), cache_(spec.cache_blocks, spec.engine.block_size) {}

int Scheduler::segments(const Request& request) const {
  if (!spec_.engine.prefix_caching) return 0;
  if (request.traced != nullptr) {
    // The last block may be cut short, and then nobody else can use it.
    return std::min(static_cast<int>(request.traced->blocks.size()),
                    request.input / scenario::kTracedBlock);
  }
  return spec_.prefix_cached > 0 && spec_.prefix_cached <= request.input ? 1 : 0;
}

Segment Scheduler::segment(const Request& request, int index) const {
  if (request.traced == nullptr) return {0, spec_.prefix_cached};
  return {request.traced->blocks[static_cast<std::size_t>(index)], scenario::kTracedBlock};
}

int Scheduler::cached(const Request& request) const {
  int tokens = 0;
  for (int i = 0; i < segments(request); ++i) {
    const Segment here = segment(request, i);
    if (!cache_.has(here.name)) break;
    tokens += here.tokens;
  }
  return tokens;
}

void Scheduler::put(Batch& batch, std::uint32_t index, int tokens) {
  Job& job = jobs_[index];
  job.in_batch = true;
  batch.parts.push_back({index, tokens});
  batch.tokens += tokens;
  const int keys = job.computed + tokens;
  if (keys == job.known) ++batch.sampled;
  if (tokens == 1 && job.generated > 0) {
    batch.decodes.sequences += 1;
    batch.decodes.keys += keys;
    batch.decodes.windowed_keys += spec_.window > 0 ? std::min(keys, spec_.window) : keys;
  } else {
    batch.prompts.push_back({static_cast<double>(tokens), static_cast<double>(keys)});
  }
}

/// Blocks for `tokens` more, beside those of shared segments.
bool Scheduler::grow(Job& job, int tokens) {
  const std::int64_t need =
      cache_.blocks_for(job.computed + tokens - job.held.shared) - job.held.blocks;
  if (need <= 0) return true;
  if (!cache_.take(need)) return false;
  job.held.blocks += need;
  return true;
}

Held Scheduler::hand_over(Job& job) {
  const Held held = job.held;
  job.held = {};
  return held;
}

void Scheduler::release(const Request& request, const Held& held) {
  cache_.give(held.blocks);
  for (int i = 0; i < held.segments; ++i) cache_.leave(segment(request, i).name);
}

void Scheduler::drop(Job& job) {
  release(job.request, hand_over(job));
}

/// The last sequence that is in no batch makes room. False: that was the one which wanted it.
bool Scheduler::preempt_last(std::uint32_t wanting) {
  for (std::size_t i = running_.size(); i-- > 0;) {
    const std::uint32_t index = running_[i];
    Job& job = jobs_[index];
    if (job.in_batch) continue;
    drop(job);
    job.computed = 0;
    ++job.preemptions;
    ++preemptions_;
    waiting_.push_front(index);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    return index != wanting;
  }
  return false;
}

/// True when nobody had to be preempted.
bool Scheduler::schedule_running(Batch& batch, int& budget, Wants wants) {
  const std::int64_t before = preemptions_;
  for (std::size_t i = 0; i < running_.size() && budget > 0; ++i) {
    const std::uint32_t index = running_[i];
    Job& job = jobs_[index];
    if (job.in_batch || (wants == Wants::kPrompt && job.generated > 0)) continue;
    const int tokens = std::min(job.known - job.computed, budget);
    bool there = grow(job, tokens);
    while (!there && preempt_last(index)) there = grow(job, tokens);
    if (!there) break;
    put(batch, index, tokens);
    budget -= tokens;
  }
  return preemptions_ == before;
}

/// A sequence takes what is cached of its prompt, and blocks for its first part.
bool Scheduler::admit(std::uint32_t index, int budget, bool whole) {
  Job& job = jobs_[index];
  int hit = 0;
  int count = 0;
  std::int64_t idle = 0;  // blocks that eviction can no longer have
  for (; count < segments(job.request); ++count) {
    const Segment here = segment(job.request, count);
    if (!cache_.has(here.name)) break;
    hit += here.tokens;
    idle += cache_.idle_blocks(here.name);
  }
  // The last token is computed again, since its logits are wanted.
  const int computed = std::min(hit, job.known - 1);
  const int left = job.known - computed;
  if (whole && left > budget) return false;
  const std::int64_t need = cache_.blocks_for(computed + std::min(left, budget) - hit);
  if (!cache_.could_take(std::max<std::int64_t>(0, need) + idle)) return false;
  for (int i = 0; i < count; ++i) cache_.use(segment(job.request, i).name);
  job.held.segments = count;
  job.held.shared = hit;
  job.computed = computed;
  if (job.preemptions == 0) job.cached = computed;
  return true;
}

void Scheduler::schedule_waiting(base::Time now, Batch& batch, int& budget) {
  const bool chunked = spec_.engine.chunked_prefill;
  while (!waiting_.empty() && budget > 0 &&
         running_.size() < static_cast<std::size_t>(spec_.engine.max_num_seqs)) {
    const std::uint32_t index = waiting_.front();
    Job& job = jobs_[index];
    // A prompt longer than a batch is cut even where prompts are not.
    const bool whole = !chunked && job.known <= spec_.engine.max_num_batched_tokens;
    if (!admit(index, budget, whole)) return;
    const int tokens = std::min(job.known - job.computed, budget);
    grow(job, tokens);
    waiting_.pop_front();
    running_.push_back(index);
    if (!job.started) job.scheduled = now;
    job.started = true;
    put(batch, index, tokens);
    budget -= tokens;
  }
}

void Scheduler::schedule(base::Time now, Batch& batch) {
  batch.clear();
  int budget = spec_.engine.max_num_batched_tokens;
  if (spec_.engine.mixed_batches) {
    if (schedule_running(batch, budget, Wants::kAny)) schedule_waiting(now, batch, budget);
    return;
  }
  schedule_running(batch, budget, Wants::kPrompt);
  schedule_waiting(now, batch, budget);
  if (batch.parts.empty()) schedule_running(batch, budget, Wants::kAny);
}

/// Segments whose last token is cached now are everybody's.
void Scheduler::share_computed(Job& job) {
  while (job.held.segments < segments(job.request)) {
    const Segment here = segment(job.request, job.held.segments);
    if (job.computed < job.held.shared + here.tokens || !cache_.share(here)) return;
    job.held.blocks -= cache_.blocks_for(here.tokens);
    if (job.held.blocks < 0) {  // a block that straddled the boundary is counted with both
      cache_.take(-job.held.blocks);
      job.held.blocks = 0;
    }
    job.held.shared += here.tokens;
    ++job.held.segments;
  }
}

void Scheduler::complete(const Batch& batch, Finished& finished) {
  finished.first.clear();
  finished.done.clear();
  for (const Batch::Part& part : batch.parts) {
    Job& job = jobs_[part.job];
    job.in_batch = false;
    job.computed += part.tokens;
    if (job.held.segments < segments(job.request)) share_computed(job);
    if (job.computed < job.known) continue;
    ++job.known;
    if (++job.generated == 1) finished.first.push_back(part.job);
    if (job.generated >= job.request.output || spec_.prompts_only) {
      finished.done.push_back(part.job);
    }
  }
  if (finished.done.empty()) return;
  if (!spec_.prompts_only) {
    for (const std::uint32_t index : finished.done) drop(jobs_[index]);
  }
  std::erase_if(running_, [&](std::uint32_t index) {
    const Job& job = jobs_[index];
    return job.generated >= job.request.output || (spec_.prompts_only && job.generated > 0);
  });
}

bool Scheduler::reserve(std::uint32_t index) {
  Job& job = jobs_[index];
  if (running_.size() >= static_cast<std::size_t>(spec_.engine.max_num_seqs)) return false;
  const std::int64_t need = cache_.blocks_for(job.known);
  if (!cache_.take(need)) return false;
  job.held.blocks = need;
  job.in_batch = true;  // until it has arrived
  running_.push_back(index);
  return true;
}

void Scheduler::arrived_here(std::uint32_t index) {
  jobs_[index].in_batch = false;
}

}  // namespace fabricast::serving
