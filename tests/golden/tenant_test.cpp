// Tenants that are given by their scenario.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "program.h"

namespace fabricast::golden {
namespace {

using Json = nlohmann::json;

/// A job of two nodes, with `more` sections.
std::string job(const std::string& fabrics, const std::string& more, const char* name) {
  return file_with(
      "cluster: { gpus: 16, gpu: h100-sxm, gpus_per_node: 8, nics_per_node: 8, nic_gbps: 200,\n"
      "           topology: { kind: single-switch } }\n"
      "fabrics: [" +
          fabrics +
          "]\n"
          "workload: { kind: training, model: llama2-7b, global_batch: 32, tokens: 1e9,\n"
          "            iterations: 20, parallelism: { dp: 16, zero: 3 } }\n" +
          more,
      name);
}

double step_s(const std::string& file) {
  const Execution run = fabricast({"compare", file, "--json", "-", "--quiet", "--no-cache"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return Json::parse(run.out)["fabrics"]["roce-v2"]["training"]["step_time_s"];
}

TEST(Tenant, slows_the_job_that_shares_its_links) {
  const std::string other = job("roce-v2", "", "other.yaml");
  const std::string tenant = "background: [{ kind: tenant, job: " + other + " }]\n";
  const double alone = step_s(job("roce-v2", "", "alone.yaml"));
  const double shared = step_s(job("roce-v2", tenant, "shared.yaml"));
  EXPECT_GT(shared, 1.02 * alone);
  EXPECT_LT(shared, 4 * alone);
}

TEST(Tenant, without_a_fabric_of_the_kind_is_refused_at_its_place) {
  const std::string other = job("infiniband", "", "other.yaml");
  const Execution run =
      fabricast({"compare",
                 job("roce-v2", "background: [{ kind: tenant, job: " + other + " }]\n", "job.yaml"),
                 "--quiet"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("background[0].job: found a job without a fabric of the kind roce-v2"),
            std::string::npos)
      << run.err;
}

}  // namespace
}  // namespace fabricast::golden
