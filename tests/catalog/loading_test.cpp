#include <algorithm>

#include "shipped.h"

namespace fabricast::catalog {
namespace {

using testing::contains;
using testing::Copy;
using testing::input_error_of;

TEST(Loading, refuses_a_value_without_source_and_names_file_line_and_key) {
  Copy copy;
  const int line =
      copy.replace("adapters.yaml", "power_w: { value: 22, kind: assumed, source: assumed-power }",
                   "power_w: { value: 22, kind: assumed }");
  const base::Error error = input_error_of([&] { Catalog::load(copy.directory()); });
  EXPECT_TRUE(error.where().file.ends_with("adapters.yaml"));
  EXPECT_EQ(error.where().line, line);
  EXPECT_EQ(error.where().key, "entries.connectx-6-vpi-200g.power_w");
  EXPECT_TRUE(contains(error, "without `source`")) << error.what();
}

TEST(Loading, an_entrys_own_source_stands_for_values_that_state_none) {
  for (const Entry& entry : testing::shipped().entries()) {
    if (entry.id != "h100-sxm-80gb" || entry.category != "gpus") continue;
    const auto value = std::ranges::find(entry.values, "bf16_tflops", &Value::key);
    ASSERT_NE(value, entry.values.end());
    EXPECT_EQ(value->kind, ValueKind::kDatasheet);
    EXPECT_EQ(value->source.find("NVIDIA H100"), 0U) << value->source;
  }
}

TEST(Loading, refuses_a_value_without_kind_at_its_own_line) {
  Copy copy;
  const int line =
      copy.replace("switches.yaml", "{ value: 40, kind: datasheet, source: quantum-hdr }",
                   "{ value: 40, source: quantum-hdr }");
  const base::Error error = input_error_of([&] { Catalog::load(copy.directory()); });
  EXPECT_EQ(error.where().line, line);
  EXPECT_EQ(error.where().key, "entries.qm8700.ports");
  EXPECT_TRUE(error.where().file.ends_with("switches.yaml"));
  EXPECT_TRUE(contains(error, "without `kind`")) << error.what();
}

TEST(Loading, refuses_a_plain_value_where_the_entry_has_no_kind_of_its_own) {
  Copy copy;
  copy.replace("switches.yaml", "{ value: 40, kind: datasheet, source: quantum-hdr }", "40");
  const base::Error error = input_error_of([&] { Catalog::load(copy.directory()); });
  EXPECT_EQ(error.where().key, "entries.qm8700.ports");
}

TEST(Loading, refuses_an_unknown_kind_with_the_near_miss) {
  Copy copy;
  copy.replace("adapters.yaml", "kind: datasheet", "kind: datashet");
  const base::Error error = input_error_of([&] { Catalog::load(copy.directory()); });
  EXPECT_TRUE(contains(error, "did you mean `datasheet`")) << error.what();
}

TEST(Loading, refuses_a_source_that_is_neither_a_key_nor_a_citation) {
  Copy copy;
  copy.replace("adapters.yaml", "source: nvidia-cx6 }", "source: nvidia-cx-6 }");
  const base::Error error = input_error_of([&] { Catalog::load(copy.directory()); });
  EXPECT_TRUE(contains(error, "did you mean `nvidia-cx6`")) << error.what();
}

TEST(Loading, refuses_an_unknown_key_with_the_near_miss) {
  Copy copy;
  copy.replace("cables.yaml", "    max_m:",
               "    max_metres: { value: 1, kind: assumed, source: layer }\n    max_m:");
  const base::Error error = input_error_of([&] { Catalog::load(copy.directory()); });
  EXPECT_EQ(error.where().key, "entries.ib-dac-100g.max_metres");
}

TEST(Loading, refuses_a_duplicate_id) {
  Copy copy;
  copy.replace("gpus.yaml", "\n  h20:\n", "\n  a10:\n");
  const base::Error error = input_error_of([&] { Catalog::load(copy.directory()); });
  EXPECT_TRUE(contains(error, "a10")) << error.what();
}

TEST(Loading, refuses_one_id_in_two_kinds_of_device) {
  Copy copy;
  copy.replace("adapters.yaml", "\n  intel-e810-100g:\n", "\n  sn2700:\n");
  const base::Error error = input_error_of([&] { Catalog::load(copy.directory()); });
  EXPECT_TRUE(contains(error, "sn2700")) << error.what();
}

TEST(Loading, refuses_a_value_out_of_range) {
  Copy copy;
  copy.replace("gpus.yaml", "sustained_share: { value: 0.707,", "sustained_share: { value: 70.7,");
  const base::Error error = input_error_of([&] { Catalog::load(copy.directory()); });
  EXPECT_EQ(error.where().key, "entries.h100-sxm-80gb.sustained_share.value");
}

TEST(Loading, refuses_a_price_band_in_the_wrong_order) {
  Copy copy;
  copy.replace("prices.yaml", "low: 35000", "low: 60000");
  const base::Error error = input_error_of([&] { Catalog::load(copy.directory()); });
  EXPECT_EQ(error.where().key, "entries.qm9700");
}

TEST(Loading, refuses_a_fabric_that_lacks_an_applicable_parameter) {
  Copy copy;
  copy.replace("fabrics.yaml",
               "      decrease_interval_us: { value: 4, kind: published, source: mlxconfig }\n",
               "");
  const base::Error error = input_error_of([&] { Catalog::load(copy.directory()); });
  EXPECT_EQ(error.where().key, "entries.roce-v2.dcqcn.decrease_interval_us");
}

TEST(Loading, refuses_a_fabric_parameter_of_another_kind_of_fabric) {
  Copy copy;
  copy.replace(
      "fabrics.yaml", "    credits:\n",
      "    ecn:\n      kmin_kb: { value: 1, kind: assumed, source: assumed }\n    credits:\n");
  const base::Error error = input_error_of([&] { Catalog::load(copy.directory()); });
  EXPECT_EQ(error.where().key, "entries.infiniband.ecn");
}

TEST(Loading, refuses_a_fabric_that_extends_what_does_not_exist) {
  Copy copy;
  copy.replace("fabrics.yaml", "extends: roce-v2-untuned", "extends: roce-v2-untned");
  const base::Error error = input_error_of([&] { Catalog::load(copy.directory()); });
  EXPECT_TRUE(contains(error, "did you mean `roce-v2-untuned`")) << error.what();
}

TEST(Loading, refuses_a_fabric_whose_switch_speaks_another_link_layer) {
  Copy copy;
  copy.replace("fabrics.yaml", "switch: { value: qm9700", "switch: { value: sn5600");
  const base::Error error = input_error_of([&] { Catalog::load(copy.directory()); });
  EXPECT_EQ(error.where().key, "entries.infiniband");
}

TEST(Loading, a_profile_follows_its_switch_when_the_switch_changes) {
  Copy copy;
  copy.replace("switches.yaml", "latency_ns: { value: 150, kind: published",
               "latency_ns: { value: 175, kind: published");
  const Catalog catalog = Catalog::load(copy.directory());
  EXPECT_DOUBLE_EQ(parameter(catalog.fabric("infiniband"), "switching.latency_ns"), 175);
}

TEST(Loading, the_digest_changes_with_a_value_and_not_with_a_citation) {
  Copy copy;
  copy.replace("gpus.yaml", "NVIDIA, 2022", "NVIDIA, March 2022");
  EXPECT_EQ(Catalog::load(copy.directory()).digest(), testing::shipped().digest());
  copy.replace("gpus.yaml", "bf16_tflops: 989.4", "bf16_tflops: 989.5");
  EXPECT_NE(Catalog::load(copy.directory()).digest(), testing::shipped().digest());
}

TEST(Loading, a_missing_directory_is_an_input_error_that_names_the_file) {
  const base::Error error = input_error_of([&] { Catalog::load("/nonexistent/catalogue"); });
  EXPECT_TRUE(contains(error, "gpus.yaml")) << error.what();
}

TEST(Loading, refuses_a_file_without_entries) {
  Copy copy;
  std::ofstream(copy.directory() + "/gpus.yaml") << "sources: {}\nentries: {}\n";
  const base::Error error = input_error_of([&] { Catalog::load(copy.directory()); });
  EXPECT_EQ(error.where().key, "entries");
  EXPECT_TRUE(contains(error, "found an empty mapping; allowed at least one entry"))
      << error.what();
}

TEST(Loading, the_environment_chooses_the_catalogue_and_a_wrong_choice_is_named) {
  Copy copy;
  ASSERT_EQ(setenv("FABRICAST_CATALOG", copy.directory().c_str(), 1), 0);
  EXPECT_EQ(Catalog::default_directory(), copy.directory());
  ASSERT_EQ(setenv("FABRICAST_CATALOG", "/nonexistent", 1), 0);
  const base::Error absent = input_error_of([] { Catalog::default_directory(); });
  EXPECT_EQ(absent.where().key, "FABRICAST_CATALOG");
  EXPECT_TRUE(contains(absent, "found `/nonexistent`, no directory; allowed a directory laid out"))
      << absent.what();
  std::filesystem::remove(copy.directory() + "/gpus.yaml");
  ASSERT_EQ(setenv("FABRICAST_CATALOG", copy.directory().c_str(), 1), 0);
  const base::Error incomplete = input_error_of([] { Catalog::default_directory(); });
  EXPECT_TRUE(contains(incomplete, "a directory without gpus.yaml")) << incomplete.what();
  unsetenv("FABRICAST_CATALOG");
}

}  // namespace
}  // namespace fabricast::catalog
