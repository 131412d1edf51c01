#pragma once
// Reduction in the network: InfiniBand's SHARP, streaming aggregation. Every member of a group
// sends its data up a tree, packet by packet; a switch holds what its children send under one
// number until it has all of them, and sends one packet on; the root's comes back down to everyone.
// What comes back is the acknowledgement: a member has at most a switch's reduction buffer under
// way. Included by engine.h only.

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "packet/engine.h"

namespace fabricast::packet {

template <FabricKind K>
std::optional<network::ReductionGroup> Engine<K>::claim_reduction(
    std::span<const base::Rank> ranks) {
  if (!kCredits || !profile_.sharp.enabled || ranks.empty()) return std::nullopt;
  std::vector<fabric::EndpointId> members;
  for (const base::Rank rank : ranks) members.push_back(fabric_->endpoint_of(rank));
  taken_by_trees_.resize(ports_.size());
  std::optional<ReductionTree> tree = plan_reduction(*fabric_, members, taken_by_trees_);
  if (!tree) return std::nullopt;
  const network::ReductionGroup group(static_cast<std::uint32_t>(groups_.size()));
  Group& made = groups_.emplace_back();
  made.tree = std::move(*tree);
  take_ports(made, 1);
  const std::size_t ring = reduction_window();
  made.node_of.assign(fabric_->devices().size(), kNone);
  made.arrived.resize(made.tree.nodes.size());
  for (std::uint32_t n = 0; n < made.tree.nodes.size(); ++n) {
    made.node_of[made.tree.nodes[n].device] = n;
    made.arrived[n].assign(ring, 0);
  }
  for (std::size_t m = 0; m < members.size(); ++m) {
    made.members.push_back({ranks[m], make_member(group.index(), members[m])});
  }
  return group;
}

template <FabricKind K>
void Engine<K>::release_reduction(network::ReductionGroup group) {
  take_ports(groups_.at(group.index()), -1);
}

// A tree has its ports for itself, or its switches (SHARP 3.13, "General Information": one active
// streaming tree per switch of Quantum, one per port of Quantum-2).
template <FabricKind K>
void Engine<K>::take_ports(const Group& group, int change) {
  const auto take = [&](std::uint32_t port) {
    taken_by_trees_[port] = static_cast<std::uint8_t>(taken_by_trees_[port] + change);
  };
  for (const ReductionTree::Node& node : group.tree.nodes) {
    if (profile_.sharp.streams == catalog::SharpStreams::kOnePerSwitch) {
      const fabric::Device& device = fabric_->devices()[node.device];
      for (std::uint32_t p = 0; p < device.port_count; ++p) take(device.first_port + p);
    } else {
      if (node.parent != kNone) take(node.parent);
      for (const ReductionTree::Child& child : node.children) take(child.port);
    }
  }
}

// Packets that a member may have under way.
template <FabricKind K>
std::uint32_t Engine<K>::reduction_window() const {
  const std::int64_t packet = (profile_.link.mtu + profile_.link.header).count();
  return static_cast<std::uint32_t>(
      std::max<std::int64_t>(1, profile_.sharp.buffer.count() / packet));
}

// The queue pair of a member with the switch above its adapter.
template <FabricKind K>
std::uint32_t Engine<K>::make_member(std::uint32_t group, fabric::EndpointId endpoint) {
  const auto index = static_cast<std::uint32_t>(flows_.size());
  Flow& flow = flows_.emplace_back();
  connection_turn_.push_back(0);
  flow.source = flow.destination = endpoint.index();
  flow.source_port = flow.destination_port = fabric_->endpoint_port(endpoint).index();
  if constexpr (kCredits) {
    flow.group = group;
    flow.limit = reduction_window();
  }
  return index;
}

template <FabricKind K>
void Engine<K>::reduce_once(network::ReductionGroup group, base::Rank rank, base::Bytes size,
                            network::Callback on_complete) {
  const std::uint32_t index = outstanding_.open_message(size, std::move(on_complete));
  post_reduction(index, group, rank, size);
}

template <FabricKind K>
void Engine<K>::post_reduction(std::uint32_t message, network::ReductionGroup group,
                               base::Rank rank, base::Bytes size) {
  const auto& members = groups_.at(group.index()).members;
  const auto member = std::ranges::find(members, rank, &Member::rank);
  if (member == members.end()) throw base::failure("a rank that is not in its reduction group");
  const std::uint32_t flow = member->flow;
  outstanding_.message(message).transfers_left = 1;
  add_transfer(flow, size.count(), message, network::Completion::kAcknowledged,
               start_of_message(adapters_[flows_[flow].source], size));
}

// A packet of a group has come to a switch of its tree.
template <FabricKind K>
void Engine<K>::reduce_at(PacketIndex index, std::uint32_t ingress_link) {
  if constexpr (kCredits) {
    const PortState& in = ports_[ingress_link];
    Packet& packet = packets_[index];
    Group& group = groups_[flows_[packet.flow].group];
    const std::uint32_t n = group.node_of[ports_[in.peer].device];
    const ReductionTree::Node& node = group.tree.nodes[n];
    packet.ingress = in.peer;
    accept_on_lane(in.peer, packet);
    if (packet.type == PacketType::kReduce) {
      std::uint16_t& arrived = group.arrived[n][packet.sequence % group.arrived[n].size()];
      if (++arrived < node.children.size()) {  // it waits in the reduction buffer
        free_credits(packet.ingress, packet.traffic_class, packet.wire);
        packets_.release(index);
        return;
      }
      arrived = 0;
      packet.time_ps = whole_at(in, packet) + profile_.sharp.latency.ps();
      if (node.parent != kNone) {
        enqueue(node.parent, index);
        return;
      }
      packet.type = PacketType::kResult;
    } else {
      packet.time_ps = now().ps();
    }
    hand_down(index, group, node, in);
  }
}

// The result goes to every child. One copy stands for what the packet holds of the buffer.
template <FabricKind K>
void Engine<K>::hand_down(PacketIndex index, const Group& group, const ReductionTree::Node& node,
                          const PortState& in) {
  const Packet result = packets_[index];
  const std::int64_t whole_ps = whole_at(in, result);
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const ReductionTree::Child& child = node.children[i];
    const PacketIndex copy = i == 0 ? index : packets_.allocate();
    Packet& packet = packets_[copy];
    packet = result;
    if (i > 0) packet.ingress = kNone;
    if (child.member != kNone) packet.flow = group.members[child.member].flow;
    if (ports_[child.port].ps_per_byte_q16 < in.ps_per_byte_q16) {
      packet.time_ps = std::max(packet.time_ps, whole_ps);
    }
    enqueue(child.port, copy);
  }
}

// When the last bit of a packet is in whose head, or all of it, has come by a link just now.
template <FabricKind K>
std::int64_t Engine<K>::whole_at(const PortState& in, const Packet& packet) const {
  if (!in.head_arrives) return now().ps();
  return now().ps() + in.serialisation_ps(packet.wire) -
         in.serialisation_ps(std::min<std::int64_t>(packet.wire, kHeadBytes));
}

// A member's own packet has come back with the sum.
template <FabricKind K>
void Engine<K>::on_result(PacketIndex packet_index) {
  if constexpr (kCredits) {
    const Packet packet = packets_[packet_index];
    packets_.release(packet_index);
    QueuePair& qp = flows_[packet.flow];
    if (packet.sequence != qp.unacked) throw base::failure("a reduction's result out of order");
    ++qp.unacked;
    forget_acknowledged(qp, qp.unacked);
    if (qp.unacked < qp.next) arm_timer(packet.flow, timeout_);
    mark_ready(packet.flow);
  }
}

}  // namespace fabricast::packet
