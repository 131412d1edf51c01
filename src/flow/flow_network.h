#pragma once
// Bytes in motion when there are too many packets. A message drains over the path of each of its
// queue pairs at the rate that max-min sharing gives it (sharing.h) and arrives a latency later;
// latency, start-up and losses to congestion are what the packet level showed of this fabric
// (behaviour.h). Events are starts and ends of messages; a change works out the rates of those
// alone that it can reach. Equations and limits: docs/models/flow.md.

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/flat_map.h"
#include "base/large_pages.h"
#include "catalog/fabric_profile.h"
#include "engine/event_queue.h"
#include "flow/behaviour.h"
#include "flow/ends.h"
#include "flow/paths.h"
#include "flow/sharing.h"
#include "network/network.h"
#include "network/node_links.h"
#include "network/outstanding.h"

namespace fabricast::flow {

/// A cable that is slower for a while, or down. Routes avoid one that is down after the profile's
/// `paths.failover`; until then what would cross it waits.
struct LinkFault {
  fabric::PortId port;  ///< either end
  base::Time at;
  base::Time duration;    ///< 0: for good
  double rate_share = 0;  ///< of its rate; 0: down
  bool settled =
      false;  ///< there and known before the start; `at` and `duration` count for nothing
};

/// Makes flow networks of one fabric and profile. `load` is what others take of every port, on
/// average.
network::Factory factory(std::shared_ptr<const fabric::Fabric> fabric,
                         const catalog::FabricProfile& profile, network::NodeLinkSpec node_links,
                         std::shared_ptr<const Behaviour> behaviour,
                         const std::vector<LinkFault>& faults = {}, double load = 0);

class FlowNetwork final : public network::Network {
 public:
  FlowNetwork(std::shared_ptr<const fabric::Fabric> fabric, const catalog::FabricProfile& profile,
              network::NodeLinkSpec node_links, std::shared_ptr<const Behaviour> behaviour,
              std::uint64_t seed, std::vector<LinkFault> faults = {}, double load = 0);

  base::Time now() const override { return events_.now(); }
  void send(base::Rank src, base::Rank dst, base::Bytes size, const network::SendOptions& options,
            network::Callback on_complete) override;
  bool carries_bulk() const override { return true; }
  void carry(const network::Bulk& bulk, network::Callback on_complete) override;
  void at(base::Time at, network::Callback callback) override;
  void run() override;
  void stop() override { stopped_ = true; }
  network::Counters counters() const override;

  const Sharing& sharing() const { return sharing_; }

 private:
  enum EventKind : std::uint8_t {
    kStart,
    kBegun,
    kDrained,
    kNodePort,
    kDelivered,
    kTimer,
    kFault,
    kReroute
  };
  enum FaultStage : std::uint32_t { kBegins, kEnds };
  static constexpr std::uint32_t kNone = 0xffffffffU;

  /// What one queue pair carries of a message.
  struct Transfer {
    std::int64_t bytes = 0;
    base::Time ramp;  ///< that it waits at the head of its stream
    std::uint32_t stream = 0;
    std::uint32_t message = 0;
    network::Completion completion = network::Completion::kDelivered;
    std::uint32_t next = kNone;  ///< of its stream
  };
  /// A queue pair, or a socket.
  struct Stream {
    std::uint64_t hash = 0;
    bool bulk = false;  ///< of many connections: it keeps its path, and has no adapter of its own
    std::uint32_t source = 0;  ///< endpoint
    std::uint32_t destination = 0;
    std::uint32_t flow = 0;  ///< of `sharing_`
    std::uint32_t source_core = 0;
    std::uint32_t destination_core = 0;
    const PathBehaviour* path = nullptr;
    std::uint32_t first = kNone;  ///< of the transfers that have started: the one that drains
    std::uint32_t last = kNone;
    double left = 0;  ///< bytes of the first at `since`
    double rate = 0;  ///< bytes per second since then
    base::Time since;
    std::int64_t posted = 0;  ///< bytes so far
  };
  /// What is still to come when a bulk has drained: the last chunk from hand to hand. Where chunks
  /// follow each other that fast that this is what holds them, it has been paid with every one.
  struct BulkEnd {
    double tail_s = 0;
    double fill_s = 0;  ///< of a pipeline, whatever the rate
    double cap = kNoCap;
    double bytes = 0;
    base::Time begun;

