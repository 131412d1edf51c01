// `fabricast train` as a user runs it.

#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "program.h"

namespace fabricast::golden {
namespace {

using Json = nlohmann::json;

/// A job of two nodes whose layout is `parallelism`, with `more` keys of its workload.
std::string small(const std::string& parallelism, const std::string& more = "") {
  return file_with(
      "name: small\n"
      "cluster: { gpus: 16, gpu: h100-sxm, gpus_per_node: 8, nics_per_node: 8, nic_gbps: 200,\n"
      "           topology: { kind: single-switch } }\n"
      "fabrics: [infiniband, roce-v2]\n"
      "workload:\n"
      "  kind: training\n"
      "  model: llama2-7b\n"
      "  global_batch: 64\n"
      "  tokens: 1e12\n"
      "  iterations: 20\n"
      "  parallelism: " +
          parallelism + "\n" + more,
      "small.yaml");
}

Execution train(const std::string& file, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"train", file, "--fabric", "roce-v2"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return fabricast(arguments);
}

int validated(const std::string& document) {
  const std::string command = FABRICAST_PYTHON " " FABRICAST_SOURCE_DIR
                                               "/tests/golden/validate.py " FABRICAST_SOURCE_DIR
                                               "/docs/train.schema.json " +
                              file_with(document, "train.json");
  return std::system(command.c_str());  // NOLINT(cert-env33-c): our own validator
}

TEST(TrainCommand, writes_json_as_its_schema_says) {
  for (const char* layout :
       {"{ tp: 2, pp: 2, vpp: 2, dp: 4 }", "{ dp: 16, zero: 3 }", "{ tp: 8, dp: 2 }", "auto"}) {
    for (const char* resolution : {"auto", "flow"}) {
      const Execution run = train(small(layout), {"--json", "-", "--resolution", resolution});
      ASSERT_EQ(run.exit_code, 0) << run.err;
      EXPECT_EQ(validated(run.out), 0) << layout << ' ' << resolution;
    }
  }
}

TEST(TrainCommand, prints_at_most_80_cells) {
  const Execution run =
      train(small("auto", "  stragglers: { spread_pct: 1.5, slow: [{ gpu: 3, speed: 0.9 }] }\n"));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (std::size_t begin = 0; begin < run.out.size();) {
    const std::size_t end = std::min(run.out.find('\n', begin), run.out.size());
    EXPECT_LE(end - begin, 80U) << run.out.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST(TrainCommand, writes_a_timeline_as_long_as_a_step) {
  const std::string path = fresh_path("step.json");
  const Execution run =
      train(small("{ tp: 2, pp: 2, vpp: 2, dp: 4 }"), {"--trace", path, "--json", "-"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json trace = Json::parse(read(path));
  double last = 0;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    last = std::max(last, event["ts"].get<double>() + event["dur"].get<double>());
  }
  EXPECT_NEAR(last, trace["otherData"]["step_time_us"].get<double>(), 2e-3);
  // The step nearest to the mean was taken.
  const Json result = Json::parse(run.out);
  const double mean = result["training"]["step_time_s"].get<double>() * 1e6;
  EXPECT_NEAR(last, mean, mean * result["training"]["jitter_pct"].get<double>() / 100);
}

// Narayanan et al. 2021: the bubble of two chunks is half as long.
TEST(TrainCommand, halves_the_bubble_with_two_chunks) {
  const auto fill = [](const std::string& layout) {
    return Json::parse(train(small(layout), {"--json", "-"}).out)["bubble_s"]["fill_drain"]
        .get<double>();
  };
  const double plain = fill("{ tp: 2, pp: 4, dp: 2 }");
  EXPECT_NEAR(fill("{ tp: 2, pp: 4, vpp: 2, dp: 2 }"), plain / 2, 0.02 * plain);
}

TEST(TrainCommand, asks_which_fabric_and_says_which_there_are) {
  const std::string file = small("{ dp: 16 }");
  const Execution none = fabricast({"train", file});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.err.find("`infiniband` or `roce-v2`"), std::string::npos) << none.err;
  const Execution wrong = fabricast({"train", file, "--fabric", "roec-v2"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("did you mean `roce-v2`?"), std::string::npos) << wrong.err;
}

TEST(TrainCommand, has_the_same_bytes_with_one_thread_and_with_two) {
  const std::string file = small("{ tp: 2, pp: 2, dp: 4 }");
  const auto run = [&](const char* threads) {
    Json result = Json::parse(train(file, {"--json", "-", "--threads", threads}).out);
    result.erase("stats");
    return result.dump();
  };
  EXPECT_EQ(run("1"), run("2"));
}

// A job that never fails takes its tokens at its rate; one that does takes that over its goodput.
TEST(TrainCommand, counts_failures_and_checkpoints_into_the_length_of_the_run) {
  const auto training = [](const std::string& more) {
    return Json::parse(train(small("{ dp: 16 }", more), {"--json", "-"}).out)["training"];
  };
  const Json sound = training("  failures: none\n");
  EXPECT_EQ(sound["goodput_pct"], 100);
  EXPECT_NEAR(sound["days"].get<double>(), 1e12 / sound["tokens_per_s"].get<double>() / 86400,
              1e-9 * sound["days"].get<double>());
  const Json fragile = training("  failures: { gpu_mtbf_h: 100 }\n");
  EXPECT_LT(fragile["goodput_pct"].get<double>(), 95);
  EXPECT_NEAR(fragile["days"].get<double>(),
              sound["days"].get<double>() / fragile["goodput_pct"].get<double>() * 100,
              1e-6 * fragile["days"].get<double>());
}

}  // namespace
}  // namespace fabricast::golden
