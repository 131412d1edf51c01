#include <gtest/gtest.h>

#include "report/row.h"
#include "report/runs.h"
#include "report/sweep.h"

namespace fabricast::report {
namespace {

base::yaml::Node value(const std::string& text) {
  return base::yaml::parse(text, "test.yaml");
}

Row failed(std::int64_t number, const std::string& model, const std::string& error) {
  Row row;
  row.number = number;
  row.labels = {{"workload.model", value(model)}};
  row.error = error;
  return row;
}

// RFC 4180, sections 2.5 to 2.7.
TEST(RowsCsv, quotes_commas_quotes_and_line_breaks) {
  const std::string csv = rows_csv({failed(1, "'a,b'", "say \"no\"\nor")}, "point");
  EXPECT_EQ(csv,
            "point,workload.model,currency,choice,house,evidence,error\n"
            "1,\"a,b\",,,,,\"say \"\"no\"\"\nor\"\n");
}

TEST(RowsCsv, has_a_column_for_every_key_that_some_row_has) {
  Row other = failed(2, "x", "e");
  other.labels.front().first = "seed";
  EXPECT_TRUE(rows_csv({failed(1, "m", "e"), other}, "point")
                  .starts_with("point,workload.model,seed,currency,"));
}

TEST(SweepJson, writes_numbers_and_booleans_as_such_unless_they_were_quoted) {
  Row row = failed(1, "m", "e");
  row.labels = {{"a", value("100e6")}, {"b", value("'8'")}, {"c", value("[true, x, ~, {k: 010}]")}};
  EXPECT_NE(sweep_json("grid.yaml", {row})
                .find("\"a\": 100000000.0,\n        \"b\": \"8\",\n        \"c\": [\n          "
                      "true,\n          \"x\",\n          null,\n          {\n            \"k\": "
                      "\"010\"\n"),
            std::string::npos)
      << sweep_json("grid.yaml", {row});
}

TEST(SweepTable, calls_a_key_by_its_end_where_no_other_ends_like_that) {
  Row row = failed(1, "m", "e");
  row.labels = {{"cluster.gpus", value("8")},
                {"fabrics[0].ecn.kmin_kb", value("1")},
                {"fabrics[1].ecn.kmin_kb", value("2")}};
  const std::string table = sweep_table("grid.yaml", {row}, {});
  EXPECT_NE(table.find("point  gpus  fabrics[0].ecn.kmin_kb  fabrics[1].ecn.kmin_kb"),
            std::string::npos)
      << table;
}

TEST(Flattened, goes_down_to_single_values) {
  const auto values = flattened(value("{a: {b: [1, {c: 2}]}, d: [], e: {}}"));
  std::vector<std::string> keys;
  for (const auto& [key, node] : values) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"a.b[0]", "a.b[1].c", "d", "e"}));
}

TEST(ReadResult, refuses_what_is_no_result) {
  Row row;
  EXPECT_THROW(read_result("{}", row), base::Error);
  EXPECT_THROW(read_result("no json", row), base::Error);
}

}  // namespace
}  // namespace fabricast::report
