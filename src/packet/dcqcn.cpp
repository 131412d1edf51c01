#include "packet/dcqcn.h"

#include <cmath>

namespace fabricast::packet {

void DcqcnSender::on_cnp(const Parameters& p, base::Time now) {
  if (limited_ && now - last_cut_ < p.decrease_interval) return;
  if (notified_) decay(p, now);
  notified_ = true;
  if (p.clamp_target || !limited_ || timer_stage_ > 0) target_ = current_;
  current_ = std::max(current_ * (1 - alpha_ / 2), static_cast<double>(p.minimum_rate.bps()));
  alpha_ = (1 - p.g) * alpha_ + p.g;
  limited_ = true;
  last_cut_ = now;
  timer_stage_ = 0;
  byte_stage_ = 0;
  bytes_since_ = 0;
  alpha_deadline_ = now + p.alpha_timer;
  increase_deadline_ = now + p.increase_timer;
}

// All decays of alpha that were due by now.
void DcqcnSender::decay(const Parameters& p, base::Time now) {
  if (now < alpha_deadline_) return;
  const std::int64_t due = 1 + (now - alpha_deadline_).ps() / p.alpha_timer.ps();
  alpha_ *= std::pow(1 - p.g, static_cast<double>(due));
  alpha_deadline_ += p.alpha_timer * due;
}

void DcqcnSender::on_sent(const Parameters& p, std::int64_t bytes) {
  if (!limited_ || p.byte_counter.count() == 0) return;
  bytes_since_ += bytes;
  if (bytes_since_ < p.byte_counter.count()) return;
  bytes_since_ -= p.byte_counter.count();
  ++byte_stage_;
  increase(p);
}

void DcqcnSender::on_deadline(const Parameters& p, base::Time now) {
  if (limited_ && now >= increase_deadline_) {
    increase_deadline_ = now + p.increase_timer;
    ++timer_stage_;
    increase(p);
  }
}

void DcqcnSender::increase(const Parameters& p) {
  const int low = std::min(timer_stage_, byte_stage_);
  const int high = std::max(timer_stage_, byte_stage_);
  if (p.byte_counter.count() == 0 && timer_stage_ > p.fast_recovery_steps + 1) {
    target_ += static_cast<double>(p.hyper_increase.bps());
  } else if (low > p.fast_recovery_steps) {
    target_ += static_cast<double>(p.hyper_increase.bps()) *
               static_cast<double>(low - p.fast_recovery_steps);
  } else if (high > p.fast_recovery_steps) {
    target_ += static_cast<double>(p.additive_increase.bps());
  }
  target_ = std::min(target_, line_);
  current_ = (target_ + current_) / 2;
  // Halving the gap never closes it; within 0.1 % of the line rate the limiter is taken away.
  if (current_ >= 0.999 * line_) {
    current_ = target_ = line_;
    limited_ = false;
  }
}

}  // namespace fabricast::packet
