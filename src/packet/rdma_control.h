#pragma once
// What a congestion control of RDMA is told and what it decides. One class per control, each in its
// own file; rdma_congestion.h lists them. A control has
//
//   parameters(profile)         its own group of the profile, which every hook gets as `p`;
//   initialise(p, path)         a queue pair begins, and may send at line rate;
//   on_sent(p, bytes)           bytes have been handed to the wire;
//   on_ack(p, ack)              an acknowledgement has come, of new data or not;
//   on_cnp(p, now)              a congestion notification packet has come;
//   on_deadline(p, now)         the instant of `deadline()` has passed, or an earlier one;
//
// and says at any time
//
//   limited()                   true: the queue pair is held to a rate, which is
//   rate_bps()                  bits per second on the wire, headers included;
//   window_bytes()              most unacknowledged bytes of wire, kNoWindow for no limit; one
//   packet
//                               may always be under way;
//   deadline()                  when it wants to be woken, Time::max() for never. While one is
//                               pending it may move later, not earlier.
//
// Everything is pure state and time: no events, no allocation after `initialise`. The engine reads
// the answers again after each hook but on_sent.

#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "base/units.h"
#include "catalog/fabric_profile.h"

namespace fabricast::packet {

/// What a flow finds on its way before any queue.
struct RdmaPath {
  base::Rate line_rate;  ///< of the sender's port
  base::Time base_rtt;   ///< a full packet there and its acknowledgement back, on an idle network
};

/// What a switch writes into a packet when it starts to send it on (in-band network telemetry; Li
/// et al., SIGCOMM 2019, section 4.1).
struct IntHop {
  std::int64_t time_ps = 0;
  std::int64_t sent_bytes = 0;     ///< by this port, before this packet
  std::int64_t rate_bps = 0;       ///< of the link
  std::uint32_t queued_bytes = 0;  ///< behind this packet, in its class
  std::uint32_t port = 0;          ///< stands for the paper's path id
};

/// What the 42 bytes of the paper's header have room for; a three-tier fat-tree has as many.
inline constexpr std::size_t kIntHops = 5;

/// Telemetry of one packet, in the order of the hops.
struct IntRecord {
  std::array<IntHop, kIntHops> hops;
  std::uint32_t count = 0;

  void clear() { count = 0; }
  void push(const IntHop& hop) {
    if (count < kIntHops) hops[count++] = hop;
  }
  std::span<const IntHop> view() const { return {hops.data(), count}; }
};

struct RdmaAck {
  base::Time now;
  base::Time rtt;                ///< of a packet that this acknowledges; 0: none was timed
  std::int64_t newly = 0;        ///< payload bytes acknowledged for the first time (full packets)
  std::uint32_t unacked = 0;     ///< the next packet that the receiver expects
  std::uint32_t next = 0;        ///< the next packet to send
  bool echo = false;             ///< congestion was met: BECN
  std::span<const IntHop> hops;  ///< empty where switches write no telemetry
};

inline constexpr std::int64_t kNoWindow = std::numeric_limits<std::int64_t>::max();

/// A control that does nothing; others shadow what they need.
struct RdmaControl {
  struct Parameters {};
  static Parameters parameters(const catalog::FabricProfile&) { return {}; }

  void initialise(const Parameters&, const RdmaPath&) {}
  template <class P>
  void on_sent(const P&, std::int64_t) {}
  template <class P>
  void on_ack(const P&, const RdmaAck&) {}
  template <class P>
  void on_cnp(const P&, base::Time) {}
  template <class P>
  void on_deadline(const P&, base::Time) {}

  static bool limited() { return false; }
  static double rate_bps() { return 0; }
  static std::int64_t window_bytes() { return kNoWindow; }
  static base::Time deadline() { return base::Time::max(); }
};

}  // namespace fabricast::packet
