#include "advice/assessment.h"

#include <algorithm>
#include <cmath>

#include "advice/evidence.h"
#include "base/error.h"

namespace fabricast::advice {
namespace {

// Growing eightfold without another kind of network is all that is asked of one (assumed).
constexpr int kGrowth = 8;
constexpr double kGrowthPoints = 60;
constexpr double kOpenPoints = 20;
constexpr double kSpeedPoints = 20;

bool can_be_built(fabric::TopologySpec topology, int nodes) {
  topology.nodes = nodes;
  try {
    fabric::size(topology);
  } catch (const base::Error& error) {
    if (error.kind() != base::ErrorKind::kInput) throw;
    return false;
  }
  return true;
}

double adaptability(const Outcome& outcome, const fabric::TopologySpec& topology) {
  const int gpus = topology.nodes * topology.gpus_per_node;
  const double growth =
      std::log2(static_cast<double>(reach(topology, gpus * kGrowth)) / gpus) / std::log2(kGrowth);
  const bool open = outcome.kind != catalog::FabricKind::kInfiniBand;
  const bool faster = outcome.sizing.tiers > 0 && topology.switch_rate >= topology.nic_rate * 2;
  return kGrowthPoints * std::clamp(growth, 0.0, 1.0) + (open ? kOpenPoints : 0) +
         (faster ? kSpeedPoints : 0);
}

/// Share of the adapters that lose the network with the switch that most hang on.
double struck_by_one_switch(const Outcome& outcome) {
  return outcome.sizing.leaves > 0 ? 1.0 / outcome.sizing.leaves : 0;
}

double availability(const Outcome& outcome) {
  const double kept = outcome.serving ? 100 : outcome.training.reliability.goodput_pct;
  return kept * (1 - struck_by_one_switch(outcome) / 2);
}

}  // namespace

const std::vector<AssessmentAxis>& assessment_axes() {
  static const std::vector<AssessmentAxis> axes = {
      {"efficiency",
       {"Efficiency", "效率"},
       {"share of the time in which GPUs compute, in percent", "GPU 处于计算状态的时间占比（%）"}},
      {"economy",
       {"Economy", "经济性"},
       {"100 x lowest cost of a million tokens of all designs / that of this one",
        "100 × 所有设计中每百万 token 的最低成本 ÷ 本设计的成本"}},
      {"adaptability",
       {"Adaptability", "适应性"},
       {"60 x log8 of how many times its size the same kind of fabric reaches (eight times: all "
        "60), + 20 for Ethernet, which several vendors sell, + 20 where a switch port carries "
        "twice "
        "an adapter's rate",
        "60 × 以 8 为底的可扩展倍数的对数（8 倍得满 60）；多厂商以太网加 20；交换机端口速率达网卡"
        "两倍加 20"}},
      {"availability",
       {"Availability", "可用性"},
       {"percent of a run that failures leave (a service: 100) x (1 - half the share of adapters "
        "that hang on one leaf)",
        "故障后剩余的有效时间占比（服务按 100）×（1 − 单台叶交换机所连网卡占比的一半）"}},
      {"performance",
       {"Performance", "性能"},
       {"100 x shortest time per work of all designs / that of this one",
        "100 × 所有设计中同样工作的最短用时 ÷ 本设计的用时"}}};
  return axes;
}

int reach(const fabric::TopologySpec& topology, int limit) {
  const int most = std::max(topology.nodes, limit / std::max(1, topology.gpus_per_node));
  int good = topology.nodes;
  int bad = most + 1;
  if (can_be_built(topology, most)) return most * topology.gpus_per_node;
  while (bad - good > 1) {
    const int middle = good + (bad - good) / 2;
    (can_be_built(topology, middle) ? good : bad) = middle;
  }
  return good * topology.gpus_per_node;
}

Assessment assess(const Outcome& outcome, const fabric::TopologySpec& topology,
                  const Yardstick& yardstick) {
  Assessment a;
  a.efficiency =
      outcome.serving ? outcome.serving->gpu_utilisation_pct : outcome.training.gpu_utilisation_pct;
  a.economy = 100 * std::min(1.0, yardstick.cost / std::max(1e-12, score_of(outcome)));
  a.adaptability = adaptability(outcome, topology);
  a.availability = availability(outcome);
  a.performance = 100 * std::min(1.0, yardstick.pace / std::max(1e-12, pace_of(outcome)));
  return a;
}

}  // namespace fabricast::advice
