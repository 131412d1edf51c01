#pragma once
// Distinct integer types for things that are named by an index, so that a port cannot be passed
// where a rank is meant.

#include <compare>
#include <cstdint>
#include <functional>

namespace fabricast::base {

template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::uint32_t index) : index_(index) {}
  static constexpr Id none() { return Id(0xffffffffU); }

  constexpr std::uint32_t index() const { return index_; }
  constexpr bool valid() const { return index_ != 0xffffffffU; }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  std::uint32_t index_ = 0xffffffffU;
};

/// A GPU of the cluster, numbered node by node: rank = node * gpus_per_node + local index.
using Rank = Id<struct RankTag>;

}  // namespace fabricast::base

template <class Tag>
struct std::hash<fabricast::base::Id<Tag>> {
  std::size_t operator()(fabricast::base::Id<Tag> id) const noexcept { return id.index(); }
};
