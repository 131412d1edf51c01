#include "report/advise.h"
#include "report/json_parts.h"

namespace fabricast::report {
namespace {

using advice::Outcome;

Json text_json(const advice::Text& text) {
  return {{"en", text.en}, {"zh", text.zh}};
}

void put_service(Json& json, const serving::Result& s, const scenario::ServingSpec& spec) {
  const serving::Percentiles& of = spec.slo_metric == scenario::SloMetric::kTtft   ? s.ttft_ms
                                   : spec.slo_metric == scenario::SloMetric::kTpot ? s.tpot_ms
                                                                                   : s.latency_ms;
  put(json, "slo_ms",
      spec.slo_percentile <= 50   ? of.p50
      : spec.slo_percentile <= 90 ? of.p90
      : spec.slo_percentile <= 95 ? of.p95
                                  : of.p99);
  put(json, "slo_qps", s.slo_qps.value);
  put(json, "capacity_qps", s.capacity_qps.value);
  put(json, "gpu_utilisation_pct", s.gpu_utilisation_pct);
  if (s.has_tpot) put(json, "jitter_pct", s.jitter_pct);
}

void put_outcome(Json& json, const Outcome& o, const scenario::ValidScenario& scenario) {
  const cost::Result& cost = o.cost;
  put_banded(json, "network_capex", cost.network_capex, o.bounds.network_capex);
  put_banded(json, "capex", cost.capex, o.bounds.capex);
  put(json, "power_kw", cost.power_kw);
  put(json, "per_hour", cost.per_hour);
  if (cost.per_run > 0) {
    put_banded(json, "per_run", cost.per_run, o.bounds.scaled(cost.per_run, cost.per_hour));
  }
  put_banded(json, "per_million_tokens", cost.per_million_tokens,
             o.bounds.scaled(cost.per_million_tokens, cost.per_hour));
  if (o.network.latency_us > 0) put(json, "latency_us", o.network.latency_us);
  if (o.serving) {
    put_service(json, *o.serving, std::get<scenario::ServingSpec>(scenario.workload));
    return;
  }
  put(json, "gpu_utilisation_pct", o.training.gpu_utilisation_pct);
  put(json, "jitter_pct", o.training.jitter_pct);
  put(json, "days", o.training.days);
  put(json, "tokens_per_s", o.training.tokens_per_s);
}

Json assessment_json(const advice::Assessment& a) {
  Json json = Json::object();
  put(json, "efficiency", a.efficiency);
  put(json, "economy", a.economy);
  put(json, "adaptability", a.adaptability);
  put(json, "availability", a.availability);
  put(json, "performance", a.performance);
  return json;
}

int switches(const fabric::Sizing& sizing) {
  return sizing.leaves + sizing.spines + sizing.cores;
}

Json design_json(const DesignReport& design) {
  const advice::Candidate& c = design.candidate;
  Json json = Json::object();
  json["name"] = c.name;
  json["fabric"] = catalog::name_of(c.kind);
  json["profile"] = c.profile;
  json["topology"] = c.topology;
  put(json, "oversubscription", c.oversubscription);
  put(json, "nic_gbps", c.nic_gbps);
  json["switch"] = c.network_switch;
  json["adapter"] = c.adapter;
  json["switches"] = switches(c.sizing);
  json["links"] =
      c.sizing.endpoint_cables + c.sizing.leaf_spine_cables + c.sizing.spine_core_cables;
  json["feasible"] = design.outcome.has_value();
  json["reason"] = c.reason.en;
  json["reason_zh"] = c.reason.zh;
  json["chosen"] = design.chosen;
  json["pareto"] = design.pareto;
  if (!design.outcome) return json;
  json["currency"] = design.outcome->cost.currency;
  put_outcome(json, *design.outcome, *c.scenario);
  json["level"] = design.flow ? "flow" : "packet";
  if (design.assessment) json["assessment"] = assessment_json(*design.assessment);
  return json;
}

Json tuning_json(const std::vector<TuningStep>& steps) {
  Json json = Json::array();
  for (const TuningStep& step : steps) {
    Json entry = Json::object();
    entry["name"] = step.name;
    entry["text"] = text_json(step.text);
    put(entry, "gain_pct", step.gain_pct);
    const Outcome& o = step.outcome;
    if (!o.serving) {
      put(entry, "days", o.training.days);
      put(entry, "jitter_pct", o.training.jitter_pct);
    }
    put(entry, "per_million_tokens", o.cost.per_million_tokens);
    json.push_back(std::move(entry));
  }
  return json;
}

Json scaling_json(const Scaling& scaling, bool serving) {
  Json json = Json::object();
  json["quantity"] = serving ? "capacity_qps" : "tokens_per_s";
  json["gpus"] = scaling.gpus;
  Json& series = json["series"] = Json::array();
  for (const Scaling::Series& s : scaling.series) {
    Json values = Json::array();
    for (const auto& value : s.values) values.push_back(value ? Json(*value) : Json(nullptr));
    series.push_back({{"name", s.name}, {"values", std::move(values)}});
  }
  return json;
}

Json sensitivity_json(const std::vector<advice::Sensitivity>& all, const std::string& rival) {
  Json json = Json::array();
  for (const advice::Sensitivity& s : all) {
    Json entry = Json::object();
    entry["input"] = s.input;
    entry["name"] = text_json({s.name, s.name});
    entry["unit"] = s.unit;
    put(entry, "low", s.low);
    put(entry, "likely", s.likely);
    put(entry, "high", s.high);
    put(entry, "margin_low_pct", s.margin_low_pct);
    put(entry, "margin_likely_pct", s.margin_likely_pct);
    put(entry, "margin_high_pct", s.margin_high_pct);
    if (s.flip_at) {
      put(entry, "flip_at", *s.flip_at);
      entry["flip_to"] = rival;
    }
    json.push_back(std::move(entry));
  }
  return json;
}

Json break_even_json(const std::vector<advice::BreakEven>& all) {
  Json json = Json::array();
  for (const advice::BreakEven& b : all) {
    Json entry = Json::object();
    entry["id"] = b.id;
    entry["title"] = text_json(b.title);
    entry["x_name"] = text_json(b.x_name);
    entry["x_unit"] = b.x_unit;
    entry["x"] = b.x;
    entry["y_name"] = text_json(b.y_name);
    entry["y_unit"] = b.y_unit;
    Json& series = entry["series"] = Json::array();
    for (const auto& s : b.series) {
      series.push_back({{"name", text_json(s.name)}, {"values", s.values}});
    }
    if (b.crossing) put(entry, "crossing", *b.crossing);
    json.push_back(std::move(entry));
  }
  return json;
}

Json axes_json() {
  Json json = Json::array();
  for (const advice::AssessmentAxis& axis : advice::assessment_axes()) {
    json.push_back({{"axis", axis.axis},
                    {"name", text_json(axis.name)},
                    {"formula", text_json(axis.formula)}});
  }
  return json;
}

/// Where nothing can be built the house speaks alone.
Json without_evidence(const AdviseReport& report) {
  Json json = Json::object();
  json["fabricast"] = FABRICAST_VERSION;
  json["scenario"] = report.subject;
  json["fabrics"] = Json::object();
  json["verdict"] = verdict_json(report.comparison.verdict);
  if (!report.comparison.claims.empty()) json["claims"] = claims_json(report.comparison.claims);
  return json;
}

}  // namespace

Json advice_json(const AdviseReport& report) {
  const bool evidence = !report.comparison.outcomes.empty();
  Json json = evidence ? comparison_json(report.comparison) : without_evidence(report);
  if (report.nothing) json["nothing"] = text_json(*report.nothing);
  Json& designs = json["designs"] = Json::array();
  for (const DesignReport& design : report.designs) {
    designs.push_back(design_json(design));
    if (design.chosen) json["verdict"]["design"] = design.candidate.name;
  }
  json["assessment_method"] = axes_json();
  if (!evidence) return json;
  json["objective"] = scenario::name_of(report.comparison.scenario->objective);
  const bool serving = report.comparison.outcomes.front().serving.has_value();
  if (!report.tuning.empty()) json["tuning"] = tuning_json(report.tuning);
  if (!report.scaling.gpus.empty()) json["scaling"] = scaling_json(report.scaling, serving);
  if (!report.sensitivities.empty()) {
    json["sensitivity"] = sensitivity_json(report.sensitivities, report.rival);
  }
  if (!report.break_evens.empty()) json["break_even"] = break_even_json(report.break_evens);
  return json;
}

std::string advise_json(const AdviseReport& report) {
  return advice_json(report).dump(2) + "\n";
}

}  // namespace fabricast::report
