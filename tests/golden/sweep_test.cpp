// Sweeps as a user starts them, and kills them.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <set>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "jobs.h"
#include "program.h"
#include "store/store.h"

namespace fabricast::golden {
namespace {

using Json = nlohmann::ordered_json;

/// A grid over the small scenario.
std::string grid_of(const std::string& axes) {
  const std::string grid = file_with("base: base.yaml\n" + axes, "grid.yaml");
  const auto folder = std::filesystem::path(grid).parent_path();
  std::filesystem::rename(file_with(small_scenario()), folder / "base.yaml");
  return grid;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string seeds(int count) {
  std::string axis = "axes: { seed: [0";
  for (int i = 1; i < count; ++i) axis += ", " + std::to_string(i);
  return axis + "] }\n";
}

std::size_t runs_in(const std::string& store) {
  std::size_t count = 0;
  if (std::filesystem::exists(store)) store::Store(store).each([&](const auto&) { ++count; });
  return count;
}

TEST(Sweep, has_a_row_for_every_point_in_the_order_of_the_grid) {
  const std::string grid = grid_of("axes: { seed: [1, 2], workload.global_batch: [4, 8] }\n");
  const std::string csv = fresh_path("rows.csv");
  const Execution run = fabricast({"sweep", grid, "--csv", csv, "--json", "-"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json points = Json::parse(run.out)["points"];
  ASSERT_EQ(points.size(), 4U);
  EXPECT_EQ(points[1]["values"].dump(), R"({"seed":1,"workload.global_batch":8})");
  EXPECT_EQ(points[2]["values"].dump(), R"({"seed":2,"workload.global_batch":4})");
  const std::vector<std::string> lines = lines_of(read(csv));
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_TRUE(lines[0].starts_with("point,seed,workload.global_batch,infiniband.step_time_s,"));
  EXPECT_TRUE(lines[4].starts_with("4,2,8,")) << lines[4];
}

TEST(Sweep, gives_json_that_its_schema_accepts) {
  const std::string grid =
      grid_of("axes: { seed: [1], workload.model: [llama2-7b, llama2-70b] }\n");
  const std::string json = fresh_path("rows.json");
  ASSERT_EQ(fabricast({"sweep", grid, "--json", json}).exit_code, 0);
  const std::string command = FABRICAST_PYTHON " " FABRICAST_SOURCE_DIR
                                               "/tests/golden/validate.py " FABRICAST_SOURCE_DIR
                                               "/docs/sweep.schema.json " +
                              json;
  EXPECT_EQ(std::system(command.c_str()), 0);  // NOLINT(concurrency-mt-unsafe)
}

// What `compare` says of the same scenario, written out by hand.
TEST(Sweep, says_of_a_point_what_compare_says_and_answers_it_from_the_store) {
  const std::string store = fresh_path("results.sqlite");
  const Execution swept = fabricast(
      {"sweep", grid_of("axes: { seed: [1, 5], budget: [{ total: 1e7 }] }\n"), "--json", "-"},
      store);
  ASSERT_EQ(swept.exit_code, 0) << swept.err;
  const std::string job =
      file_with(small_scenario("llama2-7b", "seed: 5\nbudget: { total: 1e7 }\n"));
  const Execution compared = fabricast({"compare", job, "--json", "-"}, store);
  ASSERT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_EQ(runs_in(store), 2U);
  const Json row = Json::parse(swept.out)["points"][1];
  const Json result = Json::parse(compared.out);
  EXPECT_EQ(row["fabrics"]["infiniband"]["training"]["step_time_s"],
            result["fabrics"]["infiniband"]["training"]["step_time_s"]);
  EXPECT_EQ(row["fabrics"]["infiniband"]["cost"]["per_run"],
            result["fabrics"]["infiniband"]["cost"]["per_run"]);
  EXPECT_EQ(row["verdict"]["choice"], result["verdict"]["choice"]);
}

TEST(Sweep, has_the_same_bytes_whatever_the_number_of_workers) {
  const std::string grid = grid_of("axes: { seed: [1, 2, 3], fabrics: [[infiniband], [tcp]] }\n");
  const std::string one = fabricast({"sweep", grid, "--json", "-", "--threads", "1"}).out;
  EXPECT_FALSE(one.empty());
  EXPECT_EQ(fabricast({"sweep", grid, "--json", "-", "--threads", "2"}).out, one);
  EXPECT_EQ(fabricast({"sweep", grid, "--json", "-", "--threads", "7", "--no-cache"}).out, one);
}

TEST(Sweep, makes_a_point_that_is_no_scenario_a_row_with_its_error) {
  const Execution run = fabricast(
      {"sweep", grid_of("axes:\n  workload.model: [llama2-7b, llama2-70b]\n"), "--json", "-"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const Json points = Json::parse(run.out)["points"];
  EXPECT_FALSE(points[0].contains("error"));
  const std::string error = points[1]["error"];
  EXPECT_NE(error.find("grid.yaml:3:31: workload.model: found"), std::string::npos) << error;
  EXPECT_FALSE(points[1].contains("fabrics"));
}

TEST(Sweep, fails_when_every_valid_point_fails) {
  const Execution run = fabricast(
      {"sweep", grid_of("axes: { cluster.topology.cable_m: [9998, 9999] }\n"), "--json", "-"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_TRUE(Json::parse(run.out)["points"][1].contains("error"));
}

TEST(Sweep, is_refused_before_anything_runs_when_no_point_is_a_scenario) {
  const std::string store = fresh_path("results.sqlite");
  const Execution run =
      fabricast({"sweep", grid_of("axes:\n  workload.global_bath: [4, 8]\n")}, store);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
  for (const char* word : {"grid.yaml:3:", "global_bath", "did you mean `global_batch`?"}) {
    EXPECT_NE(run.err.find(word), std::string::npos) << run.err;
  }
  EXPECT_EQ(runs_in(store), 0U);
}

TEST(Sweep, is_refused_with_the_place_of_what_is_wrong_with_the_grid) {
  for (const auto& [axes, word] : std::vector<std::pair<std::string, std::string>>{
           {"axis: {}\n", "did you mean `axes`?"},
           {"axes: { seed: 1 }\n", "grid.yaml:2:15: axes.seed: found the number 1"},
           {"axes:\n  fabrics[3].name: [x]\n", "grid.yaml:3:21: fabrics[3].name: found item 3"}}) {
    const Execution run = fabricast({"sweep", grid_of(axes)});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_NE(run.err.find(word), std::string::npos) << run.err;
  }
}

TEST(Sweep, of_many_points_shows_the_first_and_the_last_and_says_where_all_are) {
  const Execution run = fabricast({"sweep", grid_of(seeds(60))});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::vector<std::string> lines = lines_of(run.out);
  EXPECT_LT(lines.size(), 40U);
  EXPECT_NE(run.out.find("… 36 more; --csv FILE or --json FILE has all …"), std::string::npos)
      << run.out;
  EXPECT_NE(run.out.find("\n   60 "), std::string::npos) << run.out;
}

// Rows of a sweep that was killed in the middle and started again are those of one that was not;
// what was finished is not simulated again, and nothing is there twice.
TEST(Sweep, goes_on_where_it_was_when_it_was_killed) {
  constexpr int kPoints = 60;
  const std::string grid = grid_of(seeds(kPoints));
  const std::string store = fresh_path("results.sqlite");
  const pid_t child = start_fabricast({"sweep", grid, "--threads", "1"}, store);
  while (runs_in(store) < 3) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_EQ(kill(child, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "it was done before it was killed";
  const std::size_t before = runs_in(store);
  ASSERT_LT(before, static_cast<std::size_t>(kPoints));

  const Execution resumed = fabricast({"sweep", grid, "--json", "-"}, store);
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_TRUE(resumed.err.starts_with("60 points: " + std::to_string(before) + " from the store, " +
                                      std::to_string(kPoints - before) + " simulated"))
      << resumed.err;
  EXPECT_EQ(runs_in(store), static_cast<std::size_t>(kPoints));
  EXPECT_EQ(resumed.out, fabricast({"sweep", grid, "--json", "-"}).out);
}

}  // namespace
}  // namespace fabricast::golden
