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
  if (p.sack) board_.initialise(p.receive_window + 64);
  rto_ = std::max(1_s, p.minimum_rto);  // RFC 6298, 2.1: one second until the first sample
}

bool TcpSender::next(std::uint32_t* sequence) const {
  if (resend_) {  // the first of a recovery leaves whatever the window says
    *sequence = unacked_;
    return true;
  }
  return p_.sack ? next_by_pipe(sequence) : next_by_window(sequence);
}

bool TcpSender::next_by_window(std::uint32_t* sequence) const {
  const int extra = phase_ == Phase::kOpen ? std::min(duplicates_, kLimitedTransmit) : 0;
  const double limit = std::min(window_.size + extra, static_cast<double>(p_.receive_window));
  if (next_ >= end_ || flight() + 1 > std::max(limit, 1.0)) return false;
  *sequence = next_;
  return true;
}

// NextSeg of RFC 6675, section 4, with its rules in order. Limited transmit needs no rule: what the
// receiver holds is not in the pipe.
bool TcpSender::next_by_pipe(std::uint32_t* sequence) const {
  if (in_network() + 1 > std::max(window_.size, 1.0)) return false;
  if (phase_ != Phase::kOpen) {
    *sequence = board_.next_hole(board_.lost_below());
    if (*sequence < board_.lost_below()) return true;
  }
  *sequence = next_;
  if (next_ < end_ && flight() + 1 <= static_cast<double>(p_.receive_window)) return true;
  if (phase_ != Phase::kRecovery) return false;
  *sequence = board_.next_hole(board_.sacked_end());
  if (*sequence < board_.sacked_end()) return true;
  // The rescue: the last segment, if nothing is known of it and it was not sent again.
  *sequence = next_ - 1;
  return !rescued_ && *sequence >= board_.sacked_end() && *sequence >= board_.resent_end();
}

void TcpSender::sent(std::uint32_t sequence, Time now) {
  if (!outstanding()) congestion_.idle(now - sent_at_);
  sent_at_ = now;
  if (sequence < highest_) timing_ = false;  // Karn: no sample while anything is sent again
  if (sequence < next_) {
    sent_again(sequence);
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

void TcpSender::sent_again(std::uint32_t sequence) {
  if (rescues(sequence)) {
    rescued_ = true;  // HighRxt stays
  } else if (p_.sack) {
    board_.resent(sequence);
  }
  resend_ = false;
}

void TcpSender::note_usage() {
  const bool limited = in_network() + 1 > window_.size;
  if (unacked_ >= usage_end_ || limited || (!limited_ && flight() > most_in_flight_)) {
    limited_ = limited;
    most_in_flight_ = flight();
    usage_end_ = next_;
  }
}

void TcpSender::on_ack(std::uint32_t sequence, Time now, bool echo) {
  if (sequence > unacked_) {
    on_new_ack(sequence, now, echo);
  } else if (!p_.sack && sequence == unacked_ && outstanding()) {
    on_duplicate_ack();
  }
  if (p_.sack && phase_ == Phase::kOpen && board_.lost_below() > unacked_) enter_recovery();
  if (echo) on_echo();
}

// RFC 3168, 6.1.2: once per window of data, and not for a window that a loss has reduced.
void TcpSender::on_echo() {
  if (phase_ != Phase::kOpen || unacked_ <= cut_end_) return;
  window_.threshold = congestion_.after_echo(window_, flight_in_window());
  window_.size = window_.threshold;
  cut_end_ = next_;
  reduced_ = true;
}

void TcpSender::on_new_ack(std::uint32_t sequence, Time now, bool echo) {
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
  ack.echo = echo;
  congestion_.observe(ack);
  const std::uint32_t known = p_.sack ? board_.advance(sequence) : 0;
  duplicates_ = 0;
  resend_ = false;
  const bool done = sequence >= recover_;
  if (phase_ == Phase::kRecovery) {
    if (done) {
      phase_ = Phase::kOpen;
      window_.size = window_.threshold;
    } else if (!p_.sack) {
      on_partial_ack(ack.newly);
    }
    return;
  }
  // What had arrived earlier is no sign of room now (RFC 3465, 2.3).
  ack.newly -= known;
  if (phase_ == Phase::kLoss) {
    if (!p_.sack) ack.newly = 1;
    if (done) phase_ = Phase::kOpen;
  }
  if (!echo) grow(ack);
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
  recover_ = cut_end_ = next_;
  phase_ = Phase::kRecovery;
  resend_ = true;
  rescued_ = false;
}

void TcpSender::on_timeout() {
  // A segment that times out again has had its cut (RFC 5681, 3.1).
  if (phase_ != Phase::kLoss || timed_out_at_ != unacked_) {
    window_.threshold = congestion_.after_timeout(window_, flight_in_window());
  }
  timed_out_at_ = unacked_;
  window_.size = 1;
  if (p_.sack) {
    board_.lose_all(next_);  // what the receiver has reported it keeps, as in Linux
  } else {
    next_ = unacked_;
  }
  recover_ = cut_end_ = highest_;
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
