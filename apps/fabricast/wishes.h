#pragma once
// What `advise` is asked by flags alone, and the scenario that it comes to.

#include <optional>
#include <string>

#include "advice/advice.h"
#include "base/yaml.h"
#include "catalog/catalog.h"
#include "commands.h"
#include "scenario/scenario.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace fabricast::apps {

struct Wishes {
  int gpus = 0;
  std::string gpu = "h100-sxm-80gb";
  std::string model = "llama2-70b";
  bool training = true;
  std::string precision;  ///< empty: BF16 for training, FP8 for serving where the GPU has it
  double budget = 0;      ///< 0: none
  std::string currency = "CNY";
  bool existing_ethernet = false;
  int growth = 0;
  double slo_ms = 0;    ///< 0: the scenario's default
  double qps = 0;       ///< 0: a fifth of what the GPUs could compute
  double tokens = 1e9;  ///< of a training run
  double max_days = 0;
  std::string objective = "value";
};

/// Nothing that the catalogue knows fits the work into the GPUs.
struct NothingFits {
  advice::Text why;
};

void add_wishes(CLI::App& command, Wishes& wishes);
/// Throws what the command line's library does where flags stand beside a file, or lack one
/// another.
void check_wishes(const CLI::App& command, const std::string& scenario, const Wishes& wishes);

/// The scenario's document; the layout of a service is the smallest that fits. Throws base::Error
/// (input) on unknown ids, NothingFits where no layout fits.
base::yaml::Node document_of(const Wishes& wishes, const catalog::Catalog& catalog,
                             const scenario::Overrides& overrides);
/// What the house rules are asked; needs no fitting layout. Throws base::Error (input) on unknown
/// ids.
advice::HouseQuestion question_of(const Wishes& wishes, const catalog::Catalog& catalog);
/// What the user may not expect of it, on standard error unless quiet.
void say_assumed(const Wishes& wishes, const scenario::ValidScenario& asked,
                 const CommonFlags& flags);
/// One line.
std::string subject_of(const Wishes& wishes);

/// The same work on another number of GPUs: its layout is searched anew, its replicas follow.
base::yaml::Node resized(base::yaml::Node document, int gpus);

}  // namespace fabricast::apps
