#include <cmath>

#include "report/json_parts.h"
#include "report/report.h"
#include "report/train.h"

namespace fabricast::report {

void put(Json& object, const char* key, double value) {
  if (!std::isfinite(value))
    throw base::failure(std::string("`") + key + "` is not a finite number");
  object[key] = value;
}

/// Flows have no queues for packets to wait, be marked or be dropped in.
Json network_json(const network::NetworkMetrics& m, bool packets) {
  Json json = Json::object();
  put(json, "latency_us", m.latency_us);
  if (packets) {
    put(json, "latency_loaded_p50_us", m.latency_loaded_p50_us);
    put(json, "latency_loaded_p99_us", m.latency_loaded_p99_us);
  }
  put(json, "bandwidth_gbps", m.bandwidth_gbps);
  if (!packets) return json;
  put(json, "pfc_pause_pct", m.pfc_pause_pct);
  put(json, "ecn_marked_pct", m.ecn_marked_pct);
  put(json, "dropped_packets", m.dropped_packets);
  put(json, "retransmitted_pct", m.retransmitted_pct);
  put(json, "host_cpu_pct", m.host_cpu_pct);
  return json;
}

/// Times and bandwidths as nccl-tests defines them.
Json collective_json(const collective::PhaseReport& phase) {
  Json json = Json::object();
  json["name"] = phase.name;
  json["op"] = collective::name_of(phase.op);
  json["ranks"] = phase.ranks;
  json["bytes"] = phase.size.count();
  put(json, "time_us", phase.mean_s * 1e6);
  put(json, "sigma_us", phase.sigma_s * 1e6);
  if (phase.mean_s > 0) {
    const double algbw = phase.size.gb() / phase.mean_s;
    put(json, "algbw_GBps", algbw);
    put(json, "busbw_GBps", algbw * collective::busbw_factor(phase.op, phase.ranks));
  }
  json["states"] = phase.states;
  json["level"] = phase.flow ? "flow" : "packet";
  put(json, "p99_us", phase.p99_s * 1e6);
  if (phase.times_per_step > 0) put(json, "times_per_step", phase.times_per_step);
  if (!phase.busiest_link.empty()) {
    json["busiest_link"] = phase.busiest_link;
    put(json, "busiest_link_pct", phase.busiest_pct);
  }
  put(json, "extrapolation_error_pct", 100 * phase.extrapolation_error);
  return json;
}

void put_banded(Json& object, const std::string& key, double value, const cost::Band& band) {
  put(object, key.c_str(), value);
  Json& interval = object[key + "_interval"] = Json::object();
  put(interval, "value", value);
  put(interval, "lo", band.low);
  put(interval, "hi", band.high);
}

Json sizing_json(const fabric::Sizing& sizing) {
  Json json = Json::object();
  json["tiers"] = sizing.tiers;
  json["leaves"] = sizing.leaves;
  json["spines"] = sizing.spines;
  json["cores"] = sizing.cores;
  json["endpoint_cables"] = sizing.endpoint_cables;
  json["leaf_spine_cables"] = sizing.leaf_spine_cables;
  json["spine_core_cables"] = sizing.spine_core_cables;
  return json;
}

Json bom_lines_json(const cost::Bill& bill) {
  Json lines = Json::array();
  for (const cost::BomLine& line : bill.lines) {
    Json entry = Json::object();
    entry["item"] = line.item;
    entry["what"] = line.what;
    entry["part"] = cost::name_of(line.part);
    entry["count"] = line.count;
    put(entry, "unit_price", line.unit_price);
    put(entry, "unit_power_w", line.unit_power_w);
    if (line.longest_m > 0) put(entry, "longest_m", line.longest_m);
    if (line.owned) entry["owned"] = true;
    lines.push_back(std::move(entry));
  }
  return lines;
}

namespace {

/// Where nothing fails there is no time between failures.
Json reliability_json(const training::ReliabilityReport& r) {
  Json json = Json::object();
  if (r.mtbf_h > 0) put(json, "mtbf_h", r.mtbf_h);
  put(json, "interruptions", r.interruptions);
  put(json, "checkpoint_gb", r.checkpoint_gb);
  put(json, "checkpoint_write_s", r.write_s);
  if (r.interval_s > 0) put(json, "checkpoint_interval_s", r.interval_s);
  put(json, "recovery_s", r.recovery_s);
  put(json, "checkpoint_pct", r.checkpoint_pct);
  put(json, "lost_pct", r.lost_pct);
  put(json, "recovery_pct", r.recovery_pct);
  Json& causes = json["causes"] = Json::array();
  for (const training::FailureCause& cause : r.causes) {
    Json entry = Json::object();
    entry["component"] = cause.component;
    put(entry, "count", cause.count);
    put(entry, "mtbf_h", cause.mtbf_h);
    put(entry, "per_day", cause.per_day);
    causes.push_back(std::move(entry));
  }
  return json;
}

Json training_json(const training::Result& r) {
  Json json = Json::object();
  put(json, "step_time_s", r.step_time_s);
  Json& parts = json["breakdown_s"] = Json::object();
  put(parts, "compute", r.breakdown_s.compute);
  put(parts, "exposed_tp", r.breakdown_s.exposed_tp);
  put(parts, "exposed_pp", r.breakdown_s.exposed_pp);
  put(parts, "exposed_dp", r.breakdown_s.exposed_dp);
  put(parts, "exposed_ep", r.breakdown_s.exposed_ep);
  put(parts, "exposed_cp", r.breakdown_s.exposed_cp);
  put(parts, "bubble", r.breakdown_s.bubble);
  Json& wire = json["on_the_wire_s"] = Json::object();
  put(wire, "tp", r.wire_s.tp);
  put(wire, "pp", r.wire_s.pp);
  put(wire, "dp", r.wire_s.dp);
  put(wire, "ep", r.wire_s.ep);
  put(wire, "cp", r.wire_s.cp);
  put(json, "gpu_utilisation_pct", r.gpu_utilisation_pct);
  put(json, "gpu_utilisation_smi_pct", r.gpu_utilisation_smi_pct);
  put(json, "mfu_pct", r.mfu_pct);
  put(json, "jitter_pct", r.jitter_pct);
  put(json, "tokens_per_s", r.tokens_per_s);
  put(json, "days", r.days);
  put(json, "goodput_pct", r.reliability.goodput_pct);
  json["reliability"] = reliability_json(r.reliability);
  put(json, "extrapolation_error_pct", 100 * r.extrapolation_error);
  put(json, "memory_gb_per_gpu", r.memory.total_gb);
  return json;
}

Json cost_json(const cost::Result& cost, const cost::Bounds& bounds, const cost::Bill& bill) {
  Json json = Json::object();
  json["currency"] = cost.currency;
  put_banded(json, "network_capex", cost.network_capex, bounds.network_capex);
  put_banded(json, "capex", cost.capex, bounds.capex);
  put(json, "power_kw", cost.power_kw);
  put_banded(json, "per_hour", cost.per_hour, bounds.per_hour);
  if (cost.per_run > 0) {
    put_banded(json, "per_run", cost.per_run, bounds.scaled(cost.per_run, cost.per_hour));
  }
  put_banded(json, "per_million_tokens", cost.per_million_tokens,
             bounds.scaled(cost.per_million_tokens, cost.per_hour));
  Json& parts = json["per_hour_parts"] = Json::object();
  put(parts, "network", cost.parts.network);
  put(parts, "gpus", cost.parts.gpus);
  put(parts, "energy", cost.parts.energy);
  put(parts, "operation", cost.parts.operation);
  json["bom"] = bom_lines_json(bill);
  return json;
}

Json stats_json(const advice::Outcome& o, double peak_rss_mb) {
  const auto per_second = [&](std::uint64_t count) {
    return o.wall_s > 0 ? static_cast<double>(count) / o.wall_s : 0.0;
  };
  Json json = Json::object();
  put(json, "wall_s", o.wall_s);
  const network::Counters& counters = advice::counters_of(o);
  json["events"] = counters.events;
  put(json, "events_per_s", per_second(counters.events));
  json["packet_hops"] = counters.packet_hops;
  put(json, "packet_hops_per_s", per_second(counters.packet_hops));
  put(json, "peak_rss_mb", peak_rss_mb);
  return json;
}

Json host_json(const fabric::HostLimit& limit) {
  Json json = Json::object();
  put(json, "limit_gbps", limit.rate.gbps());
  json["link"] = fabric::name_of(limit.link);
  return json;
}

Json outcome_json(const advice::Outcome& o, const scenario::ValidScenario& scenario,
                  double peak_rss_mb) {
  const bool one_node = scenario.cluster.topology.nodes == 1;
  Json json = Json::object();
  json["kind"] = catalog::name_of(o.kind);
  json["sizing"] = sizing_json(o.sizing);
  if (!one_node) json["network"] = network_json(o.network, advice::packets_of(o));
  if (!one_node && o.host) json["host"] = host_json(*o.host);
  Json& collectives = json["collectives"] = Json::array();
  for (const auto& phase : advice::phases_of(o)) collectives.push_back(collective_json(phase));
  if (o.serving) {
    json["serving"] = serving_json(*o.serving, std::get<scenario::ServingSpec>(scenario.workload));
  } else {
    json["training"] = training_json(o.training);
  }
  json["cost"] = cost_json(o.cost, o.bounds, o.bill);
  json["stats"] = stats_json(o, peak_rss_mb);
  return json;
}

const char* name_of(training::JitterSource::Kind kind) {
  using Kind = training::JitterSource::Kind;
  switch (kind) {
    case Kind::kNone:
      return "none";
    case Kind::kKernels:
      return "kernels";
    case Kind::kQueueing:
      return "queueing";
    case Kind::kBackground:
      return "background";
    case Kind::kHosts:
      return "hosts";
    case Kind::kTimeouts:
      return "timeouts";
    case Kind::kStragglers:
      return "stragglers";
    case Kind::kAll:
      return "all";
  }
  return "";
}

Json layout_json(const model::TrainingShape& shape) {
  const model::Parallelism& p = shape.parallelism;
  Json json = {{"tp", p.tp}, {"pp", p.pp},   {"dp", p.dp},    {"cp", p.cp},
               {"ep", p.ep}, {"vpp", p.vpp}, {"zero", p.zero}};
  json["recompute"] = model::name_of(shape.recompute);
  return json;
}

Json memory_json(const model::Memory& m) {
  Json json = Json::object();
  put(json, "weights", m.weights_gb);
  put(json, "gradients", m.gradients_gb);
  put(json, "optimizer", m.optimizer_gb);
  put(json, "activations", m.activations_gb);
  put(json, "overhead", m.overhead_gb);
  put(json, "total", m.total_gb);
  return json;
}

Json jitter_json(const std::vector<training::JitterSource>& sources) {
  Json json = Json::array();
  for (const training::JitterSource& source : sources) {
    Json entry = Json::object();
    entry["source"] = name_of(source.kind);
    put(entry, "step_time_s", source.mean_s);
    put(entry, "sigma_s", source.sigma_s);
    json.push_back(std::move(entry));
  }
  return json;
}

Json layouts_json(const std::vector<training::LayoutReport>& layouts) {
  Json json = Json::array();
  for (const training::LayoutReport& layout : layouts) {
    Json entry = Json::object();
    entry["parallelism"] = layout_json(layout.choice.shape);
    put(entry, "estimated_step_s", layout.choice.estimated_step_s);
    if (layout.refusal.empty()) put(entry, "step_time_s", layout.step_time_s);
    entry["memory_gb"] = memory_json(layout.choice.memory);
    json.push_back(std::move(entry));
  }
  return json;
}

}  // namespace

namespace {

Json values_json(const std::map<std::string, double>& values) {
  Json json = Json::object();
  for (const auto& [name, value] : values) put(json, name.c_str(), value);
  return json;
}

}  // namespace

Json verdict_json(const advice::Verdict& verdict) {
  Json json = Json::object();
  json["choice"] = verdict.choice;
  Json& house = json["house"] = Json::object();
  house["choice"] = verdict.house.choice;
  Json& rules = house["rules"] = Json::array();
  for (const auto& rule : verdict.house.rules) rules.push_back(rule.id);
  Json& evidence = json["evidence"] = Json::object();
  evidence["choice"] = verdict.evidence.choice;
  evidence["headline"] = verdict.evidence.headline.en;
  Json& level = evidence["level"] = Json::array();
  for (const std::string& name : verdict.evidence.level) level.push_back(name);
  evidence["score"] = values_json(verdict.evidence.score);
  Json& reasons = json["reasons"] = Json::array();
  for (const auto& reason : verdict.reasons) {
    reasons.push_back(
        {{"text", reason.text}, {"metric", reason.metric}, {"values", values_json(reason.values)}});
  }
  Json& flips = json["flips"] = Json::array();
  for (const auto& flip : verdict.flips) {
    Json entry = Json::object();
    entry["input"] = flip.input;
    put(entry, "at", flip.at);
    entry["to"] = flip.to;
    entry["unit"] = flip.unit;
    flips.push_back(std::move(entry));
  }
  json["next"] = verdict.next;
  if (!verdict.next_yaml.empty()) json["next_yaml"] = verdict.next_yaml;
  return json;
}

Json claims_json(const std::vector<advice::Claim>& claims) {
  Json json = Json::array();
  for (const advice::Claim& claim : claims) {
    Json entry = Json::object();
    entry["id"] = claim.id;
    entry["place"] = claim.place;
    entry["text"] = claim.text.en;
    entry["text_zh"] = claim.text.zh;
    entry["verdict"] = claim.verdict;
    entry["evidence"] = claim.evidence.en;
    entry["evidence_zh"] = claim.evidence.zh;
    json.push_back(std::move(entry));
  }
  return json;
}

Json comparison_json(const Comparison& comparison) {
  const scenario::ValidScenario& scenario = *comparison.scenario;
  Json result = Json::object();
  result["fabricast"] = FABRICAST_VERSION;
  result["scenario"] = scenario.name;
  result["seed"] = scenario.seed;
  Json& fabrics = result["fabrics"] = Json::object();
  for (const advice::Outcome& outcome : comparison.outcomes) {
    fabrics[outcome.name] = outcome_json(outcome, scenario, comparison.peak_rss_mb);
  }
  result["verdict"] = verdict_json(comparison.verdict);
  if (!comparison.claims.empty()) result["claims"] = claims_json(comparison.claims);
  return result;
}

std::string json(const Comparison& comparison) {
  return comparison_json(comparison).dump(2) + "\n";
}

std::string train_json(const TrainReport& report) {
  const training::Detail& detail = report.detail;
  const training::Result& r = detail.result;
  Json result = Json::object();
  result["fabricast"] = FABRICAST_VERSION;
  result["scenario"] = report.scenario->name;
  result["seed"] = report.scenario->seed;
  result["fabric"] = report.choice->profile.name;
  result["kind"] = catalog::name_of(report.choice->profile.kind);
  result["parallelism"] =
      layout_json(std::get<scenario::TrainingSpec>(report.scenario->workload).shape);
  result["training"] = training_json(r);
  Json& bubble = result["bubble_s"] = Json::object();
  put(bubble, "fill_drain", detail.fill_drain_s);
  put(bubble, "imbalance",
      std::max(0.0, r.breakdown_s.bubble - detail.fill_drain_s - r.late_hosts_s));
  put(bubble, "late_hosts", r.late_hosts_s);
  Json& collectives = result["collectives"] = Json::array();
  for (const auto& phase : r.phases) collectives.push_back(collective_json(phase));
  if (const training::PhaseReport* phase = binding_phase(r)) {
    Json& binding = result["bottleneck"] = Json::object();
    binding["phase"] = phase->name;
    if (!phase->busiest_link.empty()) {
      binding["link"] = phase->busiest_link;
      put(binding, "utilisation_pct", phase->busiest_pct);
    }
  }
  result["jitter"] = jitter_json(detail.sources);
  result["memory_gb"] = memory_json(r.memory);
  if (!detail.layouts.empty()) result["layouts"] = layouts_json(detail.layouts);
  Json& stats = result["stats"] = Json::object();
  put(stats, "wall_s", report.wall_s);
  stats["events"] = r.counters.events;
  stats["packet_hops"] = r.counters.packet_hops;
  put(stats, "peak_rss_mb", report.peak_rss_mb);
  return result.dump(2) + "\n";
}

}  // namespace fabricast::report
