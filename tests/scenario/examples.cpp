#include "examples.h"

#include <gtest/gtest.h>

namespace fabricast::scenario::testing {

namespace {
constexpr const char* kFile = "job.yaml";
}

const catalog::Catalog& known() {
  static const catalog::Catalog catalog = catalog::Catalog::load(FABRICAST_SOURCE_DIR "/catalog");
  return catalog;
}

std::string full_example() {
  return R"(name: train-32-70b
cluster:
  gpus: 32
  gpu: h100-sxm-80gb
  gpus_per_node: 8
  nics_per_node: 8
  nic_gbps: 200
  host: { pcie: gen5-x16, gpudirect: true, acs: false, nic_affinity: pix }
  topology: { kind: leaf-spine, oversubscription: 1.0, cable_m: 10 }
fabrics: [infiniband, roce-v2, tcp]
workload:
  kind: training
  model: llama2-70b
  precision: fp8
  sequence: 4096
  global_batch: 512
  micro_batch: 1
  parallelism: auto
  tokens: 100e6
  iterations: 200
background: [{kind: storage, load: 0.05}]
faults: []
budget: { total: 20e6, currency: CNY }
constraints: { existing_ethernet: false, growth_gpus: 64 }
seed: 1
)";
}

std::string changed(std::string text, const std::string& piece, const std::string& replacement) {
  std::size_t at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << "the example has no `" << piece << "`";
  while (at != std::string::npos) {
    text.replace(at, piece.size(), replacement);
    at = text.find(piece, at + replacement.size());
  }
  return text;
}

std::string changed(const std::string& piece, const std::string& replacement) {
  return changed(full_example(), piece, replacement);
}

ValidScenario accepted(const std::string& text) {
  return parse(text, kFile, known());
}

std::string refusal(const std::string& text) {
  try {
    accepted(text);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::ErrorKind::kInput);
    return error.what();
  }
  return "accepted";
}

std::string not_simulated(const std::string& text) {
  const ValidScenario scenario = accepted(text);
  try {
    require_simulated(scenario);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::ErrorKind::kInput);
    return error.what();
  }
  return "accepted";
}

}  // namespace fabricast::scenario::testing
