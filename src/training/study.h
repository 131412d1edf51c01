#pragma once
// A job with what was found out about it: what `simulate` throws away and `detail` looks into.
// Private to this room.

#include <vector>

#include "training/plan.h"
#include "training/training.h"

namespace fabricast::training {

/// What `simulate` takes.
struct Job {
  const scenario::ValidScenario& scenario;
  const scenario::FabricChoice& choice;
  const fabric::Fabric& fabric;
  const collective::Networks& networks;
  network::PhaseCache& cache;
};

struct Study {
  Plan plan;
  std::vector<std::vector<double>> samples;  ///< per phase, seconds
  Result result;
};

Study study(const Job& job, const Options& options);

/// The phases' durations if nobody else used the network.
std::vector<std::vector<double>> samples_without_background(const Study& study, const Job& job,
                                                            const Options& options);

}  // namespace fabricast::training
