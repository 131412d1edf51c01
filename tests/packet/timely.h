#pragma once
// The example of docs/how-to/add-a-congestion-control.md: a rate that follows the round trip, after
// TIMELY (Mittal et al., SIGCOMM 2015), without its gradient.

#include <algorithm>

#include "packet/rdma_control.h"

namespace fabricast::packet {

class Timely : public RdmaControl {
 public:
  // In the program this is a group of catalog::FabricProfile, and `parameters` returns it.
  struct Parameters {
    base::Time low = base::Time::picoseconds(10'000'000);    // 10 us: below it the rate grows
    base::Time high = base::Time::picoseconds(100'000'000);  // above it the rate shrinks
    double increase_bps = 1e9;
    double beta = 0.8;
  };
  static Parameters parameters(const catalog::FabricProfile&) { return {}; }

  void initialise(const Parameters&, const RdmaPath& path) {
    line_ = rate_ = static_cast<double>(path.line_rate.bps());
  }

  void on_ack(const Parameters& p, const RdmaAck& ack) {
    if (ack.rtt == base::Time()) return;  // nothing was timed
    if (ack.rtt < p.low) {
      rate_ = std::min(rate_ + p.increase_bps, line_);
    } else if (ack.rtt > p.high) {
      rate_ *= 1 - p.beta * (1 - p.high / ack.rtt);
    }
  }

  bool limited() const { return rate_ < line_; }
  double rate_bps() const { return rate_; }

 private:
  double line_ = 0;
  double rate_ = 0;
};

}  // namespace fabricast::packet
