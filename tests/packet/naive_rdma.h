#pragma once
// The naive engine at the adapters: the reliable connection. Included by naive_engine.h only.

#include "naive_engine.h"

namespace fabricast::packet::testing {

// The queue pairs of a pair and class, made when they are first used.
inline NaiveEngine::QueuePair& NaiveEngine::queue_pair(const Job& job) {
  const std::uint64_t key = static_cast<std::uint64_t>(job.traffic_class) << 61 |
                            static_cast<std::uint64_t>(job.from) << 40 |
                            static_cast<std::uint64_t>(job.to) << 16;
  auto& made = connections_[key];
  for (int i = static_cast<int>(made.size()); i < profile_.paths.qps_per_connection; ++i) {
    const std::uint64_t pair = base::mix64(key * 64 + static_cast<std::uint64_t>(i));
    const std::uint64_t hash = base::mix64(base::mix64(seed_ ^ base::hash_name("ecmp")) ^ pair ^
                                           job.traffic_class * 0x9e3779b97f4a7c15ULL);
    auto qp = std::make_unique<QueuePair>();
    qp->number = queue_pairs_++;
    qp->source = job.from;
    qp->destination = job.to;
    qp->traffic_class = job.traffic_class;
    qp->there = path(job.from, job.to, hash);
    qp->back = path(job.to, job.from, base::mix64(hash));
    made.push_back(std::move(qp));
  }
  return *made[turn_[key]++ % made.size()];
}

inline void NaiveEngine::send(std::size_t index, const Job& job) {
  QueuePair& qp = queue_pair(job);
  const std::int64_t mtu = profile_.link.mtu.count();
  const std::int64_t packets = (job.size.count() + mtu - 1) / mtu;
  qp.end += static_cast<std::uint32_t>(packets);
  const Message message{index, qp.end - 1,
                        static_cast<std::uint32_t>(job.size.count() - (packets - 1) * mtu)};
  qp.messages.push_back(message);
  qp.receiving.push_back(message);
  at(now_ + profile_.host.send_overhead.ps(), kMessageStart, qp.number, 0, [this, &qp, packets] {
    qp.posted += static_cast<std::uint32_t>(packets);
    if (qp.ready) return;
    qp.ready = true;
    ports_[qp.there.front()].ready[qp.traffic_class].push_back(&qp);
    try_start(qp.there.front());
  });
}

inline void NaiveEngine::at_host(const Packet& packet) {
  if (!packet.data) return;
  QueuePair& qp = *packet.qp;
  if (packet.marked) ++marked;
  ++qp.expected;
  ++qp.unreported;
  bool message_done = false;
  while (!qp.receiving.empty() && qp.receiving.front().last < qp.expected) {
    const std::size_t job = qp.receiving.front().job;
    qp.receiving.pop_front();
    message_done = true;
    at(now_ + profile_.host.receive_overhead.ps(), kDelivered, static_cast<std::uint32_t>(job), 0,
       [this, job] {
         done_[job] = Time::picoseconds(now_);
         ++delivered_;
       });
  }
  if (!message_done && qp.unreported < static_cast<std::uint32_t>(profile_.transport.ack_every)) {
    return;
  }
  qp.unreported = 0;
  auto ack = std::make_shared<Packet>();
  ack->qp = &qp;
  ack->data = false;
  ack->wire = profile_.link.ack.count();
  ack->earliest = now_;
  enqueue(qp.back.front(), ack);
}

}  // namespace fabricast::packet::testing
