#pragma once
// The requests of a service, one after the other and without end unless a trace ends: when each
// arrives, how long its prompt and its answer are. Lengths and gaps have random streams of their
// own, so that the same requests come at every rate.

#include <cstdint>
#include <optional>

#include "base/random.h"
#include "scenario/scenario.h"

namespace fabricast::serving {

struct Request {
  double arrival_s = 0;
  int input = 0;                                    ///< tokens of the prompt
  int output = 0;                                   ///< tokens of the answer
  const scenario::TracedRequest* traced = nullptr;  ///< of a trace: what is known of its prompt
};

/// Lengths that are drawn (docs/models/serving.md, section 3).
int draw_length(const scenario::LengthSpec& spec, base::RandomStream& random);
/// Gamma of mean 1 and this sigma/mu (Marsaglia and Tsang 2000).
double draw_gamma(double variation, base::RandomStream& random);

/// How requests arrive, whatever the scenario says: to find a capacity or a rate.
enum class Arrivals {
  kAsStated,  ///< at the scenario's process and rate, times `rate`
  kPoisson,   ///< at `rate` per second
};

class RequestSource {
 public:
  /// `spec` must outlive the object.
  RequestSource(const scenario::ServingSpec& spec, Arrivals arrivals, double rate,
                std::uint64_t seed);

  /// None when a trace has ended, or when nothing comes any more.
  std::optional<Request> next();

 private:
  double gap();
  void arrive_after(double operational_s);

  const scenario::ServingSpec& spec_;
  Arrivals arrivals_;
  double rate_;
  base::RandomStream gaps_;
  base::RandomStream lengths_;
  double now_s_ = 0;
  std::size_t step_ = 0;  ///< of the profile, in force now
  std::size_t traced_ = 0;
  bool over_ = false;
};

}  // namespace fabricast::serving
