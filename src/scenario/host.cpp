// The way between GPUs and adapters as links that payload crosses. Equations and sources:
// docs/models/host.md.

#include <algorithm>
#include <cmath>

#include "scenario/sections.h"

namespace fabricast::scenario {

namespace {

using fabric::HostCrossing;
using fabric::HostLink;
using fabric::HostLinkKind;
using fabric::HostLinks;
using fabric::HostWay;

base::Time nanoseconds(double ns) {
  return base::Time::seconds(ns * 1e-9);
}

class HostBuilder {
 public:
  HostBuilder(const ClusterSpec& cluster, catalog::FabricKind kind)
      : spec_(cluster.host),
        server_(cluster.host.server),
        slot_(cluster.host.slot),
        rdma_(kind != catalog::FabricKind::kTcp),
        adapters_(cluster.topology.nics_per_node),
        switches_((cluster.topology.gpus_per_node + server_.gpus_per_switch - 1) /
                  server_.gpus_per_switch),
        nic_gbps_(cluster.topology.nic_rate.gbps()) {
    const int peer = server_.peer_payload_b;
    peer_payload_ = peer > 0 ? std::min(peer, server_.max_payload_b) : server_.max_payload_b;
  }

  HostLinks build(base::Bytes receive_buffer) {
    add_links();
    for (int a = 0; a < adapters_; ++a) result_.ways.push_back(way(a));
    drop_links_that_suffice();
    add_latency();
    if (!result_.ways.empty()) result_.receive_buffer = receive_buffer;
    return std::move(result_);
  }

 private:
  // Numbers of the links: into and out of each adapter, up and down of each PCIe switch, the memory
  // of each socket, and what leaves each socket for the other.
  static std::uint32_t number(int i) { return static_cast<std::uint32_t>(i); }
  std::uint32_t into(int adapter) const { return number(2 * adapter); }
  std::uint32_t out_of(int adapter) const { return number(2 * adapter + 1); }
  std::uint32_t up(int adapter) const { return number(2 * (adapters_ + switch_of(adapter))); }
  std::uint32_t down(int adapter) const { return up(adapter) + 1; }
  std::uint32_t memory(int socket) const { return number(2 * (adapters_ + switches_) + socket); }
  std::uint32_t leaving(int socket) const { return memory(server_.sockets + socket); }

  int switch_of(int adapter) const { return adapter * switches_ / adapters_; }
  int socket_of(int adapter) const { return switch_of(adapter) * server_.sockets / switches_; }

  void add_links() {
    const auto add = [&](HostLinkKind kind, double gbps) {
      result_.links.push_back({kind, base::Rate::gigabits_per_second(gbps)});
    };
    for (int i = 0; i < 2 * adapters_; ++i) {
      add(HostLinkKind::kSlot, slot_.packets_gbps(slot_.lanes));
    }
    for (int i = 0; i < 2 * switches_; ++i) {
      add(HostLinkKind::kUplink, slot_.packets_gbps(server_.uplink_lanes));
    }
    for (int i = 0; i < server_.sockets; ++i) {
      add(HostLinkKind::kMemory, 8 * server_.memory_gb_per_s * server_.memory_share);
    }
    for (int i = 0; i < server_.sockets; ++i) {
      add(HostLinkKind::kSockets, 8 * server_.socket_gb_per_s);
    }
  }

  // Bytes on a PCIe link for each byte of payload, in packets of `payload`.
  double write(int payload) const { return 1 + 1.0 * slot_.write_overhead_b / payload; }
  double completion(int payload) const { return 1 + 1.0 * slot_.completion_overhead_b / payload; }
  double request() const { return 1.0 * slot_.request_b / server_.max_read_request_b; }

  bool staged() const { return rdma_ && !spec_.gpudirect; }
  /// Device to device, without a stop in memory.
  bool direct() const { return rdma_ && spec_.gpudirect; }
  bool beyond_switches() const { return spec_.nic_affinity >= NicAffinity::kPhb; }
  /// ACS sends what could turn at the PCIe switch up to the root complex and down again.
  bool turned_back() const { return direct() && spec_.acs && !beyond_switches(); }

  static void add(std::vector<HostCrossing>& crossings, std::uint32_t link, double bytes) {
    const auto found = std::ranges::find(crossings, link, &HostCrossing::link);
    if (found != crossings.end()) {
      found->bytes += bytes;
    } else {
      crossings.push_back({link, bytes});
    }
  }

  HostWay way(int a) const {
    HostWay way{send(a), receive(a)};
    if (spec_.nic_affinity == NicAffinity::kSys) {  // the GPU is on the switch's socket
      const int gpu = socket_of(a);
      add(way.send, leaving(gpu), 1);
      add(way.receive, leaving(1 - gpu), 1);
    }
    return way;
  }

