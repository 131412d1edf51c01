#pragma once
// What the sender knows from selective acknowledgements (RFC 2018), and how much of it the network
// still holds (RFC 6675). A ring of bits over the window says which segments behind the oldest
// missing one have arrived; the counts of RFC 6675 follow from it without a scan:
//
//   lost     missing, and at least three that were sent later have arrived (IsLost): everything
//            missing below the third highest of those that have;
//   resent   missing and below HighRxt, since holes are sent again from the lowest up;
//   pipe     = missing - lost + resent.

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace fabricast::packet {

class SackScoreboard {
 public:
  /// Remembers up to `segments` (rounded up to a multiple of 64) from the oldest missing one on.
  void initialise(std::uint32_t segments) { bits_.assign((segments + 63) / 64, 0); }

  /// The receiver holds this segment. Repeats and old news change nothing.
  void sack(std::uint32_t sequence);
  /// The receiver expects `unacked` next. Returns how many of what it acknowledges were known to
  /// have arrived. PRECONDITION: at least the former one.
  std::uint32_t advance(std::uint32_t unacked);
  /// A timeout: all that is missing below `next` is lost, and nothing has been sent again.
  void lose_all(std::uint32_t next);
  /// The lowest hole that was not yet sent again has been. PRECONDITION: it is what `next_hole`
  /// gave, or the oldest missing segment.
  void resent(std::uint32_t sequence);

  /// The lowest segment below `end` that is missing and has not been sent again; `end` if none.
  std::uint32_t next_hole(std::uint32_t end) const;
  /// Everything missing below this is lost.
  std::uint32_t lost_below() const { return lost_below_; }
  /// One past the highest segment that is known to have arrived; 0 when none is.
  std::uint32_t sacked_end() const { return sacked_ > 0 ? highest_[0] + 1 : 0; }
  /// One past the highest segment that was sent again (HighRxt).
  std::uint32_t resent_end() const { return resent_below_; }
  /// Segments under way when everything below `next` has been sent.
  std::uint32_t pipe(std::uint32_t next) const {
    const std::uint32_t missing = next - unacked_ - sacked_;
    const std::uint32_t lost = lost_below_ - unacked_ - sacked_below_lost_;
    const std::uint32_t again = resent_below_ - unacked_ - sacked_below_resent_;
    return missing - lost + again;
  }

 private:
  static constexpr std::size_t kDuplicateThreshold = 3;

  std::uint32_t capacity() const { return static_cast<std::uint32_t>(bits_.size() * 64); }
  bool get(std::uint32_t sequence) const {
    const std::uint32_t at = sequence % capacity();
    return (bits_[at / 64] >> (at % 64)) & 1U;
  }
  void flip(std::uint32_t sequence) {
    const std::uint32_t at = sequence % capacity();
    bits_[at / 64] ^= std::uint64_t{1} << (at % 64);
  }
  void raise_highest(std::uint32_t sequence);

  std::vector<std::uint64_t> bits_;
  std::uint32_t unacked_ = 0;
  std::uint32_t sacked_ = 0;
  std::array<std::uint32_t, kDuplicateThreshold> highest_{};  ///< of the sacked, descending
  std::uint32_t lost_below_ = 0;
  std::uint32_t sacked_below_lost_ = 0;
  std::uint32_t resent_below_ = 0;
  std::uint32_t sacked_below_resent_ = 0;
};

inline void SackScoreboard::sack(std::uint32_t sequence) {
  if (sequence < unacked_ || sequence - unacked_ >= capacity() || get(sequence)) return;
  flip(sequence);
  ++sacked_;
  if (sequence < lost_below_) ++sacked_below_lost_;
  if (sequence < resent_below_) ++sacked_below_resent_;
  raise_highest(sequence);
  if (sacked_ >= kDuplicateThreshold && highest_.back() > lost_below_) {
    lost_below_ = highest_.back();
    sacked_below_lost_ = sacked_ - static_cast<std::uint32_t>(kDuplicateThreshold);
  }
}

// What the acknowledgement has passed is lower than all that is still sacked, and sinks out.
inline void SackScoreboard::raise_highest(std::uint32_t sequence) {
  for (std::uint32_t& place : highest_) {
    if (sequence > place) std::swap(place, sequence);
  }
}

inline std::uint32_t SackScoreboard::advance(std::uint32_t unacked) {
  const std::uint32_t before = sacked_;
  for (std::uint32_t s = unacked_; s < unacked && sacked_ > 0; ++s) {
    if (!get(s)) continue;
    flip(s);
    --sacked_;
    if (s < lost_below_) --sacked_below_lost_;
    if (s < resent_below_) --sacked_below_resent_;
  }
  unacked_ = unacked;
  if (lost_below_ < unacked) lost_below_ = unacked;
  if (resent_below_ < unacked) resent_below_ = unacked;
  return before - sacked_;
}

inline void SackScoreboard::lose_all(std::uint32_t next) {
  lost_below_ = next;
  sacked_below_lost_ = sacked_;
  resent_below_ = unacked_;
  sacked_below_resent_ = 0;
}

inline void SackScoreboard::resent(std::uint32_t sequence) {
  if (sequence < resent_below_) return;
  sacked_below_resent_ += sequence - resent_below_;  // between two holes everything has arrived
  resent_below_ = sequence + 1;
}

inline std::uint32_t SackScoreboard::next_hole(std::uint32_t end) const {
  std::uint32_t at = resent_below_;
  while (at < end) {
    const std::uint32_t bit = at % 64;
    const std::uint64_t missing = ~bits_[at % capacity() / 64] >> bit;
    if (missing != 0) {
      at += static_cast<std::uint32_t>(std::countr_zero(missing));
      break;
    }
    at += 64 - bit;
  }
  return at < end ? at : end;
}

}  // namespace fabricast::packet
