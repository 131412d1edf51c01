#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/table.h"
#include "report/report.h"

namespace fabricast::report {
namespace {

const catalog::Catalog& shipped() {
  static const auto catalog = catalog::Catalog::load(FABRICAST_SOURCE_DIR "/catalog");
  return catalog;
}

int widest_line(const std::string& text) {
  int widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    widest = std::max(widest, base::display_width(line));
  }
  return widest;
}

std::string message_of(const CatalogQuery& query) {
  try {
    catalog_table(shipped(), query);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::ErrorKind::kInput);
    return error.what();
  }
  return {};
}

TEST(CatalogTable, fits_80_cells_for_every_entry) {
  EXPECT_LE(widest_line(catalog_table(shipped(), {})), 80);
  for (const catalog::Entry& entry : shipped().entries()) {
    EXPECT_LE(widest_line(catalog_table(shipped(), {entry.category, entry.id})), 80) << entry.id;
    EXPECT_LE(widest_line(catalog_table(shipped(), {entry.category, ""})), 80) << entry.category;
  }
}

TEST(CatalogTable, shows_kind_and_source_of_every_value_of_one_entry) {
  const std::string text = catalog_table(shipped(), {"gpus", "h100-sxm"});
  for (const catalog::Entry& entry : shipped().entries()) {
    if (entry.category != "gpus" || entry.id != "h100-sxm-80gb") continue;
    for (const catalog::Value& value : entry.values) {
      EXPECT_NE(text.find(value.key), std::string::npos) << value.key;
      EXPECT_NE(text.find(std::string(name_of(value.kind)) + " ["), std::string::npos);
      EXPECT_NE(text.find(value.source.substr(0, 10)), std::string::npos) << value.source;
    }
  }
}

TEST(CatalogTable, shows_what_a_fabric_leaves_unstated_with_the_value_that_holds) {
  const std::string text = catalog_table(shipped().spelt_out(), {"fabrics", "infiniband"});
  const std::size_t heading = text.find("Not stated: the default holds");
  ASSERT_NE(heading, std::string::npos);
  EXPECT_NE(text.find("congestion.control               none", heading), std::string::npos) << text;
  EXPECT_EQ(text.find("credits.vl_buffer_kb", heading), std::string::npos) << "it is stated";
  EXPECT_EQ(text.find("pfc.watchdog", heading), std::string::npos) << "InfiniBand has none";
  EXPECT_EQ(catalog_table(shipped(), {"gpus", "h100-sxm"}).find("Not stated"), std::string::npos);
}

TEST(CatalogTable, suggests_the_kind_that_was_meant) {
  const std::string message = message_of({"gpu", ""});
  EXPECT_NE(message.find("did you mean `gpus`"), std::string::npos) << message;
}

TEST(CatalogTable, lists_the_candidates_of_an_ambiguous_beginning) {
  const std::string message = message_of({"models", "llama2"});
  EXPECT_NE(message.find("ambiguous"), std::string::npos) << message;
  EXPECT_NE(message.find("llama2-70b"), std::string::npos) << message;
}

TEST(CatalogJson, carries_kind_and_source_with_every_value) {
  const auto json = nlohmann::json::parse(catalog_json(shipped(), {}));
  ASSERT_EQ(json["entries"].size(), shipped().entries().size());
  for (const auto& entry : json["entries"]) {
    for (const auto& value : entry["values"]) {
      EXPECT_FALSE(value["kind"].get<std::string>().empty());
      EXPECT_FALSE(value["source"].get<std::string>().empty()) << entry["id"] << value["key"];
    }
  }
}

}  // namespace
}  // namespace fabricast::report
