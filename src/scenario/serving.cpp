#include <string>

#include <fmt/format.h>

#include "scenario/workload.h"

namespace fabricast::scenario {

namespace {

using base::yaml::Fields;

constexpr double kMostQps = 1e9;
constexpr std::int64_t kMostTokens = 1 << 24;  // of one request

void read_arrival(Fields fields, const Context& context, ServingSpec& serving) {
  serving.arrival = static_cast<ArrivalKind>(fields.choice("kind", {"poisson", "gamma", "trace"}));
  if (serving.arrival == ArrivalKind::kTrace) {
    serving.trace = context.existing_file(fields.text("file"), fields.where("file"));
  } else {
    serving.qps = fields.number("qps", 1e-6, kMostQps);
  }
  if (serving.arrival == ArrivalKind::kGamma) {
    serving.arrival_variation = fields.number("variation", 0.01, 100);
  }
  fields.finish();
}

void read_slo(Fields fields, ServingSpec& serving) {
  serving.slo_metric = static_cast<SloMetric>(fields.choice("metric", {"ttft", "tpot", "latency"}));
  serving.slo_percentile = fields.number("percentile", 1, 99.999, serving.slo_percentile);
  serving.slo_ms = fields.number("ms", 1e-3, 1e8);
  fields.finish();
}

double bytes_per_weight(catalog::Precision precision) {
  switch (precision) {
    case catalog::Precision::kFp32:
      return 4;
    case catalog::Precision::kFp8:
      return 1;
    case catalog::Precision::kFp4:
      return 0.5;
    case catalog::Precision::kBf16:
      break;
  }
  return 2;
}

/// What one GPU must hold at the least, GB: its share of the weights, and keys and values of one
/// whole request in BF16 (DeepSeek-V2, arXiv 2405.04434, table 1: a latent cache keeps kv_lora_rank
/// + rope values per token and layer, on every tensor-parallel rank alike).
double least_memory_gb(const ServingSpec& serving) {
  const catalog::LanguageModel& m = serving.model;
  const bool latent = m.kv_lora_rank > 0;
  const double values =
      latent ? m.kv_lora_rank + m.qk_rope_head_dim : 2.0 * m.kv_heads * m.head_dim / serving.tp;
  const double tokens = static_cast<double>(serving.context) + serving.output;
  const double cache = 2 * values * tokens * m.layers / serving.pp;
  const double weights =
      model::parameters(m) * bytes_per_weight(serving.precision) / serving.tp / serving.pp;
  return (cache + weights) * 1e-9;
}

void unless(bool fine, const Context& context, std::string_view key, const std::string& found,
            const std::string& allowed) {
  if (!fine) throw base::input_error(context.where(key), found, allowed);
}

}  // namespace

ServingSpec read_serving(Fields& fields, const Context& context) {
  ServingSpec serving;
  serving.model = read_model(fields, context);
  serving.precision = read_precision(fields);
  serving.context = static_cast<int>(fields.integer("context", 1, kMostTokens));
  serving.output = static_cast<int>(fields.integer("output", 1, kMostTokens));
  serving.prefix_cached = static_cast<int>(fields.integer("prefix_cached", 0, kMostTokens, 0));
  read_arrival(Fields(fields.required("arrival", "a mapping")), context, serving);
  serving.tp = static_cast<int>(fields.integer("tp", 1, 1024, 1));
  serving.pp = static_cast<int>(fields.integer("pp", 1, 1024, 1));
  if (const auto* slo = fields.optional("slo")) read_slo(Fields(*slo), serving);
  fields.finish();
  return serving;
}

void check_serving(const ServingSpec& serving, const ClusterSpec& cluster, const Context& context) {
  const catalog::LanguageModel& m = serving.model;
  const int gpus = serving.tp * serving.pp;
  unless(serving.prefix_cached <= serving.context, context, "workload.prefix_cached",
         fmt::format("{} tokens", serving.prefix_cached),
         fmt::format("at most the {} of `context`", serving.context));
  unless(m.heads % serving.tp == 0, context, "workload.tp", fmt::format("{}", serving.tp),
         fmt::format("a divisor of {}, the attention heads of {}", m.heads, m.id));
  unless(serving.pp <= m.layers, context, "workload.pp", fmt::format("{}", serving.pp),
         fmt::format("at most {}, the layers of {}", m.layers, m.id));
  unless(cluster.gpus % gpus == 0, context, serving.tp > 1 ? "workload.tp" : "workload.pp",
         fmt::format("tp {} x pp {} = {} GPUs for a replica", serving.tp, serving.pp, gpus),
         fmt::format("a product that divides {}, the cluster's GPUs", cluster.gpus));
  // FP4 weights are widened on their way into the tensor cores where a GPU computes in nothing so
  // narrow; the other precisions need units of their own.
  unless(serving.precision == catalog::Precision::kFp4 ||
             cluster.gpu.peak_tflops(serving.precision) > 0,
         context, "workload.precision", std::string(catalog::name_of(serving.precision)),
         fmt::format("a precision that {} computes in", cluster.gpu.id));
  const double need_gb = least_memory_gb(serving);
  unless(need_gb <= cluster.gpu.memory_gb, context, "workload.model",
         fmt::format("{:.1f} GB per GPU for the weights of {} and one request with tp {} x pp {}",
                     need_gb, m.id, serving.tp, serving.pp),
         fmt::format("at most {:.1f} GB of {}", cluster.gpu.memory_gb, cluster.gpu.id));
}

}  // namespace fabricast::scenario
