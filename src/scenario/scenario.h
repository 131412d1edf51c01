#pragma once
// The one door. YAML comes in, a `ValidScenario` comes out, or an Error that names file, line, key,
// what was found and what is allowed. Behind the door nothing is checked again: every id exists,
// every count is positive and divides, the model fits in memory, the fabric can be built. What
// parses but is not simulated yet is refused by name.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "catalog/catalog.h"
#include "fabric/fabric.h"
#include "fabric/racks.h"
#include "model/inference.h"
#include "model/model.h"
#include "scenario/request_trace.h"

namespace fabricast::base::yaml {
struct Node;
}

namespace fabricast::scenario {

/// How far an adapter is from its GPU, in the words of `nvidia-smi topo -m`.
enum class NicAffinity {
  kPix,   ///< under the GPU's PCIe switch
  kPxb,   ///< several PCIe switches away
  kPhb,   ///< through the root complex
  kNode,  ///< between host bridges of a socket
  kSys,   ///< on the other socket
};

struct HostSpec {
  std::string pcie = "gen5-x16";  ///< catalogue id of the adapters' slots
  catalog::Slot slot;             ///< the same, looked up
  catalog::Host server;           ///< with the scenario's `max_payload_b`
  bool gpudirect = true;
  bool acs = false;
  NicAffinity nic_affinity = NicAffinity::kPix;
};

struct ClusterSpec {
  int gpus = 0;
  catalog::Gpu gpu;
  HostSpec host;
  std::optional<fabric::RackSpec> racks;  ///< none: every cable is as long as the topology says
  /// Everything the topology needs but the switch, which comes with each fabric.
  fabric::TopologySpec topology;
};

struct FabricChoice {
  catalog::FabricProfile
      profile;  ///< with the scenario's overrides; `profile.name` is the JSON key
  catalog::Switch network_switch;
  catalog::Adapter adapter;
  fabric::TopologySpec topology;  ///< the cluster's, completed with this switch
  bool owned = false;             ///< its switches and cables are there already
};

/// How a job keeps its state.
struct CheckpointSpec {
  enum class To { kStorage, kLocal };
  std::optional<double> every_s;  ///< none: as often as loses least
  To to = To::kStorage;
  double gb_per_s = 0;  ///< that storage takes in all, or the disks of a node; 0: as the catalogue
};

/// GPUs that are slower than others for the whole of a job.
struct StragglerSpec {
  double spread_pct = 0;       ///< sigma/mu of the time that equal GPUs take for the same
  std::map<int, double> slow;  ///< rank of a GPU: its speed, of a usual one's
  double host_delay_s = 0;     ///< mean by which a node's host begins a step late
};

struct TrainingSpec {
  catalog::LanguageModel model;
  model::TrainingShape shape;
  std::vector<model::LayoutChoice>
      alternatives;  ///< of `parallelism: auto`, best first; else empty
  double tokens = 0;
  int iterations = 200;
  catalog::Reliability reliability;  ///< with the scenario's `failures`; all 0: nothing fails
  CheckpointSpec checkpoint;
  StragglerSpec stragglers;
};

enum class SloMetric { kTtft, kTpot, kLatency };
/// "ttft", "tpot", "latency".
std::string_view name_of(SloMetric metric);
enum class ArrivalKind {
  kPoisson,
  kGamma,   ///< gaps of a gamma distribution
  kTrace,   ///< as a file has them
  kClosed,  ///< so many clients, each of which sends when it has its answer
};
enum class Balancer {
  kRoundRobin,
  kLeastOutstanding,
  kPrefixAware,  ///< where most of the prompt is cached, unless that replica is far behind
  kQueue,        ///< one queue in front of all: a replica gets what it can begin with
};

/// Tokens of a prompt or an answer: all alike, or drawn.
struct LengthSpec {
  enum class Kind { kFixed, kUniform, kExponential, kLognormal };
  Kind kind = Kind::kFixed;
  double mean = 0;
  double variation = 0;  ///< kLognormal: sigma/mu
  int least = 1;
  int most = 1;
};

/// From `at_s` on the rate is `share` of the stated one.
struct RateStep {
  double at_s = 0;
  double share = 1;
};

/// Replicas that work on prompts alone and hand what they have cached to the others.
struct DisaggregationSpec {
  int prefill_replicas = 0;
  int prefill_tp = 1;
};

/// Replicas that come and go with the load.
struct ScalingSpec {
  enum class LoadFrom { kStorage, kLocal, kPeer };
  int min_replicas = 1;
  int max_replicas = 1;
  double target_outstanding = 0;  ///< requests per replica at which one more is wanted
  double interval_s = 10;         ///< between two looks
  double idle_s = 60;             ///< with less to do than the others could take over, it leaves
  double provision_s = 0;         ///< until a node is there
  double warm_up_s = 0;           ///< from the last weight to the first request
  LoadFrom from = LoadFrom::kStorage;
  double gb_per_s = 0;  ///< that storage gives in all, or the disks of a node; unused of kPeer
};

struct ServingSpec {
  catalog::LanguageModel model;
  model::InferenceShape shape;
  catalog::ServingEngine engine;  ///< with the scenario's values
  LengthSpec context;             ///< tokens of a prompt, cached ones included
  LengthSpec output;
  int prefix_cached = 0;  ///< leading tokens that all prompts share
  ArrivalKind arrival = ArrivalKind::kPoisson;
  double qps = 0;                             ///< mean rate; of a trace the file says it
  double arrival_variation = 1;               ///< kGamma: sigma/mu of the gap between two requests
  int concurrency = 0;                        ///< kClosed
  std::shared_ptr<const RequestTrace> trace;  ///< kTrace
  std::vector<RateStep> profile;
  Balancer balancer = Balancer::kLeastOutstanding;
  std::optional<DisaggregationSpec> disaggregation;
  std::optional<ScalingSpec> scaling;
  std::optional<double> duration_s;      ///< of the run that is reported; none: as it takes
  std::optional<std::int64_t> requests;  ///< the same
  SloMetric slo_metric = SloMetric::kTtft;
  double slo_percentile = 99;
  double slo_ms = 100;
};

enum class BackgroundKind { kStorage, kTenant };

struct BackgroundLoad {
  BackgroundKind kind = BackgroundKind::kStorage;
  double load = 0;  ///< share of each adapter's rate
  base::Bytes message{1 << 20};
  base::Time burst;  ///< kTenant: length of its bursts
  std::string job;   ///< kTenant: path of another scenario, in place of load and burst
};

struct Fault {
  double at_ms = 0;
  double for_ms = 0;  ///< 0: for good
  std::string link;   ///< "leaf0:3": device and port, as fabric::Fabric::port_name writes it
  std::string kind;  ///< "down", "degraded", "bit-errors", "slow-adapter", "pause-storm", "no-pfc",
                     ///< "no-ecn"
  double value = 0;  ///< degraded and slow-adapter: share of the rate; bit-errors: probability
};

struct Budget {
  double total = 0;
  std::string currency = "CNY";
};

struct Constraints {
  bool existing_ethernet = false;
  int growth_gpus = 0;  ///< GPUs that the cluster should be able to grow to; 0: no growth
  double max_days = 0;  ///< that a training run may take; 0: any
};

/// What is best.
enum class Objective {
  kValue,     ///< the work at the lowest cost, within the budget
  kCheapest,  ///< the lowest purchase price that meets the SLO, or is done in time
  kFastest,   ///< the shortest run, or the most requests within the SLO, within the budget
};
/// "value", "cheapest", "fastest".
std::string_view name_of(Objective objective);

/// Where each key of the file stands, by its dotted path: "fabrics[0].profile".
using Places = std::map<std::string, base::Location, std::less<>>;

/// PRECONDITION for every stage after the door: it came from `validate`.
struct ValidScenario {
  std::string name;
  std::string file;
  ClusterSpec cluster;
  std::vector<FabricChoice> fabrics;
  std::variant<TrainingSpec, ServingSpec> workload;
  std::vector<BackgroundLoad> background;
  std::vector<Fault> faults;
  std::optional<Budget> budget;
  Constraints constraints;
  Objective objective = Objective::kValue;
  std::string prices;  ///< path of the user's own; empty: the catalogue's alone
  std::uint64_t seed = 1;
  Places places;
  std::vector<std::string> files;  ///< that it refers to, in the order met

