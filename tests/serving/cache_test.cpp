#include "serving/cache.h"

#include <gtest/gtest.h>

namespace fabricast::serving {
namespace {

TEST(BlockCache, counts_whole_blocks) {
  const BlockCache cache(100, 16);
  EXPECT_EQ(cache.blocks_for(0), 0);
  EXPECT_EQ(cache.blocks_for(1), 1);
  EXPECT_EQ(cache.blocks_for(16), 1);
  EXPECT_EQ(cache.blocks_for(17), 2);
}

TEST(BlockCache, gives_no_more_than_it_has) {
  BlockCache cache(10, 16);
  EXPECT_TRUE(cache.take(7));
  EXPECT_FALSE(cache.take(4));
  EXPECT_TRUE(cache.take(3));
  EXPECT_EQ(cache.in_use(), 10);
  cache.give(5);
  EXPECT_EQ(cache.in_use(), 5);
}

TEST(BlockCache, keeps_what_nobody_uses_until_its_blocks_are_wanted) {
  BlockCache cache(10, 16);
  ASSERT_TRUE(cache.take(4));
  ASSERT_TRUE(cache.share({1, 64}));
  cache.leave(1);
  EXPECT_TRUE(cache.has(1));
  EXPECT_EQ(cache.in_use(), 0);
  ASSERT_TRUE(cache.take(6));
  EXPECT_TRUE(cache.has(1));
  ASSERT_TRUE(cache.take(1));
  EXPECT_FALSE(cache.has(1));
}

TEST(BlockCache, evicts_the_longest_unused_and_never_what_is_in_use) {
  BlockCache cache(9, 16);
  for (const std::uint64_t name : {1U, 2U, 3U}) {
    ASSERT_TRUE(cache.take(3));
    ASSERT_TRUE(cache.share({name, 48}));
  }
  cache.leave(2);
  cache.leave(1);
  cache.use(2);
  cache.leave(2);  // used after 1
  ASSERT_TRUE(cache.take(3));
  EXPECT_FALSE(cache.has(1));
  EXPECT_TRUE(cache.has(2));
  EXPECT_TRUE(cache.has(3));
  EXPECT_FALSE(cache.take(4));  // 3 is in use
}

TEST(BlockCache, shares_a_segment_once) {
  BlockCache cache(10, 16);
  ASSERT_TRUE(cache.take(6));
  EXPECT_TRUE(cache.share({7, 48}));
  EXPECT_FALSE(cache.share({7, 48}));
}

}  // namespace
}  // namespace fabricast::serving
