#pragma once
// How a scenario is read, in two passes. The `read_*` functions take a section of the file as it
// stands: keys, types, ranges, ids. The `check_*` functions hold sections against one another; they
// run when the whole file has been read, so that a misspelt key is reported before what follows
// from it. Private to this room.

#include <string>
#include <string_view>
#include <vector>

#include "base/yaml.h"
#include "scenario/scenario.h"

namespace fabricast::scenario {

inline constexpr int kMostGpus = 1'000'000;

/// What every section may look at.
struct Context {
  const catalog::Catalog& catalog;
  std::string directory;  ///< of the scenario file; relative paths start there
  Places places;
  std::vector<std::string>* files = nullptr;  ///< gets every file that the scenario refers to

  base::Location where(std::string_view key) const;
  /// `path` as seen from the scenario file. Throws base::Error (input) at `at` when no file is
  /// there.
  std::string existing_file(const std::string& path, const base::Location& at) const;
};

/// The place of a key, or of the nearest mapping above it; the path stays that of the key.
base::Location place_of(const Places& places, std::string_view key);
Places places_of(const base::yaml::Node& root);

/// Where relative paths start: the folder of the file, or the current one for a pipe.
std::string directory_of(const std::string& file);

/// `path` as seen from `directory`. Throws base::Error (input) at `at` when no file is there.
std::string existing_file(const std::string& directory, const std::string& path,
                          const base::Location& at);

/// The items of a list; none when the key is absent. Throws base::Error (input) on anything else.
std::vector<const base::yaml::Node*> list(base::yaml::Fields& fields, std::string_view key);

/// A training workload before its layout is known.
struct TrainingRequest {
  TrainingSpec spec;
  bool automatic = true;  ///< `parallelism: auto`
  std::optional<model::Recompute> recompute;
  bool dp_given = false;
  bool ran = false;  ///< memory does not refuse it
};

using WorkloadRequest = std::variant<TrainingRequest, ServingSpec>;

ClusterSpec read_cluster(base::yaml::Fields fields, const Context& context);
FabricChoice read_fabric(const base::yaml::Node& node, const Context& context);
std::vector<FabricChoice> read_fabrics(base::yaml::Fields& fields, const Context& context);
WorkloadRequest read_workload(base::yaml::Fields fields, const Context& context);
std::vector<BackgroundLoad> read_background(base::yaml::Fields& fields, const Context& context);
std::vector<Fault> read_faults(base::yaml::Fields& fields);
Budget read_budget(base::yaml::Fields fields, const Context& context);
Constraints read_constraints(base::yaml::Fields fields);

/// What the hosts of a cluster hold back on one kind of fabric.
fabric::HostLinks host_links(const ClusterSpec& cluster, catalog::FabricKind kind,
                             const catalog::Adapter& adapter);

void check_cluster(const ClusterSpec& cluster, const Context& context);
/// Finds switch and adapter and completes the topology of each choice.
void check_fabrics(const ClusterSpec& cluster, const Context& context,
                   std::vector<FabricChoice>& fabrics);
std::variant<TrainingSpec, ServingSpec> check_workload(WorkloadRequest request,
                                                       const ClusterSpec& cluster,
                                                       const Context& context);

}  // namespace fabricast::scenario
