#pragma once
// The scenario behind a published training run: what its table leaves open is what is usual for the
// GPU and the fabric.

#include <string>

#include "catalog/catalog.h"
#include "validation/training_rows.h"

namespace fabricast::validation {

struct TrainingScenario {
  std::string yaml;     ///< as `fabricast train` takes it
  std::string skipped;  ///< why there is none
};
TrainingScenario scenario_of(const TrainingRow& row, const catalog::Catalog& catalog);

}  // namespace fabricast::validation
