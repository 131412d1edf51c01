#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "advice/advice.h"
#include "base/yaml.h"
#include "model/model.h"

namespace fabricast::advice {

namespace {

constexpr int kMostGpus = 100'000'000;  // a bound against typing errors, not a limit of the rules

/// What must hold for a rule to apply. Absent means: any.
struct Condition {
  int gpus_min = 1;
  int gpus_max = std::numeric_limits<int>::max();
  int growth_min = 0;
  double model_min_b = 0;
  double model_max_b = std::numeric_limits<double>::infinity();
  std::optional<bool> training;
  std::optional<bool> existing_ethernet;
  std::optional<bool> budget;
  std::optional<bool> high_end_gpu;
};

struct PolicyRule {
  HouseRule rule;
  Condition when;
  bool conditional = false;
};

std::optional<bool> flag(base::yaml::Fields& fields, std::string_view key) {
  if (!fields.has(key)) return std::nullopt;
  return fields.boolean(key, false);
}

/// True for the first of the two words, false for the second.
std::optional<bool> either(base::yaml::Fields& fields, std::string_view key, const char* yes,
                           const char* no) {
  if (!fields.has(key)) return std::nullopt;
  return fields.choice(key, {yes, no}) == 0;
}

Condition read_condition(const base::yaml::Node& node) {
  base::yaml::Fields fields(node);
  Condition when;
  const auto count = [&fields](std::string_view key, int fallback) {
    return static_cast<int>(fields.integer(key, 1, kMostGpus, fallback));
  };
  when.gpus_min = count("gpus_min", when.gpus_min);
  when.gpus_max = count("gpus_max", when.gpus_max);
  when.growth_min = count("growth_min", when.growth_min);
  when.model_min_b = fields.number("model_min_b", 0, 1e6, when.model_min_b);
  when.model_max_b = fields.number("model_max_b", 0, 1e6, when.model_max_b);
  when.training = either(fields, "task", "training", "serving");
  when.existing_ethernet = flag(fields, "existing_ethernet");
  when.budget = flag(fields, "budget");
  when.high_end_gpu = either(fields, "gpu_class", "high-end", "mid-range");
  fields.finish();
  return when;
}

PolicyRule read_rule(const base::yaml::Node& node) {
  static const std::vector<std::string> kChoices = {"infiniband", "roce-v2", "tcp"};
  base::yaml::Fields fields(node);
  PolicyRule read;
  read.rule.id = fields.text("id");
  read.rule.place = fields.text("place");
  read.rule.text = fields.text("text");
  read.rule.text_zh = fields.text("text_zh");
  read.rule.choice = kChoices[fields.choice("choice", kChoices)];
  if (const base::yaml::Node* challenge = fields.optional("challenge")) {
    base::yaml::Fields part(*challenge);
    read.rule.challenge = {.en = part.text("text"), .zh = part.text("text_zh")};
    read.rule.challenge_source = part.text("source");
    part.finish();
  }
  if (const base::yaml::Node* when = fields.optional("when")) {
    read.when = read_condition(*when);
    read.conditional = !when->entries.empty();
  }
  fields.finish();
  return read;
}

/// The rules in their order. Only the last one is without a condition: an earlier one would hide
/// what follows, a conditional last one would leave questions without an answer.
std::vector<PolicyRule> read_policy(const std::string& policy_file) {
  const base::yaml::Node document = base::yaml::parse_file(policy_file);
  base::yaml::Fields fields(document);
  const base::yaml::Node& list = fields.required("rules");
  fields.finish();
  if (list.kind != base::yaml::Node::Kind::kSequence || list.items.empty()) {
    throw base::input_error(list.where, list.description(), "a list of rules");
  }
  std::vector<PolicyRule> rules;
  std::set<std::string> ids;
  for (const base::yaml::Node& item : list.items) {
    rules.push_back(read_rule(item));
    const bool last = &item == &list.items.back();
    if (!ids.insert(rules.back().rule.id).second) {
      throw base::input_error(item.where, rules.back().rule.id, "an id that no other rule has");
    }
    if (rules.back().conditional == last) {
      throw base::input_error(item.where, last ? "a last rule with `when`" : "no `when`",
                              "a condition on every rule but the last");
    }
  }
  return rules;
}

bool agrees(std::optional<bool> wanted, bool found) {
  return !wanted || *wanted == found;
}

bool holds(const Condition& when, const HouseQuestion& q) {
  return q.gpus >= when.gpus_min && q.gpus <= when.gpus_max && q.growth_gpus >= when.growth_min &&
         q.model_parameters_b >= when.model_min_b && q.model_parameters_b <= when.model_max_b &&
         agrees(when.training, q.training) && agrees(when.existing_ethernet, q.existing_ethernet) &&
         agrees(when.budget, q.has_budget) && agrees(when.high_end_gpu, q.high_end_gpu);
}

}  // namespace

HouseVerdict house_verdict(const std::string& policy_file, const HouseQuestion& question) {
  HouseVerdict verdict;
  for (const PolicyRule& candidate : read_policy(policy_file)) {
    // The last rule speaks for what no other covers: where another applies it has nothing to say.
    const bool applies =
        candidate.conditional ? holds(candidate.when, question) : verdict.rules.empty();
    if (applies) verdict.rules.push_back(candidate.rule);
  }
  verdict.choice = verdict.rules.front().choice;
  return verdict;
}

HouseQuestion question_of(const scenario::ValidScenario& scenario) {
  const auto* training = std::get_if<scenario::TrainingSpec>(&scenario.workload);
  const catalog::LanguageModel& m =
      training ? training->model : std::get<scenario::ServingSpec>(scenario.workload).model;
  return {.gpus = scenario.cluster.gpus,
          .model_parameters_b = model::parameters(m) * 1e-9,
          .training = training != nullptr,
          .existing_ethernet = scenario.constraints.existing_ethernet,
          .has_budget = scenario.budget.has_value(),
          .high_end_gpu = scenario.cluster.gpu.nvlink_gb_per_s > 0,
          .growth_gpus = scenario.constraints.growth_gpus};
}

}  // namespace fabricast::advice
