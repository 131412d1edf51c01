#pragma once
// Scenarios with as little to simulate as there is.

#include <string>

namespace fabricast::golden {

/// A scenario on four GPUs; `more` are lines of its own at the end.
inline std::string small_scenario(const std::string& model = "llama2-7b",
                                  const std::string& more = "") {
  return "name: small\n"
         "cluster: { gpus: 4, gpu: h100-sxm-80gb, gpus_per_node: 2, nics_per_node: 2,\n"
         "           nic_gbps: 200, topology: { kind: single-switch } }\n"
         "fabrics: [infiniband]\n"
         "workload: { kind: training, model: " +
         model +
         ", precision: bf16, sequence: 1024, global_batch: 4,\n"
         "            parallelism: { tp: 2, pp: 2 }, tokens: 1e6, iterations: 10 }\n" +
         more;
}

}  // namespace fabricast::golden
