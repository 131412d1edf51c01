// Public logs of every tool at hand. They are not part of the project: FABRICAST_DATA names their
// folder, and without it these tests are skipped by name, unless FABRICAST_REQUIRE_DATA says that
// they must not be.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "calibrate/log.h"

namespace fabricast::calibrate {
namespace {

namespace fs = std::filesystem;

class MeasuredLogs : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* data = std::getenv("FABRICAST_DATA");
    if (data == nullptr || *data == '\0') {
      if (std::getenv("FABRICAST_REQUIRE_DATA") != nullptr) FAIL() << "FABRICAST_DATA is not set";
      GTEST_SKIP() << "FABRICAST_DATA is not set";
    }
    folder_ = data;
  }

  std::vector<fs::path> logs() const {
    std::vector<fs::path> found;
    for (const char* kind : {"nccl", "perftest", "mpi"}) {
      for (const auto& entry : fs::directory_iterator(folder_ / kind)) {
        if (entry.path().filename() != "index.csv") found.push_back(entry.path());
      }
    }
    std::ranges::sort(found);
    return found;
  }

  fs::path folder_;
};

TEST_F(MeasuredLogs, every_line_of_every_log_is_understood) {
  for (const fs::path& path : logs()) {
    const Log log = read_log(path.string());
    EXPECT_EQ(log.unknown, 0) << path;
    for (const UnknownLine& line : log.first_unknown)
      ADD_FAILURE() << line.number << ": " << line.text;
    std::size_t rows = 0;
    for (const LogRun& run : log.runs) rows += run.rows.size();
    EXPECT_GT(rows, 0U) << path;
  }
}

struct Times {
  std::int64_t size = 0;
  double out_of_place_us = 0;
  double in_place_us = 0;
  auto operator<=>(const Times&) const = default;
};

std::vector<Times> times_of(const LogRun& run) {
  std::vector<Times> times;
  for (const LogRow& row : run.rows) {
    times.push_back(
        {row.size->count(), row.out_of_place->time_us.value(), row.in_place->time_us.value()});
  }
  return times;
}

/// `all_rows.csv` was made from the logs by another reader.
TEST_F(MeasuredLogs, rows_of_nccl_tests_are_those_of_the_table_made_from_them) {
  std::multimap<std::vector<Times>, int> expected;
  for (const LogRun& run : read_log((folder_ / "nccl" / "all_rows.csv").string()).runs) {
    expected.emplace(times_of(run), run.ranks.value());
  }
  std::size_t logs_read = 0;
  for (const fs::path& path : logs()) {
    if (path.extension() != ".txt" || path.parent_path().filename() != "nccl") continue;
    const Log log = read_log(path.string());
    ASSERT_EQ(log.runs.size(), 1U) << path;
    const auto found = expected.find(times_of(log.runs[0]));
    ASSERT_NE(found, expected.end()) << path;
    EXPECT_EQ(log.runs[0].ranks.value_or(found->second), found->second) << path;
    ++logs_read;
  }
  EXPECT_EQ(logs_read, expected.size());
}

}  // namespace
}  // namespace fabricast::calibrate
