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

#include <bit>
#include <cstdint>
#include <vector>

#include "packet/receive_window.h"

namespace fabricast::packet {

class TcpReceiver {
 public:
  /// The most segments of a window, so that 16 bits count what the sender has not read.
  static constexpr std::uint32_t kMostSegments = 32767;

  struct Parameters {
    std::uint32_t window = 0;  ///< segments, at most kMostSegments
    bool sack = false;
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

  Arrival receive(std::uint32_t sequence);
  /// The next segment that is expected.
  std::uint32_t expected() const { return window_.expected(); }
  /// How many segments have come out of order so far, modulo 2^16.
  std::uint16_t reported() const { return reported_; }
  /// Which one that was, the `index`-th modulo 2^16. PRECONDITION: one of the last window's.
  std::uint32_t out_of_order(std::uint16_t index) const { return log_[index % log_.size()]; }

 private:
  void report(std::uint32_t sequence);

  Parameters p_;
  ReceiveWindow window_;
  std::uint32_t held_ = 0;          ///< segments behind a hole
  std::vector<std::uint32_t> log_;  ///< a power of two of entries; none before the first hole
  std::uint16_t reported_ = 0;
};

inline TcpReceiver::Arrival TcpReceiver::receive(std::uint32_t sequence) {
  const std::uint32_t before = window_.expected();
  const ReceiveWindow::Outcome outcome = window_.receive(sequence);
  if (outcome == ReceiveWindow::Outcome::kInOrder) {
    const bool fills = held_ > 0;  // all or part of a gap
    held_ -= window_.expected() - before - 1;
    return {true, fills};
  }
  if (outcome == ReceiveWindow::Outcome::kOutOfOrder) {
    ++held_;
    if (p_.sack) report(sequence);
  }
  return {false, true};
}

inline void TcpReceiver::report(std::uint32_t sequence) {
  if (log_.empty()) log_.resize(std::bit_ceil(p_.window + 64U));
  log_[reported_ % log_.size()] = sequence;
  ++reported_;
}

}  // namespace fabricast::packet
