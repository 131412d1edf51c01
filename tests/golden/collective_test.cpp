// `fabricast collective` as a user, or a tool that reads nccl-tests, runs it.

#include <cstdlib>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "program.h"

namespace fabricast::golden {
namespace {

using Json = nlohmann::json;

std::string two_nodes(const std::string& fabric = "infiniband") {
  return file_with(
      "cluster: { gpus: 8, gpu: h100-sxm, gpus_per_node: 4, nic_gbps: 200,\n"
      "           topology: { kind: single-switch } }\n"
      "fabric: " +
          fabric + "\n",
      "system.yaml");
}

Execution collective(const std::vector<std::string>& more, const std::string& system) {
  std::vector<std::string> arguments = {"collective", "--system", system, "--quiet"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return fabricast(arguments);
}

Json rows(const std::vector<std::string>& more, const std::string& system = two_nodes()) {
  std::vector<std::string> arguments = more;
  arguments.insert(arguments.end(), {"--json", "-"});
  const Execution run = collective(arguments, system);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return Json::parse(run.out)["collectives"];
}

TEST(CollectiveCommand, prints_nccl_tests_columns) {
  const Execution run = collective({"--sizes", "8:64M"}, two_nodes());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json expected = rows({"--sizes", "8:64M"});
  std::istringstream lines(run.out);
  std::size_t row = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::int64_t size = 0;
    std::int64_t count = 0;
    int root = 0;
    double time = 0;
    double algbw = 0;
    double busbw = 0;
    std::string type;
    std::string redop;
    words >> size >> count >> type >> redop >> root >> time >> algbw >> busbw;
    ASSERT_LT(row, expected.size());
    EXPECT_EQ(size, expected[row]["bytes"]);
    EXPECT_EQ(count, size / 4);
    EXPECT_EQ(type, "float");
    EXPECT_EQ(redop, "sum");
    EXPECT_EQ(root, -1);
    EXPECT_NEAR(time, expected[row]["time_us"].get<double>(), 0.06);
    EXPECT_NEAR(busbw, expected[row]["busbw_GBps"].get<double>(), 0.006);
    ++row;
  }
  EXPECT_EQ(row, 24U);
  EXPECT_NE(run.out.find("# Avg bus bandwidth    : "), std::string::npos);
}

TEST(CollectiveCommand, writes_json_as_its_schema_says) {
  for (const char* op :
       {"all_reduce", "all_gather", "reduce_scatter", "alltoall", "sendrecv", "broadcast"}) {
    const Execution run =
        collective({"--op", op, "--sizes", "1K:1M:32", "--json", "-"}, two_nodes());
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const std::string command = FABRICAST_PYTHON " " FABRICAST_SOURCE_DIR
                                                 "/tests/golden/validate.py " FABRICAST_SOURCE_DIR
                                                 "/docs/collective.schema.json " +
                                file_with(run.out, "collective.json");
    EXPECT_EQ(std::system(command.c_str()), 0);  // NOLINT(cert-env33-c): our own validator
  }
}

TEST(CollectiveCommand, a_flow_level_run_is_near_the_packet_level) {
  const double packets = rows({"--sizes", "64M", "--resolution", "packet"})[0]["time_us"];
  const Json flow = rows({"--sizes", "64M", "--resolution", "flow"})[0];
  EXPECT_EQ(flow["level"], "flow");
  EXPECT_NEAR(flow["time_us"].get<double>(), packets, 0.08 * packets);
}

TEST(CollectiveCommand, sharp_halves_what_adapters_carry) {
  // An adapter sends a message once instead of 2(N - 1)/N times with hierarchical rings; at four
  // nodes that is 1.5 times.
  const std::string system = file_with(
      "cluster: { gpus: 4, gpu: a100-sxm, gpus_per_node: 1, nic_gbps: 200,\n"
      "           topology: { kind: single-switch } }\n"
      "fabric: { profile: infiniband, sharp: { enabled: true } }\n",
      "system.yaml");
  const double sharp = rows({"--sizes", "256M", "--algorithm", "sharp"}, system)[0]["algbw_GBps"];
  const double ring = rows({"--sizes", "256M", "--algorithm", "ring"}, system)[0]["algbw_GBps"];
  EXPECT_GT(sharp, 1.3 * ring);
  EXPECT_LT(sharp, 25);
}

TEST(CollectiveCommand, does_not_depend_on_the_number_of_threads) {
  const std::vector<std::string> arguments = {"--sizes", "1K:16M:4", "--op", "alltoall"};
  std::vector<std::string> one = arguments;
  one.insert(one.end(), {"--threads", "1", "--json", "-"});
  std::vector<std::string> two = arguments;
  two.insert(two.end(), {"--threads", "2", "--json", "-"});
  EXPECT_EQ(collective(one, two_nodes("roce-v2")).out, collective(two, two_nodes("roce-v2")).out);
}

TEST(CollectiveCommand, refuses_what_it_does_not_know) {
  const std::string system = two_nodes();
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"--op", "allreduce"},
                                             {"--sizes", "8:"},
                                             {"--sizes", "1G:1M"},
                                             {"--sizes", "8Q"},
                                             {"--algorithm", "rings"},
                                             {"--algorithm", "sharp"},
                                             {"--algorithm", "tree", "--op", "all_gather"},
                                             {"--protocol", "ll256"},
                                             {"--channels", "0"}}) {
    const Execution run = collective(wrong, system);
    EXPECT_EQ(run.exit_code, 2) << wrong[0] << ' ' << wrong[1] << ": " << run.err;
    EXPECT_EQ(run.out, "");
  }
  EXPECT_TRUE(collective({"--algorithm", "sharp"}, system).err.starts_with("--algorithm: "));
  EXPECT_NE(collective({"--op", "allreduce"}, system).err.find("all_reduce"), std::string::npos);
}

