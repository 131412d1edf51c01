#pragma once
// What simulates the phases of one job on one fabric: each once, packet by packet or in flows, and
// none that an earlier one says all there is to know of.

#include <functional>
#include <string>
#include <vector>

#include "collective/sampling.h"
#include "network/phase_cache.h"

namespace fabricast::collective {

enum class Resolution {
  kAuto,    ///< packets as far as a minute or so goes, flows beyond; long transfers extrapolated
  kPacket,  ///< every packet, no extrapolation
  kFlow,    ///< max-min sharing for all that crosses nodes
};

struct Networks {
  network::Factory packet;
  network::Factory node;  ///< one node, for what does not leave it; empty: `packet`
  /// Makes the factory of the flow level when it is first needed: it has to learn from the packet
  /// level. Empty: there is none.
  /// `load` is what others take of every port.
  std::function<network::Factory(double load)> flow;
};

/// Where phases are simulated.
struct Place {
  const fabric::Fabric& fabric;
  const Networks& networks;
  network::PhaseCache& cache;
  std::string inside;   ///< everything that decides what stays in a node, for the cache
  std::string between;  ///< the same of what crosses nodes: fabric, profile, hosts, faults
};

/// One communication phase as it was simulated, for the result's `collectives`.
struct PhaseReport {
  std::string name;  ///< "dp gradients", "pp activations", ...
  Op op = Op::kAllReduce;
  base::Bytes size;
  int ranks = 0;
  double mean_s = 0;
  double sigma_s = 0;
  double extrapolation_error = 0;  ///< 0 when simulated whole
  int states = 0;
  bool flow = false;  ///< at flow level
  double p99_s = 0;
  double times_per_step = 0;  ///< of one GPU; 0: not of a step
  bool inside_nodes = false;
  /// The link that was used most meanwhile, as fabric::Fabric::port_name writes it; empty where
  /// nobody counted.
  std::string busiest_link;
  double busiest_pct = 0;  ///< of its rate
};

PhaseReport report_of(const Phase& phase, const network::PhaseSamples& samples, bool flow,
                      const fabric::Fabric& fabric);

/// Storage's short messages on many adapters are their mean: a fluid that halts whenever one of its
/// links is shared would halt far more often than a collective that is slots ahead. TCP's
/// connections also share cores, so that they are played as they come for as long as they can be.
bool mean_background(const std::vector<network::BackgroundSpec>& background,
                     const fabric::Fabric& fabric, bool tcp);

class Sampler {
 public:
  /// `spec.flow` and `spec.probe` are decided for each phase. The place must outlive the object.
  Sampler(const Place& place, Resolution resolution, SamplingSpec spec);

  struct Sampled {
    const network::PhaseSamples* samples = nullptr;  ///< as long as the cache
    bool flow = false;                               ///< at flow level
  };
  /// `probe`: measure the latency of small messages meanwhile, where packets are simulated.
  Sampled operator()(const Phase& phase, bool probe = false);

  /// The network of one level.
  const network::Factory& factory(bool flow);

 private:
  bool flow(const Phase& phase) const;
  std::string key_of(const Phase& phase, const SamplingSpec& spec) const;
  const network::PhaseSamples* source_of(const Phase& phase) const;

  Place place_;
  Resolution resolution_;
  SamplingSpec spec_;
  double load_ = 0;  ///< the mean of the background, where that is what flows know of it
  network::Factory flow_;
  struct Known {
    Phase phase;
    const network::PhaseSamples* samples;
  };
  std::vector<Known> known_;
};

}  // namespace fabricast::collective
