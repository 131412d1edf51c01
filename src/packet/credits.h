#pragma once
// InfiniBand's link-level flow control, per virtual lane (IBTA Volume 1, section 7.9). Buffer space
// is counted in blocks of 64 bytes, modulo 4096. The sender keeps FCTBS, the blocks it has sent;
// the receiver keeps ABR, the blocks it has received, and advertises FCCL = ABR + free blocks. A
// packet may go while FCTBS + its blocks is not ahead of FCCL; the modular comparison caps what can
// be advertised at 2048 blocks (128 KiB).

#include <algorithm>
#include <cstdint>

namespace fabricast::packet {

inline constexpr std::int64_t kCreditBlockBytes = 64;
inline constexpr std::uint32_t kCreditModulus = 4096;
inline constexpr std::uint32_t kMaxCreditBlocks = 2048;
/// A flow-control packet on the wire: operand, FCTBS, VL, FCCL and LPCRC with its delimiters.
inline constexpr std::int64_t kFlowControlPacketBytes = 8;

constexpr std::uint32_t credit_blocks(std::int64_t bytes) {
  return static_cast<std::uint32_t>((bytes + kCreditBlockBytes - 1) / kCreditBlockBytes);
}

class CreditSender {
 public:
  /// The limit that the receiver advertises when the link comes up.
  void initialise(std::uint32_t fccl) { fccl_ = fccl % kCreditModulus; }
  bool may_send(std::uint32_t blocks) const {
    return (fccl_ - (fctbs_ + blocks)) % kCreditModulus <= kMaxCreditBlocks;
  }
  void sent(std::uint32_t blocks) { fctbs_ = (fctbs_ + blocks) % kCreditModulus; }
  void update(std::uint32_t fccl) { fccl_ = fccl % kCreditModulus; }
  std::uint32_t available() const { return (fccl_ - fctbs_) % kCreditModulus; }

 private:
  std::uint32_t fctbs_ = 0;
  std::uint32_t fccl_ = 0;
};

class CreditReceiver {
 public:
  /// An update is due as soon as `update_blocks` have been freed since the last one. With
  /// buffer >= 2 x update_blocks, and no packet longer than update_blocks, the sender can always
  /// send once the buffer drains.
  void initialise(std::uint32_t buffer_blocks, std::uint32_t update_blocks) {
    buffer_ = std::min(buffer_blocks, kMaxCreditBlocks);
    update_ = update_blocks;
  }
  /// False when the packet does not fit: the sender broke the protocol.
  bool received(std::uint32_t blocks) {
    abr_ = (abr_ + blocks) % kCreditModulus;
    occupied_ += blocks;
    return occupied_ <= buffer_;
  }
  /// True when an update should be sent now.
  bool freed(std::uint32_t blocks) {
    occupied_ -= blocks;
    unadvertised_ += blocks;
    return unadvertised_ >= update_;
  }
  /// The limit to advertise.
  std::uint32_t advertise() {
    unadvertised_ = 0;
    return (abr_ + buffer_ - occupied_) % kCreditModulus;
  }
  /// The link has come up again: counts from 0, and returns the limit to advertise.
  std::uint32_t restart() {
    abr_ = 0;
    unadvertised_ = 0;
    return buffer_ - occupied_;
  }
  std::uint32_t occupied() const { return occupied_; }
  std::uint32_t unadvertised() const { return unadvertised_; }
  std::uint32_t buffer() const { return buffer_; }

 private:
  std::uint32_t abr_ = 0;
  std::uint32_t occupied_ = 0;
  std::uint32_t buffer_ = 0;
  std::uint32_t unadvertised_ = 0;
  std::uint32_t update_ = 0;
};

}  // namespace fabricast::packet
