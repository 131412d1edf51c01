#pragma once
// DCTCP (RFC 8257; Alizadeh et al., SIGCOMM 2010): the window is cut by how much of a window of
// data was marked, where a switch marks everything above a threshold (`ecn.kmin_kb` =
// `ecn.kmax_kb`). Once per window of data, with M the share of it whose acknowledgement echoed a
// mark,
//
//   alpha = (1 - g) alpha + g M                                                    (3.3)
//   cwnd  = cwnd (1 - alpha / 2)      if M > 0
//
// and Reno for the rest: growth, loss, timeout (3.5).

#include "packet/tcp_algorithm.h"
#include "packet/tcp_reno.h"

namespace fabricast::packet {

class Dctcp : public Reno {
 public:
  static constexpr double kG = 1.0 / 16;  ///< RFC 8257's estimation gain

  void observe(const TcpAck& ack) {
    acked_ += ack.newly;
    if (ack.echo) marked_ += ack.newly;
    if (ack.unacked <= window_end_) return;
    alpha_ += kG * (marked_ / acked_ - alpha_);
    window_end_ = ack.next;
    acked_ = marked_ = 0;
  }
  double after_echo(const TcpWindow& window, double) const {
    return window.size * (1 - alpha_ / 2);
  }

  double alpha() const { return alpha_; }

 private:
  double alpha_ = 1;  ///< so that the first mark halves the window
  double acked_ = 0;
  double marked_ = 0;
  std::uint32_t window_end_ = 0;
};

}  // namespace fabricast::packet
