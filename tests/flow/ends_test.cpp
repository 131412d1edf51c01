// Which ends come next.

#include "flow/ends.h"

#include <vector>

#include <gtest/gtest.h>

namespace fabricast::flow {
namespace {

using Streams = std::vector<std::uint32_t>;

TEST(Ends, come_by_their_instants_and_those_of_one_by_their_numbers) {
  Ends ends;
  ends.set(5000, 20);
  ends.set(70, 10);
  ends.set(3, 20);
  ends.set(4, 10);
  EXPECT_EQ(ends.next(), 10);
  EXPECT_EQ(ends.take(), (Streams{4, 70}));
  EXPECT_EQ(ends.next(), 20);
  EXPECT_EQ(ends.take(), (Streams{3, 5000}));
  EXPECT_EQ(ends.next(), Ends::kNever);
}

TEST(Ends, move_and_go) {
  Ends ends;
  ends.set(1, 10);
  ends.set(2, 20);
  ends.set(1, 30);
  EXPECT_EQ(ends.next(), 20);
  ends.clear(2);
  ends.clear(100'000);  // of which nobody has heard
  EXPECT_EQ(ends.take(), Streams{1});
}

}  // namespace
}  // namespace fabricast::flow
