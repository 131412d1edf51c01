#include "collective/schedule.h"

namespace fabricast::collective {

std::string_view name_of(Op op) {
  switch (op) {
    case Op::kAllReduce:
      return "all_reduce";
    case Op::kAllGather:
      return "all_gather";
    case Op::kReduceScatter:
      return "reduce_scatter";
    case Op::kAllToAll:
      return "alltoall";
    case Op::kSendRecv:
      return "sendrecv";
    case Op::kBroadcast:
      break;
  }
  return "broadcast";
}

double busbw_factor(Op op, int ranks) {
  const double n = ranks;
  switch (op) {
    case Op::kAllReduce:
      return 2 * (n - 1) / n;
    case Op::kAllGather:
    case Op::kReduceScatter:
    case Op::kAllToAll:
      return (n - 1) / n;
    case Op::kSendRecv:
    case Op::kBroadcast:
      break;
  }
  return 1;
}

Layout layout_of(const std::vector<base::Rank>& group, std::uint32_t gpus_per_node) {
  const auto ranks = static_cast<std::uint32_t>(group.size());
  if (gpus_per_node == 0) return {ranks, 1};
  const auto node = [&](std::size_t i) { return group[i].index() / gpus_per_node; };
  std::uint32_t local = 1;
  while (local < ranks && node(local) == node(0)) ++local;
  if (ranks % local != 0) return {ranks, 1};
  for (std::uint32_t i = 0; i < ranks; ++i) {
    const std::uint32_t first = i - i % local;
    if (node(i) != node(first)) return {ranks, 1};
    if (i == first && i > 0 && node(i) == node(i - 1)) return {ranks, 1};
  }
  return {ranks / local, local};
}

}  // namespace fabricast::collective
