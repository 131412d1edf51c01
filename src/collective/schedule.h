#pragma once
// A collective as what each rank sends and waits for. A schedule is an iterator per rank and lane:
// steps are computed when asked for and never stored, so that a 100,000-rank all-reduce needs no
// memory. `choice.h` picks the algorithm as NCCL does and makes the schedule; `run.h` carries it
// over a network. All sizes are bytes per rank as nccl-tests counts them. Equations:
// docs/models/collectives.md.

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/units.h"
#include "network/network.h"

namespace fabricast::collective {

enum class Op {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kSendRecv,
  kBroadcast,
};
/// nccl-tests' names: "all_reduce", "all_gather", "reduce_scatter", "alltoall", "sendrecv",
/// "broadcast".
std::string_view name_of(Op op);

inline constexpr std::uint32_t kNobody = 0xffffffffU;
/// The peer of a part that the switches reduce on its way (SHARP): it comes back from oneself.
inline constexpr std::uint32_t kSwitches = 0xfffffffeU;

/// What goes between a position and a peer within one step.
struct Part {
  std::uint32_t peer = kNobody;  ///< position within the group; oneself: no link is used
  base::Bytes bytes;             ///< of data
  std::uint32_t stream = 0;      ///< keeps apart what lanes of one channel exchange with one peer
  /// Through an NVSwitch that sums what `senders` send and hands one sum on, or hands what comes in
  /// once to `receivers` (NVLS).
  std::uint16_t senders = 1;
  std::uint16_t receivers = 1;
};

/// A fused primitive as NCCL's kernels are made of (recvReduceCopySend): waits for every part of
/// `receive` and for a free slot on the way of every part of `send`, works, frees its slots, sends.
struct Step {
  std::vector<Part> receive;
  std::vector<Part> send;
  bool reduce = false;  ///< what arrives is added to the rank's own
  void clear() {
    receive.clear();
    send.clear();
    reduce = false;
  }
};

/// The algorithm of one group of ranks. Positions count within the group. A lane is one thread of
/// control of a position, and works on one channel.
class Schedule {
 public:
  virtual ~Schedule() = default;
  const std::vector<base::Rank>& group() const { return group_; }

  virtual std::uint32_t channels() const = 0;
  /// Lanes of every position. Those of a channel follow one another.
  virtual std::uint32_t lanes() const { return channels(); }
  std::uint32_t channel_of(std::uint32_t lane) const { return lane / (lanes() / channels()); }
  virtual std::uint64_t steps(std::uint32_t position, std::uint32_t lane) const = 0;
  /// Step `index` into `step`, which is empty. PRECONDITION: index < steps(position, lane).
  /// POSTCONDITION: no part is empty; the n-th part that p sends to q on a channel and stream is
  /// the n-th that q receives from p on them.
  virtual void step(std::uint32_t position, std::uint32_t lane, std::uint64_t index,
                    Step& step) const = 0;

  /// What a channel sends altogether, in bulks that go one after the other and each at one rate.
  virtual std::uint64_t bulks(std::uint32_t channel) const = 0;
  /// PRECONDITION: index < bulks(channel).
  virtual network::Bulk bulk(std::uint32_t channel, std::uint64_t index) const = 0;

  /// Ranks whose parts for `kSwitches` the network sums; every rank is in one group at most.
  virtual std::vector<std::vector<base::Rank>> reductions() const { return {}; }

