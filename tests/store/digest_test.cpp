#include "store/digest.h"

#include <gtest/gtest.h>

#include "store/program.h"

namespace fabricast::store {
namespace {

// `printf '' | xxhsum -H2` prints this: XXH3 of 128 bits of no bytes.
TEST(Digest, of_nothing_is_what_xxhsum_prints) {
  EXPECT_EQ(Digest().text(), "99aa06d3014798d86001c324468d497f");
}

TEST(Digest, keeps_the_borders_between_parts) {
  EXPECT_NE(Digest().add("ab").add("c").text(), Digest().add("a").add("bc").text());
  EXPECT_NE(Digest().add("").text(), Digest().text());
  EXPECT_EQ(Digest().add("ab").add("c").text(), Digest().add("ab").add("c").text());
}

// A SHA-1, which is what GNU ld makes by default.
TEST(Program, knows_the_build_id_that_the_linker_gave_it) {
  const std::string id = build_id();
  EXPECT_EQ(id.size(), 40U) << id;
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos) << id;
}

}  // namespace
}  // namespace fabricast::store