  /// The place of a key, or of the nearest mapping above it that the file has.
  base::Location where(std::string_view key) const;
};

/// Flags of the command line that stand above the file.
struct Overrides {
  std::optional<std::uint64_t> seed;
  /// Somebody ran it, so that it fits in memory whatever the model of memory says. A layout that is
  /// given is not refused for it; recomputation that is not stays the least.
  bool ran = false;
  std::string prices = {};  ///< path of the user's own prices; empty: as the file says
};

/// Reads and validates. Throws base::Error (input) at the first thing that is wrong.
ValidScenario load(const std::string& path, const catalog::Catalog& catalog,
                   const Overrides& overrides = {});
/// The same from text; `file_name` is for messages and for paths relative to it.
ValidScenario parse(const std::string& text, const std::string& file_name,
                    const catalog::Catalog& catalog, const Overrides& overrides = {});
/// The same from a parsed document.
ValidScenario from_document(const base::yaml::Node& document, const std::string& file_name,
                            const catalog::Catalog& catalog, const Overrides& overrides = {});

/// Reads a system file: `cluster`, one `fabric`, and if they are there `name`, `faults` and `seed`.
/// The result has no workload. Throws as `load` does.
ValidScenario load_system(const std::string& path, const catalog::Catalog& catalog,
                          const Overrides& overrides = {});
/// The same from text; `file_name` is for messages.
ValidScenario parse_system(const std::string& text, const std::string& file_name,
                           const catalog::Catalog& catalog, const Overrides& overrides = {});

/// `error` of a later stage, which knows a key and no file, at the place of that key in the
/// scenario; a key that is no section's ("switching.buffer_mb") is one of the profile of fabric
/// number `fabric`. Any other error comes back as it is.
base::Error located(const base::Error& error, const ValidScenario& scenario, std::size_t fabric);

/// Throws base::Error (input) on what parses but this version does not simulate:
/// faults that begin or end during the job, a partial node, some
/// topologies. Names the key and what works.
void require_simulated(const ValidScenario& scenario);

/// The same of the cluster alone, for what has no workload.
void require_simulated_cluster(const ValidScenario& scenario);
/// The same of switches that reduce, for what never asks them to: jobs and plain flows.
void require_no_reduction(const ValidScenario& scenario);

/// Everything of a scenario that decides what communication takes, for caches: inside nodes, and
/// between them on one of its fabrics. Neither says what is communicated.
std::string inside_key(const ValidScenario& scenario);
std::string between_key(const ValidScenario& scenario, const FabricChoice& choice);

/// What the user may not expect of what was asked, one line each with its place: that a
/// rail-optimised fabric is built of whole scalable units where the scenario does not size them,
/// that NCCL does not use GPUDirect with an adapter that far from its GPU, how many links a
/// spanning tree leaves open.
std::vector<std::string> notes(const ValidScenario& scenario);

}  // namespace fabricast::scenario
