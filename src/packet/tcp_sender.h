#pragma once
// The sender's half of one TCP connection, counted in segments: slow start and congestion avoidance
// (RFC 5681), NewReno fast retransmit and recovery (RFC 6582), retransmission timeout (RFC 6298)
// with Linux's floor. Pure state and time; the engine moves the segments.

#include <cstdint>

#include "base/units.h"

namespace fabricast::packet {

class TcpSender {
 public:
  struct Parameters {
    int initial_window = 10;           ///< segments (RFC 6928)
    std::uint32_t receive_window = 0;  ///< segments
    base::Time minimum_rto;
  };

  void initialise(const Parameters& p);
  /// More segments to send.
  void enqueue(std::uint32_t segments) { end_ += segments; }

  /// The segment to send now, if the window has room or one must be sent again.
  bool next(std::uint32_t* sequence) const;
  /// The segment that `next` gave has been handed on.
  void sent(std::uint32_t sequence, base::Time now);
  /// A cumulative acknowledgement: `sequence` is the next one expected by the receiver.
  void on_ack(std::uint32_t sequence, base::Time now);
  /// The retransmission timer ran out: back to one segment, resend from the oldest, double the
  /// timer.
  void on_timeout();

  bool outstanding() const { return unacked_ < next_; }
  std::uint32_t unacked() const { return unacked_; }
  std::uint32_t next_sequence() const { return next_; }
  double window() const { return window_; }
  double threshold() const { return threshold_; }
  bool recovering() const { return recovering_; }
  base::Time rto() const { return rto_; }

 private:
  void on_new_ack(std::uint32_t sequence, base::Time now);
  void on_duplicate_ack();
  void measure(base::Time sample);
  double flight() const { return static_cast<double>(next_ - unacked_); }

  Parameters p_;
  std::uint32_t unacked_ = 0;
  std::uint32_t next_ = 0;
  std::uint32_t end_ = 0;
  std::uint32_t highest_ = 0;  ///< one past the highest ever sent
  std::uint32_t recover_ = 0;
  double window_ = 0;
  double threshold_ = 1e9;
  int duplicates_ = 0;
  bool recovering_ = false;
  bool resend_ = false;  ///< `unacked_` must be sent again
  bool timing_ = false;
  std::uint32_t timed_ = 0;
  base::Time timed_at_;
  bool measured_ = false;
  base::Time srtt_;
  base::Time rttvar_;
  base::Time rto_;
};

}  // namespace fabricast::packet
