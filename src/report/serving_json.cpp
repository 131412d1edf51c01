#include "report/json_parts.h"
#include "report/serve.h"

namespace fabricast::report {

namespace {

Json percentiles_json(const serving::Percentiles& p) {
  Json json = Json::object();
  put(json, "mean", p.mean);
  put(json, "p50", p.p50);
  put(json, "p90", p.p90);
  put(json, "p95", p.p95);
  put(json, "p99", p.p99);
  return json;
}

void put_estimate(Json& json, const char* key, const serving::Estimate& estimate) {
  put(json, key, estimate.value);
  Json& interval = json[std::string(key) + "_interval"] = Json::object();
  put(interval, "value", estimate.value);
  put(interval, "lo", estimate.lo);
  put(interval, "hi", estimate.hi);
}

Json curve_json(const serving::Result& r) {
  Json json = Json::array();
  for (const serving::RatePoint& point : r.curve) {
    Json entry = Json::object();
    put(entry, "qps", point.qps);
    entry["ttft_ms"] = percentiles_json(point.ttft_ms);
    if (r.has_tpot) entry["tpot_ms"] = percentiles_json(point.tpot_ms);
    entry["latency_ms"] = percentiles_json(point.latency_ms);
    put(entry, "slo_violation_pct", point.violation_pct);
    put(entry, "gpu_utilisation_pct", point.utilisation_pct);
    json.push_back(std::move(entry));
  }
  return json;
}

Json memory_json(const std::vector<serving::GpuMemory>& pools) {
  Json json = Json::array();
  for (const serving::GpuMemory& pool : pools) {
    Json entry = Json::object();
    put(entry, "weights", pool.held.weights_gb);
    put(entry, "activations", pool.held.activations_gb);
    put(entry, "overhead", pool.held.overhead_gb);
    put(entry, "cache", pool.held.cache_gb_per_token * static_cast<double>(pool.cache_tokens));
    entry["cache_tokens"] = pool.cache_tokens;
    json.push_back(std::move(entry));
  }
  return json;
}

}  // namespace

Json serving_json(const serving::Result& r, const scenario::ServingSpec& spec) {
  Json json = Json::object();
  json["ttft_ms"] = percentiles_json(r.ttft_ms);
  if (r.has_tpot) json["tpot_ms"] = percentiles_json(r.tpot_ms);
  json["latency_ms"] = percentiles_json(r.latency_ms);
  json["queue_ms"] = percentiles_json(r.queue_ms);
  put(json, "offered_qps", r.offered_qps);
  put(json, "simulated_qps", r.simulated_qps);
  put_estimate(json, "capacity_qps", r.capacity_qps);
  put_estimate(json, "slo_qps", r.slo_qps);
  put(json, "goodput_qps", r.goodput_qps);
  Json& slo = json["slo"] = Json::object();
  slo["metric"] = scenario::name_of(spec.slo_metric);
  put(slo, "percentile", spec.slo_percentile);
  put(slo, "ms", spec.slo_ms);
  put(json, "slo_met_pct", r.slo_met_pct);
  put(json, "gpu_utilisation_pct", r.gpu_utilisation_pct);
  put(json, "communicating_pct", r.communicating_pct);
  put(json, "host_pct", r.host_pct);
  if (r.has_tpot) put(json, "jitter_pct", r.jitter_pct);
  json["overloaded"] = r.overloaded;
  put(json, "input_tokens_per_s", r.input_tokens_per_s);
  put(json, "output_tokens_per_s", r.output_tokens_per_s);
  put(json, "concurrency", r.concurrency);
  put(json, "batch", r.batch);
  put(json, "prefix_cached_pct", r.cached_pct);
  put(json, "cache_in_use_pct", r.cache_in_use_pct);
  json["requests"] = r.requests;
  json["preemptions"] = r.preemptions;
  put(json, "timeouts", r.timeouts);
  put(json, "simulated_s", r.simulated_s);
  if (spec.disaggregation) put(json, "kv_transfer_ms", r.transfer_ms);
  json["replicas"] = r.replicas;
  if (spec.scaling) {
    Json& scaling = json["scaling"] = Json::object();
    put(scaling, "mean_replicas", r.mean_replicas);
    scaling["scaled_out"] = r.scaled_out;
    scaling["scaled_in"] = r.scaled_in;
    if (r.cold_start_s > 0) put(scaling, "cold_start_s", r.cold_start_s);
    put(scaling, "gpu_hours_pct", 100 * r.mean_replicas / r.replicas);
  }
  json["memory_gb"] = memory_json(r.memory);
  json["rate_latency"] = curve_json(r);
  return json;
}

std::string serve_json(const ServeReport& report) {
  const advice::Outcome& o = report.outcome;
  const auto& spec = std::get<scenario::ServingSpec>(report.scenario->workload);
  Json result = Json::object();
  result["fabricast"] = FABRICAST_VERSION;
  result["scenario"] = report.scenario->name;
  result["seed"] = report.scenario->seed;
  result["fabric"] = o.name;
  result["kind"] = catalog::name_of(o.kind);
  result["serving"] = serving_json(*o.serving, spec);
  if (report.scenario->cluster.topology.nodes > 1) {
    result["network"] = network_json(o.network, o.serving->packets);
  }
  Json& collectives = result["collectives"] = Json::array();
  for (const auto& phase : o.serving->phases) collectives.push_back(collective_json(phase));
  Json& cost = result["cost"] = Json::object();
  cost["currency"] = o.cost.currency;
  put(cost, "per_hour", o.cost.per_hour);
  put(cost, "per_million_tokens", o.cost.per_million_tokens);
  Json& stats = result["stats"] = Json::object();
  put(stats, "wall_s", o.wall_s);
  stats["events"] = o.serving->counters.events;
  stats["packet_hops"] = o.serving->counters.packet_hops;
  put(stats, "peak_rss_mb", report.peak_rss_mb);
  return result.dump(2) + "\n";
}

}  // namespace fabricast::report
