// From the tables of published training runs to rows, and from rows to the scenarios simulated.

#include "validation/training_rows.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "scenario/scenario.h"
#include "validation/training_scenario.h"
#include "validation/words.h"

namespace fabricast::validation {
namespace {

const catalog::Catalog& shipped() {
  static const auto loaded = catalog::Catalog::load(FABRICAST_SOURCE_DIR "/catalog");
  return loaded;
}

/// A file of its own, removed at the end of the test.
class TrainingRows : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  std::vector<TrainingRow> read(const std::string& text) {
    std::ofstream(path_) << text;
    return read_training_rows(path_).value();
  }
  std::string refusal(const std::string& text) {
    try {
      read(text);
    } catch (const base::Error& error) {
      return std::string(error.what()).substr(path_.size());
    }
    return "";
  }

  std::string path_ = std::filesystem::temp_directory_path() /
                      ("training_rows_" + std::to_string(::getpid()) + ".csv");
};

const std::string kFoundry =
    "table,model,seq_len_tokens,num_gpus,gpu,micro_batch_samples,grad_accum,global_batch_samples,"
    "tokens_per_s_per_gpu,precision,sharding,activation_checkpointing,fabric,source\n";
const std::string kBridge =
    "container,kind,model,system,num_gpus,precision,global_batch_samples,micro_batch_samples,"
    "seq_len_tokens,fsdp,tp,pp,cp,vp,ep,tokens_per_s_per_gpu,fabric,source\n";
const std::string kMlperf =
    "mlperf_round,submitter,system,benchmark,gpus_per_node,num_gpus,accelerator,fabric_class,"
    "seq_len_tokens,global_batch_samples,tp,pp,cp,dp,micro_batch_samples,parallelism_from,"
    "tokens_per_s_per_gpu,host_networking_declared,source\n";
const std::string kMisc =
    "model,gpu,num_gpus,tp,pp,cp,dp,micro_batch_samples,global_batch_samples,seq_len_tokens,"
    "precision,tokens_per_s_per_gpu,tflops_per_gpu,step_time_s,fabric,note,source\n";

scenario::ValidScenario job_of(const TrainingRow& row) {
  const TrainingScenario scenario = scenario_of(row, shipped());
  EXPECT_EQ(scenario.skipped, "");
  return scenario::parse(scenario.yaml, "job", shipped(), {.seed = {}, .ran = true});
}

const scenario::TrainingSpec& training(const scenario::ValidScenario& job) {
  return std::get<scenario::TrainingSpec>(job.workload);
}

TEST_F(TrainingRows, of_llm_foundry_are_fsdp) {
  const auto rows = read(kFoundry +
                         "\"H100 80GB BF16 (Large Scale, >= 128 GPUs)\",13b,2048,256,h100_80gb,16,"
                         "1,4096,4989,amp_bf16,FULL_SHARD,True,3200 Gbps/node (not stated),x\n"
                         "A100,1b,2048,16,a100_40gb,8,1,128,19085,bf16,SHARD_GRAD_OP,False,"
                         "RoCE 1600 Gbps/node,x\n");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].line, 2);
  EXPECT_EQ(rows[0].quantity, "tokens_per_s_per_gpu");
  EXPECT_EQ(rows[0].measured, 4989);
  const auto first = job_of(rows[0]);
  EXPECT_EQ(training(first).model.id, "mpt-13b");
  EXPECT_EQ(training(first).shape.parallelism.zero, 3);
  EXPECT_EQ(training(first).shape.recompute, model::Recompute::kFull);
  EXPECT_EQ(first.cluster.gpu.id, "h100-sxm-80gb");
  EXPECT_DOUBLE_EQ(first.cluster.topology.nic_rate.gbps(), 400);
  const auto second = job_of(rows[1]);
  EXPECT_EQ(training(second).shape.parallelism.zero, 2);
  EXPECT_EQ(second.cluster.gpu.id, "a100-40gb-sxm");
  EXPECT_DOUBLE_EQ(second.cluster.topology.nic_rate.gbps(), 200);
  EXPECT_EQ(second.fabrics[0].profile.id, "roce-v2");
}

