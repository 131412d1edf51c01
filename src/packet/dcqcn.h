#pragma once
// DCQCN's reaction point, the sender's half of the rate control (Zhu et al., "Congestion Control
// for Large-Scale RDMA Deployments", SIGCOMM 2015, section 5 and figure 7). Pure state and time:
// the engine says when a CNP came, bytes left, or a deadline passed.

#include <algorithm>
#include <cstdint>

#include "packet/rdma_control.h"

namespace fabricast::packet {

class DcqcnSender : public RdmaControl {
 public:
  using Parameters = catalog::FabricProfile::Dcqcn;
  static const Parameters& parameters(const catalog::FabricProfile& profile) {
    return profile.dcqcn;
  }

  /// Starts unlimited, at line rate.
  void initialise(const Parameters&, const RdmaPath& path) {
    line_ = static_cast<double>(path.line_rate.bps());
    current_ = target_ = line_;
  }

  /// True while a rate below the line rate holds; only then do timers run.
  bool limited() const { return limited_; }
  double rate_bps() const { return current_; }
  double target_bps() const { return target_; }
  /// Alpha as of `now`.
  double alpha(const Parameters& p, base::Time now) {
    if (notified_) decay(p, now);
    return alpha_;
  }
  /// When the increase timer is due; alpha's decay is caught up with when it matters.
  base::Time deadline() const { return limited_ ? increase_deadline_ : base::Time::max(); }

  /// A CNP: remember the rate as target, cut by alpha/2, raise alpha, start recovery anew. Cuts
  /// come at least `decrease_interval` apart.
  void on_cnp(const Parameters& p, base::Time now);
  /// Bytes handed to the wire: every `byte_counter` of them is one increase event. Without a byte
  /// counter the timer leads through all stages: fast recovery, one additive increase, hyper
  /// increase by one step each time from then on (ns-3's HPCC model, rdma-hw.cc).
  void on_sent(const Parameters& p, std::int64_t bytes);
  /// One increase event if the increase timer is due at `now`.
  void on_deadline(const Parameters& p, base::Time now);

 private:
  void increase(const Parameters& p);
  void decay(const Parameters& p, base::Time now);

  double line_ = 0;
  double current_ = 0;
  double target_ = 0;
  double alpha_ = 1;
  bool limited_ = false;
  int timer_stage_ = 0;
  int byte_stage_ = 0;
  std::int64_t bytes_since_ = 0;
  base::Time last_cut_;
  base::Time alpha_deadline_;  ///< when alpha decays next
  bool notified_ = false;
  base::Time increase_deadline_;
};

}  // namespace fabricast::packet
