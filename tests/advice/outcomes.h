#pragma once
// Scenarios and outcomes for tests of the evidence, written out by hand: what the evidence makes of
// numbers must not depend on how they were simulated.

#include "advice/advice.h"

namespace fabricast::advice::testing {

inline scenario::ValidScenario scenario_of(int gpus = 32) {
  scenario::ValidScenario s;
  s.name = "test";
  s.file = "test.yaml";
  s.cluster.gpus = gpus;
  s.workload = scenario::TrainingSpec{};
  return s;
}

/// A fabric whose run of a million tokens takes `days` and costs `per_hour` an hour.
inline Outcome outcome(const std::string& name, catalog::FabricKind kind, double days,
                       double per_hour, double network_capex) {
  Outcome o;
  o.name = name;
  o.kind = kind;
  o.training.days = days;
  o.training.gpu_utilisation_pct = 80;
  o.bill.currency = o.cost.currency = "CNY";
  o.bill.network_capex = o.cost.network_capex = network_capex;
  o.bill.gpu_capex = 8e6;
  o.bill.capex = o.cost.capex = 8e6 + network_capex;
  o.cost.per_hour = per_hour;
  o.cost.per_run = o.cost.per_million_tokens = per_hour * days * 24;
  return o;
}

inline Outcome infiniband(double days, double per_hour, double network_capex = 9e5) {
  return outcome("infiniband", catalog::FabricKind::kInfiniBand, days, per_hour, network_capex);
}
inline Outcome roce(double days, double per_hour, double network_capex = 5e5) {
  return outcome("roce-v2", catalog::FabricKind::kRoceV2, days, per_hour, network_capex);
}
inline Outcome tcp(double days, double per_hour, double network_capex = 4e5) {
  return outcome("tcp", catalog::FabricKind::kTcp, days, per_hour, network_capex);
}

inline HouseVerdict house(const std::string& choice) {
  HouseVerdict verdict;
  verdict.choice = choice;
  verdict.rules.push_back({.id = "rule",
                           .place = "3.3(2)",
                           .text = "The rule.",
                           .text_zh = "规则。",
                           .choice = choice,
                           .challenge = {},
                           .challenge_source = {}});
  return verdict;
}

}  // namespace fabricast::advice::testing
