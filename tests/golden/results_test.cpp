// The store of results as a user looks at it.

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "jobs.h"
#include "program.h"

namespace fabricast::golden {
namespace {

using Json = nlohmann::ordered_json;

/// A store with three runs: seed 1, seed 2, and seed 1 on TCP as well.
const std::string& three_runs() {
  static const std::string store = [] {
    std::string path = fresh_path("results.sqlite");
    const std::string job = file_with(small_scenario());
    std::string both = small_scenario();
    both.replace(both.find("[infiniband]"), 12, "[infiniband, tcp]");
    for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
             {"compare", job}, {"compare", job, "--seed", "2"}, {"compare", file_with(both)}}) {
      const Execution run = fabricast(command, path);
      EXPECT_EQ(run.exit_code, 0) << run.err;
    }
    return path;
  }();
  return store;
}

std::vector<int> listed(std::vector<std::string> conditions) {
  std::vector<std::string> command = {"results", "--json", "-"};
  for (std::string& condition : conditions) {
    command.emplace_back("--where");
    command.push_back(std::move(condition));
  }
  const Execution run = fabricast(command, three_runs());
  EXPECT_EQ(run.exit_code, 0) << run.err;
  std::vector<int> ids;
  const Json result = Json::parse(run.out);
  for (const Json& entry : result["runs"]) ids.push_back(entry["run"]);
  return ids;
}

TEST(Results, list_every_run) {
  EXPECT_EQ(listed({}), (std::vector<int>{1, 2, 3}));
  const Execution table = fabricast({"results"}, three_runs());
  EXPECT_EQ(std::ranges::count(table.out, '\n'), 5) << table.out;
  EXPECT_NE(table.out.find("llama2-7b"), std::string::npos);
}

TEST(Results, can_be_filtered_by_any_key_of_the_scenario_and_of_the_run) {
  EXPECT_EQ(listed({"seed=1"}), (std::vector<int>{1, 3}));
  EXPECT_EQ(listed({"seed=1", "fabrics[1]=tcp"}), (std::vector<int>{3}));
  EXPECT_EQ(listed({"workload.tokens=1000000"}), (std::vector<int>{1, 2, 3}));  // written 1e6
  EXPECT_EQ(listed({"workload.tokens=1000001"}), (std::vector<int>{}));
  EXPECT_EQ(listed({"created=2"}), (std::vector<int>{1, 2, 3}));
}

TEST(Results, are_exported_as_csv_with_a_column_for_every_key_and_figure) {
  const Execution run = fabricast({"results", "--csv", "-"}, three_runs());
  EXPECT_TRUE(run.out.starts_with("run,created,program,scenario,seed,resolution,"));
  for (const char* column : {",cluster.gpus,", ",infiniband.step_time_s,", ",tcp.per_run,"}) {
    EXPECT_NE(run.out.find(column), std::string::npos) << run.out;
  }
  EXPECT_EQ(std::ranges::count(run.out, '\n'), 4);
}

TEST(Results, show_a_run_with_its_scenario_and_its_whole_result) {
  const Execution shown = fabricast({"results", "show", "2"}, three_runs());
  EXPECT_NE(shown.out.find("seed 2"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("  workload.tokens: 1e6\n"), std::string::npos) << shown.out;
  const Json json =
      Json::parse(fabricast({"results", "show", "2", "--json", "-"}, three_runs()).out);
  EXPECT_EQ(json["result"]["seed"], 2);
  EXPECT_TRUE(json["result"]["fabrics"]["infiniband"].contains("collectives"));
}

TEST(Results, compare_two_runs_by_what_differs) {
  const Json json =
      Json::parse(fabricast({"results", "compare", "1", "3", "--json", "-"}, three_runs()).out);
  EXPECT_EQ(json["values"].dump(), R"({"fabrics[1]":{"a":"","b":"tcp"}})");
  const Json& step = json["fabrics"]["infiniband"]["training"]["step_time_s"];
  EXPECT_EQ(step["a"], step["b"]);
  EXPECT_EQ(step["difference_pct"], 0.0);
  EXPECT_FALSE(json["fabrics"]["tcp"]["training"]["step_time_s"].contains("a"));

  const Execution seeds = fabricast({"results", "compare", "1", "2"}, three_runs());
  EXPECT_NE(seeds.out.find("\nseed      1  2\n"), std::string::npos) << seeds.out;
}

TEST(Results, of_a_store_that_is_not_there_yet_are_none_and_make_none) {
  const std::string store = fresh_path("results.sqlite");
  const Execution run = fabricast({"results"}, store);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "No runs.\n");
  EXPECT_EQ(fabricast({"results", "show", "1"}, store).exit_code, 2);
  EXPECT_EQ(fabricast({"results"}, "/proc/none/results.sqlite").out, "No runs.\n");
}

TEST(Results, that_were_asked_for_wrongly_are_refused) {
  for (const auto& [arguments, word] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"results", "show", "9"}, "run 9, which is not in"},
           {{"results", "show", "x"}, "ID"},
           {{"results", "compare", "1"}, "B is required"},
           {{"results", "--where", "gpus"}, "KEY=VALUE"},
           {{"results", "--where", "cluster.gpuss=4"}, "did you mean `cluster.gpus`?"},
           {{"results", "sho"}, "sho"},
           {{"results", "--csv", "-", "--json", "-"}, "the place of `--json`"}}) {
    const Execution run = fabricast(arguments, three_runs());
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_NE(run.err.find(word), std::string::npos) << run.err;
  }
}

TEST(Results, of_a_file_that_is_no_store_are_refused) {
  const Execution run = fabricast({"results"}, file_with(std::string(2000, 'x'), "r.sqlite"));
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("not a database"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace fabricast::golden
