// A question asked again is answered from the store of results, with the same bytes. That it was is
// told by `stats`: they are those of the run that was simulated.

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "jobs.h"
#include "program.h"

namespace fabricast::golden {
namespace {

using Json = nlohmann::ordered_json;

std::string small_job(const std::string& model = "llama2-7b", const std::string& more = "") {
  return file_with(small_scenario(model, more));
}

/// What the simulation of the first fabric took, as the JSON on standard output says.
double wall_s(const Execution& run) {
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return Json::parse(run.out)["fabrics"]["infiniband"]["stats"]["wall_s"].get<double>();
}

std::string without_stats(const Execution& run) {
  Json result = Json::parse(run.out);
  for (auto& fabric : result["fabrics"]) fabric.erase("stats");
  return result.dump();
}

TEST(Store, answers_a_question_asked_again_with_the_same_json) {
  const std::string store = fresh_path("results.sqlite");
  const std::string job = small_job();
  const Execution first = fabricast({"compare", job, "--json", "-"}, store);
  const Execution second = fabricast({"compare", job, "--json", "-"}, store);
  EXPECT_EQ(wall_s(second), wall_s(first));
  EXPECT_EQ(without_stats(second), without_stats(first));
  EXPECT_EQ(second.err, "");
}

TEST(Store, answers_with_the_same_tables_in_both_languages) {
  const std::string store = fresh_path("results.sqlite");
  const std::string job = small_job();
  for (const char* language : {"en", "zh"}) {
    const std::vector<std::string> question = {"compare", job, "--lang", language};
    const Execution fresh = fabricast(question);
    EXPECT_EQ(fabricast(question, store).out, fresh.out);
    EXPECT_EQ(fabricast(question, store).out, fresh.out);
  }
}

TEST(Store, is_neither_read_nor_written_with_no_cache) {
  const std::string store = fresh_path("results.sqlite");
  const std::string job = small_job();
  EXPECT_EQ(fabricast({"compare", job, "--no-cache"}, store).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(store));
  const double kept = wall_s(fabricast({"compare", job, "--json", "-"}, store));
  EXPECT_NE(wall_s(fabricast({"compare", job, "--json", "-", "--no-cache"}, store)), kept);
}

TEST(Store, is_asked_for_what_a_scenario_means_and_not_how_it_is_written) {
  const std::string store = fresh_path("results.sqlite");
  const double first =
      wall_s(fabricast({"compare", small_job(), "--json", "-", "--seed", "7"}, store));
  const std::string same = small_job("llama2-7b", "# a comment\nseed: 7\n");
  EXPECT_EQ(wall_s(fabricast({"compare", same, "--json", "-"}, store)), first);
}

TEST(Store, is_asked_for_the_seed_the_resolution_and_every_key) {
  const std::string store = fresh_path("results.sqlite");
  const std::string job = small_job();
  const double first = wall_s(fabricast({"compare", job, "--json", "-"}, store));
  for (const std::vector<std::string>& other : std::vector<std::vector<std::string>>{
           {"compare", job, "--json", "-", "--seed", "2"},
           {"compare", job, "--json", "-", "--resolution", "packet"},
           {"compare", small_job("llama2-7b", "budget: { total: 1e9 }\n"), "--json", "-"}}) {
    EXPECT_NE(wall_s(fabricast(other, store)), first);
  }
}

TEST(Store, is_asked_for_what_the_files_of_a_scenario_hold) {
  const auto config = [](int layers) {
    return R"({"architectures": ["LlamaForCausalLM"], "hidden_size": 1024, "num_hidden_layers": )" +
           std::to_string(layers) +
           R"(, "intermediate_size": 4096, "num_attention_heads": 16, "vocab_size": 32000,)"
           R"( "max_position_embeddings": 4096})";
  };
  const std::string store = fresh_path("results.sqlite");
  const std::string path = file_with(config(8), "config.json");
  const std::string job = small_job(path);
  const double first = wall_s(fabricast({"compare", job, "--json", "-"}, store));
  EXPECT_EQ(wall_s(fabricast({"compare", job, "--json", "-"}, store)), first);
  std::filesystem::remove(path);
  std::filesystem::rename(file_with(config(4), "config.json"), path);
  EXPECT_NE(wall_s(fabricast({"compare", job, "--json", "-"}, store)), first);
}

TEST(Store, that_cannot_be_used_is_told_in_one_line_and_the_run_goes_on) {
  const std::string no_database(2000, 'x');
  for (const std::string& store :
       {std::string("/proc/none/results.sqlite"), file_with(no_database, "results.sqlite")}) {
    const Execution run = fabricast({"compare", small_job()}, store);
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_TRUE(run.err.starts_with("note: results are not kept: cannot use the store")) << run.err;
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
    EXPECT_EQ(fabricast({"compare", small_job(), "--quiet"}, store).err, "");
    EXPECT_EQ(fabricast({"compare", small_job(), "--no-cache"}, store).err, "");
  }
}

}  // namespace
}  // namespace fabricast::golden
