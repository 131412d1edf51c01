#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "scenario/workload.h"

namespace fabricast::scenario {

namespace {

using base::yaml::Fields;
using base::yaml::Node;
using model::LayoutProblem;
using model::Parallelism;

int degree(Fields& fields, std::string_view key, int most) {
  return static_cast<int>(fields.integer(key, 1, most, 1));
}

void read_parallelism(const Node& node, TrainingRequest& request) {
  if (node.kind == Node::Kind::kScalar && node.scalar == "auto") return;
  if (node.kind != Node::Kind::kMapping) {
    throw base::input_error(node.where, node.description(),
                            "`auto` or a mapping such as `{tp: 8, pp: 1, dp: 4}`");
  }
  // The bounds keep the product of all degrees within 64 bits.
  Fields fields(node);
  Parallelism& p = request.spec.shape.parallelism;
  request.automatic = false;
  request.dp_given = fields.has("dp");
  p.tp = degree(fields, "tp", 1024);
  p.pp = degree(fields, "pp", 10'000);
  p.dp = degree(fields, "dp", kMostGpus);
  p.cp = degree(fields, "cp", 1024);
  p.ep = degree(fields, "ep", 10'000);
  p.zero = static_cast<int>(fields.integer("zero", 0, 3, p.zero));
  p.vpp = degree(fields, "vpp", 10'000);
  fields.finish();
}

/// `true` and `false` are `full` and `none`.
model::Recompute read_recompute(const Node& node) {
  using model::Recompute;
  if (node.kind == Node::Kind::kScalar) {
    if (node.scalar == "true") return Recompute::kFull;
    if (node.scalar == "false") return Recompute::kNone;
    for (const Recompute r : {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
      if (node.scalar == model::name_of(r)) return r;
    }
  }
  throw base::input_error(node.where, node.description(), "`none`, `selective` or `full`");
}

std::vector<std::string> read_targets(Fields& fields, const std::vector<std::string>& allowed,
                                      std::vector<std::string> fallback) {
  if (!fields.has("targets")) return fallback;
  std::vector<std::string> targets;
  for (const Node* item : list(fields, "targets")) {
    const std::string name = base::yaml::text(*item);
    if (std::ranges::find(allowed, name) == allowed.end()) {
      throw base::input_error(item->where, item->description(), base::one_of(allowed),
                              base::near_miss(name, allowed));
    }
    if (std::ranges::find(targets, name) == targets.end()) targets.push_back(name);
  }
  if (targets.empty()) {
    throw base::input_error(fields.where("targets"), "an empty list",
                            "a list of " + base::one_of(allowed));
  }
  return targets;
}

/// The matrices of attention: what LoRA and LongLoRA adapt by default (Hu et al. 2021, section 4.2;
/// Chen et al. 2023, section 3.3).
std::vector<std::string> attention_targets(const std::vector<std::string>& all) {
  const auto mlp = std::ranges::find_if(
      all, [](const std::string& name) { return name == "gate_proj" || name == "up_proj"; });
  return {all.begin(), mlp};
}

void read_finetuning(Fields fields, const catalog::LanguageModel& m, model::TrainingShape& shape) {
  model::Finetuning& finetuning = shape.finetuning;
  finetuning.kind =
      static_cast<model::FinetuningKind>(fields.choice("kind", {"full", "lora", "longlora"}));
  if (!finetuning.full()) {
    // PEFT's and LongLoRA's default rank.
    finetuning.rank = static_cast<int>(fields.integer("rank", 1, 1 << 16, 8));
    const std::vector<std::string> all = model::adapter_targets(m);
    finetuning.targets = read_targets(fields, all, attention_targets(all));
  }
  if (finetuning.kind == model::FinetuningKind::kLongLora) {
    // A quarter of the sequence, the paper's group_size_ratio.
    const int quarter = std::max(1, shape.sequence / 4);
    finetuning.group = static_cast<int>(fields.integer("group", 2, shape.sequence, quarter));
    if (shape.sequence % finetuning.group != 0 || finetuning.group % 2 != 0) {
      throw base::input_error(
          fields.where("group"), fmt::format("{}", finetuning.group),
          fmt::format("an even divisor of the sequence of {}: half of the heads shift by half a "
                      "group",
                      shape.sequence));
    }
  }
  fields.finish();
}

base::Error refusal(const LayoutProblem& problem, const Context& context) {
  return base::input_error(context.where(problem.key), problem.found, problem.allowed);
}

/// Sets dp where the scenario leaves it out, and holds the product against the cluster.
void check_product(Parallelism& p, bool dp_given, int gpus, const Context& context) {
  const auto others = static_cast<std::int64_t>(p.tp) * p.pp * p.cp;
  if (!dp_given) {
    if (gpus % others != 0) {
      throw base::input_error(context.where("workload.parallelism"),
                              fmt::format("tp {} x pp {} x cp {} = {}", p.tp, p.pp, p.cp, others),
                              fmt::format("a product that divides {}, the cluster's GPUs", gpus));
    }
    p.dp = static_cast<int>(gpus / others);
  }
  if (others * p.dp != gpus) {
    throw base::input_error(context.where("workload.parallelism"),
                            fmt::format("tp {} x pp {} x dp {} x cp {} = {} GPUs", p.tp, p.pp, p.dp,
                                        p.cp, others * p.dp),
                            fmt::format("a product of {}, the cluster's GPUs", gpus));
  }
}

bool is_memory(const LayoutProblem& problem) {
  return problem.key == "workload.model";
}

/// The layout as given; recomputation, where the scenario leaves it open, only if memory asks.
void check_given_layout(TrainingRequest& request, const ClusterSpec& cluster,
                        const Context& context) {
  TrainingSpec& spec = request.spec;
  check_product(spec.shape.parallelism, request.dp_given, cluster.gpus, context);
  const auto problems = [&] {
    return model::check_layout(cluster.gpu, spec.model, spec.shape, cluster.gpus,
                               cluster.topology.gpus_per_node);
  };
  std::vector<LayoutProblem> found = problems();
  for (const model::Recompute more : {model::Recompute::kSelective, model::Recompute::kFull}) {
    if (request.recompute || found.empty() || !is_memory(found.front())) break;
    spec.shape.recompute = more;
    found = problems();
  }
  if (!found.empty() && is_memory(found.front()) && request.ran) {
    spec.shape.recompute = request.recompute.value_or(model::Recompute::kNone);
    return;
  }
  if (!found.empty()) throw refusal(found.front(), context);
}

/// Why no layout can run: the shortage of memory of the leanest one that divides, else the first
/// obstacle of plain data parallelism.
base::Error no_layout(const TrainingRequest& request, const ClusterSpec& cluster,
                      const Context& context) {
  const TrainingSpec& spec = request.spec;
  const int gpus_per_node = cluster.topology.gpus_per_node;
  model::TrainingShape shape = spec.shape;
  shape.recompute = request.recompute.value_or(model::Recompute::kFull);
  std::optional<LayoutProblem> leanest;
  std::optional<LayoutProblem> first;
  double least_gb = 0;
  for (int tp = 1; tp <= std::min(cluster.gpus, gpus_per_node); ++tp) {
    for (int pp = 1; pp <= std::min(cluster.gpus / tp, spec.model.layers); ++pp) {
      if (cluster.gpus % (tp * pp) != 0) continue;
      shape.parallelism.tp = tp;
      shape.parallelism.pp = pp;
      shape.parallelism.dp = cluster.gpus / (tp * pp);
      const std::vector<LayoutProblem> problems =
          model::check_layout(cluster.gpu, spec.model, shape, cluster.gpus, gpus_per_node);
      if (problems.empty()) continue;
      if (!first) first = problems.front();
      if (!is_memory(problems.front())) continue;
      const double need_gb = model::memory(spec.model, shape).total_gb;
      if (leanest && need_gb >= least_gb) continue;
      leanest = problems.front();
      least_gb = need_gb;
    }
  }
  if (leanest) {
    leanest->found += ", the least of all layouts";
    return refusal(*leanest, context);
  }
  return first ? refusal(*first, context)
               : base::input_error(context.where("workload.parallelism"),
                                   fmt::format("no layout of {} GPUs", cluster.gpus),
                                   "a layout of its own, in place of `auto`");
}

void choose_layout(TrainingRequest& request, const ClusterSpec& cluster, const Context& context) {
  TrainingSpec& spec = request.spec;
  const fabric::TopologySpec& topology = cluster.topology;
  const double gbps_per_gpu =
      topology.nic_rate.gbps() * topology.nics_per_node / topology.gpus_per_node;
  spec.alternatives = model::choose_layouts(cluster.gpu, spec.model, spec.shape, cluster.gpus,
                                            topology.gpus_per_node, gbps_per_gpu);
  if (request.recompute) {
    std::erase_if(spec.alternatives, [&](const model::LayoutChoice& choice) {
      return choice.shape.recompute != *request.recompute;
    });
  }
  if (spec.alternatives.empty()) throw no_layout(request, cluster, context);
  spec.shape = spec.alternatives.front().shape;
}

/// `none`, or what differs from the catalogue's.
catalog::Reliability read_failures(Fields& fields, const Context& context) {
  catalog::Reliability known = context.catalog.reliabilities().front();
  const Node* node = fields.optional("failures");
  if (node == nullptr) return known;
  if (node->kind == Node::Kind::kScalar && node->scalar == "none") {
    catalog::Reliability none;
    none.id = "none";
    none.storage_gb_per_s_per_gpu = known.storage_gb_per_s_per_gpu;
    return none;
  }
  if (node->kind != Node::Kind::kMapping) {
    throw base::input_error(node->where, node->description(),
                            "`none` or a mapping such as `{gpu_mtbf_h: 50000, restart_min: 10}`");
  }
  Fields own(*node);
  const std::pair<const char*, double catalog::Reliability::*> keys[] = {
      {"gpu_mtbf_h", &catalog::Reliability::gpu_mtbf_h},
      {"host_mtbf_h", &catalog::Reliability::host_mtbf_h},
      {"adapter_mtbf_h", &catalog::Reliability::adapter_mtbf_h},
      {"link_mtbf_h", &catalog::Reliability::link_mtbf_h},
      {"switch_mtbf_h", &catalog::Reliability::switch_mtbf_h},
      {"software_mtbf_gpu_h", &catalog::Reliability::software_mtbf_gpu_h},
      {"detect_min", &catalog::Reliability::detect_min},
      {"restart_min", &catalog::Reliability::restart_min}};
  for (const auto& [key, member] : keys) {
    if (own.has(key)) known.*member = own.number(key, 0, 1e12);
  }
  own.finish();
  return known;
}

CheckpointSpec read_checkpoint(Fields& fields) {
  CheckpointSpec result;
  const Node* node = fields.optional("checkpoint");
  if (node == nullptr) return result;
  Fields own(*node);
  if (const Node* every = own.optional("every_min")) {
    if (every->kind != Node::Kind::kScalar || every->scalar != "auto") {
      result.every_s = 60 * base::yaml::number(*every, 1e-3, 1e6);
    }
  }
  if (own.choice("to", {"storage", "local"}, 0) == 1) result.to = CheckpointSpec::To::kLocal;
  if (own.has("gb_per_s")) result.gb_per_s = own.number("gb_per_s", 1e-6, 1e9);
  if (result.to == CheckpointSpec::To::kLocal && result.gb_per_s == 0) {
    throw base::input_error(node->where, "`to: local` without `gb_per_s`",
                            "what the disks of a node take, GB/s");
  }
  own.finish();
  return result;
}

StragglerSpec read_stragglers(Fields& fields) {
  StragglerSpec result;
  const Node* node = fields.optional("stragglers");
  if (node == nullptr) return result;
  Fields own(*node);
  result.spread_pct = own.number("spread_pct", 0, 20, 0);
  result.host_delay_s = own.number("host_delay_ms", 0, 1e6, 0) / 1000;
  for (const Node* item : list(own, "slow")) {
    Fields one(*item);
    const int gpu = static_cast<int>(one.integer("gpu", 0, kMostGpus - 1));
    result.slow[gpu] = one.number("speed", 0.01, 1);
    one.finish();
  }
  own.finish();
  return result;
}

void check_stragglers(const StragglerSpec& stragglers, const ClusterSpec& cluster,
                      const Context& context) {
  for (const auto& [gpu, speed] : stragglers.slow) {
    if (gpu < cluster.gpus) continue;
    throw base::input_error(context.where("workload.stragglers.slow"), fmt::format("GPU {}", gpu),
                            fmt::format("GPUs 0 to {}", cluster.gpus - 1));
  }
}

}  // namespace

TrainingRequest read_training(Fields& fields, const Context& context) {
  TrainingRequest request;
  TrainingSpec& spec = request.spec;
  model::TrainingShape& shape = spec.shape;
  spec.model = read_model(fields, context);
  shape.precision = read_precision(fields);
  shape.sequence = static_cast<int>(fields.integer("sequence", 1, 1 << 24, 4096));
  shape.global_batch = static_cast<int>(fields.integer("global_batch", 1, 1'000'000'000));
  shape.micro_batch = static_cast<int>(fields.integer("micro_batch", 1, 1024, 1));
  if (const Node* node = fields.optional("finetune")) {
    read_finetuning(Fields(*node), spec.model, shape);
  }
  if (const Node* node = fields.optional("parallelism")) read_parallelism(*node, request);
  if (const Node* node = fields.optional("recompute")) request.recompute = read_recompute(*node);
  shape.recompute = request.recompute.value_or(model::Recompute::kNone);
  spec.tokens = fields.number("tokens", 1, 1e18);
  spec.iterations = static_cast<int>(fields.integer("iterations", 2, 1'000'000, spec.iterations));
  spec.reliability = read_failures(fields, context);
  spec.checkpoint = read_checkpoint(fields);
  spec.stragglers = read_stragglers(fields);
  fields.finish();
  return request;
}

TrainingSpec check_training(TrainingRequest request, const ClusterSpec& cluster,
                            const Context& context) {
  check_stragglers(request.spec.stragglers, cluster, context);
  if (request.automatic) {
    choose_layout(request, cluster, context);
  } else {
    check_given_layout(request, cluster, context);
  }
  return std::move(request.spec);
}

}  // namespace fabricast::scenario
