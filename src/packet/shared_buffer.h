#pragma once
// The packet buffer of an Ethernet switch. One pool is shared by all ports; a lossless ingress may
// fill it up to alpha x (what is still free) and then its upstream neighbour is paused (802.1Qbb
// PFC); what was already on its way lands in the headroom reserved for that ingress. Without PFC a
// queue beyond alpha x free drops at its tail (dynamic thresholds: Choudhury and Hahne, 1998).
// Bytes leave in the order: headroom first, then pool, as in the HPCC simulator's switch MMU.

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "catalog/fabric_profile.h"

namespace fabricast::packet {

/// Bytes that can still arrive after a port decides to send XOFF: the pause frame waits for one
/// full packet on the reverse wire, is serialised and propagates; the peer finishes the packet it
/// has begun; the wire and the receiver's pipeline are full; one more packet is counted when its
/// head arrives. Frames of other classes may go first. Rounded up to 1 KiB.
base::Bytes pfc_headroom(const catalog::FabricProfile& profile, base::Rate rate,
                         base::Time propagation);

/// Wire bytes of a pause frame: 64 bytes, preamble and inter-frame gap.
inline constexpr std::int64_t kPauseFrameBytes = 84;

class SharedBuffer {
 public:
  struct Spec {
    std::int64_t total = 0;    ///< bytes of the switch
    bool pfc = true;           ///< false: this switch neither pauses nor is paused
    bool ecn = true;           ///< false: this switch marks nothing
    double ingress_alpha = 0;  ///< XOFF trigger, lossless
    double queue_alpha = 1;    ///< tail-drop limit of an egress queue, lossy
    std::int64_t xon_offset = 0;
    std::vector<std::int64_t> headroom;  ///< per local port and lossless class, out of `total`
  };

  /// Throws base::Error (input) when the headroom leaves no shared pool.
  explicit SharedBuffer(Spec spec);

  /// Takes a packet of a lossy class in, towards a queue that holds `queued` bytes. False: it must
  /// be dropped, and nothing was charged.
  bool admit_lossy(std::int64_t size, std::int64_t queued) {
    const std::int64_t free = pool_ - pool_used_;
    if (size > free ||
        static_cast<double>(queued + size) > spec_.queue_alpha * static_cast<double>(free)) {
      return false;
    }
    pool_used_ += size;
    return true;
  }
  void release_lossy(std::int64_t size) { pool_used_ -= size; }

  /// Takes a packet of a lossless class in; `ingress` numbers local ports and lossless classes.
  /// False: not even the headroom has room.
  bool admit(std::size_t ingress, std::int64_t size) {
    Ingress& in = ingress_[ingress];
    if (!in.paused && in.pool + size <= pool_limit() && pool_used_ + size <= pool_) {
      in.pool += size;
      pool_used_ += size;
      return true;
    }
    if (in.headroom + size > in.headroom_size) return false;
    in.headroom += size;
    return true;
  }

  void release(std::size_t ingress, std::int64_t size) {
    Ingress& in = ingress_[ingress];
    const std::int64_t from_headroom = in.headroom < size ? in.headroom : size;
    in.headroom -= from_headroom;
    in.pool -= size - from_headroom;
    pool_used_ -= size - from_headroom;
  }

  /// True when XOFF is due; the caller sends it and the ingress counts as paused from now on.
  bool pause_due(std::size_t ingress) {
    Ingress& in = ingress_[ingress];
    if (in.paused || (in.headroom == 0 && in.pool < pool_limit())) return false;
    in.paused = true;
    return true;
  }

  /// True when XON is due; the caller sends it and the ingress no longer counts as paused.
  bool resume_due(std::size_t ingress) {
    Ingress& in = ingress_[ingress];
    if (!in.paused || in.headroom > 0) return false;
    if (in.pool > 0 && in.pool + spec_.xon_offset > pool_limit()) return false;
    in.paused = false;
    return true;
  }

  bool paused(std::size_t ingress) const { return ingress_[ingress].paused; }
  std::int64_t used() const;
  /// Bytes charged to an ingress.
  std::int64_t held(std::size_t ingress) const {
    return ingress_[ingress].pool + ingress_[ingress].headroom;
  }
  bool pfc() const { return spec_.pfc; }
  bool ecn() const { return spec_.ecn; }
  std::int64_t total() const { return spec_.total; }
  std::int64_t pool() const { return pool_; }
  /// The XOFF trigger at this moment, bytes.
  std::int64_t pool_limit() const {
    return static_cast<std::int64_t>(spec_.ingress_alpha * static_cast<double>(pool_ - pool_used_));
  }

 private:
  struct Ingress {
    std::int64_t pool = 0;
    std::int64_t headroom = 0;
    std::int64_t headroom_size = 0;
    bool paused = false;
  };
  Spec spec_;
  std::int64_t pool_ = 0;
  std::int64_t pool_used_ = 0;
  std::vector<Ingress> ingress_;
};

/// RED-style marking on the instantaneous queue (DCQCN, SIGCOMM 2015, figure 5): 0 up to Kmin,
/// rising linearly to Pmax at Kmax, 1 beyond.
double marking_probability(const catalog::FabricProfile::Ecn& ecn, std::int64_t queued);

}  // namespace fabricast::packet