// 256 GPUs of racks of 72 are four times 64; 126 layers in 16 x 8 parts of which two are the ends.
TEST_F(TrainingRows, of_megatron_bridge_have_a_layout) {
  const auto rows = read(kBridge +
                         "26.06,Pre-Training Performance,LLAMA3.1_405B,DGX-GB200,256,NVFP4,1536,1,"
                         "8192,,4,16,1,8,n/a,1166,NVL72 + IB,x\n"
                         "26.06,Pre-Training Performance,Qwen3_235B_a22B,DGX-H100,256,FP8,8192,1,"
                         "4096,0,2,8,1,4,32,1712,IB NDR 400G x8 (DGX),x\n"
                         "26.06,LoRA Performance,LLAMA3_70B,DGX-GB300,8,FP8,32,1,4096,,1,2,1,20,"
                         "n/a,7481,NVL72 + IB,x\n");
  const auto dense = job_of(rows[0]);
  EXPECT_EQ(dense.cluster.topology.gpus_per_node, 64);
  EXPECT_EQ(training(dense).shape.precision, catalog::Precision::kFp4);
  EXPECT_EQ(training(dense).shape.parallelism.dp, 4);
  EXPECT_EQ(training(dense).shape.parallelism.vpp, 8);
  // 16 replicas hold the 128 experts; 32-way expert parallelism takes tp along.
  EXPECT_EQ(training(job_of(rows[1])).shape.parallelism.ep, 16);
  EXPECT_FALSE(training(job_of(rows[2])).shape.finetuning.full());
}

TEST_F(TrainingRows, of_mlperf_say_what_was_declared) {
  const auto rows = read(
      kMlperf +
      "v5.1,NVIDIA,theia,llama2_70b_lora,4,8,NVIDIA Blackwell Ultra GPU (GB300),IB,8192,8,,,,,,"
      "\"ambiguous:[(1, 1, 1), (1, 1, 2)]\",10961.2,4x ConnectX-8 IB XDR 800 Gb/s,x\n"
      "v5.1,Cisco,c,llama2_70b_lora,8,16,NVIDIA H200-SXM5-141GB,\"Ethernet/RoCE\",8192,8,4,1,2,2,,"
      "log,2391.8,\"Compute: 8x MT43244 BlueField-3 200Gb/s; Management: 2x100Gb/s\",x\n"
      "v3.1,Intel,g,gpt3,8,256,Intel Gaudi2,Ethernet,2048,2048,,,,,,unknown,,,x\n");
  EXPECT_EQ(rows[0].precision, "fp4");
  EXPECT_EQ(rows[0].tp, 1);
  EXPECT_EQ(rows[1].precision, "fp8");
  const auto job = job_of(rows[1]);
  EXPECT_EQ(job.cluster.gpu.id, "h200-sxm");
  EXPECT_DOUBLE_EQ(job.cluster.topology.nic_rate.gbps(), 200);
  EXPECT_EQ(training(job).shape.finetuning.rank, 16);
  EXPECT_FALSE(rows[2].measures);
  EXPECT_EQ(scenario_of(rows[2], shipped()).skipped, rows[2].skipped);
}

