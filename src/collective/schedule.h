#pragma once
// A collective as what each rank sends and waits for. A schedule is an iterator per rank and
// channel: steps are computed when asked for and never stored, so that a 100,000-rank all-reduce
// needs no memory. All sizes are bytes per rank as nccl-tests counts them.

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
};
/// nccl-tests' names: "all_reduce", "all_gather", "reduce_scatter", "alltoall", "sendrecv".
std::string_view name_of(Op op);

inline constexpr std::uint32_t kNobody = 0xffffffffU;

/// One step of one rank on one channel: send, then wait for the receive, then maybe reduce. `to`
/// and `from` are positions within the group; `kNobody` (and 0 bytes) when the step has no such
/// half. What position p sends to q in its step i, q receives in its own step i: both ends skip a
/// half of 0 bytes.
struct Step {
  std::uint32_t to = kNobody;
  std::uint32_t from = kNobody;
  base::Bytes send;
  base::Bytes receive;
  bool reduce = false;
};

/// The algorithm of one group of ranks. Positions count within the group.
class Schedule {
 public:
  virtual ~Schedule() = default;
  /// Steps that every position makes on a channel.
  virtual std::uint64_t steps(std::uint32_t channel) const = 0;
  /// Step `index` of `position` on `channel`. PRECONDITION: index < steps(channel).
  virtual Step step(std::uint32_t position, std::uint32_t channel, std::uint64_t index) const = 0;
  virtual std::uint32_t channels() const = 0;
  /// What a channel sends altogether, in parts that go one after the other and each at one rate.
  virtual std::uint64_t bulks(std::uint32_t channel) const = 0;
  /// PRECONDITION: index < bulks(channel).
  virtual network::Bulk bulk(std::uint32_t channel, std::uint64_t index) const = 0;
  const std::vector<base::Rank>& group() const { return group_; }

 protected:
  explicit Schedule(std::vector<base::Rank> group) : group_(std::move(group)) {}
  std::vector<base::Rank> group_;
};

/// How a message is cut: NCCL's channels and chunks. The default chunk is one slot of the Simple
/// protocol: NCCL_BUFFSIZE (4 MiB) over NCCL_STEPS (8).
struct Cutting {
  std::uint32_t channels = 2;
  base::Bytes chunk{512 << 10};
  /// GPUs of a node, so that the channels of a ring enter and leave each node at different GPUs
  /// and thus use all its adapters, as NCCL's topology search arranges; 0: every channel runs the
  /// ring in the order of the group.
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

/// `size` as nccl-tests reports it: the buffer of one rank for all_reduce; the gathered buffer (all
/// ranks) for all_gather and reduce_scatter; the send buffer of one rank (all peers) for alltoall;
/// the message for sendrecv (position i sends to position i+1 cyclically).
/// PRECONDITION: group has at least 2 ranks, size > 0.
std::unique_ptr<Schedule> ring(Op op, std::vector<base::Rank> group, base::Bytes size,
                               Cutting cutting);
std::unique_ptr<Schedule> pairwise_all_to_all(std::vector<base::Rank> group, base::Bytes size,
                                              Cutting cutting);
std::unique_ptr<Schedule> send_recv_ring(std::vector<base::Rank> group, base::Bytes size,
                                         Cutting cutting);
/// One pair: group[0] sends `size` to group[1].
std::unique_ptr<Schedule> send_recv_pair(std::vector<base::Rank> group, base::Bytes size,
                                         Cutting cutting);

/// Bus bandwidth over algorithm bandwidth, nccl-tests PERFORMANCE.md: 2(n-1)/n for all_reduce,
/// (n-1)/n for all_gather, reduce_scatter and alltoall, 1 for sendrecv.
double busbw_factor(Op op, int ranks);

}  // namespace fabricast::collective
