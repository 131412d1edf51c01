#pragma once
// Two voices. The house rules are a policy file distilled from the source article, read as written;
// the evidence is what the simulation and the bill say. The verdict states both and where they part.

#include <map>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "cost/cost.h"
#include "scenario/scenario.h"
#include "training/training.h"

namespace fabricast::advice {

/// One fabric of a comparison with all that is known of it.
struct Outcome {
  std::string name;  ///< JSON key
  catalog::FabricKind kind = catalog::FabricKind::kInfiniBand;
  fabric::Sizing sizing;
  network::NetworkMetrics network;
  training::Result training;
  cost::Bill bill;
  cost::Result cost;
  double wall_s = 0;
};

struct HouseRule {
  std::string id;
  std::string place;  ///< section of the article: "4.3(1)"
  std::string text;
  std::string choice;  ///< "infiniband", "roce-v2" or "tcp"
};

struct HouseVerdict {
  std::string choice;
  std::vector<HouseRule> rules;  ///< that applied; the first one decided
};

/// The questions that the article's rules ask.
struct HouseQuestion {
  int gpus = 0;
  double model_parameters_b = 0;
  bool training = true;
  bool existing_ethernet = false;
  bool has_budget = false;
  bool high_end_gpu = true;
  int growth_gpus = 0;
};

/// Reads the policy file (catalog/house-rules.yaml). Rules are tried in order; the last one always
/// applies, so that there is exactly one choice. Throws base::Error (input) on a bad file.
HouseVerdict house_verdict(const std::string& policy_file, const HouseQuestion& question);
HouseQuestion question_of(const scenario::ValidScenario& scenario);

struct Reason {
  std::string text;
  std::string metric;                     ///< "training.days"
  std::map<std::string, double> values;   ///< per fabric
};

struct Flip {
  std::string input;
  double at = 0;
  std::string to;
};

struct EvidenceVerdict {
  std::string choice;                   ///< name of an outcome
  std::map<std::string, double> score;  ///< per outcome; lower is better: cost of the work done
};

struct Verdict {
  std::string choice;
  HouseVerdict house;
  EvidenceVerdict evidence;
  std::vector<Reason> reasons;
  std::vector<Flip> flips;
  std::string next;  ///< one thing worth trying
};

/// PRECONDITION: at least one outcome.
Verdict verdict(const scenario::ValidScenario& scenario, const std::vector<Outcome>& outcomes,
                const HouseVerdict& house);

}  // namespace fabricast::advice
