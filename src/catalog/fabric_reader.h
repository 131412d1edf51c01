#pragma once
// Reads fabrics.yaml. A profile may start from another one (`extends`) and then states only what
// differs; what it takes over keeps the provenance it has there. Pipeline latency and buffer come
// from the profile's switch unless the profile states its own.

#include <map>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "catalog/value_reader.h"

namespace fabricast::catalog {

struct ReadFabrics {
  std::vector<FabricProfile> profiles;
  std::vector<Entry> entries;
};

/// `switch_entries` lends the provenance of what a switch decides. Throws base::Error (input) on an
/// unknown key, a parameter that applies but is missing, an unknown device, a check that fails.
ReadFabrics read_fabrics(const CatalogFile& file, const Catalog& devices,
                         const std::vector<Entry>& device_entries);

}  // namespace fabricast::catalog
