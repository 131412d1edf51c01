#pragma once
// Flows without end on any network, their rates over a while, and the queue before a node as a byte
// sees it now and then.

#include <algorithm>
#include <memory>
#include <vector>

#include "fixtures.h"

namespace fabricast::packet::testing {

struct Pair {
  std::uint32_t from;
  std::uint32_t to;
  unsigned traffic_class = 0;
};

/// Nodes 1..senders send to node 0.
inline std::vector<Pair> many_to_one(std::uint32_t senders) {
  std::vector<Pair> pairs;
  for (std::uint32_t i = 1; i <= senders; ++i) pairs.push_back({i, 0});
  return pairs;
}

/// Jain's index: 1 when all are equal, 1/n when one has it all.
inline double jain(const std::vector<double>& rates) {
  double sum = 0;
  double squares = 0;
  for (const double r : rates) {
    sum += r;
    squares += r * r;
  }
  return sum * sum / (static_cast<double>(rates.size()) * squares);
}

inline double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double v : values) total += v;
  return total;
}

class Endless {
 public:
  explicit Endless(std::unique_ptr<network::Network> on, const std::vector<Pair>& pairs)
      : network(std::move(on)), pairs_(pairs), delivered_(pairs.size(), 0), active_(pairs.size()) {
    for (std::size_t i = 0; i < pairs.size(); ++i) start(i);
  }

  /// Runs for `duration` and returns what each pair delivered, in Gb/s of payload.
  std::vector<double> rates(Time duration) {
    const std::vector<std::int64_t> before = delivered_;
    network->at(network->now() + duration, [this](Time) { network->stop(); });
    network->run();
    std::vector<double> result;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      result.push_back(base::rate_of(Bytes(delivered_[i] - before[i]), duration).gbps());
    }
    return result;
  }

  /// As `rates`, while node `prober` sends a byte to node 0 every `period`; `waits` gets how long
  /// each of them took.
  std::vector<double> rates(Time duration, std::uint32_t prober, Time period,
                            std::vector<Time>* waits) {
    for (Time at = network->now(); at < network->now() + duration; at += period) {
      network->at(at, [=, this](Time start) {
        network->send(Rank(prober), Rank(0), Bytes(1), {.channel = 1 + probes_++ % 64},
                      [=](Time now) { waits->push_back(now - start); });
      });
    }
    return rates(duration);
  }

  void start(std::size_t pair) {
    active_[pair] = true;
    for (int ahead = 0; ahead < 8; ++ahead) feed(pair);
  }
  void stop(std::size_t pair) { active_[pair] = false; }

  std::unique_ptr<network::Network> network;

 private:
  void feed(std::size_t i) {
    const Bytes size = 256_KiB;
    network->send(Rank(pairs_[i].from), Rank(pairs_[i].to), size,
                  {.traffic_class = pairs_[i].traffic_class}, [this, i, size](Time) {
                    delivered_[i] += size.count();
                    if (active_[i]) feed(i);
                  });
  }

  std::vector<Pair> pairs_;
  std::vector<std::int64_t> delivered_;
  std::vector<bool> active_;
  std::uint32_t probes_ = 0;
};

/// Queues in bytes that the probes of `waits` met before a link of `rate`, given what one takes on
/// an idle network.
inline std::vector<double> queues(const std::vector<Time>& waits, Time idle, Rate rate) {
  std::vector<double> result;
  for (const Time wait : waits) {
    result.push_back((wait - idle).s() * static_cast<double>(rate.bps()) / 8);
  }
  return result;
}

/// A tree of congestion: eight nodes of four leaves send to node 8. Node 0 sends to node 16 and
/// shares nothing with them but its way up, where nodes 1 and 2 are (d-mod-k sends 8 and 16 up the
/// same cable). The fair share of each of the eight is an eighth of node 8's port, so that node 0
/// could have three quarters of its own.
inline std::vector<Pair> congestion_tree_with_a_victim() {
  return {{1, 8}, {2, 8}, {9, 8}, {10, 8}, {17, 8}, {18, 8}, {24, 8}, {25, 8}, {0, 16}};
}

}  // namespace fabricast::packet::testing
