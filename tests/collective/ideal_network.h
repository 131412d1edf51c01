#pragma once
// The textbook network: a message waits for its sender's egress port, then for its receiver's
// ingress port, takes either for size / beta (full duplex, first come first served, a queue for
// every pair of ports) and is visible alpha later. Several ranks may share a port, and all messages
// may share a core, so that there is something to contend for.

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "network/network.h"

namespace fabricast::test {

struct IdealSpec {
  base::Time alpha = {};
  base::Rate beta = {};
  std::uint32_t ranks_per_port = 1;
  /// Rate of a core that every message between different ports crosses; 0: no core.
  base::Rate core = {};
  /// Ranks of a node: messages within it use `node_beta` and neither port nor core; 0: no nodes.
  std::uint32_t gpus_per_node = 0;
  base::Rate node_beta = {};
  base::Time node_alpha = {};
};

class IdealNetwork final : public network::Network {
 public:
  IdealNetwork(int ranks, IdealSpec spec)
      : spec_(spec),
        egress_(static_cast<std::size_t>(ranks)),
        ingress_(static_cast<std::size_t>(ranks)),
        node_egress_(static_cast<std::size_t>(ranks)),
        node_ingress_(static_cast<std::size_t>(ranks)),
        sent_(static_cast<std::size_t>(ranks)) {}

  base::Time now() const override { return now_; }

  void send(base::Rank src, base::Rank dst, base::Bytes size,
            const network::SendOptions& /*options*/, network::Callback on_delivered) override {
    sent_[src.index()] += size.count();
    ++messages_;
    const bool local = spec_.gpus_per_node > 0 &&
                       src.index() / spec_.gpus_per_node == dst.index() / spec_.gpus_per_node;
    const base::Time wire = base::transmission_time(size, local ? spec_.node_beta : spec_.beta);
    base::Time& out =
        local ? node_egress_[src.index()] : egress_[src.index() / spec_.ranks_per_port];
    const base::Time leaves = std::max(now_, out);
    out = leaves + wire;
    base::Time through;
    if (!local) {
      // A packet of 4096 bytes makes two hops: adapter, switch, adapter.
      hops_ += 2 * static_cast<std::uint64_t>((size.count() + 4095) / 4096);
      if (spec_.core.bps() > 0) {
        core_ = std::max(core_, now_) + base::transmission_time(size, spec_.core);
        through = core_;
      }
    }
    at(leaves, [this, dst, local, wire, through, done = std::move(on_delivered)](base::Time) {
      base::Time& in =
          local ? node_ingress_[dst.index()] : ingress_[dst.index() / spec_.ranks_per_port];
      in = std::max(now_, in) + wire;
      at(std::max(in, through) + (local ? spec_.node_alpha : spec_.alpha), done);
    });
  }

  void at(base::Time at, network::Callback callback) override {
    events_.emplace(std::pair{at, order_++}, std::move(callback));
  }

  void run() override {
    stopped_ = false;
    while (!stopped_ && !events_.empty()) {
      auto event = events_.extract(events_.begin());
      now_ = event.key().first;
      event.mapped()(now_);
    }
  }
  void stop() override { stopped_ = true; }

  network::Counters counters() const override {
    network::Counters c;
    c.packet_hops = hops_;
    for (const auto bytes : sent_) c.bytes_sent += bytes;
    return c;
  }

  std::int64_t sent_by(std::uint32_t rank) const { return sent_[rank]; }
  std::int64_t messages() const { return messages_; }

 private:
  IdealSpec spec_;
  base::Time now_;
  base::Time core_;
  std::vector<base::Time> egress_, ingress_, node_egress_, node_ingress_;
  std::vector<std::int64_t> sent_;
  std::map<std::pair<base::Time, std::uint64_t>, network::Callback> events_;
  std::uint64_t order_ = 0;
  std::uint64_t hops_ = 0;
  std::int64_t messages_ = 0;
  bool stopped_ = false;
};

}  // namespace fabricast::test
