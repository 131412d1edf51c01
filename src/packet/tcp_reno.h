#pragma once
// Reno: one segment more per round trip, half after a loss (RFC 5681) or a mark (RFC 3168).

#include "packet/tcp_algorithm.h"

namespace fabricast::packet {

struct Reno : TcpAlgorithm {
  static void grow(TcpWindow& window, const TcpAck& ack) { window.size += ack.newly / window.size; }
  static double after_loss(const TcpWindow&, double flight) { return flight / 2; }
  static double after_timeout(const TcpWindow&, double flight) { return flight / 2; }
  static double after_echo(const TcpWindow&, double flight) { return flight / 2; }
};

}  // namespace fabricast::packet
