#pragma once
// The two kinds of workload. Private to this room.

#include "scenario/sections.h"

namespace fabricast::scenario {

/// A catalogue id, or the path of a Hugging Face `config.json` seen from the scenario file.
catalog::LanguageModel read_model(base::yaml::Fields& fields, const Context& context);
catalog::Precision read_precision(base::yaml::Fields& fields);
/// Of weights that are not trained.
catalog::Precision read_serving_precision(base::yaml::Fields& fields);

TrainingRequest read_training(base::yaml::Fields& fields, const Context& context);
/// Finds the layout that `auto` means, or checks the one given.
TrainingSpec check_training(TrainingRequest request, const ClusterSpec& cluster,
                            const Context& context);

ServingSpec read_serving(base::yaml::Fields& fields, const Context& context);
void check_serving(ServingSpec& serving, const ClusterSpec& cluster, const Context& context);

}  // namespace fabricast::scenario
