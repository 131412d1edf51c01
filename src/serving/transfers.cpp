#include <algorithm>

#include "serving/service_run.h"

namespace fabricast::serving {

void Service::hand_over(std::uint32_t index, std::uint32_t from) {
  Job& job = jobs_[index];
  Replica& source = replicas_[from];
  const Held held = Scheduler::hand_over(job);
  if (job.request.output <= 1) {
    source.ranks[0].release(job.request, held);
    depart(index, net_.now());
    return;
  }
  const std::uint32_t transfer = transfers_.allocate();
  transfers_[transfer] = {index, from, held, net_.now(), 0};
  waiting_transfers_.push_back(transfer);
  try_transfers();
}

/// In their order, as long as there is room where answers are generated.
void Service::try_transfers() {
  while (!waiting_transfers_.empty()) {
    const std::uint32_t transfer = waiting_transfers_.front();
    const std::uint32_t index = transfers_[transfer].job;
    const std::size_t to = choose(jobs_[index].request, fronts_, replicas_.size());
    if (!replicas_[to].ranks[0].reserve(index)) return;
    waiting_transfers_.pop_front();
    send_keys(transfer, static_cast<std::uint32_t>(to));
  }
}

// Every GPU sends the heads that it has to the GPUs that are to have them; a latent is whole on
// every one of them.
void Service::send_keys(std::uint32_t transfer, std::uint32_t to) {
  Transfer& t = transfers_[transfer];
  Job& job = jobs_[t.job];
  const Replica& source = replicas_[t.from];
  Replica& target = replicas_[to];
  --replicas_[t.from].serving;
  ++target.serving;
  job.replica = static_cast<int>(to);
  const Deployment& have = source.pool->deployment;
  const Deployment& want = target.pool->deployment;
  const bool latent = serving_.model.kv_lora_rank > 0;
  const int pairs = latent ? want.shape.tp : std::max(have.shape.tp, want.shape.tp);
  model::InferenceShape cut = serving_.shape;
  cut.tp = latent ? 1 : std::min(pairs, serving_.model.kv_heads);
  const double bytes = model::cache_bytes_per_token(serving_.model, cut, 0) * job.request.input;
  t.left = pairs;
  for (int i = 0; i < pairs; ++i) {
    const base::Rank src = have.rank(source.number, 0, 0, i * have.shape.tp / pairs);
    const base::Rank dst = want.rank(target.number, 0, 0, i * want.shape.tp / pairs);
    net_.send(src, dst, base::Bytes::from(std::max(1.0, bytes)), {}, [this, transfer, to](Time) {
      if (--transfers_[transfer].left == 0) arrived(transfer, to);
    });
  }
}

void Service::arrived(std::uint32_t transfer, std::uint32_t to) {
  const Transfer t = transfers_[transfer];
  transfers_.release(transfer);
  Job& job = jobs_[t.job];
  replicas_[t.from].ranks[0].release(job.request, t.held);
  job.computed = job.request.input;
  result_.transfer_s += (net_.now() - t.begin).s();
  ++sent_;
  replicas_[to].ranks[0].arrived_here(t.job);
  kick(to);
  kick(t.from);
}

}  // namespace fabricast::serving
