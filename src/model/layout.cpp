#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "model/layer.h"
#include "model/model.h"

namespace fabricast::model {

namespace {

using catalog::Gpu;
using catalog::LanguageModel;

constexpr std::size_t kMostLayouts = 5;

std::string computed_precisions(const Gpu& gpu) {
  std::vector<std::string> names;
  for (const auto precision : {catalog::Precision::kFp32, catalog::Precision::kBf16,
                               catalog::Precision::kFp8, catalog::Precision::kFp4}) {
    if (gpu.peak_tflops(precision) > 0) names.emplace_back(catalog::name_of(precision));
  }
  return base::one_of(names);
}

class Problems {
 public:
  void unless(bool fine, std::string key, std::string found, std::string allowed) {
    if (!fine) list.push_back({std::move(key), std::move(found), std::move(allowed)});
  }
  std::vector<LayoutProblem> list;
};

void check_counts(Problems& problems, const Parallelism& p, const TrainingShape& shape, int gpus,
                  int gpus_per_node) {
  problems.unless(
      p.gpus() == gpus, "workload.parallelism",
      fmt::format("tp {} x pp {} x dp {} x cp {} = {} GPUs", p.tp, p.pp, p.dp, p.cp, p.gpus()),
      fmt::format("a product of {}, the cluster's GPUs", gpus));
  problems.unless(p.tp <= gpus_per_node && gpus_per_node % p.tp == 0, "workload.parallelism.tp",
                  fmt::format("{}", p.tp),
                  fmt::format("a divisor of {}, the GPUs of a node", gpus_per_node));
  const int per_round = shape.micro_batch * p.dp;
  problems.unless(shape.global_batch >= per_round && shape.global_batch % per_round == 0,
                  "workload.global_batch", fmt::format("{}", shape.global_batch),
                  fmt::format("a multiple of micro_batch x dp = {} x {} = {}", shape.micro_batch,
                              p.dp, per_round));
  problems.unless(p.zero >= 0 && p.zero <= 3, "workload.parallelism.zero",
                  fmt::format("{}", p.zero), "0 to 3");
  // Megatron-Core asks for both (schedules.py; arguments.py).
  problems.unless(p.vpp == 1 || p.pp > 1, "workload.parallelism.vpp", fmt::format("{}", p.vpp),
                  "1 without pipeline parallelism");
  problems.unless(p.vpp == 1 || shape.micro_batches() % p.pp == 0, "workload.global_batch",
                  fmt::format("{}, {} micro-batches", shape.global_batch, shape.micro_batches()),
                  fmt::format("micro-batches in a multiple of pp {} with vpp {}", p.pp, p.vpp));
  // DeepSpeed's pipeline engine refuses it too: gradients summed over micro-batches stay whole.
  problems.unless(p.zero < 2 || p.pp == 1, "workload.parallelism.zero",
                  fmt::format("{} with pp {}", p.zero, p.pp),
                  "0 or 1 with pipeline parallelism, or pp 1");
}

void check_cuts(Problems& problems, const LanguageModel& m, const TrainingShape& shape) {
  const Parallelism& p = shape.parallelism;
  problems.unless(m.heads % p.tp == 0, "workload.parallelism.tp", fmt::format("{}", p.tp),
                  fmt::format("a divisor of {}, the attention heads of {}", m.heads, m.id));
  // Megatron-Core asks the same of num_query_groups; more GPUs would hold the same K and V.
  problems.unless(has_latent_attention(m) || m.kv_heads % p.tp == 0, "workload.parallelism.tp",
                  fmt::format("{}", p.tp),
                  fmt::format("a divisor of {}, the key-value heads of {}", m.kv_heads, m.id));
  problems.unless(p.pp <= m.layers, "workload.parallelism.pp", fmt::format("{}", p.pp),
                  fmt::format("at most {}, the layers of {}", m.layers, m.id));
  problems.unless(p.vpp == 1 || p.pp * p.vpp <= m.layers || p.pp * p.vpp == m.layers + 2,
                  "workload.parallelism.vpp", fmt::format("{}", p.vpp),
                  fmt::format("pp {} x vpp of at most {}, the layers of {}, or two more, for its "
                              "ends",
                              p.pp, m.layers, m.id));
  // Causal attention is balanced by giving each rank two chunks of the sequence.
  const int pieces = p.tp * (p.cp > 1 ? 2 * p.cp : 1);
  problems.unless(shape.sequence % pieces == 0, "workload.sequence",
                  fmt::format("{}", shape.sequence),
                  fmt::format("a multiple of {} (tp {}{})", pieces, p.tp,
                              p.cp > 1 ? fmt::format(" x 2 x cp {}", p.cp) : ""));
  if (p.ep > 1) {
    problems.unless(
        m.experts > 0 && m.experts % p.ep == 0, "workload.parallelism.ep", fmt::format("{}", p.ep),
        m.experts > 0 ? fmt::format("a divisor of {}, the experts of {}", m.experts, m.id)
                      : fmt::format("1: {} has no experts", m.id));
    problems.unless(p.dp % p.ep == 0, "workload.parallelism.ep", fmt::format("{}", p.ep),
                    fmt::format("a divisor of dp {}", p.dp));
  }
}

/// Shifted groups are exchanged within a GPU: a rank of context parallelism holds none whole.
void check_finetuning(Problems& problems, const TrainingShape& shape) {
  const bool groups = shape.finetuning.kind == FinetuningKind::kLongLora;
  problems.unless(!groups || shape.parallelism.cp == 1, "workload.parallelism.cp",
                  fmt::format("{} with longlora", shape.parallelism.cp), "1 with longlora");
}

void check_memory(Problems& problems, const Gpu& gpu, const LanguageModel& m,
                  const TrainingShape& shape) {
  const Memory need = memory(m, shape);
  problems.unless(
      need.total_gb <= gpu.memory_gb, "workload.model",
      fmt::format("{:.1f} GB per GPU for {} with {} (weights {:.1f}, gradients {:.1f}, optimizer "
                  "{:.1f}, activations {:.1f}, overhead {:.1f})",
                  need.total_gb, m.id, to_string(shape.parallelism), need.weights_gb,
                  need.gradients_gb, need.optimizer_gb, need.activations_gb, need.overhead_gb),
      fmt::format("at most {:.1f} GB of {}", gpu.memory_gb, gpu.id));
}

/// Ring time of an all-gather or a reduce-scatter of `bytes` over n ranks.
double ring_s(double bytes, int n, double gb_per_s, double latency_s) {
  if (n <= 1) return 0;
  return bytes * (n - 1) / n / (gb_per_s * 1e9) + (n - 1) * latency_s;
}

/// What the network may cost at its nominal rates: no contention, no overlap.
struct Rates {
  double inside_gb_per_s = 0;
  double inside_latency_s = 0;
  double nic_gb_per_s = 0;
};

double tensor_parallel_s(const LanguageModel& m, const TrainingShape& shape, int layers,
                         const Rates& rates) {
  const Parallelism& p = shape.parallelism;
  // All-gather and reduce-scatter around attention and around the MLP, forward and backward, and
  // once more to recompute (Korthikanti et al. 2022, section 4.2.2).
  const double collectives = shape.recompute == Recompute::kFull ? 12 : 8;
  const double bytes = 2.0 * shape.micro_batch * shape.sequence / p.cp * m.hidden;
  return layers * collectives * ring_s(bytes, p.tp, rates.inside_gb_per_s, rates.inside_latency_s);
}

double data_parallel_s(const LanguageModel& m, const TrainingShape& shape, int gpus_per_node,
                       const Rates& rates) {
  const Parallelism& p = shape.parallelism;
  const int ranks = p.dp * p.cp;
  const bool inside = p.tp * ranks <= gpus_per_node;
  const double trained = stage_trained_parameters(m, shape, 0);
  // fp32 gradients out, bf16 weights back; ZeRO-3 gathers all weights twice per micro-batch.
  const double gathered =
      p.zero >= 3 ? 2.0 * shape.micro_batches() * stage_parameters(m, p, 0, shape.finetuning)
                  : trained;
  const double scatters = p.zero >= 2 ? shape.micro_batches() : 1;
  return ring_s(trained * 4 * scatters + gathered * 2, ranks,
                inside ? rates.inside_gb_per_s : rates.nic_gb_per_s,
                inside ? rates.inside_latency_s : 0);
}

double estimate_step_s(const Gpu& gpu, const LanguageModel& m, const TrainingShape& shape,
                       int gpus_per_node, const Rates& rates) {
  const Parallelism& p = shape.parallelism;
  double slowest = 0;
  double optimizer = 0;
  for (int stage = 0; stage < p.pp; ++stage) {
    const StageTime t = stage_time(gpu, m, shape, stage);
    const int layers = stage_layers(m, p.pp, stage).count;
    slowest =
        std::max(slowest, t.forward_s + t.backward_s + tensor_parallel_s(m, shape, layers, rates));
    optimizer = std::max(optimizer, t.optimizer_s);
  }
  double hop = 0;
  if (p.pp > 1) {
    // Stages are tp x cp x dp ranks apart; the boundary that leaves a node sets the pace.
    const bool inside = p.gpus() <= gpus_per_node;
    const double bytes = 2.0 * shape.micro_batch * shape.sequence / p.cp * m.hidden / p.tp;
    hop = 2 * bytes / ((inside ? rates.inside_gb_per_s : rates.nic_gb_per_s) * 1e9);
  }
  // Every stage is busy for m micro-batches, and (pp - 1)/vpp pass while the pipeline fills and
  // drains (Narayanan et al. 2021, section 2.2).
  const double fill = (p.pp - 1.0) / p.vpp;
  return (shape.micro_batches() + fill) * (slowest + hop) + optimizer +
         data_parallel_s(m, shape, gpus_per_node, rates);
}

bool only_memory(const std::vector<LayoutProblem>& problems) {
  return problems.size() == 1 && problems.front().key == "workload.model";
}

/// Sets `recompute` where memory asks for it. False when the layout cannot run.
bool make_fit(const Gpu& gpu, const LanguageModel& m, TrainingShape& shape, int gpus,
              int gpus_per_node) {
  std::vector<LayoutProblem> problems = check_layout(gpu, m, shape, gpus, gpus_per_node);
  for (const Recompute more : {Recompute::kSelective, Recompute::kFull}) {
    if (!only_memory(problems) || shape.recompute >= more) continue;
    shape.recompute = more;
    problems = check_layout(gpu, m, shape, gpus, gpus_per_node);
  }
  return problems.empty();
}

}  // namespace

std::vector<LayoutProblem> check_layout(const Gpu& gpu, const LanguageModel& m,
                                        const TrainingShape& shape, int gpus, int gpus_per_node) {
  Problems problems;
  problems.unless(
      gpu.peak_tflops(shape.precision) > 0, "workload.precision",
      std::string(catalog::name_of(shape.precision)),
      fmt::format("{} ({} computes in nothing else)", computed_precisions(gpu), gpu.id));
  check_counts(problems, shape.parallelism, shape, gpus, gpus_per_node);
  check_cuts(problems, m, shape);
  check_finetuning(problems, shape);
  // Memory is counted only for layouts that divide, where the count means something.
  if (problems.list.empty()) check_memory(problems, gpu, m, shape);
  return problems.list;
}

std::vector<LayoutChoice> choose_layouts(const Gpu& gpu, const LanguageModel& m,
                                         const TrainingShape& wanted, int gpus, int gpus_per_node,
                                         double nic_gbps_per_gpu) {
  const Rates rates{
      .inside_gb_per_s = gpu.nvlink_gb_per_s > 0 ? gpu.nvlink_gb_per_s : gpu.pcie_gb_per_s,
      .inside_latency_s = gpu.nvlink_latency_us * 1e-6,
      .nic_gb_per_s = nic_gbps_per_gpu / 8};
  std::vector<LayoutChoice> choices;
  for (int tp = 1; tp <= std::min(gpus, gpus_per_node); ++tp) {
    if (gpus % tp != 0) continue;
    for (int pp = 1; pp <= std::min(gpus / tp, m.layers); ++pp) {
      if (gpus / tp % pp != 0) continue;
      TrainingShape shape = wanted;
      shape.parallelism = {.tp = tp, .pp = pp, .dp = gpus / tp / pp};
      if (!make_fit(gpu, m, shape, gpus, gpus_per_node)) continue;
      choices.push_back(
          {shape, estimate_step_s(gpu, m, shape, gpus_per_node, rates), memory(m, shape)});
    }
  }
  std::sort(choices.begin(), choices.end(), [](const LayoutChoice& a, const LayoutChoice& b) {
    const Parallelism& p = a.shape.parallelism;
    const Parallelism& q = b.shape.parallelism;
    return std::tie(a.estimated_step_s, p.pp, p.tp) < std::tie(b.estimated_step_s, q.pp, q.tp);
  });
  if (choices.size() > kMostLayouts) choices.resize(kMostLayouts);
  return choices;
}

}  // namespace fabricast::model
