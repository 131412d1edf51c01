#include "shipped.h"

namespace fabricast::catalog {
namespace {

using testing::contains;
using testing::input_error_of;
using testing::shipped;

TEST(Lookup, accepts_an_unambiguous_prefix) {
  EXPECT_EQ(shipped().gpu("h100-sxm").id, "h100-sxm-80gb");
  EXPECT_EQ(shipped().gpu("a100").id, "a100-sxm-80gb");
  EXPECT_EQ(shipped().model("qwen2").id, "qwen2-72b");
}

TEST(Lookup, an_exact_id_wins_over_longer_ids_that_begin_with_it) {
  EXPECT_EQ(shipped().gpu("a10").id, "a10");
  EXPECT_EQ(shipped().gpu("h20").id, "h20");
  EXPECT_EQ(shipped().fabric("roce-v2").id, "roce-v2");
  EXPECT_EQ(shipped().fabric("tcp").id, "tcp");
}

TEST(Lookup, refuses_an_ambiguous_prefix_and_lists_what_it_fits) {
  const base::Error error =
      input_error_of([] { shipped().model("llama2", {"s.yaml", 7, 10, "workload.model"}); });
  EXPECT_TRUE(contains(error, "s.yaml:7:10: workload.model")) << error.what();
  EXPECT_TRUE(contains(error, "llama2-13b")) << error.what();
  EXPECT_FALSE(contains(error, "llama3-8b")) << error.what();
}

TEST(Lookup, suggests_the_near_miss) {
  const base::Error error = input_error_of([] { shipped().fabric("roec-v2"); });
  EXPECT_TRUE(contains(error, "did you mean `roce-v2`?")) << error.what();
}

TEST(Lookup, lists_what_is_allowed_when_nothing_is_near) {
  const base::Error error = input_error_of([] { shipped().gpu("abacus"); });
  EXPECT_TRUE(contains(error, "h100-sxm-80gb")) << error.what();
  EXPECT_FALSE(contains(error, "did you mean")) << error.what();
}

TEST(Lookup, refuses_the_empty_text) {
  const base::Error error = input_error_of([] { shipped().gpu(""); });
  EXPECT_TRUE(contains(error, "unknown GPU")) << error.what();
}

}  // namespace
}  // namespace fabricast::catalog
