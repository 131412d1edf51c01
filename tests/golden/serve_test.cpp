// `fabricast serve-sim`, and services under `compare`, as a user runs them.

#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "program.h"

namespace fabricast::golden {
namespace {

using Json = nlohmann::json;

/// A service on two nodes, with `more` keys of its workload.
std::string service(const std::string& more) {
  return file_with(
      "name: service\n"
      "cluster: { gpus: 16, gpu: h100-sxm, gpus_per_node: 8, nics_per_node: 8, nic_gbps: 200,\n"
      "           topology: { kind: single-switch } }\n"
      "fabrics: [infiniband, roce-v2]\n"
      "workload:\n"
      "  kind: serving\n"
      "  model: llama3-8b\n"
      "  context: 500\n"
      "  output: 20\n"
      "  requests: 2000\n" +
          more,
      "service.yaml");
}

const char* const kPoisson = "  arrival: { kind: poisson, qps: 20 }\n";

Execution serve(const std::string& file, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"serve-sim", file, "--fabric", "roce-v2"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return fabricast(arguments);
}

int validated(const std::string& document, const char* schema) {
  const std::string command =
      std::string(FABRICAST_PYTHON " " FABRICAST_SOURCE_DIR
                                   "/tests/golden/validate.py " FABRICAST_SOURCE_DIR "/docs/") +
      schema + " " + file_with(document, "serve.json");
  return std::system(command.c_str());  // NOLINT(cert-env33-c): our own validator
}

TEST(ServeCommand, writes_json_as_its_schema_says) {
  const std::string poisson = kPoisson;
  for (const std::string& more :
       {poisson + "  tp: 16\n", poisson + "  tp: 4\n  pp: 4\n",
        poisson + "  tp: 2\n  disaggregation: { prefill_replicas: 2, prefill_tp: 4 }\n",
        poisson + "  scaling: { target_outstanding: 4, load_from: peer }\n",
        std::string("  arrival: { kind: closed, concurrency: 8 }\n")}) {
    const Execution run = serve(service(more), {"--json", "-", "--quiet"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(validated(run.out, "serve.schema.json"), 0) << more;
  }
}

TEST(ServeCommand, compare_shows_services_side_by_side) {
  const std::string file = service(std::string(kPoisson) + "  tp: 16\n");
  const Execution json = fabricast({"compare", file, "--json", "-", "--quiet", "--no-cache"});
  ASSERT_EQ(json.exit_code, 0) << json.err;
  EXPECT_EQ(validated(json.out, "result.schema.json"), 0);
  const Json fabrics = Json::parse(json.out)["fabrics"];
  for (const char* name : {"infiniband", "roce-v2"}) {
    const Json& serving = fabrics[name]["serving"];
    EXPECT_GE(serving["capacity_qps"], serving["slo_qps"]);
    EXPECT_LE(serving["ttft_ms"]["p50"], serving["ttft_ms"]["p99"]);
    EXPECT_LE(serving["ttft_ms"]["p99"], serving["latency_ms"]["p99"]);
  }
}

TEST(ServeCommand, the_store_answers_again_to_the_last_bit) {
  const std::string file = service(std::string(kPoisson) + "  tp: 2\n");
  const auto result = [&] {
    const Execution run = fabricast({"compare", file, "--json", "-", "--quiet"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    Json json = Json::parse(run.out);
    for (auto& [name, fabric] : json["fabrics"].items()) fabric.erase("stats");
    return json.dump();
  };
  const std::string first = result();
  EXPECT_TRUE(first == result());
}

TEST(ServeCommand, is_the_same_on_one_thread_and_on_two) {
  const std::string file = service(std::string(kPoisson) + "  tp: 16\n");
  const auto on = [&](const char* threads) {
    Json json = Json::parse(serve(file, {"--json", "-", "--quiet", "--threads", threads}).out);
    json.erase("stats");
    return json.dump();
  };
  EXPECT_EQ(on("1"), on("2"));
}

TEST(ServeCommand, prints_at_most_80_cells) {
  const Execution run = serve(service(std::string(kPoisson) + "  tp: 16\n"));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (std::size_t begin = 0; begin < run.out.size();) {
    const std::size_t end = std::min(run.out.find('\n', begin), run.out.size());
    EXPECT_LE(end - begin, 80U) << run.out.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST(ServeCommand, writes_every_request_that_counts) {
  const std::string path = fresh_path("requests.csv");
  const Execution run = serve(service(std::string(kPoisson) + "  tp: 1\n"),
                              {"--trace", path, "--json", "-", "--quiet"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string csv = read(path);
  EXPECT_TRUE(csv.starts_with("request_id,input_tokens,output_tokens,"));
  const auto lines = std::count(csv.begin(), csv.end(), '\n');
  EXPECT_EQ(lines - 1, Json::parse(run.out)["serving"]["requests"].get<std::int64_t>());
}

TEST(ServeCommand, refuses_what_is_no_service) {
  const Execution run = fabricast(
      {"serve-sim", FABRICAST_SOURCE_DIR "/examples/article/train-8-7b.yaml", "--fabric", "tcp"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("`fabricast train` shows a training run in detail"), std::string::npos);
}

TEST(TrainCommand, sends_a_service_to_its_own_command) {
  const Execution run = fabricast({"train", service(kPoisson), "--fabric", "roce-v2", "--quiet"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("serve-sim"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace fabricast::golden