TEST_F(TrainingRows, of_papers_are_read_by_their_notes) {
  const auto rows = read(
      kMisc +
      "GPT-3-175B,A100-80GB,64,8,8,1,1,1,64,2048,fp16,,,13.75,IB HDR 8x200G (Selene),"
      "\"sequence parallel + selective recompute, VP=3\",Korthikanti\n"
      "Llama-3.1-405B,H100-96GB,512,8,8,1,8,32,256,8192,fp8 asyncTP interleaved-1F1B,128,,,"
      "RDMA 400 Gb/s per GPU,full AC,pytorch/torchtitan\n"
      "Llama-2-7B,H100,64,4,1,2,8,,64,65536,fp8,,574,,DGX (IB),with CP,NVIDIA/NeMo "
      "docs/source/x.md\n"
      "Llama-3-8B,GB300,8,,,,,,,,fp8,,1922.73,3.50876,NVL72 + RoCEv2 (ConnectX-8 800G),weak,OCI\n");
  EXPECT_EQ(rows[0].quantity, "step_time_s");
  EXPECT_EQ(rows[0].recompute, "selective");
  EXPECT_EQ(rows[0].vpp, 3);
  // torchtitan: as many micro-batches as stages.
  EXPECT_EQ(rows[1].micro_batch, 4);
  EXPECT_EQ(rows[1].vpp, 2);
  EXPECT_EQ(job_of(rows[1]).cluster.gpu.id, "grand-teton-h100-96gb");
  // NeMo's formula of the time: 12 s/h, the whole square of attention.
  EXPECT_TRUE(rows[2].whole_square);
  EXPECT_EQ(training(job_of(rows[2])).shape.parallelism.dp, 8);
  // 1,922.73 TFLOP/s x 8 GPUs x 3.50876 s are 128 sequences of 8,192 tokens.
  EXPECT_EQ(rows[3].quantity, "tflops_per_gpu");
  EXPECT_FALSE(rows[3].whole_square);
  EXPECT_EQ(training(job_of(rows[3])).shape.global_batch, 128);
}

TEST_F(TrainingRows, written_from_memory_are_no_data) {
  const auto rows = read(
      "model,gpu,num_gpus,tflops_per_gpu,total_pflops,confidence,source\n"
      "GPT 1.7B,A100-80GB,32,137,4.4,recalled,x\n");
  EXPECT_FALSE(rows[0].measures);
  EXPECT_EQ(rows[0].skipped, "written from memory, not data");
}

TEST_F(TrainingRows, that_cannot_be_read_are_refused_at_their_cell) {
  EXPECT_EQ(refusal(kFoundry + "t,13b,2048,x,h100_80gb,16,1,64,1,amp_bf16,FULL_SHARD,True,f,s\n"),
            ":2:12: num_gpus: found `x`; allowed a whole number from 1 to 1000000000");
  EXPECT_EQ(refusal(kFoundry + "t,13b,2048,8,h100_80gb,16,1,64,-1,amp_bf16,FULL_SHARD,True,f,s\n"),
            ":2:32: tokens_per_s_per_gpu: found `-1`; allowed a number from 1e-09");
  EXPECT_EQ(refusal(kFoundry + "t,13b,2048\n"),
            ":2:1: found 3 cells; allowed 14, as the header has");
}

TEST_F(TrainingRows, of_another_table_are_none) {
  std::ofstream(path_) << "a,b\n1,2\n";
  EXPECT_FALSE(read_training_rows(path_).has_value());
}

TEST(Words, name_gpus_and_models_as_people_write_them) {
  const auto gpu = [](const std::string& text) {
    const catalog::Gpu* found = gpu_named(text, shipped());
    return found == nullptr ? "" : found->id;
  };
  EXPECT_EQ(gpu("NVIDIA Blackwell GPU (B200-SXM-180GB)"), "b200-sxm");
  EXPECT_EQ(gpu("NVIDIA Blackwell Ultra GPU (GB300)"), "gb300");
  EXPECT_EQ(gpu("AMD Instinct MI300X 192GB HBM3"), "mi300x");
  EXPECT_EQ(gpu("DGX-H100"), "h100-sxm-80gb");
  EXPECT_EQ(gpu("a100_80gb"), "a100-sxm-80gb");
  EXPECT_EQ(gpu("NVIDIA H200-NVL-141GB"), "");
  EXPECT_EQ(gpu("TPU-v5p"), "");
  const auto model = [](const std::string& text) {
    const catalog::LanguageModel* found = model_named(text, shipped());
    return found == nullptr ? "" : found->id;
  };
  EXPECT_EQ(model("LLAMA3.1_405B"), "llama3-405b");
  EXPECT_EQ(model("Qwen3_30B_a3B"), "qwen3-30b-a3b");
  EXPECT_EQ(model("Llama-2-like 13B"), "llama2-13b");
  EXPECT_EQ(model("GPT OSS 120B"), "gpt-oss-120b");
  EXPECT_EQ(model("Nemotron_3_Nano"), "");
}

}  // namespace
}  // namespace fabricast::validation
