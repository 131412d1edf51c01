// Whole runs: every example, the same bytes for any number of threads, JSON as its schema says.

#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "program.h"

namespace fabricast::golden {
namespace {

using Json = nlohmann::ordered_json;

const std::string kExamples = FABRICAST_SOURCE_DIR "/examples/article/";
constexpr const char* kNames[] = {"train-8-7b", "train-16-13b", "train-32-70b"};

/// The run of an example with JSON on standard output, made once.
const Execution& run_of(const std::string& example, const std::string& threads = "2") {
  static std::map<std::pair<std::string, std::string>, Execution> runs;
  auto& run = runs[{example, threads}];
  if (run.exit_code == -1) {
    run =
        fabricast({"compare", kExamples + example + ".yaml", "--json", "-", "--threads", threads});
  }
  return run;
}

/// The result of an example, parsed once.
const Json& result_of(const std::string& example) {
  static std::map<std::string, Json> results;
  auto& result = results[example];
  if (result.is_null()) {
    const Execution& run = run_of(example);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    result = Json::parse(run.out);
  }
  return result;
}

const Json& fabrics_of(const std::string& example) {
  return result_of(example)["fabrics"];
}

/// The text of a result without the one part that may differ.
std::string without_stats(const std::string& text) {
  Json result = Json::parse(text);
  for (auto& fabric : result["fabrics"]) fabric.erase("stats");
  return result.dump(2);
}

TEST(Examples, run_and_say_nothing_but_json_on_standard_output) {
  for (const char* name : kNames) {
    const Execution& run = run_of(name);
    EXPECT_EQ(run.exit_code, 0) << name << ": " << run.err;
    EXPECT_TRUE(Json::accept(run.out)) << name;
    EXPECT_EQ(run.err, "") << name;
  }
}

TEST(Examples, give_json_that_its_schema_accepts) {
  for (const char* name : kNames) {
    const std::string result = file_with(run_of(name).out, "result.json");
    const std::string command = FABRICAST_PYTHON " " FABRICAST_SOURCE_DIR
                                                 "/tests/golden/validate.py " FABRICAST_SOURCE_DIR
                                                 "/docs/result.schema.json " +
                                result;
    EXPECT_EQ(std::system(command.c_str()), 0) << name;  // NOLINT(concurrency-mt-unsafe)
  }
}

TEST(Examples, name_the_three_fabrics_of_the_article) {
  for (const char* name : kNames) {
    std::vector<std::string> fabrics;
    for (const auto& [fabric, unused] : fabrics_of(name).items()) {
      fabrics.push_back(fabric);
    }
    EXPECT_EQ(fabrics, (std::vector<std::string>{"infiniband", "roce-v2", "tcp"})) << name;
  }
}

TEST(Examples, choose_one_of_their_fabrics_in_both_voices) {
  for (const char* name : kNames) {
    const Json& result = result_of(name);
    EXPECT_TRUE(result["fabrics"].contains(result["verdict"]["choice"].get<std::string>()));
    EXPECT_TRUE(
        result["fabrics"].contains(result["verdict"]["house"]["choice"].get<std::string>()));
  }
}

TEST(Results, have_the_same_bytes_with_one_thread_and_with_two) {
  const Execution& one = run_of("train-8-7b", "1");
  const Execution& two = run_of("train-8-7b", "2");
  ASSERT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(without_stats(one.out), without_stats(two.out));
}

TEST(Results, have_the_same_bytes_with_and_without_the_cache) {
  const Execution fresh = fabricast(
      {"compare", kExamples + "train-8-7b.yaml", "--json", "-", "--threads", "2", "--no-cache"});
  ASSERT_EQ(fresh.exit_code, 0) << fresh.err;
  EXPECT_EQ(without_stats(fresh.out), without_stats(run_of("train-8-7b").out));
}

TEST(Results, change_with_the_seed) {
  const Execution other = fabricast(
      {"compare", kExamples + "train-8-7b.yaml", "--json", "-", "--threads", "2", "--seed", "2"});
  ASSERT_EQ(other.exit_code, 0) << other.err;
  EXPECT_EQ(Json::parse(other.out)["seed"], 2);
  EXPECT_NE(without_stats(other.out), without_stats(run_of("train-8-7b").out));
}

/// A job of two nodes on RoCE, with `more` at the end of its file.
Execution small_job(const std::string& more) {
  const std::string file = file_with(
      "name: small\n"
      "cluster: { gpus: 16, gpu: h100-sxm-80gb, gpus_per_node: 8, nics_per_node: 8, nic_gbps: "
      "200,\n"
      "           topology: { kind: single-switch } }\n"
      "fabrics: [infiniband, roce-v2]\n"
      "workload: { kind: training, model: llama2-7b, precision: bf16, sequence: 4096,\n"
      "            global_batch: 32, micro_batch: 1, parallelism: { dp: 16, zero: 1 },\n"
      "            tokens: 1e9, iterations: 20 }\n" +
          more,
      "small.yaml");
  return fabricast({"compare", file, "--json", "-"});
}

TEST(Results, show_a_fault_that_lasts_for_the_whole_job) {
  const auto step = [](const Execution& run, const char* fabric) {
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return Json::parse(run.out)["fabrics"][fabric]["training"]["step_time_s"].get<double>();
  };
  const Execution sound = small_job("");
  const Execution slow = small_job("faults: [{link: 'leaf0:9', kind: degraded, value: 0.25}]\n");
  EXPECT_GT(step(slow, "infiniband"), 1.05 * step(sound, "infiniband"));
  EXPECT_GT(step(slow, "roce-v2"), 1.05 * step(sound, "roce-v2"));
  // InfiniBand has no ECN, so that the fault is RoCE's alone.
  const Execution blind = small_job("faults: [{link: 'leaf0:0', kind: no-ecn}]\n");
  EXPECT_EQ(step(blind, "infiniband"), step(sound, "infiniband"));
  EXPECT_NE(blind.err.find("faults[0]: note: `infiniband` has no ECN"), std::string::npos)
      << blind.err;
}

double step_of(const std::string& file, const std::string& resolution, const char* fabric) {
  const Execution run =
      fabricast({"compare", file, "--json", "-", "--resolution", resolution, "--no-cache"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return Json::parse(run.out)["fabrics"][fabric]["training"]["step_time_s"].get<double>();
}

// Storage traffic, skew between ranks, ECMP collisions, TCP's cores: all of it in both.
TEST(Results, of_the_flow_level_are_those_of_packets_within_3_percent) {
  const std::string file = kExamples + "train-32-70b.yaml";
  for (const char* fabric : {"infiniband", "roce-v2", "tcp"}) {
    const double packets = fabrics_of("train-32-70b")[fabric]["training"]["step_time_s"];
    EXPECT_NEAR(step_of(file, "flow", fabric), packets, 0.03 * packets) << fabric;
  }
}

TEST(Results, say_at_which_level_each_phase_was_simulated) {
  const Execution run = fabricast({"compare", kExamples + "train-32-70b.yaml", "--json", "-",
                                   "--resolution", "flow", "--no-cache"});
  const Json roce = Json::parse(run.out)["fabrics"]["roce-v2"];
  for (const Json& phase : roce["collectives"]) {
    const bool inside = phase["name"].get<std::string>().starts_with("tp");
    EXPECT_EQ(phase["level"], inside ? "packet" : "flow") << phase["name"];
  }
  EXPECT_TRUE(roce["network"].contains("latency_us"));
  EXPECT_FALSE(roce["network"].contains("dropped_packets")) << "flows have no packets to drop";
  for (const Json& phase : fabrics_of("train-32-70b")["roce-v2"]["collectives"]) {
    EXPECT_EQ(phase["level"], "packet");
  }
}

TEST(Results, break_the_step_down_without_remainder) {
  for (const char* name : kNames) {
    for (const auto& [fabric, result] : fabrics_of(name).items()) {
      const auto& training = result["training"];
      double sum = 0;
      for (const auto& part : training["breakdown_s"]) sum += part.get<double>();
      const double step = training["step_time_s"];
      EXPECT_NEAR(sum, step, 1e-9 * step) << name << " " << fabric;
    }
  }
}

// Days are the tokens of the job over tokens per second; checkpoints and failures only add.
TEST(Results, take_at_least_the_tokens_over_tokens_per_second) {
  const std::map<std::string, double> tokens = {
      {"train-8-7b", 10e6}, {"train-16-13b", 50e6}, {"train-32-70b", 100e6}};
  for (const char* name : kNames) {
    for (const auto& [fabric, result] : fabrics_of(name).items()) {
      const auto& training = result["training"];
      const double least = tokens.at(name) / training["tokens_per_s"].get<double>() / 86400;
      EXPECT_GE(training["days"].get<double>(), least * (1 - 1e-9)) << name << " " << fabric;
    }
  }
}

// A goodput above the adapter's rate, a utilisation below MFU at the peak, would break physics.
TEST(Results, stay_within_the_limits_of_the_hardware) {
  for (const char* name : kNames) {
    for (const auto& [fabric, result] : fabrics_of(name).items()) {
      EXPECT_LT(result["network"]["bandwidth_gbps"].get<double>(), 200) << name << " " << fabric;
      EXPECT_LE(result["training"]["mfu_pct"].get<double>(),
                result["training"]["gpu_utilisation_pct"].get<double>())
          << name << " " << fabric;
      EXPECT_LE(result["training"]["memory_gb_per_gpu"].get<double>(), 80) << name << " " << fabric;
    }
  }
}

TEST(Tables, fit_80_cells_in_english_and_go_to_standard_output) {
  const Execution run = fabricast({"compare", kExamples + "train-8-7b.yaml"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::istringstream lines(run.out);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    // Every character of the English table but the arrow takes one byte and one cell.
    EXPECT_LE(line.size(), 84U) << line;
  }
  EXPECT_GT(count, 20U);
}

// A result file is written through a link and keeps its rights; a pipe or device stays what it is.
TEST(Json, replaces_neither_links_nor_pipes_nor_rights) {
  namespace fs = std::filesystem;
  const fs::path file = file_with("old", "kept.json");
  const fs::path link = file.parent_path() / "link.json";
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(file, link);
  ASSERT_EQ(fabricast({"catalog", "gpus", "--json", link.string()}).exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_NE(read(file.string()), "old");
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);

  const fs::path pipe = file.parent_path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);  // NOLINT: POSIX's own signature
  ASSERT_GE(reader, 0);
  ASSERT_EQ(fabricast({"catalog", "gpus", "a10", "--json", pipe.string()}).exit_code, 0);
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST(Json, goes_to_a_file_beside_the_table) {
  const std::string path = file_with("", "out.json");
  const Execution run =
      fabricast({"compare", kExamples + "train-8-7b.yaml", "--json", path, "--threads", "2"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("infiniband"), std::string::npos);
  EXPECT_EQ(without_stats(read(path)), without_stats(run_of("train-8-7b").out));
}

}  // namespace
}  // namespace fabricast::golden
