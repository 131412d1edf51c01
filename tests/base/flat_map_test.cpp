#include "base/flat_map.h"

#include <unordered_map>

#include <gtest/gtest.h>

#include "base/random.h"

namespace fabricast::base {
namespace {

TEST(FlatMap, keeps_what_a_hash_map_keeps) {
  FlatMap<int> map;
  std::unordered_map<std::uint64_t, int> expected;
  RandomStream random(1, "flat map");
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t key = random.below(3000) << 16;
    const auto [entry, is_new] = expected.try_emplace(key, i);
    const auto [value, added] = map.try_emplace(key, i);
    EXPECT_EQ(added, is_new);
    EXPECT_EQ(*value, entry->second);
    *value = entry->second = 2 * i;
  }
  EXPECT_EQ(map.size(), expected.size());
}

}  // namespace
}  // namespace fabricast::base
