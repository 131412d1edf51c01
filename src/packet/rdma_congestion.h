#pragma once
// The congestion controls of RDMA behind one door without virtual calls. A new one is a file like
// dcqcn.h, a type in the list below, and an entry of catalog::RdmaCongestionControl at the same
// place: docs/how-to/add-a-congestion-control.md.

#include <cstddef>
#include <utility>
#include <variant>

#include "catalog/fabric_profile.h"
#include "packet/dcqcn.h"
#include "packet/hpcc.h"
#include "packet/ib_congestion.h"
#include "packet/rdma_control.h"

namespace fabricast::packet {

/// The first of `Controls` does nothing and is what a flow without control pays for: a comparison.
template <class... Controls>
class RdmaDoor {
 public:
  /// Takes the `which`-th control and begins a queue pair.
  void initialise(std::size_t which, const catalog::FabricProfile& profile, const RdmaPath& path) {
    std::size_t i = 0;
    ((i++ == which ? static_cast<void>(control_.template emplace<Controls>()) : void()), ...);
    visit([&](auto& c, const auto& p) { c.initialise(p, path); }, profile);
  }

  /// False: no hook changes anything.
  bool active() const { return control_.index() != 0; }

  void on_sent(const catalog::FabricProfile& profile, std::int64_t bytes) {
    visit([&](auto& c, const auto& p) { c.on_sent(p, bytes); }, profile);
  }
  void on_ack(const catalog::FabricProfile& profile, const RdmaAck& ack) {
    visit([&](auto& c, const auto& p) { c.on_ack(p, ack); }, profile);
  }
  void on_cnp(const catalog::FabricProfile& profile, base::Time now) {
    visit([&](auto& c, const auto& p) { c.on_cnp(p, now); }, profile);
  }
  void on_deadline(const catalog::FabricProfile& profile, base::Time now) {
    visit([&](auto& c, const auto& p) { c.on_deadline(p, now); }, profile);
  }

  bool limited() const {
    return active() && std::visit([](const auto& c) { return c.limited(); }, control_);
  }
  double rate_bps() const {
    return std::visit([](const auto& c) { return c.rate_bps(); }, control_);
  }
  std::int64_t window_bytes() const {
    return std::visit([](const auto& c) { return c.window_bytes(); }, control_);
  }
  base::Time deadline() const {
    return std::visit([](const auto& c) { return c.deadline(); }, control_);
  }

  /// The control itself, for tests. PRECONDITION: C was chosen.
  template <class C>
  const C& as() const {
    return std::get<C>(control_);
  }

 private:
  template <class F>
  void visit(F&& f, const catalog::FabricProfile& profile) {
    std::visit([&](auto& c) { f(c, std::remove_reference_t<decltype(c)>::parameters(profile)); },
               control_);
  }

  std::variant<Controls...> control_;
};

/// In the order of catalog::RdmaCongestionControl.
using RdmaCongestion = RdmaDoor<RdmaControl, DcqcnSender, Hpcc, IbCongestion>;

}  // namespace fabricast::packet
