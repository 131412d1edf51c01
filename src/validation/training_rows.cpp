#include "validation/training_rows.h"

#include <algorithm>
#include <filesystem>
#include <regex>

#include <fmt/format.h>

#include "calibrate/tables.h"
#include "validation/words.h"

namespace fabricast::validation {
namespace {

using calibrate::Table;

constexpr const char* kUnmeasured = "the table has no throughput or step time";
constexpr const char* kRecalled = "written from memory, not data";

/// `fp16` takes the tensor cores' rate and bytes of `bf16`.
std::string precision_of(const std::string& text) {
  if (has(text, "fp4")) return "fp4";
  if (has(text, "fp8")) return "fp8";
  if (has(text, "bf16") || has(text, "fp16")) return "bf16";
  if (has(text, "fp32")) return "fp32";
  return "";
}

TrainingRow common(const Table& table, std::size_t i, const std::string& file) {
  TrainingRow row;
  row.file = file;
  row.line = table.place(i, "source").line;
  row.source = table.text(i, "source");
  row.gpus = table.count(i, "num_gpus");
  return row;
}

void require_precision(const Table& table, std::size_t i, TrainingRow& row) {
  const std::string& text = table.text(i, "precision");
  row.precision = precision_of(text);
  if (row.precision.empty()) row.skipped = fmt::format("the precision `{}` is not known", text);
}

void read_measured(const Table& table, std::size_t i, std::string_view column, TrainingRow& row) {
  row.quantity = column;
  row.measured = table.number(i, column, 1e-9);
}

void unmeasured(TrainingRow& row) {
  row.skipped = kUnmeasured;
  row.measures = false;
}

/// Megatron's degrees; dp is what remains of the GPUs.
void read_layout(const Table& table, std::size_t i, TrainingRow& row) {
  row.tp = table.count_if_any(i, "tp").value_or(0);
  row.pp = table.count_if_any(i, "pp").value_or(1);
  row.cp = table.count_if_any(i, "cp").value_or(1);
  row.ep = table.count_if_any(i, "ep").value_or(1);
  row.vpp = table.count_if_any(i, "vp").value_or(1);
}

// --- mosaicml/llm-foundry, scripts/train/benchmarking/README.md: FSDP alone ---

TrainingRow foundry_row(const Table& table, std::size_t i, const std::string& file) {
  TrainingRow row = common(table, i, file);
  row.model = "mpt-" + table.text(i, "model");
  row.gpu = table.text(i, "gpu");
  row.fabric = table.text(i, "fabric");
  row.nics = row.fabric;
  require_precision(table, i, row);
  row.sequence = table.count(i, "seq_len_tokens");
  row.global_batch = table.count(i, "global_batch_samples");
  row.micro_batch = table.count(i, "micro_batch_samples");
  row.tp = 1;
  row.zero = table.text(i, "sharding") == "SHARD_GRAD_OP" ? 2 : 3;
  row.recompute = table.text(i, "activation_checkpointing") == "True" ? "full" : "none";
  read_measured(table, i, "tokens_per_s_per_gpu", row);
  row.name = fmt::format("{} on {} x {}, {}, sequence {}, micro-batch {}", row.model, row.gpus,
                         row.gpu, table.text(i, "precision"), row.sequence, row.micro_batch);
  return row;
}

// --- NVIDIA-NeMo/Megatron-Bridge, docs/performance-summary*.md ---

/// Assumed, the table does not say: an adapter beside the matrix of queries, keys and values.
constexpr const char* kBridgeLora = "{ kind: lora, rank: 16, targets: [q_proj, k_proj, v_proj] }";

TrainingRow bridge_row(const Table& table, std::size_t i, const std::string& file) {
  TrainingRow row = common(table, i, file);
  row.model = table.text(i, "model");
  row.gpu = table.text(i, "system");
  row.fabric = table.text(i, "fabric");
  row.nics = row.fabric;
  require_precision(table, i, row);
  row.sequence = table.count(i, "seq_len_tokens");
  row.global_batch = table.count(i, "global_batch_samples");
  row.micro_batch = table.count(i, "micro_batch_samples");
  read_layout(table, i, row);
  const std::string& fsdp = table.text(i, "fsdp");
  row.zero = fsdp.empty() || fsdp == "0" || fsdp == "n/a" ? 1 : 3;
  if (has(table.text(i, "kind"), "lora")) row.finetune = kBridgeLora;
  read_measured(table, i, "tokens_per_s_per_gpu", row);
  row.name = fmt::format("{} on {} x {}, {}, {}", row.model, row.gpus, row.gpu,
                         table.text(i, "precision"), table.text(i, "container"));
  return row;
}

// --- mlcommons/training_results_v*.* ---

struct Benchmark {
  const char* name;
  const char* model;
  const char* finetune;
  int vpp;  ///< of NVIDIA's configurations, where there are stages
};
// gpt3: 96 layers in 8 stages x 6, Llama 3.1 405B: 126 layers and two ends in 8 x 8
// (INTERLEAVED_PIPELINE in the configurations that NVIDIA published with its results). LoRA as the
// benchmark prescribes: rank 16 beside the matrices of attention.
constexpr Benchmark kBenchmarks[] = {
    {"gpt3", "gpt3-175b", "", 6},
    {"llama2_70b_lora", "llama2-70b", "{ kind: lora, rank: 16 }", 1},
    {"llama31_405b", "llama3-405b", "", 8},
    {"llama31_8b", "llama3.1-8b", "", 1}};

/// No result says it. A100s and DeepSpeed train in BF16; Transformer Engine and its likes in FP8
/// wherever the GPU has it; NVIDIA itself, the only submitter that did, in NVFP4 on Blackwell from
/// v5.1 on (developer.nvidia.com/blog on MLPerf Training v5.1).
std::string mlperf_precision(const Table& table, std::size_t i) {
  const std::string& accelerator = table.text(i, "accelerator");
  if (has(accelerator, "a100") || has(table.text(i, "system"), "deepspeed")) return "bf16";
  const bool fp4 = has(accelerator, "blackwell") && table.text(i, "mlperf_round") >= "v5.1" &&
                   table.text(i, "submitter") == "NVIDIA";
  return fp4 ? "fp4" : "fp8";
}

/// "ambiguous:[(1, 1, 1), (1, 1, 2)]": several configurations have the global batch; the first.
void first_of_ambiguous(const std::string& text, TrainingRow& row) {
  static const std::regex kFirst(R"(\[\((\d+), (\d+), (\d+)\))");
  std::smatch match;
  if (!std::regex_search(text, match, kFirst)) return;
  row.tp = std::stoi(match[1]);
  row.pp = std::stoi(match[2]);
  row.cp = std::stoi(match[3]);
}

TrainingRow mlperf_row(const Table& table, std::size_t i, const std::string& file) {
  TrainingRow row = common(table, i, file);
  const std::string& benchmark = table.text(i, "benchmark");
  row.name = fmt::format("{} {} on {} x {}, {}", table.text(i, "mlperf_round"), benchmark, row.gpus,
                         table.text(i, "accelerator"), table.text(i, "system"));
  row.gpu = table.text(i, "accelerator");
  row.gpus_per_node = table.count(i, "gpus_per_node");
  row.fabric = table.text(i, "fabric_class");
  row.nics = table.text(i, "host_networking_declared");
  row.sequence = table.count(i, "seq_len_tokens");
  row.global_batch = table.count(i, "global_batch_samples");
  row.micro_batch = table.count_if_any(i, "micro_batch_samples").value_or(1);
  row.precision = mlperf_precision(table, i);
  read_layout(table, i, row);
  if (row.tp == 0) first_of_ambiguous(table.text(i, "parallelism_from"), row);
  const auto* known = std::ranges::find(kBenchmarks, benchmark, &Benchmark::name);
  if (known == std::end(kBenchmarks)) {
    row.skipped = fmt::format("the benchmark `{}` is not known", benchmark);
    return row;
  }
  row.model = known->model;
  row.finetune = known->finetune;
  if (row.pp > 1) row.vpp = known->vpp;
  if (table.text(i, "tokens_per_s_per_gpu").empty()) {
    unmeasured(row);
  } else {
    read_measured(table, i, "tokens_per_s_per_gpu", row);
  }
  return row;
}

// --- torchtitan, fms-fsdp, Korthikanti et al., NeMo, OCI, BigScience ---

/// What the notes say of recomputation.
std::string recompute_of(const std::string& note) {
  if (has(note, "full recompute") || has(note, "full ac")) return "full";
  if (has(note, "selective")) return "selective";
  if (has(note, "no ac")) return "none";
  return "";
}

/// Recipes of NVIDIA/dgxc-benchmarking: Llama 3 at 8,192 tokens, Qwen3 at 4,096.
int usual_sequence(const std::string& model) {
  return has(model, "qwen") ? 4096 : 8192;
}

/// torchtitan divides the batch of a replica into as many micro-batches as there are stages, unless
/// told otherwise (its pipeline_parallel_microbatch_size came later).
void read_batches(const Table& table, std::size_t i, TrainingRow& row) {
  const int local = table.count_if_any(i, "micro_batch_samples").value_or(1);
  const int replicas = row.gpus / std::max(1, row.tp * row.pp * row.cp);
  row.micro_batch = local;
  row.global_batch = table.count_if_any(i, "global_batch_samples").value_or(0);
  if (!has(row.source, "torchtitan")) return;
  if (row.global_batch == 0) row.global_batch = local * replicas;
  if (row.pp > 1 && local % row.pp == 0) row.micro_batch = local / row.pp;
}

void read_result(const Table& table, std::size_t i, TrainingRow& row) {
  const auto given = [&](std::string_view column) { return !table.text(i, column).empty(); };
  if (given("tokens_per_s_per_gpu")) {
    read_measured(table, i, "tokens_per_s_per_gpu", row);
  } else if (given("tflops_per_gpu")) {
    read_measured(table, i, "tflops_per_gpu", row);
    if (given("step_time_s")) row.step_s = table.number(i, "step_time_s", 1e-9);
  } else if (given("step_time_s")) {
    read_measured(table, i, "step_time_s", row);
  } else {
    unmeasured(row);
  }
}

TrainingRow misc_row(const Table& table, std::size_t i, const std::string& file) {
  TrainingRow row = common(table, i, file);
  const std::string& note = table.text(i, "note");
  row.model = table.text(i, "model");
  row.gpu = table.text(i, "gpu");
  row.fabric = table.text(i, "fabric");
  row.nics = row.fabric;
  require_precision(table, i, row);
  read_layout(table, i, row);
  row.sequence = table.count_if_any(i, "seq_len_tokens").value_or(usual_sequence(row.model));
  read_batches(table, i, row);
  read_result(table, i, row);
  // Causal masks came into NeMo's formulas later (nemo/utils/flops_formulas.py, causal_self_attn).
  row.whole_square = has(row.source, "nemo docs/");
  row.recompute = recompute_of(note);
  // Sharded gradients and parameters; with stages torchtitan keeps the parameters of a step.
  if (has(note, "fsdp") || has(note, "hsdp") || has(row.source, "torchtitan")) {
    row.zero = row.pp > 1 ? 1 : 3;
  }
  static const std::regex kChunks(R"(VP=(\d+))");
  std::smatch chunks;
  if (std::regex_search(note, chunks, kChunks)) row.vpp = std::stoi(chunks[1]);
  if (has(table.text(i, "precision"), "interleaved")) row.vpp = 2;
  row.name = fmt::format("{} on {} x {}, {}, sequence {}", row.model, row.gpus, row.gpu,
                         table.text(i, "precision"), row.sequence);
  if (!note.empty() && note.size() < 64) row.name += ", " + note;
  return row;
}

TrainingRow recalled_row(const Table& table, std::size_t i, const std::string& file) {
  TrainingRow row = common(table, i, file);
  row.name = fmt::format("{} on {} x {}", table.text(i, "model"), row.gpus, table.text(i, "gpu"));
  row.skipped = kRecalled;
  row.measures = false;
  return row;
}

using Reader = TrainingRow (*)(const Table&, std::size_t, const std::string&);

struct Kind {
  Reader read;
  std::vector<std::string_view> columns;  ///< that no other table has together
};

Reader reader_of(const Table& table) {
  static const Kind kKinds[] = {{recalled_row, {"confidence", "total_pflops"}},
                                {foundry_row, {"sharding", "grad_accum"}},
                                {bridge_row, {"container", "system", "vp"}},
                                {mlperf_row, {"mlperf_round", "benchmark"}},
                                {misc_row, {"note", "tflops_per_gpu", "step_time_s"}}};
  for (const Kind& kind : kKinds) {
    if (std::ranges::all_of(kind.columns, [&](auto column) { return table.has(column); })) {
      return kind.read;
    }
  }
  return nullptr;
}

}  // namespace

std::optional<std::vector<TrainingRow>> read_training_rows(const std::string& path) {
  const Table table(path);
  const Reader read = reader_of(table);
  if (read == nullptr) return std::nullopt;
  const std::string file = std::filesystem::path(path).filename().string();
  std::vector<TrainingRow> rows;
  for (std::size_t i = 0; i < table.rows(); ++i) rows.push_back(read(table, i, file));
  return rows;
}

}  // namespace fabricast::validation
