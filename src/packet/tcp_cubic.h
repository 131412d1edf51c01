#pragma once
// CUBIC (RFC 9438), the default of Linux. With t the time since congestion avoidance began at a
// window of cwnd_epoch,
//
//   W_cubic(t) = C (t - K)^3 + W_max,   K = cbrt((W_max - cwnd_epoch) / C)         (4.2)
//
// concave up to the window of the last loss and convex beyond. Where that would be slower than Reno
// (a small product of bandwidth and delay) the window follows Reno's average instead:
//
//   W_est += alpha x acked / cwnd,      alpha = 3 (1 - beta) / (1 + beta)          (4.3)

#include "packet/tcp_algorithm.h"

namespace fabricast::packet {

class Cubic : public TcpAlgorithm {
 public:
  static constexpr double kC = 0.4;     ///< segments per second cubed (5)
  static constexpr double kBeta = 0.7;  ///< what a loss leaves of the window (4.6)
  static constexpr double kAlpha = 3 * (1 - kBeta) / (1 + kBeta);

  void grow(TcpWindow& window, const TcpAck& ack);
  double after_loss(const TcpWindow& window, double flight);
  double after_timeout(const TcpWindow& window, double flight);
  double after_echo(const TcpWindow& window, double flight) { return after_loss(window, flight); }
  /// Time without data is no time of the epoch (5.8).
  void idle(base::Time duration) { epoch_ += duration; }

  double w_max() const { return w_max_; }
  /// Seconds from the start of the epoch to the plateau.
  double k() const { return k_; }

 private:
  void start(double window, base::Time now);
  double w_cubic(double seconds) const {
    const double d = seconds - k_;
    return kC * d * d * d + w_max_;
  }

  double w_max_ = 0;
  double prior_ = 0;  ///< the window before the last cut
  double k_ = 0;
  double estimate_ = 0;  ///< W_est
  base::Time epoch_;
  bool started_ = false;
  bool timed_out_ = false;  ///< the last cut was a timeout
};

}  // namespace fabricast::packet
