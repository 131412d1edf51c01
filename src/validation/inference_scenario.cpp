#include "validation/inference_scenario.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "model/inference.h"
#include "validation/words.h"

namespace fabricast::validation {
namespace {

using catalog::Precision;

constexpr int kPerNode = 8;
constexpr int kRack = 72;  ///< GPUs of an NVL72
/// Requests of each client (InferenceMAX and aiconfigurator: num-prompts 10 x concurrency).
constexpr int kRequestsPerClient = 10;
/// InferenceMAX's lengths: from 80 % of what is stated to all of it, evenly.
constexpr double kShortest = 0.8;
constexpr int kOfflineRequests = 4000;  ///< of a replica: several generations of a full cache
constexpr int kMostGenerated = 1024;    ///< MLPerf's limit of an answer
/// Of a request's share of the cache when a layout is looked for: some that are answered at once.
constexpr double kFewestAtOnce = 32;

/// TensorRT-LLM's perf-overview.md: requests by lengths; others have 3,000.
int requests_at_once(int input, int output) {
  struct Test {
    int input;
    int output;
    int requests;
  };
  constexpr Test kTests[] = {{128, 128, 30000},  {128, 2048, 3000},  {128, 4096, 1500},
                             {500, 2000, 3000},  {1000, 1000, 3000}, {1000, 2000, 1500},
                             {1024, 2048, 1500}, {2048, 128, 3000},  {2048, 2048, 1500},
                             {5000, 500, 1500},  {20000, 2000, 1000}};
  for (const Test& test : kTests) {
    if (test.input == input && test.output == output) return test.requests;
  }
  return 3000;
}

std::string narrowest(const catalog::Gpu& gpu) {
  for (const Precision p : {Precision::kFp4, Precision::kFp8}) {
    if (gpu.peak_tflops(p) > 0) return std::string(catalog::name_of(p));
  }
  return "bf16";
}

Precision precision_of(const std::string& name) {
  return name == "fp4" ? Precision::kFp4 : name == "fp8" ? Precision::kFp8 : Precision::kBf16;
}

/// Published FP8 and FP4 checkpoints keep keys and values in FP8 (NVIDIA ModelOpt).
bool narrow_cache(const std::string& precision) {
  return precision != "bf16";
}

/// Sequences of this length that a replica's cache holds whole.
double sequences_held(const InferenceRow& row, const catalog::LanguageModel& m,
                      const catalog::Gpu& gpu, const catalog::ServingEngine& engine,
                      const std::string& precision, int tp) {
  model::InferenceShape shape;
  shape.precision = precision_of(precision);
  shape.cache_bytes = narrow_cache(precision) ? 1 : 2;
  shape.tp = tp;
  shape.pp = row.pp;
  const model::InferenceMemory memory = model::inference_memory(
      m, shape, engine.max_num_batched_tokens, std::min(engine.max_num_seqs, 256));
  const double left = gpu.memory_gb * engine.gpu_memory_utilization - memory.weights_gb -
                      memory.activations_gb - memory.overhead_gb;
  return left / ((row.input + row.output) * memory.cache_gb_per_token);
}

/// The fewest GPUs of a replica that hold the model and enough requests: a power of two.
int smallest_tp(const InferenceRow& row, const catalog::LanguageModel& m, const catalog::Gpu& gpu,
                const catalog::ServingEngine& engine, const std::string& precision) {
  const int most = std::min(kPerNode, row.gpus);
  for (int tp = 1; tp < most; tp *= 2) {
    if (sequences_held(row, m, gpu, engine, precision, tp) > kFewestAtOnce) return tp;
  }
  return most;
}

/// TensorRT-LLM takes no more sequences than it can bring to an end (GUARANTEED_NO_EVICT, its
/// default); 0: whatever the engine's limit is.
int never_evicted(const InferenceRow& row, const catalog::LanguageModel& m, const catalog::Gpu& gpu,
                  const catalog::ServingEngine& engine, const std::string& precision, int tp) {
  const bool flooded = row.load == Load::kAtOnce || row.load == Load::kOffline;
  if (engine.chunked_prefill || !flooded) return row.most_sequences;
  const double held = sequences_held(row, m, gpu, engine, precision, tp);
  return static_cast<int>(std::clamp(held, 1.0, 1.0 * engine.max_num_seqs));
}

std::string cluster_yaml(int gpus, const catalog::Gpu& gpu) {
  int node = std::min(gpus, gpu.id.starts_with("gb") ? kRack : kPerNode);
  while (gpus % node != 0) --node;
  const bool alone = node == gpus;
  return fmt::format(
      "cluster:\n  gpus: {}\n  gpu: {}\n  gpus_per_node: {}\n  nics_per_node: {}\n"
      "  nic_gbps: 400\n  topology: {{ kind: {} }}\nfabrics: [infiniband]\n",
      gpus, gpu.id, node, alone ? 1 : node, gpus <= 32 ? "single-switch" : "fat-tree");
}

std::string lengths_yaml(const InferenceRow& row) {
  const auto length = [&](const char* key, int tokens) {
    if (row.load == Load::kOffline || row.load == Load::kServer) {
      return fmt::format("  {}: {{ kind: exponential, mean: {}, max: {} }}\n", key, tokens,
                         kMostGenerated);
    }
    if (!row.ranged) return fmt::format("  {}: {}\n", key, tokens);
    return fmt::format("  {}: {{ kind: uniform, min: {}, max: {} }}\n", key,
                       std::lround(kShortest * tokens), tokens);
  };
  return length("context", row.input) + length("output", row.output);
}

std::string arrival_yaml(const InferenceRow& row) {
  int clients = row.clients;
  int requests = row.clients * kRequestsPerClient;
  switch (row.load) {
    case Load::kTrace:
      return fmt::format("  arrival: {{ kind: trace, file: {} }}\n", row.path);
    case Load::kServer:
      return "  arrival: { kind: poisson, qps: QPS }\n" + lengths_yaml(row);
    case Load::kOffline:
      clients = requests = kOfflineRequests;
      break;
    case Load::kAtOnce:
      clients = requests = requests_at_once(row.input, row.output);
      break;
    case Load::kClosed:
      break;
  }
  return fmt::format("  arrival: {{ kind: closed, concurrency: {} }}\n  requests: {}\n", clients,
                     requests) +
         lengths_yaml(row);
}

/// Measured without shared beginnings, so that nothing is found in a cache.
std::string engine_yaml(const InferenceRow& row, int most_sequences) {
  std::string yaml = fmt::format("  engine: {{ name: {}, prefix_caching: false", row.engine);
  if (most_sequences > 0) yaml += fmt::format(", max_num_seqs: {}", most_sequences);
  if (row.most_tokens > 0) yaml += fmt::format(", max_num_batched_tokens: {}", row.most_tokens);
  // The benches of TensorRT-LLM and MLPerf have no server in front of the engine.
  if (row.load != Load::kClosed && row.load != Load::kTrace) yaml += ", request_us: 0";
  return yaml + " }\n";
}

std::string workload_yaml(const InferenceRow& row, const catalog::LanguageModel& m, int tp,
                          const std::string& precision, int most_sequences) {
  std::string yaml = fmt::format(
      "workload:\n  kind: serving\n  model: {}\n  precision: {}\n  kv_cache: {}\n"
      "  tp: {}\n  pp: {}\n",
      m.id, precision, narrow_cache(precision) ? "fp8" : "bf16", tp, row.pp);
  if (row.dp > 1) yaml += fmt::format("  attention_dp: {}\n", row.dp);
  // Experts over some of the GPUs and cut over the others: as many bytes of each on every GPU.
  if (m.experts > 0 && row.ep == tp * row.dp && row.ep > 1) yaml += "  expert_parallel: true\n";
  if (row.disaggregated) {
    yaml += fmt::format("  disaggregation: {{ prefill_replicas: {}, prefill_tp: {} }}\n",
                        std::max(1, row.prefill_workers), row.prefill_tp);
  }
  return yaml + engine_yaml(row, most_sequences) + arrival_yaml(row);
}

InferenceScenario without(std::string reason) {
  return {"", std::move(reason), 1};
}

}  // namespace

InferenceScenario scenario_of(const InferenceRow& row, const catalog::Catalog& catalog) {
  if (!row.skipped.empty()) return without(row.skipped);
  const catalog::Gpu* gpu = gpu_named(row.gpu, catalog);
  if (gpu == nullptr) return without(fmt::format("no GPU `{}` in the catalogue", row.gpu));
  const catalog::LanguageModel* m = model_named(row.model, catalog);
  if (m == nullptr) return without(fmt::format("no model `{}` in the catalogue", row.model));
  if (row.load == Load::kClosed && row.clients == 0) {
    return without("the table has no concurrency");
  }
  const std::string precision = row.precision.empty() ? narrowest(*gpu) : row.precision;
  const catalog::ServingEngine& engine = catalog.engine(row.engine, {});
  const int tp = row.tp > 0 ? row.tp : smallest_tp(row, *m, *gpu, engine, precision);
  int gpus = tp * row.pp * row.dp;
  double replicas = row.gpus > 0 ? 1.0 * row.gpus / gpus : 1;
  if (row.disaggregated) {
    if (row.prefill_tp == 0) return without("the table does not say how prompts are spread");
    gpus =
        gpus * std::max(1, row.decode_workers) + row.prefill_tp * std::max(1, row.prefill_workers);
    replicas = 1;
  }
  return {.yaml = cluster_yaml(gpus, *gpu) +
                  workload_yaml(row, *m, tp, precision,
                                never_evicted(row, *m, *gpu, engine, precision, tp)),
          .skipped = "",
          .replicas = replicas};
}

}  // namespace fabricast::validation
