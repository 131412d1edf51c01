#pragma once
// What a congestion control of TCP is told and what it decides. One struct per algorithm, each in
// its own file; tcp_congestion.h lists them. An algorithm says
//
//   observe(ack)                  what it must see of every acknowledgement of new data;
//   grow(window, ack)             the increase of congestion avoidance (slow start is common);
//   after_loss(window, flight)    the window after a loss that fast retransmit repairs;
//   after_timeout(window, flight) the slow-start threshold after a timeout;
//   after_echo(window, flight)    the window after an ECN-Echo, at most once per window of data;
//   idle(duration)                time without anything outstanding.
//
// All windows are in segments and may be fractional; the caller keeps them at 2 or above.

#include <cstdint>

#include "base/units.h"

namespace fabricast::packet {

struct TcpWindow {
  double size = 0;         ///< congestion window
  double threshold = 1e9;  ///< of slow start
  bool slow_start() const { return size < threshold; }
};

/// An acknowledgement of new data.
struct TcpAck {
  base::Time now;
  base::Time rtt;             ///< smoothed; 0 before the first sample
  double newly = 0;           ///< segments acknowledged for the first time
  std::uint32_t unacked = 0;  ///< the next segment that the receiver expects
  std::uint32_t next = 0;     ///< the next segment that was never sent
  bool echo = false;          ///< ECN-Echo: marks were seen
};

/// What most algorithms do not care for.
struct TcpAlgorithm {
  void observe(const TcpAck&) {}
  void idle(base::Time) {}
};

}  // namespace fabricast::packet
