#pragma once
// The congestion controls of TCP behind one door without virtual calls. A new one is a file like
// tcp_reno.h, a type in the variant below, and an entry of catalog::TcpCongestionControl at the
// same place.

#include <algorithm>
#include <variant>

#include "catalog/fabric_profile.h"
#include "packet/tcp_cubic.h"
#include "packet/tcp_dctcp.h"
#include "packet/tcp_reno.h"

namespace fabricast::packet {

class TcpCongestion {
 public:
  using Algorithm = std::variant<Reno, Cubic, Dctcp>;  ///< in the order of TcpCongestionControl

  void choose(catalog::TcpCongestionControl which) {
    switch (which) {
      case catalog::TcpCongestionControl::kReno:
        algorithm_.emplace<Reno>();
        break;
      case catalog::TcpCongestionControl::kCubic:
        algorithm_.emplace<Cubic>();
        break;
      case catalog::TcpCongestionControl::kDctcp:
        algorithm_.emplace<Dctcp>();
        break;
    }
  }

  void observe(const TcpAck& ack) {
    std::visit([&](auto& a) { a.observe(ack); }, algorithm_);
  }
  void idle(base::Time duration) {
    std::visit([&](auto& a) { a.idle(duration); }, algorithm_);
  }

  /// Slow start up to the threshold, one segment for each acknowledged one (RFC 5681 with the byte
  /// counting of RFC 3465), congestion avoidance beyond.
  void grow(TcpWindow& window, TcpAck ack) {
    if (window.slow_start()) {
      const double step = std::min(ack.newly, window.threshold - window.size);
      window.size += step;
      ack.newly -= step;
    }
    if (ack.newly > 0) std::visit([&](auto& a) { a.grow(window, ack); }, algorithm_);
  }

  double after_loss(const TcpWindow& window, double flight) {
    const auto cut = [&](auto& a) { return a.after_loss(window, flight); };
    return std::max(std::visit(cut, algorithm_), kLeast);
  }
  double after_timeout(const TcpWindow& window, double flight) {
    const auto cut = [&](auto& a) { return a.after_timeout(window, flight); };
    return std::max(std::visit(cut, algorithm_), kLeast);
  }
  double after_echo(const TcpWindow& window, double flight) {
    const auto cut = [&](auto& a) { return a.after_echo(window, flight); };
    return std::max(std::visit(cut, algorithm_), kLeast);
  }

  /// The algorithm itself, for tests. PRECONDITION: A was chosen.
  template <class A>
  const A& as() const {
    return std::get<A>(algorithm_);
  }

 private:
  static constexpr double kLeast = 2;  ///< segments: RFC 5681, equation 4

  Algorithm algorithm_;
};

}  // namespace fabricast::packet