    double late(base::Time now) const;
  };
  /// One chunk over one edge that nobody else uses, seconds.
  struct ChunkTime {
    double wire = 0;
    double besides = 0;
  };
  struct Adapter {
    base::Time next_message;
    int busy = 0;  ///< streams with something to send
    // The message that began last, and how many there were before it.
    std::uint32_t message = kNone;
    base::Time message_at;
    int busy_before = 0;
    std::uint32_t streams = 0;
  };

  std::uint32_t connection(base::Rank src, base::Rank dst, const network::SendOptions& options);
  void open_stream(std::uint32_t source, std::uint32_t destination, std::uint64_t hash);
  Stream stream_between(std::uint32_t source, std::uint32_t destination, std::uint64_t hash);
  std::uint32_t flow_over(const Stream& stream, int& links);
  int cross(const Stream& stream, double share, std::vector<Crossing>& crossings);
  double alone(std::span<const Crossing> crossings) const;
  ChunkTime cross_edge(const network::Bulk::Edge& edge, const network::Bulk& bulk, double share,
                       std::vector<Crossing>& crossings);
  ChunkTime cross_node(const network::Bulk::Edge& edge, double chunk, double share,
                       std::vector<Crossing>& crossings);
  double weight_of(std::uint32_t source) const;
  void add_hosts(const Stream& stream, double share, std::vector<Crossing>& crossings) const;
  void add_acknowledgements(const Stream& stream, double share, std::vector<Crossing>& crossings);
  void build_hosts();
  base::Time start_of_message(std::uint32_t endpoint, base::Bytes size);
  void post(std::uint32_t stream, std::int64_t bytes, std::uint32_t message,
            network::Completion completion, base::Time start);
  void on_start(std::uint32_t transfer);
  base::Time turn_of(Adapter& adapter, std::uint32_t message) const;
  void begin(std::uint32_t stream);
  void drain(std::uint32_t stream);
  void on_drained(std::uint32_t stream);
  void deliver(const Transfer& transfer, const Stream& stream);
  void schedule_end(std::uint32_t stream);
  void share();
  void on_fault(std::uint32_t fault, std::uint32_t stage);
  void apply_rate(fabric::PortId port);
  void reroute();
  void play(const engine::Event& event);

  std::shared_ptr<const fabric::Fabric> fabric_;
  catalog::FabricProfile profile_;
  base::Time packet_time_;  ///< of a full packet on an adapter's port
  std::shared_ptr<const Behaviour> behaviour_;
  std::uint64_t seed_;
  double goodput_;
  Sharing sharing_;
  Paths paths_;
  engine::EventQueue events_;
  Ends ends_;  ///< of transfers; at their instant they come as `kDrained` would among events
  std::uint64_t drained_ = 0;  ///< transfers
  network::Outstanding outstanding_;
  network::NodeLinks node_links_;
  network::NodeLinkSpec inside_;
  std::vector<std::uint32_t> gpu_links_;  ///< out and in of every GPU, for what comes in bulk
  std::vector<base::FlatMap<std::uint32_t>> connections_;  ///< by source: their first streams
  std::vector<std::uint32_t> turns_;  ///< of connections, by their first stream
  std::vector<Stream, base::LargePages<Stream>> streams_;
  std::vector<std::uint32_t> stream_of_;  ///< by flow of `sharing_`
  std::vector<Crossing> crossings_;       ///< of the stream that is being opened
  base::Slab<Transfer> transfers_;
  PathBehaviour no_path_;  ///< of what comes in bulk: it has paid its latencies on the way
  std::unordered_map<std::uint32_t, BulkEnd> bulks_;  ///< by stream
  std::vector<Adapter> adapters_;
  std::vector<std::uint32_t> cores_;       ///< links of `sharing_`
  std::vector<std::uint32_t> host_links_;  ///< the same, node by node
  std::vector<LinkFault> faults_;
  std::vector<std::uint8_t> fault_active_;
  double cpu_busy_s_ = 0;
  bool stopped_ = false;
};

}  // namespace fabricast::flow
