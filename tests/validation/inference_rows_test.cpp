// From the tables of published serving runs to rows, and from rows to the scenarios simulated.

#include "validation/inference_rows.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "scenario/scenario.h"
#include "validation/inference_check.h"
#include "validation/inference_scenario.h"
#include "validation/words.h"

namespace fabricast::validation {
namespace {

const catalog::Catalog& shipped() {
  static const auto loaded = catalog::Catalog::load(FABRICAST_SOURCE_DIR "/catalog");
  return loaded;
}

/// A file of its own, removed at the end of the test.
class InferenceRows : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::vector<InferenceRow> read(const std::string& text) {
    std::ofstream(path_) << text;
    return read_inference_rows(path_).value();
  }

  std::string folder_ =
      std::filesystem::temp_directory_path() / ("inference_rows_" + std::to_string(::getpid()));
  std::string path_ = folder_ + "/rows.csv";
};

const std::string kServing =
    "model,system,backend,backend_version,precision,gemm_quant,mode,isl_tokens,osl_tokens,"
    "concurrency,batch_size,tp,pp,attention_dp,moe_ep,prefill_workers,prefill_tp,prefill_attn_dp,"
    "decode_workers,decode_tp,decode_attn_dp,decode_batch,ttft_ms,tpot_ms,sample_id,source\n";
const std::string kOffline =
    "model,gpu,num_gpus,tp,pp,quant,isl_tokens,osl_tokens,total_output_tokens_per_s,source\n";
const std::string kMlperf =
    "division,submitter,system,model,scenario,accelerator,accelerators_per_node,nodes,"
    "tokens_per_s,samples_per_s,framework,source\n";
const std::string kRequests =
    "request_id,input_tokens,output_tokens,arrival_s,queued_s,scheduled_s,first_token_s,"
    "last_token_s,source\n";

scenario::ValidScenario job_of(const InferenceRow& row) {
  const InferenceScenario scenario = scenario_of(row, shipped());
  EXPECT_EQ(scenario.skipped, "");
  return scenario::parse(scenario.yaml, "job", shipped(), {});
}

const scenario::ServingSpec& serving(const scenario::ValidScenario& job) {
  return std::get<scenario::ServingSpec>(job.workload);
}

TEST_F(InferenceRows, of_a_closed_loop_have_ten_requests_for_each_client) {
  const auto rows = read(kServing +
                         "Qwen/Qwen3-32B,h100_sxm,vllm,0.12.0,,,agg,1024,512,16,16,2,1,,1,,,,,,,,"
                         "189.63,17.8813,qwen_1,x\n");
  ASSERT_EQ(rows.size(), 1U);
  ASSERT_EQ(rows[0].measures.size(), 2U);
  EXPECT_EQ(rows[0].measures[0].kind, "inference_ttft");
  EXPECT_EQ(rows[0].measures[0].value, 189.63);
  EXPECT_EQ(rows[0].measures[1].quantity, "tpot_ms");
  const auto job = job_of(rows[0]);
  EXPECT_EQ(job.cluster.gpus, 2);
  EXPECT_EQ(serving(job).model.id, "qwen3-32b");
  EXPECT_EQ(serving(job).shape.precision, catalog::Precision::kBf16);
  EXPECT_EQ(serving(job).shape.cache_bytes, 2);
  EXPECT_EQ(serving(job).concurrency, 16);
  EXPECT_EQ(serving(job).requests, 160);
  EXPECT_EQ(serving(job).context.least, 1024);
  EXPECT_EQ(serving(job).engine.id, "vllm");
}

TEST_F(InferenceRows, named_by_a_date_have_the_lengths_of_inferencemax) {
  const auto rows = read(kServing +
                         "deepseek-ai/DeepSeek-R1,b200_sxm,trtllm,,fp4,nvfp4,agg,8192,1024,256,4,1,"
                         "1,64,8,,,,,,,,3316.05,29.6733,2026_03_25_deepseek_r1_1,x\n");
  const auto job = job_of(rows.at(0));
  EXPECT_EQ(serving(job).model.id, "deepseek-v3");
  EXPECT_EQ(serving(job).context.least, 6554);
  EXPECT_EQ(serving(job).context.most, 8192);
  // 64 attention ranks in the table are 8, times the 8 ranks of the experts.
  EXPECT_EQ(serving(job).shape.dp, 8);
  EXPECT_TRUE(serving(job).shape.expert_parallel);
  EXPECT_EQ(serving(job).shape.precision, catalog::Precision::kFp4);
  EXPECT_EQ(serving(job).shape.cache_bytes, 1);
}

TEST_F(InferenceRows, of_disaggregated_services_have_one_worker_of_each_where_none_are_counted) {
  const auto rows = read(kServing +
                         "deepseek-ai/DeepSeek-R1,gb200,trtllm,,fp4,nvfp4,disagg,1024,1024,48,,,,,,"
                         ",4,1,,8,1,,2137,4.6,2026_03_25_x,x\n"
                         "Qwen/Qwen3-32B,h100_sxm,sglang,,fp8,fp8_block,disagg,4000,1000,,,,,,,5,1,"
                         "1,11,1,1,48,566,22.3,qwen_x,x\n");
  const auto one = job_of(rows.at(0));
  EXPECT_EQ(one.cluster.gpus, 12);
  EXPECT_EQ(serving(one).disaggregation->prefill_tp, 4);
  const auto several = job_of(rows.at(1));
  EXPECT_EQ(several.cluster.gpus, 16);
  EXPECT_EQ(serving(several).disaggregation->prefill_replicas, 5);
  EXPECT_EQ(serving(several).concurrency, 11 * 48);
}

TEST_F(InferenceRows, without_clients_or_of_unknown_models_are_skipped_with_the_reason) {
  const auto rows = read(kServing +
                         "Qwen/Qwen3-32B,h100_sxm,vllm,,,,agg,1024,512,,,2,1,,1,,,,,,,,18,17,x,x\n"
                         "some/Model-1B,h100_sxm,vllm,,,,agg,1024,512,8,8,2,1,,1,,,,,,,,18,17,x,x"
                         "\n");
  EXPECT_EQ(scenario_of(rows.at(0), shipped()).skipped, "the table has no concurrency");
  EXPECT_EQ(scenario_of(rows.at(1), shipped()).skipped,
            "no model `some/Model-1B` in the catalogue");
}

TEST_F(InferenceRows, of_tensorrt_llms_overview_are_all_there_at_the_beginning) {
  const auto rows = read(kOffline +
                         "Llama-3.3-70B,RTX6000-Pro-Blackwell-SE,4,1,4,FP4,1000,1000,"
                         "5961,x\n");
  const auto job = job_of(rows.at(0));
  EXPECT_EQ(job.cluster.gpu.id, "rtx-pro-6000");
  EXPECT_EQ(serving(job).model.id, "llama3.1-70b");
  EXPECT_EQ(serving(job).shape.pp, 4);
  EXPECT_EQ(serving(job).concurrency, 3000);
  EXPECT_EQ(serving(job).requests, 3000);
  EXPECT_EQ(serving(job).engine.request_us, 0);
}

TEST_F(InferenceRows, of_mlperf_are_replicas_on_as_few_gpus_as_hold_the_model) {
  const auto rows = read(kMlperf +
                         "closed,A,s,llama2-70b-99,Offline,NVIDIA H100-SXM-80GB,8,1,24525,84.4,"
                         "TensorRT 10.2.0,x\n"
                         "open,A,s_DepthPruned,llama2-70b-99,Offline,NVIDIA H200-SXM-141GB,1,1,"
                         "11189,67.9,TensorRT,x\n");
  // 70 GB of FP8 weights leave nothing of 80 GB for a cache.
  const InferenceScenario scenario = scenario_of(rows.at(0), shipped());
  EXPECT_EQ(scenario.replicas, 4);
  EXPECT_EQ(job_of(rows[0]).cluster.gpus, 2);
  EXPECT_FALSE(rows.at(1).predictable);
  EXPECT_EQ(rows.at(1).skipped, "a model that was made smaller");
}

TEST_F(InferenceRows, of_requests_are_one_run_with_percentiles) {
  const auto rows = read(kRequests +
                         "a,100,11,0.0,0,0,0.5,1.5,x\n"
                         "b,100,1,1.0,0,0,1.25,1.25,x\n");
  ASSERT_EQ(rows.size(), 1U);
  ASSERT_EQ(rows[0].measures.size(), 6U);
  EXPECT_EQ(rows[0].measures[0].quantity, "ttft_p50_ms");
  EXPECT_DOUBLE_EQ(rows[0].measures[0].value, 250);
  EXPECT_DOUBLE_EQ(rows[0].measures[1].value, 500);
  EXPECT_DOUBLE_EQ(rows[0].measures[3].value, 100);  // tpot, of the only one that has it
  EXPECT_DOUBLE_EQ(rows[0].measures[5].value, 1500);
  EXPECT_EQ(serving(job_of(rows[0])).trace->requests.size(), 2U);
}

TEST_F(InferenceRows, of_other_columns_are_no_table_of_serving) {
  std::ofstream(path_) << "a,b\n1,2\n";
  EXPECT_FALSE(read_inference_rows(path_).has_value());
}

// Tokens that one H100 gives to one client: the weights, read once for each, take 14.4 GB / 3.35
// TB/s = 4.3 ms, and nothing makes that shorter.
TEST_F(InferenceRows, are_forecast_whatever_the_number_of_threads) {
  std::ofstream(path_) << kServing
                       << "meta-llama/Llama-3.1-8B-Instruct,h100_sxm,vllm,,,,agg,128,32,1,1,1,1,,1,"
                          ",,,,,,,20,6,x,x\n"
                          "meta-llama/Llama-3.1-8B-Instruct,h100_sxm,vllm,,,,agg,128,32,4,4,1,1,,1,"
                          ",,,,,,,30,6,x,x\n";
  InferenceCheckOptions options;
  options.data = folder_;
  const InferenceCheck one = inference_check(shipped(), options);
  options.threads = 2;
  const InferenceCheck two = inference_check(shipped(), options);
  ASSERT_EQ(one.rows.size(), 4U);
  EXPECT_GT(one.rows[1].predicted, 4.3);
  for (std::size_t i = 0; i < one.rows.size(); ++i) {
    EXPECT_EQ(one.rows[i].predicted, two.rows.at(i).predicted);
  }
}

}  // namespace
}  // namespace fabricast::validation
