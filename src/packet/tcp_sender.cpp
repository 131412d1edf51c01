#include "packet/tcp_sender.h"

#include <algorithm>

namespace fabricast::packet {

using base::Time;
using namespace base::literals;

namespace {
constexpr int kDuplicateThreshold = 3;  // RFC 5681, 3.2
constexpr int kLimitedTransmit = 2;     // RFC 3042
}  // namespace

void TcpSender::initialise(const Parameters& p) {
  p_ = p;
  congestion_.choose(p.congestion_control);
  window_.size = p.initial_window;
  rto_ = std::max(1_s, p.minimum_rto);  // RFC 6298, 2.1: one second until the first sample
}

bool TcpSender::next(std::uint32_t* sequence) const {
  if (resend_) {
    *sequence = unacked_;
    return true;
  }
  const int extra = phase_ == Phase::kOpen ? std::min(duplicates_, kLimitedTransmit) : 0;
  const double limit = std::min(window_.size + extra, static_cast<double>(p_.receive_window));
  if (next_ >= end_ || flight() + 1 > std::max(limit, 1.0)) return false;
  *sequence = next_;
  return true;
}

void TcpSender::sent(std::uint32_t sequence, Time now) {
  if (!outstanding()) congestion_.idle(now - sent_at_);
  sent_at_ = now;
  if (sequence < highest_) timing_ = false;  // Karn: no sample while anything is sent again
  if (resend_ && sequence == unacked_) {
    resend_ = false;
    return;
  }
  next_ = sequence + 1;
  if (!timing_ && next_ > highest_ && phase_ == Phase::kOpen) {
    timing_ = true;
    timed_ = sequence;
    timed_at_ = now;
  }
  highest_ = std::max(highest_, next_);
  note_usage();
}

void TcpSender::note_usage() {
  const bool limited = flight() + 1 > window_.size;
  if (unacked_ >= usage_end_ || limited || (!limited_ && flight() > most_in_flight_)) {
    limited_ = limited;
    most_in_flight_ = flight();
    usage_end_ = next_;
  }
}

void TcpSender::on_ack(std::uint32_t sequence, Time now) {
  if (sequence > unacked_) {
    on_new_ack(sequence, now);
  } else if (sequence == unacked_ && outstanding()) {
    on_duplicate_ack();
  }
}

void TcpSender::on_new_ack(std::uint32_t sequence, Time now) {
  if (timing_ && sequence > timed_) {
    measure(now - timed_at_);
    timing_ = false;
  }
  TcpAck ack;
  ack.now = now;
  ack.rtt = srtt_;
  ack.newly = static_cast<double>(sequence - unacked_);
  ack.unacked = unacked_ = sequence;
  ack.next = next_ = std::max(next_, sequence);
  congestion_.observe(ack);
  duplicates_ = 0;
  resend_ = false;
  const bool done = sequence >= recover_;
  if (phase_ == Phase::kRecovery) {
    if (done) {
      phase_ = Phase::kOpen;
      window_.size = window_.threshold;
    } else {
      on_partial_ack(ack.newly);
    }
    return;
  }
  if (phase_ == Phase::kLoss) {
    // What had arrived before the timeout is no sign of room now (RFC 3465, 2.3).
    ack.newly = 1;
    if (done) phase_ = Phase::kOpen;
  }
  grow(ack);
}

// RFC 6582, 3.2, step 3: the next hole is lost too; what left the network may be replaced.
void TcpSender::on_partial_ack(double newly) {
  resend_ = true;
  window_.size = std::max(window_.size - newly + 1, 1.0);
}

void TcpSender::grow(const TcpAck& ack) {
  const bool used = phase_ == Phase::kLoss || limited_ ||
                    (window_.slow_start() && window_.size < 2 * most_in_flight_);
  if (!used) return;
  congestion_.grow(window_, ack);
  window_.size = std::min(window_.size, static_cast<double>(p_.receive_window));
}

void TcpSender::on_duplicate_ack() {
  if (phase_ == Phase::kRecovery) {
    window_.size += 1;
  } else if (phase_ == Phase::kOpen && ++duplicates_ == kDuplicateThreshold) {
    enter_recovery();
    window_.size += kDuplicateThreshold;
  }
}

void TcpSender::enter_recovery() {
  window_.threshold = congestion_.after_loss(window_, flight_in_window());
  window_.size = window_.threshold;
  recover_ = next_;
  phase_ = Phase::kRecovery;
  resend_ = true;
}

void TcpSender::on_timeout() {
  // A segment that times out again has had its cut (RFC 5681, 3.1).
  if (phase_ != Phase::kLoss || timed_out_at_ != unacked_) {
    window_.threshold = congestion_.after_timeout(window_, flight_in_window());
  }
  timed_out_at_ = unacked_;
  window_.size = 1;
  next_ = unacked_;
  recover_ = highest_;
  phase_ = Phase::kLoss;
  duplicates_ = 0;
  resend_ = false;
  timing_ = false;
  rto_ = std::min(rto_ * 2, 60_s);
}

// RFC 6298, section 2.
void TcpSender::measure(Time sample) {
  if (!measured_) {
    srtt_ = sample;
    rttvar_ = sample / 2;
    measured_ = true;
  } else {
    const Time error = sample > srtt_ ? sample - srtt_ : srtt_ - sample;
    rttvar_ = (rttvar_ * 3 + error) / 4;
    srtt_ = (srtt_ * 7 + sample) / 8;
  }
  rto_ = std::max(srtt_ + rttvar_ * 4, p_.minimum_rto);
}

}  // namespace fabricast::packet
