#include "packet/tcp_scoreboard.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "base/random.h"

namespace fabricast::packet {
namespace {

TEST(SackScoreboard, TakesASegmentForLostWhenThreeLaterOnesHaveArrived) {
  SackScoreboard board;
  board.initialise(128);
  board.sack(1);
  board.sack(2);
  EXPECT_EQ(board.lost_below(), 0U);
  EXPECT_EQ(board.pipe(10), 8U) << "0 and 3..9";
  board.sack(3);
  EXPECT_EQ(board.lost_below(), 1U);
  EXPECT_EQ(board.next_hole(board.lost_below()), 0U);
  EXPECT_EQ(board.pipe(10), 6U) << "4..9";
  board.resent(0);
  EXPECT_EQ(board.pipe(10), 7U);
}

TEST(SackScoreboard, SendsHolesAgainFromTheLowestUp) {
  SackScoreboard board;
  board.initialise(256);
  for (const std::uint32_t s : {1U, 3U, 100U, 101U, 102U}) board.sack(s);
  EXPECT_EQ(board.next_hole(board.lost_below()), 0U);
  board.resent(0);
  EXPECT_EQ(board.next_hole(board.lost_below()), 2U);
  board.resent(2);
  EXPECT_EQ(board.next_hole(board.lost_below()), 4U);
  EXPECT_EQ(board.advance(4), 2U) << "1 and 3 were known";
  EXPECT_EQ(board.next_hole(board.lost_below()), 4U);
}

TEST(SackScoreboard, TakesEverythingMissingForLostAfterATimeout) {
  SackScoreboard board;
  board.initialise(64);
  board.sack(2);
  board.lose_all(6);
  EXPECT_EQ(board.pipe(6), 0U);
  std::vector<std::uint32_t> again;
  for (std::uint32_t s = board.next_hole(6); s < 6; s = board.next_hole(6)) {
    again.push_back(s);
    board.resent(s);
  }
  EXPECT_EQ(again, (std::vector<std::uint32_t>{0, 1, 3, 4, 5}));
  EXPECT_EQ(board.pipe(6), 5U);
}

/// RFC 6675, sections 1.1 and 4, word for word.
struct Definition {
  std::uint32_t unacked = 0;
  std::uint32_t high_rxt = 0;  ///< one past it
  std::uint32_t all_lost = 0;
  std::set<std::uint32_t> sacked;

  bool is_lost(std::uint32_t s) const {
    return s < all_lost || std::distance(sacked.upper_bound(s), sacked.end()) >= 3;
  }
  std::uint32_t pipe(std::uint32_t next) const {
    std::uint32_t pipe = 0;
    for (std::uint32_t s = unacked; s < next; ++s) {
      if (sacked.contains(s)) continue;
      if (!is_lost(s)) ++pipe;
      if (s < high_rxt) ++pipe;
    }
    return pipe;
  }
};

TEST(SackScoreboard, CountsThePipeAsTheDefinitionDoes) {
  base::RandomStream random(7, "scoreboard");
  SackScoreboard board;
  board.initialise(200);
  Definition rfc;
  std::uint32_t next = 0;
  for (int i = 0; i < 20'000; ++i) {
    next = std::max(next, rfc.unacked + static_cast<std::uint32_t>(random.below(190)));
    const std::uint64_t what = random.below(100);
    if (what < 70 && next > rfc.unacked + 1) {
      const auto s =
          rfc.unacked + 1 + static_cast<std::uint32_t>(random.below(next - rfc.unacked - 1));
      board.sack(s);
      rfc.sacked.insert(s);
    } else if (what < 85) {
      const std::uint32_t hole = board.next_hole(board.lost_below());
      if (hole < board.lost_below()) {
        EXPECT_FALSE(rfc.sacked.contains(hole));
        EXPECT_TRUE(rfc.is_lost(hole));
        board.resent(hole);
        rfc.high_rxt = hole + 1;
      }
    } else if (what < 99) {  // the oldest hole is filled
      if (next == rfc.unacked) continue;
      ++rfc.unacked;
      while (rfc.sacked.erase(rfc.unacked) > 0) ++rfc.unacked;
      rfc.sacked.erase(rfc.sacked.begin(), rfc.sacked.lower_bound(rfc.unacked));
      rfc.high_rxt = std::max(rfc.high_rxt, rfc.unacked);
      rfc.all_lost = std::max(rfc.all_lost, rfc.unacked);
      board.advance(rfc.unacked);
    } else {
      board.lose_all(next);
      rfc.all_lost = next;
      rfc.high_rxt = rfc.unacked;
    }
    ASSERT_EQ(board.pipe(next), rfc.pipe(next)) << "step " << i;
  }
}

}  // namespace
}  // namespace fabricast::packet
