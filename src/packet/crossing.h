#pragma once
// What one engine hands to another when several share a network. All of it takes effect at least
// one link's propagation after it was sent, so that it may be handed over at the end of a window.

#include <vector>

#include "engine/event_queue.h"
#include "packet/link.h"
#include "packet/packet.h"
#include "packet/rdma_control.h"

namespace fabricast::packet {

struct Crossing {
  struct OnWire {
    std::uint32_t link = 0;  ///< egress port
    Packet packet;           ///< with the time of its arrival
  };
  struct Credit {
    std::uint32_t port = 0;  ///< the sender that it is for
    unsigned traffic_class = 0;
    CreditUpdate update;
  };
  struct Sack {
    std::uint32_t connection = 0;
    std::uint32_t segment = 0;  ///< that came out of order
  };

  std::vector<OnWire> packets;
  std::vector<IntRecord> telemetry;  ///< of `packets`, where switches write any
  std::vector<engine::Event> pauses;
  std::vector<Credit> credits;
  std::vector<Sack> sacks;

  void clear() {
    packets.clear();
    telemetry.clear();
    pauses.clear();
    credits.clear();
    sacks.clear();
  }
};

}  // namespace fabricast::packet
