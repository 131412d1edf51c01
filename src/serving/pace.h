#pragma once
// What a batch takes on one replica: kernels of every pipeline stage, the collectives between them
// as they were sampled on the simulated fabric, the host's part. Equations: docs/models/serving.md,
// section 4.

#include <string>
#include <vector>

#include "base/random.h"
#include "collective/sampler.h"
#include "model/inference.h"
#include "scenario/scenario.h"
#include "serving/scheduler.h"

namespace fabricast::serving {

/// What a collective takes by its size, as sampled at a few sizes.
class CommCurve {
 public:
  struct Point {
    double bytes = 0;
    double mean = 0;
    std::vector<double> seconds;  ///< ascending
  };
  CommCurve() = default;
  explicit CommCurve(std::vector<Point> points) : points_(std::move(points)) {}

  bool empty() const { return points_.empty(); }
  /// `count` runs one after the other, independent of one another; `u` in [0, 1) picks the state
  /// of the network.
  double seconds(double bytes, double count, double u) const;
  const std::vector<Point>& points() const { return points_; }

 private:
  std::vector<Point> points_;
};

/// Replicas of one kind: how they share the model, and the GPUs of each.
struct Deployment {
  model::InferenceShape shape;
  int first_gpu = 0;
  int replicas = 1;
  base::Rank rank(int replica, int stage, int dp, int tp) const;
};

/// One kind of collective of a batch.
struct CommKind {
  enum class Runs {
    kPerLayer,  ///< and once for the embedding, on the first stage
    kPerMixtureLayer,
    kLogits,   ///< on the last stage, of what is sampled
    kBetween,  ///< from stage to stage
  };
  std::string name;  ///< "tp all-reduce", "tp logits", "ep dispatch", "pp activations", ...
  collective::Op op = collective::Op::kAllReduce;
  Runs runs = Runs::kPerLayer;
  double count = 1;            ///< per layer
  double bytes_per_token = 0;  ///< as collective/schedule.h defines the size of `op`
  std::vector<std::vector<base::Rank>> groups;  ///< of all replicas, those of the first one first
  std::size_t alone = 1;                        ///< groups that run at the same time in one replica
};
std::vector<CommKind> comm_kinds(const catalog::LanguageModel& m, const Deployment& deployment);

/// A collective as it was sampled.
struct SampledPhase {
  collective::Phase phase;
  const network::PhaseSamples* samples = nullptr;
  bool flow = false;
};

class Pace {
 public:
  /// Samples every collective at sizes from one token to a whole batch. `reports` gets the phases.
  Pace(const scenario::ServingSpec& spec, const catalog::Gpu& gpu, const Deployment& deployment,
       const collective::Machine& machine, const catalog::FabricProfile& profile,
       const fabric::Fabric& fabric, collective::Sampler& sampler,
       std::vector<SampledPhase>& reports);

  struct Taken {
    std::vector<double> stage_s;  ///< of every stage, communication and host included
    std::vector<double> hop_s;    ///< from every stage to the next
    double compute_s = 0;         ///< kernels, mean over the replica's GPUs
    double comm_s = 0;            ///< collectives of all stages, and waiting for the slowest GPU
    double host_s = 0;
    double timeouts = 0;
    double total_s = 0;  ///< of one batch alone, from first stage to last
  };
  /// Of what every attention rank has put into a batch. `duty`: how likely it is that another
  /// replica communicates at the same time.
  void take(const std::vector<Batch>& ranks, double duty, base::RandomStream& random,
            Taken& taken) const;

  int stages() const { return static_cast<int>(stages_.size()); }

 private:
  struct Curve {
    CommKind kind;
    CommCurve alone;
    CommCurve together;            ///< with the same of all other replicas; may be empty
    double timeouts_per_byte = 0;  ///< expected, of one run
  };
  double runs(const CommKind& kind, int stage) const;
  double comm_s(const Curve& curve, double bytes, double count, double duty,
                base::RandomStream& random, Taken& taken) const;

  scenario::ServingSpec spec_;
  model::InferenceShape shape_;
  std::vector<model::InferenceTimes> stages_;
  std::vector<Curve> curves_;
  double variation_ = 0;
  double timeout_s_ = 0;
};

/// The largest of n standard normal variables, from one uniform draw.
double largest_normal(double u, int n);

}  // namespace fabricast::serving
