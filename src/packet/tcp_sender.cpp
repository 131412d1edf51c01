#include "packet/tcp_sender.h"

#include <algorithm>

namespace fabricast::packet {

using base::Time;
using namespace base::literals;

void TcpSender::initialise(const Parameters& p) {
  p_ = p;
  window_ = p.initial_window;
  rto_ = std::max(1_s, p.minimum_rto);  // RFC 6298, 2.1: one second until the first sample
}

bool TcpSender::next(std::uint32_t* sequence) const {
  if (resend_) {
    *sequence = unacked_;
    return true;
  }
  const double limit = std::min(window_, static_cast<double>(p_.receive_window));
  if (next_ >= end_ || flight() + 1 > std::max(limit, 1.0)) return false;
  *sequence = next_;
  return true;
}

void TcpSender::sent(std::uint32_t sequence, Time now) {
  if (resend_ && sequence == unacked_) {
    resend_ = false;
    timing_ = false;  // Karn: no sample from a retransmitted segment
    next_ = std::max(next_, sequence + 1);
    return;
  }
  next_ = sequence + 1;
  if (!timing_ && next_ > highest_) {
    timing_ = true;
    timed_ = sequence;
    timed_at_ = now;
  }
  highest_ = std::max(highest_, next_);
}

void TcpSender::on_ack(std::uint32_t sequence, Time now) {
  if (sequence > unacked_) {
    on_new_ack(sequence, now);
  } else if (sequence == unacked_ && outstanding()) {
    on_duplicate_ack();
  }
}

void TcpSender::on_new_ack(std::uint32_t sequence, Time now) {
  const double newly = static_cast<double>(sequence - unacked_);
  if (timing_ && sequence > timed_) {
    measure(now - timed_at_);
    timing_ = false;
  }
  unacked_ = sequence;
  next_ = std::max(next_, sequence);
  duplicates_ = 0;
  resend_ = false;
  if (recovering_) {
    if (sequence >= recover_) {
      recovering_ = false;
      window_ = threshold_;
    } else {  // partial acknowledgement: the next hole is lost too
      resend_ = true;
      window_ = std::max(window_ - newly + 1, 1.0);
    }
    return;
  }
  window_ += window_ < threshold_ ? newly : newly / window_;
  window_ = std::min(window_, static_cast<double>(p_.receive_window));
}

void TcpSender::on_duplicate_ack() {
  ++duplicates_;
  if (recovering_) {
    window_ += 1;
  } else if (duplicates_ == 3) {
    threshold_ = std::max(flight() / 2, 2.0);
    window_ = threshold_ + 3;
    recover_ = next_;
    recovering_ = true;
    resend_ = true;
  }
}

void TcpSender::on_timeout() {
  threshold_ = std::max(flight() / 2, 2.0);
  window_ = 1;
  next_ = unacked_;
  duplicates_ = 0;
  recovering_ = false;
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
