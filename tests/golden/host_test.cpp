// What hosts hold back, from the scenario to the result.

#include <cstdlib>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "program.h"

namespace fabricast::golden {
namespace {

using Json = nlohmann::json;

/// Two nodes of eight GPUs whose gradients cross the network: every adapter sends and receives.
Execution two_nodes(const std::string& host, const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {
      "compare",
      file_with("cluster: {gpus: 16, gpu: a100-sxm, nic_gbps: 200, host: " + host +
                ",\n          topology: {kind: single-switch}}\n"
                "fabrics: [infiniband, roce-v2]\n"
                "workload: {kind: training, model: llama2-7b, sequence: 2048, global_batch: 32,\n"
                "           parallelism: {tp: 8, dp: 2}, tokens: 1e6, iterations: 20}\n")};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return fabricast(arguments);
}

/// What every adapter sends and receives, GB/s, while the same nodes exchange 256 MiB all to all:
/// eight of a GPU's sixteen parts are for the other node.
double adapter_rate(const std::string& host, const std::string& fabric) {
  const std::string system =
      file_with("cluster: {gpus: 16, gpu: a100-sxm, nic_gbps: 200, host: " + host +
                ",\n          topology: {kind: single-switch}}\nfabric: " + fabric + "\n");
  const Execution run = fabricast({"collective", "--system", system, "--op", "alltoall", "--sizes",
                                   "256M", "--quiet", "--json", "-"});
  return Json::parse(run.out)["collectives"][0]["algbw_GBps"].get<double>() / 2;
}

// NVIDIA/nccl issues 700 and 949: ACS leaves about half of the bus bandwidth, 0.42 on Xeon and 0.53
// on EPYC by the arithmetic of docs/models/host.md with 200 Gb/s adapters.
TEST(HostSettings, acs_halves_the_bus_bandwidth_of_two_nodes) {
  const Json base = Json::parse(two_nodes("{}", {"--json", "-"}).out)["fabrics"];
  const Json xeon = Json::parse(two_nodes("{acs: true}", {"--json", "-"}).out)["fabrics"];
  // 32 GT/s x 16 x 128/130 x 0.9193 over what two adapters' payload puts on the uplink's way down.
  const double uplink = 32.0 * 16 * 128 / 130 * 0.9193 / 2;
  const double xeon_gbps = uplink / (1 + 20.0 / 64 + 1 + 24.0 / 64 + 24.0 / 512);
  const double epyc_gbps = uplink / (1 + 20.0 / 256 + 1 + 24.0 / 256 + 24.0 / 512);
  for (const char* fabric : {"infiniband", "roce-v2"}) {
    EXPECT_GT(adapter_rate("{}", fabric), 0.79 * 200 / 8) << fabric;
    EXPECT_FALSE(base[fabric].contains("host"));
    EXPECT_NEAR(xeon[fabric]["host"]["limit_gbps"].get<double>(), xeon_gbps, 0.01);
    EXPECT_NEAR(adapter_rate("{acs: true}", fabric), xeon_gbps / 8, 0.05 * xeon_gbps / 8) << fabric;
    EXPECT_NEAR(adapter_rate("{acs: true, server: dual-epyc}", fabric), epyc_gbps / 8,
                0.05 * epyc_gbps / 8)
        << fabric;
    EXPECT_EQ(xeon[fabric]["network"]["dropped_packets"], 0) << fabric;
  }
}

TEST(HostSettings, the_report_names_the_bottleneck_with_its_numbers) {
  const Execution run = two_nodes("{acs: true}", {"--quiet"});
  EXPECT_NE(
      run.out.find("Hosts are the bottleneck (infiniband, roce-v2): when all adapters of a node "
                   "send\nand receive, each gets at most 84.7 of its port's 200 Gb/s each "
                   "way, the uplink\nof its PCIe switch being full.\n"),
      std::string::npos)
      << run.out;
  EXPECT_EQ(two_nodes("{}", {"--quiet"}).out.find("bottleneck ("), std::string::npos);
  const std::string result =
      file_with(two_nodes("{acs: true}", {"--json", "-"}).out, "result.json");
  const std::string command = FABRICAST_PYTHON " " FABRICAST_SOURCE_DIR
                                               "/tests/golden/validate.py " FABRICAST_SOURCE_DIR
                                               "/docs/result.schema.json " +
                              result;
  EXPECT_EQ(std::system(command.c_str()), 0);  // NOLINT(concurrency-mt-unsafe)
}

// A 400 Gb/s adapter in a Gen 4 slot: 16 GT/s x 16 x 128/130 x 0.9193 = 231.7 Gb/s for packets, of
// which a completion of 256 bytes leaves 256/276 when it sends and a write 256/280 when it
// receives.
TEST(HostSettings, a_gen4_slot_gives_a_400_gbps_adapter_its_own_rate) {
  const std::string flows = file_with("id,src,dst,bytes,start_us\na,0,8,64e6,0\n", "flows.csv");
  const auto flow_gbps = [&](const std::string& fabric, const std::string& host) {
    const std::string system =
        file_with("cluster: {gpus: 16, gpu: h100-sxm, nic_gbps: 400, host: " + host +
                  ",\n          topology: {kind: single-switch}}\nfabric: " + fabric + "\n");
    const Execution run = fabricast({"flows", flows, "--system", system, "--json", "-"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    const Json result = Json::parse(run.out);
    EXPECT_EQ(result["counters"]["dropped_packets"], 0);
    return 64e6 * 8e-3 / result["flows"][0]["fct_us"].get<double>();
  };
  const double slot = 16.0 * 16 * 128 / 130 * 0.9193 * 256 / 280;
  for (const char* fabric : {"infiniband", "roce-v2"}) {
    EXPECT_GT(flow_gbps(fabric, "{}"), 380) << fabric;
    EXPECT_NEAR(flow_gbps(fabric, "{pcie: gen4-x16}"), slot, 0.01 * slot) << fabric;
  }
  const std::string system = file_with(
      "cluster: {gpus: 16, gpu: h100-sxm, nic_gbps: 400, host: {pcie: gen4-x16},\n"
      "          topology: {kind: single-switch}}\nfabric: roce-v2\n");
  EXPECT_NE(
      fabricast({"flows", flows, "--system", system})
          .out.find("each\ngets at most 203 of its port's 400 Gb/s each way, its `gen4-x16` slot "
                    "being\nfull.\n"),
      std::string::npos);
}

}  // namespace
}  // namespace fabricast::golden
