#pragma once
// A network whose answers are known on paper: a message holds its sender's adapter for size / rate,
// first come first served, and arrives a fixed latency later.

#include <map>
#include <utility>
#include <vector>

#include "network/network.h"

namespace fabricast::network {

class FakeNetwork : public Network {
 public:
  struct Message {
    base::Time posted;
    base::Rank src;
    base::Rank dst;
    base::Bytes size;
    std::uint32_t channel = 0;
  };

  FakeNetwork(const fabric::Fabric& fabric, base::Time latency)
      : fabric_(&fabric), latency_(latency), free_(static_cast<std::size_t>(fabric.endpoints())) {}

  base::Time now() const override { return now_; }

  void send(base::Rank src, base::Rank dst, base::Bytes size, const SendOptions& options,
            Callback on_delivered) override {
    messages.push_back({now_, src, dst, size, options.channel});
    const fabric::EndpointId endpoint = fabric_->endpoint_of(src);
    const base::Rate rate = fabric_->port(fabric_->endpoint_port(endpoint)).rate;
    base::Time& free = free_[endpoint.index()];
    free = std::max(free, now_) + base::transmission_time(size, rate);
    at(free + latency_, std::move(on_delivered));
  }

  void at(base::Time at, Callback callback) override {
    queue_.emplace(std::pair(at, ticket_++), std::move(callback));
  }

  void run() override {
    stopped_ = false;
    while (!queue_.empty() && !stopped_) {
      auto event = queue_.extract(queue_.begin());
      now_ = event.key().first;
      event.mapped()(now_);
    }
  }

  void stop() override { stopped_ = true; }
  Counters counters() const override { return {}; }

  std::vector<Message> messages;

 private:
  const fabric::Fabric* fabric_;
  base::Time latency_;
  std::vector<base::Time> free_;
  std::map<std::pair<base::Time, std::uint64_t>, Callback> queue_;
  std::uint64_t ticket_ = 0;
  base::Time now_;
  bool stopped_ = false;
};

/// `nodes` nodes of 4 GPUs and `nics` adapters of 100 Gb/s.
inline fabric::Fabric small_fabric(int nodes, fabric::TopologyKind kind, int nics = 4) {
  fabric::TopologySpec spec;
  spec.kind = kind;
  spec.nodes = nodes;
  spec.gpus_per_node = 4;
  spec.nics_per_node = nics;
  spec.nic_rate = base::Rate::bits_per_second(100'000'000'000);
  spec.switch_rate = spec.nic_rate;
  spec.switch_ports = 64;
  return fabric::build(spec);
}

}  // namespace fabricast::network