 protected:
  explicit Schedule(std::vector<base::Rank> group) : group_(std::move(group)) {}
  std::vector<base::Rank> group_;
};

/// How a message is cut: a channel's share into loops, a loop into chunks, a chunk into slices that
/// follow one another, each in a slot of its own.
struct Cutting {
  std::uint32_t channels = 2;
  base::Bytes slice{512 << 10};  ///< of data
  std::uint32_t slices = 1;      ///< of a ring's chunk
  /// GPUs of a node, so that channels enter and leave nodes at different GPUs and thus use all
  /// their adapters, as NCCL's topology search arranges; 0: the order of the group is all there is.
  std::uint32_t gpus_per_node = 0;
};

/// Share of `size` that part `index` of `parts` gets: all parts together are exactly `size`, and no
/// two differ by more than a byte (the larger ones first).
constexpr base::Bytes share_of(base::Bytes size, std::uint64_t parts, std::uint64_t index) {
  const auto n = static_cast<std::int64_t>(parts);
  const auto i = static_cast<std::int64_t>(index);
  return base::Bytes(size.count() / n + (i < size.count() % n ? 1 : 0));
}
/// Chunk `index` when `size` is cut into chunks of `chunk` bytes; 0 past the end.
constexpr base::Bytes chunk_of(base::Bytes size, base::Bytes chunk, std::uint64_t index) {
  const auto left = size - chunk * static_cast<std::int64_t>(index);
  return left.count() <= 0 ? base::Bytes(0) : (left < chunk ? left : chunk);
}
constexpr std::uint64_t chunks_of(base::Bytes size, base::Bytes chunk) {
  return static_cast<std::uint64_t>((size.count() + chunk.count() - 1) / chunk.count());
}

/// A group as nodes of equally many ranks: position = node x local + index.
struct Layout {
  std::uint32_t nodes = 1;
  std::uint32_t local = 1;
};
/// Ranks that are no such runs are a node each: {ranks, 1}.
Layout layout_of(const std::vector<base::Rank>& group, std::uint32_t gpus_per_node);

// `size` as nccl-tests reports it: the buffer of one rank for all_reduce and broadcast; the
// gathered buffer (all ranks) for all_gather and reduce_scatter; the send buffer of one rank (all
// peers) for alltoall; the message for sendrecv (position i sends to i + 1 cyclically).
// PRECONDITION of all: the group has at least 2 ranks, size > 0.

/// all_reduce, all_gather, reduce_scatter, broadcast (from position 0).
std::unique_ptr<Schedule> ring(Op op, std::vector<base::Rank> group, base::Bytes size,
                               Cutting cutting);
/// all_reduce over a double binary tree of nodes and a chain in each. With `sharp` the switches
/// reduce between the nodes (NCCL's CollNetChain).
std::unique_ptr<Schedule> tree(std::vector<base::Rank> group, base::Bytes size, Cutting cutting,
                               bool sharp = false);
/// all_reduce, all_gather and reduce_scatter in one node by its NVSwitches; all_reduce of several
/// nodes over a double binary tree of nodes for every GPU (NVLSTree), or in the switches (NVLS with
/// SHARP). PRECONDITION: the group is nodes of at least 2 ranks.
std::unique_ptr<Schedule> nvls(Op op, std::vector<base::Rank> group, base::Bytes size,
                               Cutting cutting, bool sharp = false);
/// all_reduce by recursive halving and doubling (Thakur et al. 2005, section 4.4).
std::unique_ptr<Schedule> halving_doubling(std::vector<base::Rank> group, base::Bytes size,
                                           Cutting cutting);
/// all_reduce as reduce_scatter in every node, all_reduce over each rail, all_gather in every node.
/// PRECONDITION: the group is two or more nodes of two or more ranks.
std::unique_ptr<Schedule> hierarchical(std::vector<base::Rank> group, base::Bytes size,
                                       Cutting cutting);
/// all_reduce in which everybody reads every peer's buffer, whole or in two passes over parts.
std::unique_ptr<Schedule> direct_all_reduce(std::vector<base::Rank> group, base::Bytes size,
                                            bool two_shots);
std::unique_ptr<Schedule> pairwise_all_to_all(std::vector<base::Rank> group, base::Bytes size,
                                              Cutting cutting);
std::unique_ptr<Schedule> send_recv_ring(std::vector<base::Rank> group, base::Bytes size,
                                         Cutting cutting);
/// One pair: group[0] sends `size` to group[1].
std::unique_ptr<Schedule> send_recv_pair(std::vector<base::Rank> group, base::Bytes size,
                                         Cutting cutting);

/// Bus bandwidth over algorithm bandwidth, nccl-tests PERFORMANCE.md: 2(n-1)/n for all_reduce,
/// (n-1)/n for all_gather, reduce_scatter and alltoall, 1 for sendrecv and broadcast.
double busbw_factor(Op op, int ranks);

}  // namespace fabricast::collective
