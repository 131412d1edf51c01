#include "calibrate/tables.h"

#include <cmath>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "calibrate/fit.h"

namespace fabricast::calibrate {
namespace {

/// A file of its own for one test.
class File {
 public:
  explicit File(const std::string& text)
      : path_(::testing::TempDir() + "table-" + std::to_string(getpid()) + ".csv") {
    std::ofstream(path_) << text;
  }
  ~File() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Table, reads_quoted_cells_with_commas_and_quotes) {
  const File file("a,b\r\n\"one, \"\"two\"\"\",3\n");
  const Table table(file.path());
  EXPECT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.text(0, "a"), "one, \"two\"");
  EXPECT_EQ(table.number(0, "b"), 3);
}

TEST(Table, names_line_and_column_of_what_is_no_number) {
  const File file("dtype,m,n,k,latency_us\nbfloat16,1,2,3,4\nbfloat16,1,x,3,4\n");
  try {
    read_gemms(file.path(), "bfloat16");
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.where().line, 3);
    EXPECT_EQ(error.where().key, "n");
  }
}

TEST(Table, names_the_columns_it_has_when_one_is_missing) {
  const File file("dtype,m,n,latency_us\nbfloat16,1,2,4\n");
  EXPECT_THROW(read_gemms(file.path(), "bfloat16"), base::Error);
}

// Keys and values of 1,024 sequences of 4,096 tokens cannot be read in 1 us.
TEST(Decode, rows_faster_than_the_memory_are_left_out) {
  const File file(
      "attn_dtype,kv_dtype,batch,isl,step,q_heads,kv_heads,head_dim,latency_us\n"
      "bfloat16,bfloat16,1024,1,4095,8,8,128,1\n"
      "bfloat16,bfloat16,1,1,4095,8,8,128,20\n");
  EXPECT_EQ(read_decode(file.path(), 3350).size(), 1U);
}

// y = 2 + 3 x, without noise.
TEST(Fit, finds_the_coefficients_that_made_the_rows) {
  const std::vector<double> x = {1, 2, 5, 10, 50};
  const auto ratios = [&](const std::vector<double>& c) {
    std::vector<double> all;
    for (const double v : x) all.push_back((c[0] + c[1] * v) / (2 + 3 * v));
    return all;
  };
  const auto found = fit({{"a", 0, 10, 1}, {"b", 0, 10, 1}}, std::vector<double>(5, 1), ratios);
  EXPECT_NEAR(found[0], 2, 0.02);
  EXPECT_NEAR(found[1], 3, 0.01);
}

}  // namespace
}  // namespace fabricast::calibrate
