#pragma once
// InfiniBand's congestion control (InfiniBand Architecture, Volume 1, annex A10). A switch marks
// (FECN) what leaves a port that is the root of congestion, the destination returns the mark
// (BECN), the source delays the queue pair's packets by an entry of its congestion control table.
// Equations and the meaning given to what the annex leaves open: docs/models/packet.md.

#include <algorithm>
#include <cstdint>

#include "packet/rdma_control.h"

namespace fabricast::packet {

/// The source's half: an index into the table (CCTI), up for each BECN, down with time.
class IbCongestion : public RdmaControl {
 public:
  using Parameters = catalog::FabricProfile::Ibcc;
  static const Parameters& parameters(const catalog::FabricProfile& profile) {
    return profile.ibcc;
  }

  void initialise(const Parameters& p, const RdmaPath& path) {
    line_ = static_cast<double>(path.line_rate.bps());
    index_ = p.ccti_minimum;
    set_rate(p);
  }
  void on_ack(const Parameters& p, const RdmaAck& ack) {
    if (ack.echo) on_cnp(p, ack.now);
  }
  /// A BECN.
  void on_cnp(const Parameters& p, base::Time now) {
    if (index_ == p.ccti_minimum) deadline_ = now + period(p);
    index_ = std::min(index_ + p.ccti_increase, p.ccti_limit);
    set_rate(p);
  }
  void on_deadline(const Parameters& p, base::Time now) {
    if (now < deadline_ || index_ <= p.ccti_minimum) return;
    --index_;
    deadline_ = index_ > p.ccti_minimum ? deadline_ + period(p) : base::Time::max();
    set_rate(p);
  }

  bool limited() const { return rate_ < line_; }
  double rate_bps() const { return rate_; }
  base::Time deadline() const { return deadline_; }
  int index() const { return index_; }

 private:
  static base::Time period(const Parameters& p) {
    return base::Time::picoseconds(1'024'000) * p.ccti_timer;
  }
  // After a packet that took t on the wire the next one waits for CCT[index] x t.
  void set_rate(const Parameters& p) { rate_ = line_ / (1 + p.cct_step * index_); }

  double line_ = 0;
  double rate_ = 0;
  int index_ = 0;
  base::Time deadline_ = base::Time::max();
};

/// The switch's half, of one port and virtual lane.
class FecnMarker {
 public:
  struct Port {
    std::int64_t queued = 0;   ///< bytes that wait behind the packet
    bool has_credits = false;  ///< for another full packet
    bool to_adapter = false;
  };

  /// Bytes of egress queue above which a port is congested: (16 - threshold)/16 of a lane's buffer.
  static std::int64_t threshold_bytes(const catalog::FabricProfile& profile) {
    return profile.credits.vl_buffer.count() * (16 - profile.ibcc.threshold) / 16;
  }

  /// True: a packet of `bytes` that leaves is marked. A port whose queue is long but that lacks
  /// credits is a victim of congestion further on and marks nothing, unless Victim_Mask holds for
  /// it.
  bool mark(const catalog::FabricProfile& profile, const Port& port, std::int64_t bytes) {
    const catalog::FabricProfile::Ibcc& p = profile.ibcc;
    if (p.threshold == 0 || port.queued <= threshold_bytes(profile)) return false;
    const bool root = port.has_credits || (p.victim_mask && port.to_adapter);
    if (!root || bytes < std::int64_t{64} * p.packet_size) return false;
    if (to_pass_ > 0) {
      --to_pass_;
      return false;
    }
    to_pass_ = p.marking_rate;
    return true;
  }

 private:
  int to_pass_ = 0;  ///< eligible packets that go unmarked before the next one
};

}  // namespace fabricast::packet
