#pragma once
// Jobs and clusters for the tests, written out by hand.

#include "../collective/clusters.h"
#include "catalog/catalog.h"
#include "collective/choice.h"
#include "fabric/fabric.h"
#include "scenario/scenario.h"

namespace fabricast::test {

/// The numbers matter little; each test states the relation it is about.
inline catalog::Gpu h100() {
  catalog::Gpu gpu;
  gpu.id = "h100-sxm-80gb";
  gpu.fp32_tflops = 67;
  gpu.bf16_tflops = 989;
  gpu.fp8_tflops = 1979;
  gpu.memory_gb = 80;
  gpu.memory_gb_per_s = 3350;
  gpu.compute_capability = 9.0;
  gpu.nvlink_gb_per_s = 450;
  gpu.nvlink_usable_gb_per_s = 370;
  gpu.nvlink_latency_us = 0.6;
  gpu.nvls_share = 0.85;
  gpu.sms = 132;
  gpu.gemm_bf16 = {.efficiency = 0.7, .memory_share = 0.9};
  gpu.gemm_fp8 = gpu.gemm_bf16;
  gpu.attention = {.efficiency = 0.6};
  gpu.sustained_share = 1;
  gpu.kernel_launch_us = 2;
  gpu.kernel_variation_pct = 1;
  return gpu;
}

/// A node of so many GPUs, each with an adapter of 200 Gb/s.
inline collective::Machine machine(int gpus_per_node) {
  collective::Machine machine;
  machine.gpus_per_node = machine.nics_per_node = gpus_per_node;
  machine.nic_gb_per_s = 25;
  return machine;
}

inline scenario::TrainingSpec job(const catalog::LanguageModel& m,
                                  const model::Parallelism& parallelism) {
  scenario::TrainingSpec spec;
  spec.model = m;
  spec.shape.sequence = 4096;
  spec.shape.global_batch = 64;
  spec.shape.micro_batch = 1;
  spec.shape.parallelism = parallelism;
  spec.tokens = 1e9;
  spec.iterations = 50;
  return spec;
}

inline scenario::ValidScenario scenario_of(const scenario::TrainingSpec& spec, int nodes,
                                           int gpus_per_node) {
  scenario::ValidScenario s;
  s.name = "test";
  s.cluster.gpus = nodes * gpus_per_node;
  s.cluster.gpu = h100();
  s.cluster.topology = topology(nodes, gpus_per_node);
  s.workload = spec;
  return s;
}

}  // namespace fabricast::test
