#pragma once
// Algorithm, protocol and number of channels as NCCL would choose them, from its own model of what
// each would take (src/graph/tuning.cc and src/enqueue.cc of NCCL 2.27), and what that choice means
// for the simulation. Constants and their sources: choice.cpp; equations:
// docs/models/collectives.md.

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "collective/run.h"
#include "collective/schedule.h"
#include "fabric/fabric.h"
#include "network/node_links.h"

namespace fabricast::collective {

enum class Algorithm {
  kRing,
  kTree,
  kNvls,             ///< in one node
  kNvlsTree,         ///< over several
  kSharp,            ///< in the switches of InfiniBand; inside nodes NVLS or a chain
  kHalvingDoubling,  ///< not NCCL's
  kHierarchical,     ///< not NCCL's
  kOneShot,          ///< of serving engines, in one node: direct_all_reduce
  kTwoShot,          ///< the same
  kPointToPoint,     ///< alltoall and sendrecv
};
enum class Protocol { kLl, kLl128, kSimple };
/// "ring", "tree", "nvls", "nvls-tree", "sharp", "halving-doubling", "hierarchical",
/// "one-shot", "two-shot", "p2p".
std::string_view name_of(Algorithm algorithm);
/// "ll", "ll128", "simple".
std::string_view name_of(Protocol protocol);
const std::vector<std::string_view>& algorithm_names();
const std::vector<std::string_view>& protocol_names();

/// What NCCL finds when it looks at a node. Rates in GB/s per direction.
struct Machine {
  double compute_capability = 9.0;
  int gpus_per_node = 8;
  int nics_per_node = 8;
  double nic_gb_per_s = 50;
  double nvlink_gb_per_s = 370;  ///< usable, per GPU; 0: PCIe
  double pcie_gb_per_s = 24;     ///< usable, per GPU
  double node_latency_us = 0.6;  ///< of one message between GPUs of a node, as it is simulated
  bool nvls = true;              ///< the NVSwitches can reduce and multicast
  bool sharp = false;            ///< the switches of the fabric can, and NCCL may ask them to
  bool amd = false;              ///< the CPUs
  bool pxn = false;              ///< adapters of one number share a rail
};

/// As the catalogue has them.
Machine machine_of(const catalog::Gpu& gpu, const fabric::TopologySpec& topology,
                   const catalog::FabricProfile& profile, bool amd = false);
/// Of GPUs inside a node, with the usable part of NVLink or PCIe.
network::NodeLinkSpec node_links(const catalog::Gpu& gpu);

/// What the user fixes; the rest is chosen.
struct Wishes {
  std::optional<Algorithm> algorithm = {};
  std::optional<Protocol> protocol = {};
  std::optional<int> channels = {};
};

struct Choice {
  Algorithm algorithm = Algorithm::kRing;
  Protocol protocol = Protocol::kSimple;
  Cutting cutting;
  int slots = 8;
  double estimate_us = 0;  ///< by NCCL's model; 0 where it has none
};

/// PRECONDITION: the group has at least 2 ranks, size > 0. Throws base::Error (input) when a wish
/// cannot be had for this operation, group or machine.
Choice choose(Op op, base::Bytes size, const std::vector<base::Rank>& group, const Machine& machine,
              const Wishes& wishes = {});

/// NCCL's estimate, us; none where it does not offer the combination.
std::optional<double> estimate_us(Op op, base::Bytes size, Layout layout, const Machine& machine,
                                  Algorithm algorithm, Protocol protocol);

std::unique_ptr<Schedule> make(Op op, std::vector<base::Rank> group, base::Bytes size,
                               const Choice& choice);

/// `start` and `most_chunks` are left as they are by default.
RunOptions run_options(const std::vector<base::Rank>& group, const Choice& choice,
                       const Machine& machine);

}  // namespace fabricast::collective
