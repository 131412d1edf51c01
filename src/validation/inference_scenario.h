#pragma once
// The scenario behind a published run of a service: what its table leaves open is what is usual for
// the engine and the GPU (docs/how-to/validate.md).

#include <string>

#include "catalog/catalog.h"
#include "validation/inference_rows.h"

namespace fabricast::validation {

struct InferenceScenario {
  std::string yaml;     ///< as `fabricast serve-sim` takes it; of one replica
  std::string skipped;  ///< why there is none
  double replicas = 1;  ///< that the service had
};
InferenceScenario scenario_of(const InferenceRow& row, const catalog::Catalog& catalog);

}  // namespace fabricast::validation
