#include "training/losses.h"

#include "collective/losses.h"

namespace fabricast::training {

std::vector<double> timeouts(const Plan& plan, const fabric::Fabric& fabric,
                             const catalog::FabricProfile& profile) {
  if (profile.transport.timeouts_per_gpacket <= 0) return {};
  const StepWork& work = plan.step;
  const auto stages = static_cast<double>(work.stages.size());
  std::vector<double> result;
  for (std::size_t i = 0; i < plan.phases.size(); ++i) {
    const Phase& phase = plan.phases[i];
    double draws = stages * work.replicas;
    if (work.gradients == i || work.parameters == i) {
      draws = stages;
    } else if (phase.one_way) {
      draws = static_cast<double>(phase.groups.size()) / work.group;
    }
    result.push_back(collective::expected_timeouts(phase, fabric, profile) / draws);
  }
  return result;
}

}  // namespace fabricast::training