TEST(ValidateCommand, refuses_what_its_kind_does_not_know) {
  const std::string folder = FABRICAST_SOURCE_DIR "/docs";
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
           {"--kind", "nccl", "--data", "/nowhere"},
           {"--kind", "nccl", "--data", folder},
           {"--kind", "nccl", "--data", folder, "--bulk"},
           {"--kind", "nccl", "--data", folder, "--fabric", "tcp"},
           {"--kind", "training", "--data", "/nowhere"},
           {"--kind", "training", "--data", folder},
           {"--kind", "training", "--data", folder, "--bulk"},
           {"--kind", "flow", "--data", folder}}) {
    std::vector<std::string> arguments = {"validate", "--quiet"};
    arguments.insert(arguments.end(), wrong.begin(), wrong.end());
    const Execution run = fabricast(arguments);
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_EQ(run.out, "");
  }
}

/// Two runs that are predicted, one of a model that nobody knows.
std::string training_table() {
  return file_with(
      "container,kind,model,system,num_gpus,precision,global_batch_samples,micro_batch_samples,"
      "seq_len_tokens,fsdp,tp,pp,cp,vp,ep,tokens_per_s_per_gpu,fabric,source\n"
      "26,Pre-Training,LLAMA3_8B,DGX-H100,16,FP8,32,1,8192,0,2,1,1,n/a,1,10000,IB NDR 400G x8,a\n"
      "26,Pre-Training,LLAMA3_8B,DGX-H100,8,FP8,16,1,8192,0,1,1,1,n/a,1,10000,single node,a\n"
      "26,Pre-Training,Unheard_of,DGX-H100,8,FP8,16,1,8192,0,1,1,1,n/a,1,1000,single node,b\n",
      "table.csv");
}

TEST(ValidateCommand, holds_training_tables_against_the_forecast) {
  const std::string table = training_table();
  const std::string folder = table.substr(0, table.rfind('/'));
  const Execution run =
      fabricast({"validate", "--kind", "training", "--data", folder, "--json", "-", "--quiet"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string command = FABRICAST_PYTHON " " FABRICAST_SOURCE_DIR
                                               "/tests/golden/validate.py " FABRICAST_SOURCE_DIR
                                               "/docs/validation.schema.json " +
                              file_with(run.out, "validation.json");
  EXPECT_EQ(std::system(command.c_str()), 0);  // NOLINT(cert-env33-c): our own validator
  const Json json = Json::parse(run.out);
  EXPECT_EQ(json["kinds"]["training"]["rows"], 2);
  EXPECT_EQ(json["kinds"]["training"]["skipped"], 1);
  EXPECT_EQ(json["skipped"][0]["reason"], "no model `Unheard_of` in the catalogue");
  // Six times 8 billion parameters and attention against half to all of the peak of 1,979 TFLOP/s.
  for (const Json& row : json["rows"]) {
    EXPECT_EQ(row["quantity"], "tokens_per_s_per_gpu");
    EXPECT_GT(row["predicted"].get<double>(), 8'000);
    EXPECT_LT(row["predicted"].get<double>(), 36'000);
  }
}

// One token of Llama 3.1 8B in bf16 reads 15 GB: 4.5 ms of an H100's 3.35 TB/s at the least, and a
// service that took twice that would be a poor one.
TEST(Validate, of_services_reports_both_times_of_each_row) {
  const std::string table = file_with(
      "model,system,backend,precision,gemm_quant,mode,isl_tokens,osl_tokens,concurrency,"
      "batch_size,tp,pp,attention_dp,moe_ep,ttft_ms,tpot_ms,sample_id,source\n"
      "Llama-3.1-8B,h100_sxm,vllm,,,agg,256,64,2,2,1,1,,1,40,7,a,x\n"
      "Unheard-of,h100_sxm,vllm,,,agg,256,64,2,2,1,1,,1,40,7,b,x\n",
      "table.csv");
  const std::string folder = table.substr(0, table.rfind('/'));
  const Execution run =
      fabricast({"validate", "--kind", "inference", "--data", folder, "--json", "-", "--quiet"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string command = FABRICAST_PYTHON " " FABRICAST_SOURCE_DIR
                                               "/tests/golden/validate.py " FABRICAST_SOURCE_DIR
                                               "/docs/validation.schema.json " +
                              file_with(run.out, "validation.json");
  EXPECT_EQ(std::system(command.c_str()), 0);  // NOLINT(cert-env33-c): our own validator
  const Json json = Json::parse(run.out);
  EXPECT_EQ(json["kinds"]["inference_ttft"]["rows"], 1);
  EXPECT_EQ(json["kinds"]["inference_ttft"]["skipped"], 1);
  EXPECT_EQ(json["kinds"]["inference_tpot"]["skipped"], 1);
  EXPECT_EQ(json["rows"][1]["quantity"], "tpot_ms");
  EXPECT_GT(json["rows"][1]["predicted"].get<double>(), 4.5);
  EXPECT_LT(json["rows"][1]["predicted"].get<double>(), 9);
}

TEST(ValidateCommand, names_the_cell_that_cannot_be_read) {
  const std::string table = file_with(
      "container,kind,model,system,num_gpus,precision,global_batch_samples,vp,source\n"
      "26,Pre,LLAMA3_8B,DGX-H100,many,FP8,32,1,a\n",
      "table.csv");
  const Execution run = fabricast(
      {"validate", "--kind", "training", "--data", table.substr(0, table.rfind('/')), "--quiet"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("table.csv:2:27: num_gpus: found `many`"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace fabricast::golden
