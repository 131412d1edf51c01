#pragma once
// The receiver's half of one TCP connection: which segments it holds and what its acknowledgements
// report.
//
// Selective acknowledgements need no blocks here. The receiver keeps the numbers of the segments
// that came out of order in a ring, an acknowledgement carries how many there have been when it
// left, and the sender reads on from where it was. That is SACK with room for all blocks: RFC 2018
// has room for three and repeats each of them three times, so that the two differ only when several
// acknowledgements in a row are lost. The sender can be behind by one window at most, which bounds
// the ring.
//
// Marks are echoed as RFC 3168 has it, from the first one until the sender says that it has reduced
// its window; or, for DCTCP, exactly, by RFC 8257's machine of two states: a change of marking
// sends what was held back, so that one acknowledgement never speaks for both kinds.

#include <bit>
#include <cstdint>
#include <vector>

#include "packet/receive_window.h"

namespace fabricast::packet {

class TcpReceiver {
 public:
  /// The most segments of a window, so that 16 bits count what the sender has not read.
  static constexpr std::uint32_t kMostSegments = 32767;

  enum class Echo : std::uint8_t {
    kUntilReduced,  ///< RFC 3168, 6.1.3
    kExact,         ///< RFC 8257, 3.2
  };

  struct Parameters {
    std::uint32_t window = 0;  ///< segments, at most kMostSegments
    bool sack = false;
    Echo echo = Echo::kUntilReduced;
  };

  /// What a segment asks of the receiver.
  struct Arrival {
    bool in_order = false;
    bool at_once = false;  ///< the acknowledgement may not wait (RFC 5681, 4.2)
  };

  void initialise(const Parameters& p) {
    p_ = p;
    window_.initialise(p.window + 64);
  }

  /// True when acknowledgements that were held back must leave, with the echo as it is, before a
  /// segment that is `marked` or not is received.
  bool echo_changes(bool marked) const { return p_.echo == Echo::kExact && marked != echo_; }
  /// `marked`: congestion experienced. `reduced`: the sender's CWR.
  Arrival receive(std::uint32_t sequence, bool marked = false, bool reduced = false);
  /// What acknowledgements echo now.
  bool echo() const { return echo_; }
  /// The next segment that is expected.
  std::uint32_t expected() const { return window_.expected(); }
  /// How many segments have come out of order so far, modulo 2^16.
  std::uint16_t reported() const { return reported_; }
  /// Which one that was, the `index`-th modulo 2^16. PRECONDITION: one of the last window's.
  std::uint32_t out_of_order(std::uint16_t index) const { return log_[index % log_.size()]; }
  /// Notes that a segment has come out of order: what `receive` does, or, where the sender reads a
  /// copy, what the copy is told.
  void report(std::uint32_t sequence);

 private:
  Parameters p_;
  ReceiveWindow window_;
  std::vector<std::uint32_t> log_;  ///< a power of two of entries; none before the first hole
  std::uint16_t reported_ = 0;
  bool echo_ = false;
};

inline TcpReceiver::Arrival TcpReceiver::receive(std::uint32_t sequence, bool marked,
                                                 bool reduced) {
  echo_ = p_.echo == Echo::kExact ? marked : marked || (echo_ && !reduced);
  const bool hole = window_.held() > 0;
  const ReceiveWindow::Outcome outcome = window_.receive(sequence);
  if (outcome == ReceiveWindow::Outcome::kInOrder) return {true, hole};  // fills all or part of it
  if (outcome == ReceiveWindow::Outcome::kOutOfOrder && p_.sack) report(sequence);
  return {false, true};
}

inline void TcpReceiver::report(std::uint32_t sequence) {
  if (log_.empty()) log_.resize(std::bit_ceil(p_.window + 64U));
  log_[reported_ % log_.size()] = sequence;
  ++reported_;
}

}  // namespace fabricast::packet
