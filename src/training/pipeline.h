#pragma once
// The pipelines of all replicas, pass by pass: 1F1B, or interleaved 1F1B in Megatron-Core's order
// of model chunks, with transfers between stages and data-parallel traffic over the passes.
// Equations and sources: docs/models/training.md, "Pipeline" and "Data parallelism".

#include <cstddef>
#include <functional>
#include <vector>

#include "training/plan.h"

namespace fabricast::training {

/// One pass of one micro-batch through a model chunk.
struct Pass {
  bool forward = true;
  int chunk = 0;
  int micro_batch = 0;
};

/// Counts of a pipeline; micro-batches are a multiple of `stages` where there are several chunks.
struct PipelineShape {
  int stages = 1;
  int chunks = 1;  ///< of a stage
  int micro_batches = 1;
  std::size_t at(int stage, int chunk, int micro_batch) const {
    return (static_cast<std::size_t>(stage) * static_cast<std::size_t>(chunks) +
            static_cast<std::size_t>(chunk)) *
               static_cast<std::size_t>(micro_batches) +
           static_cast<std::size_t>(micro_batch);
  }
  std::size_t size() const { return at(stages, 0, 0); }
};

/// The order in which a stage does its passes (megatron/core/pipeline_parallel/schedules.py).
class PassOrder {
 public:
  explicit PassOrder(const PipelineShape& shape) : shape_(shape) {}
  int passes() const { return 2 * shape_.chunks * shape_.micro_batches; }
  Pass pass(int stage, int i) const;
  /// What the pass sends holds the stage until it is through: all of plain 1F1B, warm-up and flush
  /// of the interleaved schedule (overlap_p2p_comm without overlap_p2p_comm_warmup_flush).
  bool blocking(int stage, int i) const;
  /// Forward passes before the first backward.
  int warm_up(int stage) const;

 private:
  Pass nth(bool forward, int i) const;
  PipelineShape shape_;
};

/// Durations of one replica, seconds, by PipelineShape::at.
struct PassTimes {
  std::vector<double> forward;
  std::vector<double> backward;
  std::vector<double> to_next;      ///< activations on their way to the next part of the model
  std::vector<double> to_previous;  ///< gradients on their way back
};

/// Data-parallel traffic of a step. Each function draws the duration of one bucket, seconds; an
/// empty one: there is no such traffic.
struct DataTraffic {
  Sharding sharding = Sharding::kOptimizer;
  int buckets = 1;      ///< of a chunk
  double slowdown = 0;  ///< a pass takes 1 + this while its stage's traffic is on the wire
  std::function<double(int stage, int chunk)> gather;
  std::function<double(int stage, int chunk)> reduce;
};

/// What happened to one replica, for a timeline.
struct Timeline {
  /// A piece of a pass without a pause: `work` seconds of it, longer where traffic slowed it.
  struct Piece {
    int stage = 0;
    Pass pass;
    double start = 0;
    double end = 0;
    double work = 0;
  };
  struct Transfer {
    int stage = 0;  ///< that sends
    Pass pass;      ///< whose result it is
    int to = 0;
    double start = 0;
    double end = 0;
  };
  struct Bucket {
    int stage = 0;
    int chunk = 0;
    int bucket = 0;
    bool gather = false;  ///< of parameters; else a reduction of gradients
    double start = 0;
    double end = 0;
  };
  int replica = 0;
  std::vector<Piece> pieces;
  std::vector<Transfer> transfers;
  std::vector<Bucket> buckets;
};

/// All replicas of a pipeline, once through a step. Replicas meet in data-parallel traffic alone.
class Pipelines {
 public:
  /// `traffic` and `timeline` may be null. PRECONDITION: `replicas` has shape.size() times each.
  Pipelines(const PipelineShape& shape, const std::vector<PassTimes>& replicas, bool with_transfers,
            const DataTraffic* traffic = nullptr, Timeline* timeline = nullptr);
  void run();
  /// End of the last backward pass of a replica.
  double end(int replica) const;
  /// When all gradients are reduced and all passes done.
  double gradients_done() const;
  /// Seconds that a stage of a replica has been sending to others, both ways.
  double sent_s(int replica, int stage) const { return sent_[cell(replica, stage)]; }
  /// Seconds of data-parallel traffic of a stage.
  double traffic_s(int stage) const { return carried_[static_cast<std::size_t>(stage)]; }

 private:
  bool step(int stage);
  void play(int stage, const Pass& pass);
  void play_pieces(int stage, const Pass& pass, bool arriving, bool on_demand, bool reduce);
  void send(int replica, int stage, const Pass& pass, bool blocking);
  double work(int replica, int stage, const Pass& pass) const;
  double slowed(int stage, double start, double work) const;
  double carry(int stage, int chunk, int bucket, bool gather, double from);
  void note_piece(int stage, const Pass& pass, double start, double end, double work);
  std::size_t cell(int replica, int stage) const {
    return static_cast<std::size_t>(replica) * static_cast<std::size_t>(shape_.stages) +
           static_cast<std::size_t>(stage);
  }

  PipelineShape shape_;
  const std::vector<PassTimes>& replicas_;
  bool with_transfers_;
  const DataTraffic* traffic_;
  Timeline* timeline_;
  PassOrder order_;
  std::vector<int> position_;             ///< per stage
  std::vector<double> free_;              ///< per cell
  std::vector<double> end_;               ///< per cell: of its last backward
  std::vector<double> sent_;              ///< per cell
  std::vector<double> sending_forward_;   ///< per cell: until when its last send is on its way
  std::vector<double> sending_backward_;  ///< the same towards the stage before
  std::vector<std::vector<double>> activation_;  ///< per replica: a forward's input; -1: unknown
  std::vector<std::vector<double>> gradient_;
  std::vector<double> gathered_;  ///< per stage, chunk, bucket: parameters that come once
  std::vector<double> wire_;      ///< per stage: busy until
  std::vector<double> carried_;   ///< per stage
  std::vector<double> now_;       ///< per replica, in the pass at hand
};

}  // namespace fabricast::training
