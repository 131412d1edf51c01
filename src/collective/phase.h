#pragma once
// A communication phase: what happens on the wires at one moment, the same collective in all groups
// that do it at the same time.

#include <memory>
#include <string>
#include <vector>

#include "collective/choice.h"
#include "collective/run.h"
#include "collective/schedule.h"
#include "fabric/fabric.h"

namespace fabricast::collective {

struct Phase {
  std::string name;  ///< "tp all-gather", "dp gradients", ...
  Op op = Op::kAllReduce;
  base::Bytes size;  ///< as schedule.h defines it for `op`
  std::vector<std::vector<base::Rank>> groups;
  bool one_way = false;  ///< sendrecv: from the first to the last, not round
  Choice choice;
  RunOptions run;            ///< but for the start
  bool inside_nodes = true;  ///< no group crosses nodes: the fabric is not used
  double preceding_s = 0;    ///< compute since these ranks last waited for one another
};

/// The phase as NCCL would run it but for the wishes. PRECONDITION: there is a group.
Phase phase_of(std::string name, Op op, base::Bytes size,
               std::vector<std::vector<base::Rank>> groups, const Machine& machine,
               const Wishes& wishes = {});

/// One collective of all GPUs, the same.
Phase of_all_gpus(Op op, base::Bytes size, const fabric::Fabric& fabric, const Machine& machine,
                  const Wishes& wishes = {});

/// What goes on in the first node of a phase that leaves none: all nodes do the same.
/// PRECONDITION: phase.inside_nodes.
Phase first_node(const Phase& phase, int gpus_per_node);

/// What a group of the phase does with `size`.
std::unique_ptr<Schedule> schedule_of(const Phase& phase, const std::vector<base::Rank>& group,
                                      base::Bytes size);

}  // namespace fabricast::collective
