#include "packet/tcp_cubic.h"

#include <algorithm>
#include <cmath>

namespace fabricast::packet {

void Cubic::start(double window, base::Time now) {
  started_ = true;
  epoch_ = now;
  estimate_ = window;
  // After a timeout, or from slow start without a loss, the curve starts on its plateau (4.8).
  if (timed_out_ || w_max_ < window) w_max_ = window;
  timed_out_ = false;
  k_ = std::cbrt((w_max_ - window) / kC);
}

void Cubic::grow(TcpWindow& window, const TcpAck& ack) {
  if (!started_) start(window.size, ack.now);
  const double t = (ack.now - epoch_).s();
  const double share = std::min(ack.newly / window.size, 1.0);
  estimate_ += (estimate_ < prior_ ? kAlpha : 1.0) * share;
  if (w_cubic(t) < estimate_) {
    window.size = std::max(window.size, estimate_);
    return;
  }
  const double target =
      std::clamp(w_cubic(t + ack.rtt.s()), window.size, 1.5 * window.size);  // 4.2, 4.4, 4.5
  window.size += (target - window.size) * share;
}

double Cubic::after_loss(const TcpWindow& window, double flight) {
  // Fast convergence (4.7): a flow that lost before it was back leaves room for others.
  w_max_ = window.size < w_max_ ? window.size * (1 + kBeta) / 2 : window.size;
  prior_ = window.size;
  started_ = false;
  return flight * kBeta;
}

double Cubic::after_timeout(const TcpWindow& window, double flight) {
  const double threshold = after_loss(window, flight);
  timed_out_ = true;
  return threshold;
}

}  // namespace fabricast::packet
