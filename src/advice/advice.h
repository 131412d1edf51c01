#pragma once
// Two voices. The house rules are a policy file distilled from the source article, read as written;
// the evidence is what the simulation and the bill say. The verdict states both and where they
// part. house_rules.cpp answers a `HouseQuestion`; evidence.cpp scores `Outcome`s; verdict.cpp
// joins them.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "cost/bounds.h"
#include "cost/cost.h"
#include "scenario/scenario.h"
#include "serving/serving.h"
#include "training/training.h"

namespace fabricast::advice {

/// One fabric of a comparison with all that is known of it.
struct Outcome {
  std::string name;  ///< JSON key
  catalog::FabricKind kind = catalog::FabricKind::kInfiniBand;
  fabric::Sizing sizing;
  std::optional<fabric::HostLimit> host;  ///< where hosts hold adapters back
  network::NetworkMetrics network;
  training::Result training;               ///< of a training workload
  std::optional<serving::Result> serving;  ///< of a service; then there is no training
  cost::Bill bill;
  cost::Result cost;
  cost::Bounds bounds;  ///< of its costs, while prices stay in their bands
  double wall_s = 0;
};

/// Of the workload, whichever it is.
const std::vector<collective::PhaseReport>& phases_of(const Outcome& outcome);
const network::Counters& counters_of(const Outcome& outcome);
/// False: nothing between nodes was simulated packet by packet.
bool packets_of(const Outcome& outcome);

/// Requests per second that a service answers within its SLO, of those that are offered; 0: none.
double served_qps(const serving::Result& serving);

/// Text for both languages of the reports.
struct Text {
  std::string en;
  std::string zh;
};

/// The unit in which all lengths of run of a comparison are written, and what it is in days.
struct RunUnit {
  Text name;
  double days = 1;
};

/// The unit in which a reader expects the shortest of these runs. PRECONDITION: at least one.
RunUnit run_unit(const std::vector<Outcome>& outcomes);

struct HouseRule {
  std::string id;
  std::string place;  ///< section of the article: "4.3(1)"
  std::string text;
  std::string text_zh;
  std::string choice;  ///< "infiniband", "roce-v2" or "tcp"
  Text challenge;      ///< what public evidence says against the rule; empty when nothing is known
  std::string challenge_source;
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

/// Reads the policy file (catalog/house-rules.yaml). Rules are tried in order; the last one has no
/// condition, so that there is exactly one choice. Throws base::Error (input) on a bad file.
HouseVerdict house_verdict(const std::string& policy_file, const HouseQuestion& question);
/// A GPU counts as high-end when it has NVLink.
HouseQuestion question_of(const scenario::ValidScenario& scenario);

struct Reason {
  std::string text;
  std::string metric;                    ///< "training.days"; "house" for what a rule says
  std::map<std::string, double> values;  ///< per fabric
  std::string text_zh;
};

/// The value of one input at which the evidence would choose another fabric.
struct Flip {
  std::string input;  ///< "training.days of roce-v2", "cost.network_capex of infiniband", ...
  double at = 0;
  std::string to;
  std::string unit;  ///< of `at`: "days", or a currency
  Text text;         ///< a sentence, lengths of run in the comparison's unit
};

struct EvidenceVerdict {
  std::string choice;                   ///< name of an outcome
  std::map<std::string, double> score;  ///< per outcome; lower is better: cost of the work done
  std::vector<std::string> level;  ///< outcomes that are no better and no worse; with the choice
  Text headline;                   ///< what it comes to, with the choice where there is one
};

struct Verdict {
  std::string choice;
  HouseVerdict house;
  EvidenceVerdict evidence;
  std::vector<Reason> reasons;
  std::vector<Flip> flips;
  std::string next;  ///< one thing worth trying
  std::string next_zh;
  std::string next_yaml;  ///< lines that `next` wants in the scenario, as they are; may be empty
};

/// The evidence chooses the lowest cost per million tokens among the outcomes within the budget; of
/// a service, per million tokens that are answered within the SLO. A service that never meets its
/// SLO is chosen only where none does, by what it sustains.
/// Outcomes within 1 % of it, or within what the extrapolation may change their runs by, are level
/// with it: the verdict says so and names the cheaper network. When none is within the budget it
/// names the cheapest cluster, and inside one node the cheapest network, and says so. `catalog`
/// prices the flips that depend on prices and knows how a fabric is tuned; without it both are left
/// out. PRECONDITION: at least one
/// outcome.
Verdict verdict(const scenario::ValidScenario& scenario, const std::vector<Outcome>& outcomes,
                const HouseVerdict& house, const catalog::Catalog* catalog = nullptr);

}  // namespace fabricast::advice
