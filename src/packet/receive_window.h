#pragma once
// Which of the packets behind the next expected one have arrived: what selective repeat,
// out-of-order placement and TCP need at the receiver. A ring of bits that slides with the
// sequence.

#include <cstdint>
#include <vector>

namespace fabricast::packet {

class ReceiveWindow {
 public:
  enum class Outcome { kInOrder, kOutOfOrder, kDuplicate, kBeyond };

  /// Remembers up to `packets` (rounded up to a multiple of 64) ahead of the expected one.
  void initialise(std::uint32_t packets) { bits_.assign((packets + 63) / 64, 0); }

  Outcome receive(std::uint32_t sequence) {
    if (sequence < expected_) return Outcome::kDuplicate;
    const std::uint32_t size = capacity();
    if (sequence - expected_ >= size) return Outcome::kBeyond;
    if (get(sequence)) return Outcome::kDuplicate;
    set(sequence, true);
    ++held_;
    if (sequence != expected_) return Outcome::kOutOfOrder;
    while (get(expected_)) {
      set(expected_, false);
      ++expected_;
      --held_;
    }
    return Outcome::kInOrder;
  }

  /// Everything before `sequence` has arrived, whether it was seen here or not.
  void advance(std::uint32_t sequence) {
    for (; expected_ < sequence; ++expected_) set(expected_, false);
  }
  /// Has arrived, behind the expected one.
  bool holds(std::uint32_t sequence) const {
    return sequence > expected_ && sequence - expected_ < capacity() && get(sequence);
  }

  std::uint32_t expected() const { return expected_; }
  /// Packets behind the expected one that have arrived.
  std::uint32_t held() const { return held_; }
  std::uint32_t capacity() const { return static_cast<std::uint32_t>(bits_.size() * 64); }

 private:
  bool get(std::uint32_t sequence) const {
    const std::uint32_t at = sequence % capacity();
    return (bits_[at / 64] >> (at % 64)) & 1U;
  }
  void set(std::uint32_t sequence, bool value) {
    const std::uint32_t at = sequence % capacity();
    const std::uint64_t bit = std::uint64_t{1} << (at % 64);
    bits_[at / 64] = value ? bits_[at / 64] | bit : bits_[at / 64] & ~bit;
  }

  std::vector<std::uint64_t> bits_;
  std::uint32_t expected_ = 0;
  std::uint32_t held_ = 0;
};

}  // namespace fabricast::packet
