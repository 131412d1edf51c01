#pragma once
// What failures and checkpoints leave of a run. Components that stop a job are counted on the
// fabric as built; the interval between checkpoints is Daly's, and so is the time that a run takes.
// Equations and sources: docs/models/training.md, "Failures and checkpoints".

#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "fabric/fabric.h"
#include "scenario/scenario.h"

namespace fabricast::training {

/// Components of one kind, and how often they stop the job.
struct FailureCause {
  std::string component;  ///< "gpu", "host", "adapter", "link", "switch", "software"
  double count = 0;
  double mtbf_h = 0;   ///< of one
  double per_day = 0;  ///< of all
};

struct ReliabilityReport {
  std::vector<FailureCause> causes;  ///< those that happen
  double mtbf_h = 0;                 ///< of the job; 0: nothing fails
  double checkpoint_gb = 0;
  double write_s = 0;     ///< of one checkpoint, during which the job waits
  double interval_s = 0;  ///< of work between two; 0: none is written
  double recovery_s = 0;  ///< from a failure to the first step after it
  // Shares of the time that the run takes, percent.
  double goodput_pct = 100;  ///< spent on steps that count
  double checkpoint_pct = 0;
  double lost_pct = 0;  ///< work that is done again
  double recovery_pct = 0;
  double interruptions = 0;  ///< expected in the whole run
};

/// Everything of a cluster that can stop a job.
std::vector<FailureCause> failure_causes(const catalog::Reliability& rates,
                                         const fabric::Fabric& fabric);

/// Work between two checkpoints that loses least, seconds: the higher-order estimate of Daly 2006
/// (equation 37), of which Young's sqrt(2 write mtbf) is the first term.
double daly_interval_s(double write_s, double mtbf_s);

/// Time per useful time (Daly 2006, equation 20), at least 1.
double daly_stretch(double interval_s, double write_s, double recovery_s, double mtbf_s);

/// `work_s`: of the whole run without interruptions. `network_gb_per_s`: what one adapter sends.
ReliabilityReport reliability(const scenario::TrainingSpec& spec, const fabric::Fabric& fabric,
                              double work_s, double network_gb_per_s);

}  // namespace fabricast::training
