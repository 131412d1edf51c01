#pragma once
// The sender's half of one TCP connection, counted in segments: loss detection and recovery (with
// SACK by RFC 6675, without by NewReno, RFC 6582), limited transmit (RFC 3042), retransmission
// timeout (RFC 6298) with Linux's floor. How the window grows and shrinks is tcp_congestion.h's.
// Pure state and time; the engine moves the segments.

#include <cstdint>
#include <utility>

#include "base/units.h"
#include "packet/tcp_congestion.h"
#include "packet/tcp_scoreboard.h"

namespace fabricast::packet {

class TcpSender {
 public:
  struct Parameters {
    int initial_window = 10;           ///< segments (RFC 6928)
    std::uint32_t receive_window = 0;  ///< segments
    base::Time minimum_rto;
    catalog::TcpCongestionControl congestion_control = catalog::TcpCongestionControl::kReno;
    bool sack = false;
  };

  void initialise(const Parameters& p);
  /// More segments to send.
  void enqueue(std::uint32_t segments) { end_ += segments; }

  /// The segment to send now, if the window has room or one must be sent again.
  bool next(std::uint32_t* sequence) const;
  /// The segment that `next` gave has been handed on.
  void sent(std::uint32_t sequence, base::Time now);
  /// The receiver reports that it holds this segment; comes before the acknowledgement that says
  /// so.
  void on_sack(std::uint32_t sequence) { board_.sack(sequence); }
  /// A cumulative acknowledgement: `sequence` is the next one expected by the receiver; `echo`: it
  /// says that segments arrived marked (ECN-Echo).
  void on_ack(std::uint32_t sequence, base::Time now, bool echo = false);
  /// True once for a new segment that must tell the receiver of a window reduced by its echo (CWR).
  bool take_reduced() { return std::exchange(reduced_, false); }
  /// The retransmission timer ran out: back to one segment, resend from the oldest, double the
  /// timer.
  void on_timeout();

  bool outstanding() const { return unacked_ < next_; }
  std::uint32_t unacked() const { return unacked_; }
  std::uint32_t next_sequence() const { return next_; }
  double window() const { return window_.size; }
  double threshold() const { return window_.threshold; }
  bool recovering() const { return phase_ == Phase::kRecovery; }
  base::Time rto() const { return rto_; }
  const TcpCongestion& congestion() const { return congestion_; }

 private:
  enum class Phase : std::uint8_t {
    kOpen,      ///< nothing is known to be lost
    kRecovery,  ///< fast recovery, until `recover_` is acknowledged
    kLoss,      ///< after a timeout, until `recover_` is acknowledged
  };

  bool next_by_window(std::uint32_t* sequence) const;
  bool next_by_pipe(std::uint32_t* sequence) const;
  void sent_again(std::uint32_t sequence);
  void on_new_ack(std::uint32_t sequence, base::Time now, bool echo);
  void on_echo();
  void on_duplicate_ack();
  void enter_recovery();
  void on_partial_ack(double newly);
  void grow(const TcpAck& ack);
  void measure(base::Time sample);
  void note_usage();
  bool rescues(std::uint32_t sequence) const {
    return phase_ == Phase::kRecovery && !resend_ && sequence >= board_.sacked_end();
  }
  double flight() const { return static_cast<double>(next_ - unacked_); }
  /// What the network holds of it: RFC 6675's pipe, or all of it without SACK.
  double in_network() const { return p_.sack ? static_cast<double>(board_.pipe(next_)) : flight(); }
  /// What a loss finds in flight, without the segments of limited transmit.
  double flight_in_window() const { return flight() < window_.size ? flight() : window_.size; }

  Parameters p_;
  TcpCongestion congestion_;
  TcpWindow window_;
  SackScoreboard board_;
  std::uint32_t unacked_ = 0;
  std::uint32_t next_ = 0;
  std::uint32_t end_ = 0;
  std::uint32_t highest_ = 0;  ///< one past the highest ever sent
  std::uint32_t recover_ = 0;
  std::uint32_t timed_out_at_ = 0xffffffffU;  ///< the oldest segment at the last timeout
  int duplicates_ = 0;
  Phase phase_ = Phase::kOpen;
  bool resend_ = false;        ///< `unacked_` must be sent again
  bool rescued_ = false;       ///< this recovery has had its rescue retransmission
  std::uint32_t cut_end_ = 0;  ///< echoes count again beyond this one, which left after the cut
  bool reduced_ = false;
  // Whether the window was used: one that was not must not grow (RFC 7661; Linux's
  // tcp_cwnd_validate, whose rule this is).
  bool limited_ = false;         ///< the window held the sender back in this round trip
  double most_in_flight_ = 0;    ///< of this round trip
  std::uint32_t usage_end_ = 0;  ///< the round trip ends when this is acknowledged
  base::Time sent_at_;           ///< the last segment
  // The segment whose round trip is being measured.
  bool timing_ = false;
  std::uint32_t timed_ = 0;
  base::Time timed_at_;
  bool measured_ = false;
  base::Time srtt_;
  base::Time rttvar_;
  base::Time rto_;
};

}  // namespace fabricast::packet
