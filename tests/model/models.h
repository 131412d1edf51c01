#pragma once
// Public configurations (config.json of each model's release) and data-sheet GPUs for tests,
// written out by hand so that the arithmetic is tested apart from the catalogue.

#include "catalog/catalog.h"

namespace fabricast::model::testing {

inline catalog::LanguageModel dense(const char* id, int layers, int hidden, int feed_forward,
                                    int heads, int kv_heads, int vocabulary) {
  catalog::LanguageModel m;
  m.id = id;
  m.layers = layers;
  m.hidden = hidden;
  m.feed_forward = feed_forward;
  m.heads = heads;
  m.kv_heads = kv_heads;
  m.head_dim = hidden / heads;
  m.vocabulary = vocabulary;
  return m;
}

inline catalog::LanguageModel llama2_7b() {
  return dense("llama2-7b", 32, 4096, 11008, 32, 32, 32000);
}
inline catalog::LanguageModel llama2_13b() {
  return dense("llama2-13b", 40, 5120, 13824, 40, 40, 32000);
}
inline catalog::LanguageModel llama2_70b() {
  return dense("llama2-70b", 80, 8192, 28672, 64, 8, 32000);
}
inline catalog::LanguageModel llama3_8b() {
  return dense("llama3-8b", 32, 4096, 14336, 32, 8, 128256);
}
inline catalog::LanguageModel llama3_70b() {
  return dense("llama3-70b", 80, 8192, 28672, 64, 8, 128256);
}
inline catalog::LanguageModel llama3_405b() {
  return dense("llama3-405b", 126, 16384, 53248, 128, 8, 128256);
}

inline catalog::LanguageModel mixtral_8x7b() {
  catalog::LanguageModel m = dense("mixtral-8x7b", 32, 4096, 14336, 32, 8, 32000);
  m.experts = 8;
  m.experts_per_token = 2;
  m.expert_feed_forward = 14336;
  return m;
}

inline catalog::LanguageModel qwen2_72b() {
  catalog::LanguageModel m = dense("qwen2-72b", 80, 8192, 29568, 64, 8, 152064);
  m.attention_bias = true;
  return m;
}

/// Llama 3.2 1B shares its input and output embedding.
inline catalog::LanguageModel llama32_1b() {
  catalog::LanguageModel m = dense("llama3.2-1b", 16, 2048, 8192, 32, 8, 128256);
  m.tied_embeddings = true;
  return m;
}

inline catalog::LanguageModel deepseek_v3() {
  catalog::LanguageModel m = dense("deepseek-v3", 61, 7168, 18432, 128, 128, 129280);
  m.experts = 256;
  m.experts_per_token = 8;
  m.shared_experts = 1;
  m.expert_feed_forward = 2048;
  m.dense_layers = 3;
  m.q_lora_rank = 1536;
  m.kv_lora_rank = 512;
  m.qk_rope_head_dim = 64;
  m.qk_nope_head_dim = 128;
  m.v_head_dim = 128;
  return m;
}

/// GPT-3 as Korthikanti et al. 2022, table 3, trains it: MLP of 4h with GeLU.
inline catalog::LanguageModel gpt3_175b() {
  catalog::LanguageModel m = dense("gpt3-175b", 96, 12288, 4 * 12288, 96, 96, 51200);
  m.gated_mlp = false;
  return m;
}

/// A share of the peak and of the memory's rate, whatever the shape.
inline catalog::GemmCurve flat(double efficiency) {
  return {.efficiency = efficiency, .memory_share = 0.9, .split_us = 1e6};
}

/// NVIDIA H100 SXM data sheet: dense peaks, 3.35 TB/s, NVLink 900 GB/s both ways. The efficiencies
/// are round numbers for the tests, not claims.
inline catalog::Gpu h100() {
  catalog::Gpu g;
  g.id = "h100-sxm-80gb";
  g.fp32_tflops = 67;
  g.bf16_tflops = 989.4;
  g.fp8_tflops = 1978.9;
  g.memory_gb = 80;
  g.memory_gb_per_s = 3350;
  g.nvlink_gb_per_s = 450;
  g.nvlink_latency_us = 2;
  g.pcie_gb_per_s = 64;
  g.sms = 132;
  g.gemm_bf16 = flat(0.7);
  g.gemm_fp8 = flat(0.6);
  g.attention = {.efficiency = 0.5};
  g.decode = {.memory_share = 0.9, .stream_gb_per_s = 50};
  g.sustained_share = 1;
  g.kernel_launch_us = 2;
  return g;
}

/// NVIDIA A100 SXM data sheet: no FP8.
inline catalog::Gpu a100() {
  catalog::Gpu g = h100();
  g.id = "a100-sxm-80gb";
  g.fp32_tflops = 19.5;
  g.bf16_tflops = 312;
  g.fp8_tflops = 0;
  g.memory_gb_per_s = 2039;
  g.nvlink_gb_per_s = 300;
  return g;
}

}  // namespace fabricast::model::testing
