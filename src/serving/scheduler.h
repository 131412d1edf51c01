#pragma once
// Continuous batching of one attention rank as vLLM's V1 scheduler does it (Yu et al., OSDI 2022;
// Agrawal et al., OSDI 2024): sequences that run get their next token first, then prompts, cut to
// what is left of the batch; a sequence that finds no block preempts the one that came last, which
// starts over. Without chunked prefill a prompt waits until a batch takes it whole, as in
// TensorRT-LLM. Where batches are not mixed, as in SGLang, prompts come first and by themselves.

#include <cstdint>
#include <deque>
#include <vector>

#include "base/slab.h"
#include "base/units.h"
#include "catalog/catalog.h"
#include "model/inference.h"
#include "serving/cache.h"
#include "serving/requests.h"

namespace fabricast::serving {

/// What a sequence has in a cache.
struct Held {
  std::int64_t blocks = 0;  ///< of its own
  int segments = 0;         ///< of its prompt that it shares, the leading ones
  int shared = 0;           ///< tokens of these
};

/// A request on its way.
struct Job {
  Request request;
  std::uint64_t index = 0;  ///< in order of arrival
  base::Time arrived;
  base::Time scheduled;  ///< first batch that had a part of it
  base::Time first;      ///< first token
  int replica = 0;
  int known = 0;     ///< tokens of the prompt and of the answer so far
  int computed = 0;  ///< of these, whose keys and values are cached
  int generated = 0;
  int cached = 0;  ///< tokens of the prompt that were found in the cache at first
  int preemptions = 0;
  Held held;
  bool started = false;
  bool in_batch = false;
};
using Jobs = base::Slab<Job>;

/// What one rank puts into a batch.
struct Batch {
  struct Part {
    std::uint32_t job = 0;
    int tokens = 0;
  };
  std::vector<Part> parts;
  std::vector<model::PromptChunk> prompts;
  model::Decodes decodes;
  int tokens = 0;
  int sampled = 0;
  void clear();
};

class Scheduler {
 public:
  struct Spec {
    catalog::ServingEngine engine;
    std::int64_t cache_blocks = 0;
    int prefix_cached = 0;      ///< leading tokens that all prompts share
    int window = 0;             ///< of the layers that have one
    bool prompts_only = false;  ///< a request leaves with its first token (disaggregation)
  };
  Scheduler(const Spec& spec, Jobs& jobs);

  void enqueue(std::uint32_t job) { waiting_.push_back(job); }
  /// Sequences that want to be in a batch are put into it. Empty: there are none.
  void schedule(base::Time now, Batch& batch);
  /// The batch has been computed. Jobs that got their first token and jobs that are done are told
  /// in their order; a job that is done has left the cache, unless its keys are to be sent.
  struct Finished {
    std::vector<std::uint32_t> first;
    std::vector<std::uint32_t> done;
  };
  void complete(const Batch& batch, Finished& finished);

  /// Room for the keys and values of a prompt that was computed elsewhere; the job runs from
  /// `arrived_here` on. False: there is none now.
  bool reserve(std::uint32_t job);
  void arrived_here(std::uint32_t job);
  /// What a job that has left with its first token still has in the cache, until it is released.
  static Held hand_over(Job& job);
  void release(const Request& request, const Held& held);

  std::size_t outstanding() const { return waiting_.size() + running_.size(); }
  std::size_t waiting() const { return waiting_.size(); }
  std::size_t running() const { return running_.size(); }
  const BlockCache& cache() const { return cache_; }
  /// Leading tokens of a prompt that are cached here.
  int cached(const Request& request) const;
  std::int64_t preemptions() const { return preemptions_; }

 private:
  enum class Wants { kAny, kPrompt };  ///< of running sequences, those whose prompt was cut
  bool schedule_running(Batch& batch, int& budget, Wants wants);
  void schedule_waiting(base::Time now, Batch& batch, int& budget);
  bool admit(std::uint32_t index, int budget, bool whole);
  void put(Batch& batch, std::uint32_t index, int tokens);
  bool grow(Job& job, int tokens);
  bool preempt_last(std::uint32_t wanting);
  void drop(Job& job);
  void share_computed(Job& job);
  Segment segment(const Request& request, int index) const;
  int segments(const Request& request) const;

  Spec spec_;
  Jobs& jobs_;
  BlockCache cache_;
  std::deque<std::uint32_t> waiting_;
  std::vector<std::uint32_t> running_;  ///< in order of admission
  std::int64_t preemptions_ = 0;
};

}  // namespace fabricast::serving
