#include "validation/inference_rows.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include <fmt/format.h>

#include "base/statistics.h"
#include "calibrate/tables.h"
#include "validation/words.h"

namespace fabricast::validation {
namespace {

using calibrate::Table;

constexpr const char* kTtft = "inference_ttft";
constexpr const char* kTpot = "inference_tpot";
constexpr const char* kLatency = "inference_latency";
constexpr const char* kThroughput = "inference_throughput";

/// Unquantised where the table says nothing.
std::string precision_of(const std::string& text) {
  if (has(text, "fp4")) return "fp4";
  if (has(text, "fp8")) return "fp8";
  return "bf16";
}

std::string engine_of(const std::string& text) {
  if (has(text, "trt") || has(text, "tensorrt")) return "tensorrt-llm";
  if (has(text, "sglang")) return "sglang";
  return "vllm";
}

InferenceRow common(const Table& table, std::size_t i, const std::string& path) {
  InferenceRow row;
  row.path = path;
  row.file = std::filesystem::path(path).filename().string();
  row.line = table.place(i, "source").line;
  row.source = table.text(i, "source");
  return row;
}

/// 0 and nothing mean the same: not there.
int count_or(const Table& table, std::size_t i, std::string_view column, int other) {
  const std::string& text = table.text(i, column);
  if (text.empty() || text == "0") return other;
  return table.count(i, column);
}

// --- ai-dynamo/aiconfigurator, silicon_sample.csv ---

/// Samples named by a date are runs of InferenceMAX: ten requests per client, lengths from 80 % to
/// 100 % of those stated (its README, RANDOM_RANGE_RATIO and num-prompts).
bool of_inferencemax(const std::string& sample) {
  return sample.size() > 10 && std::isdigit(static_cast<unsigned char>(sample[0])) != 0 &&
         sample[4] == '_' && sample[7] == '_';
}

constexpr int kTokenStep = 64;  ///< of TensorRT-LLM's max_num_tokens

/// The sampled table multiplies by the ranks of the experts: one run stands in it as 8 attention
/// ranks of 32 sequences and as 64 of 4, both with expert parallelism of 8 and the same times.
int divided(int degree, int ep) {
  return ep > 1 && degree == ep * ep ? ep : degree;
}

void read_degrees(const Table& table, std::size_t i, InferenceRow& row) {
  row.ep = count_or(table, i, "moe_ep", 1);
  row.tp = divided(count_or(table, i, "tp", 1), row.ep);
  row.pp = count_or(table, i, "pp", 1);
  row.dp = divided(count_or(table, i, "attention_dp", 1), row.ep);
}

void read_workers(const Table& table, std::size_t i, InferenceRow& row) {
  row.disaggregated = true;
  row.prefill_tp = count_or(table, i, "prefill_tp", 0);
  row.tp = count_or(table, i, "decode_tp", 0);
  row.prefill_workers = count_or(table, i, "prefill_workers", 0);
  row.decode_workers = count_or(table, i, "decode_workers", 0);
  const int batch = count_or(table, i, "decode_batch", 0);
  if (row.clients == 0) row.clients = batch * row.decode_workers;
}

InferenceRow serving_row(const Table& table, std::size_t i, const std::string& path) {
  InferenceRow row = common(table, i, path);
  row.model = table.text(i, "model");
  row.gpu = table.text(i, "system");
  const std::string& backend = table.text(i, "backend");
  row.engine = engine_of(backend);
  row.precision = precision_of(table.text(i, "precision") + table.text(i, "gemm_quant"));
  row.input = table.count(i, "isl_tokens");
  row.output = table.count(i, "osl_tokens");
  row.ranged = of_inferencemax(table.text(i, "sample_id"));
  row.clients = count_or(table, i, "concurrency", 0);
  std::string layout;
  if (table.text(i, "mode") == "disagg") {
    read_workers(table, i, row);
    layout = fmt::format("prefill tp {}, decode tp {}", row.prefill_tp, row.tp);
  } else {
    read_degrees(table, i, row);
    if (row.clients == 0) row.clients = count_or(table, i, "batch_size", 0) * row.dp;
    layout = fmt::format("tp {}", row.tp);
    if (row.dp > 1) layout += fmt::format(", dp {}", row.dp);
  }
  row.most_sequences = (row.clients + row.dp - 1) / row.dp;
  // InferenceMAX leaves vLLM and SGLang 8,192 tokens.
  const bool whole_prompts = row.engine == "tensorrt-llm";
  if (whole_prompts || (row.engine == "vllm" && !row.ranged)) {
    const int tokens = row.input + row.most_sequences;
    row.most_tokens = (tokens + 2 * kTokenStep - 1) / kTokenStep * kTokenStep;
  }
  row.measures = {{kTtft, "ttft_ms", table.number(i, "ttft_ms", 1e-9)},
                  {kTpot, "tpot_ms", table.number(i, "tpot_ms", 1e-9)}};
  row.name = fmt::format("{} on {}, {}, {}, {}, {} in, {} out, {} clients", row.model, row.gpu,
                         backend, row.precision, layout, row.input, row.output, row.clients);
  return row;
}

// --- NVIDIA/TensorRT-LLM, docs/source/performance/perf-overview.md ---

InferenceRow offline_row(const Table& table, std::size_t i, const std::string& path) {
  InferenceRow row = common(table, i, path);
  row.model = table.text(i, "model");
  row.gpu = table.text(i, "gpu");
  row.engine = "tensorrt-llm";
  row.precision = precision_of(table.text(i, "quant"));
  row.load = Load::kAtOnce;
  row.input = table.count(i, "isl_tokens");
  row.output = table.count(i, "osl_tokens");
  row.tp = table.count(i, "tp");
  row.pp = table.count(i, "pp");
  row.gpus = table.count(i, "num_gpus");
  row.measures = {
      {kThroughput, "output_tokens_per_s", table.number(i, "total_output_tokens_per_s", 1e-9)}};
  row.name = fmt::format("{} on {} x {}, {}, tp {}, pp {}, {} in, {} out", row.model, row.gpus,
                         row.gpu, row.precision, row.tp, row.pp, row.input, row.output);
  return row;
}

// --- MLPerf Inference, llama2-70b and mixtral-8x7b ---

InferenceRow mlperf_row(const Table& table, std::size_t i, const std::string& path) {
  InferenceRow row = common(table, i, path);
  const std::string& model = table.text(i, "model");
  const std::string& scenario = table.text(i, "scenario");
  row.model = model.substr(0, model.find("-99"));
  row.gpu = table.text(i, "accelerator");
  row.engine = engine_of(table.text(i, "framework"));
  row.gpus = table.count(i, "accelerators_per_node") * table.count(i, "nodes");
  row.load = scenario == "Server" ? Load::kServer : Load::kOffline;
  // OpenOrca as MLPerf samples it, and the three data sets of its Mixtral
  // (docs/how-to/validate.md).
  row.input = 295;
  row.output = has(row.model, "mixtral") ? 145 : 294;
  // The narrowest that the GPU computes in.
  row.measures = {{kThroughput, "output_tokens_per_s", table.number(i, "tokens_per_s", 1e-9)}};
  row.name = fmt::format("{} {} on {} x {}, {}", model, scenario, row.gpus, row.gpu,
                         table.text(i, "submitter"));
  // The open division may change the model.
  if (has(table.text(i, "system"), "pruned") || has(table.text(i, "system"), "sparse")) {
    row.skipped = "a model that was made smaller";
    row.predictable = false;
  }
  return row;
}

// --- casys-kaist/LLMServingSim, bench/examples: one run, a row per request ---

/// Of `values`, in ms.
void add_percentiles(const std::vector<double>& values, const char* kind, const char* what,
                     InferenceRow& row) {
  if (values.empty()) return;
  for (const int percent : {50, 99}) {
    row.measures.push_back(
        {kind, fmt::format("{}_p{}_ms", what, percent), 1e3 * base::percentile(values, percent)});
  }
}

/// Its examples name the file by GPU and model, and state the limits of a batch in meta.json.
InferenceRow traced_run(const Table& table, const std::string& path) {
  InferenceRow row = common(table, 0, path);
  row.load = Load::kTrace;
  row.model = "llama-3.1-8b";
  row.gpu = "rtx-pro-6000";
  row.engine = "vllm";
  row.precision = "bf16";
  row.tp = 1;
  row.most_sequences = 128;
  row.most_tokens = 2048;
  std::vector<double> ttft;
  std::vector<double> tpot;
  std::vector<double> latency;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const double arrival = table.number(i, "arrival_s", -1e-9);
    const double first = table.number(i, "first_token_s", 1e-9);
    const double last = table.number(i, "last_token_s", first);
    const int output = table.count(i, "output_tokens");
    ttft.push_back(first - arrival);
    latency.push_back(last - arrival);
    if (output > 1) tpot.push_back((last - first) / (output - 1));
  }
  add_percentiles(ttft, kTtft, "ttft", row);
  add_percentiles(tpot, kTpot, "tpot", row);
  add_percentiles(latency, kLatency, "latency", row);
  row.name = fmt::format("{} on {}, {} requests as they came", row.model, row.gpu, table.rows());
  return row;
}

using Reader = InferenceRow (*)(const Table&, std::size_t, const std::string&);

struct Kind {
  Reader read;
  std::array<std::string_view, 3> columns;  ///< that no other table has together
};
constexpr std::array<Kind, 3> kKinds = {
    {{serving_row, {"isl_tokens", "ttft_ms", "sample_id"}},
     {offline_row, {"isl_tokens", "total_output_tokens_per_s", "quant"}},
     {mlperf_row, {"scenario", "tokens_per_s", "accelerators_per_node"}}}};
constexpr std::array<std::string_view, 3> kRequests = {"arrival_s", "first_token_s",
                                                       "last_token_s"};

template <class Columns>
bool has_all(const Table& table, const Columns& columns) {
  return std::ranges::all_of(columns, [&](auto column) { return table.has(column); });
}

}  // namespace

std::optional<std::vector<InferenceRow>> read_inference_rows(const std::string& path) {
  const Table table(path);
  if (has_all(table, kRequests)) return std::vector<InferenceRow>{traced_run(table, path)};
  const auto kind =
      std::ranges::find_if(kKinds, [&](const Kind& k) { return has_all(table, k.columns); });
  if (kind == kKinds.end()) return std::nullopt;
  std::vector<InferenceRow> rows;
  for (std::size_t i = 0; i < table.rows(); ++i) rows.push_back(kind->read(table, i, path));
  return rows;
}

}  // namespace fabricast::validation
