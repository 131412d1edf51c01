// `fabricast flows` as a user runs it.

#include <cstdlib>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "program.h"

namespace fabricast::golden {
namespace {

using Json = nlohmann::json;

const std::string kFolder = FABRICAST_SOURCE_DIR "/examples/flows/";

Execution flows(std::vector<std::string> more, const std::string& file = kFolder + "incast.csv") {
  std::vector<std::string> arguments = {"flows", file, "--system", kFolder + "roce-16.yaml"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return fabricast(arguments);
}

TEST(FlowsCommand, writes_json_as_its_schema_says) {
  for (const char* resolution : {"packet", "flow"}) {
    const Execution run = flows({"--json", "-", "--resolution", resolution});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const std::string document = file_with(run.out, "flows.json");
    const std::string command = FABRICAST_PYTHON " " FABRICAST_SOURCE_DIR
                                                 "/tests/golden/validate.py " FABRICAST_SOURCE_DIR
                                                 "/docs/flows.schema.json " +
                                document;
    EXPECT_EQ(std::system(command.c_str()), 0);  // NOLINT(cert-env33-c): our own validator
  }
}

// Eight of 1 MB into one port of 100 Gb/s: 8 x 245 packets of 4096 bytes and headers cannot take
// less than their wire time, and a flow on its own way is hardly disturbed.
TEST(FlowsCommand, shows_the_incast_at_the_port_and_not_at_the_victim) {
  const Json result = Json::parse(flows({"--json", "-"}).out);
  double last = 0;
  for (const auto& flow : result["flows"]) {
    if (flow["id"].get<std::string>().starts_with("incast")) {
      last = std::max(last, flow["fct_us"].get<double>());
    }
    if (flow["id"] == "victim") {
      EXPECT_LT(flow["slowdown"].get<double>(), 1.5);
    }
    if (flow["id"] == "answer") {
      EXPECT_NEAR(flow["slowdown"].get<double>(), 1, 0.01);
    }
  }
  EXPECT_GT(last, 8e6 * 8 / 100e9 * 1e6);
  EXPECT_LT(last, 1.1 * 8e6 * 8 / 100e9 * 1e6);
  EXPECT_EQ(result["counters"]["dropped_packets"], 0);
}

// What eight flows of 1 MB make of one port is the same at both levels; packets alone are counted.
TEST(FlowsCommand, plays_flows_that_share_links_where_it_is_asked_to) {
  const Json packets = Json::parse(flows({"--json", "-"}).out);
  const Json result = Json::parse(flows({"--json", "-", "--resolution", "flow"}).out);
  const auto last = [](const Json& run) {
    double us = 0;
    for (const auto& flow : run["flows"]) us = std::max(us, flow["fct_us"].get<double>());
    return us;
  };
  EXPECT_NEAR(last(result), last(packets), 0.03 * last(packets));
  EXPECT_EQ(packets["level"], "packet");
  EXPECT_EQ(result["level"], "flow");
  EXPECT_FALSE(result.contains("counters"));
  EXPECT_FALSE(result.contains("links"));
  const Json again = Json::parse(flows({"--json", "-", "--resolution", "flow"}).out);
  EXPECT_EQ(result["flows"], again["flows"]);
}

TEST(FlowsCommand, refuses_at_flow_level_what_packets_alone_can_tell) {
  const auto refused = [](std::vector<std::string> more, const std::string& text) {
    more.insert(more.end(), {"--resolution", "flow"});
    const Execution run = fabricast(more);
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_NE(run.err.find(text), std::string::npos) << run.err;
  };
  const std::string file = kFolder + "incast.csv";
  const std::string system = kFolder + "roce-16.yaml";
  refused({"flows", file, "--system", system, "--trace", file_with("", "trace.csv")},
          "--trace: found a trace of queues beside `--resolution flow`");
  refused({"flows", file, "--system", system, "--threads", "2"},
          "--threads: found `2` beside `--resolution flow`");
  const std::string faulty = file_with(
      "cluster: {gpus: 16, gpu: a10, gpus_per_node: 1, nics_per_node: 1, nic_gbps: 100}\n"
      "fabric: roce-v2\nfaults: [{link: 'leaf0:0', kind: bit-errors, value: 1e-9}]\n");
  refused({"flows", file, "--system", faulty}, "faults[0].kind: found `bit-errors` beside");
}

TEST(FlowsCommand, repeats_itself_and_follows_its_seed) {
  const auto bytes = [](const std::string& seed) {
    Json result = Json::parse(flows({"--json", "-", "--seed", seed}).out);
    result.erase("stats");
    return result.dump();
  };
  EXPECT_EQ(bytes("1"), bytes("1"));
  EXPECT_NE(bytes("1"), bytes("2"));
}

TEST(FlowsCommand, writes_the_flows_and_the_queues_as_csv) {
  const std::string csv = file_with("", "result.csv");
  const std::string trace = file_with("", "trace.csv");
  ASSERT_EQ(flows({"--csv", csv, "--trace", trace, "--trace-every", "50"}).exit_code, 0);
  EXPECT_EQ(read(csv).substr(0, 55), "id,src,dst,bytes,start_us,fct_us,ideal_us,slowdown\ninca");
  EXPECT_EQ(read(trace).substr(0, 50), "time_us,link,queue_bytes,utilisation_pct\n50.000,le");
}

TEST(FlowsCommand, plays_the_faults_of_the_system_and_names_those_that_came_too_late) {
  const std::string system = file_with(
      "cluster: {gpus: 2, gpu: a10, gpus_per_node: 1, nics_per_node: 1, nic_gbps: 100,\n"
      "          topology: {kind: single-switch}}\n"
      "fabric: roce-v2\n"
      "faults: [{link: 'leaf0:0', kind: degraded, value: 0.5},\n"
      "         {link: 'leaf0:1', kind: down, at_ms: 500}]\n");
  const std::string one = file_with("id,src,dst,bytes,start_us\na,1,0,10e6,0\n", "one.csv");
  const Execution run = fabricast({"flows", one, "--system", system, "--json", "-"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json flow = Json::parse(run.out)["flows"][0];
  EXPECT_NEAR(flow["slowdown"].get<double>(), 2, 0.02);
  EXPECT_NE(run.err.find("faults[1]"), std::string::npos) << run.err;
  EXPECT_EQ(run.err.find("faults[0]"), std::string::npos) << run.err;
}

TEST(FlowsCommand, leaves_its_inputs_and_its_other_results_alone) {
  const auto refused = [](const std::vector<std::string>& more, const std::string& text) {
    const Execution run = flows(more);
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_NE(run.err.find(text), std::string::npos) << run.err;
  };
  refused({"--csv", kFolder + "incast.csv"}, "--csv: found a file that is read");
  refused({"--json", kFolder + "roce-16.yaml"}, "--json: found a file that is read");
  refused({"--csv", "-", "--json", "-"}, "--csv: found the place of `--json`");
  refused({"--trace", "/nonexistent/t.csv"}, "--trace: found a path that cannot be written");
}

TEST(FlowsCommand, refuses_what_it_cannot_do_with_the_place) {
  const auto refused = [](const std::string& system, const std::string& text) {
    const Execution run =
        fabricast({"flows", kFolder + "incast.csv", "--system", file_with(system)});
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_NE(run.err.find(text), std::string::npos) << run.err;
  };
  const std::string cluster =
      "cluster: {gpus: 16, gpu: a10, gpus_per_node: 1, nics_per_node: 1, nic_gbps: 100}\n";
  refused(cluster, "fabric: found");
  refused(
      "cluster: {gpus: 16, gpu: a10, gpus_per_node: 1, nics_per_node: 1, nic_gbps: 100,\n"
      "          topology: {kind: dragonfly-plus}}\nfabric: roce-v2\n",
      "cluster.topology.kind: found `dragonfly-plus`, which is not simulated yet");
  refused(
      "cluster: {gpus: 16, gpu: a10, gpus_per_node: 1, nics_per_node: 1, nic_gbps: 100,\n"
      "          host: {pcie: gen2-x16}}\nfabric: roce-v2\n",
      "cluster.host.pcie: found the text `gen2-x16`");
  refused(cluster + "fabric: roec-v2\n", "did you mean `roce-v2`");
  refused(cluster + "fabric: roce-v2\nfaults: [{link: 'leaf9:0', kind: down}]\n", "faults[0].link");
  const auto fault = [&](const std::string& fabric, const std::string& text) {
    return cluster + "fabric: " + fabric + "\nfaults: [{" + text + "}]\n";
  };
  refused(fault("infiniband", "link: 'leaf0:0', kind: pause-storm"),
          "faults[0].kind: found `pause-storm` on a fabric without PFC");
  refused(fault("tcp", "link: 'leaf0:0', kind: no-pfc"), "faults[0].kind");
  refused(fault("roce-v1", "link: 'leaf0:0', kind: no-ecn"), "faults[0].kind");
  refused(fault("roce-v2", "link: 'leaf0:0', kind: no-pfc, at_ms: 1"), "faults[0].at_ms");
  refused(fault("roce-v2", "link: 'node0/nic0:0', kind: no-ecn"), "faults[0].link");
  refused(
      "cluster: {gpus: 16, gpu: a10, gpus_per_node: 1, nics_per_node: 1, nic_gbps: 100,\n"
      "          topology: {kind: leaf-spine, nodes_per_leaf: 4}}\nfabric: roce-v2\n"
      "faults: [{link: 'spine0:0', kind: slow-adapter, value: 0.5}]\n",
      "faults[0].link: found `spine0:0` between two switches");
  refused(cluster + "fabric: {profile: roce-v2, switching: {buffer_mb: 0.2}}\n",
          "fabric.switching.buffer_mb");
  refused(cluster + "fabric: roce-v2\nworkload: {}\n", "workload");
}

}  // namespace
}  // namespace fabricast::golden
