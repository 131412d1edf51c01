#include "packet/hpcc.h"

#include <algorithm>

namespace fabricast::packet {

void Hpcc::initialise(const Parameters& p, const RdmaPath& path) {
  base_rtt_s_ = (p.base_rtt > base::Time() ? p.base_rtt : path.base_rtt).s();
  largest_ = static_cast<double>(path.line_rate.bps()) / 8 * base_rtt_s_;
  smallest_ = std::min(largest_, static_cast<double>(p.minimum_rate.bps()) / 8 * base_rtt_s_);
  window_ = reference_ = largest_;
  last_.reserve(kIntHops);
}

void Hpcc::on_ack(const Parameters& p, const RdmaAck& ack) {
  if (ack.hops.empty() || !measure(ack.hops)) return;
  const bool new_round = ack.unacked > round_end_;
  window_ = std::clamp(next_window(p, new_round), smallest_, largest_);
  if (!new_round) return;
  reference_ = window_;
  round_end_ = ack.next;
}

// MeasureInflight. False, and the records are kept, where there is nothing to compare with: the
// first ones, or another path.
bool Hpcc::measure(std::span<const IntHop> hops) {
  const bool comparable = std::equal(hops.begin(), hops.end(), last_.begin(), last_.end(),
                                     [](const IntHop& now, const IntHop& old) {
                                       return now.port == old.port && now.time_ps > old.time_ps;
                                     });
  double busiest = 0;
  double tau_s = 0;
  for (std::size_t i = 0; comparable && i < hops.size(); ++i) {
    const double rate = static_cast<double>(hops[i].rate_bps) / 8;  // bytes per second
    const double elapsed_s = static_cast<double>(hops[i].time_ps - last_[i].time_ps) * 1e-12;
    const auto sent = static_cast<double>(hops[i].sent_bytes - last_[i].sent_bytes);
    const auto queued = static_cast<double>(std::min(hops[i].queued_bytes, last_[i].queued_bytes));
    const double u = queued / (rate * base_rtt_s_) + sent / elapsed_s / rate;
    if (u > busiest) {
      busiest = u;
      tau_s = elapsed_s;
    }
  }
  last_.assign(hops.begin(), hops.end());
  if (!comparable) return false;
  const double share = std::min(tau_s, base_rtt_s_) / base_rtt_s_;
  utilisation_ += share * (busiest - utilisation_);
  return true;
}

// ComputeWind.
double Hpcc::next_window(const Parameters& p, bool new_round) {
  const auto increase = static_cast<double>(p.additive_increase.count());
  if (utilisation_ >= p.eta || stage_ >= p.max_stage) {
    if (new_round) stage_ = 0;
    return reference_ * p.eta / utilisation_ + increase;
  }
  if (new_round) ++stage_;
  return reference_ + increase;
}

}  // namespace fabricast::packet
