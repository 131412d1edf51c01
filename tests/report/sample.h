#pragma once
// A comparison made by hand: the report shows numbers and computes none, so that any will do.

#include <string>
#include <utility>

#include "report/report.h"

namespace fabricast::report {

/// Owns the scenario that the comparison points to.
struct Sample {
  scenario::ValidScenario scenario;
  Comparison comparison;
};

inline advice::Outcome sample_outcome(std::string name, catalog::FabricKind kind) {
  advice::Outcome outcome;
  outcome.name = std::move(name);
  outcome.kind = kind;
  outcome.network.latency_us = 1.234;
  outcome.training.step_time_s = 2;
  outcome.training.breakdown_s = {.compute = 1.5, .exposed_tp = 0.25, .bubble = 0.25};
  outcome.training.tokens_per_s = 131072;
  outcome.training.days = 0.5;
  outcome.training.extrapolation_error = 0.001;
  outcome.training.phases.push_back({.name = "dp gradients",
                                     .op = collective::Op::kAllReduce,
                                     .size = base::Bytes(1'000'000'000),
                                     .ranks = 4,
                                     .mean_s = 0.1,
                                     .sigma_s = 0.01,
                                     .extrapolation_error = 0.02,
                                     .states = 16,
                                     .busiest_link = "leaf0:3",
                                     .busiest_pct = 80});
  outcome.bill.lines.push_back({"switch-x", "leaf switches", 2, 80000, 500, cost::Part::kSwitch});
  outcome.bill.lines.push_back(
      {"article-nic-of-200g", "network adapters", 8, 8000, 20, cost::Part::kAdapter});
  outcome.bill.lines.push_back(
      {"a-cable", "cables from adapters to leaves", 8, 800, 0, cost::Part::kCable});
  outcome.bill.lines.push_back({"a-cable", "cables to spines", 4, 800, 0, cost::Part::kCable});
  outcome.cost.currency = "CNY";
  outcome.cost.network_capex = 1234567;
  outcome.wall_s = 2;
  outcome.training.counters.events = 1000;
  return outcome;
}

inline Sample sample() {
  Sample s;
  s.scenario.name = "sample";
  s.scenario.seed = 7;
  s.scenario.cluster.gpus = 8;
  s.scenario.cluster.gpu.name = "H100 SXM";
  s.scenario.cluster.topology.nodes = 2;
  s.scenario.cluster.topology.nics_per_node = 4;
  s.scenario.cluster.topology.nic_rate = base::Rate::bits_per_second(200'000'000'000);
  scenario::TrainingSpec job;
  job.model.name = "Llama 2 7B";
  s.scenario.workload = job;
  s.comparison.outcomes = {sample_outcome("infiniband", catalog::FabricKind::kInfiniBand),
                           sample_outcome("roce-v2", catalog::FabricKind::kRoceV2),
                           sample_outcome("tcp", catalog::FabricKind::kTcp)};
  auto& verdict = s.comparison.verdict;
  verdict.choice = "roce-v2";
  verdict.evidence.choice = "roce-v2";
  verdict.evidence.headline = {"The evidence chooses: roce-v2", "证据的选择：roce-v2"};
  verdict.evidence.score = {{"infiniband", 2.0}, {"roce-v2", 1.0}, {"tcp", 3.0}};
  verdict.house.choice = "infiniband";
  advice::HouseRule rule;
  rule.id = "above-16";
  rule.place = "4.2(1)";
  rule.text = "Above 16 GPUs InfiniBand comes first.";
  rule.text_zh = "超过 16 卡优先 InfiniBand。";
  rule.choice = "infiniband";
  verdict.house.rules = {rule};
  verdict.reasons = {{"roce-v2 does the work at the lowest cost.", "cost.per_million_tokens",
                      verdict.evidence.score, "roce-v2 完成同样工作的成本最低。"}};
  verdict.flips = {{"cost.network_capex of infiniband",
                    1000000,
                    "roce-v2",
                    "CNY",
                    {"roce-v2, if it is so.", "roce-v2：若如此。"}}};
  verdict.next = "Try another seed.";
  verdict.next_zh = "换一个种子再试。";
  return s;
}

/// Points the comparison at its scenario, after the sample has come to rest where it lives.
inline const Comparison& ready(Sample& s) {
  s.comparison.scenario = &s.scenario;
  return s.comparison;
}

}  // namespace fabricast::report
