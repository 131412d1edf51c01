#pragma once
// What must hold of the engine's books at any instant between two events. For tests: it walks over
// everything. Included by engine.h only.

#include <string>

#include "packet/engine.h"

namespace fabricast::packet {

/// Bytes of one class that came in by `ingress` and wait in the device's egress queues, in `unit`s
/// rounded up packet by packet.
template <FabricKind K>
std::int64_t Engine<K>::waiting_from(std::uint32_t ingress, unsigned c, std::int64_t unit) const {
  std::int64_t sum = 0;
  const fabric::Device& device = fabric_->devices()[ports_[ingress].device];
  for (std::uint32_t e = device.first_port; e < device.first_port + device.port_count; ++e) {
    for (PacketIndex i = ports_[e].classes[c].packets.front(); i != kNone; i = packets_[i].next) {
      if (packets_[i].ingress == ingress) sum += (packets_[i].wire + unit - 1) / unit;
    }
  }
  return sum;
}

// The queues count what they hold.
template <FabricKind K>
std::string Engine<K>::audit_port(std::uint32_t index) const {
  const PortState& port = ports_[index];
  for (unsigned c = 0; c < kMaxClasses; ++c) {
    std::int64_t bytes = 0;
    for (PacketIndex i = port.classes[c].packets.front(); i != kNone; i = packets_[i].next) {
      bytes += packets_[i].wire;
      if (packets_[i].traffic_class != c) return "a packet in the queue of another class";
    }
    if (bytes != port.classes[c].bytes) return "a queue that miscounts its bytes";
    if ((bytes > 0) != ((port.queued & mask_of(c)) != 0)) return "a queue's bit that is wrong";
  }
  return port.down && !port.wire.empty() ? "packets on a wire that is down" : "";
}

// What is charged to a switch's buffer is what its queues hold, and fits.
template <FabricKind K>
std::string Engine<K>::audit_buffer(std::uint32_t device) const {
  const SharedBuffer& buffer = buffers_[device];
  const fabric::Device& d = fabric_->devices()[device];
  std::int64_t queued = 0;
  for (std::uint32_t p = d.first_port; p < d.first_port + d.port_count; ++p) {
    for (const ClassQueue& queue : ports_[p].classes) queued += queue.bytes;
    for (unsigned c = 0; c < static_cast<unsigned>(lossless_classes_); ++c) {
      if (buffer.held(buffer_place(p, c)) != waiting_from(p, c, 1)) {
        return "an ingress that is charged for what it does not hold";
      }
    }
  }
  if (buffer.used() != queued) return "a buffer that miscounts its bytes";
  return buffer.used() > buffer.total() ? "a buffer that holds more than its size" : "";
}

// Blocks that the sender may still send, that are on the wire, that the receiver holds and that it
// has freed but not yet advertised, together are its buffer.
template <FabricKind K>
std::string Engine<K>::audit_lane(std::uint32_t index, unsigned c) const {
  const PortState& port = ports_[index];
  const Lane& lane = lanes_[lane_of(index, c)];
  const CreditReceiver& receiver = lanes_[lane_of(port.peer, c)].receiver;
  std::int64_t on_wire = 0;
  for (PacketIndex i = port.wire.front(); i != kNone; i = packets_[i].next) {
    if (packets_[i].traffic_class == c) on_wire += credit_blocks(packets_[i].wire);
  }
  if (port.peer_is_switch && receiver.occupied() != waiting_from(port.peer, c, kCreditBlockBytes)) {
    return "a lane that is charged for what it does not hold";
  }
  if (port.down) return "";
  CreditSender sender = lane.sender;
  if (lane.updates_begin != lane.updates_end) {
    const std::size_t last = (lane.updates_end - 1) % credit_ring_;
    sender.update(credit_updates_[lane_of(index, c) * credit_ring_ + last].fccl);
  }
  const std::int64_t sum =
      sender.available() + on_wire + receiver.occupied() + receiver.unadvertised();
  return sum != receiver.buffer() ? "credits that do not add up to the buffer" : "";
}

// What waits for the host is counted per class, and fits.
template <FabricKind K>
std::string Engine<K>::audit_adapter(std::uint32_t endpoint) const {
  const Adapter& adapter = adapters_[endpoint];
  const std::uint32_t port = fabric_->endpoint_port(fabric::EndpointId(endpoint)).index();
  std::array<std::int64_t, kMaxClasses> bytes = {};
  std::array<std::int64_t, kMaxClasses> blocks = {};
  for (PacketIndex i = adapter.arrived.front(); i != kNone; i = packets_[i].next) {
    bytes[packets_[i].traffic_class] += packets_[i].wire;
    blocks[packets_[i].traffic_class] += credit_blocks(packets_[i].wire);
  }
  if (bytes != adapter.held) return "an adapter that miscounts what waits for its host";
  for (unsigned c = 0; c < static_cast<unsigned>(profile_.classes.count); ++c) {
    if constexpr (kCredits) {
      if (lanes_[lane_of(port, c)].receiver.occupied() != blocks[c]) {
        return "an adapter's lane that is charged for what it does not hold";
      }
    } else if (bytes[c] > (lossless(c) ? adapter.lossless_room : adapter.room)) {
      return "an adapter that holds more than its buffer";
    }
  }
  return "";
}

template <FabricKind K>
std::string Engine<K>::audit() const {
  std::string wrong;
  for (std::uint32_t p = 0; p < ports_.size() && wrong.empty(); ++p) {
    wrong = audit_port(p);
    if constexpr (kCredits) {
      for (unsigned c = 0; c < static_cast<unsigned>(profile_.classes.count); ++c) {
        if (wrong.empty()) wrong = audit_lane(p, c);
      }
    }
    if (!wrong.empty()) wrong += " at " + fabric_->port_name(fabric::PortId(p));
  }
  for (std::uint32_t e = 0; e < adapters_.size() && wrong.empty(); ++e) wrong = audit_adapter(e);
  if constexpr (kEthernet) {
    for (std::uint32_t d = 0; d < buffers_.size() && wrong.empty(); ++d) {
      wrong = audit_buffer(d);
      if (!wrong.empty()) wrong += " in " + fabric_->devices()[d].name;
    }
  }
  return wrong;
}

}  // namespace fabricast::packet
