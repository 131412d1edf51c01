#pragma once
// HPCC, the sender's half (Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019,
// section 3 and algorithm 1). Switches write into every packet how much they had sent and what was
// queued; from two such records the sender knows how busy each link of its path is and sets its
// window for the busiest to be used to eta. Equations: docs/models/packet.md.

#include <vector>

#include "packet/rdma_control.h"

namespace fabricast::packet {

class Hpcc : public RdmaControl {
 public:
  using Parameters = catalog::FabricProfile::Hpcc;
  static const Parameters& parameters(const catalog::FabricProfile& profile) {
    return profile.hpcc;
  }

  void initialise(const Parameters& p, const RdmaPath& path);
  void on_ack(const Parameters& p, const RdmaAck& ack);

  bool limited() const { return window_ < largest_; }
  double rate_bps() const { return window_ * 8 / base_rtt_s_; }
  std::int64_t window_bytes() const { return static_cast<std::int64_t>(window_); }

  /// U: the average of the busiest link's bytes in flight over rate x T.
  double utilisation() const { return utilisation_; }
  double window() const { return window_; }
  double reference_window() const { return reference_; }
  int stage() const { return stage_; }

 private:
  bool measure(std::span<const IntHop> hops);
  double next_window(const Parameters& p, bool new_round);

  double base_rtt_s_ = 0;
  double largest_ = 0;           ///< window that fills the path: line rate x T
  double smallest_ = 0;          ///< line of the lowest rate
  double window_ = 0;            ///< W, bytes of wire
  double reference_ = 0;         ///< W^c, which moves once per round trip
  double utilisation_ = 1;       ///< U; 1 before the first measurement, as the queue pair starts
  int stage_ = 0;                ///< incStage
  std::uint32_t round_end_ = 0;  ///< lastUpdateSeq
  std::vector<IntHop> last_;     ///< L
};

}  // namespace fabricast::packet
