#include "shipped.h"

namespace fabricast::catalog {
namespace {

using testing::contains;
using testing::input_error_of;
using testing::shipped;

TEST(Lookup, accepts_an_unambiguous_prefix) {
  EXPECT_EQ(shipped().gpu("h100-sxm").id, "h100-sxm-80gb");
  EXPECT_EQ(shipped().gpu("a100-sxm").id, "a100-sxm-80gb");
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

std::string spelt(const std::string& category, const std::string& id, const std::string& key) {
  static const Catalog catalog = testing::shipped().spelt_out();
  for (const Entry& entry : catalog.entries()) {
    if (entry.category != category || entry.id != id) continue;
    for (const Value& value : entry.values) {
      if (value.key == key) return value.text;
    }
  }
  return "absent";
}

TEST(SpeltOut, values_have_their_units) {
  EXPECT_EQ(spelt("gpus", "h100-sxm-80gb", "memory_gb"), "80 GB");
  EXPECT_EQ(spelt("gpus", "a10", "pcie_gb_per_s"), "32 GB/s");
  EXPECT_EQ(spelt("models", "mixtral-8x7b", "published_parameters_b"), "46.7 billion");
  EXPECT_EQ(spelt("models", "mixtral-8x7b", "layers"), "32");
  EXPECT_EQ(spelt("fabrics", "roce-v2", "ecn.kmin_kb"), "800 kB");
}

TEST(SpeltOut, a_price_has_its_currency_and_a_ratio_none) {
  EXPECT_EQ(spelt("prices", "a10", "likely"), "3500 USD");
  EXPECT_EQ(spelt("prices", "pue", "currency"), "-");
  EXPECT_EQ(spelt("prices", "pue", "likely").find("XXX"), std::string::npos);
}

TEST(SpeltOut, a_zero_that_is_no_amount_is_told_in_words) {
  EXPECT_EQ(spelt("fabrics", "roce-v2", "transport.window_kb"), "0 (unlimited)");
  EXPECT_EQ(spelt("fabrics", "roce-v2", "pfc.headroom_kb"), "0 (computed)");
  EXPECT_EQ(spelt("gpus", "a10", "fp8_tflops"), "0 (no such units)");
}

}  // namespace
}  // namespace fabricast::catalog
