// A system file: the `cluster` of a scenario and one fabric, for what needs no workload.

#include <filesystem>

#include "scenario/sections.h"

namespace fabricast::scenario {

using base::yaml::Fields;

namespace {

ValidScenario system_from(const base::yaml::Node& root, const std::string& path,
                          const catalog::Catalog& catalog, const Overrides& overrides) {
  Fields fields(root);
  const std::filesystem::path file(path);
  const Context context{catalog, directory_of(path), places_of(root)};

  ValidScenario system;
  system.file = base::printable(path);
  system.name = fields.name("name", base::printable(file.stem().string()));
  system.cluster = read_cluster(Fields(fields.required("cluster", "a mapping")), context);
  system.fabrics.push_back(
      read_fabric(fields.required("fabric", "the id of a fabric profile, or a mapping"), context));
  system.faults = read_faults(fields);
  system.seed = static_cast<std::uint64_t>(fields.integer("seed", 0, INT64_MAX, 1));
  if (overrides.seed) system.seed = *overrides.seed;
  fields.finish();
  system.places = context.places;

  check_cluster(system.cluster, context);
  check_fabrics(system.cluster, context, system.fabrics);
  return system;
}

}  // namespace

ValidScenario load_system(const std::string& path, const catalog::Catalog& catalog,
                          const Overrides& overrides) {
  return system_from(base::yaml::parse_file(path), path, catalog, overrides);
}

ValidScenario parse_system(const std::string& text, const std::string& file_name,
                           const catalog::Catalog& catalog, const Overrides& overrides) {
  return system_from(base::yaml::parse(text, file_name), file_name, catalog, overrides);
}

}  // namespace fabricast::scenario
