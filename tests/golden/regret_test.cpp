// What the search gives away: its choice against the best of all designs, each looked at as closely
// as the program can.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "program.h"

namespace fabricast::golden {
namespace {

using Json = nlohmann::json;

Json advised(const std::string& file, const std::vector<std::string>& more) {
  static const std::string store = fresh_path("results.sqlite");
  std::vector<std::string> arguments = {"advise", file, "--json", "-", "--quiet"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Execution run = fabricast(arguments, store);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return Json::parse(run.out, nullptr, false);
}

std::string job(int gpus, const std::string& nodes, const std::string& workload) {
  return file_with("name: job\ncluster: { gpus: " + std::to_string(gpus) +
                   ", gpu: h100-sxm, nic_gbps: 200, racks: {}, " + nodes +
                   ", topology: { kind: leaf-spine } }\n"
                   "fabrics: [infiniband, roce-v2, tcp]\n" +
                   workload + "background: [{ kind: storage, load: 0.05 }]\n");
}

constexpr const char* kEight = "gpus_per_node: 8, nics_per_node: 8";
constexpr const char* kFour = "gpus_per_node: 4, nics_per_node: 4";

std::string training(const std::string& model, int batch) {
  return "workload: { kind: training, model: " + model +
         ", precision: bf16, sequence: 4096, global_batch: " + std::to_string(batch) +
         ", micro_batch: 1, parallelism: auto, tokens: 1e9, iterations: 50 }\n";
}

std::string service(const std::string& model, int tp) {
  return "workload: { kind: serving, model: " + model +
         ", precision: fp8, context: 1000, output: 100, arrival: { kind: poisson, qps: 5 }, tp: " +
         std::to_string(tp) + ", slo: { metric: ttft, percentile: 99, ms: 1000 } }\n";
}

// The choice costs at most 3 % more per work than the best there is.
TEST(Regret, stays_within_three_percent_of_the_best_design) {
  const std::vector<std::string> cases = {
      job(16, kEight, training("llama2-7b", 64)), job(16, kFour, training("llama2-13b", 64)),
      job(32, kEight, training("llama2-70b", 128)), job(16, kEight, service("llama2-70b", 16))};
  for (const std::string& file : cases) {
    const Json quick = advised(file, {});
    const Json all = advised(file, {"--exhaustive"});
    const std::string chosen = quick["verdict"]["design"];
    double best = 0;
    double ours = 0;
    for (const Json& design : all["designs"]) {
      if (!design["feasible"].get<bool>()) continue;
      const double cost = design["per_million_tokens"];
      if (best == 0 || cost < best) best = cost;
      if (design["name"] == chosen) ours = cost;
    }
    ASSERT_GT(best, 0);
    ASSERT_GT(ours, 0) << chosen;
    EXPECT_LE(ours, 1.03 * best) << chosen << " in " << read(file);
  }
}

}  // namespace
}  // namespace fabricast::golden