  // The adapter reads what it sends.
  std::vector<HostCrossing> send(int a) const {
    const int whole = server_.max_payload_b;
    const bool split = turned_back() || (direct() && beyond_switches());
    std::vector<HostCrossing> crossings;
    add(crossings, into(a), completion(split ? peer_payload_ : whole));
    add(crossings, out_of(a), request());
    if (staged()) {
      add(crossings, up(a), write(whole));
      add(crossings, memory(socket_of(a)), 2);
      if (!beyond_switches()) {
        add(crossings, down(a), completion(whole));
        add(crossings, up(a), request());
      }
    } else if (turned_back()) {
      add(crossings, up(a), completion(whole) + request());
      add(crossings, down(a), completion(peer_payload_) + request());
    } else if (split) {
      add(crossings, up(a), completion(whole));
      add(crossings, down(a), request());
    }
    return crossings;
  }

  // The adapter writes what it receives; a staged GPU reads it from memory.
  std::vector<HostCrossing> receive(int a) const {
    const int whole = server_.max_payload_b;
    std::vector<HostCrossing> crossings;
    add(crossings, out_of(a), write(whole));
    if (staged()) {
      if (!beyond_switches()) add(crossings, up(a), write(whole));
      add(crossings, memory(socket_of(a)), 2);
      add(crossings, down(a), completion(whole));
      add(crossings, up(a), request());
    } else if (turned_back()) {
      add(crossings, up(a), write(whole));
      add(crossings, down(a), write(peer_payload_));
    } else if (direct() && beyond_switches()) {
      add(crossings, down(a), write(peer_payload_));
    }
    return crossings;
  }

  /// A link that all adapters at once cannot fill holds nobody back.
  void drop_links_that_suffice() {
    std::vector<double> load(result_.links.size());
    for_each_crossing([&](HostCrossing& c) { load[c.link] += c.bytes * nic_gbps_; });
    std::vector<HostLink> kept;
    std::vector<std::uint32_t> numbers(load.size());
    for (std::size_t i = 0; i < load.size(); ++i) {
      if (load[i] <= result_.links[i].rate.gbps()) continue;
      numbers[i] = static_cast<std::uint32_t>(kept.size());
      kept.push_back(result_.links[i]);
    }
    const auto suffices = [&](const HostCrossing& c) {
      return load[c.link] <= result_.links[c.link].rate.gbps();
    };
    for (HostWay& way : result_.ways) {
      std::erase_if(way.send, suffices);
      std::erase_if(way.receive, suffices);
    }
    for_each_crossing([&](HostCrossing& c) { c.link = numbers[c.link]; });
    if (kept.empty()) result_.ways.clear();
    result_.links = std::move(kept);
  }

  template <class Visit>
  void for_each_crossing(Visit visit) {
    for (HostWay& way : result_.ways) {
      std::ranges::for_each(way.send, visit);
      std::ranges::for_each(way.receive, visit);
    }
  }

  /// What a request, an answer or a write takes longer than beside the GPU; of host memory, than on
  /// the adapter's own socket.
  double one_way_ns() const {
    const bool sys = spec_.nic_affinity == NicAffinity::kSys;
    double ns = sys ? server_.socket_latency_ns : 0;
    if (!direct()) return ns;
    if (beyond_switches() || turned_back()) ns += server_.root_latency_ns;
    if (turned_back()) ns += server_.switch_latency_ns;
    if (spec_.nic_affinity == NicAffinity::kPxb) ns += server_.switch_latency_ns;
    if (spec_.nic_affinity == NicAffinity::kNode) ns += server_.bridge_latency_ns;
    return ns;
  }

  void add_latency() {
    result_.send_latency = nanoseconds(2 * one_way_ns());
    result_.receive_latency = nanoseconds(one_way_ns());
    if (!staged()) return;
    result_.copy_chunk = base::Bytes::from(server_.copy_chunk_kb * 1e3);
    result_.copy_rate = base::Rate::gigabits_per_second(slot_.packets_gbps(server_.uplink_lanes) /
                                                        write(server_.max_payload_b));
    result_.copy_latency = nanoseconds(server_.copy_latency_us * 1e3);
  }

  const HostSpec& spec_;
  const catalog::Host& server_;
  const catalog::Slot& slot_;
  bool rdma_;
  int adapters_;
  int switches_;
  double nic_gbps_;
  int peer_payload_ = 0;
  HostLinks result_;
};

}  // namespace

fabric::HostLinks host_links(const ClusterSpec& cluster, catalog::FabricKind kind,
                             const catalog::Adapter& adapter) {
  return HostBuilder(cluster, kind).build(base::Bytes::from(adapter.receive_buffer_kb * 1e3));
}

}  // namespace fabricast::scenario
