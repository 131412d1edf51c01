#include "training/pipeline.h"

#include <algorithm>

namespace fabricast::training {

int PassOrder::warm_up(int stage) const {
  const int after = shape_.stages - stage - 1;
  const int passes = shape_.chunks > 1 ? 2 * after + (shape_.chunks - 1) * shape_.stages : after;
  return std::min(passes, shape_.chunks * shape_.micro_batches);
}

// Micro-batches go through a chunk in groups of as many as there are stages, forward from the first
// chunk, backward from the last (get_model_chunk_id, get_microbatch_id_in_model_chunk).
Pass PassOrder::nth(bool forward, int i) const {
  const int group = i / (shape_.stages * shape_.chunks);
  const int within = i % (shape_.stages * shape_.chunks);
  const int chunk = within / shape_.stages;
  return {forward, forward ? chunk : shape_.chunks - 1 - chunk,
          group * shape_.stages + within % shape_.stages};
}

Pass PassOrder::pass(int stage, int i) const {
  const int warm = warm_up(stage);
  const int each = passes() / 2;
  if (i < warm) return nth(true, i);
  if (i >= 2 * each - warm) return nth(false, i - each);
  const int k = (i - warm) / 2;
  return (i - warm) % 2 == 0 ? nth(true, warm + k) : nth(false, k);
}

bool PassOrder::blocking(int stage, int i) const {
  const int warm = warm_up(stage);
  return shape_.chunks == 1 || i < warm || i >= passes() - warm;
}

Pipelines::Pipelines(const PipelineShape& shape, const std::vector<PassTimes>& replicas,
                     bool with_transfers, const DataTraffic* traffic, Timeline* timeline)
    : shape_(shape),
      replicas_(replicas),
      with_transfers_(with_transfers),
      traffic_(traffic),
      timeline_(timeline),
      order_(shape),
      position_(static_cast<std::size_t>(shape.stages), 0),
      free_(replicas.size() * static_cast<std::size_t>(shape.stages), 0),
      end_(free_),
      sent_(free_),
      sending_forward_(free_),
      sending_backward_(free_),
      activation_(replicas.size(), std::vector<double>(shape.size(), -1)),
      gradient_(activation_),
      wire_(static_cast<std::size_t>(shape.stages), 0),
      carried_(wire_),
      now_(replicas.size(), 0) {
  for (std::size_t d = 0; d < replicas.size(); ++d) {
    for (int k = 0; k < shape.micro_batches; ++k) {
      activation_[d][shape.at(0, 0, k)] = 0;
      gradient_[d][shape.at(shape.stages - 1, shape.chunks - 1, k)] = 0;
    }
  }
  if (traffic == nullptr || !traffic->gather || traffic->sharding == Sharding::kParameters) return;
  // All stages start to gather at the start of the step (align_param_gather), one bucket after the
  // other.
  for (int s = 0; s < shape.stages; ++s) {
    for (int c = 0; c < shape.chunks; ++c) {
      for (int j = 0; j < traffic->buckets; ++j) gathered_.push_back(carry(s, c, j, true, 0));
    }
  }
}

/// Puts a bucket on the wire when those before it are through; returns when it is through.
double Pipelines::carry(int stage, int chunk, int bucket, bool gather, double from) {
  double& wire = wire_[static_cast<std::size_t>(stage)];
  const double start = std::max(wire, from);
  const double seconds = (gather ? traffic_->gather : traffic_->reduce)(stage, chunk);
  wire = start + seconds;
  carried_[static_cast<std::size_t>(stage)] += seconds;
  if (timeline_ != nullptr) {
    timeline_->buckets.push_back({stage, chunk, bucket, gather, start, wire});
  }
  return wire;
}

void Pipelines::run() {
  bool moved = true;
  while (moved) {
    moved = false;
    for (int s = 0; s < shape_.stages; ++s) {
      while (step(s)) moved = true;
    }
  }
}

/// Does the next pass of a stage in all replicas; false when its input is not there or nothing is
/// left. What is known of one replica is known of all: they do the same in the same order.
bool Pipelines::step(int stage) {
  int& i = position_[static_cast<std::size_t>(stage)];
  if (i == order_.passes()) return false;
  const Pass pass = order_.pass(stage, i);
  const std::size_t here = shape_.at(stage, pass.chunk, pass.micro_batch);
  const auto& input = pass.forward ? activation_ : gradient_;
  if (input[0][here] < 0) return false;
  for (std::size_t d = 0; d < now_.size(); ++d) {
    now_[d] = std::max(free_[cell(static_cast<int>(d), stage)], input[d][here]);
  }
  play(stage, pass);
  const bool blocking = order_.blocking(stage, i);
  for (std::size_t d = 0; d < now_.size(); ++d) {
    const std::size_t c = cell(static_cast<int>(d), stage);
    free_[c] = now_[d];
    if (!pass.forward) end_[c] = now_[d];
    send(static_cast<int>(d), stage, pass, blocking);
  }
  ++i;
  return true;
}

double Pipelines::work(int replica, int stage, const Pass& pass) const {
  const PassTimes& times = replicas_[static_cast<std::size_t>(replica)];
  return (pass.forward ? times.forward
                       : times.backward)[shape_.at(stage, pass.chunk, pass.micro_batch)];
}

/// End of `work` seconds from `start` on, of which those under traffic take longer.
double Pipelines::slowed(int stage, double start, double work) const {
  const double wire = wire_[static_cast<std::size_t>(stage)];
  if (traffic_ == nullptr || wire <= start) return start + work;
  const double pace = 1 + traffic_->slowdown;
  if (start + work * pace <= wire) return start + work * pace;
  return wire + work - (wire - start) / pace;
}

void Pipelines::note_piece(int stage, const Pass& pass, double start, double end, double work) {
  timeline_->pieces.push_back({stage, pass, start, end, work});
}

void Pipelines::play(int stage, const Pass& pass) {
  if (traffic_ != nullptr) {
    const bool gathers = static_cast<bool>(traffic_->gather);
    const bool on_demand = gathers && traffic_->sharding == Sharding::kParameters;
    const bool arriving = gathers && !on_demand && pass.forward && pass.micro_batch == 0;
    const bool last = pass.micro_batch + 1 == shape_.micro_batches;
    const bool reduce =
        traffic_->reduce && !pass.forward && (last || traffic_->sharding >= Sharding::kGradients);
    if (on_demand || arriving || reduce) {
      play_pieces(stage, pass, arriving, on_demand, reduce);
      return;
    }
  }
  for (std::size_t d = 0; d < now_.size(); ++d) {
    const double start = now_[d];
    const double seconds = work(static_cast<int>(d), stage, pass);
    now_[d] = slowed(stage, start, seconds);
    if (timeline_ != nullptr && static_cast<int>(d) == timeline_->replica) {
      note_piece(stage, pass, start, now_[d], seconds);
    }
  }
}

// A pass in as many pieces as there are buckets. `arriving`: a piece waits for its bucket of
// parameters. `on_demand`: it is gathered while the piece before is at work (FSDP's prefetch of
// one). `reduce`: a piece's gradients go on the wire when all replicas have them.
void Pipelines::play_pieces(int stage, const Pass& pass, bool arriving, bool on_demand,
                            bool reduce) {
  const int n = traffic_->buckets;
  const double* gathered =
      arriving
          ? &gathered_[(static_cast<std::size_t>(stage) * static_cast<std::size_t>(shape_.chunks) +
                        static_cast<std::size_t>(pass.chunk)) *
                       static_cast<std::size_t>(n)]
          : nullptr;
  double there = 0;
  if (on_demand) {
    there = carry(stage, pass.chunk, 0, true, *std::max_element(now_.begin(), now_.end()));
  }
  for (int j = 0; j < n; ++j) {
    if (arriving) there = gathered[j];
    for (double& now : now_) now = std::max(now, there);
    if (on_demand && j + 1 < n) {
      there = carry(stage, pass.chunk, j + 1, true, *std::max_element(now_.begin(), now_.end()));
    }
    for (std::size_t d = 0; d < now_.size(); ++d) {
      const double start = now_[d];
      const double seconds = work(static_cast<int>(d), stage, pass) / n;
      now_[d] = slowed(stage, start, seconds);
      if (timeline_ != nullptr && static_cast<int>(d) == timeline_->replica) {
        note_piece(stage, pass, start, now_[d], seconds);
      }
    }
    if (reduce) {
      carry(stage, pass.chunk, j, false, *std::max_element(now_.begin(), now_.end()));
    }
  }
  // Where gradients are sharded a backward ends with the last reduction.
  if (reduce && traffic_->sharding >= Sharding::kGradients) {
    for (double& now : now_) now = std::max(now, wire_[static_cast<std::size_t>(stage)]);
  }
}

/// Hands the result of a pass to the stage that goes on with it.
void Pipelines::send(int replica, int stage, const Pass& pass, bool blocking) {
  int to = stage + (pass.forward ? 1 : -1);
  int chunk = pass.chunk;
  if (to == shape_.stages || to < 0) {
    chunk += pass.forward ? 1 : -1;
    if (chunk == shape_.chunks || chunk < 0) return;
    to = pass.forward ? 0 : shape_.stages - 1;
  }
  const auto d = static_cast<std::size_t>(replica);
  double& arrival =
      (pass.forward ? activation_ : gradient_)[d][shape_.at(to, chunk, pass.micro_batch)];
  double& free = free_[cell(replica, stage)];
  arrival = free;
  if (!with_transfers_) return;
  double& sending = (pass.forward ? sending_forward_ : sending_backward_)[cell(replica, stage)];
  const PassTimes& times = replicas_[d];
  const double seconds =
      (pass.forward ? times.to_next
                    : times.to_previous)[shape_.at(stage, pass.chunk, pass.micro_batch)];
  const double start = std::max(free, sending);
  // A send that is not waited for is so before the next one (send_next_wait_handle).
  free = blocking ? start + seconds : start;
  sending = start + seconds;
  sent_[cell(replica, stage)] += seconds;
  arrival = sending;
  if (timeline_ != nullptr && replica == timeline_->replica) {
    timeline_->transfers.push_back({stage, pass, to, start, sending});
  }
}

double Pipelines::end(int replica) const {
  const auto first = end_.begin() + static_cast<std::ptrdiff_t>(cell(replica, 0));
  return *std::max_element(first, first + shape_.stages);
}

double Pipelines::gradients_done() const {
  return std::max(*std::max_element(end_.begin(), end_.end()),
                  *std::max_element(wire_.begin(), wire_.end()));
}

}  // namespace fabricast::training
