#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "scenario/workload.h"

namespace fabricast::scenario {

namespace {

using base::yaml::Fields;
using catalog::Precision;

constexpr double kMostQps = 1e9;
constexpr double kMostSeconds = 1e8;
constexpr std::int64_t kMostTokens = 1 << 24;  // of one request
constexpr std::int64_t kMostRequests = 1'000'000'000;

/// `4096`, or `{ kind: lognormal, mean: 1024, variation: 1.2, max: 8192 }`.
LengthSpec read_length(Fields& fields, std::string_view key) {
  LengthSpec length;
  if (fields.required(key, "a number of tokens or a mapping").kind !=
      base::yaml::Node::Kind::kMapping) {
    length.least = length.most = static_cast<int>(fields.integer(key, 1, kMostTokens));
    length.mean = length.most;
    return length;
  }
  Fields of(fields.required(key));
  length.kind = static_cast<LengthSpec::Kind>(
      of.choice("kind", {"fixed", "uniform", "exponential", "lognormal"}));
  if (length.kind == LengthSpec::Kind::kFixed) {
    length.least = length.most = static_cast<int>(of.integer("mean", 1, kMostTokens));
    length.mean = length.most;
    of.finish();
    return length;
  }
  length.least = static_cast<int>(of.integer("min", 1, kMostTokens, 1));
  length.most = static_cast<int>(of.integer("max", length.least, kMostTokens));
  if (length.kind == LengthSpec::Kind::kUniform) {
    length.mean = (length.least + length.most) / 2.0;
  } else {
    length.mean = of.number("mean", length.least, length.most);
  }
  if (length.kind == LengthSpec::Kind::kLognormal) {
    length.variation = of.number("variation", 0.01, 100);
  }
  of.finish();
  return length;
}

void read_profile(Fields& fields, ServingSpec& serving) {
  for (const base::yaml::Node* node : list(fields, "profile")) {
    Fields step(*node);
    RateStep read;
    read.at_s = step.number("at_s", 0, kMostSeconds);
    read.share = step.number("share", 0, 1e6);
    step.finish();
    const double after = serving.profile.empty() ? 0 : serving.profile.back().at_s;
    if (read.at_s < after) {
      throw base::input_error(step.where("at_s"), fmt::format("{} s", read.at_s),
                              fmt::format("steps in their order, here {} s or later", after));
    }
    serving.profile.push_back(read);
  }
}

/// What checks and plans want to know of a trace's lengths.
void fit_lengths(ServingSpec& serving) {
  const auto fit = [&](LengthSpec& length, int TracedRequest::* tokens) {
    double sum = 0;
    length.least = length.most = serving.trace->requests.front().*tokens;
    for (const TracedRequest& request : serving.trace->requests) {
      length.least = std::min(length.least, request.*tokens);
      length.most = std::max(length.most, request.*tokens);
      sum += request.*tokens;
    }
    length.mean = sum / static_cast<double>(serving.trace->requests.size());
  };
  fit(serving.context, &TracedRequest::input_tokens);
  fit(serving.output, &TracedRequest::output_tokens);
}

void check_profile(const Fields& fields, const ServingSpec& serving) {
  const auto& profile = serving.profile;
  if (profile.empty() || profile.front().at_s > 0) return;
  if (std::ranges::any_of(profile, [](const RateStep& step) { return step.share > 0; })) return;
  throw base::input_error(fields.where("profile"), "no time at which requests come",
                          "a `share` above 0");
}

void read_arrival(Fields fields, const Context& context, ServingSpec& serving) {
  serving.arrival =
      static_cast<ArrivalKind>(fields.choice("kind", {"poisson", "gamma", "trace", "closed"}));
  switch (serving.arrival) {
    case ArrivalKind::kTrace:
      serving.trace = std::make_shared<const RequestTrace>(
          read_request_trace(context.existing_file(fields.text("file"), fields.where("file"))));
      serving.qps = serving.trace->qps();
      fit_lengths(serving);
      break;
    case ArrivalKind::kClosed:
      serving.concurrency = static_cast<int>(fields.integer("concurrency", 1, 1 << 24));
      break;
    case ArrivalKind::kGamma:
      serving.arrival_variation = fields.number("variation", 0.01, 100);
      [[fallthrough]];
    case ArrivalKind::kPoisson:
      serving.qps = fields.number("qps", 1e-6, kMostQps);
      read_profile(fields, serving);
      check_profile(fields, serving);
      break;
  }
  fields.finish();
}

void read_slo(Fields fields, ServingSpec& serving) {
  serving.slo_metric = static_cast<SloMetric>(fields.choice("metric", {"ttft", "tpot", "latency"}));
  serving.slo_percentile = fields.number("percentile", 1, 99.999, serving.slo_percentile);
  serving.slo_ms = fields.number("ms", 1e-3, 1e8);
  fields.finish();
}

/// `vllm`, or a mapping with a name and whatever is set otherwise.
catalog::ServingEngine read_engine(Fields& fields, const Context& context) {
  constexpr const char* kDefault = "vllm";
  const base::yaml::Node* node = fields.optional("engine");
  if (node == nullptr || node->kind != base::yaml::Node::Kind::kMapping) {
    return context.catalog.engine(fields.text("engine", kDefault), fields.where("engine"));
  }
  Fields of(*node);
  catalog::ServingEngine engine =
      context.catalog.engine(of.text("name", kDefault), of.where("name"));
  engine.max_num_seqs =
      static_cast<int>(of.integer("max_num_seqs", 1, 1 << 20, engine.max_num_seqs));
  engine.max_num_batched_tokens = static_cast<int>(
      of.integer("max_num_batched_tokens", 1, 1 << 20, engine.max_num_batched_tokens));
  engine.block_size = static_cast<int>(of.integer("block_size", 1, 4096, engine.block_size));
  engine.chunked_prefill = of.boolean("chunked_prefill", engine.chunked_prefill);
  engine.mixed_batches = of.boolean("mixed_batches", engine.mixed_batches);
  engine.prefix_caching = of.boolean("prefix_caching", engine.prefix_caching);
  engine.gpu_memory_utilization =
      of.number("gpu_memory_utilization", 0.01, 1, engine.gpu_memory_utilization);
  engine.step_us = of.number("step_us", 0, 1e6, engine.step_us);
  engine.sequence_us = of.number("sequence_us", 0, 1e6, engine.sequence_us);
  engine.request_us = of.number("request_us", 0, 1e6, engine.request_us);
  engine.custom_all_reduce_kb =
      of.number("custom_all_reduce_kb", 0, 1e6, engine.custom_all_reduce_kb);
  of.finish();
  return engine;
}

DisaggregationSpec read_disaggregation(Fields fields) {
  DisaggregationSpec spec;
  spec.prefill_replicas = static_cast<int>(fields.integer("prefill_replicas", 1, kMostGpus));
  spec.prefill_tp = static_cast<int>(fields.integer("prefill_tp", 1, 1024, 1));
  fields.finish();
  return spec;
}

ScalingSpec read_scaling(Fields fields) {
  ScalingSpec spec;
  spec.min_replicas = static_cast<int>(fields.integer("min_replicas", 1, kMostGpus, 1));
  spec.max_replicas =
      static_cast<int>(fields.integer("max_replicas", spec.min_replicas, kMostGpus, kMostGpus));
  spec.target_outstanding = fields.number("target_outstanding", 0.1, 1e6);
  spec.interval_s = fields.number("interval_s", 0.01, 1e5, spec.interval_s);
  spec.idle_s = fields.number("idle_s", 0, kMostSeconds, spec.idle_s);
  spec.provision_s = fields.number("provision_s", 0, kMostSeconds, spec.provision_s);
  spec.warm_up_s = fields.number("warm_up_s", 0, kMostSeconds, spec.warm_up_s);
  spec.from = static_cast<ScalingSpec::LoadFrom>(
      fields.choice("load_from", {"storage", "local", "peer"}, 0));
  if (spec.from != ScalingSpec::LoadFrom::kPeer) {
    spec.gb_per_s = fields.number("gb_per_s", 1e-3, 1e6);
  }
  fields.finish();
  return spec;
}

double cache_bytes(Fields& fields, Precision weights) {
  // As vLLM's `auto`: what attention computes in.
  constexpr double kBytes[] = {2, 1};
  return weights == Precision::kFp32 && !fields.has("kv_cache")
             ? 4
             : kBytes[fields.choice("kv_cache", {"bf16", "fp8"}, 0)];
}

void unless(bool fine, const Context& context, std::string_view key, const std::string& found,
            const std::string& allowed) {
  if (!fine) throw base::input_error(context.where(key), found, allowed);
}

/// One group of replicas: the heads divide, weights and one request fit.
void check_replica(const ServingSpec& serving, const model::InferenceShape& shape,
                   const ClusterSpec& cluster, const Context& context, std::string_view key) {
  const catalog::LanguageModel& m = serving.model;
  unless(m.heads % shape.tp == 0, context, key, fmt::format("{}", shape.tp),
         fmt::format("a divisor of {}, the attention heads of {}", m.heads, m.id));
  const model::InferenceMemory memory = model::inference_memory(
      m, shape, serving.engine.max_num_batched_tokens, serving.engine.max_num_seqs);
  const double tokens = serving.context.mean + serving.output.mean;
  const double held = memory.weights_gb + memory.activations_gb + memory.overhead_gb;
  const double need = held + tokens * memory.cache_gb_per_token;
  const double have = cluster.gpu.memory_gb * serving.engine.gpu_memory_utilization;
  unless(need <= have, context, "workload.model",
         fmt::format("{:.1f} GB per GPU for {} with tp {} x pp {}: weights {:.1f}, activations "
                     "{:.1f}, overhead {:.1f}, one request {:.1f}",
                     need, m.id, shape.tp, shape.pp, memory.weights_gb, memory.activations_gb,
                     memory.overhead_gb, tokens * memory.cache_gb_per_token),
         fmt::format("at most {:.1f} GB, {:.0f} % of {}", have,
                     100 * serving.engine.gpu_memory_utilization, cluster.gpu.id));
}

void check_lengths(const ServingSpec& serving, const Context& context) {
  unless(serving.prefix_cached < serving.context.least ||
             serving.prefix_cached <= serving.context.mean,
         context, "workload.prefix_cached", fmt::format("{} tokens", serving.prefix_cached),
         fmt::format("at most the {:.0f} of `context`", serving.context.mean));
  unless(serving.prefix_cached == 0 || serving.engine.prefix_caching, context,
         "workload.prefix_cached", fmt::format("{} tokens", serving.prefix_cached),
         "0 where the engine's `prefix_caching` is off");
}

void check_slo(const ServingSpec& serving, const Context& context) {
  unless(serving.slo_metric != SloMetric::kTpot || serving.output.most > 1, context,
         "workload.slo.metric", "tpot where every answer is one token", "ttft or latency");
}

void check_spread(const ServingSpec& serving, const Context& context) {
  const catalog::LanguageModel& m = serving.model;
  const model::InferenceShape& shape = serving.shape;
  unless(shape.pp <= m.layers, context, "workload.pp", fmt::format("{}", shape.pp),
         fmt::format("at most {}, the layers of {}", m.layers, m.id));
  unless(shape.dp == 1 || m.experts > 0, context, "workload.attention_dp",
         fmt::format("{} for {}, which has no experts to share", shape.dp, m.id),
         "1: replicas of their own do the same");
  unless(shape.dp == 1 || shape.expert_parallel, context, "workload.expert_parallel", "false",
         "true where `attention_dp` is above 1: ranks meet in the experts");
  unless(!shape.expert_parallel || m.experts > 0, context, "workload.expert_parallel",
         fmt::format("true for {}, which has no experts", m.id), "false");
  unless(!shape.expert_parallel || m.experts % (shape.tp * shape.dp) == 0, context, "workload.tp",
         fmt::format("{} experts over tp {} x attention_dp {}", m.experts, shape.tp, shape.dp),
         "a product that divides them");
  unless(shape.dp == 1 || shape.pp == 1, context, "workload.pp", fmt::format("{}", shape.pp),
         "1 where `attention_dp` is above 1");
}

}  // namespace

std::string_view name_of(SloMetric metric) {
  switch (metric) {
    case SloMetric::kTtft:
      return "ttft";
    case SloMetric::kTpot:
      return "tpot";
    case SloMetric::kLatency:
      return "latency";
  }
  return "";
}

ServingSpec read_serving(Fields& fields, const Context& context) {
  ServingSpec serving;
  serving.model = read_model(fields, context);
  serving.shape.precision = read_serving_precision(fields);
  serving.shape.cache_bytes = cache_bytes(fields, serving.shape.precision);
  read_arrival(Fields(fields.required("arrival", "a mapping")), context, serving);
  if (serving.arrival != ArrivalKind::kTrace) {
    serving.context = read_length(fields, "context");
    serving.output = read_length(fields, "output");
    serving.prefix_cached = static_cast<int>(fields.integer("prefix_cached", 0, kMostTokens, 0));
  }
  serving.shape.tp = static_cast<int>(fields.integer("tp", 1, 1024, 1));
  serving.shape.pp = static_cast<int>(fields.integer("pp", 1, 1024, 1));
  serving.shape.dp = static_cast<int>(fields.integer("attention_dp", 1, 4096, 1));
  serving.shape.expert_parallel = fields.boolean("expert_parallel", serving.shape.dp > 1);
  serving.engine = read_engine(fields, context);
  serving.balancer = static_cast<Balancer>(
      fields.choice("balancer", {"round-robin", "least-outstanding", "prefix-aware", "queue"}, 1));
  if (const auto* node = fields.optional("disaggregation")) {
    serving.disaggregation = read_disaggregation(Fields(*node));
  }
  if (const auto* node = fields.optional("scaling")) serving.scaling = read_scaling(Fields(*node));
  if (fields.has("duration_s")) serving.duration_s = fields.number("duration_s", 1e-3, 1e8);
  if (fields.has("requests")) serving.requests = fields.integer("requests", 1, kMostRequests);
  if (const auto* slo = fields.optional("slo")) read_slo(Fields(*slo), serving);
  fields.finish();
  return serving;
}

void check_serving(ServingSpec& serving, const ClusterSpec& cluster, const Context& context) {
  check_lengths(serving, context);
  check_slo(serving, context);
  check_spread(serving, context);
  int gpus = cluster.gpus;
  if (serving.disaggregation) {
    const DisaggregationSpec& split = *serving.disaggregation;
    unless(serving.shape.dp == 1 && serving.shape.pp == 1 && !serving.scaling, context,
           "workload.disaggregation", "with attention_dp, pp or scaling", "without them");
    gpus -= split.prefill_replicas * split.prefill_tp;
    unless(gpus > 0, context, "workload.disaggregation.prefill_replicas",
           fmt::format("{} of {} GPUs", split.prefill_replicas, split.prefill_tp),
           fmt::format("fewer than the cluster's {}, so that some generate", cluster.gpus));
    model::InferenceShape prefill = serving.shape;
    prefill.tp = split.prefill_tp;
    check_replica(serving, prefill, cluster, context, "workload.disaggregation.prefill_tp");
  }
  unless(gpus % serving.shape.gpus() == 0, context,
         serving.shape.tp > 1 ? "workload.tp" : "workload.pp",
         fmt::format("tp {} x pp {}{} = {} GPUs for a replica", serving.shape.tp, serving.shape.pp,
                     serving.shape.dp > 1 ? fmt::format(" x attention_dp {}", serving.shape.dp)
                                          : std::string(),
                     serving.shape.gpus()),
         fmt::format("a product that divides {}, the cluster's GPUs{}", gpus,
                     serving.disaggregation ? " that generate" : ""));
  if (serving.scaling) {
    ScalingSpec& scaling = *serving.scaling;
    const int most = gpus / serving.shape.gpus();
    scaling.max_replicas = std::min(scaling.max_replicas, most);
    unless(scaling.min_replicas <= most, context, "workload.scaling.min_replicas",
           fmt::format("{}", scaling.min_replicas),
           fmt::format("at most {}, what the cluster holds", most));
  }
  // FP4 weights are widened on their way into the tensor cores where a GPU computes in nothing so
  // narrow; the other precisions need units of their own.
  const Precision precision = serving.shape.precision;
  unless(precision == Precision::kFp4 || cluster.gpu.peak_tflops(precision) > 0, context,
         "workload.precision", std::string(catalog::name_of(precision)),
         fmt::format("a precision that {} computes in", cluster.gpu.id));
  check_replica(serving, serving.shape, cluster, context, "workload.tp");
}

}  // namespace fabricast::scenario
